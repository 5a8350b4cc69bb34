package auth_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/authorizer"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/store"
)

// now is 17 seconds before the end of a minute.
var now = time.Date(2026, 5, 1, 12, 0, 43, 0, time.UTC)

// secrets is a table of secrets.
type secrets struct {
	known map[string]credential.Credential
	err   error
	asked []string // hash, window and address of each look-up
	// refused is the number of refused calls.
	refused int
}

// Counted has the ticket of every key.
func (s *secrets) Counted(_ context.Context, hash, ticket string) (*credential.Credential, error) {
	c, ok := s.known[hash]
	if !ok || ticket != "ticket" {
		return nil, s.err
	}
	return &c, s.err
}

func (s *secrets) CountDenied(context.Context, *credential.Credential, int64) (int, error) {
	s.refused++
	return s.refused, nil
}

func (s *secrets) Count(_ context.Context, hash string, window int64, ip string) (*credential.Credential, error) {
	s.asked = append(s.asked, hash+" "+time.Unix(window*60, 0).UTC().Format(time.TimeOnly)+" "+ip)
	if s.err != nil {
		return nil, s.err
	}
	found, ok := s.known[hash]
	if !ok {
		return nil, store.ErrNotFound
	}
	return &found, nil
}

// good is a secret of which every call is permitted.
func good() credential.Credential {
	return credential.Credential{
		KeyID: "key_1", Owner: tenant.Of("acc_1", ""), Plan: "enterprise",
		Scopes: []string{"content:read", "factories:write"}, Limit: 60, Count: 1,
		SpendLimit: new(int64(5000)),
		Makers:     []auth.KeyLimit{{Key: "key_0", Limit: new(int64(7))}, {Key: "key_00"}},
	}
}

func TestACallWithAReplacedSecretIsMarked(t *testing.T) {
	for end, want := range map[time.Duration]bool{0: false, time.Second: true} {
		key, s := newKey(t, tenant.Test), good()
		if end > 0 {
			s.UntilAt = now.Add(end)
		}
		_, p, err := handle(t, &secrets{known: map[string]credential.Credential{auth.HashKey(key): s}}, read(key))
		if err != nil || p.Denial != nil || p.OldSecret != want {
			t.Errorf("%v: %+v, %v", end, p, err)
		}
	}
}

// metrics returns the metrics that are counted until the test ends.
func metrics(t *testing.T) *bytes.Buffer {
	var b bytes.Buffer
	before := metric.SetOutput(&b)
	t.Cleanup(func() { metric.SetOutput(before) })
	return &b
}

func TestAFloodWithAnEndedSecretStartsNoFunction(t *testing.T) {
	for name, end := range map[string]func(*credential.Credential){
		"revoked":  func(c *credential.Credential) { c.Revoked = true },
		"expired":  func(c *credential.Credential) { c.ExpiresAt = now },
		"replaced": func(c *credential.Credential) { c.UntilAt = now },
	} {
		counted := metrics(t)
		key, c := newKey(t, tenant.Test), good()
		end(&c)
		s := &secrets{known: map[string]credential.Credential{auth.HashKey(key): c}}
		for n := 1; n <= 63; n++ {
			effect, p, err := handle(t, s, read(key))
			switch {
			case err != nil:
				t.Fatal(err)
			case n > 60 && effect != "Deny":
				t.Fatalf("%s: call %d: %s", name, n, effect)
			case n <= 60 && (effect != "Allow" || p.Denial.Code != errs.InvalidAPIKey || p.Denial.Count != n ||
				p.Rate != auth.Rate{}):
				t.Fatalf("%s: call %d: %s, %+v, %+v", name, n, effect, p.Denial, p.Rate)
			}
		}
		if n := strings.Count(counted.String(), `"AuthenticationRefused":1`); n != 63 {
			t.Errorf("%s: the metric counts %d", name, n)
		}
	}
}

