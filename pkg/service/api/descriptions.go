package api

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/content/experiment"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/studio"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/money"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/httpapi/schema"
	"github.com/content-automation/api/pkg/record/event"
)

// describeSchemas gives each schema a description: that of its type, or else what it is for.
func describeSchemas(doc *huma.OpenAPI, texts *httpapi.Texts) {
	schemas := doc.Components.Schemas.Map()
	say := func(name, text string) {
		if s := schemas[name]; s != nil && s.Description == "" && text != "" {
			s.Description = text
		}
	}
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		if t := doc.Components.Schemas.TypeFromRef("#/components/schemas/" + name); t != nil {
			say(name, texts.Type(t))
		}
	}
	bodies := map[string][]string{}
	for _, at := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, o := range operationsOf(doc.Paths[at]) {
			if o.RequestBody != nil {
				for _, s := range schemasOf(o.RequestBody.Content)[:1] {
					name := path.Base(s.Ref)
					bodies[name] = append(bodies[name], "`"+o.OperationID+"`")
				}
			}
		}
	}
	for name, of := range bodies {
		say(name, "Body of "+strings.Join(slices.Compact(of), " and "))
	}
	for name, s := range schemas {
		data := s.Properties["data"]
		switch {
		case data == nil || s.Properties["request_id"] == nil:
		case strings.HasSuffix(name, "Response") && data.Ref != "":
			say(name, "Response with `"+path.Base(data.Ref)+"`")
		case strings.HasSuffix(name, "Response") && data.Items != nil:
			say(name, "Response with a list of `"+path.Base(data.Items.Ref)+"`")
		case strings.HasSuffix(name, "List") && data.Items != nil:
			say(name, "Page of a list of `"+path.Base(data.Items.Ref)+"`. `next_cursor` reads the next page")
		case strings.HasSuffix(name, "Response"):
			say(name, "Response with the error "+codesOf(s.Properties["error"]))
		}
	}
	for name := range schemas {
		if of, is := strings.CutSuffix(name, "Base"); is {
			say(name, "Members that all variants of `"+of+"` have")
		}
	}
	describeByMembers(doc, say)
	for name := range schemas {
		if base := strings.TrimSuffix(name, "Input"); base != name && schemas[base] != nil {
			say(name, schemas[base].Description)
		}
	}
}

// codesOf lists the codes of an error.
func codesOf(s *huma.Schema) string {
	if s.Discriminator == nil {
		return "`" + path.Base(s.Ref) + "`"
	}
	return "`" + strings.Join(slices.Sorted(maps.Keys(s.Discriminator.Mapping)), "`, `") + "`"
}

// describeByMembers gives schemas without a type of their own, such as enumerations, the description of a member or
// parameter that has them.
func describeByMembers(doc *huma.OpenAPI, say func(name, text string)) {
	eachSchema(doc, func(at, member string, s *huma.Schema) {
		for _, part := range append([]*huma.Schema{s, s.Items}, s.AnyOf...) {
			switch {
			case part == nil || part.Ref == "" || member == "":
			case s.Description != "" && doc.Components.Schemas.Map()[at] != nil:
				say(path.Base(part.Ref), s.Description)
			default:
				say(path.Base(part.Ref), "Values of `"+member+"` of `"+at+"`")
			}
		}
	})
}

// ContractTables returns the tables of docs/contract.md that are made from the code, by the names of their places.
func ContractTables() map[string]string {
	return map[string]string{"prefixes": prefixList()}
}

// ReadmeTables returns what the README says of the code, by the names of the places.
func ReadmeTables() map[string]string { return map[string]string{"operations": operationCounts()} }

// areas are the areas of the README, with the tags of their operations.
var areas = []struct {
	name string
	tags []string
}{
	{"factories", []string{"Factories", "Automations", "Profiles", "Templates"}},
	{"content", []string{"Content"}},
	{"publishing", []string{"Publishing", "Social accounts", "Comments"}},
	{"the studio", []string{"Studio", "Media"}},
	{"products", []string{"Products", "Promotions"}},
	{"analytics and the architect", []string{"Analytics", "Architect"}},
}

