// Package item holds content items: their records, states, plans and generation. Operations and workers use it. Start
// with Record in record.go; state.go has the states, and plan.go the parts of an attempt.
package item

import (
	"cmp"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/rehearsal"
	"github.com/content-automation/api/pkg/record/resource"
)

var (
	_ = format.Define("content-state", format.Format{Values: format.Values(Queued, Generating, Generated, Scheduled,
		Publishing, Published, Failed, Canceled)})
	_ = format.Define("content-outcome", format.Format{
		Values: format.Words("generated failed published insufficient_balance spend_limit_reached rate_limited")})
	_ = format.Define("accounts", format.Format{Fewest: 1, Many: 15, Distinct: true})
	_ = format.Define("omission", format.Format{
		Values: format.Words("needs_reconnect pending disconnected unsupported_kind choices_required rule_violated " +
			"outside_mandate")})
)

// ItemKind is the kind of a content item in the table.
const ItemKind = "content_item"

// Kind is the kind of a content item.
type Kind string

// The five kinds.
const (
	Post      Kind = "post"
	Video     Kind = "video"
	Carousel  Kind = "carousel"
	Story     Kind = "story"
	MusicClip Kind = "music_clip"
)

// The formats of a video; other kinds have none.
const (
	FormatShort = "short" // 9:16
	FormatLong  = "long"  // 16:9
)

// The sources of the media and texts of an item.
const (
	SourceGenerated = "generated"
	SourceProvided  = "provided"
)

// The ways to fit the caller's pictures and videos to the shape of their kind.
const (
	FitNone = "none"
	FitPad  = "pad"  // the whole picture, before a background
	FitCrop = "crop" // the middle of the picture
)

// The bounds of a video that is fitted.
const (
	LeastFitted = time.Second
	MostFitted  = 3 * time.Minute
)

// The qualities of texts. Items of media of the caller have none.
const (
	QualityDraft    = "draft"
	QualityStandard = "standard"
	QualityBest     = "best"
)

// Qualities are the names of all qualities, the cheapest first.
var Qualities = []string{QualityDraft, QualityStandard, QualityBest}

// QualityOf returns the quality of an item, by the choice of its caller and of its factory.
func QualityOf(asked, usual string) string { return cmp.Or(asked, usual, QualityStandard) }

// The kinds of pictures in a video.
const (
	VisualsClips  = "clips"
	VisualsStills = "stills"
)

// The kinds of music under the voice of a video, besides the caller's own.
const (
	MusicNone      = "none"
	MusicGenerated = "generated"
)

// CoverGenerated is the cover of a music clip that is not the caller's.
const CoverGenerated = "generated"

// State is the state of a content item.
type State string

// The states. An item moves from queued over generating to generated, and from there over scheduled and publishing to
// published; it may fail in generating and publishing, and be canceled before it is generated.
const (
	Queued     State = "queued"
	Generating State = "generating"
	Generated  State = "generated"
	Scheduled  State = "scheduled"
	Publishing State = "publishing"
	Published  State = "published"
	Failed     State = "failed"
	Canceled   State = "canceled"
)

// Slide is one picture of a carousel.
type Slide struct {
	// Heading of the slide.
	Text string `json:"text" maxLength:"200"`
	// Text below the heading, in smaller letters. Null on a generated first slide, and of a heading that you gave
	// without it.
	Body resource.Text `json:"body"`
	// Id of its finished picture in media of the item. Null until generated.
	MediaID *string `json:"media_id" example:"cnt_01h455vb4pex5vsknk084sn02q_1_6"`
}

// Scene is one scene of a video.
type Scene struct {
	// What is said.
	Text string `json:"text"`
	// What is seen, in English if it was generated. Null if you gave the scene without it.
	Visual resource.Text `json:"visual"`
	// Short text that is drawn on the scene. Null: none.
	//
	// OnScreen is for viewers without sound.
	OnScreen resource.Text `json:"on_screen"`
}

// sceneOf returns a scene that a text model has written.
func sceneOf(s provider.Scene) Scene {
	return Scene{s.Text, resource.Text(s.Visual), resource.Text(s.OnScreen)}
}

// forModel returns the scene as a text model writes it.
func (s Scene) forModel() provider.Scene {
	return provider.Scene{Text: s.Text, Visual: string(s.Visual), OnScreen: string(s.OnScreen)}
}