func TestRefusedCallsAreCounted(t *testing.T) {
	key := newKey(t, tenant.Test)
	for name, c := range map[string]struct {
		spoil  func(*credential.Credential)
		count  int
		metric string
		limit  int // of the calls, where that is the reason
	}{
		"plan":    {func(c *credential.Credential) { c.Plan = "starter" }, 3, "PermissionRefused", 0},
		"address": {func(c *credential.Credential) { c.KeyIPs = []string{"10.0.0.0/8"} }, 3, "PermissionRefused", 0},
		"scope":   {func(c *credential.Credential) { c.Scopes = nil }, 3, "PermissionRefused", 0},
		"rate":    {func(c *credential.Credential) { c.Count = 65 }, 5, "", 60},
		"ceiling": {func(c *credential.Credential) { c.Count, c.OverFrom = 30, 27 }, 4, "", 600},
		"good":    {func(*credential.Credential) {}, 0, "", 0},
		"before":  {func(c *credential.Credential) { c.Count, c.OverFrom = 26, 27 }, 0, "", 0},
	} {
		counted := metrics(t)
		known := good()
		c.spoil(&known)
		s := &secrets{known: map[string]credential.Credential{auth.HashKey(key): known}, refused: 2}
		_, p, err := handle(t, s, read(key))
		if err != nil || (p.Denial != nil) != (c.count > 0) || p.Denial != nil && p.Denial.Count != c.count {
			t.Errorf("%s: %+v, %v", name, p.Denial, err)
		}
		if (s.refused == 3) != (c.metric != "") || c.metric == "" && counted.Len() > 0 ||
			!strings.Contains(counted.String(), c.metric) {
			t.Errorf("%s: counted %d, metrics %s", name, s.refused, counted)
		}
		if c.limit > 0 && (p.Denial.Rate == nil || *p.Denial.Rate != errs.RateContext{Limit: c.limit,
			WindowSeconds: 60}) {
			t.Errorf("%s: the limit is %+v", name, p.Denial.Rate)
		}
		if name == "ceiling" && (p.Rate.Remaining != 0 || p.Denial.Code != errs.RateLimited) {
			t.Errorf("%+v", p)
		}
	}
	counted := metrics(t)
	if effect, _, err := handle(t, &secrets{}, read(key)); err != nil || effect != "Deny" ||
		!strings.Contains(counted.String(), "AuthenticationRefused") {
		t.Errorf("an unknown key: %s, %v, %s", effect, err, counted)
	}
}

