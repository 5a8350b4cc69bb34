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
			const want = `[{"Action":{"Block":{}},"Name":"keyless","Priority":0,` +
				`"Statement":{"RateBasedStatement":{"AggregateKeyType":"IP","EvaluationWindowSec":300,"Limit":100,` +
				`"ScopeDownStatement":{"NotStatement":{"Statement":{"OrStatement":{"Statements":[` +
				`{"ByteMatchStatement":{"FieldToMatch":{"SingleHeader":{"Name":"authorization"}},"PositionalConstraint":"STARTS_WITH",` +
				`"SearchString":"bearer svc_","TextTransformations":[{"Priority":0,"Type":"LOWERCASE"}]}},` +
				`{"ByteMatchStatement":{"FieldToMatch":{"SingleHeader":{"Name":"authorization"}},"PositionalConstraint":"STARTS_WITH",` +
				`"SearchString":"bearer eyj","TextTransformations":[{"Priority":0,"Type":"LOWERCASE"}]}},` +
				`{"ByteMatchStatement":{"FieldToMatch":{"SingleHeader":{"Name":"authorization"}},"PositionalConstraint":"STARTS_WITH",` +
				`"SearchString":"bearer scim_","TextTransformations":[{"Priority":0,"Type":"LOWERCASE"}]}},` +
				`{"ByteMatchStatement":{"FieldToMatch":{"SingleHeader":{"Name":"cookie"}},"PositionalConstraint":"CONTAINS",` +
				`"SearchString":"__host-session=","TextTransformations":[{"Priority":0,"Type":"LOWERCASE"}]}}]}}}}}},` +
				`"VisibilityConfig":{"CloudWatchMetricsEnabled":true,"MetricName":"keyless","SampledRequestsEnabled":false}}]`
			if string(text) != want {
				t.Errorf("%s has the rules %s", id, text)
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
