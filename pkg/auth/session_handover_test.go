package auth_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/auth/session"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/store"
)

const sessionSecret = "svc_live_of_the_handover"

func (w *sessionWorld) offer(t *testing.T) string {
	t.Helper()
	code, err := w.Offer(t.Context(), session.Person{ID: "usr_1", Account: "acc_1"}, session.Handover{KeyID: "key_1",
		Secret: sessionSecret,
		Mode:   tenant.Live}, session.Challenge("verifier"))
	if err != nil {
		t.Fatal(err)
	}
	return code
}

func TestAKeyIsHandedOverOnce(t *testing.T) {
	w := newSessionWorld(t)
	code := w.offer(t)
	it, err := w.db.Get(t.Context(), store.IDKey(session.Handovers(web.HashBearer(code))))
	if err != nil || strings.Contains(string(it.Doc), sessionSecret) || strings.Contains(string(it.Doc), code) {
		t.Errorf("%s, %v", it.Doc, err)
	}
	if h, err := w.Redeem(t.Context(), code, "verifier"); err != nil || h.Secret != sessionSecret || h.KeyID != "key_1" {
		t.Errorf("%+v, %v", h, err)
	}
	if _, err := w.Redeem(t.Context(), code, "verifier"); !errors.Is(err, session.ErrHandover) {
		t.Errorf("a second time: %v", err)
	}
}

func TestAHandoverThatIsRefused(t *testing.T) {
	w := newSessionWorld(t)
	if _, err := w.Redeem(t.Context(), w.offer(t)+"x", "verifier"); !errors.Is(err, session.ErrHandover) {
		t.Errorf("another code: %v", err)
	}
	code := w.offer(t)
	for _, verifier := range []string{"other", "verifier"} {
		if _, err := w.Redeem(t.Context(), code, verifier); !errors.Is(err, session.ErrHandover) {
			t.Errorf("%s, after which the code is used: %v", verifier, err)
		}
	}
	code = w.offer(t)
	w.advance(session.HandoverLifetime - time.Second)
	if _, err := w.Redeem(t.Context(), code, "verifier"); err != nil {
		t.Errorf("just in time: %v", err)
	}
	code = w.offer(t)
	w.advance(session.HandoverLifetime)
	if _, err := w.Redeem(t.Context(), code, "verifier"); !errors.Is(err, session.ErrHandover) {
		t.Errorf("too late: %v", err)
	}
	code = w.offer(t)
	w.keepLonger(t, session.Handovers(web.HashBearer(code)))
	w.advance(session.HandoverLifetime)
	if _, err := w.Redeem(t.Context(), code, "verifier"); !errors.Is(err, session.ErrHandover) {
		t.Errorf("too late, though the table keeps it: %v", err)
	}
}

// Of two requests with one code at the same time, one gets the key.
func TestTwoRequestsForAHandover(t *testing.T) {
	w := newSessionWorld(t)
	code, results := w.offer(t), make(chan error)
	for range 2 {
		go func() {
			_, err := w.Redeem(t.Context(), code, "verifier")
			results <- err
		}()
	}
	first, second := <-results, <-results
	if (first == nil) == (second == nil) || !errors.Is(errors.Join(first, second), session.ErrHandover) {
		t.Errorf("%v, %v", first, second)
	}
}