// operationCounts is the sentence of the README that says how many operations each area has.
func operationCounts() string {
	all, of := 0, map[string]int{}
	for _, item := range Document().Paths {
		for _, o := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if o != nil {
				all++
				of[o.Tags[0]]++
			}
		}
	}
	rest := all
	var parts []string
	for _, a := range areas {
		n := 0
		for _, tag := range a.tags {
			n += of[tag]
		}
		rest -= n
		parts = append(parts, fmt.Sprintf("%d for %s", n, a.name))
	}
	last := len(parts) - 1
	return fmt.Sprintf("%d operations: %s,\n%s, and %d for accounts, keys, webhooks and data.\n", all,
		strings.Join(parts[:last], ", "), parts[last], rest)
}

// WithTables returns the text of a document with its tables as they are now.
func WithTables(text string, tables map[string]string) (string, error) {
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		begin, end := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->"
		before, rest, ok := strings.Cut(text, begin)
		_, after, closed := strings.Cut(rest, end)
		if !ok || !closed {
			return "", fmt.Errorf("the document has no place for %s", name)
		}
		text = before + begin + "\n" + tables[name] + "\n" + end + after
	}
	return text, nil
}

// prefixList lists the prefixes of ids with the resources that have them, in lines of the length of a page.
func prefixList() string {
	of := map[string][]string{}
	for _, name := range id.Resources() {
		prefix, _ := id.Prefix(name)
		of[prefix] = append(of[prefix], name)
	}
	var b strings.Builder
	width := 0
	for i, prefix := range slices.Sorted(maps.Keys(of)) {
		part := fmt.Sprintf("`%s` %s", prefix, strings.Join(of[prefix], " or "))
		switch {
		case i == 0:
		case width+len(part) > pageWidth:
			b.WriteString(",\n")
			width = 0
		default:
			b.WriteString(", ")
		}
		b.WriteString(part)
		width += len(part) + len(", ")
	}
	return b.String() + ".\n"
}

// pageWidth is the number of characters of a line of docs/contract.md, without its last comma.
const pageWidth = 110

// unlike are members whose name does not tell whose ids they have, by schema and member: the resource, or nothing for
// ids of other services, and for ids of several kinds.
var unlike = map[string]string{
	"ApiKeyMandate.id": "", "AuditActor.id": "", "BalanceEntry.id": "ledger_entry", "CallingKey.id": "api_key",
	"Comment.parent_id": "comment", "CommentAnswer.platform_comment_id": "", "ContentPreview.media_ids": "",
	"ContentSlide.media_id": "", "listEvents.object_id": "", "LookupResult.id": "",
	"Draft.result_id": "", "IntegrationPipeline.id": "", "IntegrationStage.id": "", "OwnMedia.id": "media",
	"OwnMediaOurs.file_id": "", "BulkResult.content_item_id": "",
	"PersonInvited.id": "person", "ProductPhoto.id": "photo", "PublishedPost.id": "publication",
	"PublishingEntry.id": "publication", "Quote.created_ids": "", "SocialAccount.connected_as": "social_account",
	"SocialApplication.id": "application", "SocialApplication.client_id": "",
	"SocialConnecting.connected_as": "social_account", "SocialConnecting.id": "social_account", "Voice.id": "",
	"ImportLeftOut.id": "",
}

// taxID is the pattern of a taxpayer number.
const taxID = "^([0-9]{10}|[0-9]{12})$"

// patterns are the patterns of other texts, by schema and member.
var patterns = map[string]string{
	"ApiKeyMandate.id":         "^key_[0-7][0-9a-z]{25}:[0-9]+$",
	"ApiKeyWithSecret.secret":  "^svc_(live|test)_[0-9A-Za-z]{49}$",
	"WebhookWithSecret.secret": "^whsec_[0-9A-Za-z+/]{43}=$",
	"Media.sha256":             "^[0-9a-f]{64}$",
	"AdMarking.tax_id":         taxID,
	"AdMarkingInput.tax_id":    taxID,
	"AdMarkingPatch.tax_id":    taxID,
}

