package auth_test

import (
	"errors"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/auth/session"
	"github.com/content-automation/api/pkg/auth/signin"
	"github.com/content-automation/api/pkg/base/tenant"
)

// The list has the open sessions of one person. One that was ended is found neither by its token nor in the list.
func TestTheSessionsOfAPerson(t *testing.T) {
	w := newSessionWorld(t)
	w.start(t)
	w.advance(session.Idle) // the first one ends
	earlier, _ := w.start(t)
	w.advance(time.Minute)
	_, now := w.start(t)
	other := &session.Session{Person: session.Person{ID: "usr_2", Account: "acc_1"}, Mode: tenant.Live}
	if _, err := w.Start(t.Context(), other, signin.Tokens{ExpiresIn: 900}); err != nil {
		t.Fatal(err)
	}
	all, err := w.List(t.Context(), "usr_1")
	if err != nil || len(all) != 2 || !all[0].Is(now) || all[1].Is(now) || all[0].Name() == all[1].Name() {
		t.Fatalf("%+v, %v", all, err)
	}
	if !all[1].Began().Equal(w.now.Add(-time.Minute)) {
		t.Errorf("it began at %s", all[1].Began())
	}
	if err := w.End(t.Context(), all[1]); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Find(t.Context(), earlier); !errors.Is(err, session.ErrNone) {
		t.Errorf("the ended session: %v", err)
	}
	if all, err = w.List(t.Context(), "usr_1"); err != nil || len(all) != 1 || !all[0].Is(now) {
		t.Errorf("%+v, %v", all, err)
	}
}
