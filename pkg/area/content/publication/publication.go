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
	"slices"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/resource"
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
	if r.State != item.Scheduled {
		if err := r.Move(item.Scheduled); err != nil {
			return err
		}
	}
	p.replace(targets, at)
	keepSlots(tx, now, o, r, slotsOf(targets, at))
	r.Ordered, r.Stays = nil, ""
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
	p.r.PublishAt = &due
	p.r.Round++
	p.r.Touch(p.now)
	begins := due.Time
	if p.Mode == tenant.Test {
		begins = p.now // the clock of the sandbox may be ahead: the task knows
	}
	return task.Create(p.tx, p.now, task.Task{
		Message: task.Message{ID: task.ID(Timer, p.r.ID, p.r.Round), Kind: Timer, Queue: topology.Publish,
			Subject: p.r.ID, Owner: p.Owner},
		DueAt: begins,
	}, timing{p.r.Round})
}

// Clear adds to the transaction that an item, generated or scheduled, is no longer to be
// published. The caller writes the item.
func Clear(tx *store.Tx, now time.Time, o tenant.Owner, r *item.Record) error {
	keepSlots(tx, now, o, r, nil)
	r.PublishAt, r.Ordered, r.Stays = nil, nil, item.WaitsForSlot
	return unplan(planner{tx, now, o, r})
}

// unplan removes the publications of an item that is not yet published.
func unplan(p planner) error {
	p.replace(nil, time.Time{})
	p.r.Touch(p.now)
	if p.r.State == item.Generated {
		return nil
	}
	return p.r.Move(item.Generated)
}

// Postpone adds to the transaction that a scheduled item waits for its approval. It is scheduled again, for its time
// and on its accounts, when it is approved. The caller writes the item.
func Postpone(tx *store.Tx, now time.Time, o tenant.Owner, r *item.Record) error {
	r.Ordered = &item.Ordered{Options: map[string]*item.PublishOptions{}}
	for _, pub := range r.Publications {
		r.Ordered.Options[pub.Platform] = pub.Options
	}
	return unplan(planner{tx, now, o, r})
}

// Await notes when and where an item that waits for its approval is published after it.
func Await(tx *store.Tx, now time.Time, o tenant.Owner, r *item.Record, targets []Target, at time.Time) {
	keepSlots(tx, now, o, r, slotsOf(targets, at))
	r.Stays = ""
	r.Lack(item.WaitsForApproval)
	due := resource.Instant(at)
	r.PublishAt, r.Ordered = &due, &item.Ordered{Options: map[string]*item.PublishOptions{}}
	for _, t := range targets {
		r.Ordered.Options[t.Account.Platform] = t.Options
	}
	r.Touch(now)
}

// Forget adds to the transaction that an item that is deleted is no longer published.
func Forget(tx *store.Tx, now time.Time, o tenant.Owner, r *item.Record) error {
	p := planner{tx, now, o, r}
	keepSlots(tx, now, o, r, nil)
	for i := range r.Publications {
		pub := &r.Publications[i]
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
	if r.State == item.Scheduled || r.State == item.Generated {
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
	for i := range p.r.Publications {
		if pub := &p.r.Publications[i]; !wanted(*pub) {
			p.leave(pub, true)
		}
	}
	p.r.Publications = slices.DeleteFunc(p.r.Publications, func(pub item.Publication) bool { return !wanted(pub) })
	for _, t := range targets {
		p.book(p.publication(t), t, at)
	}
}

// publication returns the publication to a target, or a new one if there is none.
func (p planner) publication(t Target) *item.Publication {
	pub := p.r.PublicationTo(t.Account.ID)
	if pub == nil {
		p.r.Publications = append(p.r.Publications, item.Publication{
			Resource:      resource.New(id.New(id.Publication, p.r.CreatedAt.Time), p.now, nil),
			ContentItemID: p.r.ID, SocialAccountID: t.Account.ID, Platform: t.Account.Platform,
			State:    item.PublicationPending,
			Warnings: []item.PublicationWarning{},
		})
		pub = &p.r.Publications[len(p.r.Publications)-1]
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
			ID: task.ID(Post, pub.ID, out.Attempt), Kind: Post, Queue: topology.Publish, Subject: p.r.ID,
			Owner: p.Owner,
		},
		Deadline: p.now.Add(postWithin),
	}, posting{Publication: pub.ID, Account: pub.SocialAccountID, Attempt: out.Attempt, Began: p.now,
		Sealed: out.Doubt})
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
