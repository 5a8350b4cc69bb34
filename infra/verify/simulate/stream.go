package simulate

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/content-automation/api/pkg/area/advice"
	"github.com/content-automation/api/pkg/area/analytics"
	"github.com/content-automation/api/pkg/area/automation"
	"github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/area/training"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/store/memtable"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/pkg/task/queue"
)

// shards is the number of parts of the table's stream. Each is in the order of its writes.
const shards = 3

// follower is a function that the stream calls.
type follower struct {
	*function
	// wants reports whether the stream's filter passes a change.
	wants  func(memtable.Change) bool
	shards [shards]shard
}

// shard is the part of the stream that its follower has yet to take.
type shard struct {
	records []events.DynamoDBEventRecord
	busy    bool
}

// relayed reports whether the relay gets a change.
func relayed(c memtable.Change) bool {
	kind := textOf(c.New, "kind")
	return c.Event == "INSERT" && slices.Contains(worker.RelayedKinds, kind) || c.Event != "REMOVE" &&
		analytics.Passes(kind, textOf(c.New, "f_state"))
}

// follow moves the table's changes into the stream.
func (w *world) follow() {
	changes := w.engine.Changes(tableName, w.seen)
	w.seen += len(changes)
	for i, c := range changes {
		w.observe(c)
		h := fnv.New32a()
		_, _ = h.Write([]byte(textOf(c.New, "pk")))
		for _, f := range w.followers {
			if s := &f.shards[h.Sum32()%shards]; f.wants(c) {
				s.records = append(s.records, recordOf(c, w.seen-len(changes)+i))
			}
		}
	}
	for _, f := range w.followers {
		for i := range f.shards {
			w.feed(f, &f.shards[i], 10*time.Millisecond)
		}
	}
}

// recordOf returns the stream's record of a change.
func recordOf(c memtable.Change, position int) events.DynamoDBEventRecord {
	image := map[string]events.DynamoDBAttributeValue{}
	for name, v := range c.New {
		switch v := v.(type) {
		case *types.AttributeValueMemberS:
			image[name] = events.NewStringAttribute(v.Value)
		case *types.AttributeValueMemberB:
			image[name] = events.NewBinaryAttribute(v.Value)
		}
	}
	return events.DynamoDBEventRecord{EventName: c.Event, Change: events.DynamoDBStreamRecord{NewImage: image,
		SequenceNumber: strconv.Itoa(position)}}
}

// feed passes the first records of a shard to its follower after a delay.
func (w *world) feed(f *follower, s *shard, after time.Duration) {
	if s.busy || len(s.records) == 0 {
		return
	}
	s.busy = true
	w.after(after, func() {
		n := 1 + w.random.IntN(min(len(s.records), 20))
		batch := events.DynamoDBEvent{Records: s.records[:n:n]}
		inv := w.invoke(f.function, fmt.Sprint("stream ", n), batch, func(out any) {
			s.busy = false
			failed := out.(events.DynamoDBEventResponse).BatchItemFailures
			if len(failed) == 0 {
				s.records = s.records[n:]
				w.feed(f, s, time.Millisecond)
				return
			}
			for s.records[0].Change.SequenceNumber != failed[0].ItemIdentifier {
				s.records = s.records[1:]
			}
			w.feed(f, s, retry)
		})
		inv.died = append(inv.died, func() {
			s.busy = false
			w.feed(f, s, retry)
		})
	})
}

// textOf returns a text of an item. The text of "doc" is the document, in whichever form it is stored.
func textOf(a attributes, name string) string {
	if name == "doc" {
		var err error
		a, err = store.Unpack(a)
		must(err)
	}
	s, _ := a[name].(*types.AttributeValueMemberS)
	if s == nil {
		return ""
	}
	return s.Value
}

// observe counts accepted work and its ends.
func (w *world) observe(c memtable.Change) {
	w.observeTeam(c)
	switch kind := textOf(c.New, "kind"); kind {
	case task.ItemKind:
		if c.Event == "INSERT" {
			w.Tasks++
		}
	case event.Kind:
		if c.Event == "INSERT" {
			w.happened = append(w.happened, c.New)
		}
	case "content_item", "generation":
		state, before := stateOf(c.New), stateOf(c.Old)
		// An item that was stored as generated does not end work: trainings learn from it.
		pk := textOf(c.New, "pk")
		switch {
		case before == "" || state == before || before == "scheduled" && state == "generated":
		case state == "published":
			w.ends["published "+pk]++
		case state == "failed" && (before == "publishing" || before == "scheduled"):
			w.ends["unpublished "+pk]++
		case state == "generated" || state == "failed":
			w.ends[pk]++
		}
	case advice.DiagnosisItemKind, advice.ProposalItemKind:
		w.observeReview(c)
	case automation.ItemKind:
		w.observeAutomation(c)
	case plan.ItemKind:
		w.observePlan(c)
	case training.ItemKind:
		w.observeTraining(c)
	case webhook.DeliveryKind:
		w.observeHeld(c)
	}
}

func stateOf(a attributes) string {
	var doc struct {
		State string
		Item  struct{ State string } // of a content item
	}
	_ = json.Unmarshal([]byte(textOf(a, "doc")), &doc)
	return cmp.Or(doc.State, doc.Item.State)
}

// bus is the customer's bus. Its only rule sends all events to dispatch.
type bus struct{}

var _ worker.Bus = bus{}

// Publish implements worker.Bus.
func (bus) Publish(ctx context.Context, batch []worker.BusEvent) (failed []error, err error) {
	w := invocationOf(ctx).world
	var details []string
	for _, e := range batch {
		details = append(details, e.Detail)
	}
	err = insist(ctx, func() *call {
		return &call{kind: toBus, key: "PutEvents " + strings.Join(details, " "), lost: errLost, refused: errRefused,
			do: func() error {
				failed = make([]error, len(batch))
				for i, e := range batch {
					if !w.calm && chance(w.random, w.faults.Refuse) {
						failed[i] = &queue.RefusedEntry{Code: "InternalFailure"}
					} else {
						w.queues[topology.Dispatch].put(`{"detail":`+e.Detail+`}`, 0)
					}
				}
				return nil
			}}
	})
	return failed, err
}
