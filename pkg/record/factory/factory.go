// Package factory has the parts of factories that other areas need. It does not import the rest of a factory, such as
// languages and time zones, so that functions that only check a factory start faster. State and Accounts read the item
// of a factory.
package factory

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Kind is the kind of a factory's item.
const Kind = "factory"

// The states of a factory in which it creates nothing new.
const (
	StatePaused  = "paused"
	StateDeleted = "deleted"
)

// State returns the state of a factory that was read by Key, or an empty text if there is none.
func State(it store.Item) string { return it.Filters["state"] }

// Key returns the key of a factory's item, for areas that read factories together with items of their own.
func Key(factoryID string) store.Key { return store.IDKey(factoryID) }

// Usable reports whether an item that was read by Key is a factory of the owner that was not deleted.
func Usable(it store.Item, o tenant.Owner) bool {
	return it.Kind == Kind && o.Sees(it.Owner) && it.Filters["state"] != StateDeleted
}

// seller is the type of the factories that have products and promotions.
const seller = "seller"

// RefError returns the error for a factory that a body names and that was not found, or that could not be read because
// of err.
func RefError(err error, factoryID string) error {
	if err != nil && errs.CodeOf(err) != errs.NotFound {
		return err
	}
	e := errs.Missing(Kind, factoryID)
	e.Param = "/factory_id"
	return e
}

// ForSellers refuses a member that needs products where a factory of another type has it. It takes the type.
const ForSellers = "is for factories of the type seller. This one is of the type %s"

// CheckSeller refuses a factory that has no products and promotions. The parameter names it.
func CheckSeller(it store.Item, param, what string) error {
	if it.Filters["type"] == seller {
		return nil
	}
	e := errs.New(errs.WrongFactoryType, "Only a factory of the type seller has %s. This one is of the type %s.", what,
		it.Filters["type"])
	e.Param = param
	return e
}

// document has the members of a factory's document that change with its social accounts.
type document struct {
	resource.Resource
	Accounts []string `json:"social_account_ids"`
}

// Accounts returns the ids of the social accounts of a factory's item.
func Accounts(it *store.Item) ([]string, error) {
	var d document
	return d.Accounts, it.Decode(&d)
}

// Attach adds a social account to a factory's item, and reports whether it was not there
// before. The rest of the document stays as it is.
func Attach(it *store.Item, accountID string, now time.Time) (changed bool, err error) {
	return edit(it, now, func(ids []string) []string {
		if slices.Contains(ids, accountID) {
			return ids
		}
		return append(ids, accountID)
	})
}

// Detach removes a social account from a factory's item, and reports whether it was there.
func Detach(it *store.Item, accountID string, now time.Time) (changed bool, err error) {
	return edit(it, now, func(ids []string) []string {
		return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return id == accountID })
	})
}

func edit(it *store.Item, now time.Time, change func([]string) []string) (changed bool, err error) {
	var d document
	all := map[string]json.RawMessage{}
	if err := it.Decode(&d); err != nil {
		return false, err
	}
	if err := it.Decode(&all); err != nil {
		return false, err
	}
	ids := change(d.Accounts)
	if len(ids) == len(d.Accounts) {
		return false, nil
	}
	d.Touch(now)
	for name, value := range map[string]any{"social_account_ids": ids, "version": d.Version,
		"updated_at": d.UpdatedAt} {
		if all[name], err = json.Marshal(value); err != nil {
			return false, fmt.Errorf("ref: encode %s of %s: %w", name, it.PK, err)
		}
	}
	return true, it.Encode(all)
}

// The content types that name a format of videos. A factory with video makes both formats.
const (
	video      = "video"
	ShortVideo = "short_video"
	LongVideo  = "long_video"
)

// ContentTypes are the content types that factories and plans have.
var ContentTypes = []string{"post", video, "carousel", "story", "music_clip", ShortVideo, LongVideo}

// KindOf returns the kind of the items of a content type.
func KindOf(contentType string) string {
	if contentType == ShortVideo || contentType == LongVideo {
		return video
	}
	return contentType
}

// Makes reports whether content types have one for items of a kind and, for videos, of a format. An empty format is
// any.
func Makes(types []string, kind, format string) bool {
	return slices.ContainsFunc(types, func(t string) bool {
		return t == kind || KindOf(t) == kind && (format == "" || t == format+"_"+video)
	})
}

