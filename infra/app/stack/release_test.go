package stack_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/infra/app/stack"
	"github.com/content-automation/api/pkg/cloud/topology"
)

// Every function except one is called by its alias. A release that fails is undone by moving the
// alias back.
func TestFunctionsAreCalledByTheirAliases(t *testing.T) {
	aliases := acme.of("AWS::Lambda::Alias")
	if len(aliases) != len(topology.Functions)-1 {
		t.Errorf("%d of %d functions have an alias", len(aliases), len(topology.Functions))
	}
	for id, r := range acme.of("AWS::Lambda::Version") {
		if r.DeletionPolicy != "RetainExceptOnCreate" {
			t.Errorf("%s is deleted with the next release: nothing could be moved back to it", id)
		}
	}
	for id, r := range acme.of("AWS::Lambda::EventSourceMapping") {
		if !mentions(r.Properties["FunctionName"], "Alias") {
			t.Errorf("%s calls %v", id, r.Properties["FunctionName"])
		}
	}
	for id, r := range acme.of("AWS::Lambda::Permission") {
		// The gateway calls functions of another stack by name.
		name, _ := r.Properties["FunctionName"].(string)
		if id := id[strings.Index(id, "/")+1:]; !mentions(r.Properties["FunctionName"], "Alias") &&
			!strings.HasSuffix(name, ":"+stack.LiveAlias) && !strings.HasPrefix(id, "RotateSeal") {
			t.Errorf("%s permits to call %v", id, r.Properties["FunctionName"])
		}
	}
	for id, r := range acme.of("AWS::ApiGateway::Authorizer") {
		if !mentions(r.Properties["AuthorizerUri"], "AuthorizerAlias") {
			t.Errorf("%s calls %v", id, r.Properties["AuthorizerUri"])
		}
	}
	if n := len(local.of("AWS::Lambda::Alias")); n != 0 {
		t.Errorf("the local system has %d aliases", n)
	}
}

// checkGate requires an alarm for the calls of one version. Failures of the previous version must
// neither end a release nor prevent one.
func checkGate(t *testing.T, id string, gate properties, version any, answers, handles bool) {
	t.Helper()
	want := []string{"Errors [ExecutedVersion FunctionName Resource]",
		"Invocations [ExecutedVersion FunctionName Resource]"}
	expression := "100 * errors / calls"
	if answers { // For Lambda, a function that answers 500 has not failed.
		want, expression = append(want, "ServerErrors [release]"), "100 * SUM([errors, answers]) / calls"
	}
	if handles { // Nor has one that handles the failures of its work.
		want = append(want, "HandledFailures [function]", "HandledFailures [release]", "Invocations [FunctionName]")
		expression = "MAX([100 * errors / calls, IF(SUM([own, 0 * errors]) >= 3 AND SUM([own, 0 * errors]) > 0.5 * calls AND " +
			"SUM([own, 0 * errors]) * (allCalls - calls) >= 2 * (SUM([all, 0 * errors]) - SUM([own, 0 * errors])) * calls, " +
			"100 * SUM([own, 0 * errors]) / calls, 0 * calls)])"
		slices.Sort(want)
	}
	if got := watchedBy(gate); !slices.Equal(got, want) || !strings.Contains(fmt.Sprint(gate["Metrics"]), expression) ||
		gate["Threshold"] != 1. || gate["AlarmActions"] != nil {
		t.Errorf("%s watches %q by %v", id, got, gate)
	}
	for _, m := range list(gate["Metrics"]) {
		of := properties(m.(map[string]any))
		if of["MetricStat"] == nil {
			continue
		}
		at := fmt.Sprint(properties(version.(map[string]any)).at("Fn::GetAtt"))
		text := fmt.Sprint(of.at("MetricStat", "Metric", "Dimensions"))
		if id := fmt.Sprint(of["Id"]); id == "all" || id == "allCalls" { // of all versions
			continue
		}
		if !strings.Contains(text, at) {
			t.Errorf("%s watches %s, not %s", id, text, at)
		}
	}
}

