// Package automation makes content items by itself: of the entries of a feed, of new products, and at times. A task for
// each automation looks for what is new and makes one item of each entry, never two.
package automation

import (
	"cmp"
	"context"
	"net/url"
	"reflect"
	"strings"
	"time"
	_ "time/tzdata" // Lambda's runtime need not know the time zones.

	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/clock"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/httpapi/kind"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/event"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/record/rehearsal"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/record/testclock"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// ItemKind is the kind of an automation's item, and Kind that of its task.
const (
	ItemKind           = "automation"
	Kind     task.Kind = "automation"
)

// State is the state of an automation.
type State string

// The states.
const (
	Active State = "active"
	Paused State = "paused"
	Failed State = "failed"
)

// The kinds of triggers.
const (
	OfFeed    = "feed"
	OfProduct = "product"
	OfTime    = "time"
)

// Trigger is what makes an automation run.
type Trigger struct {
	// feed: each new entry of an RSS, Atom or JSON feed. product: each new product of the factory. time: the times of
	// cron.
	Kind string `json:"kind" enum:"feed,product,time" example:"feed"`
	// For feed only: public https URL of the feed. It is read every 15 minutes; entries that it has at first make
	// nothing.
	URL string `json:"url,omitempty" maxLength:"2048" example:"https://www.example.com/feed.xml"`
	// For time only: minute, hour, day of month, month and day of week, in the time zone of the factory. A time that
	// the clocks skip moves on by what they skip, on the same day: 02:30 becomes 03:30. One that they repeat counts
	// once.
	Cron string `json:"cron,omitempty" maxLength:"100" example:"30 9 * * 1-5"`
}

// Failure is why an automation could not make an item.
type Failure struct {
	// Code of the error, as a call would get it, feed_unreadable or authority_ended.
	Code string `json:"code" example:"insufficient_balance"`
	// What happened and what to do about it.
	Message string `json:"message"`
	// Time of the failure.
	At resource.Time `json:"at"`
}

// Run is one run of an automation.
type Run struct {
	// Time of the run.
	At resource.Time `json:"at"`
	// What it was for: the id or URL of an entry, the id of a product, or a time of the factory's zone.
	Entry string `json:"entry"`
	// Content item that it has made. Null: none.
	ContentItemID *string `json:"content_item_id"`
	// Why it has made none. Null if it has.
	Failure *Failure `json:"failure"`
}

// UTM are the parameters by which a shop or a site counts the visits that come by an item.
type UTM struct {
	// Value of utm_source.
	Source string `json:"source,omitempty" maxLength:"100" example:"social"`
	// Value of utm_medium.
	Medium string `json:"medium,omitempty" maxLength:"100" example:"post"`
	// Value of utm_campaign.
	Campaign string `json:"campaign,omitempty" maxLength:"100" example:"blog"`
	// Value of utm_term.
	Term string `json:"term,omitempty" maxLength:"100"`
	// Value of utm_content.
	Content string `json:"content,omitempty" maxLength:"100"`
}

// Automation is an automation as callers see it in lists.
type Automation struct {
	resource.Resource
	// Profile of its factory. Null: the account as a whole.
	ProfileID *tenant.Profile `json:"profile_id"`
	// Factory that makes the items.
	FactoryID string `json:"factory_id" filter:"factory" example:"fac_01h455vb4pex5vsknk084sn02q"`
	// What makes it run.
	Trigger Trigger `json:"trigger"`
	// Body of createContentItem without factory_id.
	Template map[string]any `json:"template" example:"{\"kind\":\"post\",\"prompt\":\"{{title}} {{url}}\"}"`
	// Most items that it makes in a day of the factory's time zone.
	MaxPerDay int `json:"max_per_day"`
	// Parameters that are added to {{url}}. Null: none.
	UTM *UTM `json:"utm"`
	// Id of the API key, or of the person, on whose behalf it makes items: the one that has created it, or has last
	// changed its trigger, template, utm or max_per_day, or set it to active.
	CreatedBy string `json:"created_by" example:"key_01h455vb4pex5vsknk084sn02q"`
	// paused: it makes nothing. failed: five runs in a row have failed, or the key or person in created_by has no
	// access any more, which the failure says; set the state to active to go on, on your own behalf. A run does not
	// count if the mandate of the key has no credits left on its day: it is left out, and new entries and products wait
	// for the next day of the mandate.
	State State `json:"state" filter:"state" enum:"active,paused,failed"`
	// The last failure since the last success. Null: none.
	Failure *Failure `json:"failure"`
	// The last run. Null: none yet.
	LastRun *Run `json:"last_run"`
}

// Details are an automation with its last runs, which a list leaves out.
type Details struct {
	Automation
	// The last 10 runs, newest first.
	Runs []Run `json:"runs" nullable:"false"`
	// Rehearsal of the automation, in the response to a call with rehearse. The automation of such a response does not
	// exist. Null for all others.
	Rehearsal *rehearsal.Rehearsal `json:"rehearsal"`
}

// Record is the stored document of an automation.
type Record struct {
	Details
	// Authority is the principal who last set what it makes, and when.
	Authority authority.Authority `json:"authority"`
	// Failures counts the failed runs in a row.
	Failures int `json:"failures,omitempty"`
	// Day is the day of Made, the number of items made on it.
	Day  string `json:"day,omitempty"`
	Made int    `json:"made,omitempty"`
	// NextAt is the next time of a cron expression.
	NextAt time.Time `json:"next_at,omitzero"`
	// Since is the time at which the automation began: it is created, is active again, or has another trigger. Entries
	// of a feed that are dated after it are new. Of products, it moves on as they are looked for.
	Since time.Time `json:"since,omitzero"`
	// FeedRead reports that the first entries of the feed were noted. ETag and Modified are the validators of the last
	// feed that was taken over as a whole.
	FeedRead     bool   `json:"looked,omitempty"`
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"modified,omitempty"`
}

// MaxPerOwner bounds the automations of an account and mode, and of each profile in it.
const MaxPerOwner = 50

// end deletes an automation.
func end(tx *store.Tx, now time.Time, it store.Item) {
	quota.Free(tx, now, it)
	tx.Delete(it)
}

// mostRuns is the number of runs that an automation shows, and mostFailures the number in a row that ends it.
const (
	mostRuns     = 10
	mostFailures = 5
)

// note adds a run to those that are shown.
func (r *Record) note(run Run) {
	r.LastRun = &run
	r.Runs = append([]Run{run}, r.Runs[:min(len(r.Runs), mostRuns-1)]...)
}

// fail notes a failed run. The last of many in a row ends the automation, with an event.
func (r *Record) fail(tx *store.Tx, now time.Time, o tenant.Owner, entry string, cause error) error {
	r.missed(now, entry, errs.As(cause))
	if r.Failures++; r.Failures < mostFailures {
		return nil
	}
	return r.stop(tx, now, o)
}

// missed notes a run that has made nothing, without counting it.
func (r *Record) missed(now time.Time, entry string, e *errs.Error) {
	r.Failure = &Failure{Code: string(e.Code), Message: e.Message, At: resource.Instant(now)}
	r.note(Run{At: resource.Instant(now), Entry: entry, Failure: r.Failure})
}

// stop makes the automation failed, with an event.
func (r *Record) stop(tx *store.Tx, now time.Time, o tenant.Owner) error {
	r.State = Failed
	r.Touch(now)
	return event.Add(tx, now, o, event.AutomationFailed, r.Automation)
}

// message is the message of the task of an automation.
func message(automationID string, o tenant.Owner) task.Message {
	return task.Message{ID: task.ID(Kind, automationID, 1), Kind: Kind, Queue: topology.Settle, Subject: automationID,
		Owner: o}
}

// taskKey is the key of the task of an automation.
func taskKey(automationID string) store.Key { return store.IDKey(task.ID(Kind, automationID, 1)) }

// Service makes and changes automations.
type Service struct {
	db          *store.DB
	factories   *factory.Service
	items       *content.Service
	client      Client
	now         func() time.Time
	automations *kind.Kind[Record]
}

// Client checks and fetches the addresses of feeds.
type Client interface {
	fetcher
	safehttp.Checker
}

// NewService makes the service. It makes no call.
func NewService(db *store.DB, factories *factory.Service, items *content.Service, client Client,
	now func() time.Time) *Service {
	return &Service{db, factories, items, client, now, automations.On(db, now)}
}

var automations = kind.Kind[Record]{Name: ItemKind, ID: id.Automation, Path: "/v1/automations/{automation_id}",
	Function: "studio", Tag: "Automations", Reads: auth.ContentRead, Writes: auth.ContentWrite,
	Beside: func(_ tenant.Owner, automationID string) []store.Key { return []store.Key{taskKey(automationID)} },
	Count:  func(tx *store.Tx, _ time.Time, it *store.Item) { quota.Take(tx, it, MaxPerOwner, "automations") }}

// check refuses an automation that would fail later. One with another trigger than it was begins afresh.
func (s *Service) check(ctx context.Context, was, r *Record, f factory.Factory) error {
	if err := r.Trigger.fits(f); err != nil {
		return err
	}
	now, moved := s.now(), r.Trigger != was.Trigger
	if moved && r.Trigger.Kind == OfFeed {
		if err := s.client.CheckURL(ctx, r.Trigger.URL); err != nil {
			return safehttp.InvalidURL(err, "/trigger/url")
		}
	}
	// A paused automation makes nothing, so that it can be paused whatever has become of its factory.
	same := !moved && reflect.DeepEqual(r.Template, was.Template) && reflect.DeepEqual(r.UTM, was.UTM)
	if !same || r.State != Paused {
		creates := func(body any) error { return s.items.Check(ctx, body) }
		if err := r.checkTemplate(f.ID, now, creates); err != nil {
			return err
		}
	}
	activated := r.State == Active && was.State != Active
	if moved || activated {
		r.FeedRead, r.ETag, r.LastModified, r.Since, r.NextAt = false, "", "", now, time.Time{}
		if r.Trigger.Kind == OfTime {
			clock, err := testclock.Now(ctx, s.db, auth.FromContext(ctx).Owner, now)
			if err != nil {
				return err
			}
			next, err := r.Trigger.next(f, clock)
			if err != nil {
				return err
			}
			r.NextAt = next
		}
	}
	if activated {
		r.Failures, r.Failure = 0, nil
	}
	// Who decides what is made, answers for it.
	if !same || activated || r.MaxPerDay != was.MaxPerDay {
		r.Authority = authority.Of(auth.FromContext(ctx))
		r.CreatedBy = r.Authority.Actor.ID
	}
	return nil
}

// checkTemplate refuses a template of which createContentItem would make nothing for a factory. Check refuses the body
// of a sample.
func (d *Details) checkTemplate(factoryID string, now time.Time, check func(body any) error) error {
	sample := sampleOf(d.Trigger.Kind, now)
	return cmp.Or(own(d.Template, sample), inTemplate(check(sample.fill(d.Template, factoryID, d.UTM, true))))
}

// own refuses members of a template that the automation sets itself.
func own(template map[string]any, sample entry) error {
	for _, member := range []string{"factory_id", "publish_at", "product_id"} {
		if _, sent := template[member]; sent && (member != "product_id" || sample.product != "") {
			return errs.Invalid("/template/"+member, "is set by the automation. Leave it out")
		}
	}
	return nil
}

// inTemplate returns the refusal of the body that a template makes as one of the template.
func inTemplate(err error) error {
	if err == nil {
		return nil
	}
	e := *errs.As(err)
	return errs.Below("/template", withoutBody(&e))
}

// withoutBody takes the member body, at which the check of a body begins, from the places of an error.
func withoutBody(e *errs.Error) *errs.Error {
	if rest, ok := strings.CutPrefix(e.Message, e.Param+": "); ok && e.Param != "" {
		e.Message = trimBody(e.Param) + ": " + rest
	}
	e.Param = trimBody(e.Param)
	for i := range e.Details {
		e.Details[i].Param = trimBody(e.Details[i].Param)
	}
	return e
}

// Period of the look-ups, and the wait of an automation that does nothing until it is changed.
const (
	feedPeriod    = 15 * time.Minute
	productPeriod = 5 * time.Minute
	idle          = 24 * time.Hour
)

// Adopt adds an automation of an export for a factory to the transaction, on behalf of an authority. It is paused. What
// its template refers to need not be there: setting it to active checks that.
func Adopt(tx *store.Tx, now time.Time, o tenant.Owner, d Details, f factory.Factory, by authority.Authority) error {
	d.ProfileID, d.State, d.CreatedBy = o.ProfileID(), Paused, by.Actor.ID
	d.LastRun, d.Runs, d.Failure = nil, []Run{}, nil
	if err := d.Trigger.fits(f); err != nil {
		return err
	}
	if d.Trigger.Kind == OfTime {
		if _, err := d.Trigger.next(f, now); err != nil {
			return err
		}
	}
	if err := d.checkTemplate(f.ID, now, content.CheckBody); err != nil {
		return err
	}
	r := &Record{Details: d, Authority: by}
	return r.enter(tx, now, o)
}

// Input is the type of the body of the operation that creates an automation. Imports check what comes in by its schema.
var Input = reflect.TypeFor[createBody]()

// entry is something that an automation makes one item of.
type entry struct {
	// key is the same each time that the entry is found.
	key string
	// values replace the names in double braces in a template.
	values map[string]string
	// product is the id of the product that the item presents, or empty.
	product string
	// published is its date, or nil.
	published *time.Time
}

// fits refuses a trigger that check refuses, or that is not for a factory.
func (t Trigger) fits(f factory.Factory) error {
	if t.Kind == OfProduct && f.Type != factory.Seller {
		return errs.Invalid("/trigger/kind", "product "+factoryrecord.ForSellers+". Choose another kind",
			f.Type)
	}
	return t.check()
}

// check refuses members that do not fit the kind, and expressions that never come.
func (t Trigger) check() error {
	switch {
	case t.Kind == OfFeed && t.URL == "":
		return errs.Invalid("/trigger/url", "is required for the kind feed")
	case t.Kind != OfFeed && t.URL != "":
		return errs.Invalid("/trigger/url", "is for the kind feed only")
	case t.Kind == OfTime && t.Cron == "":
		return errs.Invalid("/trigger/cron", "is required for the kind time")
	case t.Kind != OfTime && t.Cron != "":
		return errs.Invalid("/trigger/cron", "is for the kind time only")
	case t.Kind == OfTime:
		_, err := t.times()
		return err
	}
	return nil
}

// times reads the cron expression.
func (t Trigger) times() (*clock.Cron, error) {
	times, err := clock.ParseCron(t.Cron)
	if err != nil {
		return nil, errs.Invalid("/trigger/cron", "is not a minute, hour, day of month, month and day of week; "+
			"write them as 30 9 * * 1-5")
	}
	return times, nil
}

// zone returns the time zone of a factory, which is UTC if it has none.
func zone(f factory.Factory) *time.Location {
	if f.Schedule == nil {
		return time.UTC
	}
	z, err := time.LoadLocation(f.Schedule.Timezone)
	if err != nil {
		return time.UTC // the zone was checked when it was set
	}
	return z
}

// next returns the first time of the cron expression after a time.
func (t Trigger) next(f factory.Factory, after time.Time) (time.Time, error) {
	times, err := t.times()
	if err != nil {
		return time.Time{}, err
	}
	at := times.Next(after.In(zone(f)))
	if at.IsZero() {
		return at, errs.Invalid("/trigger/cron", "never comes within five years")
	}
	return at, nil
}

// wall returns the time that a clock on the wall shows, to the minute.
func wall(at time.Time) string { return at.Format("2006-01-02T15:04") }

func occurrence(at time.Time) entry {
	return entry{key: wall(at), values: map[string]string{"date": at.Format(time.DateOnly), "time": at.Format("15:04")}}
}

// sampleOf returns an entry such as a trigger finds, for the check of a template.
func sampleOf(kind string, now time.Time) entry {
	switch kind {
	case OfTime:
		return occurrence(now)
	case OfProduct:
		return entry{values: map[string]string{"name": "Name", "description": "Description", "url": sampleURL},
			product: "sample"}
	}
	return entry{values: map[string]string{"title": "Title", "summary": "Summary", "url": sampleURL}}
}

const sampleURL = "https://www.example.com/"

// The lengths to which the texts of a feed are cut, so that a template that fits goes on to fit.
const (
	mostTitle   = 200
	mostSummary = 1000
)

// fill returns the body of createContentItem that a template makes of an entry. A sample has no product.
func (e entry) fill(template map[string]any, factoryID string, utm *UTM, sample bool) map[string]any {
	values := make([]string, 0, 2*len(e.values))
	for name, value := range e.values {
		if name == "url" {
			value = utm.on(value)
		}
		values = append(values, "{{"+name+"}}", value)
	}
	body, _ := replaced(template, strings.NewReplacer(values...)).(map[string]any)
	body["factory_id"] = factoryID
	if e.product != "" && !sample {
		body["product_id"] = e.product
	}
	return body
}

// replaced returns a JSON value with the names in its texts replaced.
func replaced(v any, by *strings.Replacer) any {
	switch v := v.(type) {
	case string:
		return by.Replace(v)
	case []any:
		all := make([]any, len(v))
		for i, one := range v {
			all[i] = replaced(one, by)
		}
		return all
	case map[string]any:
		all := make(map[string]any, len(v)+2)
		for name, one := range v {
			all[name] = replaced(one, by)
		}
		return all
	}
	return v
}

// on returns an address with the parameters. Those that it has stay.
func (u *UTM) on(address string) string {
	if u == nil || address == "" {
		return address
	}
	to, err := url.Parse(address)
	if err != nil {
		return address
	}
	q := to.Query()
	for _, p := range []struct{ name, value string }{{"utm_source", u.Source}, {"utm_medium", u.Medium},
		{"utm_campaign", u.Campaign}, {"utm_term", u.Term}, {"utm_content", u.Content}} {
		if p.value != "" && !q.Has(p.name) {
			q.Set(p.name, p.value)
		}
	}
	to.RawQuery = q.Encode()
	return to.String()
}

func trimBody(param string) string { return strings.TrimPrefix(param, "/body") }
