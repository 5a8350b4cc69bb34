package api

import (
	"maps"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/content/experiment"
	"github.com/content-automation/api/pkg/area/studio"
	"github.com/content-automation/api/pkg/base/money"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/httpapi/schema"
)

// describeValues says of bodies which values the service takes, where it refuses others with words of its own: what a
// tag of the member would say with a worse message.
func describeValues(schemas map[string]*huma.Schema) {
	schemas["CurrencyCode"] = httpapi.Enum(money.Codes())
	for _, name := range []string{"ProductPriceInput", "ProductPriceUpdate", "PriorPriceUpdate"} {
		member := schemas[name].Properties["currency"]
		*member = huma.Schema{Ref: httpapi.RefTo("CurrencyCode").Ref, Description: member.Description,
			Examples: member.Examples}
	}
	only := &huma.Schema{Properties: map[string]*huma.Schema{"after_hours": {Enum: []any{24, 72, 168}}}}
	schemas["ExperimentMetricInput"].Extensions = map[string]any{
		dependentSchemas: map[string]*huma.Schema{"after_hours": only}}
	schemas["AutomationCreate"].Properties["template"].Required = []string{"kind"}
	choose(schemas["ExperimentFactorInput"], "name", armsByFactor())
	choose(schemas["StudioEstimateCreate"], "kind", inputsByKind())
}

// describeSecrets gives secrets the format by which tools hide them.
func describeSecrets(doc *huma.OpenAPI) {
	eachSchema(doc, func(_, member string, s *huma.Schema) {
		words := strings.Split(member, "_")
		secret := []string{"secret", "password", "passphrase", "token"}
		if s.Type == huma.TypeString && slices.Contains(secret, words[len(words)-1]) {
			s.Format = "password"
		}
	})
}

// choose describes other members of a body by the value of one of them.
func choose(s *huma.Schema, member string, by map[string]*huma.Schema) {
	var choice huma.Schema
	for _, value := range slices.Sorted(maps.Keys(by)) {
		one := by[value]
		one.Properties[member] = &huma.Schema{Enum: []any{value}}
		choice.AnyOf = append(choice.AnyOf, one)
	}
	s.Extensions = map[string]any{dependentSchemas: map[string]*huma.Schema{member: &choice}}
}

// armsByFactor describes the arms of each factor.
func armsByFactor() map[string]*huma.Schema {
	arms := func(one huma.Schema) *huma.Schema {
		return &huma.Schema{Properties: map[string]*huma.Schema{"arms": {Items: &one}}}
	}
	by := map[string]*huma.Schema{
		experiment.FactorLength: arms(huma.Schema{Pattern: "^([1-9][0-9]|1[0-7][0-9]|180)$"}),
		experiment.FactorSlot:   arms(huma.Schema{Pattern: "^([01][0-9]|2[0-3]):[0-5][0-9]$"}),
	}
	free, most := huma.Schema{Pattern: `\S`}, 50
	free.MaxLength = &most
	for _, name := range []string{experiment.FactorPillar, experiment.FactorPictureStyle} {
		by[name] = arms(free)
	}
	for name, values := range experiment.Arms() {
		by[name] = arms(huma.Schema{Enum: httpapi.Enum(values).Enum})
	}
	return by
}

// inputsByKind describes the input of each kind of generation: its members, and the first of them, which all need but
// avatars, for which a recording is enough.
func inputsByKind() map[string]*huma.Schema {
	by := map[string]*huma.Schema{}
	for kind, members := range studio.Members() {
		names := &huma.Schema{Enum: httpapi.Enum(members).Enum}
		input := &huma.Schema{Extensions: map[string]any{schema.PropertyNames: names}}
		if kind == provider.KindAvatar {
			input.AnyOf = []*huma.Schema{{Required: []string{"text"}}, {Required: []string{studio.AudioMember}}}
		} else {
			input.Required = members[:1]
		}
		by[string(kind)] = &huma.Schema{Properties: map[string]*huma.Schema{"input": input}}
	}
	return by
}
