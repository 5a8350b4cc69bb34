package schema

import (
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/record/resource"
)

// NewRegistry returns a registry that also knows the types of package resource, which does not link huma.
func NewRegistry() huma.Registry {
	r := huma.NewMapRegistry("#/components/schemas/", SchemaName)
	r.RegisterTypeAlias(reflect.TypeFor[resource.Metadata](), reflect.TypeFor[metadata]())
	r.RegisterTypeAlias(reflect.TypeFor[resource.Time](), reflect.TypeFor[time.Time]())
	r.RegisterTypeAlias(reflect.TypeFor[resource.Text](), reflect.TypeFor[*string]())
	r.RegisterTypeAlias(reflect.TypeFor[resource.MetadataPatch](), reflect.TypeFor[metadataPatch]())
	return r
}

type metadata struct{}

// Schema describes metadata in the OpenAPI document.
func (metadata) Schema(huma.Registry) *huma.Schema { return pairs(false) }

type metadataPatch struct{}

// Schema describes the patch in the OpenAPI document.
func (metadataPatch) Schema(huma.Registry) *huma.Schema { return pairs(true) }

// PropertyNames is a word of JSON Schema that huma lacks: what names of pairs are like.
const PropertyNames = "propertyNames"

// pairs describes string pairs. In a patch null removes one, or all.
func pairs(patch bool) *huma.Schema {
	mostPairs, longest, shortestName, longestName := resource.MaxPairs, resource.MaxPairLength, 1, resource.MaxPairName
	pair := &huma.Schema{Type: huma.TypeString, MaxLength: &longest, Nullable: patch}
	pair.PrecomputeMessages() // huma does it for the members of objects only
	name := &huma.Schema{Type: huma.TypeString, MinLength: &shortestName, MaxLength: &longestName,
		Pattern: format.OneLine}
	name.PrecomputeMessages()
	return &huma.Schema{
		Extensions: map[string]any{PropertyNames: name}, // a word of JSON Schema that huma lacks
		Type:       huma.TypeObject, MaxProperties: &mostPairs, AdditionalProperties: pair, Nullable: patch,
		Examples: []any{map[string]any{"campaign": "spring"}},
	}
}

// MarkNull marks the members of an answer's schemas that may be null: pointers to structs or times, which huma
// describes as if they were always present.
func MarkNull(schemas huma.Registry, t reflect.Type) {
	markNull(schemas.Map(), t, map[reflect.Type]bool{})
}

func markNull(schemas map[string]*huma.Schema, t reflect.Type, seen map[reflect.Type]bool) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || seen[t] {
		return
	}
	seen[t] = true
	schema := schemas[SchemaName(t, "")]
	if schema == nil {
		return
	}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		member := schema.Properties[name]
		if member == nil {
			continue
		}
		markNull(schemas, f.Type, seen)
		if f.Type.Kind() != reflect.Pointer || f.Type.Elem().Kind() != reflect.Struct ||
			strings.Contains(options, "omitempty") {
			continue
		}
		switch {
		case f.Type.Elem() == reflect.TypeFor[resource.Time]():
			member.Nullable = true
		case member.Ref != "":
			schema.Properties[name] = &huma.Schema{AnyOf: []*huma.Schema{{Ref: member.Ref}, {Type: "null"}},
				Description: member.Description}
		}
	}
}

// oneLine is the part of a pattern by which a text has no control characters. Such a text has no hidden ones either.
const oneLine = `\x00-\x1F`

// Expand replaces the formats of a schema and of all its parts by what they stand for.
func Expand(schemas huma.Registry, s *huma.Schema) { expand(schemas, s, map[*huma.Schema]bool{}) }

func expand(schemas huma.Registry, s *huma.Schema, seen map[*huma.Schema]bool) {
	if s != nil && s.Ref != "" {
		s = schemas.SchemaFromRef(s.Ref)
	}
	if s == nil || seen[s] {
		return
	}
	seen[s] = true
	Fill(s)
	others, _ := s.AdditionalProperties.(*huma.Schema)
	for _, part := range slices.Concat(s.OneOf, []*huma.Schema{s.Items, others}) {
		expand(schemas, part, seen)
	}
	for _, member := range s.Properties {
		expand(schemas, member, seen)
	}
}

