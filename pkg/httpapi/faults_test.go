package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/store/storetest"
)

// fragile is a fixture whose table fails where a test wants it to.
func fragile(t *testing.T) (*fixture, *storetest.Faults) {
	faults := &storetest.Faults{}
	return newFixture(t, faults.Attach), faults
}

// Where even the table's answer to the last try is lost, the record of the answer
// tells that the call had its effect.
func TestALostAnswerIsFoundAgain(t *testing.T) {
	f, faults := fragile(t)
	key := []string{"Idempotency-Key", "order-17"}
	faults.Lose("TransactWriteItems", storetest.Attempts)
	first := f.call("POST", "/v1/things", `{"name":"a"}`, key...)
	if first.status != http.StatusCreated {
		t.Fatalf("%d %s", first.status, first.raw)
	}
	if again := f.call("POST", "/v1/things", `{"name":"a"}`, key...); again.raw != first.raw {
		t.Errorf("%d %s, at first %s", again.status, again.raw, first.raw)
	}
	if n := f.count(); n != 1 {
		t.Errorf("there are %d things", n)
	}
	// Without a key nobody can tell, so that it is a failure.
	faults.Lose("PutItem", storetest.Attempts)
	if a := f.call("POST", "/v1/things", `{"name":"b"}`); a.status != http.StatusInternalServerError || a.code() != "internal" {
		t.Errorf("%d %s", a.status, a.raw)
	}
}

func TestABusyTableIsAnAnswerOf503(t *testing.T) {
	f, faults := fragile(t)
	faults.Cancel(1000, "TransactionConflict", "None")
	a := f.call("POST", "/v1/things", `{"name":"a"}`, "Idempotency-Key", "order-17")
	if a.status != http.StatusServiceUnavailable || a.code() != "provider_unavailable" {
		t.Errorf("%d %s", a.status, a.raw)
	}
	faults.Reset()
	if a := f.call("POST", "/v1/things", `{"name":"a"}`, "Idempotency-Key", "order-17"); a.status != http.StatusCreated || a.header.Get("Idempotent-Replayed") != "" {
		t.Errorf("then: %d %s", a.status, a.raw)
	}
	faults.Refuse("GetItem", "ThrottlingException", 1000)
	if a := f.call("GET", "/v1/things/fac_01h455vb4pex5vsknk084sn02q", ""); a.status != http.StatusServiceUnavailable || a.code() != "provider_unavailable" {
		t.Errorf("a read: %d %s", a.status, a.raw)
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
	faults.Cancel(1000, "ConditionalCheckFailed", "None")
	a := f.call("PATCH", "/v1/things/"+v.ID, `{"name":"b"}`, "Idempotency-Key", "order-17")
	if a.status != http.StatusServiceUnavailable || a.code() != "provider_unavailable" {
		t.Errorf("%d %s", a.status, a.raw)
	}
	if n := f.things.runs.Load() - runs; n < 2 || n > 5 {
		t.Errorf("it was tried %d times", n)
	}
}

func TestARepeatThatCannotBeLookedUpIsAFailure(t *testing.T) {
	f, faults := fragile(t)
	key := []string{"Idempotency-Key", "order-17"}
	if a := f.call("POST", "/v1/things", `{"name":"a"}`, key...); a.status != http.StatusCreated {
		t.Fatal(a.raw)
	}
	faults.Refuse("GetItem", "ValidationException", 1)
	if a := f.call("POST", "/v1/things", `{"name":"a"}`, key...); a.status != http.StatusInternalServerError || a.code() != "internal" {
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
	httpapi.Write(r, httpapi.Op{ID: "createThing", Method: http.MethodPost, Path: "/v1/things", Scope: "factories:write", Function: "things", Status: http.StatusCreated}, f.things.create)
	f.router = r
	if a := f.call("POST", "/v1/things", `{"name":"a"}`); a.status != http.StatusCreated {
		t.Errorf("%d %s", a.status, a.raw)
	}
}
