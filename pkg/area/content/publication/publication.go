// Package publication publishes content items on social accounts. It schedules them, posts them by tasks, and reads the
// metrics of the posts.
//
// A publication is a row of the table under its content item, with a version of its own. A change of it writes its row,
// and the item only if the item's own state changes: item.Replace sees to that. While it is scheduled or under way, its
// row is listed at its account by its time, and late publications follow in that order. Its metrics over time are an
// item of their own.
//
// Worker has the tasks; poster.go makes a post.
package publication

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/clock"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/record/testclock"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// The kinds of tasks.
const (
	Timer task.Kind = "publish.timer"   // begins to publish an item at its time
	Post  task.Kind = "publish"         // one publication
	Read  task.Kind = "publish.metrics" // reads the metrics of a publication
	// Advance publishes what falls due by the clock of a sandbox, and reads the metrics of its posts.
	Advance task.Kind = "sandbox.advance"
)

const (
	// MaxAccounts bounds the accounts to which an item is published, because each takes up to
	// six writes of a transaction.
	MaxAccounts = 15
	// MaxAhead is the longest time ahead for which an item can be scheduled.
	MaxAhead = 180 * 24 * time.Hour
	// postWithin bounds the duration of a publication. Daily limits of platforms make it wait for hours.
	postWithin = 48 * time.Hour
	// keepQuota is the time for which the counter of a day's posts stays after the day.
	keepQuota = 30 * 24 * time.Hour
)

// Target is an account with the options of a publication to it.
type Target struct {
	Account social.Record // of no platform if there is no such account
	Limits  platform.Capabilities
	Options *item.PublishOptions
	// Param is the member of the request that names the account, and TimeParam the one that has the time. If TimeParam
	// is empty, posts are not counted, and wait for the platform.
	Param, TimeParam string
	// Posts counts the posts of the day, and TakenBy is another item that is planned on the account for the time. Both
	// are empty if they were not read.
	Posts   int64
	TakenBy string
}

// counted reports whether posts to the account are counted by the day.
func (t Target) counted() bool { return t.TimeParam != "" && t.Limits.DailyPosts > 0 }

// full returns the refusal if the account has as many posts on the day as its platform allows.
func (t Target) full(day string) *errs.Error {
	return errs.Invalid(t.TimeParam, "%s takes %d posts a day on one account, and %s has as many on %s (UTC). Choose "+
		"another day.", t.Limits.Label, t.Limits.DailyPosts, t.Account.ID, day)
}

// planner changes the publications of an item in a transaction.
type planner struct {
	tx  *store.Tx
	now time.Time
	tenant.Owner
	r *item.Record
}

// Schedule adds to the transaction that an item, generated or already scheduled, is
// published to the targets at a time. The caller writes the item.
func Schedule(tx *store.Tx, now time.Time, o tenant.Owner, r *item.Record, targets []Target, at time.Time) error {
	p := planner{tx, now, o, r}
	if r.Item.State != item.Scheduled {
		if err := r.Item.Move(item.Scheduled); err != nil {
			return err
		}
	}
	p.replace(targets, at)
	keepSlots(tx, now, o, r, slotsOf(targets, at))
	r.RequestedSchedule, r.NotPublished = nil, ""
	return p.timer(at)
}

// slotsOf returns the slots that targets take at a time.
func slotsOf(targets []Target, at time.Time) (all []item.Slot) {
	for _, t := range targets {
		all = append(all, item.Slot{Account: t.Account.ID, At: resource.Instant(at)})
	}
	return all
}

// timer starts the task that begins to publish the item.
func (p planner) timer(at time.Time) error {
	due := resource.Instant(at)
	p.r.Item.PublishAt = &due
	p.r.Round++
	p.r.Item.Touch(p.now)
	begins := due.Time
	if p.Mode == tenant.Test {
		begins = p.now // the clock of the sandbox may be ahead: the task knows
	}
	return task.Create(p.tx, p.now, task.Task{
		Message: task.Message{ID: task.ID(Timer, p.r.Item.ID, p.r.Round), Kind: Timer, Queue: topology.Publish,
			Subject: p.r.Item.ID, Owner: p.Owner},
		DueAt: begins,
	}, timing{p.r.Round})
}

