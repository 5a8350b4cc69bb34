package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
)

// row is a line of the table: a fault that happens while events are on their way.
type row struct {
	name string
	// begin prepares the scene before the load. It is nil if there is nothing to prepare.
	begin func(ctx context.Context, s *scene) error
	// happen causes the fault, and returns when it has ended.
	happen func(ctx context.Context, s *scene) error
	bounds bounds
	// against names the row whose number of submissions to providers bounds that of this one.
	against string
}

// scene is one run of a row: an account of its own, and the load.
type scene struct {
	*world
	client *client
	// factory is the factory for the work of a live key.
	factory string
	load    *load
	// left returns the number of pieces of accepted work that have not ended.
	left func(context.Context) (int, error)
	// mailbox receives the events of the webhook, if there is one.
	mailbox *mailbox
	webhook string

	mu       sync.Mutex
	hits     int
	inFlight int
	ended    time.Time // when the fault ended
}

// size sets the length and the load of a run.
type size struct {
	// events and jobs are the numbers of events and jobs of a row.
	events, jobs int
	every        time.Duration // from one request to the next
	// within is the time to wait for a further result before those that are left count as lost.
	within time.Duration
	// kills is the number of times that a function is killed.
	kills int
}

// play runs a row in its scene, and returns when all its work has ended.
func (s *scene) play(ctx context.Context, r row, sz size) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if r.begin != nil {
		if err := r.begin(ctx, s); err != nil {
			return err
		}
	}
	loaded := make(chan error, 1)
	go func() {
		err := s.load.run(ctx)
		if err != nil {
			cancel() // releases those that wait for it
		}
		loaded <- err
	}()
	err := s.load.reached(ctx, s.load.events/4)
	if err == nil {
		err = s.happen(ctx, r, sz.within)
	}
	if err != nil {
		cancel()
	}
	if failed := <-loaded; failed != nil && (err == nil || errors.Is(err, context.Canceled)) {
		err = failed
	}
	if err != nil {
		return err
	}
	return s.settle(ctx, sz.within)
}

func (s *scene) happen(ctx context.Context, r row, within time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, within,
		fmt.Errorf("the fault did not happen as often as it should within %v", within))
	defer cancel()
	if err := r.happen(ctx, s); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended.IsZero() {
		s.ended = time.Now()
	}
	return nil
}

// newScene creates a scene for events on their way to a webhook. Content items of the sandbox cause the events.
func (w *world) newScene(ctx context.Context, name string, sz size) (*scene, error) {
	key, err := w.newKey(ctx, name, tenant.Test)
	if err != nil {
		return nil, err
	}
	s := &scene{world: w, client: &client{&http.Client{}, w.system.BaseURL, key}}
	s.mailbox = w.receiver.open(key[len(key)-12:])
	if s.webhook, err = s.client.newWebhook(ctx, s.mailbox); err != nil {
		return nil, err
	}
	factory, err := s.client.newFactory(ctx)
	if err != nil {
		return nil, err
	}
	s.load = &load{client: s.client, events: sz.events, every: sz.every, callers: callers,
		ask: func(n int) (string, map[string]any) {
			return "/v1/content-items", map[string]any{"factory_id": factory, "kind": "post",
				"prompt": "Chaos " + strconv.Itoa(n)}
		}}
	s.left = func(context.Context) (int, error) {
		done, _ := s.load.accepted()
		came, err := s.mailbox.all()
		return missing(done, came), err
	}
	return s, nil
}

// callers is the largest number of concurrent requests for work.
const callers = 16

// path returns the queues that an event passes on its way to a webhook.
func (w *world) path() []string {
	return w.urls(topology.Dispatch, topology.Deliver, topology.DeliverSlow)
}

// urls returns the addresses of queues.
func (w *world) urls(queues ...topology.Queue) []string {
	urls := make([]string, len(queues))
	for i, q := range queues {
		urls[i] = w.system.QueueURLs[q]
	}
	return urls
}

