package stack_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/cloud/topology"
)

// granted is one action of a statement in the policy of a role.
type granted struct {
	// role is the name of its function, or else what the role is for.
	role     string
	function bool
	effect   string
	action   string
	// on and condition describe the resources and the condition, without names of the customer.
	on, condition string
}

// key is the same for a permission of two customers.
func (g granted) key() string { return g.role + "|" + g.effect + "|" + g.action + "|" + g.condition }

// functionRoles returns the functions by the start of the logical id of their role.
func functionRoles() map[string]string {
	all := map[string]string{}
	for _, f := range topology.Functions {
		all[topology.Title(f.Name)+"Role"] = f.Name
	}
	return all
}

// otherRoles are the roles of no function, by the start of their logical id.
var otherRoles = map[string]string{
	"ReleaseRole": "CodeDeploy", "TrainingRole": "trainings in Bedrock", "ReplicaRole": "replication of the bucket",
	"NetworkLogRole": "flow log of the network", "BackupRole": "AWS Backup",
}

// resources name what a permission is for, by a part of the resource in the template. The first that fits counts.
var resources = []struct{ part, name string }{
	{":identity/", "identity of Amazon SES"}, {":configuration-set/", "rules of Amazon SES"},
	{":guardrail/", "guardrail of the customer"}, {"GetAttPeople", "user pool"}, {":alarm:", "alarms of the account"},
	{":function:", "functions of the stack"}, {"NetworkLog", "flow log"}, {"/training/*", "media bucket, `/training/*`"},
	{"media/*", "media bucket of the replica"}, {"-media", "media bucket of the replica"}, {"Media", "media bucket"},
	{"Key", "customer's key"}, {":key/*", "customer's key of the replica"}, {`"*"`, "everything"},
}

// statements returns all actions of all roles.
func statements(s stacks) []granted {
	var all []granted
	for _, r := range s.of("AWS::IAM::Policy") {
		id := fmt.Sprint(properties(list(r.Properties["Roles"])[0].(map[string]any))["Ref"])
		id = id[:max(0, len(id)-len("12345678"))]
		role, function := functionRoles()[id]
		if !function {
			role = otherRoles[id]
		}
		for _, statement := range list(r.Properties.at("PolicyDocument", "Statement")) {
			p := properties(statement.(map[string]any))
			var condition []string
			operators, _ := p["Condition"].(map[string]any)
			for _, operator := range slices.Sorted(maps.Keys(operators)) {
				for _, key := range slices.Sorted(maps.Keys(operators[operator].(map[string]any))) {
					condition = append(condition, "`"+key+"` "+operator)
				}
			}
			for _, action := range list(p["Action"]) {
				all = append(all, granted{role, function, fmt.Sprint(p["Effect"]), fmt.Sprint(action),
					resourcesOf(p["Resource"]), strings.Join(condition, "; ")})
			}
		}
	}
	return all
}

// resourcesOf names the resources of a statement, or returns "" if one has no name.
func resourcesOf(value any) string {
	var all []string
	for _, resource := range list(value) {
		text, err := json.Marshal(resource)
		must(err)
		name := ""
		for _, r := range resources {
			if strings.Contains(string(text), r.part) {
				name = r.name
				break
			}
		}
		if name == "" {
			return ""
		}
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}
