package worker

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/transfer"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/pkg/task/queue"
)

// SearchRequest is the argument of one search.
type SearchRequest struct {
	// Now makes the messages of all due members count as lost: an operator who knows that messages were lost need not
	// wait until they are overdue.
	Now bool `json:"now"`
}

// SearchResult is the result of a search.
type SearchResult struct {
	Tasks  task.Found    `json:"tasks"`
	Events webhook.Swept `json:"events"`
	// Warned is the number of warnings of the ends of keys, and of models that factories name.
	Warned int `json:"warned"`
}

// Search finds due work. Searches may run at the same time.
type Search struct {
	db     *store.DB
	now    func() time.Time
	tasks  *task.Reconciler
	events *webhook.Sweeper
}

// NewSearch returns a search that sends to the queues in topology.Outbox.
func NewSearch[Q queue.Sender](db *store.DB, queues map[topology.Queue]Q, now func() time.Time) *Search {
	wide := map[topology.Queue]queue.Sender{}
	for name, q := range queues {
		wide[name] = queue.Wide(q)
	}
	return &Search{
		db: db, now: now,
		tasks:  task.NewReconciler(db, now, task.OverdueTasks(task.NewSender(wide), now)...),
		events: webhook.NewSweeper(db, now),
	}
}

// compareHour is the hour of the day (UTC) in which the bucket is compared with the table.
const compareHour = 3

// Run searches once. A failure in one part does not prevent the others.
func (s *Search) Run(ctx context.Context, in SearchRequest) (r SearchResult, err error) {
	var all sync.WaitGroup
	var failed [5]error
	var retiring int
	if s.now().UTC().Hour() == compareHour {
		all.Go(func() { failed[4] = transfer.Compare(ctx, s.db, s.now()) })
	}
	all.Go(func() { r.Tasks, failed[0] = s.tasks.Run(ctx, in.Now) })
	all.Go(func() { r.Events, failed[1] = s.events.Sweep(ctx, in.Now) })
	all.Go(func() { r.Warned, failed[2] = apikey.WarnExpiring(ctx, s.db, s.now()) })
	all.Go(func() { retiring, failed[3] = factory.WarnRetiring(ctx, s.db, s.now()) })
	all.Wait()
	r.Warned += retiring
	counted := account.Waited(ctx, s.db, s.now(), r.Tasks.Oldest)
	return r, errors.Join(append(failed[:], counted)...)
}
