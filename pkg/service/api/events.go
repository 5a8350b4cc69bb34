package api

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/advice"
	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/area/automation"
	"github.com/content-automation/api/pkg/area/content/experiment"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/crm"
	"github.com/content-automation/api/pkg/area/engagement"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/feed"
	"github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/area/studio"
	"github.com/content-automation/api/pkg/area/training"
	"github.com/content-automation/api/pkg/area/transfer"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/event"
)

// eventName names the schema of the events of a type.
func eventName(t event.Type) string { return text.Pascal(string(t)) + "Event" }

// describeEvents makes events a choice by type: each carries the resource of its type.
func describeEvents(r *httpapi.Router) {
	schemas := r.OpenAPI().Components.Schemas.Map()
	base := schemas["Event"]
	schemas["EventBase"] = base
	data, object := base.Properties["data"], schemas["EventData"]
	delete(base.Properties, "data")
	delete(schemas, "EventData")
	base.Required = slices.DeleteFunc(base.Required, func(member string) bool { return member == "data" })
	for _, t := range event.Types {
		base.Properties["type"].Enum = append(base.Properties["type"].Enum, string(t.Type))
	}
	var variants []httpapi.Variant
	for _, t := range event.Types {
		carried := r.Schema(payloads[t.Type])
		name := strings.TrimPrefix(carried.Ref, "#/components/schemas/") + "EventData"
		schemas[name] = &huma.Schema{
			Type: huma.TypeObject, Required: object.Required,
			Properties: map[string]*huma.Schema{"object": {Ref: carried.Ref,
				Description: object.Properties["object"].Description}},
		}
		variants = append(variants, httpapi.Variant{
			Value: string(t.Type), Name: eventName(t.Type), Description: t.Summary, Required: []string{"data"},
			Members: map[string]*huma.Schema{"data": {Ref: httpapi.RefTo(name).Ref, Description: data.Description}},
		})
	}
	schemas["Event"] = httpapi.Union(schemas, "EventBase", "type", variants)
}

// describeWebhooks adds the requests that receivers get: one entry for each type of event. They share the headers and
// the responses.
func describeWebhooks(r *httpapi.Router) {
	doc := r.OpenAPI()
	doc.Webhooks = map[string]*huma.PathItem{}
	// The headers are not among the components: generators such as oapi-codegen make no types for what only webhooks
	// refer to.
	header := func(name, text string) *huma.Param {
		return &huma.Param{Name: name, In: "header", Required: true, Description: text,
			Schema: &huma.Schema{Type: huma.TypeString}}
	}
	headers := []*huma.Param{
		header("webhook-id", "Id of the event; the same in every attempt"),
		header("webhook-timestamp", "Time of this attempt, in seconds since 1970"),
		header("webhook-signature", "Signatures, separated by spaces"),
		header("webhook-endpoint-id", "Id of the webhook"),
		header("webhook-request-id", "Request that caused the event, if one did"),
	}
	headers[len(headers)-1].Required = false
	response := func(component, text string) *huma.Response {
		doc.Components.Responses[component] = &huma.Response{Description: text}
		return &huma.Response{Ref: "#/components/responses/" + component}
	}
	responses := map[string]*huma.Response{
		"2XX": response("Delivered", "Delivered"),
		"410": response("Gone", "Not delivered. The webhook is disabled"),
		"default": response("NotDelivered", "Not delivered, redirects included. The event is sent again; after 429 "+
			"and 503, not before Retry-After"),
	}
	for _, t := range event.Types {
		doc.Webhooks[string(t.Type)] = &huma.PathItem{Post: &huma.Operation{
			OperationID: "on" + text.Pascal(string(t.Type)), Tags: []string{"Webhooks"},
			Summary: t.Summary,
			Description: "Sent to webhooks whose creator has the scope `" + string(t.Scope) +
				"`.",
			Security:   []map[string][]string{},
			Parameters: headers,
			RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {
				Schema:  httpapi.RefTo(eventName(t.Type)),
				Example: event.Sample(t.Type, tenant.Of(exampleAccount, tenant.Test), exampleTime),
			}}},
			Responses: responses,
		}}
	}
}

