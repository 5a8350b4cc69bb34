package task_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/content-automation/api/pkg/task/queue"
	"github.com/content-automation/api/pkg/task/queue/sqsqueue"
)

// fakeSQS accepts messages, and fails as configured.
type fakeSQS struct {
	calls [][]types.SendMessageBatchRequestEntry
	taken []string
	// hidden are the calls that hide messages.
	hidden [][]types.ChangeMessageVisibilityBatchRequestEntry
	// refuse decides by the message's body and how often it came.
	reject func(body string, seen int) *types.BatchResultErrorEntry
	seen   map[string]int
	down   error
}

func (f *fakeSQS) SendMessageBatch(_ context.Context, in *sqs.SendMessageBatchInput,
	_ ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput, error) {
	f.calls = append(f.calls, in.Entries)
	if f.down != nil {
		return nil, f.down
	}
	if f.seen == nil {
		f.seen = map[string]int{}
	}
	out := &sqs.SendMessageBatchOutput{}
	for _, e := range in.Entries {
		f.seen[*e.MessageBody]++
		if f.reject != nil {
			if r := f.reject(*e.MessageBody, f.seen[*e.MessageBody]); r != nil {
				r.Id = e.Id
				out.Failed = append(out.Failed, *r)
				continue
			}
		}
		f.taken = append(f.taken, *e.MessageBody)
	}
	return out, nil
}

func (f *fakeSQS) ChangeMessageVisibilityBatch(_ context.Context, in *sqs.ChangeMessageVisibilityBatchInput,
	_ ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityBatchOutput, error) {
	f.hidden = append(f.hidden, in.Entries)
	if f.down != nil {
		return nil, f.down
	}
	out := &sqs.ChangeMessageVisibilityBatchOutput{}
	for _, e := range in.Entries {
		if *e.ReceiptHandle == "gone" {
			out.Failed = append(out.Failed,
				types.BatchResultErrorEntry{Id: e.Id, Code: aws.String("ReceiptHandleIsInvalid"), SenderFault: true})
		}
	}
	return out, nil
}

func TestMessagesAreHidden(t *testing.T) {
	f := &fakeSQS{}
	var receipts []string
	for i := range 12 {
		receipts = append(receipts, fmt.Sprint("r", i))
	}
	receipts[11] = "gone"
	failed := sqsqueue.New(f, "url").ExtendVisibility(t.Context(), 3500*time.Millisecond, receipts...)
	if len(f.hidden) != 2 || len(f.hidden[0]) != 10 || len(f.hidden[1]) != 2 {
		t.Fatalf("calls %v", f.hidden)
	}
	for i, err := range failed {
		e := f.hidden[i/10][i%10]
		if *e.ReceiptHandle != receipts[i] || e.VisibilityTimeout != 4 {
			t.Errorf("entry %d is %+v", i, e)
		}
		var refused *queue.RefusedEntry
		if (err != nil) != (i == 11) || err != nil && (!errors.As(err, &refused) || !refused.Final) {
			t.Errorf("%s: %v", receipts[i], err)
		}
	}
	f.down = errors.New("no network")
	if err := sqsqueue.New(f, "url").ExtendVisibility(t.Context(), time.Second, "r1")[0]; !errors.Is(err, f.down) {
		t.Errorf("it gives %v", err)
	}
	if got := sqsqueue.New(f, "url").ExtendVisibility(t.Context(), time.Second); len(got) != 0 {
		t.Errorf("nothing gives %v", got)
	}
}

func messages(n int) (all []queue.Message) {
	for i := range n {
		all = append(all, queue.Message{Body: fmt.Sprintf("m%02d", i), Group: "g"})
	}
	return all
}

func TestSendTakesTenAtATime(t *testing.T) {
	f := &fakeSQS{}
	if err := errors.Join(sqsqueue.New(f, "url").Send(t.Context(), messages(23)...)...); err != nil {
		t.Fatal(err)
	}
	var sizes []int
	for _, c := range f.calls {
		sizes = append(sizes, len(c))
	}
	if !slices.Equal(sizes, []int{10, 10, 3}) || len(f.taken) != 23 {
		t.Errorf("calls of %v, %d taken", sizes, len(f.taken))
	}
	if got := sqsqueue.New(f, "url").Send(t.Context()); len(got) != 0 || len(f.calls) != 3 {
		t.Errorf("nothing to send made a call: %v", got)
	}
}

func TestSendRepeatsOnlyWhatWasRefusedForNow(t *testing.T) {
	f := &fakeSQS{reject: func(body string, seen int) *types.BatchResultErrorEntry {
		switch {
		case body == "m03" && seen < 3:
			return &types.BatchResultErrorEntry{Code: aws.String("InternalError")}
		case body == "m07":
			return &types.BatchResultErrorEntry{Code: aws.String("InvalidMessageContents"), SenderFault: true}
		case body == "m11":
			return &types.BatchResultErrorEntry{Code: aws.String("InternalError")}
		}
		return nil
	}}
	got := sqsqueue.New(f, "url").Send(t.Context(), messages(12)...)
	for i, err := range got {
		if want := i == 7 || i == 11; want != (err != nil) {
			t.Errorf("message %d: %v", i, err)
		}
	}
	if f.seen["m03"] != 3 || f.seen["m07"] != 1 || f.seen["m11"] != 4 || f.seen["m00"] != 1 {
		t.Errorf("sent %v", f.seen)
	}
	var refused *queue.RefusedEntry
	if !errors.As(got[7], &refused) || !refused.Final {
		t.Errorf("the refused message has the error %v", got[7])
	}
}

func TestSendGivesTheErrorOfACallToItsMessages(t *testing.T) {
	f := &fakeSQS{down: errors.New("no route")}
	for i, err := range sqsqueue.New(f, "url").Send(t.Context(), messages(11)...) {
		if !errors.Is(err, f.down) {
			t.Errorf("message %d: %v", i, err)
		}
	}
	if len(f.calls) != 2 {
		t.Errorf("%d calls, want 2: the SDK has repeated each already", len(f.calls))
	}
}

func TestSendStopsRepeatingWhenTheContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f := &fakeSQS{reject: func(string, int) *types.BatchResultErrorEntry {
		cancel()
		return &types.BatchResultErrorEntry{Code: aws.String("InternalError")}
	}}
	if got := sqsqueue.New(f, "url").Send(ctx, messages(1)...); got[0] == nil || len(f.calls) != 1 {
		t.Errorf("%v after %d calls", got, len(f.calls))
	}
}

func TestDelayIsRoundedUpAndBounded(t *testing.T) {
	for delay, want := range map[time.Duration]int32{
		-time.Second: 0, 0: 0, time.Millisecond: 1, 5 * time.Second: 5, 5*time.Second + 1: 6,
		queue.LongestDelay: 900, queue.LongestDelay - 1: 900, 10 * time.Hour: 900,
	} {
		f := &fakeSQS{}
		if err := sqsqueue.New(f, "url").Send(t.Context(), queue.Message{Body: "a", Delay: delay}); err[0] != nil {
			t.Fatal(err)
		}
		if e := f.calls[0][0]; e.DelaySeconds != want || e.MessageGroupId != nil {
			t.Errorf("%v: %d s, want %d; of the group %v", delay, e.DelaySeconds, want, e.MessageGroupId)
		}
	}
}
