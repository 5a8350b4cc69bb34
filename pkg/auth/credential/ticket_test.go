package credential_test

import (
	"testing"
	"time"
)

// The calls that belong to a counted call are not counted, for a minute, and with the ticket of that credential alone.
func TestCallsWithATicketAreNotCounted(t *testing.T) {
	w := newWorld(t, secret("0"), secret("1"))
	first := w.call("0", window)
	ticket := first.Ticket(w.Clock.Now())
	other := w.call("1", window).Ticket(w.Clock.Now())
	for range 5 {
		s, err := w.counter.Counted(t.Context(), "0", ticket)
		if err != nil || s == nil || s.Count != 1 {
			t.Fatalf("%+v, %v", s, err)
		}
	}
	if s := w.call("0", window); s.Count != 2 {
		t.Errorf("the next call was counted as %d", s.Count)
	}
	for range 2 * first.Limit {
		w.call("0", window)
	}
	if s, err := w.counter.Counted(t.Context(), "0", ticket); err != nil || s == nil || s.Count > s.Limit {
		t.Errorf("a part of an admitted call waits for others: %+v, %v", s, err)
	}
	for _, bad := range []string{"", ".", other, ticket + "0", "9" + ticket, ticket[1:]} {
		if s, err := w.counter.Counted(t.Context(), "0", bad); s != nil || err != nil {
			t.Errorf("the ticket %q holds: %+v, %v", bad, s, err)
		}
	}
	w.Clock.Add(time.Minute + time.Second)
	if s, err := w.counter.Counted(t.Context(), "0", ticket); s != nil || err != nil {
		t.Errorf("the ticket holds after a minute: %+v, %v", s, err)
	}
}
