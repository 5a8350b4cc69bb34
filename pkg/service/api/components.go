package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/httpapi/schema"
)

// tree is an object of the document as JSON.
type tree = map[string]any

// sharer moves parts that stand in several places among the components of a kind.
type sharer struct {
	kind  string
	name  func(part tree) string
	whole tree
	uses  map[string]int
	names map[string]string
}

// shareParts moves what several operations have alike among the components: parameters, and responses of refused
// requests. Written once for each operation, they would be a fourth of the document. The requests to
// receivers become components too: generators take those in the section webhooks itself for operations of the service.
func shareParts(whole tree) error {
	parameters := &sharer{"parameters", parameterName, whole, map[string]int{}, map[string]string{}}
	responses := &sharer{"responses", responseName, whole, map[string]int{}, map[string]string{}}
	operations := operationsIn(whole)
	for _, do := range []func(s *sharer, part any) (any, error){(*sharer).count, (*sharer).share} {
		for _, o := range operations {
			listed, _ := o["parameters"].([]any)
			if o["x-sdk-method"] == nil { // generators do not find the parameters that only receivers get
				listed = nil
			}
			for i := range listed {
				part, err := do(parameters, listed[i])
				if err != nil {
					return err
				}
				listed[i] = part
			}
			answers, _ := o["responses"].(tree)
			for _, status := range slices.Sorted(maps.Keys(answers)) {
				if status < "300" {
					continue
				}
				part, err := do(responses, answers[status])
				if err != nil {
					return err
				}
				answers[status] = part
			}
		}
	}
	for _, o := range operations {
		answers, _ := o["responses"].(tree)
		inOrder(answers)
	}
	shared, _ := components(whole)["responses"].(tree)
	inOrder(shared)
	hooks, _ := whole["webhooks"].(tree)
	items := tree{}
	for event, item := range hooks {
		name := text.Pascal(event)
		items[name], hooks[event] = item, tree{"$ref": "#/components/pathItems/" + name}
	}
	components(whole)["pathItems"] = items
	return dropUnused(whole)
}

// dropUnused removes the schemas that nothing refers to: values that a shape of a body has in their place.
func dropUnused(whole tree) error {
	schemas, _ := components(whole)["schemas"].(tree)
	for {
		text, err := json.Marshal(whole)
		if err != nil {
			return err
		}
		used := map[string]bool{}
		for _, after := range strings.Split(string(text), `"#/components/schemas/`)[1:] {
			name, _, _ := strings.Cut(after, `"`)
			used[name] = true
		}
		all := len(schemas)
		maps.DeleteFunc(schemas, func(name string, _ any) bool { return !used[name] })
		if len(schemas) == all {
			return nil
		}
	}
}

func components(whole tree) tree {
	all, _ := whole["components"].(tree)
	return all
}

// operationsIn returns all operations and requests to receivers, in the order of their paths and events.
func operationsIn(whole tree) (all []tree) {
	for _, section := range []string{"paths", "webhooks"} {
		items, _ := whole[section].(tree)
		for _, at := range slices.Sorted(maps.Keys(items)) {
			item, _ := items[at].(tree)
			for _, method := range slices.Sorted(maps.Keys(item)) {
				if o, ok := item[method].(tree); ok {
					all = append(all, o)
				}
			}
		}
	}
	return all
}

// count counts the use of a part.
func (s *sharer) count(part any) (any, error) {
	text, err := json.Marshal(part)
	s.uses[string(text)]++
	return part, err
}

// share returns the reference to a part that stands in several places, or else the part. The first one with a name is
// the component: another one with that name stays where it is.
func (s *sharer) share(part any) (any, error) {
	of, ok := part.(tree)
	if _, shared := of["$ref"]; !ok || shared {
		return part, nil
	}
	text, err := json.Marshal(part)
	if err != nil || s.uses[string(text)] < 2 {
		return part, err
	}
	name, known := s.names[string(text)]
	if !known {
		all, _ := components(s.whole)[s.kind].(tree)
		if all == nil {
			all = tree{}
			components(s.whole)[s.kind] = all
		}
		if name = s.name(of); name == "" || all[name] != nil {
			return part, nil
		}
		all[name], s.names[string(text)] = part, name
	}
	return tree{"$ref": "#/components/" + s.kind + "/" + name}, nil
}