// addresses are the members that contain only URLs.
var addresses = []string{"url", "doc_url", "avatar_url", "authorization_url", "sample_url", "preview_url", "source_url"}

// describeFormats adds patterns and formats to texts. The service answers 404 for a path with a malformed id, so the
// patterns of ids only inform readers and generators.
func describeFormats(doc *huma.OpenAPI) {
	eachSchema(doc, func(at, member string, s *huma.Schema) {
		schema.Fill(s)
		s.PatternDescription = "" // huma's own word
		if s.Type != huma.TypeString || s.Pattern != "" || len(s.Enum) > 0 {
			return
		}
		prefix, isID := idOf(at, member, s)
		switch {
		case isID:
			s.Pattern = id.Pattern(prefix)
		case slices.Contains(addresses, member) && s.Format == "":
			s.Format = "uri"
		default:
			s.Pattern = patterns[at+"."+member]
		}
	})
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, o := range operationsOf(doc.Paths[path]) {
			for _, p := range o.Parameters {
				describeParameter(p)
			}
		}
	}
	doc.Components.Headers["ETag"].Schema.Pattern = `^"[^"]*"$`
}

// day is the pattern of a day.
const day = `^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$`

// describeParameter says what the service refuses of a parameter: an empty value, or one of another form.
func describeParameter(p *huma.Param) {
	s, one := p.Schema, 1
	switch {
	case strings.EqualFold(p.Name, "If-Match"):
		s.Pattern = `^(\*|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*)$`
	case p.In != "query":
	case s.Type == huma.TypeArray:
		s.MinItems = &one
	case s.Type != huma.TypeString || s.Format != "" || s.Pattern != "" || len(s.Enum) > 0:
	case p.Name == "from" || p.Name == "to":
		s.Pattern = day
	default:
		s.MinLength = &one
	}
}

// textPattern is the pattern of texts of several lines, by the characters that the service takes in no text.
const textPattern = `^[^\x00-\x08\x0B\x0C\x0E-\x1F\x7F-\x9F]*$`

// describeTexts says of the texts in requests, and of the names of pairs, which characters they cannot have.
func describeTexts(doc *huma.OpenAPI) {
	var bodies []*huma.Schema
	for _, item := range doc.Paths {
		for _, o := range operationsOf(item) {
			if o.RequestBody != nil {
				bodies = append(bodies, schemasOf(o.RequestBody.Content)...)
			}
		}
	}
	for s := range reached(doc.Components.Schemas.Map(), bodies) {
		plainNames(s)
		plain(s)
	}
}

// plainNames says which characters the names of pairs cannot have. Where a value may be anything, it says it of the
// names of an object in it, too.
func plainNames(s *huma.Schema) {
	values, free := s.AdditionalProperties.(*huma.Schema)
	name, ok := s.Extensions[schema.PropertyNames].(*huma.Schema)
	if !free && !ok {
		return
	}
	if !ok {
		name = &huma.Schema{Type: huma.TypeString}
		s.Extensions = maps.Clone(s.Extensions)
		if s.Extensions == nil {
			s.Extensions = map[string]any{}
		}
		s.Extensions[schema.PropertyNames] = name
	}
	plain(name)
	if free && values.Type == "" && values.Ref == "" && len(values.AnyOf) == 0 && len(values.OneOf) == 0 {
		values.Extensions = map[string]any{schema.PropertyNames: name}
	}
}

// plain adds what a text cannot have to its pattern.
func plain(s *huma.Schema) {
	switch {
	case s.Type != huma.TypeString || len(s.Enum) > 0:
	case s.Pattern == "" && (s.Format == "" || s.Format == format.NotBlank):
		s.Pattern = textPattern
	default:
		s.Pattern = strings.ReplaceAll(s.Pattern, `\x7F]`, `\x7F-\x9F]`)
	}
	notBlank(s)
}

