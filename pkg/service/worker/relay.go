package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/area/analytics"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/pkg/task/queue"
)

// RelayedKinds are the kinds of items that the relay sends once they are created. The stream's filter drops all others,
// except the changes that analytics count.
var RelayedKinds = []string{task.ItemKind, task.OutboxKind, event.Kind}

// EventSource is the source of the service's events on the bus.
const EventSource = "content-automation"

// BusEvent is an event for the bus. Detail is its reference in JSON.
type BusEvent struct{ Type, Detail string }

// Bus is the customer's bus.
type Bus interface {
	// Publish makes one call with at most queue.BatchSize events. It returns the error of each event in their order,
	// nil for those that the bus took, or the error of the call.
	Publish(ctx context.Context, batch []BusEvent) ([]error, error)
}

// Relay is the handler of the stream.
type Relay struct {
	queues map[topology.Queue]queue.Sender
	bus    Bus
}

// NewRelay makes a relay that sends jobs to the given queues and events to the bus.
func NewRelay[Q queue.Sender](queues map[topology.Queue]Q, bus Bus) *Relay {
	r := &Relay{map[topology.Queue]queue.Sender{}, bus}
	for name, q := range queues {
		r.queues[name] = q
	}
	return r
}

// Handle sends the items of a batch of the stream's records, which are in the order of their writes, concurrently to
// all destinations. It returns the first record that it could not send: the stream then delivers that record and all
// later ones again. A record that cannot be decoded is skipped and reported.
func (r *Relay) Handle(ctx context.Context, batch events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
	failed := make([]error, len(batch.Records))
	jobs := map[topology.Queue]*bundle[queue.Message]{}
	published := &bundle[BusEvent]{}
	for i, record := range batch.Records {
		it, err := written(record)
		var name topology.Queue
		var m queue.Message
		switch {
		case err != nil:
		case it.Kind == event.Kind:
			var e BusEvent
			if e, err = busEvent(it); err == nil {
				published.add(i, e)
			}
		case it.Kind == task.ItemKind || it.Kind == task.OutboxKind:
			name, m, err = message(it)
		default:
			name, m, err = contribution(it)
		}
		switch {
		case err != nil:
			// A retry would delay all later records, and would not help.
			metric.PutAside("sequence_number", record.Change.SequenceNumber, "kind", it.Kind, "partition", it.PK, "id",
				it.SK, "error", err)
		case name == "":
		case r.queues[name] == nil:
			failed[i] = fmt.Errorf("relay: there is no queue %q", name)
		default:
			if jobs[name] == nil {
				jobs[name] = &bundle[queue.Message]{}
			}
			jobs[name].add(i, m)
		}
	}
	var sending sync.WaitGroup
	for _, name := range slices.Sorted(maps.Keys(jobs)) {
		b := jobs[name]
		sending.Go(func() { b.report(failed, r.queues[name].Send(ctx, b.entries...)) })
	}
	sending.Go(func() { published.report(failed, r.publish(ctx, published.entries)) })
	sending.Wait()
	return response(batch, failed), nil
}

// bundle collects entries of one destination, each with the index of its record.
type bundle[T any] struct {
	places  []int
	entries []T
}

func (b *bundle[T]) add(place int, entry T) {
	b.places, b.entries = append(b.places, place), append(b.entries, entry)
}

// report sets the error of each entry at the index of its record.
func (b *bundle[T]) report(failed, sent []error) {
	for i, err := range sent {
		failed[b.places[i]] = err
	}
}

// written returns the item of a record, if the relay sends something for it: a new item of one of Kinds, or a change
// that may contribute to analytics. Otherwise it returns the zero Item.
func written(record events.DynamoDBEventRecord) (store.Item, error) {
	if record.EventName == string(events.DynamoDBOperationTypeRemove) {
		return store.Item{}, nil
	}
	it, err := store.FromRecord(record.Change.NewImage)
	isNew := record.EventName == string(events.DynamoDBOperationTypeInsert)
	if err == nil && !(isNew && slices.Contains(RelayedKinds, it.Kind)) &&
		!analytics.Passes(it.Kind, it.Filters[analytics.StateFilter]) {
		return store.Item{}, nil
	}
	return it, err
}

// contribution returns a change's contribution to analytics, with its queue.
func contribution(it store.Item) (topology.Queue, queue.Message, error) {
	m, ok, err := analytics.Message(it)
	if !ok {
		return "", m, err
	}
	return topology.Rollup, m, nil
}

// message returns the message of an item, and the name of its queue. The name is empty for a message that is sent
// later, when it is almost due. The message of a task starts its first step. A message of the outbox is sent unchanged.
func message(it store.Item) (topology.Queue, queue.Message, error) {
	var m struct {
		task.Message
		Parked bool
	}
	if err := it.Decode(&m); err != nil || m.Parked {
		return "", queue.Message{}, err
	}
	body := []byte(it.Doc)
	if it.Kind == task.ItemKind {
		var err error
		if body, err = json.Marshal(m.Message); err != nil {
			return "", queue.Message{}, err
		}
	}
	return m.Queue, queue.Message{Body: string(body), Group: m.FairGroup()}, nil
}

// busEvent returns the reference of an event for the bus.
func busEvent(it store.Item) (BusEvent, error) {
	ref := event.RefOf(it)
	if ref.ID == "" || ref.Type == "" {
		return BusEvent{}, fmt.Errorf("relay: the event %q is incomplete", it.PK)
	}
	detail, err := json.Marshal(ref)
	return BusEvent{string(ref.Type), string(detail)}, err
}

func (r *Relay) publish(ctx context.Context, all []BusEvent) []error {
	return queue.InBatches(ctx, len(all), func(ctx context.Context, places []int) ([]error, error) {
		var batch []BusEvent
		for _, i := range places {
			batch = append(batch, all[i])
		}
		failed, err := r.bus.Publish(ctx, batch)
		if err == nil && len(failed) != len(batch) {
			err = errors.New("relay: the bus answered " + strconv.Itoa(len(failed)) + " entries of " +
				strconv.Itoa(len(batch)))
		}
		return failed, err
	})
}

// response returns the first record that failed. An empty list means that all succeeded; null would mean that all
// failed.
func response(batch events.DynamoDBEvent, failed []error) events.DynamoDBEventResponse {
	out := events.DynamoDBEventResponse{BatchItemFailures: []events.DynamoDBBatchItemFailure{}}
	for i, err := range failed {
		if err == nil {
			continue
		}
		sequence := batch.Records[i].Change.SequenceNumber
		slog.Error("record not relayed", "sequence_number", sequence, "error", err)
		metric.Failed()
		if len(out.BatchItemFailures) == 0 {
			out.BatchItemFailures = append(out.BatchItemFailures,
				events.DynamoDBBatchItemFailure{ItemIdentifier: sequence})
		}
	}
	return out
}