func TestReleasesAreCanariesThatAlarmsEnd(t *testing.T) {
	groups := acme.of("AWS::CodeDeploy::DeploymentGroup")
	for part, in := range acme {
		for id, r := range in.Resources {
			if r.Type != "AWS::Lambda::Alias" {
				continue
			}
			title := id[:strings.Index(id, "Alias")]
			groupID, group := named(t, in, "AWS::CodeDeploy::DeploymentGroup", title+"Release")
			if !pointsAt(r.UpdatePolicy["CodeDeployLambdaAliasUpdate"], groupID) {
				t.Errorf("%s moves by %v", id, r.UpdatePolicy)
			}
			if group["DeploymentConfigName"] != "CodeDeployDefault.LambdaCanary10Percent10Minutes" ||
				group.at("AutoRollbackConfiguration", "Enabled") != true ||
				!slices.Contains(list(group.at("AutoRollbackConfiguration", "Events")),
					any("DEPLOYMENT_STOP_ON_ALARM")) {
				t.Errorf("%s: %v", groupID, group)
			}
			gateID, gate := named(t, in, "AWS::CloudWatch::Alarm", title+"GateAlarm")
			// Between releases there is no gate, and nothing to pay.
			choice := list(group.at("AlarmConfiguration", "Fn::If"))
			on, off := properties(choice[1].(map[string]any)), properties(choice[2].(map[string]any))
			if watched := list(on["Alarms"]); choice[0] != "Gated" || on["Enabled"] != true || len(watched) != 1 ||
				!pointsAt(watched, gateID) || off["Enabled"] != false || in.Resources[gateID].Condition != "Gated" {
				t.Errorf("%s is ended by %v", groupID, choice)
			}
			// The alarm must watch the new version before the alias moves. The alias waits for the group, which names
			// the alarm if there is one.
			if !pointsAt(r.DependsOn, groupID) || pointsAt(r.DependsOn, gateID) {
				t.Errorf("%s waits for %v", id, r.DependsOn)
			}
			checkGate(t, gateID, gate, r.Properties["FunctionVersion"], (strings.HasSuffix(part, "-api") ||
				strings.HasSuffix(part, "-areas")) && title != "Authorizer", strings.HasSuffix(part, "-work") && title != "Due" && title != "Canary")
		}
	}
	if len(groups) != len(acme.of("AWS::Lambda::Alias")) {
		t.Errorf("there are %d deployment groups", len(groups))
	}
	if n := len(small.of("AWS::CodeDeploy::DeploymentGroup")); n != 0 {
		t.Errorf("releases at once have %d deployment groups", n)
	}
}

// The alarms that stop a wave of deployments are looked up by their names.
func TestTheAlarmsThatStopAWaveExist(t *testing.T) {
	for _, end := range customer.StoppingAlarms {
		found := 0
		for id := range acme["acme-prod-eu-central-1-work"].Resources {
			if strings.HasSuffix(id[:max(0, len(id)-len("12345678"))], end) {
				found++
			}
		}
		if found == 0 {
			t.Errorf("no alarm of the work ends in %s", end)
		}
	}
}

// CodeDeploy needs a role that it may assume. The role may move the aliases of the stack's
// functions, and read the alarms of its deployment groups, of which there are at most ten.
func TestCodeDeployMayMoveTheAliases(t *testing.T) {
	for name, in := range acme {
		applications := 0
		for id, r := range in.Resources {
			switch r.Type {
			case "AWS::CodeDeploy::Application":
				if applications++; r.Properties["ComputePlatform"] != "Lambda" {
					t.Errorf("%s deploys to %v", id, r.Properties)
				}
			case "AWS::CodeDeploy::DeploymentGroup":
				role, _ := named(t, in, "AWS::IAM::Role", "ReleaseRole")
				style := fmt.Sprint(r.Properties["DeploymentStyle"])
				if !pointsAt(r.Properties["ServiceRoleArn"], role) ||
					style != "map[DeploymentOption:WITH_TRAFFIC_CONTROL DeploymentType:BLUE_GREEN]" {
					t.Errorf("%s has the role %v and the style %s", id, r.Properties["ServiceRoleArn"], style)
				}
				if alarms := list(r.Properties.at("AlarmConfiguration", "Alarms")); len(alarms) == 0 ||
					len(alarms) > 10 {
					t.Errorf("%s looks at %d alarms", id, len(alarms))
				}
			case "AWS::Lambda::Alias":
				// A weight here would undo the change by CodeDeploy.
				if r.Properties["RoutingConfig"] != nil || !mentions(r.Properties["FunctionVersion"], "Version") {
					t.Errorf("%s is at %v with %v", id, r.Properties["FunctionVersion"], r.Properties["RoutingConfig"])
				}
			}
		}
		if applications == 0 {
			continue
		}
		_, role := named(t, in, "AWS::IAM::Role", "ReleaseRole")
		if !mentions(role["AssumeRolePolicyDocument"], "codedeploy.amazonaws.com") {
			t.Errorf("%s: the role is assumed by %v", name, role["AssumeRolePolicyDocument"])
		}
		_, policy := named(t, in, "AWS::IAM::Policy", "ReleaseRole")
		allowed := map[any]any{}
		for _, statement := range list(policy.at("PolicyDocument", "Statement")) {
			s := properties(statement.(map[string]any))
			actions := list(s["Action"])
			if actions == nil {
				actions = []any{s["Action"]}
			}
			for _, action := range actions {
				allowed[action] = fmt.Sprint(s["Resource"])
			}
		}
		for action, resource := range map[string]string{
			"lambda:UpdateAlias": "function:acme-prod-*", "lambda:GetAlias": "function:acme-prod-*",
			"lambda:GetProvisionedConcurrencyConfig": "function:acme-prod-*", "cloudwatch:DescribeAlarms": "alarm:*",
		} {
			if !strings.Contains(fmt.Sprint(allowed[action]), resource) {
				t.Errorf("%s: %s is permitted of %v, not of %s", name, action, allowed[action], resource)
			}
		}
	}
}
