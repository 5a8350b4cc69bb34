package task

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math/bits"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/store"
)

// Overdue is a set whose members each wait for a message.
type Overdue struct {
	Set
	// Grace is the lateness from which the message of a member counts as lost.
	Grace time.Duration
	// Ahead is added to the lateness of every member, for a set whose messages are not sent earlier by others: the
	// first message goes out when a member is due in Ahead minus Grace.
	Ahead time.Duration
	// Resend sends the messages of overdue items again. It returns an error for each item, in their order: nil for a
	// message that was sent, an error that wraps store.ErrUnreadable for an item that cannot be decoded, and
	// ErrNeedless for an item that needs no message. A superfluous message has no effect, since the stored item
	// decides.
	Resend func(ctx context.Context, items []store.Item) []error
}

// ErrNeedless reports that an item needs no message.
var ErrNeedless = errors.New("task: no message is needed")

// Reconciler finds overdue members of sets and has their messages sent again, so that the loss of a queue's messages
// loses no work. It relies on the table alone. Several reconcilers may run at the same time.
//
// Each shard of a set has its own checkpoint. A run that has no time left is continued there by the next run, and a
// shard that cannot be read delays no other.
type Reconciler struct {
	db   *store.DB
	now  func() time.Time
	sets []Overdue
}

// NewReconciler makes a reconciler of the given sets.
func NewReconciler(db *store.DB, now func() time.Time, sets ...Overdue) *Reconciler {
	return &Reconciler{db, now, sets}
}

// ReconcileResult is the result of a reconciliation.
type ReconcileResult struct {
	// Overdue counts the members that were late. Resent counts those whose messages were sent again, or for the first
	// time if they were parked. A run that continues an earlier one counts only its own members.
	Overdue int `json:"overdue"`
	Resent  int `json:"resent"`
	// Aside counts the members that needed a message and cannot be decoded.
	Aside int `json:"put_aside"`
	// Oldest is the lateness of the latest member.
	Oldest time.Duration `json:"oldest_ns"`
	// Unfinished reports that the time did not suffice, and that the next run continues.
	Unfinished bool `json:"unfinished"`
}

func (f *ReconcileResult) add(o ReconcileResult) {
	f.Overdue += o.Overdue
	f.Resent += o.Resent
	f.Aside += o.Aside
	f.Oldest = max(f.Oldest, o.Oldest)
	f.Unfinished = f.Unfinished || o.Unfinished
}

const (
	// searchMargin is the part of the function's time in which no search begins.
	searchMargin = 5 * time.Second
	// writeMargin is the part of the function's time in which only checkpoints are written.
	writeMargin = 2 * time.Second
	// atATime is the number of shards of a set that read or send at a time. The others wait for their turns, one page
	// at a time, so that all of them progress.
	atATime = 4
)

// Run searches the shards of all sets concurrently. With atOnce, the message of every due member counts as lost: an
// operator who knows that messages were lost need not wait. If the time does not suffice, the next runs continue,
// without atOnce.
//
// Scheduled work comes first: the other sets begin when the sets with Ahead have ended, or have had half of the time.
func (r *Reconciler) Run(ctx context.Context, atOnce bool) (all ReconcileResult, err error) {
	begin, cancel := before(ctx, searchMargin)
	defer cancel()
	work, cancel := before(ctx, writeMargin)
	defer cancel()
	lead, follow := half(begin)
	defer follow()

	var scheduled, running sync.WaitGroup
	found, failed := make([][]ReconcileResult, len(r.sets)), make([][]error, len(r.sets))
	start := func(i int, group *sync.WaitGroup) {
		set := &r.sets[i]
		found[i], failed[i] = make([]ReconcileResult, set.Shards), make([]error, set.Shards)
		turns := make(chan struct{}, atATime)
		for shard := range set.Shards {
			group.Go(func() {
				p := &pass{Reconciler: r, set: set, partition: set.partition(shard), atOnce: atOnce, begin: begin,
					work: work, turns: turns}
				if err := p.run(ctx); err != nil {
					failed[i][shard] = fmt.Errorf("task: reconcile %s: %w", p.partition, err)
				}
				found[i][shard] = p.result
			})
		}
	}
	for i, set := range r.sets {
		if set.Ahead > 0 {
			start(i, &scheduled)
		}
	}
	go func() {
		scheduled.Wait()
		follow()
	}()
	<-lead.Done()
	for i, set := range r.sets {
		if set.Ahead == 0 {
			start(i, &running)
		}
	}
	scheduled.Wait()
	running.Wait()
	for i := range r.sets {
		for _, f := range found[i] {
			all.add(f)
		}
		err = errors.Join(err, errors.Join(failed[i]...))
	}
	if all.Overdue > 0 {
		slog.Warn("work is overdue", "overdue", all.Overdue, "resent", all.Resent, "put_aside", all.Aside, "unfinished",
			all.Unfinished)
	}
	return all, err
}

