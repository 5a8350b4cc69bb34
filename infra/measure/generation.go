package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/content-automation/api/infra/measure/metered"
	"github.com/content-automation/api/infra/verify/harness/generatetest"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/analytics"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/cloud/topology"
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
