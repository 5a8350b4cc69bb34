// Package feed has the catalogs of factories follow the feeds of shops. Service.Register in operations.go has the
// operations, Worker.Run in run.go is the task of a run, and Worker.Follow in follow.go has content follow the catalog.
package feed

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/base/clock"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/money"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/craft/feed"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/record/shelf"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// RunItem is the kind of a run in the table.
const RunItem = "feed_run"

// The kinds of tasks: a run, the timer of a schedule, the photos of products, and the content that follows a run.
const (
	RunKind    task.Kind = "feed.run"
	TimerKind  task.Kind = "feed.timer"
	PhotosKind task.Kind = "feed.photos"
	FollowKind task.Kind = "feed.follow"
	Advance    task.Kind = "feed.advance"
)

// The schedules.
const (
	Manual = "manual"
	Hourly = "hourly"
	Daily  = "daily"
)

// What products show of the photos of a feed.
const (
	PhotosNone = "none"
	PhotosMain = "main"
	PhotosAll  = "all"
)

// State is the state of a feed.
type State string

// The states of a feed.
const (
	Idle    State = "active"
	Syncing State = "running"
	Waiting State = "held"
	Failing State = "failed"
)

// Source is where a feed comes from.
type Source struct {
	// Public https URL of the feed. Redirects are followed.
	URL *string `json:"url" format:"uri" example:"https://shop.example.com/google.xml"`
	// Media with the feed.
	MediaID *string `json:"media_id" example:"med_01h455vb4pex5vsknk084sn02q"`
}

var (
	_ = format.Define("feed-format", format.Format{
		Values: format.Words("google_xml google_tsv yml shopify_csv csv json_lines")})
	_ = format.Define("feed-schedule", format.Format{Values: format.Words("manual hourly daily")})
	_ = format.Define("feed-policy", format.Format{Values: format.Words("keep hold withdraw")})
	_ = format.Define("feed-held", format.Format{Values: format.Words("mass_removal")})
	_ = format.Define("feed-photos", format.Format{Values: format.Words("none main all")})
	_ = format.Define("feed-run-state", format.Format{
		Values: format.Words("queued running held completed failed canceled")})
)

// Feed is the feed of a factory as callers see it.
type Feed struct {
	// Factory whose catalog follows the feed.
	FactoryID string `json:"factory_id" example:"fac_01h455vb4pex5vsknk084sn02q"`
	// Time at which it was set first, UTC.
	CreatedAt resource.Time `json:"created_at"`
	// Time of the last change, UTC.
	UpdatedAt resource.Time `json:"updated_at"`
	// Counts the changes.
	Version int64 `json:"version"`
	// Where it comes from.
	Source Source `json:"source"`
	// Its format: Google's product data specification as XML or TSV, Yandex Market's YML, Shopify's export of products,
	// a table, or a JSON object on each line.
	Format feed.Format `json:"format" format:"feed-format"`
	// Columns of a table by members of products. A member without one is in the column with its name.
	Mapping map[string]string `json:"mapping"`
	// Currency of prices that have none. Null: none.
	Currency resource.Text `json:"currency" format:"currency"`
	// When it is read: when you call syncFeed, each hour, or each day.
	Schedule string `json:"schedule" format:"feed-schedule"`
	// Time of day at which a daily feed is read, in the time zone of the factory. Null for others.
	DailyTime resource.Text `json:"daily_time" example:"06:30"`
	// What happens to content about a product whose price, offer or main photo has changed.
	OnPriceChange shelf.Policy `json:"on_price_change" format:"feed-policy"`
	// What happens to content about a product that is sold out.
	OnSoldOut shelf.Policy `json:"on_sold_out" format:"feed-policy"`
	// What happens to content about a product that is not in the feed any more.
	OnRemoved shelf.Policy `json:"on_removed" format:"feed-policy"`
	// Content items that are made again a day (UTC) by themselves, as regenerateContentItem does with `reuse`, because
	// the price, offer or main photo of their product has changed. They are charged. What is beyond it waits; `remake`
	// of the item says what it would cost.
	RemakePerDay int `json:"remake_per_day"`
	// Photos that products get: none, the main one, or up to 10.
	Photos string `json:"photos" format:"feed-photos"`
	// active: it waits for its next run. held: its last run waits to be confirmed. failed: its last run has failed.
	State State `json:"state" enum:"active,running,held,failed"`
	// Time of the next run by its schedule. Null: none.
	NextRunAt *resource.Time `json:"next_run_at"`
	// Its last run, without its refusals. Null: none.
	LastRun *Run `json:"last_run"`
}

