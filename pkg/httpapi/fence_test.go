package httpapi_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
)

var orderKey = []string{"Idempotency-Key", "order-17"}

// create makes a thing with the same key each time.
func (f *fixture) create(name string) answer {
	f.t.Helper()
	return f.call("POST", "/v1/things", `{"name":"`+name+`"}`, orderKey...)
}

// answersKept returns the records of answers as they lie in the table.
func (f *fixture) answersKept() (kept []storetest.Row) {
	f.t.Helper()
	for _, row := range storetest.Rows(f.t, f.things.db) {
		if row["kind"] == "answer" {
			kept = append(kept, row)
		}
	}
	return kept
}

// Two runs of one request: the first is held up until the second is through, once
// before it asks for its commit and once on the way to the table.
func TestALateFirstRunOverwritesNothing(t *testing.T) {
	for name, holdUp := range map[string]func(*fixture, *storetest.Faults, func()){
		"before its commit": func(f *fixture, _ *storetest.Faults, do func()) { f.things.between = do },
		"on its way": func(_ *fixture, faults *storetest.Faults,
			do func()) {
			faults.Before("TransactWriteItems", do)
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, faults := fragile(t)
			var second answer
			var record storetest.Row
			holdUp(f, faults, func() {
				second = f.create("a")
				record = f.answersKept()[0]
			})
			first := f.create("a")
			if second.status != http.StatusCreated || second.header.Get("Idempotent-Replayed") != "" {
				t.Errorf("the second run: %d %v %s", second.status, second.header, second.raw)
			}
			if first.raw != second.raw || first.header.Get("Idempotent-Replayed") != "true" {
				t.Errorf("the first run answers %d %v %s, the second %s", first.status, first.header,
					first.raw, second.raw)
			}
			kept := f.answersKept()
			if len(kept) != 1 || kept[0]["doc"] != record["doc"] || kept[0]["ver"] != "1" {
				t.Errorf("the record %v has become %v", record, kept)
			}
			if n := f.count(); n != 1 {
				t.Errorf("there are %d things", n)
			}
		})
	}
}

func TestALateRunWithAnotherBodyIsRefused(t *testing.T) {
	f := newFixture(t)
	f.things.between = func() { f.create("b") }
	if a := f.create("a"); a.status != 422 || a.code() != "idempotency_key_reused" {
		t.Errorf("%d %s", a.status, a.raw)
	}
	if n := f.count(); n != 1 {
		t.Errorf("there are %d things", n)
	}
}

// DynamoDB removes expired records within days.
func TestARecordThatHasExpiredIsNoneThoughItIsThere(t *testing.T) {
	clock := apitest.NewClock()
	f := newFixtureAt(t, clock.Now)
	first := f.create("a")
	clock.Add(24*time.Hour - time.Second)
	if a := f.create("a"); a.raw != first.raw || a.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("within its time: %d %s", a.status, a.raw)
	}
	clock.Add(time.Second)
	if n := len(f.answersKept()); n != 1 {
		t.Fatalf("%d records are there", n)
	}
	// Of two runs that both find it over, one takes its place and keeps it.
	var second answer
	f.things.between = func() { second = f.create("b") }
	late := f.create("b")
	if second.status != http.StatusCreated || second.header.Get("Idempotent-Replayed") != "" ||
		second.raw == first.raw {
		t.Errorf("the second run: %d %s", second.status, second.raw)
	}
	if late.raw != second.raw || late.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("the late run: %d %s", late.status, late.raw)
	}
	if n := f.count(); n != 2 {
		t.Errorf("there are %d things", n)
	}
}

// A function may be frozen in the middle of a call, and go on with the next one.
func TestARunThatGoesOnAfterADayHasNoEffect(t *testing.T) {
	for name, holdUp := range map[string]func(*fixture, *storetest.Faults, func()){
		"before its commit": func(f *fixture, _ *storetest.Faults, do func()) { f.things.between = do },
		"on its way": func(_ *fixture, faults *storetest.Faults,
			do func()) {
			faults.Before("TransactWriteItems", do)
		},
	} {
		t.Run(name, func(t *testing.T) {
			clock, faults := apitest.NewClock(), &storetest.Faults{}
			f := newFixtureAt(t, clock.Now, faults.Attach)
			holdUp(f, faults, func() {
				if a := f.create("a"); a.status != http.StatusCreated {
					t.Errorf("the second run: %d %s", a.status, a.raw)
				}
				clock.Add(25 * time.Hour)
			})
			if a := f.create("a"); a.status != http.StatusGatewayTimeout || a.code() != "timeout" {
				t.Errorf("the late run: %d %s", a.status, a.raw)
			}
			if n := f.count(); n != 1 {
				t.Errorf("there are %d things", n)
			}
			if a := f.create("a"); a.status != http.StatusCreated || a.header.Get("Idempotent-Replayed") != "" {
				t.Errorf("a new call: %d %s", a.status, a.raw)
			}
		})
	}
}

// The record may end just between the commit that met it and the look-up.
func TestAKeyThatGetsFreeInTheMeantimeIsUsed(t *testing.T) {
	clock, faults := apitest.NewClock(), &storetest.Faults{}
	f := newFixtureAt(t, clock.Now, faults.Attach)
	f.create("a")
	clock.Add(24*time.Hour - time.Second)
	faults.Before("GetItem", func() { clock.Add(time.Second) })
	if a := f.create("a"); a.status != http.StatusCreated || a.header.Get("Idempotent-Replayed") != "" {
		t.Errorf("%d %v %s", a.status, a.header, a.raw)
	}
	if n := f.count(); n != 2 {
		t.Errorf("there are %d things", n)
	}
}

// A claim that is written after the end of its lease is one that its task may end at any moment.
func TestAClaimIsNotMadeLate(t *testing.T) {
	w := newActing(t, false)
	w.preparing = func() { w.preparing = nil; w.clock.Add(time.Minute) }
	if a := w.order("order-17"); a.status != http.StatusGatewayTimeout || a.code() != "timeout" {
		t.Errorf("the late call: %d %s", a.status, a.raw)
	}
	w.settled(false)
	if a := w.order("order-17"); a.status != http.StatusCreated || a.header.Get("Idempotent-Replayed") != "" {
		t.Errorf("the next call: %d %s", a.status, a.raw)
	}
}
