package stack_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/cloud/topology"
)

func TestSchedulesCallTheirFunctions(t *testing.T) {
	for stage, c := range map[string]struct {
		in    stacks
		every func(f topology.Function) time.Duration
	}{
		"acme":  {acme, func(f topology.Function) time.Duration { return f.Every }},
		"local": {local, func(topology.Function) time.Duration { return time.Minute }},
	} {
		rules := c.in.of("AWS::Events::Rule")
		for id, r := range rules {
			if r.Properties["ScheduleExpression"] == nil {
				delete(rules, id)
			}
		}
		scheduled := 0
		for _, f := range topology.Functions {
			if (f.Trigger == topology.BySchedule || f.Trigger == topology.ByRotation) != (f.Every > 0) {
				t.Errorf("%s is called every %v", f.Name, f.Every)
			}
			if f.Trigger != topology.BySchedule {
				continue
			}
			scheduled++
			if f.Timeout >= f.Every {
				t.Errorf("%s is called again while it may still run", f.Name)
			}
			var work template
			for name, in := range c.in {
				if strings.HasSuffix(name, "-work") {
					work = in
				}
			}
			title := topology.Title(f.Name)
			function := called(t, work, title)
			dead, _ := named(t, work, "AWS::SQS::Queue", title+"DeadLetters")
			rule, r := named(t, work, "AWS::Events::Rule", title+"Schedule")
			unit := "minutes"
			if c.every(f) == time.Minute {
				unit = "minute"
			}
			if want := fmt.Sprintf("rate(%v %s)", c.every(f).Minutes(), unit); r["ScheduleExpression"] != want ||
				r["State"] != "ENABLED" || r["EventBusName"] != nil {
				t.Errorf("%s: %s is %v on the bus %v, %v; want %s", stage, rule, r["ScheduleExpression"],
					r["EventBusName"], r["State"], want)
			}
			targets := list(r["Targets"])
			if len(targets) != 1 {
				t.Fatalf("%s: %s has the targets %v", stage, rule, targets)
			}
			target := properties(targets[0].(map[string]any))
			if !pointsAt(target["Arn"], function) || !pointsAt(target.at("DeadLetterConfig", "Arn"), dead) {
				t.Errorf("%s: %s calls %v", stage, rule, target)
			}
			retries, _ := target.at("RetryPolicy", "MaximumRetryAttempts").(float64)
			age, _ := target.at("RetryPolicy", "MaximumEventAgeInSeconds").(float64)
			if retries < 1 || age != c.every(f).Seconds() {
				t.Errorf("%s: %s is repeated %v times for %v s", stage, rule, retries, age)
			}
			_, async := named(t, work, "AWS::Lambda::EventInvokeConfig", function[:len(function)-8])
			if again, ok := async["MaximumRetryAttempts"].(float64); !ok || again != 0 ||
				!pointsAt(async.at("DestinationConfig", "OnFailure", "Destination"), dead) {
				t.Errorf("%s: what %s fails at is lost: %v", stage, function, async)
			}
			if !calledBy(work, function, rule) {
				t.Errorf("%s: %s may not call %s", stage, rule, function)
			}
		}
		if len(rules) != scheduled || scheduled == 0 {
			t.Errorf("%s: there are %d schedules, want %d", stage, len(rules), scheduled)
		}
	}
}

// calledBy reports whether this rule, and not any rule, may call the function.
func calledBy(in template, function, rule string) bool {
	for _, r := range in.Resources {
		if r.Type == "AWS::Lambda::Permission" && r.Properties["Principal"] == "events.amazonaws.com" &&
			pointsAt(r.Properties["FunctionName"], function) && pointsAt(r.Properties["SourceArn"], rule) {
			return true
		}
	}
	return false
}

// TestSweepsTakeNothingForLostTooEarly compares the times after which the sweeper sends work
// again with the longest times of the functions.
func TestSweepsTakeNothingForLostTooEarly(t *testing.T) {
	for _, f := range topology.Functions {
		if f.May(topology.RunFFmpeg) || f.Name == "publish" || f.Name == "transfer" ||
			f.Name == "import-data" || f.Name == "sync-feed" {
			continue // they make their events when they commit them, after the work that takes long
		}
		if f.Trigger != topology.BySchedule && f.Timeout >= webhook.EventGrace {
			t.Errorf("%s may commit an event after %v; after %v it counts as lost", f.Name, f.Timeout,
				webhook.EventGrace)
		}
	}
}

func TestDueMayRepairAndNoMore(t *testing.T) {
	var actions []string
	_, policy := named(t, acme[workStack], "AWS::IAM::Policy", "DueRole")
	for _, statement := range list(policy.at("PolicyDocument", "Statement")) {
		for _, action := range list(statement.(map[string]any)["Action"]) {
			actions = append(actions, fmt.Sprint(action))
		}
	}
	for _, service := range []string{"s3:", "events:", "sqs:Receive", "sqs:Delete"} {
		if slices.ContainsFunc(actions, func(a string) bool { return strings.HasPrefix(a, service) }) {
			t.Errorf("the function due may do %v", actions)
		}
	}
	for _, needed := range []string{"dynamodb:Query", "dynamodb:BatchGetItem", "dynamodb:PutItem", "sqs:SendMessage"} {
		if !slices.Contains(actions, needed) {
			t.Errorf("the function due may not %s", needed)
		}
	}
}
