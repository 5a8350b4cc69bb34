package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
)

const forever = 1000

// starve makes a fault of every call of the table.
func starve(faults *storetest.Faults, fault func(f *storetest.Faults, operation string)) {
	for _, operation := range []string{"GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem",
		"TransactWriteItems"} {
		fault(faults, operation)
	}
}

// within runs a test with each of two times for a call, on a clock that does not depend on
// how fast the machine is.
func within(t *testing.T, short, long time.Duration, test func(*testing.T, time.Duration)) {
	t.Helper()
	storetest.InMemory(t)
	for _, d := range []time.Duration{short, long} {
		synctest.Test(t, func(t *testing.T) { test(t, d) })
	}
}

// unavailable checks an answer of 503.
func (a answer) unavailable(t *testing.T) {
	t.Helper()
	if a.status != http.StatusServiceUnavailable || a.code() != "provider_unavailable" ||
		a.header.Get("Retry-After") != "1" || a.Error.Type != "api_error" {
		t.Errorf("%d %v %s", a.status, a.header, a.raw)
	}
}

func TestEveryVerbAnswers503WhileTheTableDoesNotServe(t *testing.T) {
	for name, fault := range map[string]func(*storetest.Faults, string){
		"throttled": func(f *storetest.Faults, o string) { f.Reject(o, "ThrottlingException", forever) },
		"a hot partition": func(f *storetest.Faults,
			o string) {
			f.Reject(o, "ProvisionedThroughputExceededException", forever)
		},
		"a limit of the account": func(f *storetest.Faults, o string) { f.Reject(o, "RequestLimitExceeded", forever) },
		"there is no connection": func(f *storetest.Faults, o string) { f.Disconnect(o, forever) },
	} {
		t.Run(name, func(t *testing.T) {
			// Without a deadline, and with one that comes amid the repeats.
			within(t, 0, 10*time.Millisecond, func(t *testing.T, d time.Duration) {
				f, faults := fragile(t)
				f.within = d
				key := []string{"Idempotency-Key", "order-17"}
				starve(faults, fault)
				f.call("GET", "/v1/things/fac_01h455vb4pex5vsknk084sn02q", "").unavailable(t)
				f.call("GET", "/v1/things", "").unavailable(t)
				f.call("POST", "/v1/things", `{"name":"a"}`).unavailable(t)
				f.call("POST", "/v1/things", `{"name":"a"}`, key...).unavailable(t)
				f.call("PATCH", "/v1/things/fac_01h455vb4pex5vsknk084sn02q", `{"name":"a"}`, key...).unavailable(t)
				// The answer has not used up its key.
				faults.Reset()
				f.within = 0
				if a := f.call("POST", "/v1/things", `{"name":"a"}`, key...); a.status != http.StatusCreated ||
					a.header.Get("Idempotent-Replayed") != "" {
					t.Errorf("then: %d %s", a.status, a.raw)
				}
				if n := f.count(); n != 1 {
					t.Errorf("there are %d things", n)
				}
			})
		})
	}
}

// A read has no effect, so that a table that fails is as good as one that is overloaded.
func TestAReadOfATableThatFailsIsAnAnswerOf503(t *testing.T) {
	for name, fault := range map[string]func(*storetest.Faults, string){
		"it fails":         func(f *storetest.Faults, o string) { f.Reject(o, "InternalServerError", forever) },
		"it is down":       func(f *storetest.Faults, o string) { f.Break(o, http.StatusServiceUnavailable, forever) },
		"the line is bad":  func(f *storetest.Faults, o string) { f.Lose(o, forever) },
		"bad, then silent": func(f *storetest.Faults, o string) { f.Lose(o, 1); f.Hang(o, forever) },
	} {
		t.Run(name, func(t *testing.T) {
			within(t, time.Second, time.Minute, func(t *testing.T, d time.Duration) {
				f, faults := fragile(t)
				f.within = d
				starve(faults, fault)
				f.call("GET", "/v1/things/fac_01h455vb4pex5vsknk084sn02q", "").unavailable(t)
				f.call("GET", "/v1/things", "").unavailable(t)
			})
		})
	}
}

// The outcome of a write whose answer is lost is not known. The answer does not say that
// nothing has happened, and a repeat with the same key is safe either way.
func TestAWriteOfUnknownOutcomeSaysSo(t *testing.T) {
	for name, c := range map[string]struct {
		fault  func(*storetest.Faults)
		effect bool
	}{
		"it was carried out": {func(f *storetest.Faults) { f.Lose("TransactWriteItems", forever) }, true},
		"it was carried out, then throttled": {func(f *storetest.Faults) {
			f.Lose("TransactWriteItems", 1)
			f.Reject("TransactWriteItems", "ThrottlingException", forever)
		}, true},
		"it never arrived": {func(f *storetest.Faults) {
			f.Reject("TransactWriteItems", "InternalServerError",
				forever)
		}, false},
		"it is silent": {func(f *storetest.Faults) { f.Hang("TransactWriteItems", forever) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			within(t, 200*time.Millisecond, time.Minute, func(t *testing.T, d time.Duration) {
				f, faults := fragile(t)
				f.within = d
				key := []string{"Idempotency-Key", "order-17"}
				c.fault(faults)
				faults.Disconnect("GetItem", forever) // nor can its answer be looked up
				a := f.call("POST", "/v1/things", `{"name":"a"}`, key...)
				if a.status != http.StatusGatewayTimeout || a.code() != "timeout" ||
					!strings.Contains(a.Error.Message, "may have had its effect") {
					t.Errorf("%d %s", a.status, a.raw)
				}
				faults.Reset()
				f.within = 0
				if again := f.call("POST", "/v1/things", `{"name":"a"}`, key...); again.status != http.StatusCreated ||
					(again.header.Get("Idempotent-Replayed") != "") != c.effect {
					t.Errorf("then: %d %v %s", again.status, again.header, again.raw)
				}
				if n := f.count(); n != 1 {
					t.Errorf("there are %d things", n)
				}
			})
		})
	}
}

// An action that cannot be claimed has no effect outside.
func TestAnActionHasNoEffectWhileTheTableDoesNotServe(t *testing.T) {
	w := newActing(t, false)
	starve(w.faults, func(f *storetest.Faults, o string) { f.Reject(o, "ThrottlingException", forever) })
	w.order("order-17").unavailable(t)
	if n, _ := w.outside.effects(); n != 0 {
		t.Errorf("the effect was had %d times", n)
	}
	w.faults.Reset()
	if a := w.order("order-17"); a.status != http.StatusCreated || a.header.Get("Idempotent-Replayed") != "" {
		t.Errorf("then: %d %s", a.status, a.raw)
	}
	w.clock.Add(time.Minute)
	w.resolve()
	w.settled(false)
}

// A call whose key could not be looked up is refused for that whatever it asks, and has no
// entry in anyone's audit log.
func TestACallWithoutALookUpIs503(t *testing.T) {
	f := newFixture(t)
	values, err := auth.Unidentified(errs.ProviderUnavailable, auth.MessageUnavailable).Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][3]string{{"GET", "/v1/things", ""}, {"POST", "/v1/things", `{"name":"a"}`},
		{"GET", "/v1/nothing", ""}} {
		f.callAs(values, c[0], c[1], c[2]).unavailable(t)
	}
	if n := f.count(); n != 0 || len(f.log.calls) != 1 { // that of the count
		t.Errorf("there are %d things, and the audit log has %+v", n, f.log.calls)
	}
}