func newKey(t *testing.T, mode tenant.Mode) string {
	t.Helper()
	key, err := auth.NewKey(mode, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// call is the gateway's description of a call.
type call = events.APIGatewayCustomAuthorizerRequestTypeRequest

const arn = "arn:aws:execute-api:eu-central-1:123456789012:api/v1/GET/v1/content-items"

func callOf(method, resource, header, value string) call {
	c := call{
		Type: "REQUEST", MethodArn: arn, HTTPMethod: method, Resource: resource,
		Headers: map[string]string{"Host": "api.example.com", header: value},
	}
	c.RequestContext.Identity.SourceIP = "203.0.113.9"
	return c
}

func read(key string) call {
	return callOf("GET", "/v1/content-items", "Authorization", "Bearer "+key)
}

// handle authorizes a call and returns the effect of the policy.
func handle(t *testing.T, s *secrets, c call) (effect string, p *auth.Principal, err error) {
	t.Helper()
	got, err := authorizer.New(s, nil, authorizer.Scopes, func() time.Time { return now }).Handle(t.Context(), c)
	if err != nil {
		return "", nil, err
	}
	statement := got.PolicyDocument.Statement
	if len(statement) != 1 || !reflect.DeepEqual(statement[0].Resource, []string{arn}) ||
		!reflect.DeepEqual(statement[0].Action, []string{"execute-api:Invoke"}) ||
		got.PolicyDocument.Version != "2012-10-17" {
		t.Errorf("the policy is %+v", got.PolicyDocument)
	}
	if got.PrincipalID == "" {
		t.Error("the principal has no id")
	}
	for name, v := range got.Context {
		if _, ok := v.(string); !ok {
			t.Errorf("the context's %s is a %T", name, v)
		}
	}
	if statement[0].Effect == "Deny" {
		if len(got.Context) != 0 {
			t.Errorf("a refused call has the context %v", got.Context)
		}
		return "Deny", nil, nil
	}
	if p, err = auth.Decode(got.Context); err != nil {
		t.Errorf("the context %v: %v", got.Context, err)
	}
	return statement[0].Effect, p, nil
}

func TestAGoodKeyIsAllowed(t *testing.T) {
	for _, mode := range []tenant.Mode{tenant.Live, tenant.Test} {
		key := newKey(t, mode)
		s := &secrets{known: map[string]credential.Credential{auth.HashKey(key): good()}}
		effect, p, err := handle(t, s, read(key))
		if err != nil || effect != "Allow" {
			t.Fatalf("%s, %v", effect, err)
		}
		want := &auth.Principal{
			Owner: tenant.Of("acc_1", mode), Actor: auth.Key("key_1"),
			Scopes: []auth.Scope{auth.ContentRead, auth.FactoriesWrite},
			Rate:   auth.Rate{Limit: 60, Window: 60, Remaining: 59, Reset: 17}, SpendLimit: new(int64(5000)),
			Makers: []auth.KeyLimit{{Key: "key_0", Limit: new(int64(7))}, {Key: "key_00"}},
		}
		if !reflect.DeepEqual(p, want) {
			t.Errorf("got  %+v\nwant %+v", p, want)
		}
		if want := []string{auth.HashKey(key) + " 12:00:00 203.0.113.9"}; !reflect.DeepEqual(s.asked, want) {
			t.Errorf("looked up %v, want %v", s.asked, want)
		}
	}
}

// A key that is bound to profiles must not see the rest of the account.
func TestABoundKeyIsBound(t *testing.T) {
	for _, profiles := range [][]tenant.Profile{{"prf_1"}, {"prf_1", "prf_2"}} {
		key, s := newKey(t, tenant.Live), good()
		s.Profiles = profiles
		_, p, err := handle(t, &secrets{known: map[string]credential.Credential{auth.HashKey(key): s}}, read(key))
		if err != nil || !reflect.DeepEqual(p.Profiles, profiles) || (p.Profile == "prf_1") != (len(profiles) == 1) {
			t.Errorf("%v: %+v, %v", profiles, p, err)
		}
	}
}

// The faults of a call, each with its refusal, in the order in which they count.
var faults = []struct {
	name string
	code errs.Code
	mend func(s *credential.Credential, c *call) // takes the fault away
}{
	{"revoked", errs.InvalidAPIKey, func(s *credential.Credential, _ *call) { s.Revoked = false }},
	{"expired", errs.InvalidAPIKey,
		func(s *credential.Credential, _ *call) { s.ExpiresAt = now.Add(time.Millisecond) }},
	{"replaced", errs.InvalidAPIKey, func(s *credential.Credential, _ *call) { s.UntilAt = now.Add(time.Millisecond) }},
	{"plan", errs.PlanNotAllowed, func(s *credential.Credential, _ *call) { s.Plan = "enterprise" }},
	{"address, says the account", errs.IPNotAllowed,
		func(s *credential.Credential, _ *call) { s.AccountIPs = append(s.AccountIPs, "203.0.113.0/24") }},
	{"address, says the key", errs.IPNotAllowed,
		func(s *credential.Credential, _ *call) { s.KeyIPs = append(s.KeyIPs, "203.0.113.9/32") }},
	{"scope", errs.InsufficientScope,
		func(s *credential.Credential, _ *call) { s.Scopes = append(s.Scopes, "content:read") }},
	{"rate", errs.RateLimited, func(s *credential.Credential, _ *call) { s.Count = 60 }},
}

func TestRefusalsComeInTheContractsOrder(t *testing.T) {
	key := newKey(t, tenant.Test)
	s := good()
	s.Revoked, s.ExpiresAt, s.UntilAt, s.Plan = true, now, now, "business"
	s.AccountIPs, s.KeyIPs, s.Scopes, s.Count = []string{"10.0.0.0/8"}, []string{"2001:db8::/32"},
		[]string{"content:write"}, 61
	c := read(key)
	for _, fault := range faults {
		effect, p, err := handle(t, &secrets{known: map[string]credential.Credential{auth.HashKey(key): s}}, c)
		if err != nil || effect != "Allow" || p.Denial == nil || p.Denial.Code != fault.code ||
			p.Denial.Message == "" {
			t.Fatalf("%s: %s, %+v, %v; want %s", fault.name, effect, p, err, fault.code)
		}
		if p.Account != "acc_1" || p.KeyID() != "key_1" {
			t.Errorf("%s: nobody can be held to account: %+v", fault.name, p)
		}
		if fault.code == errs.InsufficientScope && !strings.Contains(p.Denial.Message, "content:read") {
			t.Errorf("the message does not name the scope: %s", p.Denial.Message)
		}
		if fault.code == errs.RateLimited && p.Rate.Remaining != 0 {
			t.Errorf("%d calls remain", p.Rate.Remaining)
		}
		fault.mend(&s, &c)
	}
	if _, p, err := handle(t, &secrets{known: map[string]credential.Credential{auth.HashKey(key): s}}, c); err != nil ||
		p.Denial != nil {
		t.Errorf("without a fault: %+v, %v", p, err)
	}
}

func TestEachFaultAloneIsRefused(t *testing.T) {
	key := newKey(t, tenant.Test)
	for name, c := range map[string]struct {
		spoil func(*credential.Credential)
		ip    string
		code  errs.Code
	}{
		"revoked": {func(s *credential.Credential) { s.Revoked = true }, "", errs.InvalidAPIKey},
		"expired long ago": {func(s *credential.Credential) { s.ExpiresAt = now.Add(-time.Hour) }, "",
			errs.InvalidAPIKey},
		"expired now":    {func(s *credential.Credential) { s.ExpiresAt = now }, "", errs.InvalidAPIKey},
		"expires next":   {func(s *credential.Credential) { s.ExpiresAt = now.Add(time.Millisecond) }, "", ""},
		"replaced":       {func(s *credential.Credential) { s.UntilAt = now }, "", errs.InvalidAPIKey},
		"in its overlap": {func(s *credential.Credential) { s.UntilAt = now.Add(time.Second) }, "", ""},
		"no plan":        {func(s *credential.Credential) { s.Plan = "" }, "", errs.PlanNotAllowed},
		"a smaller plan": {func(s *credential.Credential) { s.Plan = "starter" }, "", errs.PlanNotAllowed},
		"the last call":  {func(s *credential.Credential) { s.Count = 60 }, "", ""},
		"one call more":  {func(s *credential.Credential) { s.Count = 61 }, "", errs.RateLimited},
		"no scope":       {func(s *credential.Credential) { s.Scopes = nil }, "", errs.InsufficientScope},
		"account, v4, inside": {func(s *credential.Credential) { s.AccountIPs = []string{"203.0.113.0/24"} },
			"203.0.113.255", ""},
		"account, v4, outside": {func(s *credential.Credential) { s.AccountIPs = []string{"203.0.113.0/24"} },
			"203.0.114.1", errs.IPNotAllowed},
		"account, v6, inside": {func(s *credential.Credential) { s.AccountIPs = []string{"2001:db8::/32"} },
			"2001:db8::7", ""},
		"account, v6, outside": {func(s *credential.Credential) { s.AccountIPs = []string{"2001:db8::/32"} },
			"2001:db9::7", errs.IPNotAllowed},
		"key, v4, inside": {func(s *credential.Credential) { s.KeyIPs = []string{"203.0.113.0/24"} },
			"203.0.113.1", ""},
		"key, v4, outside": {func(s *credential.Credential) { s.KeyIPs = []string{"203.0.113.0/24"} },
			"203.0.112.1", errs.IPNotAllowed},
		"key, v6, inside": {func(s *credential.Credential) { s.KeyIPs = []string{"2001:db8::/32"} },
			"2001:db8:1::7", ""},
		"key, v6, outside": {func(s *credential.Credential) { s.KeyIPs = []string{"2001:db8::/32"} },
			"203.0.113.1", errs.IPNotAllowed},
		"v4 written as v6": {func(s *credential.Credential) { s.KeyIPs = []string{"203.0.113.0/24"} },
			"::ffff:203.0.113.1", ""},
		"an address nobody knows": {func(s *credential.Credential) { s.KeyIPs = []string{"0.0.0.0/0", "::/0"} }, "-",
			errs.IPNotAllowed},
	} {
		s := good()
		c.spoil(&s)
		req := read(key)
		if c.ip != "" {
			req.RequestContext.Identity.SourceIP = c.ip
		}
		// An address that the caller states itself does not count.
		req.Headers["X-Forwarded-For"] = "203.0.113.1"
		_, p, err := handle(t, &secrets{known: map[string]credential.Credential{auth.HashKey(key): s}}, req)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var code errs.Code
		if p.Denial != nil {
			code = p.Denial.Code
		}
		if code != c.code {
			t.Errorf("%s: refused as %q, want %q", name, code, c.code)
		}
	}
}

func TestTheScopeIsThatOfTheOperation(t *testing.T) {
	key := newKey(t, tenant.Test)
	for _, c := range []struct {
		method, resource string
		refused          bool
	}{
		{"GET", "/v1/content-items", false},
		{"GET", "/v1/content-items/{content_item_id}", false},
		{"POST", "/v1/content-items", true},
		{"POST", "/v1/factories", false},
		{"GET", "/v1/factories", true},
		// The function answers unknown paths and methods with 404 and 405.
		{"GET", "/v1/{proxy+}", false},
		{"PUT", "/v1/content-items", false},
		{"HEAD", "/v1/content-items", false},
		{"HEAD", "/v1/factories", true},
	} {
		s := &secrets{known: map[string]credential.Credential{auth.HashKey(key): good()}}
		_, p, err := handle(t, s, callOf(c.method, c.resource, "Authorization", "Bearer "+key))
		if err != nil || (p.Denial != nil) != c.refused {
			t.Errorf("%s %s: %+v, %v", c.method, c.resource, p, err)
		}
	}
}

func TestTheHeaderIsFoundInAnyCase(t *testing.T) {
	key := newKey(t, tenant.Test)
	for _, header := range []string{"Authorization", "authorization", "AUTHORIZATION", "aUTHORIZATION"} {
		for _, value := range []string{"Bearer " + key, "bearer " + key, "BEARER " + key, "Bearer   " + key,
			"  Bearer " + key + "  "} {
			s := &secrets{known: map[string]credential.Credential{auth.HashKey(key): good()}}
			if effect, _, err := handle(t, s, callOf("GET", "/v1/content-items", header, value)); err != nil ||
				effect != "Allow" {
				t.Errorf("%s: %s: %s, %v", header, value, effect, err)
			}
		}
	}
}

func TestWithoutAKeyTheCallIsUnauthorized(t *testing.T) {
	for _, c := range []call{
		callOf("GET", "/v1/me", "X-Other", "x"),
		callOf("GET", "/v1/me", "Authorization", ""),
		callOf("GET", "/v1/me", "authorization", "  "),
		{MethodArn: arn},
	} {
		s := &secrets{}
		// API Gateway knows this text, and no other, as 401.
		if effect, _, err := handle(t, s, c); err == nil || err.Error() != "Unauthorized" {
			t.Errorf("%v: %s, %v", c.Headers, effect, err)
		}
		if len(s.asked) != 0 {
			t.Errorf("%v: looked up %v", c.Headers, s.asked)
		}
	}
}

func TestWhatIsNoKeyIsRefusedWithoutALookUp(t *testing.T) {
	key := newKey(t, tenant.Test)
	mistyped := key[:20] + map[bool]string{true: "a", false: "b"}[key[20] != 'a'] + key[21:]
	for _, value := range []string{
		"Bearer", "Bearer ", "Bearer x", "Bearer " + mistyped, "Bearer " + strings.Replace(key, "_test_", "_live_", 1),
		"Bearer " + key + key, "Bearer " + key + " x",
		"Basic dXNlcjpwYXNz", "Basic " + key, key, "Bearer" + key, "Token " + key, "Bearer\t" + key, "Bearer \x00",
		"Bearer " + strings.Repeat("x", 100_000),
	} {
		s := &secrets{known: map[string]credential.Credential{auth.HashKey(key): good()}}
		if effect, _, err := handle(t, s, callOf("GET", "/v1/me", "Authorization", value)); err != nil ||
			effect != "Deny" {
			t.Errorf("%.80q: %s, %v", value, effect, err)
		}
		if len(s.asked) != 0 {
			t.Errorf("%.80q: looked up %v", value, s.asked)
		}
	}
}

// A function reads the first value of a header, and the gateway hands the last one over: a call with two keys would be
// counted for one, and made with the other.
func TestTwoKeysAreNone(t *testing.T) {
	one, other := newKey(t, tenant.Test), newKey(t, tenant.Live)
	for _, values := range [][]string{{one, other}, {other, one}, {one, one}} {
		s := &secrets{known: map[string]credential.Credential{auth.HashKey(one): good(), auth.HashKey(other): good()}}
		c := read(values[1])
		c.MultiValueHeaders = map[string][]string{"Authorization": {"Bearer " + values[0], "Bearer " + values[1]}}
		if effect, _, err := handle(t, s, c); err != nil || effect != "Deny" || len(s.asked) != 0 {
			t.Errorf("%s, %v, looked up %v", effect, err, s.asked)
		}
		c.MultiValueHeaders = map[string][]string{"Authorization": {"Bearer " + values[0]},
			"authorization": {"Bearer " + values[1]}}
		if effect, _, err := handle(t, s, c); err != nil || effect != "Deny" || len(s.asked) != 0 {
			t.Errorf("two spellings: %s, %v, looked up %v", effect, err, s.asked)
		}
	}
	s := &secrets{known: map[string]credential.Credential{auth.HashKey(one): good()}}
	c := read(one)
	c.MultiValueHeaders = map[string][]string{"Authorization": {"Bearer " + one}}
	if effect, _, err := handle(t, s, c); err != nil || effect != "Allow" {
		t.Errorf("%s, %v", effect, err)
	}
}

func TestAnUnknownKeyIsDenied(t *testing.T) {
	s := &secrets{}
	if effect, _, err := handle(t, s, read(newKey(t, tenant.Live))); err != nil || effect != "Deny" ||
		len(s.asked) != 1 {
		t.Errorf("%s, %v, looked up %v", effect, err, s.asked)
	}
}

func TestAFailureIsNoPermission(t *testing.T) {
	key := newKey(t, tenant.Live)
	for _, cause := range []error{errors.New("table gone: " + key), context.Canceled, store.ErrConflict} {
		s := &secrets{known: map[string]credential.Credential{auth.HashKey(key): good()}, err: cause}
		effect, p, err := handle(t, s, read(key))
		if err == nil || err.Error() == "Unauthorized" || effect != "" || p != nil {
			t.Errorf("%v: %s, %+v, %v", cause, effect, p, err)
		}
		if err != nil && strings.Contains(err.Error(), key) {
			t.Errorf("the error tells the key: %v", err)
		}
	}
}

// While the table does not serve, the function behind refuses the call for that: the
// authorizer lets it through without an account or a scope.
func TestAnUnavailableTableIsNoPermission(t *testing.T) {
	key := newKey(t, tenant.Live)
	for _, cause := range []error{fmt.Errorf("%s: %w", key, context.DeadlineExceeded),
		errs.New(errs.ProviderUnavailable, "busy with %s", key), errs.New(errs.Timeout, "late")} {
		s := &secrets{known: map[string]credential.Credential{auth.HashKey(key): good()}, err: cause}
		effect, p, err := handle(t, s, read(key))
		want := &auth.Principal{Denial: &auth.Denial{Code: errs.ProviderUnavailable,
			Message: auth.MessageUnavailable}}
		if err != nil || effect != "Allow" || !reflect.DeepEqual(p, want) {
			t.Errorf("%v: %s, %+v, %v", cause, effect, p, err)
		}
	}
}

func TestTheWindowIsTheMinute(t *testing.T) {
	key := newKey(t, tenant.Test)
	for _, c := range []struct {
		at    time.Time
		reset int
	}{
		{time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC), 60},
		{time.Date(2026, 5, 1, 12, 0, 0, 999_999_999, time.UTC), 60},
		{time.Date(2026, 5, 1, 12, 0, 59, 999_999_999, time.UTC), 1},
	} {
		s := &secrets{known: map[string]credential.Credential{auth.HashKey(key): good()}}
		got, err := authorizer.New(s, nil, nil, func() time.Time { return c.at }).Handle(t.Context(), read(key))
		if err != nil {
			t.Fatal(err)
		}
		var p auth.Principal
		if err := json.Unmarshal([]byte(got.Context["principal"].(string)), &p); err != nil ||
			p.Rate.Reset != c.reset || p.Rate.Window != 60 {
			t.Errorf("at %v: %+v, %v", c.at, p.Rate, err)
		}
		if !strings.Contains(s.asked[0], " 12:00:00 ") {
			t.Errorf("at %v: counted in %s", c.at, s.asked[0])
		}
	}
}

// An agent whose token has ended is refused by the gateway itself, which names the way to a new one: it renames the
// header in an answer of a function. What else keeps a key from a call is told by the function.
func TestAgentsWithAnEndedTokenAreRefusedHere(t *testing.T) {
	for name, c := range map[string]struct {
		spoil  func(*credential.Credential)
		effect string
	}{
		"expired": {func(c *credential.Credential) { c.UntilAt = now }, "Deny"},
		"revoked": {func(c *credential.Credential) { c.Revoked = true }, "Deny"},
		"plan":    {func(c *credential.Credential) { c.Plan = "starter" }, "Allow"},
		"rate":    {func(c *credential.Credential) { c.Count = 65 }, "Allow"},
		"good":    {func(*credential.Credential) {}, "Allow"},
		"program": {func(c *credential.Credential) { c.LentBy = "usr_1" }, "Allow"},
	} {
		key, known := newKey(t, tenant.Test), good()
		c.spoil(&known)
		s := &secrets{known: map[string]credential.Credential{auth.HashKey(key): known}}
		effect, p, err := handle(t, s, callOf("POST", authorizer.AgentsPath, "Authorization", "Bearer "+key))
		if err != nil || effect != c.effect || effect == "Allow" && p.Program != (name == "program") {
			t.Errorf("%s: %s, %+v, %v", name, effect, p, err)
		}
	}
}

// The server for agents gets a ticket, with which the calls of a tool are not counted again.
func TestACallOfATicketIsNotCounted(t *testing.T) {
	key := newKey(t, tenant.Test)
	s := &secrets{known: map[string]credential.Credential{auth.HashKey(key): good()}}
	c := read(key)
	c.Headers[auth.TicketHeader] = "ticket"
	if effect, p, err := handle(t, s, c); err != nil || effect != "Allow" || p.Denial != nil || len(s.asked) != 0 {
		t.Errorf("%s, %+v, %v, counted %v", effect, p, err, s.asked)
	}
	c.Headers[auth.TicketHeader] = "another"
	if effect, p, err := handle(t, s, c); err != nil || effect != "Allow" || p.Ticket != "" || len(s.asked) != 1 {
		t.Errorf("%s, %+v, %v, counted %v", effect, p, err, s.asked)
	}
	agent := callOf("POST", authorizer.AgentsPath, "Authorization", "Bearer "+key)
	agent.Headers[auth.TicketHeader] = "ticket"
	if effect, _, err := handle(t, s, agent); err != nil || effect != "Allow" || len(s.asked) != 2 {
		t.Errorf("%s, %v, counted %v", effect, err, s.asked)
	}
}
