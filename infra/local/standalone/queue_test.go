package standalone

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/task/queue"
)

// tested is the queue of most tests: its function takes batches of several messages, without a window.
const tested = topology.GenerateText

func queued(t *testing.T, j journal, name topology.Queue) *messages {
	t.Helper()
	q, err := openQueue(name, j)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func send(t *testing.T, q *messages, delay time.Duration, bodies ...string) {
	t.Helper()
	for _, body := range bodies {
		if err := errors.Join(q.Send(t.Context(), queue.Message{Body: body, Delay: delay})...); err != nil {
			t.Fatal(err)
		}
	}
}

// bodies returns the bodies of messages, in their order.
func bodies(batch []events.SQSMessage) (all []string) {
	for _, m := range batch {
		all = append(all, m.Body)
	}
	slices.Sort(all)
	return all
}

func TestMessagesOutliveTheProcess(t *testing.T) {
	dir := t.TempDir()
	j := opened(t, dir)
	q := queued(t, j, tested)
	send(t, q, 0, "done", "failed", "hidden")
	send(t, q, time.Minute, "later")
	batch, _ := q.receive(3)
	if got := bodies(batch); len(got) != 3 {
		t.Fatalf("received %v", got)
	}
	var out events.SQSEventResponse
	finished := batch[:0:0]
	for _, m := range batch {
		switch m.Body {
		case "failed":
			out.BatchItemFailures = append(out.BatchItemFailures,
				events.SQSBatchItemFailure{ItemIdentifier: m.MessageId})
			fallthrough
		case "done":
			finished = append(finished, m)
		}
	}
	q.finish(finished, out)
	check := func(when, dir string) {
		t.Helper()
		q := queued(t, opened(t, dir), tested)
		batch, first := q.receive(10)
		if !reflect.DeepEqual(bodies(batch), []string{"failed", "hidden"}) || q.waiting() != 3 ||
			time.Until(first) < 50*time.Second {
			t.Errorf("%s: received %v of %d, the first then in %v", when, bodies(batch), q.waiting(), time.Until(first))
		}
		for _, m := range batch {
			if n := queue.Receives(m); m.Body == "failed" && n != 2 {
				t.Errorf("%s: the failed message was received %d times", when, n)
			}
		}
	}
	check("killed", copied(t, dir))
	if err := j.close(); err != nil {
		t.Fatal(err)
	}
	check("closed", dir)
}

func TestAMessageThatCannotBeReadIsAnError(t *testing.T) {
	j := opened(t, t.TempDir())
	j.write(entry{"queue/" + string(tested), "1", []byte("[")})
	if _, err := openQueue(tested, j); err == nil {
		t.Error("no error")
	}
}

func TestAMessageIsHiddenWhileItIsInWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queued(t, journal{}, tested)
		began := time.Now()
		send(t, q, time.Second, "one")
		if batch, first := q.receive(1); batch != nil || !first.Equal(began.Add(time.Second)) {
			t.Errorf("at once: %v, %v", batch, first)
		}
		<-time.After(time.Second)
		batch, first := q.receive(1)
		if len(batch) != 1 || queue.Receives(batch[0]) != 1 || !first.Equal(time.Now().Add(tested.Visibility())) {
			t.Fatalf("after its delay: %v, %v", batch, first)
		}
		<-time.After(tested.Visibility() - 1)
		if again, _ := q.receive(1); again != nil {
			t.Errorf("while it is hidden: %v", again)
		}
		if failed := q.ExtendVisibility(t.Context(), time.Hour, batch[0].ReceiptHandle, "none#1"); failed[0] != nil ||
			!errors.Is(failed[1], errReceipt) {
			t.Errorf("extended: %v", failed)
		}
		<-time.After(time.Hour - 1)
		if again, _ := q.receive(1); again != nil {
			t.Errorf("while it is hidden for longer: %v", again)
		}
		<-time.After(1)
		if again, _ := q.receive(1); len(again) != 1 || queue.Receives(again[0]) != 2 {
			t.Errorf("then: %v", again)
		}
		q.finish(batch, events.SQSEventResponse{})
		failed := q.ExtendVisibility(t.Context(), time.Hour, batch[0].ReceiptHandle)
		if !errors.Is(failed[0], errReceipt) {
			t.Errorf("a removed message is extended: %v", failed)
		}
		if q.waiting() != 0 {
			t.Errorf("%d messages are left", q.waiting())
		}
		send(t, q, 24*time.Hour, "late")
		if _, first := q.receive(1); !first.Equal(time.Now().Add(queue.LongestDelay)) {
			t.Errorf("the longest delay ends at %v", first)
		}
	})
}

// consumer is a function that consumes a queue.
type consumer struct {
	mu       sync.Mutex
	calls    []string // bodies of each call, with the receive count of the first message
	inWork   int
	most     int // at a time
	work     time.Duration
	answer   func(call int, in events.SQSEvent) (events.SQSEventResponse, error)
	canceled int
}

func (c *consumer) handle(ctx context.Context, in events.SQSEvent) (events.SQSEventResponse, error) {
	c.mu.Lock()
	c.calls = append(c.calls, fmt.Sprint(bodies(in.Records), " ", queue.Receives(in.Records[0])))
	call := len(c.calls)
	c.inWork++
	c.most = max(c.most, c.inWork)
	c.mu.Unlock()
	worked := sleep(ctx, c.work)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inWork--
	if !worked {
		c.canceled++
		return events.SQSEventResponse{}, ctx.Err()
	}
	if c.answer == nil {
		return events.SQSEventResponse{}, nil
	}
	return c.answer(call, in)
}

