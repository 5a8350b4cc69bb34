// Package content holds content items: posts, videos, carousels, stories and
// music clips, from the call that asks for one to its end, and the worker that
// generates them.
package content

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/catalog"
	"github.com/content-automation/api/pkg/errs"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/id"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/tenant"
)

// ItemKind is the kind of a content item in the table.
const ItemKind = "content_item"

// Kind tells what a content item is.
type Kind string

// The five kinds.
const (
	Post      Kind = "post"
	Video     Kind = "video"
	Carousel  Kind = "carousel"
	Story     Kind = "story"
	MusicClip Kind = "music_clip"
)

// State tells where a content item stands.
type State string

// The states. An item moves from queued over generating to generated, and from
// there over scheduled and publishing to published; it may fail in generating
// and publishing, and be canceled before publishing begins.
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

// The formats of a video; other kinds have none.
const (
	FormatShort = "short" // 9:16
	FormatLong  = "long"  // 16:9
)

// Slide is one picture of a carousel.
type Slide struct {
	Text    string  `json:"text" maxLength:"200" doc:"Heading of the slide"`
	MediaID *string `json:"media_id" doc:"Id of its picture in media. Null until generated"`
}

// SchemaName names the schema in the OpenAPI document.
func (Slide) SchemaName() string { return "ContentSlide" }

// Failure tells why an item failed.
type Failure struct {
	Stage     string `json:"stage" enum:"generate,publish" doc:"Stage that failed"`
	Code      string `json:"code" doc:"Machine-readable reason of the failure" example:"generation_failed"`
	Message   string `json:"message" doc:"What happened and what to do about it"`
	Retryable bool   `json:"retryable" doc:"Whether regenerating the item may succeed"`
}

// SchemaName names the schema in the OpenAPI document.
func (Failure) SchemaName() string { return "ContentFailure" }

// Item is a content item as callers see it.
type Item struct {
	resource.Resource
	FactoryID        string       `json:"factory_id" doc:"Factory of the item"`
	Kind             Kind         `json:"kind" enum:"post,video,carousel,story,music_clip" doc:"Kind of content" example:"post"`
	Format           *string      `json:"format" enum:"short,long" doc:"Format of a video: short is 9:16, long is 16:9. Null for other kinds"`
	Prompt           string       `json:"prompt" doc:"What the content is about"`
	Title            string       `json:"title" doc:"Title, in one line. Empty until generated"`
	Caption          string       `json:"caption" doc:"Text of the post. Empty until generated"`
	Hashtags         []string     `json:"hashtags" nullable:"false" doc:"Hashtags, without the #"`
	Language         string       `json:"language" doc:"Language of its texts (BCP 47)"`
	Model            string       `json:"model" doc:"Id of the model for its picture, clip or track"`
	Media            []media.View `json:"media" nullable:"false" doc:"Files, in the order of creation. Each GET signs their URLs for one hour. Files of an earlier attempt stay until a new attempt has succeeded"`
	Slides           []Slide      `json:"slides" nullable:"false" doc:"Slides of a carousel, in order"`
	ProductID        *string      `json:"product_id" doc:"Id of its product"`
	PromotionID      *string      `json:"promotion_id" doc:"Id of its promotion"`
	ContentPlanID    *string      `json:"content_plan_id" doc:"Id of its content plan"`
	PublishAt        *time.Time   `json:"publish_at" doc:"Time at which it is published. Null: not scheduled"`
	SocialAccountIDs []string     `json:"social_account_ids" nullable:"false" doc:"Ids of the social accounts to publish to"`
	State            State        `json:"state" enum:"queued,generating,generated,scheduled,publishing,published,failed,canceled" doc:"State of the item"`
	Failure          *Failure     `json:"failure" doc:"Reason of the failure. Null if it has not failed"`
	Attempt          int          `json:"attempt" doc:"Number of the generation attempt, starting at 1"`
	CostCredits      int64        `json:"cost_credits" doc:"Credits charged for all attempts that succeeded. Always 0 in the sandbox"`
	GeneratedAt      *time.Time   `json:"generated_at" doc:"Time at which it was generated. Null until then"`
	PublishedAt      *time.Time   `json:"published_at" doc:"Time at which it was first published. Null until then"`
}

// SchemaName names the schema in the OpenAPI document.
func (Item) SchemaName() string { return "ContentItem" }

// Rehearsal is how a test key wants an item to end.
type Rehearsal struct {
	Outcome      string `json:"outcome,omitempty" enum:"generated,failed,published" default:"generated" doc:"Result of the item"`
	DelaySeconds int    `json:"delay_seconds,omitempty" minimum:"0" maximum:"60" default:"0" doc:"Seconds until the result"`
}