// notBlank has the pattern of a text that must not be blank ask for one character that is no space.
func notBlank(s *huma.Schema) {
	needed := s.MinLength != nil && *s.MinLength > 0
	chars, ok := strings.CutPrefix(s.Pattern, "^[^")
	if !ok || !needed && s.Format != format.NotBlank {
		return
	}
	chars, ok = strings.CutSuffix(chars, `\x9F]*$`)
	if !ok || strings.Contains(chars, "]") {
		return
	}
	other := "[^" + chars + `\x9F]*`
	s.Format, s.Pattern = "", other+`[^\x00-\x20\x7F-\xA0]`+other
	if !needed {
		s.Pattern = "(" + s.Pattern + ")?"
	} else if *s.MinLength == 1 {
		s.MinLength = nil // the pattern says it
	}
	s.Pattern = "^" + s.Pattern + "$"
}

// idOf returns the prefix of the ids of a member or parameter. An example shows it; without one, …_id and …_ids end
// with the resource, and for id it is the resource that the name of the schema begins with. It returns false if these
// are no ids of ours.
func idOf(schema, member string, s *huma.Schema) (prefix string, ok bool) {
	if of, listed := unlike[schema+"."+member]; listed {
		return id.Prefix(of)
	}
	name, is := strings.CutSuffix(strings.TrimSuffix(member, "s"), "_id")
	if !is && member != "id" {
		return "", false
	}
	for _, example := range s.Examples {
		text, _ := example.(string)
		return id.PrefixOf(text)
	}
	for is && !ok {
		prefix, ok = id.Prefix(name)
		_, name, is = strings.Cut(name, "_")
	}
	words := strings.Split(text.Snake(schema), "_")
	for n := len(words); member == "id" && n > 0 && !ok; n-- {
		prefix, ok = id.Prefix(strings.Join(words[:n], "_"))
	}
	return prefix, ok
}

