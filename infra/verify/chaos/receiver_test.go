package main

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// send sends an event to a mailbox, signed with a secret.
func send(t *testing.T, m *mailbox, secret, id, subject string) int {
	t.Helper()
	signer, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	body := fmt.Appendf(nil, `{"id":%q,"data":{"object":{"id":%q}}}`, strings.TrimPrefix(id, "other-"), subject)
	now := time.Now()
	signature, err := signer.Sign(id, now, body)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, m.url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("webhook-id", id)
	req.Header.Set("webhook-timestamp", strconv.FormatInt(now.Unix(), 10))
	req.Header.Set("webhook-signature", signature)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

func newTestReceiver(t *testing.T) *receiver {
	t.Helper()
	r, err := newReceiver(t.Context(), "http://127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func TestAMailboxCountsWhatComes(t *testing.T) {
	r := newTestReceiver(t)
	a, b := r.open("a"), r.open("b")
	for _, m := range []*mailbox{a, b} {
		if err := m.sign(secret); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range []struct {
		to          *mailbox
		id, subject string
	}{{a, "evt_1", "cnt_1"}, {a, "evt_2", "cnt_2"}, {a, "evt_1", "cnt_1"}, {b, "evt_1", "cnt_1"}} {
		if status := send(t, e.to, secret, e.id, e.subject); status != http.StatusNoContent {
			t.Errorf("%s is answered with %d", e.id, status)
		}
	}
	for m, want := range map[*mailbox]map[string]int{a: {"cnt_1": 2, "cnt_2": 1}, b: {"cnt_1": 1}} {
		came, err := m.all()
		if err != nil || len(came) != len(want) {
			t.Errorf("there came %+v, %v", came, err)
		}
		for _, c := range came {
			if c.times != want[c.subject] {
				t.Errorf("%+v came not %d times", c, want[c.subject])
			}
		}
	}
}

func TestAMailboxVerifies(t *testing.T) {
	for says, e := range map[string]struct{ secret, id string }{
		"no matching signature found": {"whsec_" + "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=", "evt_1"},
		`the webhook-id is`:           {secret, "other-evt_1"},
	} {
		m := newTestReceiver(t).open("a")
		if err := m.sign(secret); err != nil {
			t.Fatal(err)
		}
		send(t, m, e.secret, e.id, "cnt_1")
		if came, err := m.all(); err == nil || !strings.Contains(err.Error(), says) || len(came) != 0 {
			t.Errorf("want %q, got %+v, %v", says, came, err)
		}
	}
}
