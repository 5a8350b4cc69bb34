package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/content-automation/api/infra/measure/metered"
	"github.com/content-automation/api/infra/verify/harness/generatetest"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/sandbox"
	"github.com/content-automation/api/pkg/area/analytics"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/provenance"
	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/pkg/task/queue"
)

// scenario is a generation that is counted from its call to its end.
type scenario struct {
	name, operation string
	body            metered.Object
	// polls is the number of polls of its provider, by kind of result.
	polls map[provider.Kind]int
	fails bool
	// cancels is the operation that ends the generation early, after the first poll.
	cancels string
	// state is the expected final state.
	state string
}

// slow is the number of polls of a provider that does not answer at once: with the engine's pauses between them, an
// image takes about 6 s, and a video about 75 s.
var slow = map[provider.Kind]int{provider.KindImage: 3, provider.KindVideo: 15}

func scenarios(factory string) []scenario {
	image := metered.Object{"prompt": "A trail running shoe on wet rock", "aspect_ratio": "4:5"}
	item := func(kind string) metered.Object {
		const prompt = "Our new trail running shoe, made of recycled nets"
		return metered.Object{"factory_id": factory, "kind": kind, "prompt": prompt}
	}
	return []scenario{
		{name: "image", operation: "createImage", body: image, polls: slow, state: "generated"},
		{name: "image, answered at once", operation: "createImage", body: image, state: "generated"},
		{name: "post", operation: "createContentItem", body: item("post"), polls: slow, state: "generated"},
		{name: "short video", operation: "createContentItem", body: item("video"), polls: slow, state: "generated"},
		{name: "image that fails", operation: "createImage", body: image, polls: slow, fails: true, state: "failed"},
		{
			name: "image canceled", operation: "createImage", body: image, polls: slow, cancels: "deleteGeneration",
			state: "canceled",
		},
	}
}

// counted is the usage of a generation: of its first call, and of all its work.
type counted struct {
	scenario
	create, whole usage
	// places are the write units of all its work.
	places metered.Places
}

// course carries one generation to its end, through all functions that take part, one at a time, and counts the
// usage.
type course struct {
	w        *metered.World
	used     usage
	relay    *worker.Relay
	keeper   *analytics.Keeper
	consumer *task.Consumer
	dispatch *webhook.Dispatcher
	// jobs are the messages that wait in the queues of work, changes are those that wait for the sums of analytics,
	// and told are the events of the bus that wait in the queue of dispatch.
	jobs, changes []queue.Message
	told          []string
	// sending is held while a message or an event is sent, because the relay sends concurrently.
	sending sync.Mutex
	// cancels is the operation that is to end the generation early, until it has been called.
	cancels string
}

// generations counts the usage of all scenarios.
func generations(ctx context.Context, w *metered.World) (all []counted, err error) {
	body := w.Examples()["createFactory"].Body
	made, err := w.Call(ctx, metered.Request{Operation: "createFactory", Body: body, Live: true})
	if err != nil {
		return nil, err
	}
	factory, err := made.ID()
	if err != nil {
		return nil, err
	}
	for _, s := range scenarios(factory) {
		c, err := count(ctx, w, s)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		all = append(all, c)
	}
	return all, nil
}

// count counts the usage of one scenario.
func count(ctx context.Context, w *metered.World, s scenario) (counted, error) {
	// The call is in a minute in which the key has already been used.
	w.Clock = w.Clock.Truncate(time.Minute).Add(time.Minute + time.Second)
	if _, err := w.Call(ctx, metered.Request{Operation: "getMe", Live: true}); err != nil {
		return counted{}, err
	}
	w.Meter.Weigh, w.Meter.Written, w.Meter.Places = true, nil, metered.Places{}
	defer func() { w.Meter.Weigh, w.Meter.Written, w.Meter.Places = false, nil, nil }()
	before, err := w.Meter.Read()
	if err != nil {
		return counted{}, err
	}
	c := newCourse(w, s)
	id, err := c.call(ctx, metered.Request{Operation: s.operation, Body: s.body, Live: true})
	if err != nil {
		return counted{}, err
	}
	done := counted{scenario: s, places: w.Meter.Places}
	take := func(into *usage) error {
		now, err := w.Meter.Read()
		*into = c.used.copied()
		into.table = now.Minus(before)
		return err
	}
	if err := take(&done.create); err != nil {
		return counted{}, err
	}
	if err := c.end(ctx, id); err != nil {
		return counted{}, err
	}
	c.used.credentials = 1 // read at most once, by the run that submits, and then kept
	if err := take(&done.whole); err != nil {
		return counted{}, err
	}
	return done, ended(ctx, w, s, id)
}