// parameterName names a parameter of the path by itself, and another one by its place too, since both may have a name.
func parameterName(p tree) string {
	name, _ := p["name"].(string)
	in, _ := p["in"].(string)
	name = text.Pascal(name)
	if in == "path" {
		return name
	}
	return name + text.Pascal(in)
}

// responseName names the response of errors by its schema, and the one without a body by what it says.
func responseName(r tree) string {
	content, _ := r["content"].(tree)
	media, _ := content[kind].(tree)
	schema, _ := media["schema"].(tree)
	if ref, ok := schema["$ref"].(string); ok {
		return strings.TrimSuffix(path.Base(ref), "Response")
	}
	description, _ := r["description"].(string)
	return strings.ReplaceAll(description, " ", "")
}

// requestID is the schema of the id that each answer has.
const requestID = "RequestId"

// shareMembers describes once what many schemas have: the id of the request, and the settings that all types of
// factories have, in answers, new factories and changes.
func shareMembers(doc *huma.OpenAPI) {
	schemas := doc.Components.Schemas.Map()
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		member := schemas[name].Properties["request_id"]
		if member == nil || schemas[name].Properties["data"] == nil {
			continue
		}
		if schemas[requestID] == nil {
			shared := *member
			shared.Description = "Id of the request; the same as the header X-Request-Id, except in a replayed " +
				"response, which has the id of the first request"
			schemas[requestID] = &shared
		}
		schemas[name].Properties["request_id"] = httpapi.RefTo(requestID)
	}
	sharePairs(doc)
	for _, end := range []string{"", "Input", "Update"} {
		var settings []*huma.Schema
		for name, s := range schemas {
			if strings.HasSuffix(name, "Settings"+end) {
				settings = append(settings, s)
			}
		}
		common := "CommonSettings" + end
		if schemas[common] = extract(settings, common); schemas[common] != nil {
			schemas[common].Description = "Settings that factories of all types have"
		}
	}
}

// sharePairs describes once each form of pairs of a caller's own: those of answers, of requests and of changes.
func sharePairs(doc *huma.OpenAPI) {
	schemas := doc.Components.Schemas.Map()
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		for _, part := range append([]*huma.Schema{schemas[name]}, schemas[name].AllOf...) {
			s := part.Properties["metadata"]
			if s == nil || s.Type != huma.TypeObject {
				continue
			}
			form := "Metadata"
			switch {
			case s.Nullable:
				form = "MetadataUpdate"
			case isOfRequests(s):
				form = "MetadataInput"
			}
			if schemas[form] == nil {
				shared := *s
				shared.Description = "Key-value pairs of your own"
				schemas[form] = &shared
			}
			if shared := *schemas[form]; shared.Type == s.Type {
				shared.Description = s.Description
				if alikeSchemas(&shared, s) {
					part.Properties["metadata"] = &huma.Schema{Ref: httpapi.RefTo(form).Ref, Description: s.Description}
				}
			}
		}
	}
}

// isOfRequests reports whether pairs say which characters they cannot have.
func isOfRequests(pairs *huma.Schema) bool {
	pair, ok := pairs.AdditionalProperties.(*huma.Schema)
	return ok && pair.Pattern != ""
}

// extract moves the members that all objects have alike into a schema of their own, of which the objects are made then.
func extract(objects []*huma.Schema, name string) *huma.Schema {
	common := &huma.Schema{Type: huma.TypeObject, Properties: maps.Clone(objects[0].Properties)}
	for _, o := range objects[1:] {
		maps.DeleteFunc(common.Properties, func(member string, _ *huma.Schema) bool {
			return !alikeMembers(objects[0], o, member)
		})
	}
	common.Required = slices.DeleteFunc(slices.Clone(objects[0].Required), func(member string) bool {
		return common.Properties[member] == nil
	})
	for _, o := range objects {
		*o = *madeOf(o, name, common)
	}
	return common
}

