package plan

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // Lambda's runtime need not know the time zones.
	"unicode"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/law"
	"github.com/content-automation/api/pkg/base/clock"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/craft/business"
	"github.com/content-automation/api/pkg/craft/calendar"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/event"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/rehearsal"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
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

// Final reports whether the plan has ended.
func (s State) Final() bool { return s == Completed || s == Failed || s == Canceled }

// Items are how many items a plan has, and how many of them are in which state.
type Items struct {
	// Number of items: days on which something is published times posts_per_day, and those that were added.
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
	// Days of the week on which its items are published.
	Weekdays []string `json:"weekdays" nullable:"false" example:"[\"monday\",\"thursday\"]"`
	// Days on which none is: dates, days of each year, and holidays for the public holidays of its country.
	SilentDays []string `json:"silent_days" nullable:"false" example:"[\"holidays\"]"`
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
	// What is seen in its videos: clips or stills.
	Visuals string `json:"visuals" example:"stills"`
	// What is heard under the voice of its videos: none or generated.
	Music string `json:"music" example:"none"`
	// Length in seconds of what plays, where it is within its bounds. Null: the usual lengths.
	DurationSeconds *int `json:"duration_seconds"`
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

// Key is where a plan is stored: in the partition of its factory.
func Key(factoryID, planID string) store.Key {
	return store.Key{PK: factoryrecord.PlansPartition(factoryID), SK: planID}
}

// Entry returns the plan as an item of the table.
func (p *Plan) Entry(o tenant.Owner) (store.Item, error) {
	it, err := store.NewItem(ItemKind, o, p.ID, p)
	it.Key = Key(p.FactoryID, p.ID)
	return it, err
}

// With returns the plan with the numbers of its items and credits.
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
			if p.Weekdays == nil {
				p.Weekdays, p.SilentDays = calendar.Weekdays, []string{}
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
	return event.Add(tx, now, o, what, p)
}

// Recipe has the settings of the factory at the time of the plan, which its items are made
// from, so that the price holds.
type Recipe struct {
	// Times are the times of day of the factory's schedule. Those of today before the time After are over.
	Times []string  `json:"times,omitempty"`
	After time.Time `json:"after,omitzero"`
	// Model is the id of the text model that writes the topics.
	Model string `json:"model"`
	// Language is the language of the topics, Name the name of the factory, and Topics its subjects.
	Language string   `json:"language"`
	Name     string   `json:"name"`
	Topics   []string `json:"topics,omitempty"`
	// Country is the country of the factory (ISO 3166-1), empty if it is unknown.
	Country string `json:"country,omitempty"`
	// Region is the region of the country (ISO 3166-2) that the texts of the factory or the brief name.
	Region string `json:"region,omitempty"`
	// Trade is the type of the factory, whose days of the trade count as occasions, and Business the kind of its
	// business, whose hours count.
	Trade    string `json:"trade,omitempty"`
	Business string `json:"business,omitempty"`
	// Rests reports that the plan is silent on days because of its business: an event of the brief goes before.
	Rests bool `json:"rests,omitempty"`
	// Sells reports that items present products.
	Sells bool `json:"sells,omitempty"`
	// Prices are the credits of an item of each content type with a live key, and Holds the reservations of the items
	// of approved topics that are not written yet.
	Prices       map[string]int64 `json:"prices,omitempty"`
	Reservations []ledger.Hold    `json:"holds,omitempty"`
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
		Angle: long(maxAngle), Hook: long(maxHook), Goal: long(60), Campaign: long(440 + 4*500),
		Event: long(maxEvent + 24), Offer: long(maxEvent)}
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
func (p Plan) Adopt(tx *store.Tx, now time.Time, o tenant.Owner, f factory.Factory) error {
	switch p.State {
	case Completed, Failed:
		at := resource.Instant(now)
		p.CompletedAt = &at
	default:
		p.State, p.CompletedAt = Canceled, nil
	}
	if err := p.checkAdopted(f); err != nil {
		return err
	}
	p.Items = Items{Total: int64(p.Days) * int64(p.PostsPerDay)}
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

// checkAdopted refuses a plan that no body of createContentPlan makes for a factory, and topics that no plan has. Its
// products need not be there, and the factory may make other kinds of content since.
func (p *Plan) checkAdopted(f factory.Factory) error {
	zone, err := clock.Zone(p.Timezone)
	if err != nil {
		return errNoZone()
	}
	booked, err := p.Booked()
	if err != nil {
		return errs.Wrap(err, errs.ValidationFailed, "/starts_on: is not a day.")
	}
	body := createBody{Rest: factory.Rest{SilentDays: p.SilentDays}, ContentTypes: p.ContentTypes,
		ProductIDs: p.ProductIDs}
	if p.ProductShare > 0 {
		body.ProductShare = &p.ProductShare
	}
	found := []error{body.Rest.Check(), body.suits(f)}
	if p.Country != "" {
		found = append(found, law.CheckCountry("/country", string(p.Country)))
	}
	for n := range p.Campaigns {
		found = append(found, p.checkEnd(n))
	}
	refuse := func(wrong bool, param, format string, args ...any) {
		found = append(found, errs.InvalidIf(wrong, param, format, args...))
	}
	refuse(len(p.Calendar) > mostTopics, "/calendar", "may have %d topics at most", mostTopics)
	numbers := map[int]bool{}
	for i, t := range p.Calendar {
		at := fmt.Sprintf("/calendar/%d", i)
		refuse(t.Number < 1 || t.Number > mostTopics || numbers[t.Number], at+"/number", "must be from 1 to %d, and "+
			"that of no other topic", mostTopics)
		numbers[t.Number] = true
		refuse(!slices.Contains(p.ContentTypes, t.ContentType), at+"/content_type", "is not among the content_types "+
			"of the plan")
		day := t.PublishAt.In(zone).Format(time.DateOnly)
		refuse(day < booked.First || day > booked.Last, at+"/publish_at", "is not on a day of the plan, which has "+
			"those from %s to %s", booked.First, booked.Last)
		refuse(t.ProductID != "" && f.Type != factory.Seller, at+"/product_id", noSeller, f.Type)
		refuse(utf8.RuneCountInString(string(t.Pillar)) > maxPillar, at+"/pillar", "is too long: the longest length "+
			"is %d", maxPillar)
		for _, text := range []struct {
			member string
			value  string
			most   int
		}{{"topic", t.Topic, MaxTopic}, {"angle", string(t.Angle), maxAngle}, {"hook", string(t.Hook), maxHook},
			{"pillar", string(t.Pillar), maxAbout}, {"goal", string(t.Goal), maxAbout},
			{"occasion", string(t.Occasion), maxAbout}, {"campaign", string(t.Campaign), maxAbout}} {
			refuse(len(text.value) > text.most, at+"/"+text.member, "has %d bytes, and may have %d", len(text.value),
				text.most)
			refuse(strings.ContainsFunc(text.value, unicode.IsControl), at+"/"+text.member, "must be one line")
		}
	}
	return errs.All(found...)
}

// The letters of the name of a pillar, and the bytes of the longest text that says what happens at a time.
const maxPillar, maxAbout = 100, 600

// Input is the type of the body of the operation that creates a content plan. Imports check what comes in by its
// schema.
var Input = reflect.TypeFor[createBody]()

// Slot is one future item of a plan: its type, the time of its publication, and its place in the grid.
type Slot struct {
	Type string
	At   time.Time
	// HeldType is the type for whose price a reservation is made. An experiment may draw another type.
	HeldType string
	cell
}

// Slots returns the slots of a plan, in the order of their times. Hours are the best ones for the times that the
// schedule of its factory does not name.
func (p *Plan) Slots(r Recipe, hours Hours) ([]Slot, error) {
	zone, err := time.LoadLocation(p.Timezone)
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	first, err := time.Parse(time.DateOnly, p.StartsOn)
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	if hours.none() {
		hours = hoursOn(business.Named(r.Business), nil, r.Country)
	}
	slots := make([]Slot, 0, p.Days*p.PostsPerDay)
	events, silence := p.events(r.Language), p.silence(r.Country)
	for n := range p.Days {
		day := first.AddDate(0, 0, n)
		today := on(events, day)
		if !silence.Open(day) && (!r.Rests || len(today) == 0) {
			continue
		}
		chance := seeded(r.Name, p.seed(), day.String())
		after := r.gone(day, zone)
		times, err := timesOf(r.Times, p.PostsPerDay, hours[day.Weekday()], after, chance)
		if err != nil {
			return nil, err
		}
		if len(today) > 0 && after <= 0 {
			times = morning(times, today[0], morningHour(hours[day.Weekday()]), firstMinute+chance.IntN(minutes))
		}
		for _, at := range times {
			slots = append(slots, Slot{At: clock.Instant(day.Add(at), zone).UTC()})
		}
	}
	slices.SortStableFunc(slots, func(a, b Slot) int { return a.At.Compare(b.At) })
	for i := 1; i < len(slots); i++ { // of two times, the clocks may skip one onto the other
		if before := slots[i-1].At; !slots[i].At.After(before) {
			slots[i].At = before.Add(share)
		}
	}
	for i, c := range p.grid(len(slots)) {
		slots[i].cell, slots[i].Type = c, p.ContentTypes[c.typeOnly]
		slots[i].HeldType = slots[i].Type
		if r.Trade == string(factory.News) {
			slots[i].pillar = -1 // news do not come in quotas
		}
	}
	return slots, nil
}

// gone returns the part of a day that is over when its plan is made, which is none of a later day.
func (r *Recipe) gone(day time.Time, zone *time.Location) time.Duration {
	at := r.After.In(zone)
	if r.After.IsZero() || at.Format(time.DateOnly) != day.Format(time.DateOnly) {
		return -time.Minute
	}
	return time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute
}

// Pillar is a recurring subject of a plan.
type Pillar struct {
	// Subject.
	Name string `json:"name" format:"line" minLength:"1" maxLength:"100" example:"How it is made"`
	// How many of the items it has, against the weights of the others: 2 has twice as many as 1.
	Share int `json:"weight,omitempty" minimum:"1" maximum:"100" default:"1" example:"2"`
}

// Campaign is a row of items about one matter, which build on each other.
type Campaign struct {
	// Name of the campaign.
	Name string `json:"name" format:"line" minLength:"1" maxLength:"100" example:"Launch of the trail shoe"`
	// What it is about, and the step that it asks readers for.
	About string `json:"about,omitempty" format:"chapter"`
	// Number of its items.
	Items int `json:"item_count" minimum:"2" maximum:"20" example:"3"`
	// First day. Absent: that of the plan.
	StartsOn string `json:"starts_on,omitempty" format:"date"`
	// Last day. Absent: that of the plan.
	EndsOn string `json:"ends_on,omitempty" format:"date"`
}

// place is the place of a slot in the thread of a plan.
type place struct {
	prompt.Plan
	about string // of its campaign
}

// thread returns the place of each slot: its pillar and goal by the grid, its day, what is celebrated, and its
// campaign.
func (p *Plan) thread(slots []Slot, r Recipe) ([]place, error) {
	zone, err := time.LoadLocation(p.Timezone)
	if err != nil {
		return nil, err
	}
	all := make([]place, len(slots))
	p.anchor(slots, all, zone, r.Language)
	events := p.events(r.Language)
	told, last := map[string]int{}, time.Time{}
	for i, slot := range slots {
		at := slot.At.In(zone)
		day := time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
		one := &all[i].Plan
		one.Day, one.Season, one.Goal = dayText(day), calendar.Season(day, r.Country), goalsIn(r.Language)[slot.goal]
		if one.Event != "" {
			continue
		}
		// One item of a day is enough for what is celebrated.
		if !day.Equal(last) && len(on(events, day)) == 0 && !p.fromFeeds(&r) {
			one.Occasion, last = occasion(day, r, told), day
		}
		if slot.pillar >= 0 {
			one.Pillar = p.Pillars[slot.pillar].Name
		}
	}
	for _, c := range p.Campaigns {
		for n, i := range p.campaigned(c, slots, zone, all) {
			all[i].Campaign, all[i].about = fmt.Sprintf("%d of %d: %s", n+1, c.Items, c.Name), c.About
		}
	}
	return all, nil
}

// dayText is a day as models read it.
func dayText(day time.Time) string {
	return fmt.Sprintf("%s, %s", day.Weekday(), day.Format(time.DateOnly))
}

// where returns whose days count as occasions.
func (r Recipe) where() calendar.Place {
	return calendar.Place{Country: r.Country, Region: r.Region, Trade: r.Trade, Business: r.Business}
}

// occasion returns what the item of a day may speak of: the day that is celebrated then, or one that is soon. A day is
// told at most twice: once ahead, and on the day itself. Those that were told are counted by their names.
func occasion(day time.Time, r Recipe, told map[string]int) string {
	for ahead := range daysAhead + 1 {
		at := day.AddDate(0, 0, ahead)
		for _, name := range calendar.Days(at, r.where()) {
			key := name + at.Format(time.DateOnly)
			today := int(day.Unix() / int64(24*time.Hour/time.Second))
			if ahead > 0 && (told[key] > 0 || today-told["ahead"] < daysAhead && told["ahead"] > 0) {
				continue // days of rest that follow each other are announced together
			}
			if told[key]++; ahead > 0 {
				told["ahead"] = today
			}
			return name + [...]string{"", " (tomorrow)", " (in 2 days)", " (in 3 days)"}[ahead]
		}
	}
	return ""
}

// daysAhead is the number of days before a day on which a channel begins to speak of it.
const daysAhead = 3

// campaigned returns the numbers of the slots of a campaign, spread evenly over its days. Slots of other campaigns are
// left out.
func (p *Plan) campaigned(c Campaign, slots []Slot, zone *time.Location, all []place) []int {
	var free, plain []int
	for i, slot := range slots {
		day := slot.At.In(zone).Format(time.DateOnly)
		if all[i].Campaign == "" && day >= c.StartsOn && (c.EndsOn == "" || day <= c.EndsOn) {
			if free = append(free, i); all[i].Event == "" {
				plain = append(plain, i)
			}
		}
	}
	if len(plain) >= c.Items { // a slot with an event tells of nothing else
		free = plain
	}
	if len(free) <= c.Items {
		return free
	}
	chosen := make([]int, c.Items)
	for n := range chosen {
		chosen[n] = free[n*(len(free)-1)/(c.Items-1)]
	}
	return slices.Compact(chosen)
}

// sameName reports whether readers take two names for one.
func sameName(a, b string) bool { return strings.EqualFold(strings.TrimSpace(a), strings.TrimSpace(b)) }

// checkPillars refuses two pillars of one name: neighbours would have the same one.
func checkPillars(all []Pillar) error {
	var found []error
	for n, one := range all {
		if slices.ContainsFunc(all[:n], func(o Pillar) bool { return sameName(o.Name, one.Name) }) {
			found = append(found, errs.Invalid(fmt.Sprintf("/pillars/%d/name", n), "is that of another pillar. Give "+
				"one of them both weights"))
		}
	}
	return errs.All(found...)
}

// CheckCampaigns refuses campaigns that have no room in the plan, and sets the first day of those that name none.
func (p *Plan) CheckCampaigns(slots []Slot) error {
	zone, err := time.LoadLocation(p.Timezone)
	if err != nil {
		return err
	}
	all, found := make([]place, len(slots)), []error(nil)
	p.anchor(slots, all, zone, "")
	for n := range p.Campaigns {
		c, at := &p.Campaigns[n], fmt.Sprintf("/campaigns/%d", n)
		if slices.ContainsFunc(p.Campaigns[:n], func(o Campaign) bool { return sameName(o.Name, c.Name) }) {
			found = append(found, errs.Invalid(at+"/name", "is that of another campaign of the plan"))
		}
		if err := p.checkEnd(n); err != nil {
			found = append(found, err)
			continue
		}
		c.StartsOn = cmp.Or(c.StartsOn, p.StartsOn)
		chosen := p.campaigned(*c, slots, zone, all)
		if len(chosen) < c.Items {
			found = append(found, errs.Invalid(at+"/item_count", "are more than the %d items of the plan on these "+
				"days that are in no other campaign", len(chosen)))
		}
		for _, i := range chosen {
			all[i].Campaign = c.Name
		}
	}
	return errs.All(found...)
}

// checkEnd refuses a campaign that ends before it begins.
func (p *Plan) checkEnd(n int) error {
	first, last := cmp.Or(p.Campaigns[n].StartsOn, p.StartsOn), p.Campaigns[n].EndsOn
	return errs.InvalidIf(last != "" && last < first, fmt.Sprintf("/campaigns/%d/ends_on", n), "is before the first "+
		"day of the campaign, %s", first)
}

// TopicState is the state of a topic of a plan.
type TopicState string

// The states of topics. The last four are final.
const (
	TopicProposed  TopicState = "proposed"
	TopicApproved  TopicState = "approved"
	TopicCompleted TopicState = "completed"
	TopicDiscarded TopicState = "discarded"
	TopicExpired   TopicState = "expired"
	TopicFailed    TopicState = "failed"
)

// open reports whether the item of a topic may still be written.
func (s TopicState) open() bool { return s == TopicProposed || s == TopicApproved }

// Topic is a topic of a plan, and the item that is made of it.
type Topic struct {
	// Number of the topic in its plan, from 1. It never changes.
	Number int `json:"number" example:"1"`
	// Time at which it was chosen or added.
	CreatedAt resource.Time `json:"created_at"`
	// Time of its last change.
	UpdatedAt resource.Time `json:"updated_at"`
	// Id of the content plan that it belongs to.
	ContentPlanID string `json:"content_plan_id"`
	// State of the topic. proposed: it waits for an approval; approved: its item is written at its time; completed:
	// its item was made; discarded: it was removed; expired: it was not approved before its time; failed: no new topic
	// was found.
	State TopicState `json:"state" enum:"proposed,approved,completed,discarded,expired,failed"`
	// Id of its item. Null until it is written.
	ContentItemID resource.Text `json:"content_item_id"`
	// Type of the item that is made of it.
	ContentType string `json:"content_type" example:"post"`
	// Planned time. That of the item may have been changed since.
	PublishAt resource.Time `json:"publish_at"`
	// What the item is about, in the language of the factory. Empty while another one is written, and of news until its
	// hour.
	Topic string `json:"topic"`
	// Its pillar: a recurring subject of the plan. Null: none.
	Pillar resource.Text `json:"pillar"`
	// Angle from which the item presents its topic. Null: none.
	Angle resource.Text `json:"angle" example:"a mistake that we made"`
	// Idea of its first line. Null: none.
	Hook resource.Text `json:"hook"`
	// What it is to lead to, in English. Null: none.
	Goal resource.Text `json:"goal" example:"readers answer in a comment"`
	// What happens then: a date of the brief, the offer of the product, or a day that is celebrated. Null: nothing.
	Occasion resource.Text `json:"occasion" example:"Mother's Day (in 2 days)"`
	// Its place in a campaign. Null: none.
	Campaign resource.Text `json:"campaign" example:"2 of 3: Launch of the trail shoe"`
	// Id of the product that it presents. Null: none.
	ProductID resource.Text `json:"product_id"`
	// Version of the topic, which each change raises. It is the ETag of GET, for If-Match.
	Version int64 `json:"version" example:"1"`
}

// ResourceVersion returns the version of the topic, for its ETag.
func (t Topic) ResourceVersion() int64 { return t.Version }

// chunk is some topics of a plan, which one transaction chose; number 0 has the topics of earlier items of the factory.
type chunk struct {
	Items []topicItem `json:"items"`
}

// topicItem is a topic that was chosen, and its item once that is made.
type topicItem struct {
	// Number is the place in the plan, from 1.
	Number int    `json:"number,omitempty"`
	ID     string `json:"id,omitempty"`
	Topic  string `json:"topic"`
	// Type, At and Slot are those of the item. Topics of earlier items have none.
	Type string       `json:"type,omitempty"`
	At   time.Time    `json:"at,omitzero"`
	Slot *prompt.Plan `json:"slot,omitempty"`
	// State is the state, Product the product that it presents, and About what its campaign is about.
	State   TopicState `json:"state,omitempty"`
	Product string     `json:"product,omitempty"`
	About   string     `json:"about,omitempty"`
	// By is on whose behalf its item is published: who has last changed or approved it. Nobody: who has made the plan.
	By authority.Authority `json:"by,omitzero"`
	// Again reports that another topic is to be written, and Tries how often that was tried. Refused are the topics
	// that it had, the last one at the end, and Reason is why a person has dropped it.
	Again   bool             `json:"again,omitempty"`
	Tries   int              `json:"tries,omitempty"`
	Refused []prompt.Dropped `json:"refused,omitempty"`
	Reason  string           `json:"reason,omitempty"`
	// Hold is the number of the reservation of its item in the recipe, once it is approved.
	Hold    int   `json:"hold,omitempty"`
	Version int64 `json:"version,omitempty"`
	// CreatedAt and Updated are the times at which it was chosen and last changed.
	CreatedAt time.Time `json:"created,omitzero"`
	UpdatedAt time.Time `json:"updated,omitzero"`
}

// enter moves the topic to a state, in its next version.
func (c *topicItem) enter(to TopicState, now time.Time) {
	c.State = to
	c.touch(now)
}

// touch begins the next version of the topic.
func (c *topicItem) touch(now time.Time) {
	c.Version++
	c.UpdatedAt = now
}

// shown returns the topic as callers see it.
func (c *topicItem) shown(planID string) Topic {
	slot := c.Slot
	if slot == nil {
		slot = &prompt.Plan{} // it is older than the member
	}
	return Topic{
		Number: c.Number, CreatedAt: resource.Instant(c.CreatedAt), UpdatedAt: resource.Instant(c.UpdatedAt),
		ContentPlanID: planID, State: c.State, ContentItemID: resource.Text(c.ID),
		ContentType: c.Type, PublishAt: resource.Instant(c.At), Topic: c.Topic, Pillar: resource.Text(slot.Pillar),
		Angle: resource.Text(slot.Angle), Hook: resource.Text(slot.Hook), Goal: resource.Text(slot.Goal),
		Occasion: resource.Text(cmp.Or(slot.Event, slot.Offer, slot.Occasion)), Campaign: resource.Text(slot.Campaign),
		ProductID: resource.Text(c.Product), Version: c.Version,
	}
}

// chunkOf returns the number of the chunk of a topic, from 1, and its place there.
func chunkOf(number int) (n, at int) { return (number-1)/chunkSlots + 1, (number - 1) % chunkSlots }

// chunkKeys returns the keys of the chunks of a plan with so many topics.
func chunkKeys(planID string, topics int64) []store.Key {
	keys := make([]store.Key, (topics+chunkSlots-1)/chunkSlots)
	for n := range keys {
		keys[n] = chunkKey(planID, n+1)
	}
	return keys
}

// Calendar returns the topics of a plan that were chosen.
func Calendar(ctx context.Context, db *store.DB, p Plan) ([]Topic, error) {
	all := []Topic{}
	items, err := db.GetAll(ctx, chunkKeys(p.ID, p.Items.Total)...)
	if err != nil {
		return nil, err
	}
	chunks, err := chunksOf(items)
	for _, c := range chunks {
		for _, m := range c.Items {
			all = append(all, m.shown(p.ID))
		}
	}
	return all, err
}

// chunksOf returns the chunks of items that were read. One whose topics are not chosen yet, or never were, has none.
func chunksOf(items []store.Item) ([]chunk, error) {
	chunks := make([]chunk, len(items))
	for n, it := range items {
		if it.Kind == "" {
			continue
		}
		if err := it.Decode(&chunks[n]); err != nil {
			return nil, err
		}
	}
	return chunks, nil
}

// Booked returns the plan as it is in the book.
func (p *Plan) Booked() (factoryrecord.BookedPlan, error) {
	first, err := time.Parse(time.DateOnly, p.StartsOn)
	return factoryrecord.BookedPlan{ID: p.ID, First: p.StartsOn,
		Last:  first.AddDate(0, 0, p.Days-1).Format(time.DateOnly),
		Later: p.WriteAheadHours != nil}, err
}

// maxWoken bounds the plans that are woken together; others look by themselves.
const maxWoken = 40

// Wake adds to the transaction that the tasks of the latest plans of a book look again now.
func Wake(tx *store.Tx, now time.Time, o tenant.Owner, b factoryrecord.Book) error {
	for _, p := range b.Plans[max(0, len(b.Plans)-maxWoken):] {
		if err := task.Wake(tx, now, message(o, p.ID)); err != nil {
			return err
		}
	}
	return nil
}

func init() {
	types := factoryrecord.ContentTypes
	format.Define("plan-content", format.Format{Values: types})
	format.Define("plan-contents", format.Format{Values: types, Fewest: 1, Many: len(types), Distinct: true})
	format.Define("chapter", format.Format{Longest: 500,
		Example: "The shoe can be ordered from 12 December with the code NETS10"})
	format.Define("topic", format.Format{Name: format.NotBlank, Pattern: format.OneLine, Shortest: 1, Longest: 400,
		Example: "Why the left shoe wears out first"})
}