// Failure is the reason why an item failed.
type Failure struct {
	// Stage that failed: a model's part, finished media, or publishing.
	Stage string `json:"stage" enum:"generate,compose,publish"`
	// Machine-readable reason of the failure.
	Code provider.FailureCode `json:"code" example:"generation_failed"`
	// What happened and what to do about it.
	Message string `json:"message"`
	// Whether regenerating the item may succeed.
	Retryable bool `json:"retryable"`
}

// Content is what an item says, shows and sounds like.
type Content struct {
	// Format of a video: short is 9:16, long is 16:9. Null for other kinds.
	Format *string `json:"format" enum:"short,long"`
	// What the content is about.
	Prompt string `json:"prompt"`
	// Text that is spoken, of videos, and the lyrics that you gave, of music clips. Null until generated, unless you
	// gave it, and for other kinds.
	Script resource.Text `json:"script"`
	// The script in scenes, of videos. Empty until generated, unless you gave it.
	Scenes []Scene `json:"scenes" nullable:"false"`
	// Length that was asked for, in seconds: of videos, music clips, and stories that are clips. Videos follow their
	// narration, so they differ from it by a little. Null for others.
	DurationSeconds *int `json:"duration_seconds" example:"20"`
	// What is seen in a video: clips of its model, or pictures with a slow movement. Null for other kinds.
	Visuals *string `json:"visuals" enum:"clips,stills"`
	// What is heard under the voice of a video: none, generated, or the id of your media. Null for other kinds.
	Music *string `json:"music" example:"none"`
	// Cover of a music clip: generated, or the id of your media. Null for other kinds.
	Cover *string `json:"cover" example:"generated"`
	// Aspect ratio of its pictures or clips, as the model makes them. Null for music clips, whose cover is 1:1.
	AspectRatio *string `json:"aspect_ratio" example:"9:16"`
	// Length of each of its clips, or of its track, in seconds; of the longest clip of a script that you gave. Null for
	// pictures, and where the model decides.
	Seconds *int `json:"clip_seconds"`
	// Id of the voice of its narration. Null without one, or where the model decides.
	Voice *string `json:"voice"`
	Declared
}

// MaxVariants bounds the variants of an item.
const MaxVariants = 30

// Variant is what differs from the item on a platform or a social account. Nil members use the item's value.
type Variant struct {
	// Title there. Null: the item's.
	Title *string `json:"title"`
	// Text of the post there. Null: the item's.
	Caption *string `json:"caption"`
	// Hashtags there, without the #. Null: the item's.
	Hashtags []string `json:"hashtags"`
	// Ids of your media that are published there, in order. Null: the item's.
	Media []string `json:"media"`
	// Id of your image that a video there shows before it plays. Null: the item's poster.
	Cover *string `json:"cover"`
	// Whether the text model wrote its texts.
	//
	// Adapted reports whether the text model wrote the texts.
	Adapted bool `json:"adapted"`
	// Version of the prompt that the text model wrote its texts with. Null if it did not write them.
	//
	// PromptVersion is kept for as long as the texts are those of the model.
	PromptVersion resource.Text `json:"prompt_version" example:"adapt.1"`
}

// The states of an approval.
const (
	ApprovalNone     = "none"
	ApprovalPending  = "pending"
	Approved         = "approved"
	ChangesRequested = "changes_requested"
)

// ReviewLinkKind is the kind of a link to a page on which people without an account see items, or decide about them.
const ReviewLinkKind = "review_link"

// ApprovalRequired is the setting of factories whose content waits for its approval.
const ApprovalRequired = "required"

// Approval is whether the item may be published.
type Approval struct {
	// State. none: neither its factory has required an approval of it, nor is it held for what its texts say.
	State string `json:"state" enum:"none,pending,approved,changes_requested" example:"approved"`
	// What the checks of its texts have found that somebody must decide, such as a price that none of your inputs has:
	// the item is held until it is approved, even if its factory requires no approval. A change of its factory or
	// product by a caller without content:publish is one, if the factory publishes automatically. Empty: nothing.
	Reasons []string `json:"reasons" nullable:"false" example:"[]"`
	// Note of the decision. Null: none.
	Note *string `json:"note"`
	// Who decided: the id of an API key, of a person, or of a review link. Null until decided.
	By *string `json:"by"`
	// Time of the decision. Null until decided.
	At *resource.Time `json:"at"`
}

// ApprovalIn returns an approval in a state, which nobody has decided.
func ApprovalIn(state string, reasons ...string) Approval {
	return Approval{State: state, Reasons: append([]string{}, reasons...)}
}

// What an item waits for before it is published.
const (
	WaitsForNothing  = "none"
	WaitsForApproval = "approval"
	WaitsForTime     = "time"
	WaitsForSlot     = "slot"
	WaitsForAccount  = "account"
	WaitsForProduct  = "product"
)

