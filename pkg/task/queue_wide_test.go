package task_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/content-automation/api/pkg/task/queue"
)

// meeting is a sender whose calls wait for one another.
type meeting struct {
	mu    sync.Mutex
	calls []int
	meet  chan struct{}
}

var errRefusedHere = errors.New("no")

func (s *meeting) Send(_ context.Context, messages ...queue.Message) []error {
	s.mu.Lock()
	s.calls = append(s.calls, len(messages))
	if len(s.calls) == 4 {
		close(s.meet)
	}
	s.mu.Unlock()
	<-s.meet
	failed := make([]error, len(messages))
	for i, m := range messages {
		if m.Body == "7" || m.Body == "44" {
			failed[i] = errRefusedHere
		}
	}
	return failed
}

// The calls of a wide sender go out side by side, and each error is at its message's place.
func TestAWideSenderMakesSeveralCallsAtATime(t *testing.T) {
	s := &meeting{meet: make(chan struct{})}
	var all []queue.Message
	for i := range 45 {
		all = append(all, queue.Message{Body: fmt.Sprint(i)})
	}
	for i, err := range queue.Wide(s).Send(t.Context(), all...) {
		if want := i == 7 || i == 44; (err != nil) != want {
			t.Errorf("%d: %v", i, err)
		}
	}
	if len(s.calls) != 5 {
		t.Errorf("calls of %v messages", s.calls)
	}
}
