package api

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/httpapi/schema"
)

// The document says which values of a body the service takes, where a type alone would say more.
func TestBodiesListTheValuesThatTheServiceTakes(t *testing.T) {
	t.Parallel()
	schemas := Document().Components.Schemas.Map()
	if codes := schemas["CurrencyCode"].Enum; len(codes) < 150 {
		t.Errorf("%d currencies", len(codes))
	}
	for _, name := range []string{"ProductPriceInput", "ProductPriceUpdate", "PriorPriceUpdate"} {
		if got := schemas[name].Properties["currency"].Ref; got != "#/components/schemas/CurrencyCode" {
			t.Errorf("the currency of %s is %q", name, got)
		}
	}
	ages, _ := schemas["ExperimentMetricInput"].Extensions[dependentSchemas].(map[string]*huma.Schema)
	if got := ages["after_hours"]; got == nil || len(got.Properties["after_hours"].Enum) != 3 {
		t.Errorf("ages: %v", got)
	}
	choices := func(name, member string) []*huma.Schema {
		by, _ := schemas[name].Extensions[dependentSchemas].(map[string]*huma.Schema)
		if by[member] == nil {
			t.Fatalf("%s does not depend on %s", name, member)
		}
		return by[member].AnyOf
	}
	factors := map[any]bool{}
	for _, one := range choices("ExperimentFactorInput", "name") {
		factors[one.Properties["name"].Enum[0]] = true
	}
	for _, name := range schemas["ExperimentFactorNameInput"].Enum {
		if !factors[name] {
			t.Errorf("the arms of %v are not described", name)
		}
	}
	if got := choices("StudioEstimateCreate", "kind"); len(got) != len(schemas["GenerationKindInput"].Enum) {
		t.Errorf("%d kinds of inputs", len(got))
	}
	for _, one := range choices("StudioEstimateCreate", "kind") {
		input := one.Properties["input"]
		if avatar := one.Properties["kind"].Enum[0] == string(provider.KindAvatar); (len(input.Required) == 0) != avatar {
			t.Errorf("%v requires %v", one.Properties["kind"].Enum, input.Required)
		}
	}
	template := schemas["AutomationCreate"].Properties["template"]
	if len(template.Required) != 1 || template.Extensions[schema.PropertyNames] == nil {
		b, err := json.Marshal(template)
		t.Errorf("template: %s %v", b, err)
	}
	for _, name := range []string{"SandboxRehearsal", "StudioRehearsal", "TrainingRehearsal", "DiagnosisRehearsal",
		"SandboxPublishRehearsal"} {
		by, _ := schemas[name].Extensions[dependentSchemas].(map[string]*huma.Schema)
		if code := by["failure_code"]; code == nil || len(code.Required) != 1 {
			t.Errorf("the failure code of %s does not ask for an outcome", name)
		}
	}
}

// The values that the document lists for a filter are those that the service checks.
func TestFiltersTakeTheValuesThatTheyList(t *testing.T) {
	t.Parallel()
	lists := func(doc *huma.OpenAPI) map[string]int {
		found := map[string]int{}
		for _, item := range doc.Paths {
			for _, o := range operationsOf(item) {
				for _, p := range o.Parameters {
					if p.Ref != "" {
						p = doc.Components.Parameters[p.Ref[strings.LastIndexByte(p.Ref, '/')+1:]]
					}
					s := cmp.Or(p.Schema.Items, p.Schema)
					if s.Ref != "" {
						s = doc.Components.Schemas.SchemaFromRef(s.Ref)
					}
					f, _ := format.Of(s.Format)
					found[o.OperationID+" "+p.Name] = len(s.Enum) + len(f.Values)
				}
			}
		}
		return found
	}
	checked := lists(router(httpapi.EmbeddedTexts()).OpenAPI())
	for name, n := range lists(Document()) {
		if n > 0 && n != checked[name] {
			t.Errorf("%s lists %d values, and takes %d", name, n, checked[name])
		}
	}
	if checked["listComments platform"] < 12 {
		t.Error("the platforms are not found")
	}
}

// A text that must not be blank has a pattern that says so.
func TestPatternsRefuseBlankTexts(t *testing.T) {
	t.Parallel()
	schemas := Document().Components.Schemas.Map()
	for at, member := range map[string]*huma.Schema{
		"question": schemas["ExperimentCreate"].Properties["question"],
		"topic":    schemas["ContentPlanTopicCreate"].Properties["topic"],
		"caption":  schemas["ContentItemCreateBase"].Properties["caption"],
	} {
		p := regexp.MustCompile(member.Pattern)
		for text, fits := range map[string]bool{" ": false, "\u0001": false, "a": true, " Ромашка ": true, "": at == "caption"} {
			if p.MatchString(text) != fits {
				t.Errorf("%s: %q against %s", at, text, member.Pattern)
			}
		}
	}
}

// Tools hide the values of secrets, which have the format password.
func TestSecretsHaveAFormat(t *testing.T) {
	t.Parallel()
	schemas := Document().Components.Schemas.Map()
	for name, member := range map[string]string{"BotAccountConnect": "bot_token", "PasswordAccountConnect": "password",
		"SecretApplicationCreate": "client_secret"} {
		parts := schemas[name].AllOf
		if got := parts[len(parts)-1].Properties[member]; got == nil || got.Format != "password" {
			t.Errorf("%s of %s: %+v", member, name, got)
		}
	}
	if got := target(schemas, "WebhookWithSecret").Properties["secret"].Format; got != "password" {
		t.Errorf("the secret of a webhook has the format %q", got)
	}
}

// Ajv, which most callers in JavaScript use, refuses members as unevaluated if what they need of others stands beside
// them.
func TestWhatMembersNeedStandsApartInChoices(t *testing.T) {
	t.Parallel()
	closed, apart := 0, 0
	eachSchema(Document(), func(name, member string, s *huma.Schema) {
		switch {
		case s.Extensions[dependentSchemas] == nil:
		case s.AdditionalProperties == false:
			closed++
		case len(s.Properties) > 0:
			t.Errorf("%s.%s has members, and what they need, in one schema", name, member)
		default:
			apart++
		}
	})
	if closed < 5 || apart < 3 {
		t.Errorf("%d closed schemas and %d parts of choices name what members need", closed, apart)
	}
}