// before returns a context that ends by a margin before the deadline of the given one.
func before(ctx context.Context, margin time.Duration) (context.Context, context.CancelFunc) {
	if deadline, ok := ctx.Deadline(); ok {
		return context.WithDeadline(ctx, deadline.Add(-margin))
	}
	return context.WithCancel(ctx)
}

// half returns a context that ends after half of the remaining time of the given one.
func half(ctx context.Context) (context.Context, context.CancelFunc) {
	if deadline, ok := ctx.Deadline(); ok {
		return context.WithTimeout(ctx, time.Until(deadline)/2)
	}
	return context.WithCancel(ctx)
}

// reminders returns the number of messages that are due for a member with the given lateness: the first after Grace,
// and one more each time that the lateness has doubled. So a queue that is merely long does not receive more and more
// messages.
func (o *Overdue) reminders(late time.Duration) int {
	return bits.Len64(uint64(max(0, late) / o.Grace))
}

const taskGrace = 2 * time.Minute

// The first message of a parked task goes out when it is due in parkedAhead minus parkedGrace, two minutes, and so at
// the second run before that at the latest. The next one goes out when the task is late by as much.
const (
	parkedAhead = 6 * time.Minute
	parkedGrace = 4 * time.Minute
)

// OverdueTasks returns the sets whose members are tasks. It sends the messages of overdue tasks again, and those of
// parked tasks that are almost due for the first time.
func OverdueTasks(s *Sender, now func() time.Time) []Overdue {
	send := resend(s, now)
	return []Overdue{
		{Set: Parked, Grace: parkedGrace, Ahead: parkedAhead, Resend: send},
		{Set: Tasks, Grace: taskGrace, Resend: send},
	}
}

func resend(s *Sender, now func() time.Time) func(context.Context, []store.Item) []error {
	return func(ctx context.Context, items []store.Item) []error {
		failed := make([]error, len(items))
		var messages []Next
		var places []int
		for i, it := range items {
			var t Task
			if failed[i] = it.Decode(&t); failed[i] == nil {
				messages, places = append(messages, *t.next(now())), append(places, i)
			}
		}
		for i, err := range s.SendAll(ctx, messages...) {
			failed[places[i]] = err
		}
		return failed
	}
}

const (
	// keysRead is the number of keys that one call reads.
	keysRead = 1000
	// page is the number of items that are read and resent together.
	page = 100
)

// progress is the document of a shard's checkpoint.
type progress struct {
	// Next is the position after which the next run continues, or nil for the beginning.
	Next *store.Cursor `json:"next,omitempty"`
	// Searched has the times at which the parts of the shard were last searched. They decide which reminders were sent.
	Searched ShardParts `json:"looks,omitempty"`
}

// pass is one run through one shard.
type pass struct {
	*Reconciler
	set       *Overdue
	partition string
	atOnce    bool
	// No read or send begins after the end of begin. One that has begun ends with work.
	begin, work context.Context
	// turns holds a value for each shard of the set that reads or sends.
	turns chan struct{}

	at         time.Time
	was        progress
	next       *store.Cursor // behind the members that are done
	marks      ShardParts    // of this pass
	memberLost bool          // reports that a member had lost its message
	result     ReconcileResult
	// unsent has the first errors of messages that could not be sent, which the next run retries. The field others
	// counts the rest.
	unsent []error
	others int
}

// mostErrors is the number of errors that a pass reports for one shard.
const mostErrors = 5

// errTime ends a pass that has no time left.
var errTime = errors.New("task: no time left")