// madeOf returns an object that is made of another one and of the members that only it has.
func madeOf(o *huma.Schema, name string, other *huma.Schema) *huma.Schema {
	common := func(member string) bool { return other.Properties[member] != nil }
	own := &huma.Schema{Type: huma.TypeObject, Properties: maps.Clone(o.Properties)}
	maps.DeleteFunc(own.Properties, func(member string, _ *huma.Schema) bool { return common(member) })
	own.Required = slices.DeleteFunc(slices.Clone(o.Required), common)
	whole := &huma.Schema{Description: o.Description, AllOf: []*huma.Schema{httpapi.RefTo(name), own}}
	if o.AdditionalProperties == false {
		whole.Extensions = map[string]any{httpapi.Unevaluated: false}
	}
	return whole
}

// shareWhole describes what answers have in common once, and refers to it. The members of all answers stand in
// ResponseBase, ListBase and ErrorResponseBase. The schema of a type that begins with another type with a schema, as
// WebhookWithSecret begins with Webhook, is made of it.
func shareWhole(doc *huma.OpenAPI) {
	schemas, made := doc.Components.Schemas.Map(), map[string]*huma.Schema{}
	envelopes := map[string][]*huma.Schema{}
	for name, s := range schemas {
		switch t := doc.Components.Schemas.TypeFromRef(httpapi.RefTo(name).Ref); {
		case s.Properties["data"] != nil && s.Properties["request_id"] != nil:
			base := "ResponseBase"
			if s.Properties["next_cursor"] != nil {
				base = "ListBase"
			} else if s.Properties["error"].Type == "" {
				base = "ErrorResponseBase"
			}
			envelopes[base] = append(envelopes[base], s)
		case t != nil && t.Kind() == reflect.Struct && t.NumField() > 1 && t.Field(0).Anonymous:
			first := schema.SchemaName(t.Field(0).Type, "")
			if of := schemas[first]; of != nil && includes(s, of) {
				made[name] = madeOf(s, first, of)
			}
		}
	}
	for name, s := range made {
		*schemas[name] = *s
	}
	for base, text := range map[string]string{"ResponseBase": "Members that all responses with a result have",
		"ListBase":          "Members that all pages of lists have",
		"ErrorResponseBase": "Members that all responses with an error have"} {
		schemas[base] = extract(envelopes[base], base)
		schemas[base].Description = text
	}
}

// includes reports whether an object has all members of another one as that one has them.
func includes(o, of *huma.Schema) bool {
	for member := range of.Properties {
		if !alikeMembers(o, of, member) {
			return false
		}
	}
	return len(of.Properties) > 0 && of.AdditionalProperties != false
}

// alikeMembers reports whether two objects have the same member, and require it alike.
func alikeMembers(a, b *huma.Schema, member string) bool {
	one, other := a.Properties[member], b.Properties[member]
	return one != nil && other != nil && alikeSchemas(one, other) &&
		slices.Contains(a.Required, member) == slices.Contains(b.Required, member)
}

// shareDescriptions leaves out the description of a member if the schema that it refers to has the same.
func shareDescriptions(doc *huma.OpenAPI) {
	schemas := doc.Components.Schemas.Map()
	eachSchema(doc, func(_, member string, s *huma.Schema) {
		of := s.Ref
		if len(s.AnyOf) == 2 && s.AnyOf[1].Type == "null" {
			of = s.AnyOf[0].Ref
		}
		if shared := schemas[path.Base(of)]; member != "" && shared != nil && shared.Description == s.Description {
			s.Description = ""
		}
	})
}

// alikeSchemas reports whether two schemas say the same.
func alikeSchemas(a, b *huma.Schema) bool {
	one, err := json.Marshal(a)
	if err != nil {
		return false
	}
	other, err := json.Marshal(b)
	return err == nil && string(one) == string(other)
}