// enumNames has the names of enumerations, by a member or parameter that has all their values. Every other member with
// the same values shares the name. An enumeration of a single member may be missing: its name is made of the names of
// the schema and of the member.
var enumNames = map[string]string{
	"Feed.format":                     "FeedFormat",
	"Feed.schedule":                   "FeedSchedule",
	"Feed.on_price_change":            "FeedPolicy",
	"Feed.photos":                     "FeedPhotos",
	"FeedRun.state":                   "FeedRunState",
	"ContentItem.outdated":            "ContentOutdated",
	"Product.availability":            "ProductAvailability",
	"Account.mode":                    "Mode",
	"Account.plan":                    "PlanId",
	"ApiKey.scopes":                   "Scope",
	"Quote.operation":                 "QuoteOperation",
	"ReviewLink.state":                "ReviewLinkState",
	"ApiKey.state":                    "ApiKeyState",
	"Analytics.group_by":              "AnalyticsGroup",
	"AnalyticsComparison.by":          "AnalyticsCompare",
	"getBestTimes.metric":             "AnalyticsMetric",
	"BalanceEntry.kind":               "BalanceEntryKind",
	"BalanceEntry.state":              "ReserveState",
	"ContentApproval.state":           "ContentApprovalState",
	"ContentItem.waits_for":           "ContentWaitsFor",
	"ContentFailure.code":             "ContentFailureCode",
	"ContentFailure.stage":            "FailureStage",
	"GenerationFailure.code":          "FailureCode",
	"IntegrationConnect.kind":         "CrmId",
	"IntegrationMappingStage.kind":    "IntegrationContentKind",
	"PriorException.reason":           "PriorPriceReason",
	"PublicationFailure.code":         "PublicationFailureCode",
	"Publication.state":               "PublicationState",
	"PublishOptions.privacy":          "Privacy",
	"listAllPublications.order_by":    "PublicationOrder",
	"listContentItems.order_by":       "ContentOrder",
	"listAuditEntries.kind":           "AuditKind",
	"ContentCount.of":                 "ContentCountPart",
	"ContentItem.format":              "VideoFormat",
	"ContentItem.visuals":             "VideoVisuals",
	"FactoryCreateBase.music":         "VideoMusic",
	"BrandSettings.logo_place":        "LogoPlace",
	"BrandSettings.caption_style":     "CaptionStyle",
	"BrandSettings.font":              "FontFamily",
	"listEvents.order":                "ListOrder",
	"ContentItem.kind":                "ContentKind",
	"ContentItemCreate.quality":       "Quality",
	"NewsSettings.kind":               "SourceKind",
	"ContentItem.state":               "ContentState",
	"Delivery.state":                  "DeliveryState",
	"Delivery.failed_reason":          "DeliveryFailedReason",
	"Delivery.waiting_for":            "DeliveryWaitingFor",
	"listDeliveries.state":            "DeliveryFilter",
	"ErrorBody.code":                  "ErrorCode",
	"ErrorBody.type":                  "ErrorType",
	"Estimate.operation":              "EstimateOperation",
	"EventBase.type":                  "EventType",
	"Finding.code":                    "FindingCode",
	"FactoryBase.state":               "FactoryState",
	"FactoryBase.type":                "FactoryType",
	"FactoryUpdate.state":             "FactoryUpdateState",
	"Generation.kind":                 "GenerationKind",
	"Generation.state":                "GenerationState",
	"Media.type":                      "MediaType",
	"OwnMedia.state":                  "OwnMediaState",
	"OwnMedia.type":                   "OwnMediaType",
	"Person.role":                     "Role",
	"Person.state":                    "PersonState",
	"Model.kind":                      "ModelKind",
	"Model.state":                     "ModelState",
	"listModels.provider":             "Provider",
	"Product.state":                   "ProductState",
	"Promotion.state":                 "PromotionState",
	"Proposal.state":                  "ProposalState",
	"Draft.kind":                      "DraftKind",
	"Draft.state":                     "DraftState",
	"Training.state":                  "TrainingState",
	"TrainingFailure.code":            "TrainingFailureCode",
	"Voice.provider":                  "VoiceProvider",
	"SocialAccount.platform":          "Platform",
	"SocialAccount.state":             "SocialAccountState",
	"Webhook.disabled_reason":         "WebhookDisabledReason",
	"Webhook.state":                   "WebhookState",
	"WebhookCreate.event_types":       "EventPattern",
	"WebhookDestination.kind":         "WebhookDestinationKind",
	"PublishOptions.replies":          "Replies",
	"FactoryBase.approval":            "FactoryApproval",
	"ReviewLink.may":                  "ReviewPermission",
	"TiktokOptions.disclosure":        "TiktokDisclosure",
	"TiktokOptions.mode":              "TiktokMode",
	"PublishingEntry.state":           "CalendarState",
	"Automation.state":                "AutomationState",
	"Comment.state":                   "CommentState",
	"PublicationChange.state":         "PublicationChangeState",
	"ContentPlanLearned.by":           "LearnedSource",
	"Experiment.state":                "ExperimentState",
	"ExportPart.kind":                 "ExportPartKind",
	"PostImport.state":                "PostImportState",
	"ExperimentMetric.name":           "ExperimentFigure",
	"ExperimentFactor.name":           "ExperimentFactorName",
	"BrandSettings.pace":              "VideoPace",
	"BrandSettings.theme":             "MediaTheme",
	"BrandSettings.post_aspect_ratio": "PostAspectRatio",
	"ContentItem.hook_kind":           "HookKind",
	"FactoryVoice.emoji":              "EmojiUse",
	"ContentPlan.approve":             "PlanApproval",
	"ContentPlan.content_types":       "ContentType",
	"listLookups.kind":                "LookupKind",
	"PublishOptions.trial":            "ReelTrial",
	"PublishOptions.format":           "CaptionFormat",
	"ContentItem.fit":                 "ContentItemFit",
	"ProductPrice.currency":           "CurrencyCode",
}