// Clear adds to the transaction that an item, generated or scheduled, is no longer to be
// published. The caller writes the item.
func Clear(tx *store.Tx, now time.Time, o tenant.Owner, r *item.Record) error {
	keepSlots(tx, now, o, r, nil)
	r.Item.PublishAt, r.RequestedSchedule, r.NotPublished = nil, nil, item.WaitsForSlot
	return unplan(planner{tx, now, o, r})
}

// unplan removes the publications of an item that is not yet published.
func unplan(p planner) error {
	p.replace(nil, time.Time{})
	p.r.Item.Touch(p.now)
	if p.r.Item.State == item.Generated {
		return nil
	}
	return p.r.Item.Move(item.Generated)
}

// Postpone adds to the transaction that a scheduled item waits for its approval. It is scheduled again, for its time
// and on its accounts, when it is approved. The caller writes the item.
func Postpone(tx *store.Tx, now time.Time, o tenant.Owner, r *item.Record) error {
	r.RequestedSchedule = &item.ScheduleRequest{Options: map[string]*item.PublishOptions{}}
	for _, pub := range r.Item.Publications {
		r.RequestedSchedule.Options[pub.Platform] = pub.Options
	}
	return unplan(planner{tx, now, o, r})
}

// Await notes when and where an item that waits for its approval is published after it.
func Await(tx *store.Tx, now time.Time, o tenant.Owner, r *item.Record, targets []Target, at time.Time) {
	keepSlots(tx, now, o, r, slotsOf(targets, at))
	r.NotPublished = ""
	r.SetWaitsFor(item.WaitsForApproval)
	due := resource.Instant(at)
	r.Item.PublishAt, r.RequestedSchedule = &due, &item.ScheduleRequest{Options: map[string]*item.PublishOptions{}}
	for _, t := range targets {
		r.RequestedSchedule.Options[t.Account.Platform] = t.Options
	}
	r.Item.Touch(now)
}

// Forget adds to the transaction that an item that is deleted is no longer published.
func Forget(tx *store.Tx, now time.Time, o tenant.Owner, r *item.Record) error {
	p := planner{tx, now, o, r}
	keepSlots(tx, now, o, r, nil)
	for i := range r.Item.Publications {
		pub := &r.Item.Publications[i]
		if p.leave(pub, true); pub.Metrics != nil {
			tx.Expire(item.ReadingsKey(pub.ID), now)
		}
		if pub.PublishedAt != nil {
			tx.Expire(DossierKey(pub.ID), now)
		}
	}
	return r.RemoveRows(tx)
}

// Publish adds to the transaction that an item is published now to the targets that have not taken
// it. The caller writes the item.
func Publish(tx *store.Tx, now time.Time, o tenant.Owner, r *item.Record, targets []Target) error {
	p := planner{tx, now, o, r}
	if r.Item.State == item.Scheduled || r.Item.State == item.Generated {
		p.replace(targets, now)
		keepSlots(tx, now, o, r, nil)
	}
	if err := r.Begin(tx, now); err != nil {
		return err
	}
	for _, t := range targets {
		pub := p.publication(t)
		if pub.Taken() {
			continue
		}
		p.book(pub, t, now)
		if err := p.start(pub); err != nil {
			return err
		}
	}
	return nil
}

// replace replaces the pending publications of the item by those to the targets.
func (p planner) replace(targets []Target, at time.Time) {
	wanted := func(pub item.Publication) bool {
		return slices.ContainsFunc(targets, func(t Target) bool { return t.Account.ID == pub.SocialAccountID })
	}
	for i := range p.r.Item.Publications {
		if pub := &p.r.Item.Publications[i]; !wanted(*pub) {
			p.leave(pub, true)
		}
	}
	p.r.Item.Publications = slices.DeleteFunc(p.r.Item.Publications,
		func(pub item.Publication) bool { return !wanted(pub) })
	for _, t := range targets {
		p.book(p.publication(t), t, at)
	}
}

