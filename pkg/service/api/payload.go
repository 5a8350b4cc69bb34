package api

import (
	"reflect"

	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/advice/diagnosis"
	"github.com/content-automation/api/pkg/area/advice/proposal"
	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/area/automation"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/crm/integration"
	"github.com/content-automation/api/pkg/area/engagement/comment"
	planjob "github.com/content-automation/api/pkg/area/plan/job"
	social "github.com/content-automation/api/pkg/area/social/account"
	"github.com/content-automation/api/pkg/area/studio/generation"
	"github.com/content-automation/api/pkg/area/training/job"
	"github.com/content-automation/api/pkg/area/webhook/endpoint"
	"github.com/content-automation/api/pkg/record/event"
)

// payloads maps each type of event to the resource that it carries.
var payloads = map[event.Type]reflect.Type{
	event.ContentGenerated:            reflect.TypeFor[item.Item](),
	event.ContentPublished:            reflect.TypeFor[item.Item](),
	event.ContentFailed:               reflect.TypeFor[item.Item](),
	event.ContentCanceled:             reflect.TypeFor[item.Item](),
	event.ContentDeleted:              reflect.TypeFor[item.Item](),
	event.ContentApproved:             reflect.TypeFor[item.Item](),
	event.ContentChangesRequested:     reflect.TypeFor[item.Item](),
	event.PublicationDeleted:          reflect.TypeFor[item.PublishedPost](),
	event.CommentCreated:              reflect.TypeFor[comment.Comment](),
	event.CommentReplied:              reflect.TypeFor[comment.Comment](),
	event.ProposalCreated:             reflect.TypeFor[proposal.Proposal](),
	event.ProposalApplied:             reflect.TypeFor[proposal.Proposal](),
	event.BalanceLow:                  reflect.TypeFor[account.View](),
	event.ContentPlanCompleted:        reflect.TypeFor[planjob.Plan](),
	event.StudioGenerated:             reflect.TypeFor[generation.Generation](),
	event.StudioFailed:                reflect.TypeFor[generation.Generation](),
	event.TrainingCompleted:           reflect.TypeFor[job.Training](),
	event.TrainingFailed:              reflect.TypeFor[job.Training](),
	event.DiagnosisCompleted:          reflect.TypeFor[diagnosis.Diagnosis](),
	event.SocialAccountConnected:      reflect.TypeFor[social.Account](),
	event.SocialAccountNeedsReconnect: reflect.TypeFor[social.Account](),
	event.WebhookDisabled:             reflect.TypeFor[endpoint.Webhook](),
	event.AutomationFailed:            reflect.TypeFor[automation.Automation](),
	event.APIKeyExpiring:              reflect.TypeFor[apikey.Key](),
	event.APIKeyCreated:               reflect.TypeFor[apikey.Key](),
	event.APIKeyRotated:               reflect.TypeFor[apikey.Key](),
	event.APIKeyRevoked:               reflect.TypeFor[apikey.Key](),
	event.IntegrationNeedsReconnect:   reflect.TypeFor[integration.Integration](),
}