// listValues lists the values of members whose types are lists of other packages: scopes, and codes and types that are
// decoded as they were written.
func listValues(doc *huma.OpenAPI) {
	var scopes, types []any
	for _, s := range auth.Scopes {
		scopes = append(scopes, string(s.Scope))
	}
	for _, t := range event.Types {
		types = append(types, string(t.Type))
	}
	codes, failures := httpapi.Enum(errs.Codes).Enum, httpapi.Enum(provider.FailureCodes()).Enum
	publications := httpapi.Enum(item.PublicationCodes()).Enum
	platforms := httpapi.Enum(registry.Names()).Enum
	either := slices.Clone(failures)
	for _, code := range publications {
		if !slices.Contains(either, code) {
			either = append(either, code)
		}
	}
	patterns := doc.Components.Schemas.Map()["WebhookCreate"].Properties["event_types"].Items.Enum
	values := map[string][]any{
		"AuditEntry.error_code": codes, "ContentFailure.code": either, "PublicationFailure.code": publications,
		"SandboxPublishRehearsal.failure_code": publications, "GenerationFailure.code": failures,
		"DiagnosisFailure.code": failures, "failure_code": failures,
		"platform": platforms, "SocialPlatform.id": platforms, "Delivery.event_type": types,
		"Voice.provider":      providersOf(catalog.Voices("", ""), func(v catalog.Voice) string { return v.Provider }),
		"Avatar.provider":     providersOf(catalog.Avatars(""), func(a catalog.Avatar) string { return a.Provider }),
		"Webhook.event_types": patterns, "WebhookWithSecret.event_types": patterns, "scopes": scopes,
		// Those of a platform's application are the platform's.
		"SocialApplication.scopes": nil, "SocialApplicationCreate.scopes": nil, "SocialApplicationUpdate.scopes": nil,
	}
	eachSchema(doc, func(at, member string, s *huma.Schema) {
		list, own := values[at+"."+member]
		if !own {
			list = values[member]
		}
		if list != nil && s.Type == huma.TypeString && len(s.Enum) == 0 {
			s.Enum, s.MaxLength = list, nil
		}
	})
}

// providersOf returns the providers of voices or avatars, in the order of all providers.
func providersOf[T any](all []T, of func(T) string) (names []any) {
	for _, name := range provider.RowNames() {
		if slices.ContainsFunc(all, func(v T) bool { return of(v) == name }) {
			names = append(names, name)
		}
	}
	return names
}

// nameEnums moves every enumeration into a named schema, which generators then use for its type. Null is not among the
// values, but an alternative to them.
func nameEnums(doc *huma.OpenAPI) {
	schemas := doc.Components.Schemas.Map()
	names := map[string]string{}
	eachSchema(doc, func(at, member string, s *huma.Schema) {
		name, listed := enumNames[at+"."+member]
		if values := valuesOf(s); listed && len(values) > 1 {
			names[fmt.Sprint(values)] = name
		}
	})
	eachSchema(doc, func(at, member string, s *huma.Schema) {
		values := valuesOf(s)
		if len(values) < 2 || member == "" {
			return
		}
		name := names[fmt.Sprint(values)]
		if name == "" {
			name = at + text.Pascal(member)
			names[fmt.Sprint(values)] = name
		}
		if schemas[name] == nil {
			schemas[name] = &huma.Schema{Type: huma.TypeString, Enum: slices.DeleteFunc(slices.Clone(s.Enum),
				func(v any) bool { return v == nil })}
		}
		was := *s
		*s = *httpapi.RefTo(name)
		if was.Nullable {
			*s = huma.Schema{AnyOf: []*huma.Schema{httpapi.RefTo(name), {Type: "null"}}}
		}
		s.Description, s.Default, s.Examples = was.Description, was.Default, was.Examples
	})
}

// valuesOf returns the texts of an enumeration in alphabetical order.
func valuesOf(s *huma.Schema) []string {
	var values []string
	for _, v := range s.Enum {
		if text, ok := v.(string); ok {
			values = append(values, text)
		}
	}
	slices.Sort(values)
	return values
}

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

