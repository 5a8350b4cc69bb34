package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/httpapi/apitest"
	"github.com/content-automation/api/pkg/queue"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/store/storetest"
)

func TestAJobIsAnItemThatTheRelayKnows(t *testing.T) {
	clock := apitest.NewClock()
	db := storetest.Open(t, clock.Now)
	it, err := New(clock.Now(), Generate, "acc_1", "test", "cnt_1", 2)
	if err != nil {
		t.Fatal(err)
	}
	tx := &store.Tx{}
	tx.Create(it, nil)
	if err := db.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	row := storetest.Rows(t, db)[0]
	if row["kind"] != "job" || row["pk"] != "job#cnt_1#2" || row["g1pk"] != "" || row["ttl"] != fmt.Sprint(clock.Now().Add(7*24*time.Hour).Unix()) {
		t.Errorf("%v", row)
	}
	var j Job
	if err := json.Unmarshal([]byte(row["doc"]), &j); err != nil || j != (Job{ID: "job#cnt_1#2", Queue: "generate", Subject: "cnt_1", Attempt: 2, Account: "acc_1", Mode: "test"}) {
		t.Errorf("%+v, %v", j, err)
	}
	// One attempt has one job.
	again, err := New(clock.Now().Add(time.Hour), Generate, "acc_1", "test", "cnt_1", 2)
	if err != nil {
		t.Fatal(err)
	}
	tx = &store.Tx{}
	tx.Create(again, nil)
	if err := db.Commit(t.Context(), tx); !errors.Is(err, store.ErrConflict) {
		t.Errorf("a second job of the attempt: %v", err)
	}
}

// worker notes what it is asked for, and answers as its functions say.
type worker struct {
	do     func(ctx context.Context, j Job) (time.Duration, error)
	giveUp func(ctx context.Context, j Job, cause error) error
	log    []string
}

func (w *worker) Do(ctx context.Context, j Job) (time.Duration, error) {
	w.log = append(w.log, "do "+j.Subject)
	return w.do(ctx, j)
}

func (w *worker) GiveUp(ctx context.Context, j Job, cause error) error {
	w.log = append(w.log, "give up "+j.Subject)
	return w.giveUp(ctx, j, cause)
}

// back is a queue that notes in the worker's log what is put back.
type back struct {
	w   *worker
	err error
}

func (b back) Requeue(_ context.Context, j Job, delay time.Duration) error {
	b.w.log = append(b.w.log, fmt.Sprint("put back ", j.Subject, " for ", delay))
	return b.err
}

// message is a message that comes for the n-th time.
func message(subject string, n string) events.SQSMessage {
	b, _ := json.Marshal(Job{ID: "job#" + subject, Queue: Generate, Subject: subject, Attempt: 1, Account: "acc_1", Mode: "test"})
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
	w := &worker{do: func(_ context.Context, j Job) (time.Duration, error) {
		if strings.HasPrefix(j.Subject, "bad") {
			return 0, errDo
		}
		return 0, nil
	}}
	broken := message("x", "1")
	broken.MessageId, broken.Body = "m-broken", "{"
	failed := handle(t, NewConsumer(w, back{w: w}), message("a", "1"), message("bad1", "1"), broken, message("b", "3"), message("bad2", "3"), message("c", ""))
	if want := []string{"m-bad1", "m-broken", "m-bad2"}; !slices.Equal(failed, want) {
		t.Errorf("failed are %v, want %v", failed, want)
	}
	if want := []string{"do a", "do bad1", "do b", "do bad2", "do c"}; !slices.Equal(w.log, want) {
		t.Errorf("the worker was asked for %v", w.log)
	}
}

func TestNoFailureIsAnEmptyList(t *testing.T) {
	w := &worker{do: func(context.Context, Job) (time.Duration, error) { return 0, nil }}
	for _, batch := range [][]events.SQSMessage{nil, {message("a", "1")}} {
		out, err := NewConsumer(w, back{w: w}).Handle(t.Context(), events.SQSEvent{Records: batch})
		if err != nil {
			t.Fatal(err)
		}
		if b, err := json.Marshal(out); err != nil || string(b) != `{"batchItemFailures":[]}` {
			t.Errorf("answered %s, %v", b, err)
		}
	}
}