// bodyShape is one of the ways to fill in a body. It has the members that all shapes of the body have, and its own.
type bodyShape struct {
	name, text string
	// values are the values by which it is told apart, by member. Of these members, it requires those in needs.
	values map[string][]string
	// required and takes are its own members: those that it requires, and the others. What no shape names, all have.
	required, optional []string
	// with is a set of members in shared that it has, too.
	with string
}

// sharedMembers are members that several shapes of a body have, but not all, by the name of their schema.
var sharedMembers = map[string][]string{
	"GeneratedItemBase": {"format", "headline", "show_headline", "script", "scenes", "slides", "model",
		"duration_seconds",
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

// conditions are the conditions of bodies, by schema.
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
			{name: "UrlWebhookCreate", text: "Webhook that sends to a URL", required: []string{"url"}},
			{name: "AwsWebhookCreate", text: "Webhook that sends into an AWS account",
				required: []string{"destination"}},
		},
		"ReviewLinkCreate": {
			{name: "ItemsReviewLinkCreate", text: "Link that shows content items",
				required: []string{"content_item_ids"}},
			{name: "FactoryReviewLinkCreate", text: "Link that shows the items of a factory",
				required: []string{"factory_id"}},
		},
		"PublishingValidate": {
			{name: "StoredItemValidate", text: "Check of a content item", required: []string{"content_item_id"}},
			{name: "NewItemValidate", text: "Check of a content item before it is created", required: []string{"item"}},
		},
		"ContentItemBulkCreate": {
			{name: "IdsBulkCreate", text: "Items by their ids", required: []string{"action", "content_item_ids"}},
			{name: "ItemsBulkCreate", text: "Items with what differs for each", required: []string{"action", "items"}},
			{name: "PlanBulkCreate", text: "Items of a content plan that wait", required: []string{"action",
				"content_plan_id"},
				values: map[string][]string{"action": {"approve", "schedule", "unschedule"}}},
		},
		"OwnMediaCreate": {
			{name: "UploadMediaCreate", text: "File that is uploaded", required: upload},
			{name: "FetchedMediaCreate", text: "File that the service fetches", required: []string{"source_url"},
				optional: upload},
		},
		"ProductPhotoCreate": {
			{name: "UploadPhotoCreate", text: "File that is uploaded", required: upload},
			{name: "FetchedPhotoCreate", text: "File that the service fetches", required: []string{"source_url"},
				optional: upload},
			{name: "MediaPhotoCreate", text: "Copy of one of your media", required: []string{"media_id"}},
		},
		"StudioAvatarCreate": {
			{name: "SpokenAvatarCreate", text: "Avatar that speaks a text", required: []string{"text"}},
			{name: "HeardAvatarCreate", text: "Avatar with a recorded speech", required: []string{"audio_url"}},
		},
		"AutomationTriggerInput": {
			{name: "FeedTriggerInput", text: "Each new entry of a feed", required: []string{"kind", "url"},
				values: map[string][]string{"kind": {"feed"}}},
			{name: "ProductTriggerInput", text: "Each new product of the factory", required: []string{"kind"},
				values: map[string][]string{"kind": {"product"}}},
			{name: "TimeTriggerInput", text: "Times", required: []string{"kind", "cron"},
				values: map[string][]string{"kind": {"time"}}},
		},
		"ContentItemCreate": {
			{name: "PromptItemCreate", text: "Item that is generated", required: []string{"prompt"},
				with: "GeneratedItemBase", optional: []string{"source"},
				values: map[string][]string{"source": {"generated"}}},
			{name: "RetoldItemCreate", text: "Item that retells another one",
				required: []string{"from_content_item_id"},
				with:     "GeneratedItemBase", optional: []string{"source", "prompt", "from_parts", "reuse"},
				values: map[string][]string{"source": {"generated"}}},
			{name: "ProvidedItemCreate", text: "Item of your own media or text", required: []string{"source"},
				optional: []string{"media", "fit", "ai_generated", "labelled", "deep_fake"},
				values:   map[string][]string{"source": {"provided"}}},
		},
		"IntegrationConnect": {
			{name: "CrmIntegrationConnect", text: "New connection to a CRM", required: []string{"kind"}},
			{name: "AgainIntegrationConnect", text: "Connection that is made again",
				required: []string{"integration_id"}},
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
		{name: "OauthAccountConnect", text: "Account whose owner agrees on the platform",
			required: []string{"platform"},
			optional: []string{"channel", "return_url"}, values: on(by[platform.ConnectOAuth])},
		{name: "CommunityAccountConnect", text: "Account that is connected by its owner's consent or a token",
			required: []string{"platform"}, optional: []string{"channel", "return_url", "community_token"},
			values: on(communities)},
		{name: "BotAccountConnect", text: "Channel of a bot", required: []string{"platform", "bot_token", "channel"},
			values: on(by[platform.ConnectBotToken])},
		{name: "PasswordAccountConnect", text: "Account that is connected by a login",
			required: []string{"platform", "username", "password"}, values: on(by[platform.ConnectPassword])},
		{name: "AgainAccountConnect", text: "Account that is connected again", required: []string{"social_account_id"},
			optional: []string{"channel", "return_url", "community_token", "bot_token", "username", "password"}},
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
			required: []string{"platform", "client_secret"}, values: on(secret)},
		{name: "PublicApplicationCreate", text: "Application without a secret", required: []string{"platform"},
			values: on(public)},
	}
}

