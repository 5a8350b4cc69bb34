package e2e

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/tenant"
)

type auditEntry struct {
	RequestID   string  `json:"request_id"`
	KeyID       string  `json:"key_id"`
	OperationID string  `json:"operation_id"`
	Method      string  `json:"method"`
	Path        string  `json:"path"`
	Status      int     `json:"status"`
	ErrorCode   *string `json:"error_code"`
	IP          string  `json:"ip"`
	UserAgent   string  `json:"user_agent"`
	At          time.Time
}

// TestAuditLog finds every call of an account in its log, including refused calls.
func TestAuditLog(t *testing.T) {
	c := newCustomer(t)
	key := c.test.Secret
	weak := c.key(tenant.Test, apikey.Settings{Scopes: []auth.Scope{auth.ContentRead}})
	revoked := c.key(tenant.Test, apikey.Settings{})
	_, keys := operator()
	if _, err := keys.End(t.Context(), tenant.Account(c.id), revoked.ID); err != nil {
		t.Fatal(err)
	}
	began := time.Now().Add(-time.Second)
	calls := []struct {
		key, keyID, method, path, operation, code string
		status                                    int
		body                                      any
	}{
		{key, c.test.ID, "GET", "/v1/me", "getMe", "", 200, nil},
		{key, c.test.ID, "POST", "/v1/factories", "createFactory", "", 201, object{"type": "blogger", "name": "A"}},
		{key, c.test.ID, "POST", "/v1/factories", "createFactory", "validation_failed", 422, object{"type": "blogger"}},
		{key, c.test.ID, "GET", "/v1/nothing", "", "unknown_path", 404, nil},
		{key, c.test.ID, "PUT", "/v1/me", "", "method_not_allowed", 405, nil},
		{weak.Secret, weak.ID, "GET", "/v1/me", "getMe", "insufficient_scope", 403, nil},
		{revoked.Secret, revoked.ID, "GET", "/v1/me", "getMe", "invalid_api_key", 401, nil},
	}
	ids := make([]string, len(calls))
	for i, made := range calls {
		a := call(t, made.key, made.method, made.path, made.body, "User-Agent", "e2e/1")
		if a.Status != made.status {
			t.Fatalf("%s", a.Raw)
		}
		ids[i] = a.RequestID
	}
	log := into[[]auditEntry](call(t, key, "GET", "/v1/audit-log", nil), http.StatusOK)
	if len(log) != len(calls) {
		t.Fatalf("%d entries: %+v", len(log), log)
	}
	for i, made := range calls {
		e := log[len(log)-1-i]
		code := ""
		if e.ErrorCode != nil {
			code = *e.ErrorCode
		}
		// The answer to a key that has ended has the second half of the id alone, as that to an unknown one has.
		if !strings.HasSuffix(e.RequestID, ids[i]) || e.RequestID != ids[i] && made.status != http.StatusUnauthorized ||
			e.KeyID != made.keyID || e.Method != made.method || e.Path != made.path ||
			e.OperationID != made.operation || e.Status != made.status || code != made.code ||
			!strings.HasPrefix(e.IP, "127.") && e.IP != "::1" || e.UserAgent != "e2e/1" || e.At.Before(began) {
			t.Errorf("call %d (%s) is in the log as %+v", i, ids[i], e)
		}
	}
	for filter, want := range map[string]int{
		"key_id=" + weak.ID:             1,
		"operation_id=createFactory":    2,
		"status=422":                    1,
		"request_id=" + ids[0]:          1,
		"request_id=unknown":            0,
		"key_id=" + c.live.ID:           0,
		"status=200&operation_id=getMe": 1,
	} {
		a := call(t, key, "GET", "/v1/audit-log?"+filter, nil)
		if got := into[[]auditEntry](a, http.StatusOK); len(got) != want {
			t.Errorf("%s gave %d entries, want %d: %+v", filter, len(got), want, got)
		}
	}
	from := "from=" + strconv.Itoa(time.Now().Year()+1) + "-01-01T00:00:00Z"
	if got := into[[]auditEntry](call(t, key, "GET", "/v1/audit-log?"+from, nil), http.StatusOK); len(got) != 0 {
		t.Errorf("%s gave %+v", from, got)
	}
	// Neither another account nor the other mode sees these calls.
	for _, other := range []string{c.live.Secret, newCustomer(t).test.Secret} {
		if got := into[[]auditEntry](call(t, other, "GET", "/v1/audit-log?request_id="+ids[0], nil),
			http.StatusOK); len(got) != 0 {
			t.Errorf("%+v", got)
		}
	}
}
