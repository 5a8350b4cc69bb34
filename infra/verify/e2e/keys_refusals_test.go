//go:build !deployed

package e2e

import (
	"net/http"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/resource"
)

// keyDetails is a key as GET returns it.
type keyDetails struct {
	keyView
	OldSecrets []struct {
		Last4 string
		Until time.Time
	} `json:"old_secrets"`
	RevokedKeys *int `json:"revoked_keys"`
	Usage       struct {
		LastDay struct{ Calls, Refused int } `json:"last_24h"`
	}
	SpendLimit *int64 `json:"spend_limit_credits"`
	Spent      int64  `json:"used_this_month_credits"`
}

// manager makes a live key of the customer that may manage keys.
func (c *customer) manager(set apikey.Settings) apikey.NewKey {
	set.Scopes = []auth.Scope{auth.AccountManage, auth.AccountRead}
	return c.key(tenant.Live, set)
}

// managing is a body that makes a key with the permissions of manager's.
func managing(members ...any) object {
	b := object{"name": "child", "kind": "live", "scopes": []string{"account:manage", "account:read"}}
	for i := 0; i < len(members); i += 2 {
		b[members[i].(string)] = members[i+1]
	}
	return b
}

// TestALeakedSecretIsRotatedAway tries to keep access to a key with a replaced secret.
func TestALeakedSecretIsRotatedAway(t *testing.T) {
	c := newCustomer(t)
	k := c.manager(apikey.Settings{})
	path := "/v1/api-keys/" + k.ID
	second := into[keyDetails](call(t, k.Secret, "POST", path+"/rotate", object{"overlap_seconds": 3600}),
		http.StatusCreated)
	third := into[keyDetails](call(t, second.Secret, "POST", path+"/rotate", object{"overlap_seconds": 3600}),
		http.StatusCreated)
	if len(third.OldSecrets) != 2 || third.OldSecrets[0].Last4 != k.Last4 ||
		third.OldSecrets[1].Until.Before(time.Now()) {
		t.Errorf("%+v", third.OldSecrets)
	}
	into[keyDetails](call(t, k.Secret, "GET", path, nil), http.StatusOK)
	for _, try := range []struct {
		method, path string
		body         any
	}{
		{"POST", path + "/rotate", object{}}, {"POST", "/v1/api-keys", managing()},
		{"PATCH", path, object{"name": "mine"}}, {"DELETE", path, nil},
	} {
		for _, old := range []string{k.Secret, second.Secret} {
			if err := call(t, old, try.method, try.path, try.body).refused(403, "insufficient_scope"); err != nil {
				t.Error(err)
			}
		}
	}
	into[keyDetails](call(t, third.Secret, "POST", path+"/rotate", nil), http.StatusCreated)
	for _, old := range []string{k.Secret, second.Secret, third.Secret} {
		a := call(t, old, "GET", "/v1/me", nil)
		if err := a.refused(401, "invalid_api_key"); err != nil {
			t.Error(err)
		}
		if a.Header.Get("RateLimit") != "" || a.Header.Get("RateLimit-Policy") != "" {
			t.Errorf("headers tell a replaced secret from an unknown one: %v", a.Header)
		}
	}
}

// TestNoKeyGivesMoreThanItHas tries to gain permissions by making another key.
func TestNoKeyGivesMoreThanItHas(t *testing.T) {
	c := newCustomer(t)
	end := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	spend := int64(100)
	k := c.manager(apikey.Settings{IPAllowList: []string{"127.0.0.0/8", "::1"}, ExpiresAt: resource.InstantOrNil(&end),
		SpendLimit: &spend})
	inside := []any{"ip_allow_list", []string{"127.0.0.0/8", "::1"}, "expires_at", end, "spend_limit_credits", 100}
	for member, value := range map[string]any{
		"scopes": []string{"content:read"}, "ip_allow_list": []string{}, "expires_at": end.Add(time.Hour),
		"spend_limit_credits": nil,
	} {
		a := call(t, k.Secret, "POST", "/v1/api-keys", managing(append(inside[:6:6], member, value)...))
		if err := a.refused(403, "scope_escalation"); err != nil {
			t.Error(err)
		}
		a = call(t, k.Secret, "PATCH", "/v1/api-keys/"+k.ID, object{member: value})
		if member == "scopes" {
			a = call(t, k.Secret, "PATCH", "/v1/api-keys/"+k.ID, object{member: auth.AllScopes()})
		}
		if err := a.refused(403, "scope_escalation"); err != nil {
			t.Error(err)
		}
	}
	for _, try := range []struct {
		method, path string
		body         any
	}{
		{"PATCH", "/v1/api-keys/" + c.live.ID, object{"scopes": auth.AllScopes(), "expires_at": nil}}, // no change
		{"PATCH", "/v1/api-keys/" + c.live.ID, object{"name": "Renamed"}},
	} {
		into[keyDetails](call(t, k.Secret, try.method, try.path, try.body), http.StatusOK)
	}
	if err := call(t, k.Secret, "POST", "/v1/api-keys/"+c.live.ID+"/rotate", nil).refused(403,
		"scope_escalation"); err != nil {
		t.Error(err)
	}
	child := into[keyDetails](call(t, k.Secret, "POST", "/v1/api-keys", managing(inside...)), http.StatusCreated)
	grandchild := into[keyDetails](call(t, child.Secret, "POST", "/v1/api-keys", managing(inside...)),
		http.StatusCreated)
	ended := into[keyDetails](call(t, c.live.Secret, "DELETE", "/v1/api-keys/"+k.ID+"?include_created=true", nil),
		http.StatusOK)
	if ended.RevokedKeys == nil || *ended.RevokedKeys != 2 {
		t.Errorf("%+v", ended)
	}
	for _, secret := range []string{k.Secret, child.Secret, grandchild.Secret} {
		if err := call(t, secret, "GET", "/v1/me", nil).refused(401, "invalid_api_key"); err != nil {
			t.Error(err)
		}
	}
	events := map[string]int{}
	for _, e := range into[[]webhookEvent](call(t, c.live.Secret, "GET", "/v1/events?type=api_key.*&limit=100", nil),
		http.StatusOK) {
		events[e.Type]++
	}
	if events["api_key.created"] != 4 || events["api_key.revoked"] != 3 {
		t.Errorf("%v", events)
	}
}