// describeEstimates makes the body of an estimate a choice by operation: each has the body of its operation, and the id
// of the resource if it is in the path of the operation.
func describeEstimates(doc *huma.OpenAPI) {
	schemas := doc.Components.Schemas.Map()
	base := schemas["EstimateCreate"]
	base.AdditionalProperties = nil
	schemas["EstimateCreateBase"] = base
	body, ids := base.Properties["body"], map[string]*huma.Schema{}
	delete(base.Properties, "body")
	for _, member := range []string{"content_item_id", "factory_id"} {
		ids[member] = base.Properties[member]
		delete(base.Properties, member)
	}
	required := slices.DeleteFunc(slices.Clone(base.Required),
		func(member string) bool { return member == "operation" })
	base.Required = []string{"operation"}
	var variants []httpapi.Variant
	for path, item := range doc.Paths {
		o := item.Post
		if o == nil || !slices.Contains(valuesOf(base.Properties["operation"]), o.OperationID) {
			continue
		}
		v := httpapi.Variant{
			Value: o.OperationID, Name: text.Pascal(o.OperationID) + "Estimate",
			Description: "Estimate of " + o.OperationID,
			Members: map[string]*huma.Schema{"body": {Ref: o.RequestBody.Content["application/json"].Schema.Ref,
				Description: body.Description}},
			Required: slices.Clone(required), Closed: true,
		}
		for member, id := range ids {
			if strings.Contains(path, "{"+member+"}") && id != nil {
				v.Members[member] = id
				v.Required = append(v.Required, member)
			}
		}
		variants = append(variants, v)
	}
	slices.SortFunc(variants, func(a, b httpapi.Variant) int { return strings.Compare(a.Value, b.Value) })
	schemas["EstimateCreate"] = httpapi.Union(schemas, "EstimateCreateBase", "operation", variants)
}

// The members of an operation in the document that generators of clients read.
const (
	sdkResource   = "x-sdk-resource"
	sdkMethod     = "x-sdk-method"
	sdkPagination = "x-sdk-pagination"
	sdkWait       = "x-sdk-wait"
)

// resources are the names of resources in clients and the paths of their collections, where they do not follow from the
// tag.
var resources = map[string]struct{ name, collection string }{
	"Content":         {"content", "/v1/content-items"},
	"Social accounts": {"socialAccounts", "/v1/social/accounts"},
}

// methods are names in clients that do not follow from the path.
var methods = map[string]struct{ resource, method string }{
	"getMe":                 {"account", "get"},
	"createExport":          {"exports", "create"},
	"getExport":             {"exports", "get"},
	"listExports":           {"exports", "list"},
	"listImports":           {"imports", "list"},
	"listQuotes":            {"quotes", "list"},
	"createImport":          {"imports", "create"},
	"getImport":             {"imports", "get"},
	"setFeed":               {"feeds", "set"},
	"getFeed":               {"feeds", "get"},
	"deleteFeed":            {"feeds", "delete"},
	"syncFeed":              {"feeds", "sync"},
	"listFeedRuns":          {"feeds", "listRuns"},
	"getFeedRun":            {"feeds", "getRun"},
	"createContentItems":    {"content", "createBatch"},
	"createEstimate":        {"account", "estimate"},
	"createQuote":           {"quotes", "create"},
	"getQuote":              {"quotes", "get"},
	"resetSandbox":          {"sandbox", "reset"},
	"advanceSandbox":        {"sandbox", "advance"},
	"getFactoryAnalytics":   {"factories", "getAnalytics"},
	"getBestTimes":          {"analytics", "getBestTimes"},
	"listAccountMetrics":    {"analytics", "listAccountMetrics"},
	"importPosts":           {"analytics", "importPosts"},
	"getPostImport":         {"analytics", "getPostImport"},
	"listExperiments":       {"experiments", "list"},
	"createExperiment":      {"experiments", "create"},
	"getExperiment":         {"experiments", "get"},
	"updateExperiment":      {"experiments", "update"},
	"applyExperiment":       {"experiments", "apply"},
	"listExperimentPosts":   {"experiments", "listPosts"},
	"createPlanTopic":       {"planTopics", "create"},
	"getPlanTopic":          {"planTopics", "get"},
	"updatePlanTopic":       {"planTopics", "update"},
	"deletePlanTopic":       {"planTopics", "delete"},
	"approvePlanTopics":     {"planTopics", "approve"},
	"estimateGeneration":    {"studio", "estimate"},
	"addProductPhoto":       {"products", "addPhoto"},
	"deleteProductPhoto":    {"products", "deletePhoto"},
	"listApplications":      {"applications", "list"},
	"createApplication":     {"applications", "create"},
	"getApplication":        {"applications", "get"},
	"updateApplication":     {"applications", "update"},
	"deleteApplication":     {"applications", "delete"},
	"attachSocialAccount":   {"socialAccounts", "attach"},
	"detachSocialAccount":   {"socialAccounts", "detach"},
	"validatePublishing":    {"publishing", "validate"},
	"bulkPublishing":        {"publishing", "bulk"},
	"getCreatorInfo":        {"publishing", "getCreatorInfo"},
	"listLookups":           {"publishing", "listLookups"},
	"listAllPublications":   {"publications", "list"},
	"getPublication":        {"publications", "get"},
	"getPublicationDossier": {"publications", "getDossier"},
	"updatePublication":     {"publications", "update"},
	"deletePublication":     {"publications", "delete"},
	"approveContentItem":    {"approvals", "approve"},
	"requestChanges":        {"approvals", "requestChanges"},
	"replyToComment":        {"comments", "reply"},
	"listReviewLinks":       {"reviewLinks", "list"},
	"createReviewLink":      {"reviewLinks", "create"},
	"getReviewLink":         {"reviewLinks", "get"},
	"deleteReviewLink":      {"reviewLinks", "delete"},
}

