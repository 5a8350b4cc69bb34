package plan

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/record/event"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/rehearsal"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// ItemKind is the kind of a plan in the table.
const ItemKind = "content_plan"

// State is the state of a plan.
type State string

// The states. The last three are final.
const (
	Queued     State = "queued"
	Planning   State = "planning"
	Proposed   State = "proposed"
	Generating State = "generating"
	Completed  State = "completed"
	Failed     State = "failed"
	Canceled   State = "canceled"
)

// Final reports whether the state is final.
func (s State) Final() bool { return s == Completed || s == Failed || s == Canceled }

// Items are how many items a plan has, and how many of them are in which state.
type Items struct {
	// Number of items: days times posts_per_day, and those that were added.
	Total int64 `json:"total"`
	// Items that were generated, those that were published since among them.
	Generated int64 `json:"generated"`
	// Items that failed, and those for which no new topic was found.
	Failed int64 `json:"failed"`
	// Items that were canceled or deleted before they were generated, and topics that were dropped or not approved in
	// time.
	Canceled int64 `json:"canceled"`
	// Items that were published.
	Published int64 `json:"published"`
}

// Failure is the reason why a plan has fewer items than it should.
type Failure struct {
	// Machine-readable reason of the failure.
	Code provider.FailureCode `json:"code" example:"provider_unavailable"`
	// What happened and what to do about it.
	Message string `json:"message"`
}

// Plan is a content plan as callers see it.
type Plan struct {
	resource.Resource
	// Factory of the plan.
	FactoryID string `json:"factory_id"`
	// Number of days.
	Days int `json:"days" minimum:"1" maximum:"90" example:"30"`
	// Number of items on each day.
	PostsPerDay int `json:"posts_per_day" minimum:"1" maximum:"10" example:"2"`
	// Types of its items, which are spread evenly.
	ContentTypes []string `json:"content_types" nullable:"false" format:"plan-content"`
	// First day.
	StartsOn string `json:"starts_on" format:"date" example:"2026-12-01"`
	// Time zone of its days and times.
	Timezone string `json:"timezone" example:"Europe/Berlin"`
	// Country whose holidays and seasons its topics know (ISO 3166-1). Null: those of all countries alone.
	Country resource.Text `json:"country" example:"DE"`
	// What the plan is about, beyond the settings of the factory.
	Brief resource.Text `json:"brief"`
	// Products that its items present in turn. Empty: the newest active products of the factory, if it is a seller and
	// has some.
	ProductIDs []string `json:"product_ids" nullable:"false"`
	// Recurring subjects with their shares. No two neighbours have the same one. Empty: none.
	Pillars []Pillar `json:"pillars" nullable:"false"`
	// Rows of items that build on each other.
	Campaigns []Campaign `json:"campaigns" nullable:"false"`
	// Percentage of its items that present a product, of a factory of type seller. 0 for all others.
	ProductShare int `json:"product_share" minimum:"0" maximum:"100" example:"60"`
	// Quality of the texts of its items: draft, standard or best. Empty if the plan is older than the member.
	Quality string `json:"quality" example:"standard"`
	// What waits for an approval before it costs anything: the topics, or none.
	Approve string `json:"approve" enum:"none,topics"`
	// Experiment that its items take part in. Null: none.
	ExperimentID resource.Text `json:"experiment_id"`
	// What it has from decided experiments of its factory. What the settings of the factory have is told once its
	// topics are written.
	Learned []Learned `json:"learned" nullable:"false"`
	// Hours before its time at which an item is written. Null: all are written at once.
	WriteAheadHours *int `json:"write_ahead_hours" example:"48"`
	// Topics, in the order of their creation. Empty in the response of the creation and in events.
	Calendar []Topic `json:"calendar" nullable:"false"`
	// State of the plan. planning: topics are written; proposed: topics wait for an approval; generating: no topic
	// waits, and the items are made, at once or at their times; completed: all of them have ended; failed: it ended
	// without an item.
	State State `json:"state" enum:"queued,planning,proposed,generating,completed,failed,canceled"`
	// Progress of its items.
	Items Items `json:"items"`
	// Credits that the items of all topics cost together with a live key, at most: where an experiment draws a format
	// or a length, those of the dearest arm. The topics cost nothing.
	CostEstimate int64 `json:"cost_estimate"`
	// Credits that are reserved for items that have not ended. Always 0 in the sandbox.
	ReservedCredits int64 `json:"reserved_credits"`
	// Credits charged so far for its items. Always 0 in the sandbox.
	CostCredits int64 `json:"cost_credits"`
	// Quote that bounds its price. Null: none.
	QuoteID resource.Text `json:"quote_id" example:"qte_01h455vb4pex5vsknk084sn02q"`
	// Rehearsal of the plan, in the response to a call with rehearse. The plan of such a response does not exist. Null
	// for all others.
	Rehearsal *rehearsal.Rehearsal `json:"rehearsal"`
	// Why topics are missing. Null if none are missing for a failure.
	Failure *Failure `json:"failure"`
	// Time at which all items had ended. Null until then, and of a canceled plan.
	CompletedAt *resource.Time `json:"completed_at"`

	// Usual is the usual time until a new plan has items.
	Usual time.Duration `json:"-"`
}