// TestTheRateIsThatOfTheKey tries to gain calls by rotations, and by many keys.
func TestTheRateIsThatOfTheKey(t *testing.T) {
	limit := 20
	c := newCustomer(t, func(s *account.Settings) { s.TestLimit = &limit })
	// The calls must be within one minute.
	if left := time.Until(time.Now().Truncate(time.Minute).Add(time.Minute)); left < 30*time.Second {
		<-time.After(left)
	}
	secret, ok := c.test.Secret, 0
	for range 3 {
		for range 10 {
			if call(t, secret, "GET", "/v1/me", nil).Status == http.StatusOK {
				ok++
			}
		}
		secret = into[keyView](call(t, c.live.Secret, "POST", "/v1/api-keys/"+c.test.ID+"/rotate", nil),
			http.StatusCreated).Secret
	}
	if ok != limit {
		t.Errorf("%d calls of a limit of %d", ok, limit)
	}
	if err := call(t, secret, "GET", "/v1/me", nil).refused(429, "rate_limited"); err != nil {
		t.Error(err)
	}
	got := into[keyDetails](call(t, c.live.Secret, "GET", "/v1/api-keys/"+c.test.ID, nil), http.StatusOK)
	if got.Usage.LastDay.Calls != 31 || got.Usage.LastDay.Refused != 11 {
		t.Errorf("%+v", got.Usage)
	}
	// Eleven more keys with 20 calls each. The account has 200 calls, and one key has used its 20.
	failed, last := 0, answer{}
	for range 11 {
		k := c.key(tenant.Test, apikey.Settings{})
		for range limit {
			switch last = call(t, k.Secret, "GET", "/v1/me", nil); last.Status {
			case http.StatusOK:
				ok++
			case http.StatusTooManyRequests:
			default: // A busy machine fails a call before or after it is counted.
				failed++
			}
		}
	}
	// Twelve keys may exceed the ceiling by less than a block each (credential.Ceiling).
	// net/http repeats a call whose connection has ended, and both are counted.
	if ok >= 10*limit+12 || ok+failed < 10*limit-2 {
		t.Errorf("%d calls of the account have succeeded and %d failed, of %d", ok, failed, 10*limit)
	}
	if err := last.refused(429, "rate_limited"); err != nil || last.Header.Get("Retry-After") == "" {
		t.Errorf("%v, %v", err, last.Header)
	}
}

// TestAFloodWithARevokedKey checks that the gateway denies it beyond the limit.
func TestAFloodWithARevokedKey(t *testing.T) {
	limit := 20
	c := newCustomer(t, func(s *account.Settings) { s.TestLimit = &limit })
	into[keyView](call(t, c.live.Secret, "DELETE", "/v1/api-keys/"+c.test.ID, nil), http.StatusOK)
	if left := time.Until(time.Now().Truncate(time.Minute).Add(time.Minute)); left < 15*time.Second {
		<-time.After(left)
	}
	for range 30 {
		if err := call(t, c.test.Secret, "GET", "/v1/me", nil).refused(401, "invalid_api_key"); err != nil {
			t.Fatal(err)
		}
	}
	reader := c.key(tenant.Test, apikey.Settings{})
	entries := into[[]object](call(t, reader.Secret, "GET", "/v1/audit-log?limit=100&key_id="+c.test.ID, nil),
		http.StatusOK)
	if len(entries) == 0 || len(entries) > limit {
		t.Errorf("the audit log has %d entries of 30 calls", len(entries))
	}
}
