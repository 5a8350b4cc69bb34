package httpapi_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/store"
)

// fragile is a fixture whose table fails where a test wants it to.
func fragile(t *testing.T) (*fixture, *storetest.Faults) {
	faults := &storetest.Faults{}
	return newFixture(t, faults.Attach), faults
}

// Where even the table's answer to the last try is lost, the record of the answer
// reports that the call had its effect.
func TestALostAnswerIsFoundAgain(t *testing.T) {
	f, faults := fragile(t)
	key := []string{"Idempotency-Key", "order-17"}
	faults.Lose("TransactWriteItems", storetest.Attempts)
	first := f.call("POST", "/v1/things", `{"name":"a"}`, key...)
	if first.status != http.StatusCreated || first.header.Get("ETag") != `"1"` {
		t.Fatalf("%d %v %s", first.status, first.header, first.raw)
	}
	// The record is the call's own, so that it is no repeat.
	if got := first.header.Get("Idempotent-Replayed"); got != "" {
		t.Errorf("the first answer says that it is a repeat: %q", got)
	}
	if again := f.call("POST", "/v1/things", `{"name":"a"}`, key...); again.raw != first.raw ||
		again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("%d %v %s, at first %s", again.status, again.header, again.raw, first.raw)
	}
	if n := f.count(); n != 1 {
		t.Errorf("there are %d things", n)
	}
	// Without a key the outcome cannot be found out, and the answer says so.
	faults.Lose("PutItem", storetest.Attempts)
	if a := f.call("POST", "/v1/things", `{"name":"b"}`); a.status != http.StatusGatewayTimeout ||
		a.code() != "timeout" || !strings.Contains(a.Error.Message, "may have had its effect") {
		t.Errorf("%d %s", a.status, a.raw)
	}
}

func TestABusyTableIsAnAnswerOf503(t *testing.T) {
	f, faults := fragile(t)
	// Another transaction has the thing, and not the record of the answer, which is
	// written first.
	faults.Cancel(1000, "None", "TransactionConflict")
	a := f.call("POST", "/v1/things", `{"name":"a"}`, "Idempotency-Key", "order-17")
	if a.status != http.StatusServiceUnavailable || a.code() != "provider_unavailable" ||
		a.header.Get("Retry-After") != "1" {
		t.Errorf("%d %v %s", a.status, a.header, a.raw)
	}
	faults.Reset()
	if a := f.call("POST", "/v1/things", `{"name":"a"}`, "Idempotency-Key",
		"order-17"); a.status != http.StatusCreated || a.header.Get("Idempotent-Replayed") != "" {
		t.Errorf("then: %d %s", a.status, a.raw)
	}
	faults.Reject("GetItem", "ThrottlingException", 1000)
	if a := f.call("GET", "/v1/things/fac_01h455vb4pex5vsknk084sn02q", ""); a.status != http.StatusServiceUnavailable ||
		a.code() != "provider_unavailable" {
		t.Errorf("a read: %d %s", a.status, a.raw)
	}
}

// The emulator never lets two transactions meet: that the first call's has the
// record still is told by its stead.
func TestARepeatWhileTheFirstStillCommitsIsRefused(t *testing.T) {
	for name, hold := range map[string]func(*storetest.Faults){
		"its record": func(f *storetest.Faults) { f.Cancel(1000, "TransactionConflict", "None") },
		"its record and its thing": func(f *storetest.Faults) {
			f.Cancel(1000, "TransactionConflict",
				"TransactionConflict")
		},
		"our own try, unheard of": func(f *storetest.Faults) {
			f.Reject("TransactWriteItems",
				"TransactionInProgressException", 1000)
		},
		"at first something else": func(f *storetest.Faults) {
			f.Cancel(2, "None", "ThrottlingError")
			f.Cancel(1000, "TransactionConflict", "None")
		},
		"at last its record's index": func(f *storetest.Faults) {
			f.Cancel(2, "None", "TransactionConflict")
			f.Cancel(1000, "TransactionConflict", "None")
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, faults := fragile(t)
			key := []string{"Idempotency-Key", "order-17"}
			hold(faults)
			a := f.call("POST", "/v1/things", `{"name":"a"}`, key...)
			if a.status != http.StatusConflict || a.code() != "idempotency_in_progress" ||
				a.header.Get("Retry-After") != "1" {
				t.Errorf("%d %v %s", a.status, a.header, a.raw)
			}
			faults.Reset()
			first := f.call("POST", "/v1/things", `{"name":"a"}`, key...)
			if first.status != http.StatusCreated || first.header.Get("Idempotent-Replayed") != "" {
				t.Errorf("then: %d %s", first.status, first.raw)
			}
			// Where the first was through by the time that we gave up, its answer is ours.
			hold(faults)
			if again := f.call("POST", "/v1/things", `{"name":"a"}`, key...); again.raw != first.raw ||
				again.header.Get("Idempotent-Replayed") != "true" {
				t.Errorf("at last: %d %s", again.status, again.raw)
			}
			if n := f.count(); n != 1 {
				t.Errorf("there are %d things", n)
			}
		})
	}
}