// Quoted is a source that the texts of an item quote.
type Quoted struct {
	// Title of the article.
	Title string `json:"title"`
	// Address of the article.
	URL string `json:"url"`
	// Time at which it was published. Null if the source does not say it.
	PublishedAt *resource.Time `json:"published_at"`
}

// Declared is what rules of law ask of the content. The region of its factory decides which apply.
type Declared struct {
	// Marking of advertising, which is in the text of its posts. What has one is advertising. Null: none.
	AdMarking *profile.AdMarking `json:"ad_marking"`
	// Whether its media would falsely appear to show persons, objects, places or events as they are, such as an avatar
	// of a person.
	DeepFake bool `json:"deep_fake"`
	// Whether its finished media have a visible label that they are generated: drawn on them, or as you state of your
	// own media.
	Labelled bool `json:"labelled"`
}

// Outlook is when and where an item is to be published.
type Outlook struct {
	// Time at which it is published, or for which it is planned: waits_for says which. Null: it has no time.
	PublishAt *resource.Time `json:"publish_at"`
	// What it waits for before it is published, besides its generation. time: it is published at publish_at, or at once
	// if it has none, without a further call. approval: somebody approves it first. slot: it is not scheduled, and
	// publish_at, if it has one, is only planned. account: it was to be published, and no account can take it; see
	// omitted_accounts. In the last two cases, schedule or publish it. product: its product has changed, see outdated;
	// regenerate it, and it is scheduled as it was. none: it is being published, or has ended.
	WaitsFor string `json:"waits_for" enum:"none,approval,time,slot,account,product" example:"time"`
	// Ways in which the product is not what the item shows any more, by the feed of its factory.
	Outdated Ways `json:"outdated" format:"outdated" nullable:"false"`
	// What making it again with `reuse` takes, which replaces the prices and keeps the rest. Null unless it waits for
	// its product and can be made again.
	Remake *Remake `json:"remake"`
	// Ids of the social accounts to publish to.
	SocialAccountIDs []string `json:"social_account_ids" nullable:"false"`
	// Accounts of the factory that were left out when it was last scheduled or published, as they cannot publish it.
	// Calls that name their accounts are refused instead.
	OmittedAccounts []OmittedAccount `json:"omitted_accounts" nullable:"false"`
}

// Retold is what an item retells of another.
type Retold struct {
	// Id of the content item that it retells. Null for others.
	FromContentItemID *string `json:"from_content_item_id"`
	// Numbers of the scenes or slides of from_content_item_id that it retells, in their new order: those that you
	// named, or those that the service chose for a short video. Empty if it retells all, and until they are chosen.
	FromParts []int `json:"from_parts" nullable:"false" example:"[2,5,6]"`
	// Version of the prompt with which a text model chose from_parts. Null if none chose them.
	PartsVersion resource.Text `json:"from_parts_prompt_version" example:"excerpt.1"`
}

