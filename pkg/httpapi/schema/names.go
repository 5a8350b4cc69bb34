package schema

import (
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/danielgtaylor/huma/v2"
)

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
	"area/audit/chain":  "Audit",
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
	"area/apikey.Ended":                  "ApiKeyRevoked",
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
