package content_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/pkg/task/queue"
)

var dueAtOnce = flag.Int("due", 100, "how many items are due at one time")

// sent are the messages that are sent to a queue.
type sent struct {
	mu  sync.Mutex
	all []queue.Message
}

// Send implements queue.Sender.
func (s *sent) Send(_ context.Context, messages ...queue.Message) []error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, messages...)
	return make([]error, len(messages))
}

// Items that are due at one time all get their message before it, once, held back until
// then, and each starts once.
func TestManyItemsAreDueAtOnce(t *testing.T) {
	w := newPublicationWorld(t, "telegram")
	w.worker.Platforms = social.NewPlatforms(social.PlatformsConfig{Now: w.clock.Now})
	o := tenant.Of("acc_1", tenant.Live) // in a sandbox the clock may be ahead, so that a timer looks at once
	at := w.clock.Now().Add(24 * time.Hour)
	for n := range *dueAtOnce {
		w.scheduleOne(o, n, at)
	}
	w.clock.Advance(23*time.Hour + 45*time.Minute)
	messages := &sent{}
	queues := map[topology.Queue]queue.Sender{}
	for _, q := range topology.Outbox {
		queues[q] = queue.Wide(messages)
	}
	search := task.NewReconciler(w.db, w.clock.Now, task.OverdueTasks(task.NewSender(queues), w.clock.Now)...)
	var sentAt []time.Time
	for ; w.clock.Now().Before(at); w.clock.Advance(time.Minute) {
		if _, err := search.Run(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		for len(sentAt) < len(messages.all) {
			sentAt = append(sentAt, w.clock.Now())
		}
	}
	timers := map[string]int{}
	var all []task.Message
	for i, m := range messages.all {
		var told task.Message
		if err := json.Unmarshal([]byte(m.Body), &told); err != nil {
			t.Fatal(err)
		}
		if told.Kind == social.Measure {
			continue // the reading of the account, which is due from the connection on
		}
		timers[told.ID]++
		if arrives := sentAt[i].Add(m.Delay); timers[told.ID] > 1 || !arrives.Equal(at) {
			t.Fatalf("the message %d of %s arrives at %v, want one at %v", timers[told.ID], told.ID, arrives, at)
		}
		all = append(all, told)
	}
	if len(all) != *dueAtOnce {
		t.Fatalf("%d messages were sent", len(all))
	}
	began := time.Now()
	w.take(all)
	begun := time.Since(began)
	posts := w.due()
	if len(posts) != *dueAtOnce {
		t.Fatalf("%d publications have started", len(posts))
	}
	started := map[string]bool{}
	for _, m := range posts {
		started[m.Subject] = true
	}
	last := w.take(posts)
	t.Logf("%d items: all are begun after %v, the last publication starts after %v", *dueAtOnce,
		begun.Round(time.Millisecond), (begun + last).Round(time.Millisecond))
	if len(started) != *dueAtOnce {
		t.Errorf("%d items have started", len(started))
	}
}

// take takes a step for each message, as 50 functions with five messages each do, and
// returns when the last one began.
func (w *publicationWorld) take(messages []task.Message) (last time.Duration) {
	w.t.Helper()
	began, next := time.Now(), atomic.Int64{}
	var latest atomic.Int64
	var all sync.WaitGroup
	for range 250 {
		kernel := w.kernel()
		all.Go(func() {
			for {
				n := int(next.Add(1)) - 1
				if n >= len(messages) {
					return
				}
				latest.Store(max(latest.Load(), int64(time.Since(began))))
				if _, err := kernel.Do(w.t.Context(), messages[n], ""); err != nil {
					w.t.Error(err)
				}
			}
		})
	}
	all.Wait()
	return time.Duration(latest.Load())
}

// scheduleOne schedules an item to an account of its own.
func (w *publicationWorld) scheduleOne(o tenant.Owner, n int, at time.Time) {
	w.t.Helper()
	now := w.clock.Now()
	acct := social.Record{Account: social.Account{Resource: resource.New(fmt.Sprint("soc_many", n), now, nil),
		Platform: "telegram", FactoryIDs: []string{}, State: social.Connected}}
	var err error
	if acct.SealedAccount, err = w.worker.Vault.Seal(w.t.Context(), o, acct.ID,
		platform.Account{ID: acct.ID, Token: platform.Token{Access: "token"}}); err != nil {
		w.t.Fatal(err)
	}
	_, made := w.read()
	r := *made
	r.Item.Resource = resource.New(fmt.Sprint("cnt_many", n), now, nil)
	r.Item.Publications, r.Item.State = nil, item.Generated
	w.commit(func(tx *store.Tx) error {
		held, err := acct.Item(o)
		if err != nil {
			return err
		}
		tx.Create(held, nil)
		if err := publication.Schedule(tx, now, o, &r, []publication.Target{{Account: acct}}, at); err != nil {
			return err
		}
		return r.Create(tx, o)
	})
}
