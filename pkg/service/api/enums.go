package api

import (
	"fmt"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/event"
)

// enumNames has the names of enumerations, by a member or parameter that has all their values. Every other member with
// the same values shares the name. An enumeration of a single member may be missing: its name is made of the names of
// the schema and of the member.
var enumNames = map[string]string{
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
	"ContentCount.of":                 "ContentCountPart",
	"ContentItem.format":              "VideoFormat",
	"ContentItem.visuals":             "VideoVisuals",
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
			name = at + httpapi.PascalCase(member)
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