// ended checks that a generation has reached its expected end.
func ended(ctx context.Context, w *metered.World, s scenario, id string) error {
	it, err := w.State.Get(ctx, store.IDKey(id))
	if err != nil {
		return err
	}
	if state := it.Filters["state"]; state != s.state {
		return fmt.Errorf("%s is %q, not %q", id, state, s.state)
	}
	return nil
}

func newCourse(w *metered.World, s scenario) *course {
	c := &course{w: w, cancels: s.cancels}
	mailboxes := map[topology.Queue]mailbox{}
	for _, name := range topology.Tasks {
		mailboxes[name] = mailbox{c, &c.jobs}
	}
	relayed := maps.Clone(mailboxes)
	relayed[topology.Rollup] = mailbox{c, &c.changes}
	c.relay = worker.NewRelay(relayed, bus{c})
	c.keeper = analytics.New(w.State)
	e := w.Workers
	files := &shelf{used: &c.used}
	e.Models, e.Files = newMaker(&c.used, s.polls, s.fails, w.Now), files
	e.Composer = cutter{generatetest.Composer{Objects: files}, &c.used}
	c.consumer = task.NewConsumer(w.Kernel(e), mailboxes, never)
	c.dispatch = webhook.NewDispatcher(w.State, w.Now)
	return c
}

// call makes a call of the API, which is two runs of functions.
func (c *course) call(ctx context.Context, r metered.Request) (string, error) {
	a, err := c.w.Call(ctx, r)
	if err != nil {
		return "", err
	}
	c.used.calls++
	c.used.called(c.w.Routes[r.Operation].Function, a.Cost)
	if r.ID != "" {
		return r.ID, nil
	}
	return a.ID()
}

// run records the run of a function, and returns its duration, which includes its waits.
func (c *course) run(function string, f func() error) (took time.Duration, err error) {
	trips, waited := c.w.Meter.Used.Trips, c.used.waited
	err = f()
	took = handling + c.used.waited - waited + time.Duration(c.w.Meter.Used.Trips-trips)*tableWait
	c.used.ran(function, took)
	return took, err
}

// end performs work until none is left.
func (c *course) end(ctx context.Context, id string) error {
	const most = 1000
	for range most {
		var err error
		switch {
		case len(c.w.Meter.Written) > 0:
			err = c.streamed(ctx)
		case len(c.changes) > 0:
			m := c.changes[0]
			c.changes = c.changes[1:]
			err = c.received(ctx, "rollup", m.Body, true,
				queue.NewHolder(mailbox{c, &c.changes}, never).Handler(c.keeper.Count))
		case len(c.told) > 0:
			err = c.dispatched(ctx)
		case len(c.jobs) > 0:
			err = c.worked(ctx, id)
		default:
			return nil
		}
		if err != nil {
			return err
		}
	}
	return fmt.Errorf("%s has not ended after %d runs of functions", id, most)
}

// streamed calls the relay with the changes of the last transaction that pass the stream's filter.
func (c *course) streamed(ctx context.Context) error {
	written := c.w.Meter.Written
	c.w.Meter.Written = nil
	var relayed events.DynamoDBEvent
	for _, w := range written {
		r := events.DynamoDBEventRecord{EventName: "MODIFY"}
		r.Change.NewImage = map[string]events.DynamoDBAttributeValue{}
		text := map[string]string{}
		for name, v := range w.Item {
			switch v := v.(type) {
			case *types.AttributeValueMemberS:
				text[name] = v.Value
				r.Change.NewImage[name] = events.NewStringAttribute(v.Value)
			case *types.AttributeValueMemberB:
				r.Change.NewImage[name] = events.NewBinaryAttribute(v.Value)
			}
		}
		if w.New {
			r.EventName = "INSERT"
		}
		if w.New && slices.Contains(worker.RelayedKinds, text["kind"]) || analytics.Passes(text["kind"], text["f_state"]) {
			relayed.Records = append(relayed.Records, r)
		}
	}
	return c.follow("relay", relayed,
		func() (events.DynamoDBEventResponse, error) { return c.relay.Handle(ctx, relayed) })
}