// publication returns the publication to a target, or a new one if there is none.
func (p planner) publication(t Target) *item.Publication {
	pub := p.r.Item.PublicationTo(t.Account.ID)
	if pub == nil {
		p.r.Item.Publications = append(p.r.Item.Publications, item.Publication{
			Resource:      resource.New(id.New(id.Publication, p.r.Item.CreatedAt.Time), p.now, nil),
			ContentItemID: p.r.Item.ID, SocialAccountID: t.Account.ID, Platform: t.Account.Platform,
			State:    item.PublicationPending,
			Warnings: []item.PublicationWarning{},
		})
		pub = &p.r.Item.Publications[len(p.r.Item.Publications)-1]
	} else {
		pub.Touch(p.now)
	}
	pub.Options = t.Options
	return pub
}

// start starts the task of a publication.
func (p planner) start(pub *item.Publication) error {
	out := &pub.Posting
	out.Attempt++
	pub.State, pub.Failure, pub.Warnings = item.PublicationPublishing, nil, []item.PublicationWarning{}
	pub.Touch(p.now)
	return task.Create(p.tx, p.now, task.Task{
		Message: task.Message{
			ID: task.ID(Post, pub.ID, out.Attempt), Kind: Post, Queue: topology.Publish, Subject: p.r.Item.ID,
			Owner: p.Owner,
		},
		Deadline: p.now.Add(postWithin),
	}, posting{Publication: pub.ID, Account: pub.SocialAccountID, Attempt: out.Attempt, Began: p.now,
		SealedProgress: out.Doubt})
}

// book gives a publication its place at its account for a time, and counts it on its day.
func (p planner) book(pub *item.Publication, t Target, at time.Time) {
	at = resource.Instant(at).Time
	out := &pub.Posting
	if out.At.IsZero() {
		p.tx.Count(social.ScheduledKey(pub.SocialAccountID), 1, social.MaxScheduled,
			errs.New(errs.QueueFull, "Too many content items are scheduled to the account %s.", pub.SocialAccountID))
	}
	out.At = at
	if day := Day(at); t.counted() && out.Day != day {
		p.uncount(pub)
		p.tx.CountUntil(QuotaKey(pub.SocialAccountID, day), 1, int64(t.Limits.DailyPosts), at.Add(keepQuota),
			t.full(day))
		out.Day = day
	}
}

// leave takes a publication off its place at its account. refund reports whether nothing was posted, so that the
// publication no longer counts on its day.
func (p planner) leave(pub *item.Publication, refund bool) {
	out := &pub.Posting
	if out.At.IsZero() {
		return
	}
	p.tx.Count(social.ScheduledKey(pub.SocialAccountID), -1, social.MaxScheduled, store.ErrConflict)
	if refund {
		p.uncount(pub)
	}
	out.At, out.Day = time.Time{}, ""
}

// uncount removes a publication from the count of its day, unless the day is over.
func (p planner) uncount(pub *item.Publication) {
	if day := pub.Posting.Day; day >= Day(p.now) {
		p.tx.Count(QuotaKey(pub.SocialAccountID, day), -1, social.MaxScheduled, store.ErrConflict)
	}
}

// Day returns the day (UTC) of a time, by which posts are counted.
func Day(at time.Time) string { return at.UTC().Format(time.DateOnly) }

// QuotaKey is the key of the counter of an account's posts on a day (UTC).
func QuotaKey(accountID, day string) store.Key { return store.IDKey("posts#" + accountID + "#" + day) }

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

// TakenTimes has the items that take times of an account, by the times as texts.
type TakenTimes map[string]string

// At returns the item that takes a time, or an empty id.
func (t TakenTimes) At(at time.Time) string { return t[resource.SortableTime(at)] }

func queueOf(accountID string) string { return "queue#" + accountID }

