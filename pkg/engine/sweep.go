package engine

import (
	"context"
	"errors"
	"log/slog"
	"math/bits"
	"time"

	"github.com/content-automation/api/pkg/job"
	"github.com/content-automation/api/pkg/store"
)

// Overdue is how late a step must be before its message is taken for lost.
const Overdue = 2 * time.Minute

// Sweeper finds the runs whose next step is overdue, and sends its message again:
// so an emptied queue loses no work.
type Sweeper struct {
	db    *store.DB
	queue *job.Sender
	now   func() time.Time
	// every is how often it is called.
	every time.Duration
}

// NewSweeper makes a sweeper that is called as often as every says.
func NewSweeper(db *store.DB, q *job.Sender, now func() time.Time, every time.Duration) *Sweeper {
	return &Sweeper{db, q, now, every}
}

// Swept is what a sweep found and did.
type Swept struct {
	Overdue int `json:"overdue"`
	Resent  int `json:"resent"`
}

// Sweep looks through all runs that wait. With atOnce, every step that is due
// counts as overdue.
func (s *Sweeper) Sweep(ctx context.Context, atOnce bool) (done Swept, err error) {
	now := s.now()
	before := now.Add(-Overdue)
	if atOnce {
		before = now
	}
	var failed []error
	for i := range shards {
		q := store.Query{Index: store.ByDue, Partition: duePartition(i), To: before.UTC().Format(time.RFC3339) + "#~", OldestFirst: true, Limit: 100}
		var messages []job.Next
		err := s.db.Each(ctx, q, func(it store.Item) error {
			var waiting struct {
				job.Job
				Due time.Time `json:"due"`
			}
			if err := it.Decode(&waiting); err != nil {
				failed = append(failed, err) // one that cannot be read must not hide the others
				return nil
			}
			done.Overdue++
			if atOnce || s.lost(now, waiting.Due) {
				// It counts as one that came before: whoever gets it sends what follows.
				messages = append(messages, job.Next{Job: waiting.Job})
			}
			return nil
		})
		failed = append(failed, err)
		for _, err := range s.queue.SendAll(ctx, messages...) {
			if err != nil {
				failed = append(failed, err)
				continue
			}
			done.Resent++
		}
	}
	if done.Overdue > 0 {
		slog.Warn("work is overdue", "overdue", done.Overdue, "resent", done.Resent)
	}
	return done, errors.Join(failed...)
}

// lost tells whether a step that was due is to be sent again by this sweep: the
// first time after Overdue, and again each time that it is twice as late. So a
// queue that is merely long does not get ever more messages.
func (s *Sweeper) lost(now, due time.Time) bool {
	reminders := func(late time.Duration) int { return bits.Len64(uint64(max(0, late) / Overdue)) }
	return reminders(now.Sub(due)) > reminders(now.Sub(due)-s.every)
}