// follow runs a function with records of the stream, if there are any.
func (c *course) follow(
	function string, batch events.DynamoDBEvent, handle func() (events.DynamoDBEventResponse, error),
) error {
	if len(batch.Records) == 0 {
		return nil
	}
	c.used.records += len(batch.Records)
	_, err := c.run(function, func() error {
		out, err := handle()
		if err == nil && len(out.BatchItemFailures) > 0 {
			err = fmt.Errorf("%s failed with %d records", function, len(batch.Records))
		}
		return err
	})
	return err
}

// worked takes the first message of the queues of work when it is due.
func (c *course) worked(ctx context.Context, id string) error {
	m := c.jobs[0]
	c.jobs = c.jobs[1:]
	c.w.Clock = c.w.Clock.Add(m.Delay)
	var to struct{ Queue topology.Queue }
	if err := json.Unmarshal([]byte(m.Body), &to); err != nil {
		return err
	}
	err := c.received(ctx, to.Queue.Consumer().Name, m.Body, true, c.consumer.Handle)
	if err != nil || c.cancels == "" || c.used.polls == 0 {
		return err
	}
	_, err = c.call(ctx, metered.Request{Operation: c.cancels, ID: id, Live: true})
	c.cancels = ""
	return err
}

// dispatched takes the first event from the bus.
func (c *course) dispatched(ctx context.Context) error {
	body := c.told[0]
	c.told = c.told[1:]
	c.used.sends++ // by the bus
	return c.received(ctx, "dispatch", body, false, c.dispatch.Handle)
}

// received passes a message to the function of its queue.
func (c *course) received(
	ctx context.Context, function, body string, fair bool,
	handle func(context.Context, events.SQSEvent) (events.SQSEventResponse, error),
) error {
	c.used.receives++
	took, err := c.run(function, func() error {
		out, err := handle(ctx, events.SQSEvent{Records: []events.SQSMessage{{
			MessageId: "m", Body: body, Attributes: map[string]string{"ApproximateReceiveCount": "1"},
		}}})
		if err == nil && len(out.BatchItemFailures) > 0 {
			err = fmt.Errorf("%s failed with %s", function, body)
		}
		return err
	})
	beats := 1 + int(took/beatEvery)
	c.used.beats += beats
	if fair {
		c.used.grouped += 2 + beats
	}
	return err
}

// mailbox is a queue that keeps its messages in a list.
type mailbox struct {
	*course
	list *[]queue.Message
}

// Send takes messages by one request.
func (m mailbox) Send(_ context.Context, all ...queue.Message) []error {
	m.sending.Lock()
	defer m.sending.Unlock()
	m.used.sends++
	m.used.grouped++
	m.used.waited += queueWait
	*m.list = append(*m.list, all...)
	return make([]error, len(all))
}

// bus is the customer's bus.
type bus struct{ *course }

// Publish passes events to the rule that sends them to dispatch.
func (b bus) Publish(_ context.Context, batch []worker.BusEvent) ([]error, error) {
	b.sending.Lock()
	defer b.sending.Unlock()
	b.used.waited += busWait
	b.used.events += len(batch)
	for _, e := range batch {
		body, err := json.Marshal(map[string]json.RawMessage{"detail": json.RawMessage(e.Detail)})
		if err != nil {
			return nil, err
		}
		b.told = append(b.told, string(body))
	}
	return make([]error, len(batch)), nil
}

// ExtendVisibility implements queue.Extender. No other function works on the messages.
func (m mailbox) ExtendVisibility(_ context.Context, _ time.Duration, receipts ...string) []error {
	return make([]error, len(receipts))
}

// never returns a heartbeat that does not beat, because measured runs take less than a second.
func never() (<-chan time.Time, func()) { return nil, func() {} }

// maker is a provider of everything. Its texts and media are those of the sandbox, which are real. It ends after a
// fixed number of polls, and counts its calls.
type maker struct {
	*sandbox.Provider
	used *usage
	// polls is the number of polls of each kind before its result is ready. Other kinds are answered at once.
	polls map[provider.Kind]int
	fails bool
	asked map[provider.Handle]int
	kinds map[provider.Handle]provider.Kind
}

func newMaker(used *usage, polls map[provider.Kind]int, fails bool, now func() time.Time) *maker {
	return &maker{
		Provider: sandbox.New(now), used: used, polls: polls, fails: fails,
		asked: map[provider.Handle]int{}, kinds: map[provider.Handle]provider.Kind{},
	}
}

var _ generate.Providers = (*maker)(nil)

// For implements generate.Providers.
func (m *maker) For(string, tenant.Mode) (provider.Provider, error) { return m, nil }