// during applies faults at every gate until the function until returns. If the number of times of a fault is not
// limited, during records the events that are in flight at the beginning.
func (s *scene) during(ctx context.Context, until func(context.Context) error, faults ...*fault) error {
	lasting := slices.ContainsFunc(faults, func(f *fault) bool { return f.times < 0 })
	if lasting {
		if err := s.meet(ctx); err != nil {
			return err
		}
	}
	for _, f := range faults {
		do := f.do
		f.do = func(c call, w http.ResponseWriter, pass func(http.ResponseWriter)) {
			defer s.happenedNow() // a kill ends in a panic
			do(c, w, pass)
		}
		for _, g := range []*gate{&s.aws.gate, &s.providers.gate, &s.receiver.gate} {
			g.add(f)
			defer g.remove(f)
		}
	}
	err := until(ctx)
	if lasting {
		s.endedNow() // a kill is over at once; other faults end now
	}
	for _, f := range faults {
		if seen, hits := f.counts(); err != nil && hits == 0 {
			err = fmt.Errorf("%w; never met after %d of %d calls: %+v", err, seen, f.skip, f.at)
		}
	}
	return err
}

// times returns a function that waits until faults have happened n times.
func (s *scene) times(n int) func(context.Context) error {
	return func(ctx context.Context) error {
		return until(ctx, func() (bool, error) { return s.happened() >= n, nil })
	}
}

// caught freezes the function before it applies do, so that the function does no other work, and records the events
// that are in flight then.
func (s *scene) caught(ctx context.Context, do doing) doing {
	return func(c call, w http.ResponseWriter, pass func(http.ResponseWriter)) {
		_ = c.stop() // the function may have ended by itself
		// If the number is unknown, it counts as 0, which makes the bound narrower.
		_ = s.meet(ctx)
		do(c, w, pass)
	}
}

// whileHeld applies do to a function after it has hidden its messages at least once more since its call. Otherwise
// the time for which they stay hidden after its death would depend on chance.
func (s *scene) whileHeld(ctx context.Context, do doing) doing {
	return func(c call, w http.ResponseWriter, pass func(http.ResponseWriter)) {
		held := make(chan struct{}, 1)
		f := &fault{at: []step{{operation: holding, process: c.pid()}},
			do: func(_ call, w http.ResponseWriter, pass func(http.ResponseWriter)) {
				pass(w)
				held <- struct{}{}
			}}
		s.aws.add(f)
		select {
		case <-held:
		case <-c.gone: // the function has ended by itself or by another fault
		case <-ctx.Done():
		}
		s.aws.remove(f)
		do(c, w, pass)
	}
}

// meet records the events that are in flight at a fault.
func (s *scene) meet(ctx context.Context) error {
	if s.webhook == "" {
		return nil
	}
	n, err := s.client.undelivered(ctx, s.webhook)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inFlight += n
	return err
}

// happenedNow records that a fault has happened once more.
func (s *scene) happenedNow() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hits++
	s.ended = time.Now()
}

// endedNow records that a fault has ended.
func (s *scene) endedNow() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = time.Now()
}

// happened returns the number of times that a fault has happened and ended.
func (s *scene) happened() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hits
}

