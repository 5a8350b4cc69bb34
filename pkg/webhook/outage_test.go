package webhook

import (
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/httpapi/apitest"
	"github.com/content-automation/api/pkg/store"
)

// network is a client some of whose hosts cannot be reached.
type network struct {
	client Caller

	mu    sync.Mutex
	down  map[string]bool
	tried map[string]int // attempts at hosts while they were down
}

func (n *network) Do(req *http.Request) (*http.Response, error) {
	n.mu.Lock()
	host := req.URL.Host
	down := n.down[host]
	if down {
		n.tried[host]++
	}
	n.mu.Unlock()
	if down {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	}
	return n.client.Do(req)
}

// set lets a receiver be reached or not.
func (n *network) set(r *receiver, down bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.down[r.host()] = down
}

// while tells how often a receiver was tried while it was down.
func (n *network) while(r *receiver) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.tried[r.host()]
}

func (r *receiver) host() string { return strings.TrimPrefix(r.server.URL, "http://") }

// cut puts a network between the deliverer and the receivers.
func (w *world) cut() *network {
	n := &network{client: w.deliverer.client, down: map[string]bool{}, tried: map[string]int{}}
	w.deliverer.client, w.patient.client = n, n
	return n
}

// allDelivered checks that the receiver has got each event once, and that each was
// delivered at its first counted attempt or after.
func (w *world) allDelivered(r *receiver, events int) {
	w.t.Helper()
	all := w.deliveries(r.hook.ID)
	for _, d := range all {
		if d.State != stateDelivered {
			w.t.Errorf("delivery %+v", d)
		}
	}
	seen := map[string]int{}
	for _, got := range r.receipts() {
		seen[got.id]++
	}
	if len(all) != events || len(seen) != events || len(r.receipts()) != events {
		w.t.Errorf("%d deliveries; %d requests for %d events, want %d", len(all), len(r.receipts()), len(seen), events)
	}
}

func TestAReceiverThatIsDownHarmsNobody(t *testing.T) {
	w := newWorld(t)
	n := w.cut()
	w.maxBatch = 10
	dead, healthy := w.receive(nil, "*"), w.receive(nil, "*")
	n.set(dead, true)
	began, total := w.clock.Now(), 0
	// Ten events a second for half a minute, and then one a minute.
	tick := func(events int, step time.Duration) {
		for range events {
			w.happen(event.ContentGenerated)
		}
		total += events
		w.run(w.clock.Now())
		if got := len(healthy.receipts()); got != total {
			t.Fatalf("%v after the first of them, the healthy one has %d of %d events", w.clock.Now().Sub(began), got, total)
		}
		w.run(w.clock.Now().Add(step))
		w.clock.Add(began.Add(time.Duration(total/10) * time.Second).Sub(w.clock.Now()))
	}
	for range 30 {
		tick(10, time.Second)
	}
	early := n.while(dead)
	if early < tripAfter || early > 2*slotsPerHook {
		t.Errorf("%d attempts in the first half minute", early)
	}
	w.run(w.clock.Now().Add(10 * time.Minute))
	if late := n.while(dead) - early; late < 10 || late > 60 {
		t.Errorf("%d attempts in ten minutes", late)
	}
	if hook := w.webhook(dead.hook.ID); hook.State != stateEnabled || hook.FailingSince == nil {
		t.Errorf("webhook %+v", hook)
	}

	down := w.clock.Now().Sub(began)
	n.set(dead, false)
	back := w.clock.Now()
	w.run()
	w.allDelivered(dead, total)
	w.allDelivered(healthy, total)
	receipts := dead.receipts()
	if took := receipts[len(receipts)-1].at.Sub(back); took > down/8 {
		t.Errorf("after %v all had arrived in %v", down, took)
	}
	if _, err := w.db.Get(t.Context(), w.owner().outageKey(dead.hook.ID)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the outage is still known: %v", err)
	}
	for _, d := range w.deliveries(dead.hook.ID) {
		if d.Failures > 1 || d.Held {
			t.Errorf("delivery %+v", d)
		}
	}
}

func TestAShortOutageIsOverWithinSeconds(t *testing.T) {
	w := newWorld(t)
	n := w.cut()
	r := w.receive(nil, "*")
	n.set(r, true)
	for range 30 {
		w.happen(event.ContentGenerated)
	}
	w.run(w.clock.Now().Add(20 * time.Second))
	n.set(r, false)
	back := w.clock.Now()
	w.run()
	w.allDelivered(r, 30)
	for _, got := range r.receipts() {
		if took := got.at.Sub(back); took > soon {
			t.Errorf("one arrived %v after the return", took)
		}
	}
}

