package api

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/httpapi"
)

// bodyShape is one of the ways to fill in a body. It has the members that all shapes of the body have, and its own.
type bodyShape struct {
	name, text string
	// values are the values by which it is told apart, by member. Of these members, it requires those in needs.
	values map[string][]string
	// needs and takes are its own members: those that it requires, and the others. What no shape names, all have.
	needs, takes []string
	// with is a set of members in shared that it has, too.
	with string
}

// shared are members that several shapes of a body have, but not all, by the name of their schema.
var shared = map[string][]string{
	"GeneratedItemBase": {"format", "headline", "show_headline", "script", "scenes", "slides", "model", "duration_seconds",
		"visuals", "music", "cover", "product_id", "promotion_id", "deep_fake", "experiment_id", "sandbox"},
}

// together are members that need others, by schema and member.
// Those of publish_at are left out: tools do not combine its pattern with a member that needs it.
var together = map[string]map[string][]string{
	"GeneratedItemBase":      {"promotion_id": {"product_id"}},
	"ProvidedItemCreate":     {"labelled": {"deep_fake"}, "fit": {"media"}},
	"IntegrationConnectBase": {"application_token": {"webhook_url"}},
}

// condition says that a body has some members only if another member has one of some values, and whether that must be
// sent, since its default is none of them.
type condition struct {
	members []string
	member  string
	values  []string
	sent    bool
}

// conditions are those of bodies, by schema.
var conditions = map[string][]condition{
	"GeneratedItemBase": {
		{[]string{"format", "visuals", "music", "scenes"}, "kind", []string{"video"}, false},
		{[]string{"script"}, "kind", []string{"video", "music_clip"}, false},
		{[]string{"duration_seconds"}, "kind", []string{"video", "music_clip", "story"}, false},
		{[]string{"headline", "show_headline"}, "kind", []string{"post"}, false},
		{[]string{"slides"}, "kind", []string{"carousel"}, false},
		{[]string{"cover"}, "kind", []string{"music_clip"}, false},
	},
	"ContentItemBulkCreateBase": {
		{[]string{"publish_at"}, "action", []string{"schedule"}, false},
		{[]string{"note"}, "action", []string{"approve"}, false},
		{[]string{"social_account_ids", "options", "sandbox"}, "action", []string{"schedule", "publish"}, false},
	},
	"DiagnosisRehearsal": {failing,
		{[]string{"findings"}, "outcome", []string{"completed", "no_proposals", "rate_limited"}, false}},
	"SandboxPublishRehearsal": {failing},
	"SandboxRehearsal":        {failing},
	"StudioRehearsal":         {failing},
	"TrainingRehearsal":       {failing},
}

// failing is the condition of the code of a failure that a test key requests.
var failing = condition{[]string{"failure_code"}, "outcome", []string{"failed"}, true}

