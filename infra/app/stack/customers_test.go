package stack_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/app/customer"
)

func TestStacksAreNamedForCustomerStageAndRegion(t *testing.T) {
	for customer, c := range map[string]struct {
		stacks stacks
		want   []string
	}{
		"acme": {acme, []string{"acme-prod-eu-central-1-api", "acme-prod-eu-central-1-areas", "acme-prod-eu-central-1-data",
			"acme-prod-eu-central-1-work"}},
		"globex": {globex, []string{"globex-prod-us-east-1-api", "globex-prod-us-east-1-areas", "globex-prod-us-east-1-data",
			"globex-prod-us-east-1-work"}},
	} {
		if got := slices.Sorted(maps.Keys(c.stacks)); !slices.Equal(got, c.want) {
			t.Errorf("%s has the stacks %v, want %v", customer, got, c.want)
		}
	}
}

func TestStacksAreFarBelowTheLimit(t *testing.T) {
	const most = 400 // CloudFormation's limit is 500 resources.
	for _, s := range []stacks{acme, hooli} {
		for name, in := range s {
			if n := len(in.Resources); n == 0 || n > most {
				t.Errorf("%s has %d resources", name, n)
			}
			t.Logf("%s has %d resources", name, len(in.Resources))
		}
	}
}

// An operation is reached once there are the functions that do its work.
func TestStacksAreDeployedInTheirOrder(t *testing.T) {
	for name, s := range map[string]stacks{"acme-prod-eu-central-1-": acme, "hooli-prod-eu-west-1-": hooli} {
		for i, part := range customer.Parts[1:] {
			if after := name + customer.Parts[i]; !slices.Contains(s[name+part].Dependencies, after) {
				t.Errorf("%s does not wait for %s but for %v", name+part, after, s[name+part].Dependencies)
			}
		}
	}
}

// Logical ids contain a hash of the names above them, including the stack's. The id of a
// deployment has a second hash, of the routes. A hash may have digits only, so the longer
// form is tried first, and two adjacent hashes count as one.
var hash = regexp.MustCompile(`(?:[0-9a-f]{32,64}|[0-9A-F]{8})+`)

// TestCustomersDifferWhereTheyShould removes the intended differences from both customers'
// templates. The rest must be equal.
func TestCustomersDifferWhereTheyShould(t *testing.T) {
	neutral := func(text, customer, account, region, email, retention string) string {
		for _, pair := range [][2]string{
			{account, "<account>"}, {customer + "-prod-" + region, "<name>"},
			{strings.ReplaceAll(customer+"prod"+region, "-", ""), "<name>"},
			{email, "<email>"}, {strings.ReplaceAll(strings.ReplaceAll(email, "@", ""), ".", ""), "<email>"},
			{retention, `"RetentionInDays": <days>`},
			{customer, "<customer>"}, {region, "<region>"},
		} {
			text = strings.ReplaceAll(text, pair[0], pair[1])
		}
		return hash.ReplaceAllString(text, "<hash>")
	}
	// Providers differ by customer, and their permissions by region. Other tests check
	// them.
	dir := t.TempDir()
	acme := brief(dir, map[string]any{"customer": "acme", "region": "eu-central-1", "providers": "fal"})
	globex := brief(dir, map[string]any{"customer": "globex", "region": "us-east-1", "providers": "fal"})
	for _, part := range customer.Parts {
		a := neutral(acme["acme-prod-eu-central-1-"+part].text, "acme", "111122223333", "eu-central-1",
			"operations@acme.example", `"RetentionInDays": 90`)
		g := neutral(globex["globex-prod-us-east-1-"+part].text, "globex", "444455556666", "us-east-1",
			"alerts@globex.example", `"RetentionInDays": 365`)
		if !strings.Contains(a, "<customer>") {
			t.Errorf("nothing in the stack %s is the customer's", part)
		}
		as, gs := strings.Split(a, "\n"), strings.Split(g, "\n")
		slices.Sort(as) // Resources are sorted by their ids, and so by their hashes.
		slices.Sort(gs)
		if slices.Equal(as, gs) {
			continue
		}
		for i := range min(len(as), len(gs)) {
			if as[i] != gs[i] {
				t.Errorf("the stacks %s differ, first in\n%s\n%s", part, as[i], gs[i])
				break
			}
		}
		if len(as) != len(gs) {
			t.Errorf("the stacks %s have %d and %d lines", part, len(as), len(gs))
		}
	}
}

// A separate stage has separate stacks, functions and keys, and changes nothing of production.
func TestStagesShareNothing(t *testing.T) {
	staging := brief(t.TempDir(), map[string]any{"customer": "acme", "stage": "staging"})
	names := map[string]string{}
	for stage, s := range map[string]stacks{"prod": acme, "staging": staging} {
		for stack := range s {
			if !strings.HasPrefix(stack, "acme-"+stage+"-eu-central-1-") {
				t.Errorf("the stage %s has the stack %s", stage, stack)
			}
		}
		for _, r := range []struct{ kind, name string }{
			{"AWS::Lambda::Function", "FunctionName"}, {"AWS::IAM::Role", "RoleName"},
			{"AWS::Events::EventBus", "Name"},
			{"AWS::KMS::Alias", "AliasName"}, {"AWS::ApiGateway::RestApi", "Name"},
		} {
			for id, resource := range s.of(r.kind) {
				name := resource.Properties[r.name]
				if name == nil {
					continue
				}
				key := fmt.Sprint(r.kind, name)
				if other, taken := names[key]; taken {
					t.Errorf("%s and %s are both named %v", id, other, name)
				}
				names[key] = id
			}
		}
	}
}

func TestRolesAreBounded(t *testing.T) {
	for name, c := range map[string]struct {
		stacks stacks
		want   any
	}{"initech": {initech, "arn:aws:iam::777788889999:policy/Bound"}, "acme": {acme, nil}} {
		for id, r := range c.stacks.of("AWS::IAM::Role") {
			if got := r.Properties["PermissionsBoundary"]; got != c.want {
				t.Errorf("%s: the role %s is bounded by %v, want %v", name, id, got, c.want)
			}
		}
	}
}