// Capabilities implements provider.Provider. Like most providers, it takes no client token.
func (m *maker) Capabilities() provider.Capabilities {
	c := m.Provider.Capabilities()
	c.ClientToken = false
	return c
}

// Submit implements provider.Provider.
func (m *maker) Submit(ctx context.Context, req provider.Request) (provider.Submission, error) {
	m.used.submits++
	sub, err := m.Provider.Submit(ctx, req)
	if err != nil {
		return sub, err
	}
	switch _, later := m.polls[req.Kind]; {
	case req.Kind == provider.KindText:
		m.used.waited += textWait
	case later:
		m.used.waited += quickWait
		m.kinds[sub.Handle] = req.Kind
	default:
		m.used.waited += mediaWait
	}
	if _, later := m.polls[req.Kind]; later || sub.Result != nil {
		return sub, nil
	}
	result, err := m.Provider.Fetch(ctx, sub.Handle)
	return provider.Submission{Result: &result}, err
}

// Poll implements provider.Provider.
func (m *maker) Poll(_ context.Context, h provider.Handle) (provider.Status, error) {
	m.used.polls++
	m.used.waited += quickWait
	m.asked[h]++
	n, all := m.asked[h], m.polls[m.kinds[h]]
	switch {
	case n < all:
		return provider.Status{State: provider.Running, Progress: 100 * n / all}, nil
	case m.fails:
		failure := provider.Error{Kind: provider.Rejected, Code: "generation_failed", Message: "The model failed."}
		return provider.Status{State: provider.Failed, Failure: &failure}, nil
	default:
		return provider.Status{State: provider.Succeeded, Progress: 100}, nil
	}
}

// Fetch implements provider.Provider.
func (m *maker) Fetch(ctx context.Context, h provider.Handle) (provider.Result, error) {
	m.used.fetches++
	m.used.waited += quickWait
	return m.Provider.Fetch(ctx, h)
}

// Cancel implements provider.Provider.
func (m *maker) Cancel(context.Context, provider.Handle) error {
	m.used.cancels++
	m.used.waited += quickWait
	return nil
}

// shelf is the object store. It reads the files as the real one does, and counts requests.
type shelf struct {
	worker.Files
	files generatetest.Objects
	used  *usage
}

var _ worker.Files = (*shelf)(nil)

// Save implements generate.Objects. It takes one request.
func (s *shelf) Save(ctx context.Context, place media.Place, n int, body io.Reader,
	said *provenance.Statement) (media.File, error) {
	f, err := s.files.Save(ctx, place, n, body, said)
	if err == nil {
		s.used.stores(f.Type)
	}
	return f, err
}

// Put implements generate.Objects. It takes one request.
func (s *shelf) Put(ctx context.Context, f media.File, content io.ReadSeeker) error {
	s.used.puts++
	s.used.stored += f.Bytes
	s.used.waited += objectWait
	return s.files.Put(ctx, f, content)
}

// PutNew implements transfer.Objects. It takes one request.
func (s *shelf) PutNew(ctx context.Context, f media.File, content io.ReadSeeker) error {
	return s.Put(ctx, f, content)
}

// Sum implements publication.Sums.
func (s *shelf) Sum(ctx context.Context, key string) (string, error) { return s.files.Sum(ctx, key) }

// Remove implements generate.Objects. It lists the objects; deleting them is free.
func (s *shelf) Remove(ctx context.Context, place media.Place) error {
	s.used.lists++
	s.used.waited += objectWait
	return s.files.Remove(ctx, place)
}

// Open implements generate.Objects.
func (s *shelf) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	return s.files.Open(ctx, key)
}

// The time of a composition on three processors, for a second of a video and for a picture; docs/media.md has the
// processor time.
const (
	cutWait  = 500 * time.Millisecond
	cardWait = time.Second
)

// cutter is a double of the engine of compositions, and counts its input.
type cutter struct {
	generatetest.Composer
	used *usage
}

// Compose implements generate.Composer. It fetches each part by one request.
func (c cutter) Compose(
	ctx context.Context, what generate.Composition, o generate.Origin, progress func(int), save generate.Save,
) error {
	var longest time.Duration
	fetched := map[string]bool{}
	what.Files(func(f *media.File) {
		if fetched[f.Key] {
			return
		}
		fetched[f.Key] = true
		c.used.gets++
		c.used.waited += objectWait + time.Duration(float64(sizes[f.Type])/bytesPerSecond*float64(time.Second))
		if f.Type == media.Audio {
			longest = max(longest, time.Duration(f.DurationSeconds*float64(time.Second)))
		}
	})
	switch w := what.(type) {
	case generate.Carousel:
		longest = time.Duration(len(w.Slides)) * cardWait
	case generate.Picture:
		longest = cardWait
	case generate.MusicClip:
		longest = w.Length / time.Second * cutWait
	case generate.Video:
		for _, s := range w.Scenes {
			longest = max(longest, s.Length)
		}
		longest = time.Duration(longest.Seconds() * float64(cutWait))
	}
	c.used.waited += longest
	return c.Composer.Compose(ctx, what, o, progress, save)
}