// shapes are the shapes of bodies by the name of the schema: what a body without them would say only in words.
func shapes() map[string][]bodyShape {
	upload := []string{"mime_type", "bytes", "sha256"}
	return map[string][]bodyShape{
		"WebhookCreate": {
			{name: "UrlWebhookCreate", text: "Webhook that sends to a URL", needs: []string{"url"}},
			{name: "AwsWebhookCreate", text: "Webhook that sends into an AWS account", needs: []string{"destination"}},
		},
		"ReviewLinkCreate": {
			{name: "ItemsReviewLinkCreate", text: "Link that shows content items", needs: []string{"content_item_ids"}},
			{name: "FactoryReviewLinkCreate", text: "Link that shows the items of a factory",
				needs: []string{"factory_id"}},
		},
		"PublishingValidate": {
			{name: "StoredItemValidate", text: "Check of a content item", needs: []string{"content_item_id"}},
			{name: "NewItemValidate", text: "Check of a content item before it is created", needs: []string{"item"}},
		},
		"ContentItemBulkCreate": {
			{name: "IdsBulkCreate", text: "Items by their ids", needs: []string{"action", "content_item_ids"}},
			{name: "ItemsBulkCreate", text: "Items with what differs for each", needs: []string{"action", "items"}},
			{name: "PlanBulkCreate", text: "Items of a content plan that wait", needs: []string{"action", "content_plan_id"},
				values: map[string][]string{"action": {"approve", "schedule", "unschedule"}}},
		},
		"OwnMediaCreate": {
			{name: "UploadMediaCreate", text: "File that is uploaded", needs: upload},
			{name: "FetchedMediaCreate", text: "File that the service fetches", needs: []string{"source_url"},
				takes: upload},
		},
		"ProductPhotoCreate": {
			{name: "UploadPhotoCreate", text: "File that is uploaded", needs: upload},
			{name: "FetchedPhotoCreate", text: "File that the service fetches", needs: []string{"source_url"},
				takes: upload},
			{name: "MediaPhotoCreate", text: "Copy of one of your media", needs: []string{"media_id"}},
		},
		"StudioAvatarCreate": {
			{name: "SpokenAvatarCreate", text: "Avatar that speaks a text", needs: []string{"text"}},
			{name: "HeardAvatarCreate", text: "Avatar with a recorded speech", needs: []string{"audio_url"}},
		},
		"AutomationTriggerInput": {
			{name: "FeedTriggerInput", text: "Each new entry of a feed", needs: []string{"kind", "url"},
				values: map[string][]string{"kind": {"feed"}}},
			{name: "ProductTriggerInput", text: "Each new product of the factory", needs: []string{"kind"},
				values: map[string][]string{"kind": {"product"}}},
			{name: "TimeTriggerInput", text: "Times", needs: []string{"kind", "cron"},
				values: map[string][]string{"kind": {"time"}}},
		},
		"ContentItemCreate": {
			{name: "PromptItemCreate", text: "Item that is generated", needs: []string{"prompt"},
				with: "GeneratedItemBase", takes: []string{"source"}, values: map[string][]string{"source": {"generated"}}},
			{name: "RetoldItemCreate", text: "Item that retells another one", needs: []string{"from_content_item_id"},
				with: "GeneratedItemBase", takes: []string{"source", "prompt", "from_parts", "reuse"},
				values: map[string][]string{"source": {"generated"}}},
			{name: "ProvidedItemCreate", text: "Item of your own media or text", needs: []string{"source"},
				takes:  []string{"media", "fit", "ai_generated", "labelled", "deep_fake"},
				values: map[string][]string{"source": {"provided"}}},
		},
		"IntegrationConnect": {
			{name: "CrmIntegrationConnect", text: "New connection to a CRM", needs: []string{"kind"}},
			{name: "AgainIntegrationConnect", text: "Connection that is made again", needs: []string{"integration_id"}},
		},
		"SocialAccountConnect":    connections(),
		"SocialApplicationCreate": applications(),
	}
}

// connections are the ways to connect an account, each with its platforms.
func connections() []bodyShape {
	by := map[platform.Connect][]string{}
	var communities []string
	for _, p := range registry.Rows() {
		c := p.Capabilities
		if c.CommunityToken {
			communities = append(communities, p.Name)
			continue
		}
		by[c.Connect] = append(by[c.Connect], p.Name)
	}
	on := func(names []string) map[string][]string { return map[string][]string{"platform": names} }
	return []bodyShape{
		{name: "OauthAccountConnect", text: "Account whose owner agrees on the platform", needs: []string{"platform"},
			takes: []string{"channel", "return_url"}, values: on(by[platform.ConnectOAuth])},
		{name: "CommunityAccountConnect", text: "Account that is connected by its owner's consent or a token",
			needs: []string{"platform"}, takes: []string{"channel", "return_url", "community_token"},
			values: on(communities)},
		{name: "BotAccountConnect", text: "Channel of a bot", needs: []string{"platform", "bot_token", "channel"},
			values: on(by[platform.ConnectBotToken])},
		{name: "PasswordAccountConnect", text: "Account that is connected by a login",
			needs: []string{"platform", "username", "password"}, values: on(by[platform.ConnectPassword])},
		{name: "AgainAccountConnect", text: "Account that is connected again", needs: []string{"social_account_id"},
			takes: []string{"channel", "return_url", "community_token", "bot_token", "username", "password"}},
	}
}

// applications are the shapes of an application: with a secret, and without one.
func applications() []bodyShape {
	var secret, public []string
	for _, p := range registry.Rows() {
		switch {
		case p.Capabilities.Connect != platform.ConnectOAuth:
		case p.Capabilities.PublicApp:
			public = append(public, p.Name)
		default:
			secret = append(secret, p.Name)
		}
	}
	on := func(names []string) map[string][]string { return map[string][]string{"platform": names} }
	return []bodyShape{
		{name: "SecretApplicationCreate", text: "Application with a secret",
			needs: []string{"platform", "client_secret"}, values: on(secret)},
		{name: "PublicApplicationCreate", text: "Application without a secret", needs: []string{"platform"},
			values: on(public)},
	}
}