// ResourceVersion returns the version for the entity tag.
func (f Feed) ResourceVersion() int64 { return f.Version }

// Record is the stored document of a feed.
type Record struct {
	Feed
	// Authority is on whose behalf it changes the catalog.
	Authority authority.Authority `json:"authority"`
	// Round counts how often it was scheduled. A timer of an earlier round is void.
	Round int `json:"round,omitempty"`
	// ETag and LastModified are the validators of what the last completed run has read.
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"last_modified,omitempty"`
	// FollowRound numbers the tasks that have content follow a run.
	FollowRound int `json:"follow_round,omitempty"`
	// Followed is the end of the last run that all content has followed.
	Followed shelf.Moment `json:"followed,omitzero"`
	// HoldReported reports that the schedule does not report that a run is held: a run before it was, and none has
	// completed since.
	HoldReported bool `json:"hold_reported,omitempty"`
}

// newRecord returns the record of a new feed. Its rounds follow those of a feed that the factory has had before, whose
// tasks may still be there.
func newRecord(now time.Time) *Record {
	first := int(now.UnixMilli())
	return &Record{Round: first, FollowRound: first}
}

// RunState is the state of a run.
type RunState string

// The states of a run.
const (
	Queued    RunState = "queued"
	Running   RunState = "running"
	Held      RunState = "held"
	Completed RunState = "completed"
	Failed    RunState = "failed"
	Canceled  RunState = "canceled"
)

// MassRemoval is the reason for which a run is held.
const MassRemoval = "mass_removal"

// Counts are the products of a run.
type Counts struct {
	// Rows that were read.
	Read int `json:"read"`
	// Products that were created.
	Created int `json:"created"`
	// Products that were changed.
	Changed int `json:"changed"`
	// Products that are as they were.
	Unchanged int `json:"unchanged"`
	// Products that were archived, because the feed has them no more.
	Archived int `json:"archived"`
	// Rows that were refused.
	Refused int `json:"refused"`
}

// Run is a run of a feed as callers see it.
type Run struct {
	// Unique id (TypeID).
	ID string `json:"id" example:"run_01h455vb4pex5vsknk084sn02q"`
	// Factory of the feed.
	FactoryID string `json:"factory_id" example:"fac_01h455vb4pex5vsknk084sn02q"`
	// Time of the call, or of the schedule, UTC.
	CreatedAt resource.Time `json:"created_at"`
	// State of the run. canceled: it was held, and a newer run has taken its place, or its feed was deleted.
	State RunState `json:"state" filter:"state" format:"feed-run-state"`
	// mass_removal: a fifth of the products of the feed or more are not in it any more, and nothing was changed. Call
	// syncFeed with confirm_run_id if that is right. Null: it was not held.
	HeldReason resource.Text `json:"held_reason" format:"feed-held"`
	// Rows of the feed. 0 until it was read.
	Total int `json:"total"`
	// Products of the feed that are not in it any more.
	Gone int `json:"gone"`
	Counts
	// Rows that were refused, with the reasons: the first 1,000. Empty in lists and in the feed.
	Refusals []feed.Refusal `json:"refusals" nullable:"false"`
	// Signed URL of a CSV of all refusals, valid for one hour. Null if there are none, and in lists.
	RefusalsURL *string `json:"refusals_url" format:"uri"`
	// Whether the server said that the feed has not changed since the last run.
	NotModified bool `json:"not_modified"`
	// Time at which it began, UTC. Null until then.
	StartedAt *resource.Time `json:"started_at"`
	// Time of its end, UTC. Null until then.
	EndedAt *resource.Time `json:"ended_at"`
	// Why it has failed. Null unless failed.
	Failure *Failure `json:"failure"`
}

// Failure is the reason for which a run has failed. Products that were changed until then stay so.
type Failure struct {
	// Machine-readable reason. not_fetched: the source cannot be fetched. unreadable: it is no feed of the format, is
	// too large, or ends in its middle. authority_ended: who has set the feed may not change products any more.
	// internal: something went wrong on our side.
	Code string `json:"code" enum:"not_fetched,unreadable,authority_ended,internal"`
	// What happened and what to do about it.
	Message string `json:"message"`
}

// Pending returns the path that shows the run, and the time to look at it.
func (r Run) Pending() (path string, after time.Duration) {
	return "/v1/factories/" + r.FactoryID + "/feed/runs/" + r.ID, 2 * time.Second
}

// ended reports whether a run waits for nothing but a confirmation.
func (s RunState) ended() bool { return s != Queued && s != Running }

// short returns a run without its refusals, for lists.
func (r Run) short() Run {
	r.Refusals = []feed.Refusal{}
	return r
}

// runRecord is the stored document of a run.
type runRecord struct {
	Run
	// Attempt numbers its tasks: a run that was held has another one once it is confirmed.
	Attempt int `json:"attempt"`
	// Confirmed reports that the caller has confirmed that products are archived.
	Confirmed bool `json:"confirmed,omitempty"`
	// Validators are the ETag and the time of the last change of what it has read.
	Validators [2]string `json:"validators,omitempty"`
	// Settings are those with which the feed was fetched, or nil until then. A feed that is set anew during a run, or
	// while it is held, is read as the run has begun.
	Settings *settings `json:"settings,omitempty"`
}

// settings say how a feed is read.
type settings struct {
	Format   feed.Format       `json:"format"`
	Mapping  map[string]string `json:"mapping,omitempty"`
	Currency string            `json:"currency,omitempty"`
	Photos   string            `json:"photos"`
	// Charset is the encoding that the server has named, and Round tells settings apart.
	Charset string `json:"charset,omitempty"`
	Round   int    `json:"round"`
}

// settings returns those of the feed.
func (r *Record) settings() *settings {
	return &settings{Format: r.Format, Mapping: r.Mapping, Currency: string(r.Currency), Photos: r.Photos,
		Round: r.Round}
}

// keepRuns is the time for which runs can be read.
const keepRuns = 90 * 24 * time.Hour

// RunsPartition is the partition of store.ByParent that lists the runs of a feed.
func RunsPartition(o tenant.Owner, factoryID string) string {
	return store.OwnerPartition(o, RunItem) + "#" + factoryID
}

// runItem returns the item of a new run.
func runItem(o tenant.Owner, r *runRecord) (store.Item, error) {
	it := store.Item{Key: store.IDKey(r.ID), Kind: RunItem, Owner: o, ExpireAt: r.CreatedAt.Add(keepRuns),
		ListKey: store.Key{PK: store.OwnerPartition(o, RunItem), SK: r.ID}, // it goes with the sandbox
		Parent:  store.Key{PK: RunsPartition(o, r.FactoryID), SK: r.ID}}
	return it, it.Encode(r)
}

// begin adds a run with its task to the transaction, in place of one that is held. The caller writes the feed.
func (r *Record) begin(ctx context.Context, db *store.DB, tx *store.Tx, now time.Time, o tenant.Owner) (Run, error) {
	if err := r.cancelHeld(ctx, db, tx); err != nil {
		return Run{}, err
	}
	run := &runRecord{Attempt: 1, Run: Run{ID: id.New(id.FeedRun, now), FactoryID: r.FactoryID,
		CreatedAt: resource.Instant(now), State: Queued, Refusals: []feed.Refusal{}}}
	it, err := runItem(o, run)
	if err != nil {
		return run.Run, err
	}
	tx.Create(it, nil)
	r.LastRun, r.State = &run.Run, Syncing
	return run.Run, run.start(tx, now, o)
}

// cancelHeld ends the last run of a feed if it is held. Nobody can confirm it any more.
func (r *Record) cancelHeld(ctx context.Context, db *store.DB, tx *store.Tx) error {
	if r.LastRun == nil || r.LastRun.State != Held {
		return nil
	}
	it, err := db.Lookup(ctx, store.IDKey(r.LastRun.ID))
	if err != nil || it.Kind != RunItem {
		return err
	}
	held := &runRecord{}
	if err := it.Decode(held); err != nil {
		return err
	}
	held.State = Canceled
	return tx.Rewrite(it, held)
}

// mostRunTime is the time after which a run that has not ended fails.
const mostRunTime = 12 * time.Hour

// start adds the task of a run.
func (r *runRecord) start(tx *store.Tx, now time.Time, o tenant.Owner) error {
	return task.Create(tx, now, task.Task{Deadline: now.Add(mostRunTime), Message: task.Message{
		ID: task.ID(RunKind, r.ID, r.Attempt), Kind: RunKind, Queue: topology.SyncFeed, Subject: r.ID, Owner: o,
	}}, nil)
}

// find reads the feed of a factory. The record is nil if there is none.
func find(ctx context.Context, db *store.DB, factoryID string) (it store.Item, r *Record, err error) {
	if it, err = db.Lookup(ctx, shelf.Key(factoryID)); err == nil && it.Kind == shelf.Kind {
		r = &Record{}
		err = it.Decode(r)
	}
	return it, r, err
}

// touch notes a change of the feed.
func (r *Record) touch(now time.Time) {
	r.Version++
	r.UpdatedAt = resource.Instant(now)
}

// item returns the item of a feed that is new.
func (r *Record) item(o tenant.Owner) (store.Item, error) {
	it, err := store.NewItem(shelf.Kind, o, r.FactoryID, r)
	it.Key, it.Attributes = shelf.Key(r.FactoryID), r.attributes()
	return it, err
}

// attributes are what others read of a feed without its document.
func (r *Record) attributes() map[string]string {
	return shelf.Policies{PriceChange: r.OnPriceChange, SoldOut: r.OnSoldOut, Removed: r.OnRemoved,
		RemakePerDay: r.RemakePerDay}.Attributes()
}

// rewrite adds the changed feed to the transaction.
func (r *Record) rewrite(tx *store.Tx, now time.Time, it store.Item) error {
	r.touch(now)
	it.Attributes = r.attributes()
	return tx.Rewrite(it, r)
}

// next returns the first time of the schedule after a time, or nil.
func (r *Record) next(after time.Time, zone *time.Location) *resource.Time {
	var at time.Time
	switch r.Schedule {
	case Hourly:
		at = after.Truncate(time.Hour).Add(time.Hour)
	case Daily:
		of, err := clock.Parse(string(r.DailyTime))
		if err != nil {
			return nil // it was checked when it was set
		}
		day := after.In(zone)
		if at = clock.On(day, of); !at.After(after) {
			at = clock.On(day, of+24*time.Hour)
		}
	default:
		return nil
	}
	due := resource.Instant(at)
	return &due
}

// timer returns the message of the timer of a feed.
func (r *Record) timer(o tenant.Owner) task.Message {
	return task.Message{ID: task.ID(TimerKind, r.FactoryID, r.Round), Kind: TimerKind, Queue: topology.SyncFeed,
		Subject: r.FactoryID, Owner: o}
}

// check refuses a feed that could not be read.
func (r *Record) check() error {
	var found []error
	if r.Format != feed.CSV && len(r.Mapping) > 0 {
		found = append(found, errs.Invalid("/mapping", "is for the format csv, the columns of other formats have "+
			"names of their own"))
	}
	known := feed.MappedMembers()
	for member := range r.Mapping {
		name, isAttribute := strings.CutPrefix(member, feed.Attributes)
		if isAttribute && name != "" && len(name) <= resource.MaxPairName {
			continue
		}
		if !slices.Contains(known, member) {
			found = append(found, errs.Invalid("/mapping", "names the member %.60q. Members are %s, and those that "+
				"begin with attributes.", member, strings.Join(known, ", ")))
		}
	}
	if c := string(r.Currency); c != "" && !money.IsCurrency(c) {
		found = append(found, errs.Invalid("/currency", "is not the ISO 4217 code of a currency; write it as EUR"))
	}
	switch at := string(r.DailyTime); {
	case r.Schedule == Daily && at == "":
		found = append(found, errs.Invalid("/daily_time", "is required for the schedule daily"))
	case r.Schedule != Daily && at != "":
		found = append(found, errs.Invalid("/daily_time", "is for the schedule daily"))
	case at != "" && !clock.Valid(at):
		found = append(found, errs.Invalid("/daily_time", "must be a time of day, written as 06:30"))
	}
	if r.Source.MediaID != nil && r.Schedule != Manual {
		found = append(found, errs.Invalid("/schedule", "must be manual for a feed in a media, which does not change"))
	}
	return errs.All(found...)
}

// notify adds an event about a run to the transaction.
func notify(tx *store.Tx, now time.Time, o tenant.Owner, t event.Type, r Run) error {
	e, err := event.New(now, o, t, r.short(), nil)
	if err != nil {
		return fmt.Errorf("feed: %w", err)
	}
	tx.Create(e, nil)
	return nil
}
