package area_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/pkg/area/audit"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/httpapi"
)

// refuse records a refused call, the nth of its key in the minute.
func (w *auditWorld) reject(code errs.Code, n int) {
	w.T.Helper()
	p := w.Principal
	p.Denial = &auth.Denial{Code: code, Count: n}
	status, _ := httpapi.Status(code)
	c := httpapi.Call{RequestID: "r", Principal: &p, Method: "GET", Path: "/v1/me", Status: status,
		ErrorCode: string(code), At: w.Now()}
	if err := w.log.Record(w.T.Context(), c); err != nil {
		w.T.Fatal(err)
	}
}

func TestAFloodOfRefusalsIsSampled(t *testing.T) {
	for _, code := range []errs.Code{errs.InvalidAPIKey, errs.InsufficientScope, errs.IPNotAllowed, errs.RateLimited} {
		w := newAuditWorld(t)
		const calls = 300
		for n := 1; n <= calls; n++ {
			w.reject(code, n)
		}
		var counts []int
		sum := 0
		for _, e := range slices.Backward(apitest.All[audit.Entry](w.Caller, "/v1/audit-log", 100)) {
			counts = append(counts, e.Count)
			sum += e.Count
		}
		slices.Sort(counts) // the order within a millisecond is open
		if want := []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 10, 30, 50, 100, 100}; !slices.Equal(counts, want) ||
			sum != calls {
			t.Errorf("%s: the entries stand for %v, %d in all", code, counts, sum)
		}
	}
}

func TestRefusalsOfUnknownNumberAndServedCallsAreAllLogged(t *testing.T) {
	w := newAuditWorld(t)
	for range 25 {
		w.reject(errs.RateLimited, 0)
		w.record("r", func(c *httpapi.Call) { c.Status, c.ErrorCode = http.StatusForbidden, "scope_escalation" })
	}
	if all := apitest.All[audit.Entry](w.Caller, "/v1/audit-log", 100); len(all) != 50 {
		t.Errorf("%d entries", len(all))
	}
}