var _ worker.Consumer = (&consumer{}).handle

// consumed runs a consumer until the returned function is called, which waits for its end.
func consumed(t *testing.T, q *messages, f topology.Function, slots int, c *consumer) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		q.consume(ctx, f, slots, c.handle)
		close(ended)
	}()
	return func() {
		cancel()
		<-ended
	}
}

func TestFailedMessagesComeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queued(t, journal{}, tested)
		c := &consumer{answer: func(call int, in events.SQSEvent) (out events.SQSEventResponse, err error) {
			switch call {
			case 1: // one of both
				for _, m := range in.Records {
					if m.Body == "bad" {
						out.BatchItemFailures = []events.SQSBatchItemFailure{{ItemIdentifier: m.MessageId}}
					}
				}
			case 2:
				return out, errors.New("broken")
			case 3:
				panic("broken")
			}
			return out, nil
		}}
		send(t, q, 0, "bad", "good")
		end := consumed(t, q, tested.Consumer(), 1, c)
		<-time.After(3*tested.Visibility() - 1)
		synctest.Wait()
		if len(c.calls) != 3 || q.waiting() != 1 {
			t.Errorf("%d messages wait: %v", q.waiting(), c.calls)
		}
		<-time.After(1)
		synctest.Wait()
		if want := []string{"[bad good] 1", "[bad] 2", "[bad] 3", "[bad] 4"}; !reflect.DeepEqual(c.calls, want) {
			t.Errorf("the calls: %v", c.calls)
		}
		if q.waiting() != 0 {
			t.Errorf("%d messages are left", q.waiting())
		}
		end()
	})
}

func TestAMessageThatAlwaysFailsIsADeadLetter(t *testing.T) {
	dir := t.TempDir()
	j := opened(t, dir)
	synctest.Test(t, func(t *testing.T) {
		q := queued(t, j, tested)
		c := &consumer{answer: func(int, events.SQSEvent) (events.SQSEventResponse, error) {
			return events.SQSEventResponse{}, errors.New("broken")
		}}
		send(t, q, 0, "bad")
		end := consumed(t, q, tested.Consumer(), 1, c)
		<-time.After(time.Duration(tested.Receives()+1) * tested.Visibility())
		synctest.Wait()
		if len(c.calls) != tested.Receives() || q.waiting() != 0 {
			t.Errorf("%d calls, %d messages wait", len(c.calls), q.waiting())
		}
		end()
	})
	if left, dead := values(t, j, "queue/"+string(tested)), values(t, j, "dead/"+string(tested)); len(left) != 0 ||
		len(dead) != 1 {
		t.Errorf("the journal has %v and %v", left, dead)
	}
	if q := queued(t, opened(t, copied(t, dir)), tested); q.waiting() != 0 {
		t.Errorf("a dead letter comes again")
	}
}

// A message that ends the process must become a dead letter, too.
func TestReceivesAreCountedBeyondTheProcess(t *testing.T) {
	dir := t.TempDir()
	send(t, queued(t, opened(t, dir), tested), 0, "bad")
	received := 0
	for range tested.Receives() + 5 {
		dir = copied(t, dir)
		batch, _ := queued(t, opened(t, dir), tested).receive(1)
		received += len(batch)
	}
	if received != tested.Receives() {
		t.Errorf("it was received %d times", received)
	}
}

func TestSlotsBoundTheBatchesAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queued(t, journal{}, tested)
		f := tested.Consumer()
		const slots, batches = 3, 8
		for i := range batches * f.Batch {
			send(t, q, 0, fmt.Sprint(i))
		}
		c := &consumer{work: time.Second}
		end := consumed(t, q, f, slots, c)
		<-time.After(3*time.Second + 1)
		synctest.Wait()
		if c.most != slots || len(c.calls) != batches || q.waiting() != 0 {
			t.Errorf("%d batches at a time, %d in all, %d messages wait", c.most, len(c.calls), q.waiting())
		}
		end()
	})
}

func TestAWindowCollectsMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const name = topology.Rollup
		q, f := queued(t, journal{}, name), name.Consumer()
		c := &consumer{}
		end := consumed(t, q, f, 1, c)
		send(t, q, 0, "1")
		<-time.After(longestWindow - 1)
		send(t, q, 0, "2", "3")
		<-time.After(1)
		synctest.Wait()
		if want := []string{"[1 2 3] 1"}; !reflect.DeepEqual(c.calls, want) {
			t.Errorf("the calls: %v", c.calls)
		}
		end()
	})
}

func TestAnEndedConsumerLeavesItsMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queued(t, journal{}, tested)
		c := &consumer{work: time.Hour}
		send(t, q, 0, "one")
		send(t, q, time.Hour, "two")
		end := consumed(t, q, tested.Consumer(), 2, c)
		synctest.Wait()
		end()
		if len(c.calls) != 1 || c.canceled != 1 || c.inWork != 0 || q.waiting() != 2 {
			t.Errorf("calls %v, %d canceled, %d in work, %d messages", c.calls, c.canceled, c.inWork, q.waiting())
		}
		// A call that takes longer than its function may is canceled, too.
		c = &consumer{work: tested.Consumer().Timeout + time.Second}
		q = queued(t, journal{}, tested)
		send(t, q, 0, "slow")
		end = consumed(t, q, tested.Consumer(), 1, c)
		<-time.After(tested.Consumer().Timeout)
		synctest.Wait()
		if c.canceled != 1 || q.waiting() != 1 {
			t.Errorf("%d canceled, %d messages", c.canceled, q.waiting())
		}
		end()
	})
}

// waiting returns the number of messages.
func (q *messages) waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.byID)
}
