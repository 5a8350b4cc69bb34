package api

import (
	"reflect"
	"time"

	"github.com/content-automation/api/pkg/account"
	"github.com/content-automation/api/pkg/apikey"
	"github.com/content-automation/api/pkg/content"
	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/resource"
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
	resource.Resource
	FactoryID      string         `json:"factory_id" doc:"The factory that it would change"`
	Source         string         `json:"source" enum:"diagnosis,architect" doc:"Who proposes it: the diagnosis of the factory, or the architect in a chat"`
	Title          string         `json:"title" doc:"What it would change, in one line"`
	Rationale      string         `json:"rationale" doc:"Why it is proposed"`
	Patch          map[string]any `json:"patch" doc:"Merge patch of the factory"`
	ExpectedEffect string         `json:"expected_effect" doc:"What is expected of it"`
	BaseVersion    int64          `json:"base_version" doc:"Version of the factory that it was made for"`
	State          string         `json:"state" enum:"open,applied,dismissed,expired" doc:"open until it is applied or dismissed; expired: the factory has changed in between"`
}

// ContentPlan is a plan of content for some days.
type ContentPlan struct {
	resource.Resource
	FactoryID    string           `json:"factory_id" doc:"The factory that makes the content"`
	Days         int              `json:"days" minimum:"1" maximum:"90" doc:"How many days it covers"`
	PostsPerDay  int              `json:"posts_per_day" minimum:"1" maximum:"10" doc:"How many items are made for each day"`
	ContentTypes []string         `json:"content_types" nullable:"false" enum:"short_video,post,carousel" doc:"Kinds of content that take turns; short_video makes an item of kind video and format short"`
	StartsOn     string           `json:"starts_on" format:"date" doc:"First day, in the zone of the factory"`
	Brief        string           `json:"brief" doc:"What the content is to be about, in the words of the caller"`
	State        string           `json:"state" enum:"queued,planning,generating,completed,failed,canceled" doc:"queued, planning what to make, generating it; completed once every item has reached its end"`
	Items        ContentPlanItems `json:"items" doc:"How far its items are"`
	CostEstimate int64            `json:"cost_estimate" doc:"Credits"`
}

// ContentPlanItems counts a plan's items.
type ContentPlanItems struct {
	Total     int `json:"total" doc:"Items of the plan"`
	Generated int `json:"generated" doc:"Items whose media are ready"`
	Failed    int `json:"failed" doc:"Items that failed"`
	Published int `json:"published" doc:"Items that were published"`
}

// Training is the making of a fine-tuned model.
type Training struct {
	resource.Resource
	FactoryID   string           `json:"factory_id" doc:"The factory that it is made for"`
	BaseModel   string           `json:"base_model" doc:"The model that it starts from"`
	State       string           `json:"state" enum:"queued,running,completed,failed,canceled" doc:"queued and running lead to one of the others, which are final"`
	Samples     int              `json:"samples" doc:"How many samples it learns from"`
	Progress    int              `json:"progress" minimum:"0" maximum:"100" doc:"Percent"`
	ModelID     *string          `json:"model_id" doc:"The model that it made"`
	CostCredits int64            `json:"cost_credits" doc:"Credits that it has cost"`
	Failure     *content.Failure `json:"failure" doc:"Why it failed; null unless it did"`
}

// Diagnosis is a review of a factory.
type Diagnosis struct {
	resource.Resource
	FactoryID   string    `json:"factory_id" doc:"The factory that was looked at"`
	State       string    `json:"state" enum:"queued,running,completed,failed" doc:"queued and running lead to completed or failed"`
	Score       *int      `json:"score" minimum:"0" maximum:"100" doc:"How well the factory does; null until it is completed"`
	Findings    []Finding `json:"findings" nullable:"false" doc:"What was found"`
	ProposalIDs []string  `json:"proposal_ids" nullable:"false" doc:"Proposals that follow from the findings"`
}

// Finding is one finding of a diagnosis.
type Finding struct {
	Code     string `json:"code" doc:"What kind of finding it is"`
	Severity string `json:"severity" enum:"info,warning,critical" doc:"How much it matters"`
	Message  string `json:"message" doc:"What was found, for a person"`
	Evidence string `json:"evidence" doc:"What it was found by"`
}

// SocialAccount is an account on a social platform.
type SocialAccount struct {
	resource.Resource
	Platform         string     `json:"platform" enum:"instagram,tiktok,youtube,telegram,vk,rutube" doc:"Where it is"`
	Handle           string     `json:"handle" doc:"Its name on the platform"`
	DisplayName      string     `json:"display_name" doc:"The name that it shows there"`
	AvatarURL        *string    `json:"avatar_url" doc:"Its picture; null: none"`
	State            string     `json:"state" enum:"pending,connected,needs_reconnect,disconnected" doc:"pending until its owner has agreed; needs_reconnect: the platform has ended the access"`
	FactoryIDs       []string   `json:"factory_ids" nullable:"false" doc:"Factories that publish to it"`
	TokenExpiresAt   *time.Time `json:"token_expires_at" doc:"When the access ends; null: it does not"`
	AuthorizationURL *string    `json:"authorization_url" doc:"Where its owner agrees; null unless it is pending"`
}