// own are the members that a shape names.
func (s bodyShape) own() []string { return slices.Concat(s.required, s.optional) }

// describeShapes makes bodies a choice between their shapes, and adds what their members need of others.
func describeShapes(doc *huma.OpenAPI) {
	schemas := doc.Components.Schemas.Map()
	for name, list := range shapes() {
		divide(schemas, name, list)
	}
	names := slices.Concat(slices.Collect(maps.Keys(together)), slices.Collect(maps.Keys(conditions)))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if s := target(schemas, name); s != nil {
			depend(s, dependent(name))
		}
	}
	describeValues(schemas)
}

// dependentSchemas is a word of JSON Schema that huma lacks.
const dependentSchemas = "dependentSchemas"

// depend adds what the members of a schema need of others. The part of a choice has it in a schema of its own: Ajv
// forgets the members that stand beside it, and refuses them as unevaluated.
func depend(s *huma.Schema, by map[string]*huma.Schema) {
	if s.AdditionalProperties != false {
		s.AllOf = append(s.AllOf, &huma.Schema{Extensions: map[string]any{dependentSchemas: by}})
		return
	}
	s.Extensions = maps.Clone(s.Extensions)
	if s.Extensions == nil {
		s.Extensions = map[string]any{}
	}
	s.Extensions[dependentSchemas] = by
}

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
		for _, member := range s.required {
			filled(body.Properties[member])
		}
		own := &huma.Schema{Type: huma.TypeObject, Required: s.required, Properties: take(s.own())}
		for member, values := range s.values {
			doc := own.Properties[member].Description
			one := httpapi.Enum(values)
			if len(values) > 1 {
				enum := s.name + text.Pascal(member)
				schemas[enum], one = one, httpapi.RefTo(enum)
			}
			one.Description = doc
			own.Properties[member] = one
		}
		parts := []*huma.Schema{httpapi.RefTo(name + "Base")}
		if s.with != "" {
			schemas[s.with] = &huma.Schema{Type: huma.TypeObject, Properties: take(sharedMembers[s.with]),
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

// ExtensibleEnum is the word for the values of an enumeration that may get more of them.
const ExtensibleEnum = "x-extensible-enum"

// inputName returns the name of the schema for requests if that for responses differs.
func inputName(name string) string {
	if strings.HasSuffix(name, "Input") {
		return name + "Create"
	}
	return name + "Input"
}

// tellApart gives requests and responses schemas of their own, if they are not to be the same: responses may get new
// members and new values of enumerations within /v1, and a client made from the document must not fail at them.
// Requests stay strict. The schema of the response keeps the name.
func tellApart(doc *huma.OpenAPI) {
	schemas := doc.Components.Schemas.Map()
	var bodies, parameters, responses []*huma.Schema
	for _, item := range doc.Paths {
		for _, o := range operationsOf(item) {
			if o.RequestBody != nil {
				bodies = append(bodies, schemasOf(o.RequestBody.Content)...)
			}
			for _, p := range o.Parameters {
				parameters = append(parameters, p.Schema)
			}
			for _, r := range o.Responses {
				responses = append(responses, schemasOf(r.Content)...)
			}
		}
	}
	for _, r := range doc.Components.Responses {
		responses = append(responses, schemasOf(r.Content)...)
	}
	for s := range reached(schemas, bodies) {
		sayDefault(s)
	}
	taken, given := reached(schemas, append(bodies, parameters...)), reached(schemas, responses)
	split := map[string]bool{}
	for more := true; more; {
		more = false
		for name, s := range schemas {
			if taken[s] && given[s] && !split[name] && differs(s, split) {
				split[name], more = true, true
			}
		}
	}
	for name := range split {
		schemas[inputName(name)] = inputOf(schemas[name], split)
	}
	for s := range taken {
		if !given[s] {
			referToInput(s, split)
		}
	}
	told := map[*huma.Schema]bool{} // the members by which the shapes of a union are told apart
	for s := range given {
		for _, part := range s.AllOf {
			for _, member := range part.Properties {
				told[member] = true
			}
		}
	}
	for s := range given {
		if s.AdditionalProperties == false {
			s.AdditionalProperties = nil
		}
		if len(s.Enum) > 0 && !told[s] {
			s.Extensions, s.Enum = map[string]any{ExtensibleEnum: s.Enum}, nil
		}
	}
}

func schemasOf(content map[string]*huma.MediaType) (all []*huma.Schema) {
	for _, media := range content {
		all = append(all, media.Schema)
	}
	return all
}

// reached returns the roots, the schemas in them and those that these refer to.
func reached(schemas map[string]*huma.Schema, roots []*huma.Schema) map[*huma.Schema]bool {
	all := map[*huma.Schema]bool{}
	var walk func(s *huma.Schema)
	walk = func(s *huma.Schema) {
		if s == nil || all[s] {
			return
		}
		all[s] = true
		if s.Ref != "" {
			walk(schemas[path.Base(s.Ref)])
		}
		for _, part := range partsOf(s) {
			walk(part)
		}
	}
	for _, s := range roots {
		walk(s)
	}
	return all
}

// differs reports whether a schema of requests cannot be that of responses.
func differs(s *huma.Schema, split map[string]bool) bool {
	if s == nil {
		return false
	}
	return s.AdditionalProperties == false || len(s.Enum) > 0 || s.Ref != "" && split[path.Base(s.Ref)] ||
		slices.ContainsFunc(partsOf(s), func(part *huma.Schema) bool { return differs(part, split) })
}

// inputOf returns a copy of a schema for requests.
func inputOf(s *huma.Schema, split map[string]bool) *huma.Schema {
	if s == nil {
		return nil
	}
	c := *s
	c.Properties = maps.Clone(s.Properties)
	for name, member := range c.Properties {
		c.Properties[name] = inputOf(member, split)
	}
	for _, list := range []*[]*huma.Schema{&c.AllOf, &c.AnyOf, &c.OneOf} {
		*list = slices.Clone(*list)
		for i, part := range *list {
			(*list)[i] = inputOf(part, split)
		}
	}
	c.Items, c.Not = inputOf(s.Items, split), inputOf(s.Not, split)
	if extra, ok := s.AdditionalProperties.(*huma.Schema); ok {
		c.AdditionalProperties = inputOf(extra, split)
	}
	referToInput(&c, split)
	return &c
}

// referToInput has a schema refer to the schema of requests.
func referToInput(s *huma.Schema, split map[string]bool) {
	if s.Ref != "" && split[path.Base(s.Ref)] {
		s.Ref = httpapi.RefTo(inputName(path.Base(s.Ref))).Ref
	}
}

// sayDefault moves the default of a member that callers may leave out into its
// description: some generators require a member that has a default.
func sayDefault(s *huma.Schema) {
	if s.Default == nil {
		return
	}
	s.Description += fmt.Sprintf(". Default: %v", s.Default)
	s.Default = nil
}