// run searches the shard from the position at which the run before stopped, and stores its progress.
func (p *pass) run(ctx context.Context) error {
	item, err := checkpoint(p.work, p.db, p.partition)
	if err == nil && item.Version > 0 && item.Decode(&p.was) != nil {
		slog.Error("checkpoint unreadable: the shard is looked through from its beginning", "shard", p.partition)
		p.was = progress{}
	}
	if err != nil {
		return p.ended(err)
	}
	p.at = p.now().UTC()
	if p.atOnce {
		p.was = progress{}
	}
	p.next = p.was.Next
	err = p.oldest()
	for more := err == nil; more; {
		if more, err = p.read(); err != nil {
			break
		}
	}
	if err == nil {
		p.next, p.marks = nil, p.marks.Mark("", p.at)
	}
	if p.others > 0 {
		p.unsent = append(p.unsent, fmt.Errorf("and %d messages more", p.others))
	}
	return errors.Join(p.ended(err), errors.Join(p.unsent...), p.keep(ctx, item))
}

// ended returns the error of a pass. Running out of time is no error.
func (p *pass) ended(err error) error {
	if errors.Is(err, errTime) || err != nil && p.begin.Err() != nil {
		p.result.Unfinished = true
		return nil
	}
	return err
}

// keep writes the checkpoint if it makes a difference to the next run.
func (p *pass) keep(ctx context.Context, item store.Item) error {
	if !p.memberLost && p.next == p.was.Next {
		return nil
	}
	var from, until string
	if p.was.Next != nil {
		from = p.was.Next.Sort
	}
	if n := len(p.marks); n > 0 {
		until = p.marks[n-1].Until
	} else if until = from; until == "" {
		return nil // nothing was searched
	}
	err := keepCheckpoint(ctx, p.db, &item, progress{p.next, p.was.Searched.Replace(from, p.marks, until)})
	if errors.Is(err, store.ErrConflict) {
		return nil // another reconciler was faster
	}
	return err
}

// turn waits until the shard may read or send. The caller calls end afterwards.
func (p *pass) turn() (end func(), err error) {
	select {
	case p.turns <- struct{}{}:
		end = func() { <-p.turns }
	case <-p.begin.Done():
		return nil, errTime
	}
	if p.begin.Err() != nil {
		end()
		return nil, errTime
	}
	return end, nil
}

// keys reads a page of keys after a cursor.
func (p *pass) keys(after *store.Cursor, limit int) (store.Page, error) {
	end, err := p.turn()
	if err != nil {
		return store.Page{}, err
	}
	defer end()
	latest := p.at.Add(p.set.Ahead - p.set.Grace)
	if p.atOnce && latest.Before(p.at) {
		latest = p.at
	}
	return p.db.Keys(p.work, store.Query{Index: store.ByDue, Partition: p.partition, To: until(latest),
		OldestFirst: true, Limit: limit, After: after})
}

// oldest notes the lateness of the first member, if the pass does not begin with it.
func (p *pass) oldest() error {
	if p.next == nil {
		return nil
	}
	first, err := p.keys(nil, 1)
	if err != nil || len(first.Items) == 0 {
		return err
	}
	if due, err := dueAt(first.Items[0].Due); err == nil {
		p.result.Oldest = max(p.result.Oldest, p.at.Sub(due))
	}
	return nil
}

// read searches a page of keys, and reports whether there are more.
func (p *pass) read() (more bool, err error) {
	listed, err := p.keys(p.next, keysRead)
	if err != nil {
		return false, err
	}
	var seen, lost []store.Item
	for i, it := range listed.Items {
		seen = append(seen, it)
		if p.hasLost(it) {
			lost = append(lost, it)
		}
		if len(lost) == page || i == len(listed.Items)-1 {
			if err := p.resend(seen, lost); err != nil {
				return false, err
			}
			seen, lost = nil, nil
		}
	}
	if listed.Next != nil {
		p.next = listed.Next
	}
	return listed.Next != nil, nil
}

// hasLost counts an item, and reports whether its message counts as lost.
func (p *pass) hasLost(listed store.Item) bool {
	due, err := dueAt(listed.Due)
	if err != nil {
		p.aside(listed, err)
		return false
	}
	late := p.at.Sub(due)
	now := p.atOnce && late >= 0
	if now || late >= p.set.Grace {
		p.result.Overdue++
		p.result.Oldest = max(p.result.Oldest, late)
	}
	from := due.Add(-p.set.Ahead)
	return now || p.set.reminders(p.at.Sub(from)) > p.set.reminders(p.was.Searched.At(listed.Due.SK).Sub(from))
}