// SchemaName names the schema in the OpenAPI document.
func (Rehearsal) SchemaName() string { return "SandboxRehearsal" }

// record is the document that is kept of an item.
type record struct {
	Item
	Files   []media.File `json:"files,omitempty"`
	Sandbox *Rehearsal   `json:"sandbox,omitempty"`
	// Given is what the caller wrote, which is never written anew.
	Given given `json:"given,omitzero"`
	// Brief is what the factory said when the item was made.
	Brief brief `json:"brief"`
	// Accepted is when the current attempt was accepted, Shape and Parts are what it
	// is made of, Credits is its price, and Ticket its accepted work.
	Accepted time.Time       `json:"accepted"`
	Shape    string          `json:"shape"`
	Parts    []part          `json:"parts"`
	Credits  int64           `json:"credits,omitempty"`
	Ticket   generate.Ticket `json:"ticket,omitzero"`
}

// given tells which texts the caller gave.
type given struct {
	Title    bool `json:"title,omitempty"`
	Caption  bool `json:"caption,omitempty"`
	Hashtags bool `json:"hashtags,omitempty"`
	// Slides are the indexes of the slides with a heading of the caller's.
	Slides []int `json:"slides,omitempty"`
}

// runs tells whether the engine works for it.
func (r *record) runs() bool { return r.State == Queued || r.State == Generating }

// entry writes the record as an item of the table.
func (r *record) entry(o tenant.Owner) (store.Item, error) {
	it, err := store.NewItem(ItemKind, o, r.ID, r)
	if err != nil {
		return it, err
	}
	it.Parent = store.Key{PK: parentPartition(o, r.FactoryID), SK: r.ID}
	it.Filters = r.filters()
	return it, nil
}

// parentPartition lists the items of a factory.
func parentPartition(o tenant.Owner, factoryID string) string {
	return store.OwnerPartition(o, ItemKind) + "#" + factoryID
}

func (r *record) filters() map[string]string {
	f := map[string]string{"kind": string(r.Kind), "state": string(r.State)}
	if r.ContentPlanID != nil {
		f["plan"] = *r.ContentPlanID
	}
	return f
}

// view gives the item as its GET answers it, with its media signed.
func (r *record) view(ctx context.Context, signer *media.Signer) (Item, error) {
	v := r.Item
	var err error
	v.Media, err = signer.Views(ctx, r.Files)
	return v, err
}

// Service creates, changes and reads content items.
type Service struct {
	db        *store.DB
	factories FactoryFinder
	signer    *media.Signer
	offer     catalog.Offer
	now       func() time.Time
}

// find reads a content item of the caller's account and mode.
func (s *Service) find(ctx context.Context, itemID string, match ...httpapi.IfMatch) (*record, store.Item, error) {
	it, err := resource.Find(ctx, s.db, id.ContentItem, "content item", itemID)
	if err != nil {
		return nil, it, err
	}
	r, err := decode(&it)
	if err == nil {
		err = httpapi.Matches(r.Version, match)
	}
	return r, it, err
}

func decode(it *store.Item) (*record, error) {
	var r record
	if err := it.Decode(&r); err != nil {
		return nil, err
	}
	return &r, nil
}

// move changes the state, or refuses what the state machine has no move for.
func (r *record) move(to State) error {
	if !slices.Contains(moves[to], r.State) {
		return errs.New(errs.InvalidState, "The content item is %s. It can %s only while it is %s.", r.State, cmp.Or(verbs[to], "become "+string(to)), oneOf(moves[to]))
	}
	r.State = to
	return nil
}

// verbs are what a caller does to move an item to a state.
var verbs = map[State]string{Canceled: "be canceled", Queued: "be regenerated"}

// oneOf puts states into words.
func oneOf(states []State) string {
	words := make([]string, len(states))
	for i, s := range states {
		words[i] = string(s)
	}
	if last := len(words) - 1; last > 0 {
		words = []string{strings.Join(words[:last], ", "), words[last]}
	}
	return strings.Join(words, " or ")
}

// moves tells from which states each state can be reached.
var moves = map[State][]State{
	Generating: {Queued},
	Generated:  {Generating},
	Scheduled:  {Generated},
	Publishing: {Generated, Scheduled},
	Published:  {Publishing},
	Failed:     {Generating, Publishing},
	Canceled:   {Queued, Generating, Generated, Scheduled},
	Queued:     {Failed, Generated, Canceled},
}
