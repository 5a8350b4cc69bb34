package webhook

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/content-automation/api/infra/verify/harness/sealtest"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/seal"
)

func testEnvelope() *seal.Envelope { return sealtest.Envelope("key") }

var testRef = Ref{tenant.Of("acc_1", tenant.Test), "whk_1"}

func TestTheOfficialLibraryVerifiesEachSecret(t *testing.T) {
	now := time.Now()
	ended, later := now, now.Add(time.Hour)
	var ss Secrets
	var revealed []Key
	for _, until := range []*time.Time{nil, &later, &ended} {
		s, k, err := NewSecret(t.Context(), rand.Reader, testEnvelope(), testRef)
		if err != nil {
			t.Fatal(err)
		}
		s.Until = until
		ss, revealed = append(ss, s), append(revealed, k)
	}
	keys, err := ss.Keys(t.Context(), testEnvelope(), testRef, now)
	if err != nil {
		t.Fatal(err)
	}
	body := []byte(`{"id":"evt_1","text":"ü"}`)
	header := keys.Sign("evt_1", now, body)
	if n := len(strings.Split(header, " ")); n != 2 {
		t.Errorf("%d signatures in %q", n, header)
	}
	h := http.Header{}
	h.Set("webhook-id", "evt_1")
	h.Set("webhook-timestamp", Timestamp(now))
	h.Set("webhook-signature", header)
	for i, k := range revealed {
		wh, err := standardwebhooks.NewWebhook(k.Reveal())
		if err != nil {
			t.Fatal(err)
		}
		if err := wh.Verify(body, h); (err == nil) != (i < 2) {
			t.Errorf("secret %d: %v", i, err)
		}
		// The library's own signature is the same, byte for byte.
		ours := EndpointKeys{k}.Sign("evt_1", now, body)
		if own, err := wh.Sign("evt_1", now, body); err != nil || ours != own {
			t.Errorf("secret %d: signed %s, not %s, %v", i, ours, own, err)
		}
	}
}

func TestASecretOpensForItsWebhookOnly(t *testing.T) {
	s, _, err := NewSecret(t.Context(), rand.Reader, testEnvelope(), testRef)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		envelope *seal.Envelope
		ref      Ref
	}{
		"another webhook": {testEnvelope(), Ref{testRef.Owner, "whk_2"}},
		"another mode":    {testEnvelope(), Ref{tenant.Of("acc_1", tenant.Live), "whk_1"}},
		"another account": {testEnvelope(), Ref{tenant.Of("acc_2", tenant.Test), "whk_1"}},
		"another stack":   {sealtest.Envelope("another key"), testRef},
	} {
		if keys, err := (Secrets{s}).Keys(t.Context(), c.envelope, c.ref, time.Now()); !errors.Is(err, seal.ErrOpen) {
			t.Errorf("%s: %d keys, %v", name, len(keys), err)
		}
	}
}

func TestSecretsNeverShowInPrint(t *testing.T) {
	s, k, err := NewSecret(t.Context(), strings.NewReader(strings.Repeat("k", keyBytes)), testEnvelope(), testRef)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"%v", "%+v", "%#v", "%s"} {
		out := fmt.Sprintf(f, EndpointKeys{k}) + fmt.Sprintf(f, k)
		if strings.Contains(out, "kkkk") || strings.Contains(out, "107") || strings.Contains(out, "0x6b") {
			t.Errorf("%s shows %s", f, out)
		}
		// Random bytes, as the sealed value is, form any two numbers by chance.
		if out := fmt.Sprintf(f, s); strings.Contains(out, "kkkk") || strings.Contains(out, "107 107 107 107") ||
			strings.Contains(out, "0x6b, 0x6b, 0x6b, 0x6b") {
			t.Errorf("%s shows %s", f, out)
		}
	}
	if _, _, err := NewSecret(t.Context(), strings.NewReader("short"), testEnvelope(), testRef); err == nil {
		t.Error("a secret was made of too little randomness")
	}
}