// endStates are the states in which work has ended, by the operation that reads it. All other states are on the way.
var endStates = map[string]struct{ done, failed []string }{
	"getContentItem": {[]string{"generated", "scheduled", "published"}, []string{"failed", "canceled"}},
	"getContentPlan": {[]string{"completed", "proposed"}, []string{"failed", "canceled"}},
	"getDiagnosis":   {[]string{"completed"}, []string{"failed"}},
	"getTraining":    {[]string{"completed"}, []string{"failed", "canceled"}},
	"getGeneration":  {[]string{"generated"}, []string{"failed", "canceled"}},
	"getPostImport":  {[]string{"completed"}, []string{"failed"}},
	"getExport":      {[]string{"completed"}, []string{"failed"}},
	"getImport":      {[]string{"completed"}, []string{"failed"}},
	"getFeedRun":     {[]string{"completed", "held"}, []string{"failed", "canceled"}},
	"getMedia":       {[]string{"ready"}, []string{"rejected"}},
}

// describeClients adds to each operation what clients need: its name there, how it is paged, and the states in which
// what it reads has ended.
func describeClients(doc *huma.OpenAPI) {
	for _, at := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, o := range operationsOf(doc.Paths[at]) {
			resource, method := clientName(o, at)
			more := map[string]any{sdkResource: resource, sdkMethod: method}
			if slices.ContainsFunc(o.Parameters, func(p *huma.Param) bool { return p.Name == "cursor" }) {
				more[sdkPagination] = map[string]string{"cursor": "cursor", "items": "data", "next": "next_cursor"}
			}
			if w, ok := endStates[o.OperationID]; ok {
				more[sdkWait] = map[string]any{"member": "state", "done": w.done, "failed": w.failed}
			}
			o.Extensions = maps.Clone(o.Extensions)
			maps.Copy(o.Extensions, more)
		}
	}
}

// clientName returns the resource and the method of an operation: the verb, if it acts on the collection of its tag or
// on an element of that, and otherwise the operation's id.
func clientName(o *huma.Operation, at string) (resource, method string) {
	if m, ok := methods[o.OperationID]; ok {
		return m.resource, m.method
	}
	tag := o.Tags[0]
	resource, collection := text.Camel(tag), "/v1/"+strings.ReplaceAll(strings.ToLower(tag), " ", "-")
	if r, ok := resources[tag]; ok {
		resource, collection = r.name, r.collection
	}
	verb := text.Words(o.OperationID)[0]
	rest, own := strings.CutPrefix(at, collection)
	parts := strings.Split(strings.Trim(rest, "/"), "/")
	if !own || rest != "" && rest[0] != '/' {
		return resource, o.OperationID
	}
	last, parameter := path.Base(rest), strings.HasPrefix(path.Base(rest), "{")
	switch {
	case rest == "" || len(parts) == 1 && parameter:
		return resource, verb
	case strings.HasPrefix(last, verb):
		if name := text.Camel(last); len(parts) <= 2 || name == o.OperationID {
			return resource, name
		}
	}
	return resource, o.OperationID
}