// Pending returns the path that shows a new plan, and the time to look at it.
func (p Plan) Pending() (path string, after time.Duration) {
	if p.Rehearsal != nil {
		return "", 0
	}
	return Path(p.FactoryID) + "?content_plan_id=" + p.ID, p.Usual
}

// Path returns the path of the latest plan of a factory.
func Path(factoryID string) string { return "/v1/factories/" + factoryID + "/content-plan" }

// Key returns the key of a plan.
func Key(factoryID, planID string) store.Key {
	return store.Key{PK: factoryrecord.PlansPartition(factoryID), SK: planID}
}

// Entry returns the plan as an item of the table.
func (p *Plan) Entry(o tenant.Owner) (store.Item, error) {
	it, err := store.NewItem(ItemKind, o, p.ID, p)
	it.Key = Key(p.FactoryID, p.ID)
	return it, err
}

// With returns the plan with its counts.
func (p Plan) With(c factoryrecord.Counts) Plan {
	p.Items.Generated, p.Items.Failed, p.Items.Canceled, p.Items.Published = c.Generated, c.Failed,
		c.Canceled, c.Published
	p.ReservedCredits, p.CostCredits = c.Reserved, c.Cost
	return p
}

// Latest is the query that finds the latest plan of a factory, for Found.
func Latest(factoryID string) store.Query {
	return store.Query{Index: store.Table, Partition: factoryrecord.PlansPartition(factoryID), Limit: 3}
}

// The is the result of Latest for one plan, whether or not it is the latest.
func The(ctx context.Context, db *store.DB, factoryID, planID string) ([]store.Item, error) {
	return db.GetAll(ctx, factoryrecord.BookKey(factoryID), factoryrecord.CountsKey(factoryID, planID),
		Key(factoryID, planID))
}

// Found returns the latest plan in the result of Latest, or the plan in that of The, for an owner, and false if there
// is none.
func Found(items []store.Item, o tenant.Owner) (Plan, bool, error) {
	var book factoryrecord.Book
	var p Plan
	var counts *factoryrecord.Counts
	for _, it := range items {
		switch {
		case it.Kind == factoryrecord.BookKind && o.Sees(it.Owner):
			if err := it.Decode(&book); err != nil || book.Deleted {
				return p, false, err
			}
		case it.Kind == ItemKind && o.Sees(it.Owner):
			if err := it.Decode(&p); err != nil {
				return p, false, err
			}
			if counts != nil {
				p = p.With(*counts)
			}
			if p.ProductIDs == nil {
				p.ProductIDs = []string{} // of a plan that was made before it could name some
			}
			if p.Learned == nil {
				p.Learned = []Learned{}
			}
			if p.Pillars == nil {
				p.Pillars, p.Campaigns, p.Calendar = []Pillar{}, []Campaign{}, []Topic{}
			}
			return p, true, nil
		case it.Kind == factoryrecord.CountsKind && counts == nil: // counts belong to the plan that follows
			c := factoryrecord.CountsOf(it)
			counts = &c
		}
	}
	return p, false, nil
}

// notify adds an event to the transaction that something has happened to the plan.
func (p *Plan) notify(tx *store.Tx, now time.Time, o tenant.Owner, what event.Type) error {
	it, err := event.New(now, o, what, p, nil)
	if err == nil {
		tx.Create(it, nil)
	}
	return err
}

