package stack_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/generate/catalog"
)

// permitted returns the resources, as in the template, on which a function may take an action.
func permitted(t *testing.T, s stacks, function, action string) []string {
	t.Helper()
	var all []string
	for id, r := range s.of("AWS::IAM::Policy") {
		if !strings.Contains(id, "/"+function+"Role") {
			continue
		}
		for _, statement := range list(r.Properties.at("PolicyDocument", "Statement")) {
			p := properties(statement.(map[string]any))
			if p["Effect"] != "Allow" || !slices.Contains(list(p["Action"]), any(action)) {
				continue
			}
			for _, resource := range list(p["Resource"]) {
				text, err := json.Marshal(resource)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, string(text))
			}
		}
	}
	return all
}

func TestTheProvidersSecretHoldsNothingAtFirst(t *testing.T) {
	for name, s := range map[string]stacks{"acme": acme, "initech": initech, "local": local} {
		secrets := secretsOf(s, "ProviderSecret")
		if len(secrets) != 1 {
			t.Fatalf("%s has %d secrets for its providers", name, len(secrets))
		}
		for id, r := range secrets {
			if r.Properties["SecretString"] != "{}" || !holdsKey(r.Properties["KmsKeyId"]) {
				t.Errorf("%s is %v", id, r.Properties)
			}
			if want := map[bool]string{true: "Delete",
				false: "RetainExceptOnCreate"}[name == "local"]; r.DeletionPolicy != want {
				t.Errorf("%s: %s when its stack goes, want %s", id, r.DeletionPolicy, want)
			}
		}
		var read []string
		for function, permissions := range permissionsOf(s) {
			for _, p := range permissions {
				if strings.Contains(p.resources, "ProviderSecret") {
					read = append(read, fmt.Sprint(function, p.actions))
				}
			}
		}
		if !slices.Equal(read, []string{"generate[secretsmanager:GetSecretValue]"}) {
			t.Errorf("%s: the secret is read by %v", name, read)
		}
	}
}

func TestFunctionsKnowWhatIsConfigured(t *testing.T) {
	for name, c := range map[string]struct {
		stacks stacks
		want   any
	}{
		"acme":  {acme, "bedrock,polly,fal,elevenlabs"},
		"local": {local, "bedrock,polly,fal,replicate,elevenlabs,heygen"}, "initech": {initech, nil},
	} {
		for id, r := range c.stacks.of("AWS::Lambda::Function") {
			function := fmt.Sprint(r.Properties["FunctionName"])
			if !strings.HasSuffix(function, "-catalog") && !strings.HasSuffix(function, "-content") &&
				!strings.HasSuffix(function, "-generate") {
				continue
			}
			if got := r.Properties.at("Environment", "Variables", "PROVIDERS"); got != c.want {
				t.Errorf("%s: %s is told of %v, want %v", name, id, got, c.want)
			}
		}
	}
}

