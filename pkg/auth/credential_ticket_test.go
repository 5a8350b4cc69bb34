package auth_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/auth/credential"
)

// The calls that belong to a counted call are not counted, for a minute, and with the ticket of that credential alone.
func TestCallsWithATicketAreNotCounted(t *testing.T) {
	w := newCredentialWorld(t, credentialSecret("0"), credentialSecret("1"))
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

// A ticket cannot be made or changed without the key of the credential, which no answer has.
func TestForgedTicketsDoNotHold(t *testing.T) {
	w := newCredentialWorld(t, credentialSecret("0"), credentialSecret("1"))
	now := w.Clock.Now()
	forged := func(key string) string {
		stamp := strconv.FormatInt(now.Unix(), 10) + ".x"
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write([]byte(stamp))
		return stamp + "." + hex.EncodeToString(mac.Sum(nil))
	}
	// The credential 1 was never used, and so has no key yet.
	for _, hash := range []string{"0", "1"} {
		for _, key := range []string{"", hash, "secret"} {
			if s, err := w.counter.Counted(t.Context(), hash, forged(key)); s != nil || err != nil {
				t.Errorf("a ticket of the key %q holds for %s: %+v, %v", key, hash, s, err)
			}
		}
	}
	ticket := w.call("0", window).Ticket(now)
	_, rest, _ := strings.Cut(ticket, ".")
	later := strconv.FormatInt(now.Add(50*time.Second).Unix(), 10) + "." + rest
	w.Clock.Add(70 * time.Second)
	for _, bad := range []string{later, strings.ToUpper(later), later + later} {
		if s, err := w.counter.Counted(t.Context(), "0", bad); s != nil || err != nil {
			t.Errorf("a ticket whose time was changed holds: %+v, %v", s, err)
		}
	}
}

// A credential without a key makes no ticket.
func TestACredentialWithoutAKeyMakesNoTicket(t *testing.T) {
	if ticket := (&credential.Credential{}).Ticket(time.Now()); ticket != "" {
		t.Errorf("%q", ticket)
	}
}
