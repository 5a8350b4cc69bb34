package job

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

	"github.com/content-automation/api/pkg/httpapi/apitest"
	"github.com/content-automation/api/pkg/queue"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/store/storetest"
	"github.com/content-automation/api/pkg/tenant"
)

func TestAJobIsAnItemThatTheRelayKnows(t *testing.T) {
	clock := apitest.NewClock()
	db := storetest.Open(t, clock.Now)
	j := Job{ID: "job#cnt_1#2", Queue: GenerateText, Subject: "cnt_1", Attempt: 2, Owner: tenant.Of("acc_1", tenant.Test), Turn: 1}
	it, err := Item(clock.Now(), j, j)
	if err != nil {
		t.Fatal(err)
	}
	tx := &store.Tx{}
	tx.Create(it, nil)
	if err := db.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	row := storetest.Rows(t, db)[0]
	if row["kind"] != "job" || row["pk"] != "job#cnt_1#2" || row["owner_pk"] != "" || row["ttl"] != fmt.Sprint(clock.Now().Add(7*24*time.Hour).Unix()) {
		t.Errorf("%v", row)
	}
	var read Job
	if err := json.Unmarshal([]byte(row["doc"]), &read); err != nil || read != j {
		t.Errorf("%+v, %v", read, err)
	}
}

// worker notes what it is asked for, and answers as its function says.
type worker struct {
	do  func(ctx context.Context, j Job) (*Next, error)
	mu  sync.Mutex
	log []string
}

func (w *worker) Do(ctx context.Context, j Job) (*Next, error) {
	w.note("do " + j.Subject)
	return w.do(ctx, j)
}

func (w *worker) note(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = append(w.log, what)
}

// back is a queue that notes in the worker's log what is sent.
type back struct {
	w   *worker
	err error
}

func (b back) Send(_ context.Context, n Next) error {
	b.w.note(fmt.Sprint("send ", n.Job.Subject, " in ", n.Delay))
	return b.err
}

// message is a message that comes for the n-th time.
func message(subject string, n string) events.SQSMessage {
	b, _ := json.Marshal(Job{ID: "job#" + subject, Queue: GenerateText, Subject: subject, Attempt: 1, Owner: tenant.Of("acc_1", tenant.Test)})
	return events.SQSMessage{MessageId: "m-" + subject, Body: string(b), Attributes: map[string]string{"ApproximateReceiveCount": n}}
}

func handle(t *testing.T, c *Consumer, batch ...events.SQSMessage) (failed []string) {
	t.Helper()
	out, err := c.Handle(t.Context(), events.SQSEvent{Records: batch})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range out.BatchItemFailures {
		failed = append(failed, f.ItemIdentifier)
	}
	return failed
}

var errDo = errors.New("it failed")

func TestABatchTellsWhichMessagesFailed(t *testing.T) {
	var mu sync.Mutex
	received := map[string]int{}
	w := &worker{do: func(_ context.Context, j Job) (*Next, error) {
		mu.Lock()
		received[j.Subject] = j.Receives
		mu.Unlock()
		if strings.HasPrefix(j.Subject, "bad") {
			return nil, errDo
		}
		return nil, nil
	}}
	broken := message("x", "1")
	broken.MessageId, broken.Body = "m-broken", "{"
	failed := handle(t, NewConsumer(w, back{w: w}, nil), message("a", "1"), message("bad1", "1"), broken, message("b", "3"), message("bad2", "3"), message("c", ""))
	if want := []string{"m-bad1", "m-broken", "m-bad2"}; !slices.Equal(failed, want) {
		t.Errorf("failed are %v, want %v", failed, want)
	}
	if want := map[string]int{"a": 1, "bad1": 1, "b": 3, "bad2": 3, "c": 0}; !reflect.DeepEqual(received, want) {
		t.Errorf("the worker was asked for %v", received)
	}
}

func TestNoFailureIsAnEmptyList(t *testing.T) {
	w := &worker{do: func(context.Context, Job) (*Next, error) { return nil, nil }}
	for _, batch := range [][]events.SQSMessage{nil, {message("a", "1")}} {
		out, err := NewConsumer(w, back{w: w}, nil).Handle(t.Context(), events.SQSEvent{Records: batch})
		if err != nil {
			t.Fatal(err)
		}
		if b, err := json.Marshal(out); err != nil || string(b) != `{"batchItemFailures":[]}` {
			t.Errorf("answered %s, %v", b, err)
		}
	}
}

