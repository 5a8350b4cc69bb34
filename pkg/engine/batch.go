package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/job"
	"github.com/content-automation/api/pkg/ledger"
	"github.com/content-automation/api/pkg/store"
)

// batch is the job that starts the work of many resources that were accepted
// together: a transaction has not the room for all of them with their runs.
type batch struct {
	job.Job
	// Hold is what is reserved for those that have not been started.
	Hold ledger.Hold `json:"hold,omitzero"`
	// All are the pieces of work, and Done is how many of them were started.
	All  []Accepted `json:"all"`
	Done int        `json:"done"`
	Due  time.Time  `json:"due"`
}

// taskStart is the task of a batch's job.
const taskStart = "start"

// startAtOnce is how many pieces of work one transaction starts: each writes its
// resource, its run and its reservation, and a transaction takes 100 writes.
const startAtOnce = 20

// AcceptBatch is Accept for several resources of one account, all or none. One
// reservation pays for all; the ticket that each gets names the job that starts
// them. There is at least one.
func AcceptBatch(tx *store.Tx, now time.Time, all []Accepted, b ledger.Balance) (Ticket, error) {
	first := all[0]
	together := Accepted{Owner: first.Owner, Subject: first.Subject}
	for _, a := range all {
		together.Credits += a.Credits
	}
	hold, err := reserve(tx, now, together, b)
	if err != nil {
		return Ticket{}, err
	}
	j := batch{Hold: hold, All: all, Due: now, Job: job.Job{
		ID: "job#batch#" + first.Subject, Queue: job.GenerateText, Subject: first.Subject, Task: taskStart,
		Attempt: first.Attempt, Owner: first.Owner, Turn: 1,
	}}
	it, err := job.Item(now, j.Job, j)
	if err != nil {
		return Ticket{}, err
	}
	it.ExpireAt = now.Add(keepRuns)
	if err := j.write(&it); err != nil {
		return Ticket{}, err
	}
	tx.Create(it, nil)
	enter(tx, together, int64(len(all)))
	return Ticket{Batch: j.ID}, nil
}

func (b *batch) write(it *store.Item) error {
	it.Due = store.Key{}
	if b.Done < len(b.All) {
		it.Due = dueKey(b.ID, b.Due)
	}
	return it.Encode(b)
}

// startBatch starts what has not been started. A message that comes twice, or side
// by side with itself, finds what the other has started.
func (w *Worker) startBatch(ctx context.Context, j job.Job) error {
	for conflicts := 0; ; {
		it, err := w.db.Get(ctx, store.IDKey(j.ID))
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		var b batch
		if err := it.Decode(&b); err != nil {
			return err
		}
		if b.Done == len(b.All) {
			return nil
		}
		err = w.startSome(ctx, it, b)
		switch {
		case errors.Is(err, store.ErrConflict) && conflicts < maxTurns:
			conflicts++
		case err != nil:
			return fmt.Errorf("engine: start %s: %w", j.ID, err)
		}
	}
}

// startSome starts the next pieces of a batch. One whose resource was canceled or
// deleted meanwhile gets its money back.
func (w *Worker) startSome(ctx context.Context, it store.Item, b batch) error {
	some := b.All[b.Done:min(b.Done+startAtOnce, len(b.All))]
	keys := make([]store.Key, len(some))
	for i, a := range some {
		keys[i] = store.IDKey(a.Subject)
	}
	items, err := w.db.GetAll(ctx, keys...)
	if err != nil {
		return err
	}
	now, tx := w.now(), &store.Tx{}
	wanted := make([]Work, len(some))
	parts := make([]ledger.Part, len(some))
	for i, a := range some {
		if items[i].Kind != "" {
			if wanted[i], err = w.open(items[i], a.Attempt); err != nil {
				return err
			}
		}
		parts[i] = ledger.Part{Subject: a.Subject, Credits: a.Credits, Free: wanted[i] == nil}
	}
	var holds []ledger.Hold
	if b.Hold, holds, err = ledger.Split(tx, now, b.Account, b.Hold, parts); err != nil {
		return err
	}
	for i, a := range some {
		work := wanted[i]
		if work == nil {
			continue
		}
		*work.Ticket() = Ticket{Hold: holds[i]}
		changed, err := work.Item()
		if err != nil {
			return err
		}
		tx.Replace(changed)
		run, err := newRun(now, a)
		if err != nil {
			return err
		}
		tx.Create(run, nil)
	}
	b.Done += len(some)
	if err := b.write(&it); err != nil {
		return err
	}
	tx.Replace(it)
	return w.db.Commit(ctx, tx)
}