// usage is the usage of a generation up to a moment: everything that AWS charges for and everything that a function
// waits for.
type usage struct {
	table   metered.Reading
	calls   int              // of the API
	runs    map[string]turns // by function
	records int              // of the table's stream that were passed to functions
	// sends, receives and beats are the numbers of requests of queues. Each message that is done takes one more
	// request, to delete it.
	sends, receives, beats int
	grouped                int // the part of them that goes to fair queues
	events                 int // put on the bus
	puts, lists, gets      int // requests of the object store
	stored                 int64
	// The calls of providers, and the reads of the secret with their credentials.
	submits, polls, fetches, cancels, credentials int
	// waited is the time that functions have waited for services other than the table.
	waited time.Duration
}

// turns are the number of runs of a function and their total time.
type turns struct {
	times int
	took  time.Duration
}

// These figures are assumed, not counted.
const (
	// handling is the time of a run without waiting, on its share of a core.
	handling = 10 * time.Millisecond
	// The times to wait for an answer of AWS in the same region.
	tableWait  = 8 * time.Millisecond
	queueWait  = 10 * time.Millisecond
	busWait    = 15 * time.Millisecond
	objectWait = 50 * time.Millisecond
	// quickWait is the time to wait for a provider that only records or reports something.
	quickWait = 300 * time.Millisecond
	// The times to wait for a provider that answers with its result.
	textWait  = 4 * time.Second
	mediaWait = 10 * time.Second
	// bytesPerSecond is the speed at which files are fetched and stored.
	bytesPerSecond = 50_000_000
	// beatEvery is the interval at which a function that works on messages extends their invisibility; see
	// pkg/task/queue.
	beatEvery = time.Second
	// logged is the size of a run's line in the log, with the overhead of the log; the authorizer writes none.
	// accessLogged is the size of a line in the gateway's log.
	logged       = 450
	accessLogged = 500
	// traced is the share of runs that are traced; see infra/app/stack/api.go.
	traced = 0.01
)

// sizes are the assumed sizes of files. The files of the bench are real, but small.
var sizes = map[media.Type]int64{
	media.Image: 2_000_000, media.Video: 10_000_000, media.Audio: 1_000_000, media.Captions: 2_000,
}

// called records the two runs of functions of a call.
func (u *usage) called(function string, c metered.Cost) {
	u.ran("authorizer", handling+time.Duration(c.Authorizer.Trips)*tableWait)
	u.ran(function, handling+time.Duration(c.Function.Trips+c.Audit.Trips)*tableWait)
}

// ran records a run of a function.
func (u *usage) ran(function string, took time.Duration) {
	if u.runs == nil {
		u.runs = map[string]turns{}
	}
	r := u.runs[function]
	u.runs[function] = turns{r.times + 1, r.took + took}
}

// functionRuns counts the runs of all functions.
func (u *usage) functionRuns() (n int) {
	for _, r := range u.runs {
		n += r.times
	}
	return n
}

// gigabyteSeconds returns the memory and time of runs that Lambda charges for.
func (u *usage) gigabyteSeconds() (sum float64) {
	for name, r := range u.runs {
		sum += float64(topology.FunctionNamed(name).Memory) / 1024 * r.took.Seconds()
	}
	return sum
}

// logBytes returns the size of the logs.
func (u *usage) logBytes() float64 {
	return float64(accessLogged*u.calls + logged*(u.functionRuns()-u.runs["authorizer"].times))
}

// queueRequests counts the requests of queues.
func (u *usage) queueRequests() int { return u.sends + 2*u.receives + u.beats }

// copied returns a copy of the usage up to now, while the original continues.
func (u *usage) copied() usage {
	c := *u
	c.runs = maps.Clone(u.runs)
	return c
}

// stores records that a file is fetched and stored.
func (u *usage) stores(t media.Type) {
	u.puts++
	u.stored += sizes[t]
	u.waited += objectWait + 2*time.Duration(float64(sizes[t])/bytesPerSecond*float64(time.Second))
}
