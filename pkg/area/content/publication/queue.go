package publication

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/clock"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

const (
	// MaxQueued bounds the accounts of an item that takes the next slot: each takes two more writes of a transaction.
	MaxQueued = 8
	// queueWindow is the time for which the slots of an account are read at once.
	queueWindow = 14 * 24 * time.Hour
	// keepClaim is the time for which a claim stays after its slot.
	keepClaim = 24 * time.Hour
)

// claimKind is the kind of the claim of an item to a slot of an account. Its key is the account and the time, so that a
// slot is claimed once.
const claimKind = "publish_slot"

// Times is the schedule of a factory.
type Times struct {
	Zone *time.Location
	// Clock are the times of day, as HH:MM.
	Clock []string
	// Factory is the id of the factory, and Accounts are its social accounts.
	Factory  string
	Accounts []string
	// Skip reports whether a time is left out. Nil leaves none out.
	Skip func(time.Time) bool
}

// Between returns the times of the schedule from a time on and before another, in their order.
func (t Times) Between(from, to time.Time) (all []time.Time) {
	last := clock.Day(to.In(t.Zone))
	for day := clock.Day(from.In(t.Zone)); !day.After(last); day = day.AddDate(0, 0, 1) {
		for _, text := range t.Clock {
			at, err := clock.Parse(text)
			if err != nil {
				continue // the factory has checked them
			}
			slot := clock.Instant(day.Add(at), t.Zone).UTC()
			if !slot.Before(from) && slot.Before(to) && !slices.ContainsFunc(all, slot.Equal) &&
				(t.Skip == nil || !t.Skip(slot)) {
				all = append(all, slot)
			}
		}
	}
	slices.SortFunc(all, time.Time.Compare)
	return all
}

// Taken has the items that take times of an account, by the times as texts.
type Taken map[string]string

// At returns the item that takes a time, or an empty id.
func (t Taken) At(at time.Time) string { return t[resource.SortableTime(at)] }

func queueOf(accountID string) string { return "queue#" + accountID }

