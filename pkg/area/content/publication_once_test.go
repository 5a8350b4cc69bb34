package content_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// hooked is an adapter whose start and finalize a test observes or replaces.
type hooked struct {
	platform.Adapter
	start    func()
	finalize func() error
}

// Start implements platform.Publisher.
func (h hooked) Start(ctx context.Context, a platform.Account, p platform.Post) (platform.Step, error) {
	if h.start != nil {
		h.start()
	}
	return h.Adapter.Start(ctx, a, p)
}

// Finalize implements platform.Publisher.
func (h hooked) Finalize(ctx context.Context, a platform.Account, p platform.Post, handle platform.Handle) (
	platform.Step, error) {
	if h.finalize != nil {
		return platform.Step{}, h.finalize()
	}
	return h.Adapter.Finalize(ctx, a, p, handle)
}

// hook sets what the test does in the calls of the platform.
func (w *publicationWorld) hook(h hooked) {
	h.Adapter, _ = w.worker.Platforms.Of(owner.Mode, "")
	w.worker.Platforms = only{h}
}

// setState changes the state of an account.
func (w *publicationWorld) setState(id string, state social.State) {
	w.t.Helper()
	it, err := w.db.Get(context.Background(), store.IDKey(id))
	if err != nil {
		w.t.Fatal(err)
	}
	r, err := social.Decode(&it)
	if err != nil {
		w.t.Fatal(err)
	}
	if r.State == state {
		return
	}
	r.State = state
	if err := r.WriteTo(&it); err != nil {
		w.t.Fatal(err)
	}
	w.commit(func(tx *store.Tx) error { tx.Replace(it); return nil })
}

// lose publishes until the answer to the call that makes the post is lost.
func (w *publicationWorld) lose() {
	w.t.Helper()
	sent := false
	w.hook(hooked{finalize: func() error { sent = true; return errors.New("connection reset") }})
	w.publish()
	for range 20 {
		if w.deliver(w.due(), 1); sent {
			return
		}
		w.clock.Advance(5 * time.Second)
	}
	w.t.Fatal("nothing was sent")
}

// inDoubt fails the test unless the only publication failed because its outcome is unknown, and keeps what another
// attempt needs to know.
func (w *publicationWorld) inDoubt(r *item.Record) {
	w.t.Helper()
	pub := r.Item.Publications[0]
	doubt := pub.Posting.Doubt
	if pub.Failure == nil || pub.Failure.Code != string(platform.CodeOutcomeUnknown) || len(doubt) == 0 {
		w.t.Errorf("it ended with %+v, and %d bytes about the doubt", pub.Failure, len(doubt))
	}
}

// A message may arrive at a second function while the first one uploads.
func TestOneFunctionUploads(t *testing.T) {
	w := newPublicationWorld(t, "telegram")
	w.publish()
	messages, starts := w.due(), 0
	w.hook(hooked{start: func() {
		if starts++; starts == 1 {
			_, _ = w.kernel().Do(t.Context(), messages[0], "")
		}
	}})
	w.deliver(messages, 1)
	if starts != 1 {
		t.Errorf("%d functions upload the post at once", starts)
	}
}

// The task of an attempt that another one has followed does nothing: both would post.
func TestAnEarlierAttemptDoesNotPost(t *testing.T) {
	w := newPublicationWorld(t, "telegram")
	w.publish()
	w.change(func(r *item.Record) {
		r.Item.Publications[0].Posting.Attempt++
	})
	for range 10 {
		w.deliver(w.due(), 1)
		w.clock.Advance(10 * time.Second)
	}
	if calls := w.fake.Calls(); calls != 0 {
		t.Errorf("it makes %d calls: %v", calls, w.fake.Posts())
	}
}

// The post may exist although the account was disconnected before its outcome was found.
func TestADisconnectedAccountInDoubt(t *testing.T) {
	w := newPublicationWorld(t, "telegram")
	w.lose()
	w.setState(w.account.ID, social.Disconnected)
	w.inDoubt(w.end())
}

// The post may exist although its outcome was not found before the deadline.
func TestATimeoutInDoubt(t *testing.T) {
	w := newPublicationWorld(t, "telegram")
	w.lose()
	w.clock.Advance(49 * time.Hour)
	w.inDoubt(w.end())
}

// An item that was rescheduled is published by the timer of its present time alone.
func TestATimerOfAnEarlierScheduleIsIgnored(t *testing.T) {
	w := newPublicationWorld(t, "telegram")
	at := w.clock.Now().Add(2 * time.Hour)
	for _, at := range []time.Time{at.Add(-time.Hour), at} {
		w.write(func(tx *store.Tx, r *item.Record) error {
			return publication.Schedule(tx, w.clock.Now(), owner, r, []publication.Target{{Account: w.account}}, at)
		})
	}
	w.clock.Advance(2 * time.Hour)
	for _, m := range w.due(publication.Timer) {
		if m.ID == task.ID(publication.Timer, w.item, 1) {
			w.deliver([]task.Message{m}, 1)
		}
	}
	if _, r := w.read(); r.Item.State != item.Scheduled {
		t.Errorf("the earlier timer makes it %s", r.Item.State)
	}
	w.deliver(w.due(publication.Timer), 1)
	if r := w.end(); r.Item.State != item.Published {
		t.Errorf("it is %s", r.Item.State)
	}
}

// An item of which an account refused the post is published again to that account alone.
func TestWhatWasTakenIsNotPostedAgain(t *testing.T) {
	w := newPublicationWorld(t, "telegram")
	second := w.connect("soc_2", "telegram", fakes["telegram"].account)
	publish := func() *item.Record {
		w.write(func(tx *store.Tx, r *item.Record) error {
			return publication.Publish(tx, w.clock.Now(), owner, r,
				[]publication.Target{{Account: w.account}, {Account: second}})
		})
		return w.end()
	}
	w.setState(second.ID, social.NeedsReconnect)
	first := publish().Item.Publications[0].PublishedAt
	w.setState(second.ID, social.Connected)
	r := publish()
	if posts := w.fake.Posts(); len(posts) != 2 || first == nil ||
		!r.Item.Publications[0].PublishedAt.Equal(first.Time) ||
		r.Item.Publications[1].State != item.PublicationPublished {
		t.Errorf("there are %d posts of two publications: %+v", len(posts), r.Item.Publications)
	}
}
