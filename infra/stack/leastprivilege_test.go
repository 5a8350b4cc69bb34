package stack_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/topology"
)

// on returns the actions that permissions with an effect name for a resource, sorted.
func on(permissions []permission, effect, resource string) []string {
	var actions []string
	for _, p := range permissions {
		if p.effect == effect && strings.Contains(p.resources, resource) {
			actions = append(actions, p.actions...)
		}
	}
	slices.Sort(actions)
	return actions
}

func TestOnlyWhoIssuesKeysReachesTheirSecrets(t *testing.T) {
	const secrets = "map[ForAnyValue:StringLike:map[dynamodb:LeadingKeys:[secret#*]]]"
	for name, permissions := range permissionsOf(acme) {
		f := topology.Named(name)
		var denied []string
		for _, p := range permissions {
			if p.effect == "Deny" && p.conditions == secrets && strings.Contains(p.resources, "State") {
				denied = append(denied, p.actions...)
			}
		}
		if f.State == nil || f.Issues || f.Counts {
			if len(denied) > 0 {
				t.Errorf("%s may not %v", name, denied)
			}
			continue
		}
		for _, action := range on(permissions, "Allow", "State") {
			if strings.HasPrefix(action, "dynamodb:") && !strings.Contains(action, "Stream") && !strings.Contains(action, "Records") && !strings.Contains(action, "Shard") && !slices.Contains(denied, action) {
				t.Errorf("%s may %s on secrets of API keys", name, action)
			}
		}
	}
}

func TestTheAuthorizerOnlyCounts(t *testing.T) {
	found := 0
	for _, p := range permissionsOf(acme)["authorizer"] {
		if !strings.HasPrefix(p.actions[0], "dynamodb:") {
			continue
		}
		found++
		// It also reads what the secret before a rotation has counted.
		only := map[string]string{"dynamodb:UpdateItem": "[calls#* keys#* secret#* usage#*]", "dynamodb:GetItem": "[secret#*]"}[p.actions[0]]
		if len(p.actions) != 1 || only == "" || p.conditions != "map[ForAllValues:StringLike:map[dynamodb:LeadingKeys:"+only+"]]" || strings.Contains(p.resources, "index") {
			t.Errorf("it may %v on %s if %s", p.actions, p.resources, p.conditions)
		}
	}
	if found != 2 {
		t.Errorf("it has %d permissions for tables", found)
	}
}

func TestBatchesOfStatementsAreForWhoMakesThem(t *testing.T) {
	for name, permissions := range permissionsOf(acme) {
		if got := slices.Contains(on(permissions, "Allow", "State"), "dynamodb:PartiQLUpdate"); got != slices.Contains(topology.Named(name).State, topology.UpdateAll) {
			t.Errorf("%s updates by statements: %v", name, got)
		}
	}
}

func TestTheCustomersKeyIsUsedThroughServicesAlone(t *testing.T) {
	checked := 0
	for name, permissions := range permissionsOf(acme) {
		for _, p := range permissions {
			if !strings.HasPrefix(p.actions[0], "kms:") || strings.Contains(p.resources, "SecretsKey") {
				continue
			}
			checked++
			if !strings.HasPrefix(p.conditions, "map[StringEquals:map[kms:ViaService:") || !strings.Contains(p.conditions, ".eu-central-1.amazonaws.com") {
				t.Errorf("%s may %v on condition of %s", name, p.actions, p.conditions)
			}
			f := topology.Named(name)
			if got := strings.Contains(p.conditions, "s3.eu-central-1"); got != (f.Media != topology.None || f.Keeps) {
				t.Errorf("%s uses the key through S3: %v", name, got)
			}
		}
	}
	if checked < 10 {
		t.Errorf("%d permissions were looked at", checked)
	}
}

func TestRolesOfOurOwnAccountAreNotAssumed(t *testing.T) {
	for account, s := range map[string]stacks{"111122223333": acme, "map[Ref:AWS::AccountId]": local} {
		found := 0
		for name, permissions := range permissionsOf(s) {
			for _, p := range permissions {
				if slices.Contains(p.actions, "sts:AssumeRole") {
					found++
					if p.conditions != "map[StringNotEquals:map[aws:ResourceAccount:["+account+"]]]" {
						t.Errorf("%s may %v on condition of %s", name, p.actions, p.conditions)
					}
				}
			}
		}
		if found != 1 {
			t.Errorf("%d permissions were looked at", found)
		}
	}
}