// resend sends the lost messages of the items in seen, and marks all of these items as searched, except those whose
// messages could not be sent.
func (p *pass) resend(seen, lost []store.Item) error {
	failed := map[string]bool{}
	if len(lost) > 0 {
		end, err := p.turn()
		if err != nil {
			return err
		}
		defer end()
		p.memberLost = true
		items, err := p.whole(lost)
		if err != nil {
			return err
		}
		for i, err := range p.set.Resend(p.work, items) {
			switch {
			case err == nil:
				p.result.Resent++
			case errors.Is(err, store.ErrUnreadable):
				p.aside(items[i], err)
			case !errors.Is(err, ErrNeedless):
				failed[items[i].Due.SK] = true
				p.report(err)
			}
		}
	}
	for _, it := range seen {
		at := p.at
		if failed[it.Due.SK] {
			at = p.was.Searched.At(it.Due.SK)
		}
		p.marks = p.marks.Mark(it.Due.SK, at)
	}
	if len(failed) > 0 && p.work.Err() != nil {
		return errTime // the next run begins with them again
	}
	if n := len(seen); n > 0 {
		last := seen[n-1]
		p.next = &store.Cursor{PK: last.PK, SK: last.SK, Sort: last.Due.SK}
	}
	return nil
}

// report notes that a message could not be sent, unless the time has run out.
func (p *pass) report(err error) {
	switch {
	case p.work.Err() != nil:
	case len(p.unsent) < mostErrors:
		p.unsent = append(p.unsent, err)
	default:
		p.others++
	}
}

// whole reads items. An item that cannot be decoded does not prevent the others from being read.
func (p *pass) whole(listed []store.Item) ([]store.Item, error) {
	items, err := p.db.Whole(p.work, store.ByDue, listed)
	if !errors.Is(err, store.ErrUnreadable) {
		return items, err
	}
	items = nil
	for i, it := range listed {
		one, err := p.db.Whole(p.work, store.ByDue, listed[i:i+1])
		switch {
		case errors.Is(err, store.ErrUnreadable):
			p.aside(it, err)
		case err != nil:
			return nil, err
		}
		items = append(items, one...)
	}
	return items, nil
}

// aside reports an item that cannot be decoded. The item stays in the set, for an operator to look into, and is tried
// again with its next reminder.
func (p *pass) aside(it store.Item, err error) {
	p.result.Aside++
	metric.PutAside("shard", p.partition, "partition", it.PK, "id", it.SK, "due", it.Due.SK, "error", err)
}

// searchedPart is the time at which a part of a shard was last searched. The part begins after the one before it, and
// ends with the sort key Until, or with the shard if Until is empty.
type searchedPart struct {
	Until string    `json:"until,omitempty"`
	At    time.Time `json:"at,omitzero"`
}

// ShardParts has the times at which the parts of a shard were last searched, in the order of their sort keys. Keys
// after the last part were never searched.
type ShardParts []searchedPart

// MostParts bounds the number of parts. Beyond it neighbors are joined into one part that has the earlier time. So some
// messages are sent once more, and none is left out.
const MostParts = 100

// At returns the time at which a sort key was last searched, or the zero time if it never was.
func (l ShardParts) At(sk string) time.Time {
	i := sort.Search(len(l), func(i int) bool { return l[i].Until == "" || sk <= l[i].Until })
	if i == len(l) {
		return time.Time{}
	}
	return l[i].At
}

// Mark adds the part up to a sort key, with the time at which it was searched. Parts must be added in the order of
// their sort keys.
func (l ShardParts) Mark(until string, at time.Time) ShardParts {
	if n := len(l); n > 0 && l[n-1].At.Equal(at) {
		l[n-1].Until = until
		return l
	}
	return append(l, searchedPart{until, at})
}

// Replace returns the parts with others in place of those after the sort key from and up to the sort key until. If from
// is empty, they begin with the shard; if until is empty, they end with it.
func (l ShardParts) Replace(from string, by ShardParts, until string) (all ShardParts) {
	add := func(until string, at time.Time) { all = all.Mark(until, at) }
	if from != "" {
		for _, k := range l {
			if k.Until == "" || k.Until >= from {
				break
			}
			add(k.Until, k.At)
		}
		add(from, l.At(from))
	}
	for _, k := range by {
		add(k.Until, k.At)
	}
	if until != "" {
		for _, k := range l {
			if k.Until == "" || k.Until > until {
				add(k.Until, k.At)
			}
		}
	}
	return all.bounded()
}