// The kinds of tasks that follow a change of a factory's state.
const (
	End    task.Kind = "factory.end"    // ends the running work of a deleted factory
	Resume task.Kind = "factory.resume" // wakes the work that waited for a paused factory
	// Publish schedules what content plans of a factory hold, after automatic publishing was turned on.
	Publish task.Kind = "factory.publish"
)

// StartEnd adds the task that ends the running work of a factory to the transaction that deletes the factory.
func StartEnd(tx *store.Tx, now time.Time, o tenant.Owner, factoryID string) error {
	return task.Create(tx, now, message(End, o, factoryID, task.ID(End, factoryID, 1)), struct{}{})
}

// StartResume adds the task that wakes the waiting work of a factory to the transaction that resumes the factory. Its
// id is new each time.
func StartResume(tx *store.Tx, now time.Time, o tenant.Owner, factoryID string) error {
	return task.Create(tx, now, message(Resume, o, factoryID, task.ID(Resume, id.New("resume", now), 1)), struct{}{})
}

// StartPublish adds the task that schedules the generated items of content plans to the transaction after which a
// factory publishes automatically. It begins after the index of items shows what was written before.
func StartPublish(tx *store.Tx, now time.Time, o tenant.Owner, factoryID string) error {
	t := message(Publish, o, factoryID, task.ID(Publish, id.New("publish", now), 1))
	t.DueAt = now.Add(indexLag)
	return task.Create(tx, now, t, struct{}{})
}

// indexLag is the time after which the index of items shows earlier writes.
const indexLag = 2 * time.Second

func message(kind task.Kind, o tenant.Owner, factoryID, taskID string) task.Task {
	return task.Task{Message: task.Message{
		ID: taskID, Kind: kind, Queue: topology.GenerateText, Subject: factoryID, Owner: o,
	}}
}

// CountsKey is the key of the counts of a plan.
func CountsKey(factoryID, planID string) store.Key {
	return store.Key{PK: PlansPartition(factoryID), SK: planID + "#count"}
}

// Counts has the number of items of a plan in each state, and their credits.
type Counts struct {
	Generated, Failed, Canceled, Published int64
	// Reserved is the number of reserved credits, and Cost the number of charged credits.
	Reserved, Cost int64
}

// keep is the time for which the counts stay after their last change.
const keep = 2 * 365 * 24 * time.Hour

// CountsKind is the kind of the counts' item.
const CountsKind = "content_plan_counts"

// AddCounts adds to the transaction that the counts of a plan change.
func AddCounts(tx *store.Tx, now time.Time, factoryID, planID string, c Counts) {
	if c == (Counts{}) {
		return
	}
	tx.Add(store.Item{Key: CountsKey(factoryID, planID), Kind: CountsKind, ExpireAt: now.Add(keep),
		Numbers: map[string]int64{
			"generated": c.Generated, "failed": c.Failed, "canceled": c.Canceled, "published": c.Published,
			"reserved": c.Reserved, "cost": c.Cost,
		}})
}

// CountsOf returns the counts of an item that was read by Key.
func CountsOf(it store.Item) Counts {
	n := it.Numbers
	return Counts{n["generated"], n["failed"], n["canceled"], n["published"], n["reserved"], n["cost"]}
}

// Minus returns the difference of counts.
func (c Counts) Minus(d Counts) Counts {
	return Counts{c.Generated - d.Generated, c.Failed - d.Failed, c.Canceled - d.Canceled, c.Published - d.Published,
		c.Reserved - d.Reserved, c.Cost - d.Cost}
}

// Ended returns the number of items that have ended.
func (c Counts) Ended() int64 { return c.Generated + c.Failed + c.Canceled }

// BookKind is the kind of a factory's book of plans.
const BookKind = "content_plan_book"

// Book has the planned days of a factory. Every transaction that creates or ends plans writes it, so that no plan
// begins on days that another plan has taken, or after the factory was deleted.
type Book struct {
	Plans []BookedPlan `json:"plans"`
	// Deleted reports that the factory was deleted.
	Deleted bool `json:"deleted,omitempty"`
}

// BookedPlan is a plan in the book: its id and its first and last day.
type BookedPlan struct {
	ID    string `json:"id"`
	First string `json:"first"`
	Last  string `json:"last"`
	// Canceled reports that another plan replaces it.
	Canceled bool `json:"canceled,omitempty"`
	// Later reports that its items are made at their times. Other plans replace single days of it: those of Cuts.
	Later bool   `json:"later,omitempty"`
	Cuts  []Days `json:"cuts,omitempty"`
}

