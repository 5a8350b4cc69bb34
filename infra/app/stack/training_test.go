package stack_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// trainings are the permissions of the function that trains models.
func trainings(s stacks) []permission { return permissionsOf(s)["train"] }

func TestModelsAreTrainedWhereBedrockCan(t *testing.T) {
	for name, c := range map[string]struct {
		stacks stacks
		base   string // empty if nothing can be trained
	}{
		"acme in eu-central-1": {acme, ""}, "initech without providers": {initech, ""},
		"globex in us-east-1": {globex, "foundation-model/amazon.nova-lite-v1:0:300k"},
		"local in us-west-2":  {local, "foundation-model/meta.llama3-3-70b-instruct-v1:0:128k"},
	} {
		jobs := on(trainings(c.stacks), "Allow", "model-customization-job/*")
		roles := 0
		for id := range c.stacks.of("AWS::IAM::Role") {
			if strings.Contains(id, "TrainingRole") {
				roles++
			}
		}
		if c.base == "" {
			if len(jobs) > 0 || roles > 0 {
				t.Errorf("%s: trains with %v and %d roles", name, jobs, roles)
			}
			continue
		}
		if want := []string{"bedrock:CreateModelCustomizationJob", "bedrock:GetModelCustomizationJob",
			"bedrock:StopModelCustomizationJob"}; !slices.Equal(jobs, want) || roles != 1 {
			t.Errorf("%s: trains with %v and %d roles", name, jobs, roles)
		}
		if base := on(trainings(c.stacks), "Allow", c.base); !slices.Equal(base,
			[]string{"bedrock:CreateModelCustomizationJob"}) {
			t.Errorf("%s: of %s it may %v", name, c.base, base)
		}
		if invoked := strings.Join(permitted(t, c.stacks, "Generate", "bedrock:InvokeModel"),
			"\n"); !strings.Contains(invoked, "custom-model-deployment/*") {
			t.Errorf("%s: trained models are not called:\n%s", name, invoked)
		}
	}
}

func TestOnlyBedrocksTrainingsGetTheRole(t *testing.T) {
	passed := 0
	for function, permissions := range permissionsOf(globex) {
		for _, p := range permissions {
			if slices.Contains(p.actions, "iam:PassRole") {
				passed++
				if function != "train" || p.conditions != "map[StringEquals:map[iam:PassedToService:[bedrock.amazonaws.com]]]" || !strings.Contains(p.resources, "TrainingRole") {
					t.Errorf("%s may pass %s on condition of %s", function, p.resources, p.conditions)
				}
			}
		}
	}
	if passed != 1 {
		t.Errorf("%d functions pass roles", passed)
	}
	for id, r := range globex.of("AWS::IAM::Role") {
		if !strings.Contains(id, "TrainingRole") {
			continue
		}
		trust := fmt.Sprint(r.Properties["AssumeRolePolicyDocument"])
		for _, want := range []string{"bedrock.amazonaws.com", "aws:SourceAccount:444455556666",
			"model-customization-job/*"} {
			if !strings.Contains(trust, want) {
				t.Errorf("the role trusts %s, without %s", trust, want)
			}
		}
	}
}

func TestTrainingsReachNothingButTheirSamples(t *testing.T) {
	for _, p := range trainings(globex) {
		for _, action := range p.actions {
			if strings.HasPrefix(action, "s3:") && !strings.Contains(p.resources, "/training/*") {
				t.Errorf("%s is permitted on %s", action, p.resources)
			}
		}
	}
	found := false
	for id, r := range globex.of("AWS::IAM::Policy") {
		if !strings.Contains(id, "TrainingRole") {
			continue
		}
		for _, statement := range list(r.Properties.at("PolicyDocument", "Statement")) {
			found = true
			s := fmt.Sprint(statement)
			if !strings.Contains(s, "/training/*") && !strings.Contains(s, "s3:prefix:[training/*]") &&
				!strings.Contains(s, "kms:ViaService") {
				t.Errorf("Bedrock may %s", s)
			}
		}
	}
	if !found {
		t.Error("the role of trainings has no policy")
	}
}
