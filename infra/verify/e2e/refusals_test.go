package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/poll"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/resource"
)

// TestRefusals makes every kind of bad call. Each gets exactly its status and code, and changes
// nothing.
func TestRefusals(t *testing.T) {
	c, other := newCustomer(t), newCustomer(t)
	key := c.test.Secret
	factory := c.factory(key)
	liveFactory, otherFactory := c.factory(c.live.Secret), other.factory(other.test.Secret)
	hook := into[struct{ ID string }](call(t, key, "POST", "/v1/webhooks",
		object{"url": "http://127.0.0.1:9/hook", "event_types": []string{"*"}}), http.StatusCreated).ID

	_, keys := operator()
	revoked := c.key(tenant.Test, apikey.Settings{})
	if _, err := keys.End(t.Context(), tenant.Account(c.id), revoked.ID); err != nil {
		t.Fatal(err)
	}
	soon := time.Now().Add(time.Second)
	expired := c.key(tenant.Test, apikey.Settings{ExpiresAt: resource.InstantOrNil(&soon)})
	starter, elsewhere := "starter", []string{"203.0.113.0/24"}
	small := newCustomer(t, func(s *account.Settings) { s.Plan = &starter })
	fenced := newCustomer(t, func(s *account.Settings) { s.IPAllowList = &elsewhere })
	fencedKey := c.key(tenant.Test, apikey.Settings{IPAllowList: []string{"2001:db8::/32"}})
	reader := c.key(tenant.Test, apikey.Settings{Scopes: []auth.Scope{auth.FactoriesRead, auth.AccountManage}})
	unknown, err := auth.NewKey(tenant.Test, strings.NewReader(strings.Repeat("x", 32)))
	if err != nil {
		t.Fatal(err)
	}
	// One changed character, like a typing error.
	mistyped := strings.Replace(key, key[20:21], map[bool]string{true: "A", false: "B"}[key[20] != 'A'], 1)

	post := func(member string, value any) object {
		b := object{"type": "brand", "name": "Acme", "settings": object{"brand_name": "Acme"}}
		b[member] = value
		return b
	}
	item := func(member string, value any) object {
		b := object{"factory_id": factory, "kind": "post", "prompt": "A shoe"}
		b[member] = value
		return b
	}
	const queue, role = "arn:aws:sqs:us-east-1:111122223333:content",
		"arn:aws:iam::111122223333:role/content-automation-events"
	target := func(arn, role string) object {
		return object{"destination": object{"kind": "sqs", "arn": arn, "role_arn": role}, "event_types": []string{"*"}}
	}
	poll.Until(t, "the end of a key", func() bool { return time.Now().After(soon) })

	tests := []struct {
		name, key, method, path string
		body                    any
		headers                 []string
		status                  int
		code, param             string
	}{
		// The key.
		{"no key", "", "GET", "/v1/me", nil, nil, 401, "missing_api_key", ""},
		{"no key for an unknown path", "", "GET", "/v1/nothing", nil, nil, 401, "missing_api_key", ""},
		{"no key for an unknown method", "", "DELETE", "/v1/me", nil, nil, 401, "missing_api_key", ""},
		{"no key at all", "", "GET", "/v1/me", nil, []string{"Authorization", "Bearer "}, 401, "invalid_api_key", ""},
		{"another scheme", "", "GET", "/v1/me", nil, []string{"Authorization", "Basic dXNlcjpwYXNz"}, 401,
			"invalid_api_key", ""},
		{"garbage as a key", "garbage", "GET", "/v1/me", nil, nil, 401, "invalid_api_key", ""},
		{"mistyped key", mistyped, "GET", "/v1/me", nil, nil, 401, "invalid_api_key", ""},
		{"unknown key", unknown, "GET", "/v1/me", nil, nil, 401, "invalid_api_key", ""},
		{"revoked key", revoked.Secret, "GET", "/v1/me", nil, nil, 401, "invalid_api_key", ""},
		{"expired key", expired.Secret, "GET", "/v1/me", nil, nil, 401, "invalid_api_key", ""},
		{"expired key for an unknown path", expired.Secret, "GET", "/v1/nothing", nil, nil, 401, "invalid_api_key", ""},
		{"another plan", small.test.Secret, "GET", "/v1/me", nil, nil, 403, "plan_not_allowed", ""},
		{"address not allowed by the account", fenced.test.Secret, "GET", "/v1/me", nil, nil, 403,
			"ip_not_allowed", ""},
		{"address pretended", fenced.test.Secret, "GET", "/v1/me", nil, []string{"X-Forwarded-For", "203.0.113.9"}, 403,
			"ip_not_allowed", ""},
		{"address not allowed by the key", fencedKey.Secret, "GET", "/v1/me", nil, nil, 403, "ip_not_allowed", ""},
		{"scope", reader.Secret, "GET", "/v1/me", nil, nil, 403, "insufficient_scope", ""},
		{"scope before the body", reader.Secret, "POST", "/v1/factories", "{", nil, 403, "insufficient_scope", ""},
		{"scope escalation", reader.Secret, "POST", "/v1/api-keys",
			object{"name": "x", "kind": "test", "scopes": []string{"content:write"}}, nil, 403, "scope_escalation",
			"/scopes/0"},
		{"a live key from a test key", key, "POST", "/v1/api-keys",
			object{"name": "x", "kind": "live", "scopes": []string{"content:write"}}, nil, 403,
			"scope_escalation", "/kind"},
		{"rotation of a stronger key", reader.Secret, "POST", "/v1/api-keys/" + c.test.ID + "/rotate", object{}, nil,
			403, "scope_escalation", ""},
		// The path.
		{"unknown path", key, "GET", "/v1/nothing", nil, nil, 404, "unknown_path", ""},
		{"unknown path below a known one", key, "GET", "/v1/me/more", nil, nil, 404, "unknown_path", ""},
		{"unknown path outside of /v1", key, "GET", "/v2/me", nil, nil, 404, "unknown_path", ""},
		{"unknown method", key, "PUT", "/v1/factories/" + factory, nil, nil, 405, "method_not_allowed", ""},
		{"unknown query parameter", key, "GET", "/v1/factories?limits=1", nil, nil, 422, "validation_failed", "limits"},
		{"limit too large", key, "GET", "/v1/factories?limit=101", nil, nil, 422, "validation_failed", "limit"},
		{"limit too small", key, "GET", "/v1/factories?limit=0", nil, nil, 422, "validation_failed", "limit"},
		{"unknown state in a filter", key, "GET", "/v1/content-items?state=done", nil, nil, 422,
			"validation_failed", "state"},
		{"time in a filter", key, "GET", "/v1/events?from=yesterday", nil, nil, 422, "validation_failed", "from"},
		{"period turned round", key, "GET", "/v1/events?from=2026-02-01T00:00:00Z&to=2026-01-01T00:00:00Z", nil, nil,
			422, "validation_failed", "from"},
		{"cursor", key, "GET", "/v1/factories?cursor=bad", nil, nil, 400, "invalid_cursor", "cursor"},
		// The body.
		{"malformed JSON", key, "POST", "/v1/factories", `{"type":`, nil, 400, "malformed_json", ""},
		{"no body", key, "POST", "/v1/factories", "", nil, 400, "malformed_json", ""},
		{"not UTF-8", key, "POST", "/v1/factories", "{\"type\":\"brand\",\"name\":\"\xff\"", nil, 400,
			"malformed_json", ""},
		{"media type", key, "POST", "/v1/factories", "type=brand",
			[]string{"Content-Type", "application/x-www-form-urlencoded"}, 415, "unsupported_media_type", ""},
		{"huge body", key, "POST", "/v1/factories", `{"name":"` + strings.Repeat("a", 256<<10) + `"}`, nil, 413,
			"body_too_large", ""},
		{"wrong type", key, "POST", "/v1/factories", post("name", 7), nil, 422, "validation_failed", "/name"},
		{"unknown member", key, "POST", "/v1/factories", post("nmae", "x"), nil, 422, "validation_failed", "/nmae"},
		{"unknown member within settings", key, "POST", "/v1/factories",
			post("settings", object{"brand_name": "A", "slogn": "x"}), nil, 422, "validation_failed",
			"/settings/slogn"},
		{"settings of another type", key, "POST", "/v1/factories", post("settings", object{"currency": "EUR"}), nil,
			422, "validation_failed", ""},
		{"unknown type", key, "POST", "/v1/factories", post("type", "shop"), nil, 422, "validation_failed", "/type"},
		{"control character", key, "POST", "/v1/factories", post("name", "A\u0000"), nil, 422,
			"validation_failed", "/name"},
		{"language", key, "POST", "/v1/factories", post("language", "klingonish-language"), nil, 422,
			"validation_failed", "/language"},
		{"time zone", key, "POST", "/v1/factories",
			post("schedule", object{"timezone": "Mars/Base", "times": []string{"09:00"}}), nil, 422,
			"validation_failed", "/schedule/timezone"},
		{"too much metadata", key, "POST", "/v1/factories", post("metadata", object{"k": strings.Repeat("v", 501)}),
			nil, 422, "validation_failed", "/metadata/k"},
		{"unknown kind", key, "POST", "/v1/content-items", item("kind", "podcast"), nil, 422,
			"validation_failed", "/kind"},
		{"format of a post", key, "POST", "/v1/content-items", item("format", "long"), nil, 422,
			"validation_failed", "/format"},
		{"unknown model", key, "POST", "/v1/content-items", item("model", "gpt-99"), nil, 422,
			"unsupported_model", "/model"},
		{"retired model", key, "POST", "/v1/content-items", item("model", "nova-canvas-1"), nil, 422,
			"unsupported_model", "/model"},
		{"sandbox delay", key, "POST", "/v1/content-items", item("sandbox", object{"delay_seconds": 61}), nil, 422,
			"validation_failed", "/sandbox/delay_seconds"},
		{"sandbox with a live key", c.live.Secret, "POST", "/v1/content-items",
			object{"factory_id": liveFactory, "kind": "post", "prompt": "x", "sandbox": object{}}, nil, 422,
			"validation_failed", "/sandbox"},
		{"content without credits", c.live.Secret, "POST", "/v1/content-items",
			object{"factory_id": liveFactory, "kind": "post", "prompt": "x"}, nil, 402, "insufficient_balance", ""},
		{"webhook over http", key, "POST", "/v1/webhooks",
			object{"url": "http://example.com/", "event_types": []string{"*"}}, nil, 422, "validation_failed", "/url"},
		{"webhook to a private address", key, "POST", "/v1/webhooks",
			object{"url": "https://10.0.0.1/", "event_types": []string{"*"}}, nil, 422, "validation_failed", "/url"},
		{"webhook to the metadata address", key, "POST", "/v1/webhooks",
			object{"url": "https://169.254.169.254/", "event_types": []string{"*"}}, nil, 422,
			"validation_failed", "/url"},
		{"unknown event type", key, "POST", "/v1/webhooks",
			object{"url": "http://127.0.0.1:9/", "event_types": []string{"content.made"}}, nil, 422,
			"validation_failed", "/event_types/0"},
		{"webhook to nowhere", key, "POST", "/v1/webhooks", object{"event_types": []string{"*"}}, nil, 422,
			"validation_failed", "/url"},
		{"webhook to a FIFO queue", key, "POST", "/v1/webhooks", target(queue+".fifo", role), nil, 422,
			"validation_failed", "/destination/arn"},
		{"webhook by the role of another account", key, "POST", "/v1/webhooks",
			target(queue, strings.Replace(role, "1111", "9999", 1)), nil, 422, "validation_failed",
			"/destination/role_arn"},
		{"webhook by any role", key, "POST", "/v1/webhooks", target(queue, "arn:aws:iam::111122223333:role/admin"), nil,
			422, "validation_failed", "/destination/role_arn"},
		// Ids.
		{"malformed id", key, "GET", "/v1/factories/7", nil, nil, 404, "not_found", ""},
		{"id of another kind", key, "GET", "/v1/content-items/" + factory, nil, nil, 404, "not_found", ""},
		{"unknown id", key, "GET", "/v1/factories/" + id.New(id.Factory, time.Now()), nil, nil, 404, "not_found", ""},
		{"another account's id", key, "GET", "/v1/factories/" + otherFactory, nil, nil, 404, "not_found", ""},
		{"the other mode's id", key, "PATCH", "/v1/factories/" + liveFactory, object{"name": "mine"}, nil, 404,
			"not_found", ""},
		{"another account's id in a body", key, "POST", "/v1/content-items", item("factory_id", otherFactory), nil, 404,
			"not_found", "/factory_id"},
		{"a live key's id for a test key", key, "GET", "/v1/api-keys/" + c.live.ID, nil, nil, 404, "not_found", ""},
		{"another account's webhook", other.test.Secret, "DELETE", "/v1/webhooks/" + hook, nil, nil, 404,
			"not_found", ""},
		// Headers.
		{"If-Match", key, "PATCH", "/v1/factories/" + factory, object{"name": "x"}, []string{"If-Match", "one"}, 400,
			"invalid_header", "If-Match"},
		{"version", key, "PATCH", "/v1/factories/" + factory, object{"name": "x"}, []string{"If-Match", `"9"`}, 412,
			"version_mismatch", "If-Match"},
		{"idempotency key", key, "POST", "/v1/factories", post("name", "x"),
			[]string{"Idempotency-Key", strings.Repeat("k", 256)}, 400, "invalid_header", "Idempotency-Key"},
	}
	state := func() string {
		var all []string
		for _, path := range []string{"/v1/factories", "/v1/content-items", "/v1/webhooks"} {
			all = append(all, string(call(t, key, "GET", path, nil).Data),
				string(call(t, other.test.Secret, "GET", path, nil).Data),
				string(call(t, c.live.Secret, "GET", path, nil).Data))
		}
		_, keys := operator()
		err := keys.All(t.Context(), tenant.Account(c.id), func(k apikey.Key) error {
			// The last use of a key is not a change that the call requests.
			k.LastUsedAt, k.LastUsedIP = nil, nil
			all = append(all, k.ID, k.State, k.Name)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(all, "\n")
	}
	before := state()
	secrets := []string{key, c.live.Secret, mistyped, revoked.Secret}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a := call(t, test.key, test.method, test.path, test.body, test.headers...)
			if err := a.refused(test.status, test.code); err != nil {
				t.Fatal(err)
			}
			if a.Error.Param != test.param && test.name != "settings of another type" {
				t.Errorf("param is %q, want %q: %s", a.Error.Param, test.param, a.Raw)
			}
			// The gateway renames the header of a function, which answers for keys that have ended.
			challenge := a.Header.Get("WWW-Authenticate") + a.Header.Get("X-Amzn-Remapped-WWW-Authenticate")
			if test.status == 401 && !strings.HasPrefix(challenge, "Bearer ") {
				t.Errorf("the challenge is %q", challenge)
			}
			for _, secret := range secrets {
				if strings.Contains(a.Raw, secret) {
					t.Errorf("the answer repeats a secret: %s", a.Raw)
				}
			}
		})
	}
	if after := state(); after != before {
		t.Errorf("refused calls have changed something. Before:\n%s\nafter:\n%s", before, after)
	}
}