func TestADeathAtAnyStepOfAnOutageLosesNothing(t *testing.T) {
	w := newWorld(t)
	n := w.cut()
	total := 0
	eachDeath(t, w, func(t *testing.T) {
		var r *receiver
		w.fuse.pause(func() {
			r = w.receive(nil, "content.*")
			n.set(r, true)
			for range tripAfter + 2 {
				w.happen(event.ContentGenerated)
			}
		})
		w.run(w.clock.Now().Add(10 * time.Second))
		n.set(r, false)
		w.run()
		w.fuse.pause(func() {
			total++
			got := map[string]int{}
			for _, one := range r.receipts() {
				got[one.id]++
			}
			for _, d := range w.deliveries(r.hook.ID) {
				if d.State != stateDelivered || d.Claim != nil || d.Held || got[d.EventID] < 1 || got[d.EventID] > 2 {
					t.Errorf("%d requests, delivery %+v", got[d.EventID], d)
				}
			}
			if extra := len(r.receipts()) - len(got); len(got) != tripAfter+2 || extra > tripAfter+2 {
				t.Errorf("%d requests for %d events", len(r.receipts()), len(got))
			}
			w.api.Call(http.MethodDelete, "/v1/webhooks/"+r.hook.ID, nil)
			r.server.Close()
		})
		w.clock.Add(time.Hour)
	})
}

func TestMoreIsHeldBackThanAPage(t *testing.T) {
	w := newWorld(t)
	n := w.cut()
	r := w.receive(nil, "*")
	n.set(r, true)
	const total = wakePage + 30
	for range tripAfter {
		w.happen(event.ContentGenerated)
	}
	w.run(w.clock.Now())
	for range total - tripAfter {
		w.happen(event.ContentGenerated)
	}
	w.run(w.clock.Now().Add(20 * time.Second))
	n.set(r, false)
	w.run()
	w.allDelivered(r, total)
}

func TestWhatIsHeldBackAfterTheEndIsWokenToo(t *testing.T) {
	w := newWorld(t)
	n := w.cut()
	r := w.receive(nil, "*")
	n.set(r, true)
	for range tripAfter {
		w.happen(event.ContentGenerated)
	}
	w.run(w.clock.Now().Add(11 * time.Second))
	n.set(r, false)
	for len(r.receipts()) == 0 {
		at, _ := w.next()
		w.run(at)
	}
	// What one function knows is old: it holds an event back that comes just after the
	// end.
	ref := w.happen(event.ContentGenerated)
	w.dispatch()
	d := w.delivery(ref, r.hook.ID)
	version := d.Version
	d.putOff(w.clock.Now(), w.clock.Now().Add(longestHold), true)
	if err := w.db.UpdateAll(t.Context(), d.change(w.owner(), version))[0]; err != nil {
		t.Fatal(err)
	}
	for _, q := range []*fakeQueue{w.attempts, w.slow} {
		q.messages = slices.DeleteFunc(q.messages, func(m *fakeMessage) bool { return strings.Contains(m.body, d.ID) })
	}
	began := w.clock.Now()
	w.run(began.Add(30 * time.Second))
	w.allDelivered(r, tripAfter+1)
}

func TestAnOutageIsOfOneAddress(t *testing.T) {
	w := newWorld(t)
	n := w.cut()
	r, other := w.receive(nil, "*"), w.receive(nil, "balance.low")
	other.hook.Secret = r.hook.Secret
	n.set(r, true)
	for range 10 {
		w.happen(event.ContentGenerated)
	}
	w.run(w.clock.Now().Add(7 * time.Second))
	w.api.Call(http.MethodPatch, "/v1/webhooks/"+r.hook.ID, map[string]any{"url": other.server.URL})
	moved := w.clock.Now()
	w.relay()
	w.run()
	got := other.receipts()
	if len(got) != 10 {
		t.Fatalf("%d requests", len(got))
	}
	for _, one := range got {
		if took := one.at.Sub(moved); took > soon {
			t.Errorf("one arrived after %v", took)
		}
	}
}

