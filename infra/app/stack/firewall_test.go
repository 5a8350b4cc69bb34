package stack_test

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestCallsWithoutAKeyAreLimitedByAddress(t *testing.T) {
	for name, s := range map[string]stacks{"acme": acme, "initech": initech} {
		firewalls := s.of("AWS::WAFv2::WebACL")
		if len(firewalls) != 1 {
			t.Fatalf("%s has %d firewalls", name, len(firewalls))
		}
		for id, r := range firewalls {
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
			if err := json.Unmarshal(text, &rules); err != nil || len(rules) != 3 {
				t.Fatalf("%s has the rules %s, %v", id, text, err)
			}
			header := func(name, where, text string) string {
				return `{"ByteMatchStatement":{"FieldToMatch":{"SingleHeader":{"Name":"` + name + `"}},"PositionalConstraint":"` +
					where + `","SearchString":"` + text + `","TextTransformations":[{"Priority":0,"Type":"LOWERCASE"}]}}`
			}
			path := func(part string) string {
				return `{"ByteMatchStatement":{"FieldToMatch":{"UriPath":{}},"PositionalConstraint":"CONTAINS","SearchString":"` +
					part + `","TextTransformations":[{"Priority":0,"Type":"URL_DECODE"}]}}`
			}
			for i, want := range []struct {
				name  string
				limit int
				of    string
			}{
				{"keyless", 100, `{"NotStatement":{"Statement":{"OrStatement":{"Statements":[` +
					header("authorization", "STARTS_WITH", "bearer svc_") + "," + header("authorization", "STARTS_WITH", "bearer eyj") +
					"," + header("authorization", "STARTS_WITH", "bearer scim_") + "," + header("cookie", "CONTAINS", "__host-session=") + `]}}}}`},
				// Headers mean nothing on these paths.
				{"public", 100, `{"OrStatement":{"Statements":[` + path("/review/") + "," + path("/auth/") + "," + path("/setup") +
					"," + path("/callback") + `]}}`},
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
			text, err := json.Marshal(r.Properties)
			if err != nil || !strings.Contains(string(text), `/restapis/`) ||
				!strings.Contains(string(text), `/stages/`) ||
				!strings.Contains(string(text), `"Fn::GetAtt":["Firewall","Arn"]`) {
				t.Errorf("%s is %s, %v", id, text, err)
			}
		}
		if len(associations) != 1 {
			t.Errorf("%s: the firewall is associated with %d stages", name, len(associations))
		}
	}
}
