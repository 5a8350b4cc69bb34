package stack_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/cloud/topology"
)

// permission is a statement of a function's policy.
type permission struct {
	effect     string
	actions    []string
	resources  string
	conditions string
}

// permissionsOf returns the permissions of each function by its name.
func permissionsOf(s stacks) map[string][]permission {
	functions := map[string]string{} // by the ids of their roles
	for _, f := range topology.Functions {
		functions[topology.Title(f.Name)+"Role"] = f.Name
	}
	all := map[string][]permission{}
	for _, r := range s.of("AWS::IAM::Policy") {
		role := fmt.Sprint(properties(list(r.Properties["Roles"])[0].(map[string]any))["Ref"])
		name, ok := functions[role[:max(0, len(role)-len("12345678"))]]
		if !ok {
			continue // The role of no function.
		}
		for _, statement := range list(r.Properties.at("PolicyDocument", "Statement")) {
			p := properties(statement.(map[string]any))
			var actions []string
			for _, a := range list(p["Action"]) {
				actions = append(actions, fmt.Sprint(a))
			}
			all[name] = append(all[name], permission{fmt.Sprint(p["Effect"]), actions, fmt.Sprint(p["Resource"]),
				fmt.Sprint(p["Condition"])})
		}
	}
	return all
}

func TestSecretsOfCustomersHaveAKeyOfTheirOwn(t *testing.T) {
	for customer, s := range map[string]stacks{"acme": acme, "local": local} {
		found := 0
		for id, r := range s.of("AWS::KMS::Key") {
			if !strings.Contains(id, "/SecretsKey") {
				continue
			}
			found++
			if want := map[bool]string{true: "Delete",
				false: "RetainExceptOnCreate"}[customer == "local"]; r.DeletionPolicy != want {
				t.Errorf("%s: %s when its stack goes, want %s", id, r.DeletionPolicy, want)
			}
			// Neither a service nor another account may use it.
			if text := fmt.Sprint(r.Properties["KeyPolicy"]); strings.Contains(text, "Service") ||
				strings.Count(text, "Effect") != 1 {
				t.Errorf("%s has the policy %s", id, text)
			}
		}
		if found != 1 {
			t.Errorf("%s has %d keys for secrets", customer, found)
		}
		may := map[string][]string{}
		for name, permissions := range permissionsOf(s) {
			for _, p := range permissions {
				if !strings.Contains(p.resources, "SecretsKey") {
					continue
				}
				may[name] = append(may[name], p.actions...)
				purpose := "webhook-signing-keys"
				if topology.FunctionNamed(name).May(topology.CallPlatforms) {
					purpose = "social-tokens"
				}
				if p.effect != "Allow" || p.conditions != "map[StringEquals:map[kms:EncryptionContext:purpose:["+
					purpose+"]]]" {
					t.Errorf("%s: %s may %v on condition of %s", customer, name, p.actions, p.conditions)
				}
			}
		}
		both := []string{"kms:Decrypt", "kms:GenerateDataKey"}
		want := map[string][]string{"webhook": {"kms:GenerateDataKey"}, "import-data": {"kms:GenerateDataKey"},
			"deliver":      {"kms:Decrypt"},
			"deliver-slow": {"kms:Decrypt"}, "social": both, "publish": both, "crm": both, "sync-crm": both}
		for name, actions := range want {
			if !slices.Equal(may[name], actions) {
				t.Errorf("%s: %s may %v with the key of secrets, want %v", customer, name, may[name], actions)
			}
		}
		if len(may) != len(want) {
			t.Errorf("%s: the key of secrets is used by %v", customer, may)
		}
	}
}
