package api

import (
	"reflect"

	"github.com/content-automation/api/pkg/account"
	"github.com/content-automation/api/pkg/apikey"
	"github.com/content-automation/api/pkg/content/item"
	"github.com/content-automation/api/pkg/factory/diagnosis"
	"github.com/content-automation/api/pkg/factory/plan"
	"github.com/content-automation/api/pkg/factory/proposal"
	"github.com/content-automation/api/pkg/factory/training/job"
	"github.com/content-automation/api/pkg/record/event"
	social "github.com/content-automation/api/pkg/social/account"
	"github.com/content-automation/api/pkg/studio/generation"
	"github.com/content-automation/api/pkg/webhook/hook"
)

// payloads returns the resource that each type of event carries.
var payloads = map[event.Type]reflect.Type{
	event.ContentGenerated:            reflect.TypeFor[item.Item](),
	event.ContentPublished:            reflect.TypeFor[item.Item](),
	event.ContentFailed:               reflect.TypeFor[item.Item](),
	event.ContentCanceled:             reflect.TypeFor[item.Item](),
	event.ContentDeleted:              reflect.TypeFor[item.Item](),
	event.ProposalCreated:             reflect.TypeFor[proposal.Proposal](),
	event.ProposalApplied:             reflect.TypeFor[proposal.Proposal](),
	event.BalanceLow:                  reflect.TypeFor[account.View](),
	event.ContentPlanCompleted:        reflect.TypeFor[plan.Plan](),
	event.StudioGenerated:             reflect.TypeFor[generation.Generation](),
	event.StudioFailed:                reflect.TypeFor[generation.Generation](),
	event.TrainingCompleted:           reflect.TypeFor[job.Training](),
	event.TrainingFailed:              reflect.TypeFor[job.Training](),
	event.DiagnosisCompleted:          reflect.TypeFor[diagnosis.Diagnosis](),
	event.SocialAccountConnected:      reflect.TypeFor[social.Account](),
	event.SocialAccountNeedsReconnect: reflect.TypeFor[social.Account](),
	event.WebhookDisabled:             reflect.TypeFor[hook.Webhook](),
	event.APIKeyExpiring:              reflect.TypeFor[apikey.Key](),
	event.APIKeyCreated:               reflect.TypeFor[apikey.Key](),
	event.APIKeyRotated:               reflect.TypeFor[apikey.Key](),
	event.APIKeyRevoked:               reflect.TypeFor[apikey.Key](),
}
