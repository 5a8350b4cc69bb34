package webhook

import (
	"crypto/rand"
	"net/http"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func TestTheOfficialLibraryVerifiesEachSecret(t *testing.T) {
	now := time.Now()
	ended, later := now, now.Add(time.Hour)
	var ss secrets
	for _, until := range []*time.Time{nil, &later, &ended} {
		s, err := newSecret(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		s.Until = until
		ss = append(ss, s)
	}
	body := []byte(`{"id":"evt_1","text":"ü"}`)
	header := ss.sign("evt_1", now, body)
	if n := len(strings.Split(header, " ")); n != 2 {
		t.Errorf("%d signatures in %q", n, header)
	}
	h := http.Header{}
	h.Set("webhook-id", "evt_1")
	h.Set("webhook-timestamp", timestamp(now))
	h.Set("webhook-signature", header)
	for i, s := range ss {
		wh, err := standardwebhooks.NewWebhook(s.reveal())
		if err != nil {
			t.Fatal(err)
		}
		if err := wh.Verify(body, h); (err == nil) != (i < 2) {
			t.Errorf("secret %d: %v", i, err)
		}
		// The library's own signature is the same, byte for byte.
		ours := secrets{{Key: s.Key}}.sign("evt_1", now, body)
		if own, err := wh.Sign("evt_1", now, body); err != nil || ours != own {
			t.Errorf("secret %d: signed %s, not %s, %v", i, ours, own, err)
		}
	}
}