// exampleAccount is the account in the examples of events.
const exampleAccount = "acc_01h455vb4pex5vsknk084sn02q"

var exampleTime = time.Date(2026, 5, 1, 9, 0, 30, 0, time.UTC)

// payloads maps each type of event to the resource that it carries.
var payloads = map[event.Type]reflect.Type{
	event.ContentGenerated:            reflect.TypeFor[item.Item](),
	event.ContentPublished:            reflect.TypeFor[item.Item](),
	event.ContentFailed:               reflect.TypeFor[item.Item](),
	event.ContentCanceled:             reflect.TypeFor[item.Item](),
	event.ContentDeleted:              reflect.TypeFor[item.Item](),
	event.ContentUpdated:              reflect.TypeFor[item.Item](),
	event.ContentScheduled:            reflect.TypeFor[item.Item](),
	event.ContentUnscheduled:          reflect.TypeFor[item.Item](),
	event.ContentApproved:             reflect.TypeFor[item.Item](),
	event.ContentChangesRequested:     reflect.TypeFor[item.Item](),
	event.PublicationDeleted:          reflect.TypeFor[item.PublishedPost](),
	event.CommentCreated:              reflect.TypeFor[engagement.Comment](),
	event.CommentReplied:              reflect.TypeFor[engagement.Comment](),
	event.FactoryUpdated:              reflect.TypeFor[factory.Factory](),
	event.ProposalCreated:             reflect.TypeFor[advice.Proposal](),
	event.ProposalApplied:             reflect.TypeFor[advice.Proposal](),
	event.BalanceLow:                  reflect.TypeFor[account.View](),
	event.ContentPlanProposed:         reflect.TypeFor[plan.Plan](),
	event.ContentPlanCompleted:        reflect.TypeFor[plan.Plan](),
	event.StudioGenerated:             reflect.TypeFor[studio.Generation](),
	event.StudioFailed:                reflect.TypeFor[studio.Generation](),
	event.TrainingCompleted:           reflect.TypeFor[training.Training](),
	event.TrainingFailed:              reflect.TypeFor[training.Training](),
	event.DiagnosisCompleted:          reflect.TypeFor[advice.Diagnosis](),
	event.SocialAccountConnected:      reflect.TypeFor[social.Account](),
	event.SocialAccountNeedsReconnect: reflect.TypeFor[social.Account](),
	event.WebhookDisabled:             reflect.TypeFor[webhook.Webhook](),
	event.AutomationFailed:            reflect.TypeFor[automation.Automation](),
	event.APIKeyExpiring:              reflect.TypeFor[apikey.Key](),
	event.APIKeyCreated:               reflect.TypeFor[apikey.Key](),
	event.APIKeyRotated:               reflect.TypeFor[apikey.Key](),
	event.APIKeyRevoked:               reflect.TypeFor[apikey.Key](),
	event.PostImportCompleted:         reflect.TypeFor[social.PostImport](),
	event.ImportCompleted:             reflect.TypeFor[transfer.Import](),
	event.ExperimentDecided:           reflect.TypeFor[experiment.Experiment](),
	event.FeedCompleted:               reflect.TypeFor[feed.Run](),
	event.FeedHeld:                    reflect.TypeFor[feed.Run](),
	event.FeedFailed:                  reflect.TypeFor[feed.Run](),
	event.ProductOutdated:             reflect.TypeFor[item.Item](),
	event.MediaReady:                  reflect.TypeFor[media.Media](),
	event.MediaRejected:               reflect.TypeFor[media.Media](),
	event.FactoryCreated:              reflect.TypeFor[factory.Factory](),
	event.ContentPlanFailed:           reflect.TypeFor[plan.Plan](),
	event.ExportCompleted:             reflect.TypeFor[transfer.Export](),
	event.ModelRetiring:               reflect.TypeFor[factory.Retirement](),
	event.IntegrationNeedsReconnect:   reflect.TypeFor[crm.Integration](),
}