func TestModelsOfBedrockArePermittedOneByOne(t *testing.T) {
	invoked := strings.Join(permitted(t, acme, "Generate", "bedrock:InvokeModel"), "\n")
	for _, m := range catalog.Models(catalog.Filter{Provider: "bedrock"}) {
		if named := strings.Contains(invoked, "foundation-model/"+m.ProviderModel+
			`"`); named != (m.State != catalog.Retired && m.In("eu-central-1", false)) {
			t.Errorf("%s is permitted: %v", m.ID, named)
		}
	}
	for _, want := range []string{":inference-profile/eu.amazon.nova-lite-v1:0",
		":bedrock:eu-*::foundation-model/amazon.nova-lite-v1:0",
		":bedrock:eu-*::foundation-model/anthropic.claude-haiku-5-5"} {
		if !strings.Contains(invoked, want) {
			t.Errorf("%s is not permitted by\n%s", want, invoked)
		}
	}
	if strings.Contains(invoked, "stability.") || strings.Contains(invoked, "luma.") {
		t.Errorf("eu-central-1 has none of these models:\n%s", invoked)
	}
	us := strings.Join(permitted(t, globex, "Generate", "bedrock:InvokeModel"), "\n")
	if !strings.Contains(us, "inference-profile/us.deepseek.v3.2") ||
		strings.Contains(us, "claude-sonnet-4-5") || strings.Contains(us, "eu-") ||
		strings.Contains(us, "stability.") {
		t.Errorf("in the US it is permitted\n%s", us)
	}
	// IAM has no action StartAsyncInvoke.
	if !strings.Contains(invoked, ":async-invoke/*") ||
		len(permitted(t, acme, "Generate", "bedrock:StartAsyncInvoke")) > 0 {
		t.Errorf("videos are permitted by\n%s", invoked)
	}
	if on := permitted(t, hooli, "Generate", "bedrock:ApplyGuardrail"); len(on) != 1 ||
		!strings.Contains(on[0], ":guardrail/gr4d7k2m9xq1") || len(permitted(t, acme, "Generate",
		"bedrock:ApplyGuardrail")) > 0 || len(permitted(t, hooli, "Diagnose", "bedrock:ApplyGuardrail")) > 0 {
		t.Errorf("the guardrail is permitted on %v", on)
	}
	for _, function := range []string{"Content", "Architect", "Settle"} {
		if len(permitted(t, hooli, function, "bedrock:ApplyGuardrail")) != 1 ||
			len(permitted(t, acme, function, "bedrock:ApplyGuardrail")) > 0 {
			t.Errorf("%s moderates without a guardrail, or not with one", function)
		}
	}
	for action, want := range map[string]int{"bedrock:InvokeModel": 0, "bedrock:GetAsyncInvoke": 0,
		"polly:SynthesizeSpeech": 0} {
		if got := permitted(t, initech, "Generate", action); len(got) != want {
			t.Errorf("without providers, %s is permitted on %v", action, got)
		}
	}
}

// A function that only has texts written calls no models of other kinds, and reads no
// credentials.
func TestWritersCallTextModelsAlone(t *testing.T) {
	for _, s := range []stacks{acme, globex} {
		for _, function := range []string{"Diagnose", "Architect"} {
			invoked := strings.Join(permitted(t, s, function, "bedrock:InvokeModel"), "\n")
			if !strings.Contains(invoked, "amazon.nova-lite-v1:0") {
				t.Errorf("%s may not call the usual model:\n%s", function, invoked)
			}
			for _, m := range catalog.Models(catalog.Filter{Provider: "bedrock"}) {
				if m.Kind != provider.KindText && strings.Contains(invoked, m.ProviderModel) {
					t.Errorf("%s may call %s", function, m.ID)
				}
			}
		}
		for _, action := range []string{"bedrock:GetAsyncInvoke", "polly:SynthesizeSpeech",
			"secretsmanager:GetSecretValue", "s3:GetObject"} {
			if on := permitted(t, s, "Diagnose", action); len(on) > 0 {
				t.Errorf("it may %s on %v", action, on)
			}
		}
	}
	if on := permitted(t, initech, "Diagnose", "bedrock:InvokeModel"); len(on) > 0 {
		t.Errorf("without providers, it may call %v", on)
	}
}

func TestFakesAreToldToTheLocalSystemAlone(t *testing.T) {
	told := 0
	for id, r := range local.of("AWS::Lambda::Function") {
		if endpoint := r.Properties.at("Environment", "Variables", "PROVIDER_ENDPOINT"); endpoint != nil {
			told++
			if endpoint != "http://127.0.0.1:9000" || !strings.Contains(id, "Generate") &&
				!strings.Contains(id, "Diagnose") && !strings.Contains(id, "Train") &&
				!strings.Contains(id, "Architect") && !strings.Contains(id, "ContentFunction") &&
				!strings.Contains(id, "Settle") {
				t.Errorf("%s is told of fakes at %v", id, endpoint)
			}
		}
	}
	if told != 6 {
		t.Errorf("%d functions are told of the fakes", told)
	}
}

func TestRawResultsAreForgotten(t *testing.T) {
	for id, r := range acme.of("AWS::S3::Bucket") {
		if strings.Contains(id, "MediaLog") {
			continue
		}
		rules, _ := r.Properties.at("LifecycleConfiguration", "Rules").([]any)
		forgotten := slices.ContainsFunc(rules, func(rule any) bool {
			p := properties(rule.(map[string]any))
			return p["Prefix"] == "raw/" && p["ExpirationInDays"] == 7.0 && p["Status"] == "Enabled"
		})
		if !forgotten {
			t.Errorf("%s keeps raw results: %v", id, rules)
		}
	}
}
