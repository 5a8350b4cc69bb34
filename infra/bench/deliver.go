package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/id"
	"github.com/content-automation/api/pkg/queue/sqsqueue"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/tenant"
	"github.com/content-automation/api/pkg/webhook"
)

// How many messages a call of the deliver function gets at most, and how many events
// one of dispatch, as deployed: the deliveries that dispatch makes together are in one
// message.
const (
	batchSize     = 10
	dispatchBatch = 10
)

// instancesPerCore keeps the cores busy while instances wait for the table.
const instancesPerCore = 2

// The bounds of deliveries, which are aims: those that are missed are told.
const (
	leastShare = 0.7   // of the rate of the bare loop
	leastRate  = 1_505 // deliveries a second on this machine
)

// effort is what a number of deliveries took.
type effort struct {
	deliveries int
	wall, cpu  time.Duration
}

func (e effort) perSecond() float64    { return float64(e.deliveries) / e.wall.Seconds() }
func (e effort) perCPUSecond() float64 { return float64(e.deliveries) / e.cpu.Seconds() }

// delivering is what was measured of the deliver function.
type delivering struct {
	instances, rounds int
	payload           int // bytes, on average
	function, bare    effort
	allocations       float64 // of one delivery
	allocated         float64 // bytes of one delivery
}

// deliveryPrograms are the binaries that are measured.
type deliveryPrograms struct{ function, bare, inprocess string }

// measureDeliveries lets the deliver function and the bare loop take turns at the
// same number of webhooks, and returns of each the round with the median rate.
func measureDeliveries(ctx context.Context, p deliveryPrograms, deliveries, rounds int) (delivering, error) {
	d := delivering{instances: instancesPerCore * runtime.NumCPU(), rounds: rounds}
	var function, bare []effort
	for range rounds {
		f, b, payload, err := oneRound(ctx, p, deliveries, d.instances)
		if err != nil {
			return d, err
		}
		function, bare, d.payload = append(function, f), append(bare, b), payload
	}
	byRate := func(a, b effort) int { return int(a.wall - b.wall) }
	slices.SortFunc(function, byRate)
	slices.SortFunc(bare, byRate)
	d.function, d.bare = function[rounds/2], bare[rounds/2]
	var err error
	d.allocations, d.allocated, err = countAllocations(ctx, p.inprocess, deliveries/10, "")
	return d, err
}

