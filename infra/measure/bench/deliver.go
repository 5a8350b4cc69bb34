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

	"github.com/content-automation/api/pkg/area/webhook/dispatch"
	"github.com/content-automation/api/pkg/area/webhook/hook"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/seal/sealtest"
	keyrecord "github.com/content-automation/api/pkg/record/apikey"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task/queue/sqsqueue"
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
	function          effort
	allocations       float64 // of one delivery
	allocated         float64 // bytes of one delivery
}

// deliveryPrograms are the binaries that are measured.
type deliveryPrograms struct{ function, inprocess string }

// measureDeliveries carries out deliveries in some rounds, and keeps the one with the
// median rate.
func measureDeliveries(ctx context.Context, p deliveryPrograms, deliveries, rounds int) (delivering, error) {
	d := delivering{instances: instancesPerCore * runtime.NumCPU(), rounds: rounds}
	all := make([]effort, rounds)
	for i := range all {
		var err error
		if all[i], d.payload, err = oneRound(ctx, p.function, deliveries, d.instances); err != nil {
			return d, err
		}
	}
	slices.SortFunc(all, func(a, b effort) int { return int(a.wall - b.wall) })
	d.function = all[rounds/2]
	var err error
	d.allocations, d.allocated, err = countAllocations(ctx, p.inprocess, deliveries/10, "")
	return d, err
}

// oneRound makes deliveries, and lets the function carry them out.
func oneRound(ctx context.Context, path string, deliveries, instances int) (e effort, payload int, err error) {
	w, err := newCourier(ctx)
	if err != nil {
		return e, 0, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	batches, err := w.prepare(ctx, deliveries)
	if err != nil {
		return e, 0, err
	}
	f, err := newFeed(ctx, batches)
	if err != nil {
		return e, 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	e.deliveries = deliveries
	if e.wall, e.cpu, err = f.run(ctx, path, instances, w.environment()...); err != nil {
		return e, 0, err
	}
	if n := len(w.double.take()); n > 0 {
		return e, 0, fmt.Errorf("the function put off or passed on %d messages: attempts took long on a busy machine", n)
	}
	sent, err := w.receiver.counted(deliveries)
	if err != nil {
		return e, 0, err
	}
	return e, sent / deliveries, w.recorded(deliveries)
}

// courier is what the deliver function needs around it.
type courier struct {
	double   *double
	receiver *receiver
}

// owner is the owner of what is measured.
var owner = tenant.Of("acc_01h455vb4pex5vsknk084sn02q", tenant.Test)

// sealSecret is what data keys are made from.
const sealSecret = "bench"

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
	to := hook.Ref{Owner: owner, ID: id.New(id.Webhook, now)}
	secret, _, err := hook.NewSecret(ctx, bytes.NewReader(signingKey), sealtest.Envelope(sealSecret), to)
	if err != nil {
		return nil, err
	}
	var maker keyrecord.Record
	maker.ID, maker.Scopes = id.New(id.APIKey, now), auth.AllScopes()
	made, err := store.NewItem("api_key", owner, maker.ID, maker)
	if err != nil {
		return nil, err
	}
	made.Key = hook.MakerKey(owner.Account, maker.ID)
	url := c.receiver.url()
	receiver, err := store.NewItem(hook.Kind, owner, to.ID, hook.Record{
		Webhook: hook.Webhook{Resource: resource.New(to.ID, now, nil), URL: &url, EventTypes: []string{"*"}, State: hook.StateEnabled, CreatedBy: maker.ID},
		Secrets: hook.Secrets{secret},
	})
	if err != nil {
		return nil, err
	}
	receiver.Key = to.Key()
	tx := &store.Tx{}
	tx.Create(receiver, nil)
	tx.Create(made, nil)
	if err := db.Commit(ctx, tx); err != nil {
		return nil, err
	}
	dispatcher := dispatch.New(db, sqsqueue.New(sqs.NewFromConfig(c.double.config()), c.double.address()+"/000000000000/deliver"), time.Now)
	for made := 0; made < deliveries; {
		var batch events.SQSEvent
		for range min(dispatchBatch, deliveries-made) {
			it, err := event.New(now, owner, event.ContentGenerated, sampleObject(now, made), nil)
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
			made++
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
	out, err := runOn(ctx, lines, env, path, args...)
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

// runOn runs a program on an input, and returns its output.
func runOn(ctx context.Context, input []byte, environment []string, path string, args ...string) ([]byte, error) {
	var out, log bytes.Buffer
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = environment, bytes.NewReader(input), &out, &log
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", path, err, log.String())
	}
	return out.Bytes(), nil
}

// markdown writes the section on deliveries.
func (d *delivering) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "The function `deliver`, %d instances with batches of %d messages of up to %d deliveries each, to one receiver by HTTP/2 over TLS, with payloads of %d bytes; %d deliveries, the median of %d rounds.\n\n",
		d.instances, batchSize, dispatchBatch, d.payload, d.function.deliveries, d.rounds)
	b.WriteString("| Deliveries a second | Deliveries a second of CPU time | CPU time of one, ms |\n|---|---|---|\n")
	fmt.Fprintf(&b, "| %.0f | %.0f | %s |\n", d.function.perSecond(), d.function.perCPUSecond(), strconv.FormatFloat(1e3/d.function.perCPUSecond(), 'f', 3, 64))
	fmt.Fprintf(&b, "\nOne delivery makes %.0f allocations of %.1f KB together.\n", d.allocations, d.allocated/1e3)
	return b.String()
}
