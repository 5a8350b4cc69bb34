package audit_test

import (
	"context"
	"errors"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/area/audit/chain"
)

// handler fails with records of some sequence numbers, and counts those that it is called with.
type handler struct {
	fails string
	err   error
	seen  int
}

func (h *handler) handle(_ context.Context, batch events.DynamoDBEvent) (out events.DynamoDBEventResponse, err error) {
	h.seen += len(batch.Records)
	if h.fails != "" {
		out.BatchItemFailures = []events.DynamoDBBatchItemFailure{{ItemIdentifier: h.fails}}
	}
	return out, h.err
}

func TestTheFirstFailureOfAnyHandlerComesAgain(t *testing.T) {
	batch := events.DynamoDBEvent{}
	for _, n := range []string{"7", "8", "9", "10"} {
		batch.Records = append(batch.Records,
			events.DynamoDBEventRecord{Change: events.DynamoDBStreamRecord{SequenceNumber: n}})
	}
	for _, test := range []struct{ one, other, want string }{{"", "", ""}, {"9", "", "9"}, {"", "10", "10"},
		{"10", "8", "8"}, {"7", "9", "7"}} {
		one, other := &handler{fails: test.one}, &handler{fails: test.other}
		out, err := chain.Follow(one.handle, other.handle)(t.Context(), batch)
		got := ""
		for _, f := range out.BatchItemFailures {
			got += f.ItemIdentifier
		}
		if err != nil || got != test.want || out.BatchItemFailures == nil || one.seen != 4 || other.seen != 4 {
			t.Errorf("%+v: %q, %v; they saw %d and %d records", test, got, err, one.seen, other.seen)
		}
	}
	failed := errors.New("no")
	if _, err := chain.Follow((&handler{}).handle, (&handler{err: failed}).handle)(t.Context(),
		batch); !errors.Is(err, failed) {
		t.Error(err)
	}
}