// bounded joins parts if there are too many.
func (l ShardParts) bounded() ShardParts {
	for len(l) > MostParts {
		var fewer ShardParts
		for pair := range slices.Chunk(l, 2) {
			last := pair[len(pair)-1]
			earlier := slices.MinFunc(pair,
				func(a, b searchedPart) int { return cmp.Compare(a.At.UnixNano(), b.At.UnixNano()) })
			fewer = fewer.Mark(last.Until, earlier.At)
		}
		l = fewer
	}
	return l
}

// Checkpoint is the progress of a repeated search, kept from one run to the next.
type Checkpoint struct {
	db   *store.DB
	item store.Item
	// DoneUntil is the position up to which nothing is left to do. It is empty before the first run.
	DoneUntil string `json:"done"`
}

// ReadCheckpoint reads the checkpoint of a search.
func ReadCheckpoint(ctx context.Context, db *store.DB, name string) (*Checkpoint, error) {
	it, err := checkpoint(ctx, db, name)
	c := &Checkpoint{db: db, item: it}
	if err != nil || it.Version == 0 {
		return c, err
	}
	return c, it.Decode(c)
}

// Advance moves the checkpoint forward, never back. It returns store.ErrConflict if another run has moved it since it
// was read.
func (c *Checkpoint) Advance(ctx context.Context, done string) error {
	if done <= c.DoneUntil {
		return nil
	}
	c.DoneUntil = done
	return keepCheckpoint(ctx, c.db, &c.item, c)
}

// checkpoint returns the item of a checkpoint, whose version is 0 before the first run.
func checkpoint(ctx context.Context, db *store.DB, name string) (store.Item, error) {
	key := store.IDKey("checkpoint#" + name)
	it, err := db.Get(ctx, key)
	if errors.Is(err, store.ErrNotFound) {
		return store.Item{Key: key, Kind: "checkpoint"}, nil
	}
	return it, err
}

// keepCheckpoint writes the document of a checkpoint. It returns store.ErrConflict if
// another run has written it since it was read.
func keepCheckpoint(ctx context.Context, db *store.DB, it *store.Item, doc any) error {
	if err := it.Encode(doc); err != nil {
		return err
	}
	tx := &store.Tx{}
	if it.Version == 0 {
		tx.Create(*it, nil)
	} else {
		tx.Replace(*it)
	}
	if err := db.Commit(ctx, tx); err != nil {
		return err
	}
	it.Version++
	return nil
}

// Set is a set of items that are due at a time, in store.ByDue. It is spread over shards, because the items of a busy
// stack would be too many for one partition.
type Set struct {
	Name   string
	Shards int
}

// Tasks holds the tasks that have not ended, by the time of their next step. Parked holds those whose next step is due
// later than a queue can delay a message.
var (
	Tasks  = Set{"task", 8}
	Parked = Set{"parked", 8}
)

// Key returns the key in store.ByDue of an item that is due at the given time, to the second.
func (s Set) Key(id string, at time.Time) store.Key {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id)) // returns no error
	return store.Key{PK: s.partition(int(h.Sum32() % uint32(s.Shards))), SK: at.UTC().Format(time.RFC3339) + "#" + id}
}

func (s Set) partition(shard int) string { return s.Name + "#" + strconv.Itoa(shard) }

// dueAt returns the time that Key was made for.
func dueAt(k store.Key) (time.Time, error) {
	at, _, _ := strings.Cut(k.SK, "#")
	return time.Parse(time.RFC3339, at)
}

// First returns the time at which the first item of the set is due, or the zero time if the set is empty.
func (s Set) First(ctx context.Context, db *store.DB) (first time.Time, err error) {
	for shard := range s.Shards {
		page, err := db.Keys(ctx, store.Query{Index: store.ByDue, Partition: s.partition(shard), Limit: 1,
			OldestFirst: true})
		if err != nil {
			return first, err
		}
		for _, it := range page.Items {
			at, err := dueAt(it.Due)
			if err != nil {
				return first, err
			}
			if first.IsZero() || at.Before(first) {
				first = at
			}
		}
	}
	return first, nil
}

// until returns the largest sort key of the items that are due before the second after the given time.
func until(at time.Time) string { return at.UTC().Format(time.RFC3339) + "#~" }
