package api

import (
	"reflect"
	"time"

	"github.com/content-automation/api/pkg/account"
	"github.com/content-automation/api/pkg/apikey"
	"github.com/content-automation/api/pkg/content"
	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/studio"
	"github.com/content-automation/api/pkg/webhook"
)

// payloads gives the resource that each type of event carries. Those whose area
// is not served yet are described here, as the contract has them; the area takes
// its type over when it comes.
var payloads = map[event.Type]reflect.Type{
	event.ContentGenerated:            reflect.TypeFor[content.Item](),
	event.ContentPublished:            reflect.TypeFor[content.Item](),
	event.ContentFailed:               reflect.TypeFor[content.Item](),
	event.ProposalCreated:             reflect.TypeFor[Proposal](),
	event.ProposalApplied:             reflect.TypeFor[Proposal](),
	event.BalanceLow:                  reflect.TypeFor[account.View](),
	event.ContentPlanCompleted:        reflect.TypeFor[ContentPlan](),
	event.StudioGenerated:             reflect.TypeFor[studio.Generation](),
	event.StudioFailed:                reflect.TypeFor[studio.Generation](),
	event.TrainingCompleted:           reflect.TypeFor[Training](),
	event.TrainingFailed:              reflect.TypeFor[Training](),
	event.DiagnosisCompleted:          reflect.TypeFor[Diagnosis](),
	event.SocialAccountConnected:      reflect.TypeFor[SocialAccount](),
	event.SocialAccountNeedsReconnect: reflect.TypeFor[SocialAccount](),
	event.WebhookDisabled:             reflect.TypeFor[webhook.Webhook](),
	event.APIKeyExpiring:              reflect.TypeFor[apikey.Key](),
}

// Proposal is a change that the service proposes for a factory.
type Proposal struct {
	httpapi.Resource
	FactoryID      string         `json:"factory_id"`
	Source         string         `json:"source" enum:"diagnosis,architect"`
	Title          string         `json:"title"`
	Rationale      string         `json:"rationale"`
	Patch          map[string]any `json:"patch" doc:"Merge patch of the factory"`
	ExpectedEffect string         `json:"expected_effect"`
	BaseVersion    int64          `json:"base_version" doc:"Version of the factory that it was made for"`
	State          string         `json:"state" enum:"open,applied,dismissed,expired"`
}

// ContentPlan is a plan of content for some days.
type ContentPlan struct {
	httpapi.Resource
	FactoryID    string           `json:"factory_id"`
	Days         int              `json:"days" minimum:"1" maximum:"90"`
	PostsPerDay  int              `json:"posts_per_day" minimum:"1" maximum:"10"`
	ContentTypes []string         `json:"content_types" nullable:"false" enum:"short_video,post,carousel"`
	StartsOn     string           `json:"starts_on" format:"date"`
	Brief        string           `json:"brief"`
	State        string           `json:"state" enum:"queued,planning,generating,completed,failed,canceled"`
	Items        ContentPlanItems `json:"items"`
	CostEstimate int64            `json:"cost_estimate" doc:"Credits"`
}

// ContentPlanItems counts a plan's items.
type ContentPlanItems struct {
	Total     int `json:"total"`
	Generated int `json:"generated"`
	Failed    int `json:"failed"`
	Published int `json:"published"`
}

// Training is the making of a fine-tuned model.
type Training struct {
	httpapi.Resource
	FactoryID   string           `json:"factory_id"`
	BaseModel   string           `json:"base_model"`
	State       string           `json:"state" enum:"queued,running,completed,failed,canceled"`
	Samples     int              `json:"samples"`
	Progress    int              `json:"progress" minimum:"0" maximum:"100"`
	ModelID     *string          `json:"model_id" doc:"The model that it made"`
	CostCredits int64            `json:"cost_credits"`
	Failure     *content.Failure `json:"failure"`
}

// Diagnosis is a review of a factory.
type Diagnosis struct {
	httpapi.Resource
	FactoryID   string    `json:"factory_id"`
	State       string    `json:"state" enum:"queued,running,completed,failed"`
	Score       *int      `json:"score" minimum:"0" maximum:"100"`
	Findings    []Finding `json:"findings" nullable:"false"`
	ProposalIDs []string  `json:"proposal_ids" nullable:"false"`
}

// Finding is one finding of a diagnosis.
type Finding struct {
	Code     string `json:"code"`
	Severity string `json:"severity" enum:"info,warning,critical"`
	Message  string `json:"message"`
	Evidence string `json:"evidence"`
}

// SocialAccount is an account on a social platform.
type SocialAccount struct {
	httpapi.Resource
	Platform         string     `json:"platform" enum:"instagram,tiktok,youtube,telegram,vk,rutube"`
	Handle           string     `json:"handle"`
	DisplayName      string     `json:"display_name"`
	AvatarURL        *string    `json:"avatar_url"`
	State            string     `json:"state" enum:"pending,connected,needs_reconnect,disconnected"`
	FactoryIDs       []string   `json:"factory_ids" nullable:"false"`
	TokenExpiresAt   *time.Time `json:"token_expires_at"`
	AuthorizationURL *string    `json:"authorization_url"`
}
