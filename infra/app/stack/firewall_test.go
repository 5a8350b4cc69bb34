package stack_test

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestCallsWithoutAKeyAreLimitedByAddress(t *testing.T) {
	for name, s := range map[string]stacks{"acme": acme, "initech": initech} {
		firewalls := s.of("AWS::WAFv2::WebACL")
		if want := map[string]int{"acme": 1, "initech": 2}[name]; len(firewalls) != want {
			t.Fatalf("%s has %d firewalls, want %d", name, len(firewalls), want)
		}
		for id, r := range firewalls {
			if strings.HasSuffix(id, "/PoolFirewall") {
				continue
			}
			text, err := json.Marshal(r.Properties["Rules"])
			if err != nil {
				t.Fatal(err)
			}
			var rules []struct {
				Name      string
				Priority  int
				Action    map[string]any
				Statement struct {
					RateBasedStatement struct {
						AggregateKeyType           string
						EvaluationWindowSec, Limit int
						ScopeDownStatement         json.RawMessage
					}
				}
			}
			if err := json.Unmarshal(text, &rules); err != nil || len(rules) != 6 {
				t.Fatalf("%s has the rules %s, %v", id, text, err)
			}
			header := func(name, where, text string) string {
				return `{"ByteMatchStatement":{"FieldToMatch":{"SingleHeader":{"Name":"` + name + `"}},"PositionalConstraint":"` +
					where + `","SearchString":"` + text + `","TextTransformations":[{"Priority":0,"Type":"COMPRESS_WHITE_SPACE"},` +
					`{"Priority":1,"Type":"LOWERCASE"}]}}`
			}
			path := func(part string) string {
				return `{"ByteMatchStatement":{"FieldToMatch":{"UriPath":{}},"PositionalConstraint":"CONTAINS","SearchString":"` +
					part + `","TextTransformations":[{"Priority":0,"Type":"URL_DECODE"}]}}`
			}
			paths := func(parts ...string) string {
				all := ""
				for i, part := range parts {
					if i > 0 {
						all += ","
					}
					all += path(part)
				}
				if len(parts) == 1 {
					return all
				}
				return `{"OrStatement":{"Statements":[` + all + `]}}`
			}
			hooks := paths("/integrations/hooks/", "/integrations/callback", "/social/callback")
			programs, area := paths("/oauth/", "/.well-known/", "/mcp"), paths("/settings")
			people := paths("/auth/", "/setup", "/scim/", "/review/", "/docs", "/api-docs", "/openapi.", "/llms")
			session := header("cookie", "CONTAINS", "__host-session=")
			for i, want := range []struct {
				name  string
				limit int
				of    string
			}{
				{"keyless", 100, `{"NotStatement":{"Statement":{"OrStatement":{"Statements":[{"OrStatement":{"Statements":[` +
					header("authorization", "STARTS_WITH", "bearer svc_") + "," +
					header("authorization", "STARTS_WITH", "bearer eyj") + "," +
					header("authorization", "STARTS_WITH", "bearer scim_") + "," +
					header("cookie", "CONTAINS", "__host-session=") + `]}},` + hooks + "," + programs + "," + people + "," + area + `]}}}}`},
				// Headers mean nothing on these paths.
				{"hooks", 10_000, hooks},
				{"programs", 10_000, programs},
				{"people", 5_000, people},
				// The requests of those who have signed in are limited with all others.
				{"area", 10_000, `{"AndStatement":{"Statements":[` + area + `,{"NotStatement":{"Statement":` + session + `}}]}}`},
				{"address", 40_000, ""},
			} {
				r := rules[i]
				rate := r.Statement.RateBasedStatement
				if r.Name != want.name || r.Priority != i || r.Action["Block"] == nil || rate.AggregateKeyType != "IP" ||
					rate.EvaluationWindowSec != 300 || rate.Limit != want.limit ||
					string(rate.ScopeDownStatement) != want.of {
					t.Errorf("%s: rule %d is %s", id, i, text)
				}
			}
			// All other calls pass.
			if action, err := json.Marshal(r.Properties["DefaultAction"]); err != nil ||
				string(action) != `{"Allow":{}}` || r.Properties["Scope"] != "REGIONAL" {
				t.Errorf("%s: %s, %v", id, action, r.Properties["Scope"])
			}
		}
		associations := s.of("AWS::WAFv2::WebACLAssociation")
		for id, r := range associations {
			if strings.HasSuffix(id, "/PoolFirewallAssociation") {
				continue
			}
			text, err := json.Marshal(r.Properties)
			if err != nil || !strings.Contains(string(text), `/restapis/`) ||
				!strings.Contains(string(text), `/stages/`) ||
				!strings.Contains(string(text), `"Fn::GetAtt":["Firewall","Arn"]`) {
				t.Errorf("%s is %s, %v", id, text, err)
			}
		}
		if len(associations) != len(firewalls) {
			t.Errorf("%s: the firewalls are associated with %d stages and pools", name, len(associations))
		}
	}
}

// Whoever guesses at passwords or codes at the pool is limited by address. The calls that the account area makes for
// all people do not count. Customers with an account of their own have the limit, and those that ask for it.
func TestGuessesAtThePoolAreLimitedByAddress(t *testing.T) {
	for name, s := range map[string]stacks{"hooli": hooli, "initech": initech} {
		found := 0
		for id, r := range s.of("AWS::WAFv2::WebACL") {
			if !strings.HasSuffix(id, "/PoolFirewall") {
				continue
			}
			found++
			match := func(part, where, text string) string {
				return `{"ByteMatchStatement":{"FieldToMatch":{"` + part + `":{}},"PositionalConstraint":"` + where +
					`","SearchString":"` + text + `","TextTransformations":[{"Priority":0,"Type":"NONE"}]}}`
			}
			not := func(of string) string { return `{"NotStatement":{"Statement":` + of + `}}` }
			want := `{"RateBasedStatement":{"AggregateKeyType":"IP","EvaluationWindowSec":300,"Limit":3000,` +
				`"ScopeDownStatement":{"AndStatement":{"Statements":[` + match("Method", "EXACTLY", "POST") + "," +
				not(match("UriPath", "EXACTLY", "/oauth2/token")) + "," +
				not(match("UriPath", "EXACTLY", "/oauth2/revoke")) + "," +
				not(match("UriPath", "ENDS_WITH", "/idpresponse")) + `]}}}}`
			rules := list(r.Properties["Rules"])
			rule := properties(rules[0].(map[string]any))
			if text, err := json.Marshal(rule["Statement"]); err != nil || len(rules) != 1 || string(text) != want ||
				rule.at("Action", "Block") == nil || r.Properties["Scope"] != "REGIONAL" {
				t.Errorf("%s: %s has the rules %v, %v", name, id, rules, err)
			}
		}
		for id, r := range s.of("AWS::WAFv2::WebACLAssociation") {
			if !strings.HasSuffix(id, "/PoolFirewallAssociation") {
				continue
			}
			found++
			if text, err := json.Marshal(r.Properties); err != nil || !strings.Contains(string(text), "People") ||
				!strings.Contains(string(text), `"Fn::GetAtt":["PoolFirewall","Arn"]`) {
				t.Errorf("%s: %s is %s, %v", name, id, text, err)
			}
		}
		if found != 2 {
			t.Errorf("%s: the firewall of the pool has %d parts", name, found)
		}
	}
}