// Item is a content item as callers see it.
type Item struct {
	resource.Resource
	// Factory of the item.
	FactoryID string `json:"factory_id"`
	// Kind of content.
	Kind Kind `json:"kind" enum:"post,video,carousel,story,music_clip" example:"post"`
	// Where its media and texts come from: models, or you.
	Source string `json:"source" enum:"generated,provided"`
	// How your pictures or your video were fitted to the shape of the kind. Null for generated items.
	Fit *string `json:"fit" enum:"none,pad,crop"`
	// Whether it is declared as made by AI where a platform asks: always for generated items, and as you state for your
	// own media.
	AIGenerated bool `json:"ai_generated"`
	Content
	Texts
	// Quality of the texts. Null if you gave the item yourself.
	Quality resource.Text `json:"quality" enum:"draft,standard,best" example:"standard"`
	// What will make the content worse than it could be. It was made nevertheless.
	Warnings []Warning `json:"warnings" nullable:"false"`
	// First lines that the writer considered: first the one that it chose for the caption. Empty until generated, and
	// if you gave all texts.
	Hooks []string `json:"hooks" nullable:"false"`
	// Kind of the first line that was chosen. Null until generated, and if you gave all texts.
	HookKind resource.Text `json:"hook_kind" enum:"number,question,contradiction,scene,mistake,claim,quote,news"`
	// Version of the prompt that its texts were written with. Null until generated, and if you gave all texts.
	PromptVersion resource.Text `json:"prompt_version" example:"post.1"`
	// What differs on a platform or a social account, by its id.
	Variants map[string]Variant `json:"variants"`
	// What is, or will be, published where: one for each publication, or else for each variant. Empty in events.
	Previews []Preview `json:"previews" nullable:"false"`
	// Whether it may be published. Scheduling and automatic publishing wait for it while the factory requires it.
	Approval Approval `json:"approval"`
	// Language of its texts (BCP 47).
	Language string `json:"language"`
	// Id of the model for its pictures, clips or track. Null if you gave its media.
	Model resource.Text `json:"model"`
	// Files: the finished media, of which those of role final are to be published, then their parts in the order of
	// creation, then completed parts of later attempts that were canceled or have failed for what you gave. Each GET
	// signs their URLs for one hour. Files of an earlier attempt stay until a new attempt has succeeded. Empty in
	// responses to a key without the scope content:read.
	Media []media.View `json:"media" nullable:"false"`
	// Slides of a carousel, in order.
	Slides []Slide `json:"slides" nullable:"false"`
	// Id of its product.
	ProductID *string `json:"product_id"`
	// Id of its promotion.
	PromotionID *string `json:"promotion_id"`
	Retold
	// Id of its content plan.
	ContentPlanID *string `json:"content_plan_id"`
	// Its arms in the experiment of its creation. Null: it is in none.
	Experiment *Trial `json:"experiment"`
	Outlook
	// Articles of the factory's sources that its texts quote. Empty until generated, and without sources.
	Sources []Quoted `json:"sources" nullable:"false"`
	// Its posts: one for each social account that it is, or was, to be published to.
	Publications []Publication `json:"publications" nullable:"false"`
	// Rehearsal of the whole batch, in the first item of the response to a batch with rehearse. The items of such a
	// response do not exist. Null for all others.
	Rehearsal *rehearsal.Rehearsal `json:"rehearsal"`
	// State of the item.
	State State `json:"state" format:"content-state"`
	// Progress of the attempt in percent, in steps of at least 20. 100 once generated.
	Progress int `json:"progress"`
	// Reason of the failure. Null if it has not failed.
	Failure *Failure `json:"failure"`
	// Number of the generation attempt, starting at 1.
	Attempt int `json:"attempt"`
	// Credits reserved for the attempt that is queued or running. 0 once it has ended, and always in the sandbox.
	ReservedCredits int64 `json:"reserved_credits"`
	// Credits charged for all attempts: those that succeeded, and the completed parts of those that were canceled or
	// failed for what you gave. Always 0 in the sandbox.
	CostCredits int64 `json:"cost_credits"`
	// Credits that canceling the item would cost now, for the parts that are completed. Null unless it is queued or
	// being generated. Always 0 in the sandbox.
	CancelCost *int64 `json:"cancel_cost_credits" example:"0"`
	// Time at which it was generated. Null until then.
	GeneratedAt *resource.Time `json:"generated_at"`
	// Time at which it is deleted with its files: 30 days after a test key made it. Null with a live key.
	ExpiresAt *resource.Time `json:"expires_at"`
	// Time at which it was first published. Null until then.
	PublishedAt *resource.Time `json:"published_at"`

	// Usual is the usual duration of an attempt that was just accepted.
	Usual time.Duration `json:"-"`
}

// Pending returns the path that shows an accepted item, and the time to look at it.
func (i Item) Pending() (path string, after time.Duration) {
	return "/v1/content-items/" + i.ID, i.Usual
}

// Rehearsal is the result that a test key requests.
type Rehearsal struct {
	// Result of the item. The last three refuse the call with that error, as with a live key.
	Outcome string `json:"outcome,omitempty" format:"content-outcome" default:"generated"`
	generate.Rehearsal
}

// Ends returns the end of the model of the item, for the headers of an answer.
func (i Item) Ends() (deprecated, end time.Time) { return catalog.Ending(string(i.Model)) }

// Remake is what it would take to make an item again that shows what its product was.
type Remake struct {
	// Credits that an attempt with `reuse` would reserve. Null: it cannot be made so, see message.
	Credits *int64 `json:"credits" example:"0"`
	// Why it was not made again by itself. not_set: remake_per_day of the feed is 0. limit_reached: that many were made
	// today. refused: see message. Null: it was.
	Reason *string `json:"reason" enum:"not_set,limit_reached,refused"`
	// What to do about it. Null: nothing.
	Message *string `json:"message"`
}

// The reasons for which an item was not made again by itself.
const (
	RemakeNotSet  = "not_set"
	RemakeLimited = "limit_reached"
	RemakeRefused = "refused"
)
