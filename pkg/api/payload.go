package api

import (
	"reflect"

	"github.com/content-automation/api/pkg/account"
	"github.com/content-automation/api/pkg/apikey"
	"github.com/content-automation/api/pkg/content/item"
	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/factory/diagnosis"
	"github.com/content-automation/api/pkg/factory/plan"
	"github.com/content-automation/api/pkg/factory/proposal"
	"github.com/content-automation/api/pkg/factory/training/job"
	"github.com/content-automation/api/pkg/resource"
	"github.com/content-automation/api/pkg/studio/generation"
	"github.com/content-automation/api/pkg/webhook/hook"
)

// payloads returns the resource that each type of event carries. Those whose area
// is not served yet are described here, as the contract has them; the area takes
// its type over when it comes.
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
	event.SocialAccountConnected:      reflect.TypeFor[SocialAccount](),
	event.SocialAccountNeedsReconnect: reflect.TypeFor[SocialAccount](),
	event.WebhookDisabled:             reflect.TypeFor[hook.Webhook](),
	event.APIKeyExpiring:              reflect.TypeFor[apikey.Key](),
	event.APIKeyCreated:               reflect.TypeFor[apikey.Key](),
	event.APIKeyRotated:               reflect.TypeFor[apikey.Key](),
	event.APIKeyRevoked:               reflect.TypeFor[apikey.Key](),
}

// SocialAccount is an account on a social platform.
type SocialAccount struct {
	resource.Resource
	Platform         string         `json:"platform" enum:"instagram,tiktok,youtube,telegram,vk,rutube" doc:"Platform of the account"`
	Handle           string         `json:"handle" doc:"Name on the platform"`
	DisplayName      string         `json:"display_name" doc:"Display name on the platform"`
	AvatarURL        *string        `json:"avatar_url" doc:"URL of its picture. Null: none"`
	State            string         `json:"state" enum:"pending,connected,needs_reconnect,disconnected" doc:"State of the account. pending: its owner has not yet granted access. needs_reconnect: the platform has ended the access"`
	FactoryIDs       []string       `json:"factory_ids" nullable:"false" doc:"Ids of the factories that publish to it"`
	TokenExpiresAt   *resource.Time `json:"token_expires_at" doc:"Time at which the access ends. Null: never"`
	AuthorizationURL *string        `json:"authorization_url" doc:"URL where its owner grants access. Null unless pending"`
}
