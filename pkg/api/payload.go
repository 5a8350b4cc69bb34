package api

import (
	"reflect"

	"github.com/content-automation/api/pkg/account"
	"github.com/content-automation/api/pkg/apikey"
	"github.com/content-automation/api/pkg/content/item"
	"github.com/content-automation/api/pkg/event"
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
	event.ProposalCreated:             reflect.TypeFor[Proposal](),
	event.ProposalApplied:             reflect.TypeFor[Proposal](),
	event.BalanceLow:                  reflect.TypeFor[account.View](),
	event.ContentPlanCompleted:        reflect.TypeFor[ContentPlan](),
	event.StudioGenerated:             reflect.TypeFor[generation.Generation](),
	event.StudioFailed:                reflect.TypeFor[generation.Generation](),
	event.TrainingCompleted:           reflect.TypeFor[Training](),
	event.TrainingFailed:              reflect.TypeFor[Training](),
	event.DiagnosisCompleted:          reflect.TypeFor[Diagnosis](),
	event.SocialAccountConnected:      reflect.TypeFor[SocialAccount](),
	event.SocialAccountNeedsReconnect: reflect.TypeFor[SocialAccount](),
	event.WebhookDisabled:             reflect.TypeFor[hook.Webhook](),
	event.APIKeyExpiring:              reflect.TypeFor[apikey.Key](),
	event.APIKeyCreated:               reflect.TypeFor[apikey.Key](),
	event.APIKeyRotated:               reflect.TypeFor[apikey.Key](),
	event.APIKeyRevoked:               reflect.TypeFor[apikey.Key](),
}

// Proposal is a change that the service proposes for a factory.
type Proposal struct {
	resource.Resource
	FactoryID      string         `json:"factory_id" doc:"Factory to change"`
	Source         string         `json:"source" enum:"diagnosis,architect" doc:"Origin of the proposal: a diagnosis of the factory, or a chat with the architect"`
	Title          string         `json:"title" doc:"Summary of the change, in one line"`
	Rationale      string         `json:"rationale" doc:"Reason for the change"`
	Patch          map[string]any `json:"patch" doc:"The change, as a merge patch of the factory"`
	ExpectedEffect string         `json:"expected_effect" doc:"Expected effect of the change"`
	BaseVersion    int64          `json:"base_version" doc:"Version of the factory on which the proposal is based"`
	State          string         `json:"state" enum:"open,applied,dismissed,expired" doc:"State of the proposal. open: not yet applied or dismissed. expired: the factory has changed since"`
}

// ContentPlan is a plan of content for some days.
type ContentPlan struct {
	resource.Resource
	FactoryID    string           `json:"factory_id" doc:"Factory that makes the content"`
	Days         int              `json:"days" minimum:"1" maximum:"90" doc:"Number of days"`
	PostsPerDay  int              `json:"posts_per_day" minimum:"1" maximum:"10" doc:"Number of items per day"`
	ContentTypes []string         `json:"content_types" nullable:"false" enum:"short_video,post,carousel" doc:"Kinds of content, used in turn. short_video makes an item of kind video and format short"`
	StartsOn     string           `json:"starts_on" format:"date" doc:"First day, in the factory's time zone"`
	Brief        string           `json:"brief" doc:"What the content is about"`
	State        string           `json:"state" enum:"queued,planning,generating,completed,failed,canceled" doc:"State of the plan. completed: every item has reached a final state"`
	Items        ContentPlanItems `json:"items" doc:"Progress of its items"`
	CostEstimate int64            `json:"cost_estimate" doc:"Estimated cost in credits"`
}

// ContentPlanItems counts a plan's items.
type ContentPlanItems struct {
	Total     int `json:"total" doc:"Number of items"`
	Generated int `json:"generated" doc:"Number of items that are generated"`
	Failed    int `json:"failed" doc:"Number of items that failed"`
	Published int `json:"published" doc:"Number of items that are published"`
}

// Training is the making of a fine-tuned model.
type Training struct {
	resource.Resource
	FactoryID   string        `json:"factory_id" doc:"Factory that the model is trained for"`
	BaseModel   string        `json:"base_model" doc:"Id of the base model"`
	State       string        `json:"state" enum:"queued,running,completed,failed,canceled" doc:"State of the training. The last three are final"`
	Samples     int           `json:"samples" doc:"Number of samples"`
	Progress    int           `json:"progress" minimum:"0" maximum:"100" doc:"Progress in percent"`
	ModelID     *string       `json:"model_id" doc:"Id of the trained model"`
	CostCredits int64         `json:"cost_credits" doc:"Cost in credits"`
	Failure     *item.Failure `json:"failure" doc:"Reason of the failure. Null if it has not failed"`
}

// Diagnosis is a review of a factory.
type Diagnosis struct {
	resource.Resource
	FactoryID   string    `json:"factory_id" doc:"Factory under review"`
	State       string    `json:"state" enum:"queued,running,completed,failed" doc:"State of the diagnosis. completed and failed are final"`
	Score       *int      `json:"score" minimum:"0" maximum:"100" doc:"Overall score of the factory. Null until completed"`
	Findings    []Finding `json:"findings" nullable:"false" doc:"Findings"`
	ProposalIDs []string  `json:"proposal_ids" nullable:"false" doc:"Ids of the proposals based on the findings"`
}

// Finding is one finding of a diagnosis.
type Finding struct {
	Code     string `json:"code" doc:"Machine-readable kind of the finding"`
	Severity string `json:"severity" enum:"info,warning,critical" doc:"Severity of the finding"`
	Message  string `json:"message" doc:"Description of the finding"`
	Evidence string `json:"evidence" doc:"Data that supports the finding"`
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
