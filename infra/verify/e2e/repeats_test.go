package e2e

import (
	"encoding/base64"
	"net/http"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/poll"
	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/tenant"
)

type newKey struct{ ID, Secret string }

// TestARepeatGivesNoSecretAway makes calls with a key that has all permissions, and repeats them
// with their Idempotency-Keys by keys that have fewer.
func TestARepeatGivesNoSecretAway(t *testing.T) {
	c := newCustomer(t)
	wide := c.key(tenant.Test, apikey.Settings{})
	manager := c.key(tenant.Test, apikey.Settings{Scopes: []auth.Scope{auth.AccountManage}})
	target := c.key(tenant.Test, apikey.Settings{Scopes: []auth.Scope{auth.StudioUse}})
	body := object{"name": "CRM", "kind": "test", "scopes": []string{"studio:use", "account:manage"}}
	rotate := "/v1/api-keys/" + target.ID + "/rotate"
	calls := []struct {
		path    string
		body    any
		headers []string
	}{
		{"/v1/api-keys", body, []string{"Idempotency-Key", "create-key-1"}},
		{rotate, object{"overlap_seconds": 60}, []string{"Idempotency-Key", "rotate-1"}},
		{rotate, nil, []string{"Idempotency-Key", "rotate-2", "If-Match", `"2"`}},
	}
	first := map[string]newKey{}
	for _, made := range calls {
		id := made.headers[1]
		first[id] = into[newKey](call(t, wide.Secret, "POST", made.path, made.body, made.headers...),
			http.StatusCreated)
		again := call(t, wide.Secret, "POST", made.path, made.body, made.headers...)
		if got := into[newKey](again, http.StatusCreated); got != first[id] ||
			again.Header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("%s by its caller: %s", id, again.Raw)
		}
		// Another key gets its own result. With If-Match, the version is checked first.
		a := call(t, manager.Secret, "POST", made.path, made.body, made.headers...)
		if a.Status != http.StatusForbidden && a.Status != http.StatusPreconditionFailed || string(a.Data) != "null" {
			t.Errorf("%s by another key: %s", id, a.Raw)
		}
	}
	// A key that has lost its scopes does not regain them.
	into[newKey](call(t, c.test.Secret, "PATCH", "/v1/api-keys/"+wide.ID, object{"scopes": []string{"account:manage"}}),
		http.StatusOK)
	for _, made := range calls {
		poll.Until(t, "the key has lost its scopes", func() bool {
			return call(t, wide.Secret, "GET", "/v1/factories", nil).Status == http.StatusForbidden
		})
		if err := call(t, wide.Secret, "POST", made.path, made.body, made.headers...).refused(http.StatusForbidden,
			"scope_escalation"); err != nil {
			t.Errorf("demoted: %v", err)
		}
	}
}

func TestARepeatGivesNoSigningSecretAway(t *testing.T) {
	c := newCustomer(t)
	other := c.key(tenant.Test, apikey.Settings{Scopes: []auth.Scope{auth.WebhooksManage}})
	body := object{"url": "http://127.0.0.1:9/", "event_types": []string{"*"}}
	header := []string{"Idempotency-Key", "hook-1"}
	first := into[newKey](call(t, c.test.Secret, "POST", "/v1/webhooks", body, header...), http.StatusCreated)
	if again := into[newKey](call(t, c.test.Secret, "POST", "/v1/webhooks", body, header...),
		http.StatusCreated); again != first {
		t.Errorf("repeated by its caller: %+v", again)
	}
	if own := into[newKey](call(t, other.Secret, "POST", "/v1/webhooks", body, header...),
		http.StatusCreated); own.ID == first.ID || own.Secret == first.Secret {
		t.Errorf("another key got %+v", own)
	}
}

func TestForgedCursorsAreRefused(t *testing.T) {
	c := newCustomer(t)
	key := c.test.Secret
	for range 3 {
		c.factory(key)
	}
	cursor := *call(t, key, "GET", "/v1/factories?limit=1", nil).NextCursor
	into[[]newKey](call(t, key, "GET", "/v1/factories?limit=1&cursor="+cursor, nil), http.StatusOK)
	plain, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		t.Fatal(err)
	}
	forged := []string{"x", "e30", cursor[1:], base64.RawURLEncoding.EncodeToString(plain[32:])}
	for _, i := range []int{0, 31, 32, len(plain) - 1} {
		plain[i] ^= 1
		forged = append(forged, base64.RawURLEncoding.EncodeToString(plain))
		plain[i] ^= 1
	}
	models := *call(t, key, "GET", "/v1/catalog/models?limit=1", nil).NextCursor
	for _, sent := range append(forged, models) {
		if err := call(t, key, "GET", "/v1/factories?limit=1&cursor="+sent, nil).refused(http.StatusBadRequest,
			"invalid_cursor"); err != nil {
			t.Error(err)
		}
	}
	if err := call(t, newCustomer(t).test.Secret, "GET", "/v1/factories?limit=1&cursor="+cursor,
		nil).refused(http.StatusBadRequest, "invalid_cursor"); err != nil {
		t.Error(err)
	}
}
