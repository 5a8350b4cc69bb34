package auth_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/auth/session"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/store"
)

// Whoever registers without end closes the door for nobody but the own network: an address of IPv4, or what one line
// has of IPv6. A program that nobody has connected is gone after a day.
func TestB7StrangersCloseNoDoor(t *testing.T) {
	w := newSessionWorld(t)
	register := func(address string) (session.Program, error) {
		return w.Register(t.Context(), session.Program{Name: "Acme", Redirects: []string{"https://a.example/"}}, address)
	}
	var last session.Program
	for i := range 700 {
		p, err := register(fmt.Sprintf("198.%d.%d.7", 18+i/250, i%250))
		if err != nil {
			t.Fatalf("program %d of as many addresses: %v", i+1, err)
		}
		last = p
	}
	for name, address := range map[string]func(int) string{
		"an address":       func(int) string { return "203.0.113.7" },
		"a line of IPv6":   func(i int) string { return fmt.Sprintf("2001:db8:1:2:%x::%x", i, i*7+1) },
		"IPv4 within IPv6": func(i int) string { return []string{"203.0.113.9", "::ffff:203.0.113.9"}[i%2] },
	} {
		for i := range 200 {
			if _, err := register(address(i)); err != nil {
				t.Fatalf("%s: program %d: %v", name, i+1, err)
			}
		}
		if _, err := register(address(200)); !errors.Is(err, session.ErrRegistrations) {
			t.Errorf("%s has no bound: %v", name, err)
		}
	}
	if _, err := register("2001:db8:1:3::1"); err != nil {
		t.Errorf("another line: %v", err)
	}
	refused := 0
	for i := range 1000 {
		if _, err := register(fmt.Sprintf("2001:db8:9:%x::1", i)); err != nil {
			refused++
		}
	}
	if _, err := register("2001:db8:9:ffff::1"); refused > 0 || !errors.Is(err, session.ErrRegistrations) {
		t.Errorf("a site of IPv6: %d are refused, and the next one: %v", refused, err)
	}
	if _, err := register("2001:db8:a::1"); err != nil {
		t.Errorf("another site: %v", err)
	}
	w.advance(24*time.Hour - time.Second)
	if _, err := w.Program(t.Context(), last.ID); err != nil {
		t.Errorf("within its day: %v", err)
	}
	w.advance(time.Second)
	if _, err := w.Program(t.Context(), last.ID); !errors.Is(err, session.ErrProgram) {
		t.Errorf("a program that nobody has connected, after a day: %v", err)
	}
}

const proof = "the-verifier-of-a-program-has-43-characters-or-more"

// granted connects a program to a key, and returns the id of the program and its code.
func (w *sessionWorld) granted(t *testing.T) (program, code string) {
	t.Helper()
	p, err := w.Register(t.Context(), session.Program{Name: "Acme", Redirects: []string{"https://a.example/"}}, "192.0.2.1")
	if err != nil {
		t.Fatal(err)
	}
	const id = "key_1"
	if _, err := credential.Find(t.Context(), w.db, "hash"); errors.Is(err, store.ErrNotFound) {
		tx := &store.Tx{}
		credential.Create(tx, credential.Credential{Hash: "hash", KeyID: id, Owner: tenant.Of("acc_1", tenant.Test),
			Plan: auth.EnterprisePlan, Scopes: []string{"content:read"}, Limit: 60})
		key := credential.KeyOf("acc_1", id)
		tx.Create(store.Item{Key: key, Kind: "api_key", Doc: json.RawMessage(`{}`), Owner: tenant.Of("acc_1", tenant.Test),
			Attributes: map[string]string{credential.SecretAttribute: "hash"}}, nil)
		if err := w.db.Commit(t.Context(), tx); err != nil {
			t.Fatal(err)
		}
	}
	code, err = w.Permit(t.Context(), session.Grant{KeyID: id, Program: p.ID, By: "usr_1", Account: "acc_1", Mode: tenant.Test,
		Scopes: []auth.Scope{auth.ContentRead}}, "https://a.example/", session.Challenge(proof))
	if err != nil {
		t.Fatal(err)
	}
	return p.ID, code
}

func always(context.Context, session.Grant) (bool, error) { return true, nil }