// TakenBetween returns what is planned on an account from a time on and before another: claims, which are read
// consistently, and the publications that are scheduled.
func TakenBetween(ctx context.Context, db *store.DB, accountID string, from, to time.Time) (TakenTimes, error) {
	taken := TakenTimes{}
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
func (t Times) PlannedBetween(ctx context.Context, db *store.DB, o tenant.Owner, from,
	to time.Time) (map[string]TakenTimes,
	error) {
	planned := map[string]TakenTimes{}
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
				planned[accountID] = TakenTimes{}
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
		all := make([]TakenTimes, len(accounts))
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

// atOnce is the number of items that one call of a cleaner changes.
const atOnce = 25

// AccountCleaner removes an account that was disconnected from the items that are scheduled to it.
// It implements social.Cleaner. Items that are being published end without it.
type AccountCleaner struct {
	DB  *store.DB
	Now func() time.Time
}

// Clean implements social.Cleaner.
func (c AccountCleaner) Clean(ctx context.Context, o tenant.Owner, accountID string) (more bool, err error) {
	q := store.Query{Index: store.ByParent, Partition: item.AccountPartition(accountID), OldestFirst: true,
		Limit: atOnce}
	for {
		page, err := c.DB.List(ctx, q)
		if err != nil {
			return false, err
		}
		for _, it := range page.Items {
			withdrawn, err := change(ctx, c.DB, o, it.PK,
				func(tx *store.Tx, r *item.Record) (bool, error) { return withdraw(tx, c.Now(), o, r, accountID) })
			if err != nil {
				return false, err
			}
			more = more || withdrawn
		}
		if more || page.Next == nil {
			return more, nil
		}
		q.After = page.Next
	}
}

// withdraw removes an account from a scheduled item. If it was the last account, the item is no longer scheduled.
func withdraw(tx *store.Tx, now time.Time, o tenant.Owner, r *item.Record, accountID string) (bool, error) {
	pub := r.Item.PublicationTo(accountID)
	if r.Item.State != item.Scheduled || pub == nil || pub.State != item.PublicationPending {
		return false, nil
	}
	r.Item.SocialAccountIDs = slices.DeleteFunc(slices.Clone(r.Item.SocialAccountIDs),
		func(id string) bool { return id == accountID })
	if len(r.Item.Publications) == 1 {
		return true, unschedule(tx, now, o, r)
	}
	planner{tx, now, o, r}.leave(pub, true)
	r.Item.Publications = slices.DeleteFunc(r.Item.Publications,
		func(p item.Publication) bool { return p.SocialAccountID == accountID })
	r.Item.Touch(now)
	return true, r.Notify(tx, o, event.ContentScheduled)
}

// unschedule clears the schedule of an item, and adds the event.
func unschedule(tx *store.Tx, now time.Time, o tenant.Owner, r *item.Record) error {
	if err := Clear(tx, now, o, r); err != nil {
		return err
	}
	return r.Notify(tx, o, event.ContentUnscheduled)
}

// change changes an item in a separate transaction, and reports whether it did.
func change(ctx context.Context, db *store.DB, o tenant.Owner, itemID string,
	f func(*store.Tx, *item.Record) (bool, error)) (bool, error) {
	it, r, _, err := item.Lookup(ctx, db, o, itemID)
	if err != nil || r == nil {
		return false, err
	}
	tx := &store.Tx{}
	changed, err := f(tx, r)
	if err != nil || !changed {
		return false, err
	}
	if err := item.Replace(tx, it, r); err != nil {
		return false, err
	}
	return true, db.Commit(ctx, tx)
}

// FactoryCleaner clears the schedule of the items of a factory that was deleted. It implements factory.Cleaner.
type FactoryCleaner struct {
	DB  *store.DB
	Now func() time.Time
}

// Clean implements factory.Cleaner.
func (c FactoryCleaner) Clean(ctx context.Context, o tenant.Owner, factoryID string) (more bool, err error) {
	q := store.Query{Index: store.ByParent, Partition: item.ParentPartition(o, factoryID),
		Filters: map[string]string{"state": string(item.Scheduled)}, OldestFirst: true, Limit: atOnce}
	return c.DB.Some(ctx, q, func(it store.Item) error {
		_, err := change(ctx, c.DB, o, it.PK, func(tx *store.Tx, r *item.Record) (bool, error) {
			if r.Item.State != item.Scheduled {
				return false, nil
			}
			return true, unschedule(tx, c.Now(), o, r)
		})
		return err
	})
}

// aged returns the time that a post is older than the real clock says. A post that the clock of a sandbox has published
// at its planned time counts from that time.
func aged(c testclock.Clock, r *item.Record, pub *item.Publication) time.Duration {
	if pub.PublishedAt == nil {
		return 0
	}
	after := c.Since(pub.PublishedAt.Time)
	if r.Item.PublishAt == nil {
		return after
	}
	early, all := r.Item.PublishAt.Sub(pub.PublishedAt.Time), c.Ahead()
	if early <= 0 || all-after < early { // it was published at its time, or before it by a call
		return after
	}
	return all - early
}

// Preview returns what a publication posts, or will post, as its platform arranges and counts it. Without an account,
// it is what the platform gets of any account.
func Preview(r *item.Record, pub *item.Publication, limits platform.Capabilities) item.Preview {
	words := r.Words(pub.Platform, pub.SocialAccountID)
	post := platform.Post{Kind: platform.Kind(r.Item.Kind), Title: string(words.Title), Caption: string(words.Caption),
		Hashtags: words.Hashtags, Media: make([]platform.Media, len(words.Files)),
		Options: platform.Options{Own: options(pub, limits)}}
	rule, text := limits.Rule(post), platform.Arrange(post, limits)
	p := item.Preview{Platform: pub.Platform, Text: resource.Text(text.Body), Rest: resource.Text(text.SecondMessage),
		Hashtags: []string{},
		MediaIDs: []string{}, Counts: []item.Count{}}
	if pub.SocialAccountID != "" {
		accountID := pub.SocialAccountID
		p.SocialAccountID = &accountID
	}
	if len(text.Tags) > 0 {
		p.Hashtags = text.Tags
	}
	for _, f := range words.Files {
		p.MediaIDs = append(p.MediaIDs, f.ID)
	}
	count := func(of, s string, limit platform.Text) {
		unit := limit.Unit
		unit = cmp.Or(unit, platform.Runes)
		p.Counts = append(p.Counts, item.Count{Of: of, Count: limit.Length(s), Max: limit.Max, Unit: string(unit)})
	}
	if rule.Title.Max > 0 {
		p.Title = resource.Text(text.Title)
		count("title", text.Title, rule.Title)
	}
	limit := rule.Caption
	if len(words.Files) == 0 && rule.Rest.Max > 0 {
		limit = rule.Rest
	}
	count("caption", text.Body, limit)
	if text.SecondMessage != "" {
		count("rest", text.SecondMessage, rule.Rest)
	}
	p.Counts = append(p.Counts,
		item.Count{Of: "hashtags", Count: len(words.Hashtags), Max: limits.Hashtags.Max, Unit: "hashtags"},
		item.Count{Of: "media", Count: len(words.Files), Max: rule.MaxMedia, Unit: "media"})
	return p
}

// options returns the platform's own options of a publication, or nil.
func options(pub *item.Publication, limits platform.Capabilities) any {
	if pub.Options == nil {
		return nil
	}
	o, _, err := limits.Wishes(pub.Options.RawMessage)
	if err != nil {
		return nil
	}
	return o.Own
}

// Previews returns the previews of an item: one for each publication, or else for each variant.
func Previews(r *item.Record, capabilities func(platform string) (platform.Capabilities, bool)) []item.Preview {
	all := []item.Preview{}
	add := func(pub item.Publication) {
		if limits, ok := capabilities(pub.Platform); ok {
			all = append(all, Preview(r, &pub, limits))
		}
	}
	for _, pub := range r.Item.Publications {
		add(pub)
	}
	if len(all) > 0 {
		return all
	}
	for _, key := range r.Item.VariantKeys() {
		if of := r.VariantPlatforms[key]; of != "" {
			add(item.Publication{Platform: of, SocialAccountID: key})
		} else {
			add(item.Publication{Platform: key})
		}
	}
	return all
}