// An operation that writes nothing commits its record alone, by a put.
func TestARepeatOfWhatWritesNothingIsRefusedMeanwhile(t *testing.T) {
	f, faults := fragile(t)
	httpapi.Write(f.router, httpapi.Op{ID: "leaveThings", Method: http.MethodPost, Path: "/v1/left",
		Scope: "factories:write", Function: "things"},
		func(context.Context, *store.Tx, *struct{}) (string, error) {
			return rand.Text(), nil
		})
	key := []string{"Idempotency-Key", "order-17"}
	faults.Reject("PutItem", "TransactionConflictException", 1000)
	if a := f.call("POST", "/v1/left", "", key...); a.status != http.StatusConflict ||
		a.code() != "idempotency_in_progress" || a.header.Get("Retry-After") != "1" {
		t.Errorf("%d %v %s", a.status, a.header, a.raw)
	}
	faults.Reset()
	faults.Reject("PutItem", "ThrottlingException", 1000)
	if a := f.call("POST", "/v1/left", "", key...); a.status != http.StatusServiceUnavailable ||
		a.code() != "provider_unavailable" {
		t.Errorf("under load: %d %s", a.status, a.raw)
	}
	faults.Reset()
	faults.Lose("PutItem", storetest.Attempts)
	first := f.call("POST", "/v1/left", "", key...)
	if again := f.call("POST", "/v1/left", "", key...); first.status != http.StatusOK || again.raw != first.raw ||
		first.header.Get("Idempotent-Replayed") != "" || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("then: %d %s, and again %d %s", first.status, first.raw, again.status, again.raw)
	}
}

func TestAResourceThatKeepsChangingIsAnAnswerOf503(t *testing.T) {
	f, faults := fragile(t)
	made := f.call("POST", "/v1/things", `{"name":"a"}`)
	var v thing
	if err := json.Unmarshal(made.Data, &v); err != nil {
		t.Fatal(err)
	}
	runs := f.things.runs.Load()
	faults.Cancel(1000, "None", "ConditionalCheckFailed")
	a := f.call("PATCH", "/v1/things/"+v.ID, `{"name":"b"}`, "Idempotency-Key", "order-17")
	if a.status != http.StatusServiceUnavailable || a.code() != "provider_unavailable" {
		t.Errorf("%d %s", a.status, a.raw)
	}
	if n := f.things.runs.Load() - runs; n < 2 || n > 18 {
		t.Errorf("it was tried %d times", n)
	}
}

func TestARepeatThatCannotBeLookedUpIsAFailure(t *testing.T) {
	f, faults := fragile(t)
	key := []string{"Idempotency-Key", "order-17"}
	if a := f.call("POST", "/v1/things", `{"name":"a"}`, key...); a.status != http.StatusCreated {
		t.Fatal(a.raw)
	}
	faults.Reject("GetItem", "ValidationException", 1)
	if a := f.call("POST", "/v1/things", `{"name":"a"}`, key...); a.status != http.StatusInternalServerError ||
		a.code() != "internal" {
		t.Errorf("%d %s", a.status, a.raw)
	}
	if n := f.count(); n != 1 {
		t.Errorf("there are %d things", n)
	}
}

// brokenLog is an audit log that takes nothing.
type brokenLog struct{}

func (brokenLog) Record(context.Context, httpapi.Call) error { return errors.New("the log is full") }

func TestACallIsAnsweredThoughItsAuditFails(t *testing.T) {
	f := newFixture(t)
	r := httpapi.NewRouter(f.things.db, brokenLog{}, clock)
	httpapi.Write(r, httpapi.Op{ID: "createThing", Method: http.MethodPost, Path: "/v1/things",
		Scope: "factories:write", Function: "things", Status: http.StatusCreated}, f.things.create)
	f.router = r
	if a := f.call("POST", "/v1/things", `{"name":"a"}`); a.status != http.StatusCreated {
		t.Errorf("%d %s", a.status, a.raw)
	}
}
