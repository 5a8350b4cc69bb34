package stack_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/cloud/topology"
)

// E-mails are sent by one function, from one address, and follow the rules that keep bounced addresses out.
func TestOneFunctionSendsMails(t *testing.T) {
	sets := initech.of("AWS::SES::ConfigurationSet")
	if len(sets) != 1 || len(acme.of("AWS::SES::ConfigurationSet")) != 0 {
		t.Errorf("%d sets of rules, and %d without a sender", len(sets), len(acme.of("AWS::SES::ConfigurationSet")))
	}
	for _, set := range sets {
		reasons, _ := set.Properties.at("SuppressionOptions", "SuppressedReasons").([]any)
		if !slices.Equal(reasons, []any{"BOUNCE", "COMPLAINT"}) {
			t.Errorf("%+v", set.Properties)
		}
	}
	for name, permissions := range permissionsOf(initech) {
		for _, p := range permissions {
			if !slices.ContainsFunc(p.actions, func(a string) bool { return strings.HasPrefix(a, "ses:") }) {
				continue
			}
			if name != "mail" || !slices.Equal(p.actions, []string{"ses:SendEmail"}) ||
				!strings.Contains(p.resources, "identity/initech.example") ||
				!strings.Contains(p.resources, "configuration-set/") ||
				p.conditions != "map[StringEquals:map[ses:FromAddress:[no-reply@initech.example]]]" {
				t.Errorf("%s may %v on %s on condition of %s", name, p.actions, p.resources, p.conditions)
			}
		}
	}
	for _, s := range []stacks{acme, initech} {
		for id, fn := range s.of("AWS::Lambda::Function") {
			name, _ := fn.Properties.at("Environment", "Variables", "FUNCTION").(string)
			if name == "" {
				continue
			}
			sender, set := fn.Properties.at("Environment", "Variables", "MAIL_SENDER"),
				fn.Properties.at("Environment", "Variables", "MAIL_SET")
			f, on := topology.FunctionNamed(name), strings.Contains(id, "initech")
			if (sender != nil) != (on && f.May(topology.KnowMail)) || (set != nil) != (on && f.May(topology.SendMail)) {
				t.Errorf("%s has the sender %v and the rules %v", id, sender, set)
			}
			url := fn.Properties.at("Environment", "Variables", "PUBLIC_URL")
			if set != nil && url != "https://api.initech.example" {
				t.Errorf("the links of e-mails lead to %v", url)
			}
		}
	}
}