// An answer may be lost: whoever shows a code or a refresh token again within a minute gets the same tokens, and ends
// the connection later.
func TestALostAnswerIsAnsweredAgain(t *testing.T) {
	w := newSessionWorld(t)
	program, code := w.granted(t)
	first, err := w.Tokens(t.Context(), program, code, "https://a.example/", proof)
	if err != nil {
		t.Fatal(err)
	}
	w.advance(session.Grace - time.Second)
	again, err := w.Tokens(t.Context(), program, code, "https://a.example/", proof)
	if err != nil || again.Access != first.Access || again.Refresh != first.Refresh || first.Access == "" ||
		!again.AccessEndsAt.Equal(first.AccessEndsAt) {
		t.Fatalf("a code whose answer was lost: %+v, %v, first %+v", again, err, first)
	}
	// Without the proof the same code ends the connection, at any time.
	if _, err := w.Tokens(t.Context(), program, code, "https://a.example/", proof+"x"); !errors.Is(err, session.ErrReused) {
		t.Errorf("a used code with another proof: %v", err)
	}
	next, err := w.Renew(t.Context(), program, first.Refresh, always)
	if err != nil || next.Refresh == first.Refresh || next.Access == first.Access {
		t.Fatalf("%+v, %v", next, err)
	}
	if _, err := w.Renew(t.Context(), program, next.Refresh, always); err != nil {
		t.Fatal(err) // one process has the answer, and goes on
	}
	w.advance(session.Grace - time.Second)
	if last, err := w.Renew(t.Context(), program, first.Refresh, always); err != nil || last.Refresh != next.Refresh ||
		last.Access != next.Access {
		t.Errorf("a refresh token whose answer was lost: %+v, %v, want %+v", last, err, next)
	}
	never := func(context.Context, session.Grant) (bool, error) { return false, nil }
	if _, err := w.Renew(t.Context(), program, first.Refresh, never); !errors.Is(err, session.ErrGrant) {
		t.Errorf("of a person without rights: %v", err)
	}
	if _, err := w.Renew(t.Context(), "prg_other", first.Refresh, always); !errors.Is(err, session.ErrGrant) {
		t.Errorf("of another program: %v", err)
	}
	w.advance(time.Second)
	if out, err := w.Renew(t.Context(), program, first.Refresh, always); !errors.Is(err, session.ErrReused) ||
		out.KeyID != "key_1" {
		t.Errorf("after a minute: %+v, %v", out, err)
	}
}

// What is stored does not tell the tokens that are answered again.
func TestStoredTokensTellNothing(t *testing.T) {
	w := newSessionWorld(t)
	program, code := w.granted(t)
	out, err := w.Tokens(t.Context(), program, code, "https://a.example/", proof)
	if err != nil {
		t.Fatal(err)
	}
	it, err := w.db.Get(t.Context(), store.IDKey("spent#"+web.HashBearer(code)))
	if err != nil || strings.Contains(string(it.Doc), out.Refresh) || strings.Contains(string(it.Doc), out.Access) ||
		strings.Contains(string(it.Doc), code) {
		t.Errorf("%s, %v", it.Doc, err)
	}
	if mode, ok := auth.ParseKey(out.Access); !ok || mode != tenant.Test || len(out.Refresh) < 43 {
		t.Errorf("%+v", out)
	}
}

// Of many requests at the same time with one token, all get the same answer.
func TestRequestsAtTheSameTimeGetOneAnswer(t *testing.T) {
	w := newSessionWorld(t)
	program, code := w.granted(t)
	first, err := w.Tokens(t.Context(), program, code, "https://a.example/", proof)
	if err != nil {
		t.Fatal(err)
	}
	answers := make([]session.TokenSet, 4)
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() {
			out, err := w.Renew(t.Context(), program, first.Refresh, always)
			if err != nil {
				t.Errorf("request %d: %v", i, err)
			}
			answers[i] = out
		})
	}
	all.Wait()
	for i, a := range answers {
		if a.Access != answers[0].Access || a.Refresh != answers[0].Refresh || a.Access == "" {
			t.Errorf("answer %d is %+v, want %+v", i, a, answers[0])
		}
	}
}

// Wrong codes count by network, and a right one after too many does not count either.
func TestGuessesAreCounted(t *testing.T) {
	w := newSessionWorld(t)
	wrong := func(address string, n int) (err error) {
		for range n {
			if err = w.MayGuess(t.Context(), session.CommandCodes, address); err != nil {
				return err
			}
			if err := w.CountGuess(t.Context(), session.CommandCodes, address); err != nil {
				t.Fatal(err)
			}
		}
		return w.MayGuess(t.Context(), session.CommandCodes, address)
	}
	if err := wrong("2001:db8::1", 100-1); err != nil {
		t.Fatal(err)
	}
	if err := wrong("2001:db8::2", 1); !errors.Is(err, session.ErrGuesses) {
		t.Errorf("the same line: %v", err)
	}
	for _, other := range []string{"2001:db8:0:1::1", "192.0.2.1", "not an address"} {
		if err := w.MayGuess(t.Context(), session.CommandCodes, other); err != nil {
			t.Errorf("%s: %v", other, err)
		}
	}
	if err := w.MayGuess(t.Context(), session.SetupLinks, "2001:db8::1"); err != nil {
		t.Errorf("another kind: %v", err)
	}
	w.advance(w.GuessesEnd())
	if err := w.MayGuess(t.Context(), session.CommandCodes, "2001:db8::1"); err != nil {
		t.Errorf("after the window: %v", err)
	}
}