// Fill replaces the format of a schema, or of the entries of a list, by what it stands for.
func Fill(s *huma.Schema) {
	if s.Items != nil {
		f, _ := format.Of(s.Items.Format)
		set(&s.MinItems, f.Fewest)
		set(&s.MaxItems, f.Many)
		s.UniqueItems = s.UniqueItems || f.Distinct
		if f.List != nil {
			s.Examples = []any{f.List}
		}
		Fill(s.Items)
		s.PrecomputeMessages()
		return
	}
	f, ok := format.Of(s.Format)
	if !ok {
		return
	}
	s.Format = f.Name
	if f.Pattern != "" {
		s.Pattern, s.PatternDescription = f.Pattern, f.Wanted
	}
	for _, value := range f.Values {
		s.Enum = append(s.Enum, value)
	}
	if f.Example != nil {
		s.Examples = []any{f.Example}
	}
	set(&s.MinLength, f.Shortest)
	set(&s.MaxLength, f.Longest)
	if f.Most > 0 {
		s.Minimum, s.Maximum = new(float64), &f.Most
	}
	s.PrecomputeMessages()
}

// set sets a bound that is not zero.
func set(bound **int, to int) {
	if to > 0 {
		*bound = &to
	}
}

// SchemaName names the schema of a type. A name of several words stands for itself. A name of one word follows the
// subject of its package: Failure of the package of trainings is TrainingFailure. The body of a request has the subject
// and its action: createBody is ProductCreate, patchBody ProductUpdate, photoBody ProductPhotoCreate, and pricePatch
// ProductPriceUpdate. The table names has the exceptions.
func SchemaName(t reflect.Type, hint string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	place, ours := strings.CutPrefix(t.PkgPath(), packages)
	if !ours || t.Name() == "" {
		return huma.DefaultSchemaNamer(t, hint)
	}
	if of, _, generic := strings.Cut(t.Name(), "["); generic {
		data, _ := t.FieldByName("Data")
		switch of {
		case "Envelope":
			return SchemaName(data.Type, "") + "Response"
		case "ListEnvelope":
			return SchemaName(data.Type.Elem(), "") + "List"
		}
		return huma.DefaultSchemaNamer(t, hint)
	}
	if name := names[place+"."+t.Name()]; name != "" {
		return name
	}
	return nameOf(subjectOf(place), t.Name())
}

// packages is the path before those of all packages.
const packages = "github.com/content-automation/api/pkg/"

// nameOf names a type of a package with a subject.
func nameOf(subject, name string) string {
	title := strings.ToUpper(name[:1]) + name[1:]
	action, body := strings.CutSuffix(title, "Body")
	changed, patch := strings.CutSuffix(title, "Patch")
	switch {
	case strings.ContainsFunc(title[1:], unicode.IsUpper) && name == title:
		return title
	case body && action == "Patch":
		return subject + "Update"
	case body && slices.Contains(actions, action):
		return subject + action
	case body:
		return subject + action + "Create"
	case patch:
		return subject + changed + "Update"
	}
	return strings.TrimSuffix(subject, title) + title
}

// actions are the names of bodies that are no things to create.
var actions = strings.Fields("Connect Create Invite Publish Regenerate Rotate Schedule Test Validate Verify")

// subjectOf returns the subject of a package: the last part of its path, unless the table subjects has another.
func subjectOf(place string) string {
	if subject := subjects[place]; subject != "" {
		return subject
	}
	last := place[strings.LastIndex(place, "/")+1:]
	return strings.ToUpper(last[:1]) + last[1:]
}