// Days are the days from the first to the last one, both included.
type Days struct {
	First string `json:"first"`
	Last  string `json:"last"`
}

// Has reports whether a day is among them.
func (d Days) Has(day string) bool { return d.First <= day && day <= d.Last }

// shares reports whether the plan has days of another that no third plan has taken from it.
func (p *BookedPlan) shares(other BookedPlan) bool {
	first, err := time.Parse(time.DateOnly, max(p.First, other.First))
	if err != nil {
		return true // it is not to be trusted
	}
	for at := first; ; at = at.AddDate(0, 0, 1) {
		day := at.Format(time.DateOnly)
		if day > min(p.Last, other.Last) {
			return false
		}
		if !slices.ContainsFunc(p.Cuts, func(d Days) bool { return d.Has(day) }) {
			return true
		}
	}
}

// whole reports whether another plan takes all days of the plan.
func (p *BookedPlan) whole(other BookedPlan) bool {
	return !p.Later || other.First <= p.First && p.Last <= other.Last
}

// PlansPartition returns the partition of the table with the plans of a factory: each plan by its id, its counts
// directly after it, and the factory's book of plans at the end.
func PlansPartition(factoryID string) string { return "content_plans#" + factoryID }

// keepBook is the time for which the book of a deleted factory stays.
const keepBook = 90 * 24 * time.Hour

// BookKey returns the key of the book of a factory.
func BookKey(factoryID string) store.Key {
	return store.Key{PK: PlansPartition(factoryID), SK: "~book"}
}

// BookOf returns the book of an item that was read by BookKey, or an empty book for the zero item.
func BookOf(it store.Item) (b Book, err error) {
	if it.Kind != "" {
		err = it.Decode(&b)
	}
	return b, err
}

// Write adds the book to the transaction. The argument read is the item that was read. The book of a deleted factory
// expires.
func (b Book) Write(tx *store.Tx, now time.Time, o tenant.Owner, factoryID string, read store.Item) error {
	it := read
	if read.Kind == "" {
		it = store.Item{Key: BookKey(factoryID), Kind: BookKind, Owner: o}
	}
	if b.Deleted {
		it.ExpireAt = now.Add(keepBook)
	}
	if err := it.Encode(b); err != nil {
		return err
	}
	if read.Kind == "" {
		tx.Create(it, nil)
	} else {
		tx.Replace(it)
	}
	return nil
}

// Overlapping returns the plans that share days with another, without the canceled ones.
func (b *Book) Overlapping(other BookedPlan) (found []BookedPlan) {
	for _, p := range b.Plans {
		if !p.Canceled && p.shares(other) {
			found = append(found, p)
		}
	}
	return found
}

// Add adds a plan, and removes those that ended before a day. Of the plans with the ids, it cancels those that have no
// other days than the plan, or whose items are all made at once, and takes the shared days from the others. It returns
// the canceled ones.
func (b *Book) Add(p BookedPlan, replaced []string, before time.Time) (canceled []string) {
	day := before.Format(time.DateOnly)
	b.Plans = slices.DeleteFunc(b.Plans, func(p BookedPlan) bool { return p.Last < day })
	for i := range b.Plans {
		switch other := &b.Plans[i]; {
		case !slices.Contains(replaced, other.ID):
		case other.whole(p):
			other.Canceled = true
			canceled = append(canceled, other.ID)
		default:
			other.Cuts = append(other.Cuts, Days{p.First, p.Last})
		}
	}
	b.Plans = append(b.Plans, p)
	return canceled
}

// Cuts returns the days that other plans have taken from a plan.
func (b *Book) Cuts(planID string) []Days {
	for _, p := range b.Plans {
		if p.ID == planID {
			return p.Cuts
		}
	}
	return nil
}

// Ended reports whether a plan must end.
func (b *Book) Ended(planID string) bool {
	return b.Deleted || slices.ContainsFunc(b.Plans, func(p BookedPlan) bool { return p.ID == planID && p.Canceled })
}

// RemoveBook adds the removal of a factory's book to the transaction.
func RemoveBook(ctx context.Context, tx *store.Tx, db *store.DB, factoryID string) error {
	found, err := db.Lookup(ctx, BookKey(factoryID))
	if err == nil && found.PK != "" {
		tx.Delete(found)
	}
	return err
}
