package task_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/pkg/task/queue"
)

// sent is a queue that records the messages that were sent, and for how long messages were hidden.
type sent struct {
	mu       sync.Mutex
	messages []queue.Message
	hidden   map[string]time.Duration
	err      error
}

func (s *sent) Send(_ context.Context, messages ...queue.Message) []error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages = append(s.messages, messages...)
	failed := make([]error, len(messages))
	for i := range failed {
		failed[i] = s.err
	}
	return failed
}

func (s *sent) ExtendVisibility(_ context.Context, d time.Duration, receipts ...string) []error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hidden == nil {
		s.hidden = map[string]time.Duration{}
	}
	for _, r := range receipts {
		s.hidden[r] = d
	}
	return make([]error, len(receipts))
}

func still() (<-chan time.Time, func()) { return nil, func() {} }

// record is a message for a task, received for the n-th time.
func record(id string, step int, n string) events.SQSMessage {
	b, _ := json.Marshal(task.Message{ID: id, Kind: count, Queue: topology.GenerateText, Step: step, Owner: owner})
	return events.SQSMessage{MessageId: "m-" + id, ReceiptHandle: "r-" + id, Body: string(b),
		Attributes: map[string]string{"ApproximateReceiveCount": n}}
}

func (w *world) handle(ctx context.Context, text *sent, batch ...events.SQSMessage) (failed []string) {
	w.Helper()
	c := task.NewConsumer(w.kernel, map[topology.Queue]*sent{topology.GenerateText: text,
		topology.GenerateVideo: text}, still)
	out, err := c.Handle(ctx, events.SQSEvent{Records: batch})
	if err != nil {
		w.Fatal(err)
	}
	for _, f := range out.BatchItemFailures {
		failed = append(failed, f.ItemIdentifier)
	}
	return failed
}

func TestABatchReportsWhichMessagesFailed(t *testing.T) {
	w := newWorld(t, &handler{step: up(9)})
	text := &sent{}
	broken := record("x", 1, "1")
	broken.MessageId, broken.Body = "m-broken", "{"
	if failed := w.handle(t.Context(), text, record("none", 1, "1"), broken,
		record("task#1", 1, "1")); !slices.Equal(failed, []string{"m-broken"}) {
		t.Errorf("failed are %v", failed)
	}
	var m task.Message
	if len(text.messages) != 1 || json.Unmarshal([]byte(text.messages[0].Body), &m) != nil || m.Step != 2 ||
		text.messages[0].Delay != time.Minute || text.messages[0].Group != "acc_1#live" {
		t.Errorf("%+v", text.messages)
	}
	// Where the next message cannot be sent, this one stays: received again, it leads to
	// the next.
	text.err = errNo
	w.clock.Add(time.Minute)
	if failed := w.handle(t.Context(), text, record("task#1", 2, "1")); len(failed) != 1 ||
		text.hidden["r-task#1"] != time.Second {
		t.Errorf("failed %v, hidden %v", failed, text.hidden)
	}
	text.err = nil
	if failed := w.handle(t.Context(), text, record("task#1", 2, "2")); len(failed) != 0 || len(text.messages) != 3 {
		t.Errorf("failed %v, sent %+v", failed, text.messages)
	}
}

func TestNoFailureIsAnEmptyList(t *testing.T) {
	c := task.NewConsumer(task.NewKernel(task.Config{}), map[topology.Queue]*sent{}, still)
	out, err := c.Handle(t.Context(), events.SQSEvent{})
	if b, failed := json.Marshal(out); err != nil || failed != nil || string(b) != `{"batchItemFailures":[]}` {
		t.Errorf("answered %s, %v", b, err)
	}
}

func TestMessagesAreHeldWhileTheyAreWorkedOnAndAnsweredInTime(t *testing.T) {
	text := &sent{}
	w := newWorld(t, &handler{step: func(ctx context.Context, _ *task.Step) (task.Outcome, error) {
		<-ctx.Done()
		return task.Outcome{}, ctx.Err()
	}})
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(time.Second+200*time.Millisecond))
	defer cancel()
	failed := w.handle(ctx, text, record("task#1", 1, "1"))
	if !slices.Equal(failed, []string{"m-task#1"}) || ctx.Err() != nil || text.hidden["r-task#1"] == 0 {
		t.Errorf("failed %v, %v, hidden %v", failed, ctx.Err(), text.hidden)
	}
	if got, state := w.task(); got.Step != 1 || got.Failures != 0 || state != "running" {
		t.Errorf("a step that was cut off is %s: %+v", state, got)
	}
}

func TestMessagesAreSentToTheQueueOfTheirTask(t *testing.T) {
	text, video := &sent{}, &sent{err: errNo}
	s := task.NewSender(map[topology.Queue]*sent{topology.GenerateText: text, topology.GenerateVideo: video})
	of := func(q topology.Queue) task.Next {
		return task.Next{Message: task.Message{ID: "task#" + string(q), Queue: q, Owner: owner}}
	}
	failed := s.SendAll(t.Context(), of(topology.GenerateVideo), of(topology.GenerateText), of("none"))
	if !errors.Is(failed[0], errNo) || !strings.Contains(failed[0].Error(), "task#generate-video") ||
		failed[1] != nil || failed[2] == nil || len(text.messages) != 1 {
		t.Errorf("%v, %+v", failed, text.messages)
	}
}

func TestAMessageInTheOutbox(t *testing.T) {
	w := newWorld(t, &handler{})
	body := map[string]string{"queue": "deliver", "what": "it"}
	w.commit(func(tx *store.Tx) {
		if err := task.Outbox(tx, w.clock.Now(), owner, "message#1", body); err != nil {
			t.Fatal(err)
		}
	})
	for _, row := range storetest.Rows(t, w.db) {
		if row["pk"] != "message#1" {
			continue
		}
		var doc map[string]string
		if err := json.Unmarshal([]byte(row["doc"]), &doc); err != nil || !reflect.DeepEqual(doc, body) ||
			row["kind"] != task.OutboxKind || row["owner_pk"] != "" ||
			row["ttl"] != fmt.Sprint(w.clock.Now().Add(7*24*time.Hour).Unix()) {
			t.Errorf("%v, %v", row, err)
		}
		return
	}
	t.Error("there is none")
}