var subjects = map[string]string{
	"area/advice":       "Diagnosis",
	"area/apikey":       "ApiKey",
	"record/auditlog":   "Audit",
	"area/architect":    "Chat",
	"area/content":      "ContentItem",
	"area/crm":          "Integration",
	"adapter/crm":       "Integration",
	"area/content/item": "Content",
	"area/media":        "OwnMedia",
	"area/people":       "Person",
	"area/plan":         "ContentPlan",
	"auth/credential":   "ApiKey",
	"base/errs":         "Error",
	"base/money":        "Product",
	"generate/catalog":  "Model",
	"record/apikey":     "ApiKey",
	"record/ledger":     "Balance",
}

// names are the names of types that the rule would name otherwise.
var names = map[string]string{
	"area/advice.Proposal":               "Proposal",
	"area/engagement.Comment":            "Comment",
	"area/engagement.Answer":             "CommentAnswer",
	"area/engagement.Author":             "CommentAuthor",
	"area/engagement.Change":             "CommentChange",
	"area/engagement.Failure":            "CommentFailure",
	"area/engagement.Suggestion":         "CommentSuggestion",
	"area/studio.Generation":             "Generation",
	"area/studio.Failure":                "GenerationFailure",
	"area/studio.Input":                  "GenerationInput",
	"area/media.Reason":                  "MediaReason",
	"area/media.Upload":                  "MediaUpload",
	"area/product.promotionCreateBody":   "PromotionCreate",
	"area/product.promotionPatchBody":    "PromotionUpdate",
	"area/product.discountPatch":         "PromotionDiscountUpdate",
	"area/account.Me":                    "Account",
	"area/account.MeBalance":             "Balance",
	"area/advice.Finding":                "Finding",
	"area/apikey.RevokedKey":             "ApiKeyRevoked",
	"area/apikey.NewKey":                 "ApiKeyWithSecret",
	"area/architect.updateBody":          "DraftUpdate",
	"area/architect.Draft":               "Draft",
	"area/content.batch":                 "ContentItems",
	"area/content.slideBody":             "ContentSlideCreate",
	"area/content/item.Metrics":          "PublicationMetrics",
	"area/content/item.Publication":      "Publication",
	"area/content/item.PublishRehearsal": "SandboxPublishRehearsal",
	"area/content/item.Rehearsal":        "SandboxRehearsal",
	"area/crm.Stage":                     "IntegrationMappingStage",
	"area/factory.Schedule":              "Schedule",
	"area/product.Discount":              "PromotionDiscount",
	"area/product.Promotion":             "Promotion",
	"area/engagement.patchBody":          "CommentUpdate",
	"area/engagement.replyBody":          "CommentReply",
	"area/publishing.approveBody":        "ContentApprove",
	"area/publishing.changesBody":        "ContentChangesRequest",
	"area/publishing.linkBody":           "ReviewLinkCreate",
	"area/publishing.patchBody":          "PublicationUpdate",
	"area/social.Accept":                 "SocialPlatformAccept",
	"area/social.connectBody":            "SocialAccountConnect",
	"area/transfer.Export":               "Export",
	"area/transfer.Import":               "Import",
	"area/transfer.ImportedPart":         "ImportPart",
	"area/transfer.LeftOut":              "ImportLeftOut",
	"area/transfer.Part":                 "ExportPart",
	"area/transfer.Taken":                "ImportTaken",
	"area/transfer.exportBody":           "ExportCreate",
	"area/transfer.importBody":           "ImportCreate",
	"area/transfer.partBody":             "ImportPartCreate",
	"area/webhook.NewWebhook":            "WebhookWithSecret",
	"area/webhook.Attempt":               "DeliveryAttempt",
	"area/webhook.Delivery":              "Delivery",
	"area/webhook.Target":                "WebhookDestination",
	"generate/catalog.Avatar":            "Avatar",
	"generate/catalog.Plan":              "Plan",
	"generate/catalog.RateLimits":        "PlanRateLimits",
	"generate/catalog.Voice":             "Voice",
	"media.View":                         "Media",
	"record/apikey.OldSecret":            "ApiKeyOldSecret",
}