// pause waits for a duration, or for the end of the context.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// until polls f until it returns true.
func until(ctx context.Context, f func() (bool, error)) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if so, err := f(); so || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// settle waits until all accepted work has ended and no message is left that might cause more. If nothing more ends
// within the time, what is left is lost; the counts show it.
func (s *scene) settle(ctx context.Context, within time.Duration) error {
	queues := s.urls(topology.Queues...)
	for _, left := range []func(context.Context) (int, error){
		s.left,
		func(ctx context.Context) (int, error) { return s.messages(ctx, queues...) },
	} {
		least, deadline := math.MaxInt, time.Now().Add(within)
		err := until(ctx, func() (bool, error) {
			waiting, cancel := context.WithDeadline(ctx, deadline)
			defer cancel()
			n, err := left(waiting)
			if waiting.Err() != nil {
				return true, context.Cause(ctx)
			}
			if n < least {
				least, deadline = n, time.Now().Add(within)
			}
			return n == 0, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// missing returns the number of pieces of accepted work whose event has not arrived.
func missing(done []accepted, came []receipt) (n int) {
	there := map[string]bool{}
	for _, r := range came {
		there[r.subject] = true
	}
	for _, a := range done {
		if !there[a.id] {
			n++
		}
	}
	return n
}

// aim is the longest time from the end of a fault to the last delivery of an event that was accepted before.
const aim = 6 * time.Second

// The writes of a delivery contain these texts: claiming that of a claim, and recording that of an outcome.
const (
	claiming  = `\"lease\"`
	recording = `"delivered"`
)

// place is a step of a function's work, with its name in the table.
type place struct {
	name string
	at   []step
	// held reports whether the function holds messages at the step.
	held bool
	// hidden is the time for which the queue hides a message whose function died before it could limit that time to
	// its own life.
	hidden time.Duration
	// leased reports whether a submission to a provider may be under way. Its lease must end, up to 15 s later,
	// before the next submission.
	leased bool
}

// holding is the call by which a function hides its messages while it lives. It repeats the call every second.
const holding = "ChangeMessageVisibilityBatch"

// places are the steps of an event on its way from the table to the receiver, in their order.
var places = []place{
	{name: "relay puts events on the bus", at: []step{{function: "relay", operation: "PutEvents"}}},
	{name: "dispatch holds its messages", at: []step{{function: "dispatch", operation: holding}},
		hidden: 5 * time.Second},
	{name: "dispatch reads the webhooks", at: []step{{function: "dispatch", operation: "Query"}}, held: true},
	{name: "dispatch writes a delivery",
		at: []step{{function: "dispatch", operation: "TransactWriteItems"}}, held: true},
	{name: "deliver holds its messages", at: []step{{function: "deliver", operation: holding}},
		hidden: 20 * time.Second},
	{name: "deliver reads", at: []step{{function: "deliver", operation: "BatchGetItem"}}, held: true},
	{name: "deliver claims an attempt",
		at: []step{{function: "deliver", operation: "PutItem", with: claiming}}, held: true},
	{name: "deliver calls the receiver", at: []step{{function: "deliver", operation: receiving}}, held: true},
	{name: "deliver records the outcome", at: []step{outcomes}, held: true},
}

// outcomes are the writes of the outcomes of attempts.
var outcomes = step{function: "deliver", operation: "TransactWriteItems", with: recording}

// webhookRows returns the rows about deliveries.
func webhookRows(sz size) []row {
	kept := bounds{recovery: aim}
	once := bounds{recovery: aim, once: true}
	rows := []row{{name: "No fault", happen: nothing, bounds: once}}
	for _, p := range places {
		rows = append(rows, killedAt(sz, p)...)
	}
	rows = append(rows,
		row{name: "Dispatch and deliver queues wiped, then one sweep", happen: wiped, bounds: kept},
		row{name: "Every third write is done, its answer lost", happen: often(writes, 3, loseAnswer), bounds: kept},
		row{name: "Every third sending is done, its answer lost", happen: often(sends, 3, loseAnswer), bounds: kept},
		row{name: "Dispatch frozen past its time-out",
			happen: frozen([]step{{function: "dispatch", operation: "TransactWriteItems"}}, 35*time.Second),
			bounds: kept},
		row{name: "Deliver frozen past its claim", happen: frozen([]step{{function: "deliver", operation: receiving}},
			40*time.Second), bounds: kept},
		row{name: "Deliver frozen past its time-out, its last write comes late",
			happen: frozen([]step{outcomes}, 65*time.Second), bounds: kept},
	)
	return rows
}

// nothing causes no fault.
func nothing(context.Context, *scene) error { return nil }

// frozen freezes a function at a step, once. Other instances take its work over.
func frozen(at []step, d time.Duration) func(context.Context, *scene) error {
	return func(ctx context.Context, s *scene) error {
		return s.during(ctx, s.times(1), &fault{at: at, skip: 2, do: s.caught(ctx, freeze(d))})
	}
}

// rowsAlong returns the rows about work that passes places: one without a fault, those in which functions are
// killed at each place, and the others. The row without a fault bounds the number of submissions to providers.
func rowsAlong(sz size, places []place, others ...row) []row {
	const none = "No fault"
	rows := []row{{name: none, happen: nothing, bounds: bounds{once: true}}}
	for _, p := range places {
		rows = append(rows, killedAt(sz, p)...)
	}
	rows = append(rows, others...)
	for i := range rows {
		if rows[i].bounds.once {
			rows[i].against = none
		}
	}
	return rows
}

// killedAt returns the rows in which functions are killed before and after a step.
func killedAt(sz size, p place) []row {
	return []row{
		{name: "Killed before " + p.name, happen: killed(sz, p, killBefore), bounds: bounds{recovery: p.hidden + aim}},
		{name: "Killed after " + p.name, happen: killed(sz, p, killAfter), bounds: bounds{recovery: aim}},
	}
}

// killed kills functions at a step several times, and lets the work pass the step a few times before each kill.
func killed(sz size, at place, do doing) func(context.Context, *scene) error {
	return func(ctx context.Context, s *scene) error {
		do := s.caught(ctx, do)
		if at.held {
			do = s.whileHeld(ctx, do)
		}
		f := &fault{at: at.at, skip: 1, every: 2, times: sz.kills, do: do}
		return s.during(ctx, s.times(sz.kills), f)
	}
}

// often applies do to every n-th call until the load has ended.
func often(at []step, n int, do doing) func(context.Context, *scene) error {
	return func(ctx context.Context, s *scene) error {
		all := func(ctx context.Context) error { return s.load.reached(ctx, s.load.events) }
		return s.during(ctx, all, &fault{at: at, every: n, times: -1, do: do})
	}
}

// wiped empties the queues repeatedly for two seconds, then sweeps once.
func wiped(ctx context.Context, s *scene) error {
	return s.wipeUntil(ctx, s.path(), s.sweepUp)
}

// wipeUntil empties queues repeatedly for two seconds, and whenever a message is sent to one, and then calls find
// to recover the lost messages. If find finds none, the row would prove nothing, so wipeUntil tries again.
func (s *scene) wipeUntil(ctx context.Context, urls []string, find func(context.Context) (int, error)) error {
	const tries = 5
	wipeSent := func(_ call, w http.ResponseWriter, pass func(http.ResponseWriter)) {
		pass(w)
		_ = s.wipe(ctx, urls...) // the caller checks that it had an effect
	}
	wipeOn := func(ctx context.Context) error {
		for end := time.Now().Add(2 * time.Second); time.Now().Before(end); {
			if err := s.wipe(ctx, urls...); err != nil {
				return err
			}
			if err := pause(ctx, 20*time.Millisecond); err != nil {
				return err
			}
		}
		return nil
	}
	for range tries {
		if err := s.during(ctx, wipeOn, &fault{at: []step{{operation: "SendMessageBatch"}}, times: -1,
			do: wipeSent}); err != nil {
			return err
		}
		if found, err := find(ctx); err != nil || found > 0 {
			return err
		}
	}
	return errors.New("nothing was lost")
}

// sweepUp sweeps once and returns the number of lost messages that it found.
func (s *scene) sweepUp(ctx context.Context) (found int, err error) {
	swept, err := s.sweep(ctx)
	s.happenedNow()
	return swept.Events.Deliveries + swept.Tasks.Resent, err
}

// The calls of the providers: those of submitting request a generation, and those of polling read its progress or
// fetch its result.
var (
	submitting = []step{
		{function: "generate", operation: "POST bedrock"}, {function: "generate", operation: "POST elevenlabs"},
		{function: "generate", operation: "POST fal"},
		{function: "generate", operation: "POST polly"}, {function: "generate", operation: "POST replicate"},
	}
	polling = []step{{function: "generate", operation: "GET fal"}, {function: "generate", operation: "GET replicate"},
		{function: "generate", operation: "GET polly"}}
)

// jobPlaces are the steps of work on its way from its acceptance to its end.
var jobPlaces = []place{
	{name: "content accepts", at: []step{{function: "content", operation: "TransactWriteItems"}}},
	{name: "studio accepts", at: []step{{function: "studio", operation: "TransactWriteItems"}}},
	{name: "relay sends jobs to their queues", at: []step{{function: "relay", operation: "SendMessageBatch"}}},
	{name: "generate holds its messages", at: []step{{function: "generate", operation: holding}},
		hidden: 12 * time.Minute},
	{name: "generate reads", at: []step{{function: "generate", operation: "GetItem"}}, held: true},
	{name: "generate leases a submission",
		at: []step{{function: "generate", operation: "PutItem", with: `\"lease\":{`}}, held: true, leased: true},
	{name: "generate submits to a provider", at: submitting, held: true, leased: true},
	{name: "generate asks a provider", at: polling, held: true},
	{name: "generate stores a file", at: []step{{function: "generate", operation: "PUT s3"}}, held: true, leased: true},
	{name: "generate writes a step", at: []step{{function: "generate", operation: "PutItem"},
		{function: "generate", operation: "TransactWriteItems"}}, held: true, leased: true},
	{name: "rollup reads what it has counted", at: []step{{function: "rollup", operation: "BatchGetItem"}}, held: true},
	{name: "rollup writes the sums", at: []step{{function: "rollup", operation: "TransactWriteItems"}}, held: true},
	{name: "compose leases a composition", at: []step{{function: "compose", operation: "PutItem", with: `\"lease\":{`}},
		held: true, leased: true},
	{name: "compose fetches a part", at: []step{{function: "compose", operation: "GET s3"}}, held: true, leased: true},
	{name: "compose stores a file", at: []step{{function: "compose", operation: "PUT s3"}}, held: true, leased: true},
	{name: "compose writes the end",
		at: []step{{function: "compose", operation: "TransactWriteItems", with: `{"S":"ended"}`}}, held: true},
	{name: "generate sends the next step",
		at: []step{{function: "generate", operation: "SendMessageBatch"}}, held: true},
}

// jobRows returns the rows about generations.
func jobRows(sz size) []row {
	once := bounds{once: true}
	return rowsAlong(sz, jobPlaces,
		row{name: "Queues of generation wiped, then resumed", happen: wipedJobs},
		row{name: "Every third write is done, its answer lost", happen: often(writes, 3, loseAnswer)},
		row{name: "Every third sending is done, its answer lost", happen: often(sends, 3, loseAnswer), bounds: once},
		row{name: "Every fourth submission is accepted, its answer lost", happen: often(submitting, 4, loseAnswer)},
		row{name: "Every third poll is answered, its answer lost", happen: often(polling, 3, loseAnswer)},
		row{name: "Generate frozen for 40 s at a provider", happen: frozen(submitting, 40*time.Second)},
	)
}

// wipedJobs empties the queues of generation repeatedly for two seconds, then calls the function that recovers lost
// messages.
func wipedJobs(ctx context.Context, s *scene) error {
	return s.wipeUntil(ctx, s.urls(append([]topology.Queue{topology.Compose}, topology.Generation...)...),
		func(ctx context.Context) (int, error) {
			swept, err := s.sweep(ctx)
			s.happenedNow()
			return swept.Tasks.Resent, err
		})
}

// credits is the balance of a scene's account. It exceeds the cost of its work.
const credits = 1_000_000

// mix is the work that a scene requests, in turn: the kinds of content and of generation, by each provider that
// offers one. It has no music clips: composing one takes most of a core for 15 seconds, and passes the same steps
// as a video.
var mix = []struct {
	path string
	body map[string]any
}{
	{"/v1/content-items", map[string]any{"kind": "post"}},
	{"/v1/studio/images", map[string]any{"model": "flux-pro-1.1", "count": 2}},
	{"/v1/content-items", map[string]any{"kind": "carousel", "slides": []map[string]any{{}, {}}}},
	{"/v1/studio/videos", map[string]any{"model": "runway-gen-4.5", "duration_seconds": 5, "aspect_ratio": "9:16"}},
	{"/v1/content-items", map[string]any{"kind": "story"}},
	{"/v1/studio/voices", map[string]any{"model": "eleven-flash-2.5", "language": "en"}},
	{"/v1/content-items", map[string]any{"kind": "video", "duration_seconds": 10, "visuals": "stills"}},
	{"/v1/studio/images", map[string]any{"model": "stable-image-core"}},
	{"/v1/studio/voices", map[string]any{"model": "polly-generative", "language": "en"}},
	{"/v1/studio/music", map[string]any{"model": "ace-step", "duration_seconds": 30}},
	{"/v1/studio/avatars", map[string]any{"model": "heygen-avatar-4"}},
}

// newLiveScene creates a scene with a live key and a factory. The providers have done nothing for the factory yet.
func (w *world) newLiveScene(ctx context.Context, name string) (*scene, error) {
	key, err := w.newKey(ctx, name, tenant.Live)
	if err != nil {
		return nil, err
	}
	s := &scene{world: w, client: &client{&http.Client{}, w.system.BaseURL, key}}
	if s.factory, err = s.client.newFactory(ctx); err != nil {
		return nil, err
	}
	return s, w.fakes(ctx, http.MethodDelete, "", nil, nil)
}

// newJobScene creates a scene for work of a live key. It has no webhook: the harness reads the results from the
// API.
func (w *world) newJobScene(ctx context.Context, name string, sz size) (*scene, error) {
	s, err := w.newLiveScene(ctx, name)
	if err != nil {
		return nil, err
	}
	factory := s.factory
	s.load = &load{client: s.client, events: sz.jobs, every: sz.every, callers: callers,
		ask: func(n int) (string, map[string]any) {
			return w.order(factory, n)
		}}
	s.left = s.waiting
	return s, nil
}

// order returns the n-th request for work.
func (w *world) order(factory string, n int) (path string, body map[string]any) {
	o := mix[n%len(mix)]
	about := "Chaos " + strconv.Itoa(n)
	body = map[string]any{}
	maps.Copy(body, o.body)
	switch o.path {
	case "/v1/content-items":
		body["factory_id"], body["prompt"] = factory, about
	case "/v1/studio/voices":
		body["text"] = about
	case "/v1/studio/avatars":
		body["text"], body["image_url"] = about, w.receiver.address
	default:
		body["prompt"] = about
	}
	return o.path, body
}

// works are the lists of work, with the types of the events that end it.
var works = []struct{ path, generated, failed string }{
	{"/v1/content-items", "content.generated", "content.failed"},
	{"/v1/studio/generations", "studio.generated", "studio.failed"},
}

// waiting returns the number of pieces of work that are queued or under way. It polls slowly, because its calls compete
// with the work.
func (s *scene) waiting(ctx context.Context) (n int, err error) {
	if err := pause(ctx, time.Second/2); err != nil {
		return 0, err
	}
	for _, of := range works {
		for _, state := range []string{"generating", "queued"} {
			some, err := list[struct{}](ctx, s.client, of.path, "state", state)
			if err != nil {
				return 0, err
			}
			n += len(some)
		}
	}
	return n, nil
}