// own are the members that a shape names.
func (s bodyShape) own() []string { return slices.Concat(s.needs, s.takes) }

// describeShapes makes bodies a choice between their shapes, and adds what their members need of others.
func describeShapes(doc *huma.OpenAPI) {
	schemas := doc.Components.Schemas.Map()
	for name, list := range shapes() {
		divide(schemas, name, list)
	}
	names := append(slices.Collect(maps.Keys(together)), slices.Collect(maps.Keys(conditions))...)
	for _, name := range names {
		if s := target(schemas, name); s != nil {
			s.Extensions = maps.Clone(s.Extensions)
			if s.Extensions == nil {
				s.Extensions = map[string]any{}
			}
			s.Extensions[dependentSchemas] = dependent(name)
		}
	}
	describeValues(schemas)
}

// dependentSchemas is a word of JSON Schema that huma lacks.
const dependentSchemas = "dependentSchemas"

// target returns the part of a schema that has members.
func target(schemas map[string]*huma.Schema, name string) *huma.Schema {
	s := schemas[name]
	if s != nil && len(s.AllOf) > 0 {
		return s.AllOf[len(s.AllOf)-1]
	}
	return s
}

// dependent writes what members of a schema need as JSON Schema does, by one word, dependentRequired included.
func dependent(name string) map[string]*huma.Schema {
	all := map[string]*huma.Schema{}
	for member, needs := range together[name] {
		all[member] = &huma.Schema{Required: needs}
	}
	for _, c := range conditions[name] {
		for _, member := range c.members {
			s := all[member]
			if s == nil {
				s = &huma.Schema{}
				all[member] = s
			}
			s.Properties = map[string]*huma.Schema{c.member: {Enum: httpapi.Enum(c.values).Enum}}
			if c.sent {
				s.Required = append(slices.Clone(s.Required), c.member)
			}
		}
	}
	return all
}

// filled refuses an empty text where a member is required.
func filled(member *huma.Schema) {
	if member != nil && member.Type == huma.TypeString && member.MinLength == nil && len(member.Enum) == 0 {
		least := 1
		member.MinLength = &least
	}
}

// divide makes a body a choice between shapes.
func divide(schemas map[string]*huma.Schema, name string, list []bodyShape) {
	body, named := schemas[name], map[string]*huma.Schema{}
	name = strings.TrimSuffix(name, "Input")
	take := func(members []string) map[string]*huma.Schema {
		all := map[string]*huma.Schema{}
		for _, member := range members {
			if body == nil || body.Properties[member] == nil {
				panic(fmt.Sprintf("api: the schema %s has no member %s, which a shape names", name, member))
			}
			all[member], named[member] = body.Properties[member], body.Properties[member]
		}
		return all
	}
	choice := &huma.Schema{Description: body.Description}
	for _, s := range list {
		for _, member := range s.needs {
			filled(body.Properties[member])
		}
		own := &huma.Schema{Type: huma.TypeObject, Required: s.needs, Properties: take(s.own())}
		for member, values := range s.values {
			doc := own.Properties[member].Description
			one := httpapi.Enum(values)
			if len(values) > 1 {
				enum := s.name + httpapi.PascalCase(member)
				schemas[enum], one = one, httpapi.RefTo(enum)
			}
			one.Description = doc
			own.Properties[member] = one
		}
		parts := []*huma.Schema{httpapi.RefTo(name + "Base")}
		if s.with != "" {
			schemas[s.with] = &huma.Schema{Type: huma.TypeObject, Properties: take(shared[s.with]),
				Description: "Members that some variants of `" + name + "` have"}
			parts = append(parts, httpapi.RefTo(s.with))
		}
		schemas[s.name] = &huma.Schema{Description: s.text, AllOf: append(parts, own),
			Extensions: map[string]any{httpapi.Unevaluated: false}}
		choice.AnyOf = append(choice.AnyOf, httpapi.RefTo(s.name))
	}
	base := *body
	base.Properties, base.AdditionalProperties, base.Description = maps.Clone(body.Properties), nil, ""
	isNamed := func(member string) bool { return named[member] != nil }
	maps.DeleteFunc(base.Properties, func(member string, _ *huma.Schema) bool { return isNamed(member) })
	base.Required = slices.DeleteFunc(slices.Clone(body.Required), isNamed)
	schemas[name+"Base"] = &base
	*body = *choice
}
