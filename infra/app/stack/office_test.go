package stack_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/app/gatewayresponse"
	"github.com/content-automation/api/pkg/service/api"
)

// statement is a statement of a rule of a firewall, as AWS evaluates it.
type statement struct {
	ByteMatchStatement *struct {
		FieldToMatch struct {
			SingleHeader struct{ Name string }
			UriPath      *struct{}
			Method       *struct{}
		}
		PositionalConstraint, SearchString string
		TextTransformations                []struct{ Type string }
	}
	AndStatement, OrStatement *struct{ Statements []statement }
	NotStatement              *struct{ Statement statement }
	RateBasedStatement        *struct {
		Limit              int
		ScopeDownStatement *statement
	}
}

// matches reports whether a statement describes a request.
func (s statement) matches(r *http.Request) bool {
	switch {
	case s.AndStatement != nil:
		return !slices.ContainsFunc(s.AndStatement.Statements, func(of statement) bool { return !of.matches(r) })
	case s.OrStatement != nil:
		return slices.ContainsFunc(s.OrStatement.Statements, func(of statement) bool { return of.matches(r) })
	case s.NotStatement != nil:
		return !s.NotStatement.Statement.matches(r)
	case s.RateBasedStatement != nil:
		return s.RateBasedStatement.ScopeDownStatement == nil || s.RateBasedStatement.ScopeDownStatement.matches(r)
	}
	m := s.ByteMatchStatement
	text := r.Header.Get(m.FieldToMatch.SingleHeader.Name)
	switch {
	case m.FieldToMatch.UriPath != nil:
		text = r.URL.Path
	case m.FieldToMatch.Method != nil:
		text = r.Method
	}
	for _, t := range m.TextTransformations {
		switch t.Type {
		case "LOWERCASE":
			text = strings.ToLower(text)
		case "COMPRESS_WHITE_SPACE":
			text = strings.Join(strings.Fields(text), " ")
		}
	}
	switch m.PositionalConstraint {
	case "STARTS_WITH":
		return strings.HasPrefix(text, m.SearchString)
	case "ENDS_WITH":
		return strings.HasSuffix(text, m.SearchString)
	case "CONTAINS":
		return strings.Contains(text, m.SearchString)
	}
	return text == m.SearchString
}

// rules returns the rules of a firewall of a customer.
func rulesOf(t *testing.T, s stacks, name string) (rules []struct {
	Name      string
	Statement statement
}) {
	t.Helper()
	for id, r := range s.of("AWS::WAFv2::WebACL") {
		if strings.HasSuffix(id, "/PoolFirewall") != (name == "PoolFirewall") {
			continue
		}
		text, err := json.Marshal(r.Properties["Rules"])
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &rules); err != nil {
			t.Fatal(err)
		}
	}
	if len(rules) == 0 {
		t.Fatalf("there is no %s", name)
	}
	return rules
}

func sent(method, path string, header ...string) *http.Request {
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

// On Monday morning the people of an office sign in behind one address, and services that run agents call for many
// people from one. AWS counts each of their calls in every rule that it matches, and none reaches its limit.
func TestPeopleBehindOneAddressReachNoLimit(t *testing.T) {
	const people = 500
	office := []*http.Request{sent("GET", "/settings"), sent("GET", "/auth/sign-in"),
		sent("GET", "/settings/assets/style.css"), sent("GET", "/settings/assets/page.js"),
		sent("GET", "/settings/assets/icon.svg"), sent("POST", "/auth/start"),
		sent("GET", "/auth/callback"), sent("GET", "/auth/callback", "Cookie", "__Host-session=x")}
	for range 40 { // pages and their parts
		office = append(office, sent("GET", "/settings/content", "Cookie", "__Host-session=x"))
	}
	agents := []*http.Request{sent("POST", "/mcp"), sent("GET", "/.well-known/oauth-protected-resource/mcp"),
		sent("GET", "/.well-known/oauth-authorization-server"), sent("POST", "/oauth/register"),
		sent("POST", "/oauth/token"), sent("POST", "/mcp", "Authorization", "Bearer svc_live_x"),
		sent("POST", "/mcp", "Authorization", "Bearer svc_live_x"), sent("POST", "/oauth/token")}
	pool := []*http.Request{sent("GET", "/oauth2/authorize"), sent("POST", "/login"), sent("POST", "/login"),
		sent("POST", "/mfa"), sent("POST", "/mfa"), sent("POST", "/saml2/idpresponse"), sent("POST", "/oauth2/token")}
	for name, c := range map[string]struct {
		firewall string
		calls    []*http.Request
	}{"an office": {"Firewall", office}, "a service that runs agents": {"Firewall", agents}, "its sign-ins at the pool": {
		"PoolFirewall", pool}} {
		for _, s := range []stacks{hooli, initech} {
			for _, rule := range rulesOf(t, s, c.firewall) {
				rate, n := rule.Statement.RateBasedStatement, 0
				if rate == nil {
					continue
				}
				for _, r := range c.calls {
					if rule.Statement.matches(r) {
						n += people
					}
				}
				if n > rate.Limit {
					t.Errorf("%s makes %d calls that the rule %s counts, of %d", name, n, rule.Name, rate.Limit)
				}
			}
		}
	}
}

// A call that two groups count has the smaller limit.
func TestAPathIsInOneGroupAtMost(t *testing.T) {
	groups := map[string]string{"/": "", "/oauth/{step+}": "programs", "/mcp": "programs", "/auth/{step+}": "people",
		"/integrations/hooks/{token}": "hooks", "/integrations/callback": "hooks", "/v1/social/callback": "hooks",
		"/.well-known/oauth-authorization-server": "programs", "/setup": "people", "/settings/{page+}": "area"}
	for _, r := range slices.Concat(api.Routes(), api.PublicRoutes, api.GuardedRoutes) {
		var of []string
		for _, g := range gatewayresponse.Groups {
			if g.Has(r.Path) {
				of = append(of, g.Name)
			}
		}
		if want, known := groups[r.Path]; len(of) > 1 || known && strings.Join(of, " ") != want ||
			strings.HasPrefix(r.Path, "/v1/") && len(of) > 0 && r.Path != "/v1/social/callback" {
			t.Errorf("%s is in the groups %v", r.Path, of)
		}
		delete(groups, r.Path)
	}
	if len(groups) > 0 {
		t.Errorf("these paths are gone: %v", groups)
	}
}
