// Package record_test has the tests of the packages below that name none of their internals.
package record_test

import (
	"slices"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/record/admission"
	"github.com/content-automation/api/pkg/record/connection"
)

func TestADomainIsLostAWeekAfterItsRecord(t *testing.T) {
	w := newWorld(t)
	c := w.connected(acme, "acme.example")
	w.admit(federated(c, "ada@acme.example"))
	at := connection.RecordName("acme.example") + "."
	texts := w.pool.records[at]
	// recheck is a sign-in after some time, with or without the record.
	recheck := func(after time.Duration, record, want bool) {
		t.Helper()
		w.Clock.Add(after)
		delete(w.pool.records, at)
		if record {
			w.pool.records[at] = texts
		}
		account, of, lost, err := w.connections.Recheck(t.Context(), c.Provider())
		if err != nil || account != acme || of.Speaks("acme.example") != want ||
			want == slices.Contains(lost, "acme.example") {
			t.Errorf("after %v: %s, %+v, lost %v, %v", after, account, of.Domains, lost, err)
		}
	}
	const day = 24 * time.Hour
	recheck(day-time.Second, false, true) // looked up less than a day ago
	recheck(time.Second, false, true)     // missing from now on
	recheck(6*day, false, true)
	recheck(12*time.Hour, true, true) // looked up half a day ago
	recheck(12*time.Hour, true, true) // there again
	recheck(day, false, true)
	recheck(7*day-time.Second, false, true)
	w.Clock.Add(day)
	// Names that cannot be looked up lock nobody out, and are tried again after an hour.
	w.pool.fails = 2
	recheck(0, false, true)
	recheck(59*time.Minute, false, true)
	w.admit(federated(c, "ada@acme.example"))
	recheck(time.Minute, false, false)
	w.refused("a person who has come before", federated(c, "ada@acme.example"), admission.Unverified)
	w.refused("another person", federated(c, "bob@acme.example"), admission.Unverified)
	// The domain is free: another account verifies it, if it has the record.
	w.connected(globex, "acme.example")
	if _, _, lost, err := w.connections.Recheck(t.Context(), "unknown"); err != nil || lost != nil {
		t.Errorf("an unknown connection: %v, %v", lost, err)
	}
}
