package task

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/store"
)

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
	Searched searchedParts `json:"looks,omitempty"`
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

	at    time.Time
	was   progress
	next  *store.Cursor // behind the members that are done
	marks searchedParts // of this pass
	lost  bool          // reports that a member had lost its message
	found Found
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
		p.next, p.marks = nil, p.marks.mark("", p.at)
	}
	if p.others > 0 {
		p.unsent = append(p.unsent, fmt.Errorf("and %d messages more", p.others))
	}
	return errors.Join(p.ended(err), errors.Join(p.unsent...), p.keep(ctx, item))
}

// ended returns the error of a pass. Running out of time is no error.
func (p *pass) ended(err error) error {
	if errors.Is(err, errTime) || err != nil && p.begin.Err() != nil {
		p.found.Unfinished = true
		return nil
	}
	return err
}

// keep writes the checkpoint if it makes a difference to the next run.
func (p *pass) keep(ctx context.Context, item store.Item) error {
	if !p.lost && p.next == p.was.Next {
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
	err := keepCheckpoint(ctx, p.db, &item, progress{p.next, p.was.Searched.replace(from, p.marks, until)})
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
		p.found.Oldest = max(p.found.Oldest, p.at.Sub(due))
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
		p.found.Overdue++
		p.found.Oldest = max(p.found.Oldest, late)
	}
	from := due.Add(-p.set.Ahead)
	return now || p.set.reminders(p.at.Sub(from)) > p.set.reminders(p.was.Searched.at(listed.Due.SK).Sub(from))
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
		p.lost = true
		items, err := p.whole(lost)
		if err != nil {
			return err
		}
		for i, err := range p.set.Resend(p.work, items) {
			switch {
			case err == nil:
				p.found.Resent++
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
			at = p.was.Searched.at(it.Due.SK)
		}
		p.marks = p.marks.mark(it.Due.SK, at)
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
	p.found.Aside++
	metric.PutAside("shard", p.partition, "partition", it.PK, "id", it.SK, "due", it.Due.SK, "error", err)
}
