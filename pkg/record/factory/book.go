package factory

import (
	"context"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

// BookKind is the kind of a factory's book of plans.
const BookKind = "content_plan_book"

// Book has the planned days of a factory. Every transaction that creates or ends plans writes it, so that no plan
// begins on days that another plan has taken, or after the factory was deleted.
type Book struct {
	Plans []Booked `json:"plans"`
	// Deleted reports that the factory was deleted.
	Deleted bool `json:"deleted,omitempty"`
}

// Booked is a plan in the book: its id and its first and last day.
type Booked struct {
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
func (p *Booked) shares(other Booked) bool {
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
func (p *Booked) whole(other Booked) bool {
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
func (b *Book) Overlapping(other Booked) (found []Booked) {
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
func (b *Book) Add(p Booked, replaced []string, before time.Time) (canceled []string) {
	day := before.Format(time.DateOnly)
	b.Plans = slices.DeleteFunc(b.Plans, func(p Booked) bool { return p.Last < day })
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
	return b.Deleted || slices.ContainsFunc(b.Plans, func(p Booked) bool { return p.ID == planID && p.Canceled })
}

// RemoveBook adds the removal of a factory's book to the transaction.
func RemoveBook(ctx context.Context, tx *store.Tx, db *store.DB, factoryID string) error {
	found, err := db.Lookup(ctx, BookKey(factoryID))
	if err == nil && found.PK != "" {
		tx.Delete(found)
	}
	return err
}
