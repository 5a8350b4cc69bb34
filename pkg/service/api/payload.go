package api

import (
	"reflect"

	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/advice"
	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/area/automation"
	"github.com/content-automation/api/pkg/area/content/experiment"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/crm"
	"github.com/content-automation/api/pkg/area/engagement"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/area/studio"
	"github.com/content-automation/api/pkg/area/training"
	"github.com/content-automation/api/pkg/area/transfer"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/record/event"
)

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
	event.MediaReady:                  reflect.TypeFor[media.Media](),
	event.MediaRejected:               reflect.TypeFor[media.Media](),
	event.FactoryCreated:              reflect.TypeFor[factory.Factory](),
	event.ContentPlanFailed:           reflect.TypeFor[plan.Plan](),
	event.ExportCompleted:             reflect.TypeFor[transfer.Export](),
	event.ModelRetiring:               reflect.TypeFor[factory.Retirement](),
	event.IntegrationNeedsReconnect:   reflect.TypeFor[crm.Integration](),
}