// Recipe has the settings of the factory at the time of the plan, which its items are made
// from, so that the price holds.
type Recipe struct {
	// Times are the times of day of the factory's schedule.
	Times []string `json:"times,omitempty"`
	// Model is the id of the text model that writes the topics.
	Model string `json:"model"`
	// Language is the language of the topics, Name the name of the factory, and Topics its subjects.
	Language string   `json:"language"`
	Name     string   `json:"name"`
	Topics   []string `json:"topics,omitempty"`
	// Country is the country of the factory (ISO 3166-1), empty if it is unknown.
	Country string `json:"country,omitempty"`
	// Trade is the type of the factory, whose days of the trade count as occasions.
	Trade string `json:"trade,omitempty"`
	// Sells reports that items present products.
	Sells bool `json:"sells,omitempty"`
	// Prices are the credits of an item of each content type with a live key, and Holds the reservations of the items
	// of approved topics that are not written yet.
	Prices map[string]int64 `json:"prices,omitempty"`
	Holds  []ledger.Hold    `json:"holds,omitempty"`
	// Items are the records that items of each content type begin with, but for their id,
	// prompt and time. Their price is the price with the longest topic.
	Items map[string]*item.Record `json:"items"`
	// Variants are those of items with an arm of the experiment that has a price of its own, and Reserves the credits
	// that are reserved for an item of each content type, if they are not those of Items.
	Variants map[string]*item.Record `json:"variants,omitempty"`
	Reserves map[string]int64        `json:"reserves,omitempty"`
}

// MaxTopic is the size of the longest topic in bytes. Prices depend on bytes.
const MaxTopic = 400

// Type is what items of a content type of plans are.
type Type struct {
	Name   string
	Kind   item.Kind
	Format string // of a video
	// Usual reports that plans have the type if their caller names none.
	Usual bool
}

// Types are the content types of plans, in the order in which a plan takes them if its caller names none.
var Types = []Type{
	{"short_video", item.Video, item.FormatShort, true}, {"post", item.Post, "", true},
	{"carousel", item.Carousel, "", true}, {"story", item.Story, "", false},
	{"long_video", item.Video, item.FormatLong, false}, {"video", item.Video, item.FormatShort, false},
	{"music_clip", item.MusicClip, "", false},
}

func recipeKey(planID string) store.Key { return store.IDKey("content_plan_recipe#" + planID) }

// The sizes of the longest angle and hook in bytes.
const maxAngle, maxHook = 120, 240

// LongestSlot returns a place in a plan that takes the longest text to describe, but for its brief.
func LongestSlot(brief string) *prompt.Plan {
	long := func(n int) string { return strings.Repeat("x", n) }
	return &prompt.Plan{Brief: brief, Day: long(24), Season: long(6), Occasion: long(80), Pillar: long(400),
		Angle: long(maxAngle), Hook: long(maxHook), Goal: long(60), Campaign: long(440 + 4*500)}
}

func chunkKey(planID string, n int) store.Key {
	return store.IDKey(fmt.Sprintf("content_plan_items#%s#%d", planID, n))
}

// keep is the time for which the recipe of a plan stays after its last day.
const keep = 90 * 24 * time.Hour

// note adds an item of the plan's own to the transaction, which is found by its key alone.
func (p *Plan) note(tx *store.Tx, o tenant.Owner, key store.Key, kind string, doc any) error {
	it := store.Item{Key: key, Kind: kind, Owner: o, ExpireAt: p.CreatedAt.AddDate(1, 0, p.Days).Add(keep)}
	if err := it.Encode(doc); err != nil {
		return err
	}
	tx.Create(it, nil)
	return nil
}

// about returns the description of the plan for the entries of its money.
func (p *Plan) about() ledger.About {
	return ledger.About{FactoryID: p.FactoryID, Metadata: p.Metadata, QuoteID: string(p.QuoteID)}
}

// Adopt adds a content plan of an export to the transaction. One that had not ended is canceled: its items are there as
// far as they were made.
func (p Plan) Adopt(tx *store.Tx, now time.Time, o tenant.Owner) error {
	switch p.State {
	case Completed, Failed:
		at := resource.Instant(now)
		p.CompletedAt = &at
	default:
		p.State, p.CompletedAt = Canceled, nil
	}
	p.Items = Items{Total: int64(p.Days) * int64(p.PostsPerDay)}
	if len(p.Calendar) > mostTopics {
		return errs.Invalid("/calendar", "may have %d topics at most", mostTopics)
	}
	p.Items.Total = max(p.Items.Total, int64(len(p.Calendar)))
	if p.Calendar == nil {
		p.Calendar = []Topic{}
	}
	for i := range p.Calendar {
		t := &p.Calendar[i]
		t.ContentPlanID, t.Version = p.ID, 1
		if t.State != TopicCompleted && t.State != TopicExpired && t.State != TopicFailed {
			t.State = TopicDiscarded
		}
	}
	it, err := p.Entry(o)
	if err != nil {
		return err
	}
	tx.Create(it, nil)
	return nil
}

// Input is the type of the body of the operation that creates a content plan. Imports check what comes in by its
// schema.
var Input = reflect.TypeFor[createBody]()
