package auth_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/auth/session"
	"github.com/content-automation/api/pkg/auth/signin"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/store"
)

// sessionWorld is a store of sessions with a clock that tests move.
type sessionWorld struct {
	*session.Store
	db  *store.DB
	now time.Time
	mu  sync.Mutex
}

func newSessionWorld(t *testing.T) *sessionWorld {
	t.Helper()
	w := &sessionWorld{now: time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC)}
	w.db = storetest.Open(t, w.clock)
	w.Store = session.New(w.db, seal.FixedSecret([]byte("secret")), w.clock)
	return w
}

func (w *sessionWorld) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *sessionWorld) advance(by time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(by)
}

func (w *sessionWorld) start(t *testing.T) (string, *session.Session) {
	t.Helper()
	s := &session.Session{Person: session.Person{ID: "usr_1", Account: "acc_1", Email: "ada@example.com"}, AuthTime: w.now,
		Mode: tenant.Live}
	token, err := w.Start(t.Context(), s, signin.Tokens{Access: "access-1", ID: "id", Refresh: "refresh-1", ExpiresIn: 900})
	if err != nil {
		t.Fatal(err)
	}
	return token, s
}

// lease is the time for which one request refreshes the tokens of a session.
const lease = 12 * time.Second

func TestASessionIsFoundByItsTokenOnly(t *testing.T) {
	w := newSessionWorld(t)
	token, _ := w.start(t)
	if len(token) != 43 {
		t.Errorf("the token has %d characters, not those of 32 bytes", len(token))
	}
	found, err := w.Find(t.Context(), token)
	if err != nil || found.ID != "usr_1" || found.Account != "acc_1" {
		t.Fatalf("%+v, %v", found, err)
	}
	for _, other := range []string{"", "x", token[1:], web.HashBearer(token)} {
		if _, err := w.Find(t.Context(), other); !errors.Is(err, session.ErrNone) {
			t.Errorf("%q: %v", other, err)
		}
	}
	it, err := w.db.Get(t.Context(), store.IDKey(session.Items(web.HashBearer(token))))
	if err != nil {
		t.Fatal(err)
	}
	text, _ := json.Marshal(it)
	for _, secret := range []string{token, "access-1", "refresh-1"} {
		if strings.Contains(string(text), secret) {
			t.Errorf("the table has %q in clear", secret)
		}
	}
	if !it.ExpireAt.Equal(w.now.Add(session.Absolute)) {
		t.Errorf("the item expires at %s", it.ExpireAt)
	}
}

func TestASessionEndsIfItIsIdle(t *testing.T) {
	w := newSessionWorld(t)
	token, _ := w.start(t)
	for range 5 { // longer than the time of idleness, in use
		w.advance(session.Idle - time.Minute)
		if _, err := w.Find(t.Context(), token); err != nil {
			t.Fatal(err)
		}
	}
	w.advance(session.Idle)
	if _, err := w.Find(t.Context(), token); !errors.Is(err, session.ErrNone) {
		t.Errorf("an idle session: %v", err)
	}
}

func TestASessionEndsAfterTwelveHours(t *testing.T) {
	w := newSessionWorld(t)
	token, _ := w.start(t)
	for range 23 {
		w.advance(30 * time.Minute)
		if _, err := w.Find(t.Context(), token); err != nil {
			t.Fatal(err)
		}
	}
	w.advance(30 * time.Minute)
	if _, err := w.Find(t.Context(), token); !errors.Is(err, session.ErrNone) {
		t.Errorf("after %s: %v", session.Absolute, err)
	}
}

// keepLonger makes the table keep an item beyond its time.
func (w *sessionWorld) keepLonger(t *testing.T, partition string) {
	t.Helper()
	tx := &store.Tx{}
	tx.Expire(store.IDKey(partition), w.now.Add(48*time.Hour))
	if err := w.db.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
}