func TestWhatWaitsForADisabledWebhookFails(t *testing.T) {
	w := newWorld(t)
	n := w.cut()
	r := w.receive(nil, "*")
	n.set(r, true)
	for range 10 {
		w.happen(event.ContentGenerated)
	}
	w.run(w.clock.Now().Add(20 * time.Second))
	w.api.Call(http.MethodPatch, "/v1/webhooks/"+r.hook.ID, map[string]any{"state": "disabled"})
	w.run()
	for _, d := range w.deliveries(r.hook.ID) {
		if d.State != stateFailed || *d.FailedReason != failedDisabled {
			t.Errorf("delivery %+v", d)
		}
	}
	// Enabled again it starts afresh.
	w.api.Call(http.MethodPatch, "/v1/webhooks/"+r.hook.ID, map[string]any{"state": "enabled"})
	n.set(r, false)
	w.clock.Add(time.Second)
	ref := w.happen(event.ContentGenerated)
	began := w.clock.Now()
	w.run(began)
	if d := w.delivery(ref, r.hook.ID); d.State != stateDelivered {
		t.Errorf("delivery %+v", d)
	}
}

func TestWhatMakesAnOutage(t *testing.T) {
	now := apitest.NewClock().Now()
	url := hookURL
	r := &record{Webhook: Webhook{URL: &url}}
	fail := func(o outage, times int, every time.Duration) (outage, time.Time) {
		at := now
		for range times {
			o = o.failed(r, at)
			at = at.Add(every)
		}
		return o, at
	}
	if o, at := fail(outage{}, tripAfter-1, 0); o.down(r) || o.Failures != tripAfter-1 || !o.failed(r, at).down(r) {
		t.Errorf("outage %+v", o)
	}
	if o, _ := fail(outage{}, 100, tripWithin/(tripAfter-1)); o.down(r) {
		t.Errorf("failures far apart make the outage %+v", o)
	}
	o, _ := fail(outage{}, tripAfter, time.Second)
	if again := o.failed(r, now.Add(time.Hour)); again != o {
		t.Errorf("it became %+v", again)
	}
	other, enabled := hookURL+"/other", now.Add(time.Minute)
	for name, r := range map[string]*record{
		"another address": {Webhook: Webhook{URL: &other}}, "enabled since": {Webhook: Webhook{URL: &url}, EnabledAt: &enabled},
	} {
		if o.down(r) || o.failed(r, enabled).Failures != 1 {
			t.Errorf("%s: %+v", name, o)
		}
	}
	over := o
	over.ProbeAt, over.Over = nil, true
	if over.down(r) || over.failed(r, now).Failures != 1 || over.failed(r, now).Over {
		t.Errorf("after the end: %+v", over.failed(r, now))
	}
	for _, c := range []struct{ age, probe, hold time.Duration }{
		{0, 2 * time.Second, 15 * time.Second}, {30 * time.Second, 3 * time.Second, 30 * time.Second}, {time.Minute, 6 * time.Second, time.Minute},
		{20 * time.Minute, 2 * time.Minute, 5 * time.Minute}, {48 * time.Hour, 5 * time.Minute, 5 * time.Minute},
	} {
		at := o.Since.Add(c.age)
		if got := o.probed(at, 0.5).ProbeAt.Sub(at); got != c.probe {
			t.Errorf("after %v it is probed after %v, want %v", c.age, got, c.probe)
		}
		if got := o.hold(at, 0.5); got != c.hold {
			t.Errorf("after %v events wait %v, want %v", c.age, got, c.hold)
		}
		if least, most := o.hold(at, 0), o.hold(at, 1); least != c.hold*3/4 || most != c.hold*5/4 {
			t.Errorf("events wait %v to %v", least, most)
		}
	}
}

func TestAnAnswerIsNoOutage(t *testing.T) {
	w := newWorld(t)
	n := w.cut()
	r := w.receive(answers(500), "*")
	for range 3 {
		for range 2 {
			n.set(r, true)
			w.happen(event.ContentGenerated)
			w.run(w.clock.Now())
		}
		n.set(r, false)
		w.happen(event.ContentGenerated)
		w.run(w.clock.Now())
	}
	if n := len(r.receipts()); n != 3 {
		t.Errorf("%d requests", n)
	}
	for i, d := range w.deliveries(r.hook.ID) {
		if d.Held || d.Failures != 1 || d.State != statePending {
			t.Errorf("delivery %d: %+v", i, d)
		}
	}
}