// TestRateLimit makes calls with a test key until its limit for the minute is used up.
func TestRateLimit(t *testing.T) {
	limit := account.DefaultRateLimits.Test
	c := newCustomer(t, func(s *account.Settings) { s.TestLimit = &limit })
	// Not at the end of a minute, when the count restarts.
	poll.Until(t, "a moment well within a minute", func() bool { return time.Now().Second() < 40 })
	left, calls := limit, 0
	for left > 0 {
		a := call(t, c.test.Secret, "GET", "/v1/me", nil)
		calls++
		if a.Status != http.StatusOK {
			t.Fatalf("call %d: %s", calls, a.Raw)
		}
		if got := a.Header.Get("RateLimit-Policy"); got != `"default";q=60;w=60, "account";q=600;w=60` {
			t.Fatalf("RateLimit-Policy: %s", got)
		}
		before := left
		if _, err := fmt.Sscanf(a.Header.Get("RateLimit"), `"default";r=%d;t=`, &left); err != nil || left >= before {
			t.Fatalf("call %d: RateLimit is %s after %d were left", calls, a.Header.Get("RateLimit"), before)
		}
	}
	// net/http repeats a GET whose connection ends before its response. That call counts twice.
	if calls > limit || calls < limit-2 {
		t.Errorf("%d calls used up a minute of %d", calls, limit)
	}
	a := call(t, c.test.Secret, "POST", "/v1/factories", object{"type": "blogger", "name": "x"})
	if err := a.refused(429, "rate_limited"); err != nil {
		t.Fatal(err)
	}
	if a.Header.Get("Retry-After") == "" || !strings.HasPrefix(a.Header.Get("RateLimit"), `"default";r=0;t=`) {
		t.Errorf("headers: %v", a.Header)
	}
	if list := into[[]object](call(t, c.live.Secret, "GET", "/v1/factories", nil), http.StatusOK); len(list) != 0 {
		t.Errorf("the refused call has made %v", list)
	}
}