// The session itself says when it ends, though the table keeps it longer.
func TestAKeptSessionEndsAfterTwelveHours(t *testing.T) {
	w := newSessionWorld(t)
	token, _ := w.start(t)
	for range 23 {
		w.advance(30 * time.Minute)
		if _, err := w.Find(t.Context(), token); err != nil {
			t.Fatal(err)
		}
	}
	w.keepLonger(t, session.Items(web.HashBearer(token)))
	w.advance(30 * time.Minute)
	if _, err := w.Find(t.Context(), token); !errors.Is(err, session.ErrNone) {
		t.Errorf("after %s: %v", session.Absolute, err)
	}
	if all, err := w.List(t.Context(), "usr_1"); err != nil || len(all) > 0 {
		t.Errorf("the list has %+v, %v", all, err)
	}
}

func TestAnEndedSessionIsGone(t *testing.T) {
	w := newSessionWorld(t)
	token, s := w.start(t)
	stale := *s
	for _, of := range []*session.Session{s, &stale} { // the second change meets the first
		if err := w.Change(t.Context(), of, func(*session.Session) {}); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := w.End(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Find(t.Context(), token); !errors.Is(err, session.ErrNone) {
		t.Errorf("%v", err)
	}
}

// issuer refreshes tokens.
type issuer struct {
	calls atomic.Int32
	err   error
	begun chan struct{}
	go_   chan struct{}
}

func (i *issuer) Refresh(ctx context.Context, refresh string) (signin.Tokens, error) {
	i.calls.Add(1)
	if i.begun != nil {
		close(i.begun)
		<-i.go_
	}
	if refresh != "refresh-1" {
		return signin.Tokens{}, signin.ErrGrant
	}
	return signin.Tokens{Access: "access-2", ID: "id", ExpiresIn: 900}, i.err
}

func TestTwoTabsRefreshOnce(t *testing.T) {
	w := newSessionWorld(t)
	token, _ := w.start(t)
	w.advance(15 * time.Minute)
	i := &issuer{begun: make(chan struct{}), go_: make(chan struct{})}
	got := make(chan string, 2)
	tab := func() {
		s, err := w.Find(t.Context(), token)
		if err != nil {
			t.Error(err)
			return
		}
		access, err := w.AccessToken(t.Context(), s, i)
		if err != nil {
			t.Error(err)
		}
		got <- access
	}
	go tab()
	<-i.begun
	go tab()
	close(i.go_)
	if first, second := <-got, <-got; first != "access-2" || second != "access-2" {
		t.Errorf("the tabs have %q and %q", first, second)
	}
	if n := i.calls.Load(); n != 1 {
		t.Errorf("%d refreshes", n)
	}
	s, err := w.Find(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	if tokens, err := w.TokensOf(t.Context(), s); err != nil || tokens.Refresh != "refresh-1" {
		t.Errorf("the refresh token is lost: %+v, %v", tokens, err)
	}
}

func TestARefreshThatTheIssuerRefusesEndsTheSession(t *testing.T) {
	w := newSessionWorld(t)
	token, s := w.start(t)
	w.advance(15 * time.Minute)
	if _, err := w.AccessToken(t.Context(), s, &issuer{err: signin.ErrGrant}); !errors.Is(err, session.ErrNone) {
		t.Errorf("%v", err)
	}
	if _, err := w.Find(t.Context(), token); !errors.Is(err, session.ErrNone) {
		t.Errorf("%v", err)
	}
}

func TestARefreshWithoutAnAnswerKeepsTheSession(t *testing.T) {
	w := newSessionWorld(t)
	token, s := w.start(t)
	w.advance(15 * time.Minute)
	if _, err := w.AccessToken(t.Context(), s, &issuer{err: errors.New("no answer")}); err == nil {
		t.Error("no error")
	}
	again, err := w.Find(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	if access, err := w.AccessToken(t.Context(), again, &issuer{}); err != nil || access != "access-2" {
		t.Errorf("the next request waits for the lease: %q, %v", access, err)
	}
}

// A request that died while it refreshed holds up the others for the time of its lease only.
func TestALeaseEnds(t *testing.T) {
	w := newSessionWorld(t)
	_, s := w.start(t)
	w.advance(15 * time.Minute)
	if err := w.Change(t.Context(), s, func(s *session.Session) { s.LeaseEndsAt = w.now.Add(lease) }); err != nil {
		t.Fatal(err)
	}
	w.advance(lease)
	if access, err := w.AccessToken(t.Context(), s, &issuer{}); err != nil || access != "access-2" {
		t.Errorf("%q, %v", access, err)
	}
}