func TestAJobIsGivenUpAtTheFourthTry(t *testing.T) {
	var cause error
	w := &worker{
		do:     func(context.Context, Job) (time.Duration, error) { return 0, errDo },
		giveUp: func(_ context.Context, _ Job, c error) error { cause = c; return nil },
	}
	c := NewConsumer(w, back{w: w})
	for _, n := range []string{"1", "2", "3", "", "many"} {
		if failed := handle(t, c, message("a", n)); len(failed) != 1 {
			t.Errorf("try %s is the last", n)
		}
	}
	if slices.Contains(w.log, "give up a") {
		t.Errorf("%v", w.log)
	}
	for _, n := range []string{"4", "5"} {
		w.log, cause = nil, nil
		if failed := handle(t, c, message("a", n)); len(failed) != 0 || !slices.Equal(w.log, []string{"do a", "give up a"}) || !errors.Is(cause, errDo) {
			t.Errorf("try %s: failed %v, %v for %v", n, failed, w.log, cause)
		}
	}
	// What cannot even be given up comes again, until the queue puts it aside.
	w.giveUp = func(context.Context, Job, error) error { return errors.New("the table is gone") }
	if failed := handle(t, c, message("a", "4")); len(failed) != 1 {
		t.Error("it is gone")
	}
	// A job that another delivery of it has overtaken has not failed.
	w.log = nil
	w.do = func(context.Context, Job) (time.Duration, error) { return 0, fmt.Errorf("save: %w", store.ErrConflict) }
	if failed := handle(t, c, message("a", "4")); len(failed) != 1 || !slices.Equal(w.log, []string{"do a"}) {
		t.Errorf("failed %v, %v", failed, w.log)
	}
}

func TestAJobThatWaitsIsPutBackBeforeItsMessageEnds(t *testing.T) {
	w := &worker{do: func(context.Context, Job) (time.Duration, error) { return 7 * time.Second, nil }}
	if failed := handle(t, NewConsumer(w, back{w: w}), message("a", "1")); len(failed) != 0 {
		t.Errorf("failed %v", failed)
	}
	if want := []string{"do a", "put back a for 7s"}; !slices.Equal(w.log, want) {
		t.Errorf("%v", w.log)
	}
	// If that fails the message must stay: otherwise nobody would come back.
	if failed := handle(t, NewConsumer(w, back{w, errors.New("no queue")}), message("a", "4")); len(failed) != 1 {
		t.Error("the job is lost")
	}
	w.do = func(context.Context, Job) (time.Duration, error) { return 0, nil }
	w.log = nil
	if handle(t, NewConsumer(w, back{w: w}), message("a", "1")); !slices.Equal(w.log, []string{"do a"}) {
		t.Errorf("%v", w.log)
	}
}

func TestTheAnswerIsGivenInTime(t *testing.T) {
	w := &worker{do: func(ctx context.Context, j Job) (time.Duration, error) {
		if j.Subject == "a" {
			return 0, nil
		}
		<-ctx.Done()
		return 0, ctx.Err()
	}}
	end := time.Now().Add(margin + 30*time.Millisecond)
	ctx, cancel := context.WithDeadline(t.Context(), end)
	defer cancel()
	out, err := NewConsumer(w, back{w: w}).Handle(ctx, events.SQSEvent{Records: []events.SQSMessage{message("a", "1"), message("b", "1"), message("c", "1")}})
	if err != nil || len(out.BatchItemFailures) != 2 || ctx.Err() != nil {
		t.Errorf("%+v, %v, %v", out, err, ctx.Err())
	}
}

// sender is a queue that remembers what was sent.
type sender struct {
	sent []queue.Message
	err  error
}

func (s *sender) Send(_ context.Context, messages ...queue.Message) []error {
	s.sent = append(s.sent, messages...)
	return []error{s.err}
}

func TestRequeue(t *testing.T) {
	s := &sender{}
	j := Job{ID: "job#cnt_1#1", Queue: Generate, Subject: "cnt_1", Attempt: 1, Account: "acc_1", Mode: "test"}
	if err := NewRequeuer(s).Requeue(t.Context(), j, time.Minute); err != nil {
		t.Fatal(err)
	}
	b, _ := json.Marshal(j)
	if want := []queue.Message{{Body: string(b), Group: "acc_1", Delay: time.Minute}}; !reflect.DeepEqual(s.sent, want) {
		t.Errorf("sent %+v", s.sent)
	}
	s.err = errors.New("no queue")
	if err := NewRequeuer(s).Requeue(t.Context(), j, 0); !errors.Is(err, s.err) || !strings.Contains(err.Error(), j.ID) {
		t.Errorf("%v", err)
	}
}