// TakenBetween returns what is planned on an account from a time on and before another: claims, which are read
// consistently, and the publications that are scheduled.
func TakenBetween(ctx context.Context, db *store.DB, accountID string, from, to time.Time) (Taken, error) {
	taken := Taken{}
	for _, q := range []store.Query{
		{Index: store.ByParent, Partition: item.AccountPartition(accountID)},
		{Index: store.Table, Partition: queueOf(accountID)},
	} {
		q.From, q.To, q.Limit, q.OldestFirst = resource.SortableTime(from), resource.SortableTime(to), 100, true
		err := db.Each(ctx, q, func(it store.Item) error {
			if q.Index == store.ByParent { // a publication, which is under its item
				at, _, _ := strings.Cut(it.Parent.SK, "#")
				taken[at] = it.PK
				return nil
			}
			var claim struct{ Item string }
			err := it.Decode(&claim)
			taken[it.SK] = claim.Item
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return taken, nil
}

// PlannedBetween returns what the items of the factory are planned for, from a time on and before another, without
// being scheduled yet: by the accounts that they name, or else all of the factory. An item of a content plan holds its
// time so.
func (t Times) PlannedBetween(ctx context.Context, db *store.DB, o tenant.Owner, from, to time.Time) (map[string]Taken,
	error) {
	planned := map[string]Taken{}
	q := store.Query{Index: store.ByDue, Partition: item.CalendarPartition(o),
		From: resource.SortableTime(from), To: resource.SortableTime(to), Limit: 100, OldestFirst: true}
	err := db.Each(ctx, q, func(it store.Item) error {
		r, err := item.Decode(&it)
		if err != nil || r.Item.FactoryID != t.Factory || r.Item.PublishAt == nil || !r.Item.Runs() &&
			r.Item.State != item.Generated {
			return err
		}
		accounts := r.Item.SocialAccountIDs
		if len(accounts) == 0 {
			accounts = t.Accounts
		}
		for _, accountID := range accounts {
			if planned[accountID] == nil {
				planned[accountID] = Taken{}
			}
			planned[accountID][resource.SortableTime(r.Item.PublishAt.Time)] = r.Item.ID
		}
		return nil
	})
	return planned, err
}

// NextSlot returns the first time of a schedule after now that no other item takes, or is planned for, on any of the
// accounts, or false if there is none. Besides has the times that the same call has taken, by their accounts.
func NextSlot(ctx context.Context, db *store.DB, t Times, accounts []string, r *item.Record, o tenant.Owner,
	now time.Time, besides []item.Slot) (at time.Time, ok bool, err error) {
	if len(t.Clock) == 0 {
		return at, false, nil
	}
	for from := now.Add(time.Millisecond); from.Before(now.Add(MaxAhead)); from = from.Add(queueWindow) {
		to := from.Add(queueWindow)
		planned, err := t.PlannedBetween(ctx, db, o, from, to)
		if err != nil {
			return at, false, err
		}
		all := make([]Taken, len(accounts))
		for i, accountID := range accounts {
			if all[i], err = TakenBetween(ctx, db, accountID, from, to); err != nil {
				return at, false, err
			}
		}
		for _, slot := range t.Between(from, to) {
			if slot.After(now.Add(MaxAhead)) {
				break
			}
			free := true
			for i, accountID := range accounts {
				by := cmp.Or(all[i].At(slot), planned[accountID].At(slot))
				free = free && (by == "" || by == r.Item.ID) &&
					!slices.Contains(besides, item.Slot{Account: accountID, At: resource.Instant(slot)})
			}
			if free {
				return slot, true, nil
			}
		}
	}
	return at, false, nil
}

// WarnOfOthers adds a warning to each publication of a scheduled item whose account gets another post in the same
// minute.
func WarnOfOthers(ctx context.Context, db *store.DB, r *item.Record, at time.Time) error {
	minute := at.UTC().Truncate(time.Minute)
	for i := range r.Item.Publications {
		pub := &r.Item.Publications[i]
		page, err := db.List(ctx, store.Query{Index: store.ByParent, Limit: 10, OldestFirst: true,
			Partition: item.AccountPartition(pub.SocialAccountID),
			From:      resource.SortableTime(minute), To: resource.SortableTime(minute.Add(time.Minute))})
		if err != nil {
			return err
		}
		pub.Warnings = []item.PublicationWarning{}
		for _, it := range page.Items {
			if it.PK != r.Item.ID {
				pub.Warnings = append(pub.Warnings, item.PublicationWarning{Code: item.SameMinute,
					Message: fmt.Sprintf("The content item %s is scheduled on the account for the same minute. Choose "+
						"another time, such as next_slot.", it.PK)})
				break
			}
		}
	}
	return nil
}

// Claim adds to the transaction that an item takes a time on accounts, instead of the slots that it has. A commit fails
// with store.ErrConflict if another item has taken one since.
func Claim(tx *store.Tx, now time.Time, o tenant.Owner, r *item.Record, at time.Time, accounts []string) {
	var wanted []item.Slot
	for _, accountID := range accounts {
		wanted = append(wanted, item.Slot{Account: accountID, At: resource.Instant(at)})
	}
	keepSlots(tx, now, o, r, wanted)
	for _, s := range wanted {
		if !slices.Contains(r.Slots, s) {
			tx.Create(claim(o, r.Item.ID, s, 0), store.ErrConflict)
			r.Slots = append(r.Slots, s)
		}
	}
}

// keepSlots adds to the transaction that an item leaves the slots that are not wanted.
func keepSlots(tx *store.Tx, now time.Time, o tenant.Owner, r *item.Record, wanted []item.Slot) {
	r.Slots = slices.DeleteFunc(slices.Clone(r.Slots), func(s item.Slot) bool {
		if slices.Contains(wanted, s) {
			return false
		}
		if s.At.After(now) { // an earlier claim may have expired
			tx.Delete(claim(o, r.Item.ID, s, 1))
		}
		return true
	})
}

// claim returns the claim of an item to a slot. It is never changed, so that its version is always 1.
func claim(o tenant.Owner, itemID string, s item.Slot, version int64) store.Item {
	return store.Item{
		Key:  store.Key{PK: queueOf(s.Account), SK: resource.SortableTime(s.At.Time)},
		Kind: claimKind, Owner: o, Version: version,
		Doc: []byte(`{"item":"` + itemID + `"}`), ExpireAt: s.At.Add(keepClaim),
	}
}