func TestWhatFollowsIsSentBeforeTheMessageEnds(t *testing.T) {
	w := &worker{do: func(_ context.Context, j Job) (*Next, error) { return &Next{j, 7 * time.Second}, nil }}
	if failed := handle(t, NewConsumer(w, back{w: w}, nil), message("a", "1")); len(failed) != 0 {
		t.Errorf("failed %v", failed)
	}
	if want := []string{"do a", "send a in 7s"}; !slices.Equal(w.log, want) {
		t.Errorf("%v", w.log)
	}
	// If that fails the message must stay: otherwise nobody would come back.
	if failed := handle(t, NewConsumer(w, back{w, errors.New("no queue")}, nil), message("a", "4")); len(failed) != 1 {
		t.Error("the job is lost")
	}
	w.do = func(context.Context, Job) (*Next, error) { return nil, nil }
	w.log = nil
	if handle(t, NewConsumer(w, back{w: w}, nil), message("a", "1")); !slices.Equal(w.log, []string{"do a"}) {
		t.Errorf("%v", w.log)
	}
}

func TestTheAnswerIsGivenInTime(t *testing.T) {
	w := &worker{do: func(ctx context.Context, j Job) (*Next, error) {
		if j.Subject == "a" {
			return nil, nil
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	end := time.Now().Add(margin + 30*time.Millisecond)
	ctx, cancel := context.WithDeadline(t.Context(), end)
	defer cancel()
	out, err := NewConsumer(w, back{w: w}, nil).Handle(ctx, events.SQSEvent{Records: []events.SQSMessage{message("a", "1"), message("b", "1"), message("c", "1")}})
	if err != nil || len(out.BatchItemFailures) != 2 || ctx.Err() != nil {
		t.Errorf("%+v, %v, %v", out, err, ctx.Err())
	}
}

// sent is a queue that remembers what was sent.
type sent struct {
	messages []queue.Message
	err      error
}

func (s *sent) Send(_ context.Context, messages ...queue.Message) []error {
	s.messages = append(s.messages, messages...)
	failed := make([]error, len(messages))
	for i := range failed {
		failed[i] = s.err
	}
	return failed
}

func TestMessagesGoIntoTheQueuesOfTheirJobs(t *testing.T) {
	text, video := &sent{}, &sent{}
	s := NewSender(map[Queue]queue.Sender{GenerateText: text, GenerateVideo: video})
	j := Job{ID: "job#cnt_1#1", Queue: GenerateVideo, Subject: "cnt_1", Attempt: 1, Owner: tenant.Of("acc_1", tenant.Test), Turn: 3}
	if err := s.Send(t.Context(), Next{j, time.Minute}); err != nil {
		t.Fatal(err)
	}
	b, _ := json.Marshal(j)
	if want := []queue.Message{{Body: string(b), Group: "acc_1", Delay: time.Minute}}; !reflect.DeepEqual(video.messages, want) || len(text.messages) != 0 {
		t.Errorf("sent %+v, %+v", video.messages, text.messages)
	}
	video.err = errors.New("no queue")
	other, unknown := j, j
	other.Queue, unknown.Queue = GenerateText, "none"
	failed := s.SendAll(t.Context(), Next{Job: j}, Next{Job: other}, Next{Job: unknown})
	if !errors.Is(failed[0], video.err) || !strings.Contains(failed[0].Error(), j.ID) || failed[1] != nil || failed[2] == nil {
		t.Errorf("%v", failed)
	}
}

// hider remembers for how long what was hidden.
type hider struct {
	sent
	mu     sync.Mutex
	hidden map[string]time.Duration
}

func (h *hider) ExtendVisibility(_ context.Context, d time.Duration, receipts ...string) []error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range receipts {
		h.hidden[r] = d
	}
	return make([]error, len(receipts))
}

func TestMessagesAreHeldWhileTheyAreWorkedOn(t *testing.T) {
	text := &hider{hidden: map[string]time.Duration{}}
	begun := func() (<-chan time.Time, func()) { return nil, func() {} }
	w := &worker{do: func(_ context.Context, j Job) (*Next, error) {
		if j.Subject != "bad" {
			return nil, nil
		}
		for { // until it is held: that begins beside the work
			text.mu.Lock()
			d := text.hidden["r-bad"]
			text.mu.Unlock()
			if d == queue.HiddenFor {
				return nil, errDo
			}
			if t.Context().Err() != nil {
				return nil, t.Context().Err()
			}
		}
	}}
	good, bad := message("good", "1"), message("bad", "1")
	good.ReceiptHandle, bad.ReceiptHandle = "r-good", "r-bad"
	failed := handle(t, NewConsumer(w, back{w: w}, HoldersOf(map[Queue]*hider{GenerateText: text}, begun)), good, bad)
	if !slices.Equal(failed, []string{"m-bad"}) || text.hidden["r-bad"] != time.Second || text.hidden["r-good"] != queue.HiddenFor {
		t.Errorf("failed %v, hidden %v", failed, text.hidden)
	}
}