// oneRound makes deliveries, lets the function carry them out, and posts the same
// payloads by the bare loop.
func oneRound(ctx context.Context, p deliveryPrograms, deliveries, instances int) (function, bare effort, payload int, err error) {
	w, err := newCourier(ctx)
	if err != nil {
		return function, bare, 0, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	batches, err := w.prepare(ctx, deliveries)
	if err != nil {
		return function, bare, 0, err
	}
	f, err := newFeed(ctx, batches)
	if err != nil {
		return function, bare, 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	function.deliveries, bare.deliveries = deliveries, deliveries
	if function.wall, function.cpu, err = f.run(ctx, p.function, instances, w.environment()...); err != nil {
		return function, bare, 0, err
	}
	if n := len(w.double.take()); n > 0 {
		return function, bare, 0, fmt.Errorf("the function put off or passed on %d messages: attempts took long on a busy machine", n)
	}
	sent, err := w.receiver.counted(deliveries)
	if err != nil {
		return function, bare, 0, err
	}
	if err := w.recorded(deliveries); err != nil {
		return function, bare, 0, err
	}
	if bare.wall, bare.cpu, err = w.post(ctx, p.bare, instances*batchSize); err != nil {
		return function, bare, 0, err
	}
	posted, err := w.receiver.counted(deliveries)
	if err == nil && posted != sent {
		err = fmt.Errorf("the bare loop posted %d bytes, the function %d", posted, sent)
	}
	return function, bare, sent / deliveries, err
}

// courier is what the deliver function needs around it.
type courier struct {
	double   *double
	receiver *receiver
	events   []store.Item
}

// owner is the owner of what is measured.
var owner = tenant.Of("acc_01h455vb4pex5vsknk084sn02q", tenant.Test)

var signingKey = bytes.Repeat([]byte("bench it"), 4)

func newCourier(ctx context.Context) (*courier, error) {
	r, err := newReceiver(signingKey)
	if err != nil {
		return nil, err
	}
	d, err := newDouble(ctx)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return &courier{double: d, receiver: r}, nil
}

func (c *courier) close() error { return errors.Join(c.double.Close(), c.receiver.Close()) }

// environment is that of the function beside what every function has: it finds
// the double, and may call the receiver.
func (c *courier) environment() []string {
	return []string{"AWS_ENDPOINT_URL=" + c.double.address(), "STAGE=local", "ALLOW_LOOPBACK_WEBHOOKS=true", "LOG_LEVEL=error", c.receiver.trust()}
}

// prepare makes a webhook, events, and their deliveries as dispatch makes them. It
// gives the batches for the function.
func (c *courier) prepare(ctx context.Context, deliveries int) ([][]byte, error) {
	db := store.Open(c.double.config(), stateTable)
	now := time.Now().UTC()
	hook, err := store.NewItem("webhook", owner, id.New(id.Webhook, now), map[string]any{
		"id": id.New(id.Webhook, now), "url": c.receiver.url(), "event_types": []string{"*"}, "state": "enabled",
		"secrets": []map[string]any{{"key": signingKey}},
	})
	if err != nil {
		return nil, err
	}
	var named struct{ ID string }
	if err := hook.Decode(&named); err != nil {
		return nil, err
	}
	hook.Key = store.Key{PK: "webhooks#" + owner.String(), SK: named.ID}
	tx := &store.Tx{}
	tx.Create(hook, nil)
	if err := db.Commit(ctx, tx); err != nil {
		return nil, err
	}
	dispatcher := webhook.NewDispatcher(db, sqsqueue.New(sqs.NewFromConfig(c.double.config()), c.double.address()+"/000000000000/deliver"), time.Now)
	for len(c.events) < deliveries {
		var batch events.SQSEvent
		for range min(dispatchBatch, deliveries-len(c.events)) {
			it, err := event.New(now, owner, event.ContentGenerated, sampleObject(now, len(c.events)), nil)
			if err != nil {
				return nil, err
			}
			tx := &store.Tx{}
			tx.Create(it, nil)
			if err := db.Commit(ctx, tx); err != nil {
				return nil, err
			}
			body, err := json.Marshal(map[string]any{"detail": event.RefOf(it)})
			if err != nil {
				return nil, err
			}
			c.events = append(c.events, it)
			batch.Records = append(batch.Records, events.SQSMessage{MessageId: it.PK, Body: string(body)})
		}
		out, err := dispatcher.Handle(ctx, batch)
		if err != nil || len(out.BatchItemFailures) > 0 {
			return nil, fmt.Errorf("%d events were not dispatched: %w", len(out.BatchItemFailures), err)
		}
	}
	messages := c.double.take()
	if want := (deliveries + dispatchBatch - 1) / dispatchBatch; len(messages) != want {
		return nil, fmt.Errorf("there are %d messages for %d deliveries, not %d", len(messages), deliveries, want)
	}
	var batches [][]byte
	for part := range slices.Chunk(messages, batchSize) {
		var batch events.SQSEvent
		for i, body := range part {
			batch.Records = append(batch.Records, record(i, body, now))
		}
		b, err := json.Marshal(batch)
		if err != nil {
			return nil, err
		}
		batches = append(batches, b)
	}
	return batches, nil
}

// record is a message as Lambda hands it to a function.
func record(n int, body string, sent time.Time) events.SQSMessage {
	at := strconv.FormatInt(sent.UnixMilli(), 10)
	return events.SQSMessage{
		MessageId: fmt.Sprintf("059f36b4-87a3-44ab-83d2-%012d", n), ReceiptHandle: strings.Repeat("AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy", 12),
		Body: body, Md5OfBody: "e4e68fb7bd0e697a0ae8f1bb342846b3",
		Attributes: map[string]string{
			"ApproximateReceiveCount": "1", "SentTimestamp": at, "SenderId": "AROAIENQZJOLO23YVJ4VO:acme-prod-dispatch",
			"ApproximateFirstReceiveTimestamp": at, "MessageGroupId": "whk_01h455vb4pex5vsknk084sn02q",
		},
		EventSource: "aws:sqs", EventSourceARN: "arn:aws:sqs:eu-central-1:000000000000:acme-prod-deliver", AWSRegion: "eu-central-1",
	}
}

// sampleObject is a resource that makes a payload of about 930 bytes.
func sampleObject(now time.Time, n int) map[string]any {
	return map[string]any{
		"id": id.New(id.ContentItem, now), "factory_id": id.New(id.Factory, now), "kind": "post", "state": "generated", "number": n,
		"text":       strings.Repeat("Our new trail running shoe, made of recycled nets. ", 9),
		"created_at": now, "updated_at": now, "version": 3, "metadata": map[string]string{"campaign": "spring"},
	}
}

// recorded checks that all deliveries are recorded as delivered.
func (c *courier) recorded(want int) error {
	if got := c.double.delivered(); got != want {
		return fmt.Errorf("%d of %d deliveries are recorded as delivered", got, want)
	}
	return nil
}

// post lets the bare loop sign and post the payloads of the events.
func (c *courier) post(ctx context.Context, path string, atATime int) (took, cpu time.Duration, err error) {
	type message struct {
		ID      string
		Payload []byte
	}
	messages := make([]message, len(c.events))
	for i, it := range c.events {
		e, err := event.Render(ctx, it, nil) // without media, there is nothing to sign
		if err != nil {
			return 0, 0, err
		}
		if messages[i].Payload, err = json.Marshal(e); err != nil {
			return 0, 0, err
		}
		messages[i].ID = it.PK
	}
	work, err := json.Marshal(map[string]any{"URL": c.receiver.url(), "Secret": signingKey, "AtATime": atATime, "Messages": messages})
	if err != nil {
		return 0, 0, err
	}
	// Reading the work costs CPU time that belongs to no delivery: it is measured
	// apart, and taken off.
	out, all, err := runOn(ctx, work, []string{c.receiver.trust()}, path)
	if err != nil {
		return 0, 0, err
	}
	_, reading, err := runOn(ctx, work, nil, path, "-read")
	if err != nil {
		return 0, 0, err
	}
	nanoseconds, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	return time.Duration(nanoseconds), all - reading, err
}

// countAllocations returns how often, and how many bytes, one delivery allocates.
func countAllocations(ctx context.Context, path string, deliveries int, profile string) (times, size float64, err error) {
	c, err := newCourier(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	batches, err := c.prepare(ctx, deliveries)
	if err != nil {
		return 0, 0, err
	}
	lines := append(bytes.Join(batches, []byte("\n")), '\n')
	args := []string{}
	if profile != "" {
		args = append(args, "-profile", profile)
	}
	env := append(environment("127.0.0.1:0"), c.environment()...)
	out, _, err := runOn(ctx, lines, env, path, args...)
	if err != nil {
		return 0, 0, err
	}
	var counted struct{ Allocations, Bytes float64 }
	if err := json.Unmarshal(out, &counted); err != nil {
		return 0, 0, err
	}
	_, err = c.receiver.counted(deliveries)
	return counted.Allocations / float64(deliveries), counted.Bytes / float64(deliveries), err
}

// runOn runs a program on an input, and returns its output and its CPU time.
func runOn(ctx context.Context, input []byte, environment []string, path string, args ...string) ([]byte, time.Duration, error) {
	var out, log bytes.Buffer
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = environment, bytes.NewReader(input), &out, &log
	if err := cmd.Run(); err != nil {
		return nil, 0, fmt.Errorf("%s: %w\n%s", path, err, log.String())
	}
	return out.Bytes(), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}

// markdown writes the section on deliveries.
func (d *delivering) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "The function `deliver`, %d instances with batches of %d messages of up to %d deliveries each, against a bare Go loop that signs and posts the same payloads (%d bytes) to the same receiver, both by HTTP/2 over TLS, as many at a time; %d deliveries, the median of %d rounds.\n\n",
		d.instances, batchSize, dispatchBatch, d.payload, d.function.deliveries, d.rounds)
	b.WriteString("| | Deliveries a second | Deliveries a second of CPU time | CPU time of one, ms |\n|---|---|---|---|\n")
	for _, row := range []struct {
		name string
		effort
	}{{"deliver", d.function}, {"(bare loop)", d.bare}} {
		fmt.Fprintf(&b, "| %s | %.0f | %.0f | %s |\n", row.name, row.perSecond(), row.perCPUSecond(), strconv.FormatFloat(1e3/row.perCPUSecond(), 'f', 3, 64))
	}
	fmt.Fprintf(&b, "| deliver against (bare loop) | %.2f | %.2f | |\n", d.function.perSecond()/d.bare.perSecond(), d.function.perCPUSecond()/d.bare.perCPUSecond())
	fmt.Fprintf(&b, "\nOne delivery makes %.0f allocations of %.1f KB together.\n", d.allocations, d.allocated/1e3)
	for _, missed := range d.missed() {
		fmt.Fprintf(&b, "\n**Missed:** %s.\n", missed)
	}
	return b.String()
}

// missed tells which aims are missed.
func (d *delivering) missed() (all []string) {
	if got := d.function.perSecond(); got <= leastRate {
		all = append(all, fmt.Sprintf("%.0f deliveries a second, the aim is more than %d", got, leastRate))
	}
	if share := d.function.perSecond() / d.bare.perSecond(); share < leastShare {
		all = append(all, fmt.Sprintf("%.2f of the bare loop's rate, the aim is %.1f", share, leastShare))
	}
	if share := d.function.perCPUSecond() / d.bare.perCPUSecond(); share < leastShare {
		all = append(all, fmt.Sprintf("%.2f of the bare loop's rate by CPU time, the aim is %.1f", share, leastShare))
	}
	return all
}
