package stack_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/generate"
)

// alarmOn reports whether an alarm watches a metric of a resource.
func alarmOn(s stacks, stackName, metric, logicalID string) bool {
	for _, r := range s[stackName].Resources {
		if r.Type != "AWS::CloudWatch::Alarm" || r.Properties["MetricName"] != metric {
			continue
		}
		dimensions, err := json.Marshal(r.Properties["Dimensions"])
		if err == nil && strings.Contains(string(dimensions), `"`+logicalID+`"`) {
			return true
		}
	}
	return false
}

func TestWhatGoesWrongRaisesAnAlarm(t *testing.T) {
	for name, in := range acme {
		for id, r := range in.Resources {
			if r.Type == "AWS::SQS::Queue" && strings.Contains(id, "DeadLetters") &&
				!alarmOn(acme, name, "ApproximateNumberOfMessagesVisible", id) {
				t.Errorf("nobody hears of the messages of %s/%s", name, id)
			}
		}
	}
	// Lambda has the errors of all functions of the account as one metric, without a dimension.
	if _, all := named(t, acme[workStack], "AWS::CloudWatch::Alarm", "ErrorsAlarm"); all["MetricName"] != "Errors" ||
		all["Namespace"] != "AWS/Lambda" || all["Dimensions"] != nil || all["Threshold"] != 0. {
		t.Errorf("nobody hears of errors: %v", all)
	}
	relay, _ := named(t, acme[workStack], "AWS::Lambda::Function", "RelayFunction")
	if !alarmOn(acme, workStack, "IteratorAge", relay) {
		t.Error("nobody hears that the stream is late")
	}
	lost := false
	for _, r := range acme[workStack].Resources {
		lost = lost || r.Type == "AWS::CloudWatch::Alarm" && r.Properties["MetricName"] == "LostSpendCredits" &&
			r.Properties["Namespace"] == "ContentAutomation/acme/prod"
	}
	if !lost {
		t.Error("no alarm watches the spending that is lost")
	}
	found := false
	for _, r := range acme["acme-prod-eu-central-1-api"].Resources {
		found = found || r.Type == "AWS::CloudWatch::Alarm" && r.Properties["MetricName"] == "5XXError"
	}
	if !found {
		t.Error("nobody hears of 5xx answers")
	}
	for _, name := range []string{"AuthenticationRefused", "PermissionRefused"} {
		found := false
		for _, r := range acme["acme-prod-eu-central-1-api"].Resources {
			found = found || r.Type == "AWS::CloudWatch::Alarm" && r.Properties["MetricName"] == name &&
				r.Properties["Namespace"] == "ContentAutomation/acme/prod"
		}
		if !found {
			t.Errorf("no alarm watches bursts of %s", name)
		}
	}
}

// publishes reports whether a topic's policy lets only the alarms of this account publish.
func publishes(policy properties) bool {
	statements, _ := policy.at("PolicyDocument", "Statement").([]any)
	for _, s := range statements {
		s := properties(s.(map[string]any))
		if s["Effect"] == "Allow" && s["Action"] == "sns:Publish" &&
			s.at("Principal", "Service") == "cloudwatch.amazonaws.com" &&
			s.at("Condition", "StringEquals", "aws:SourceAccount") != nil {
			return true
		}
	}
	return false
}

func TestAlarmsReachSomebody(t *testing.T) {
	for id, r := range acme.of("AWS::CloudWatch::Alarm") {
		if actions, _ := r.Properties["AlarmActions"].([]any); len(actions) != 1 && !strings.Contains(id, "Burn") &&
			!strings.Contains(id, "GateAlarm") {
			t.Errorf("%s tells %v", id, actions)
		}
		missing := map[bool]string{true: "breaching", false: "notBreaching"}[strings.Contains(id, "Silent")]
		if fmt.Sprint(r.Properties["AlarmDescription"]) == "" || r.Properties["TreatMissingData"] != missing {
			t.Errorf("%s: %v, missing data %v", id, r.Properties["AlarmDescription"], r.Properties["TreatMissingData"])
		}
	}
	for id, r := range acme.of("AWS::SNS::TopicPolicy") {
		if !publishes(r.Properties) {
			t.Errorf("%s does not let CloudWatch publish: %v", id, r.Properties)
		}
	}
	for customer, email := range map[string]string{"acme": "operations@acme.example",
		"globex": "alerts@globex.example"} {
		s := acme
		if customer == "globex" {
			s = globex
		}
		subscriptions := s.of("AWS::SNS::Subscription")
		if len(subscriptions) != 2 {
			t.Errorf("%s has %d subscriptions", customer, len(subscriptions))
		}
		for id, r := range subscriptions {
			if r.Properties["Endpoint"] != email {
				t.Errorf("%s goes to %v", id, r.Properties["Endpoint"])
			}
		}
	}
	for id, r := range acme.of("AWS::SNS::Topic") {
		if !holdsKey(r.Properties["KmsMasterKeyId"]) {
			t.Errorf("%s is not encrypted with the customer's key", id)
		}
	}
}

// TestAlarmsOfWorkComeBeforeItsDeadline holds the alarms of queues against the deadlines of their work, and wants one
// for each provider of live work.
func TestAlarmsOfWorkComeBeforeItsDeadline(t *testing.T) {
	queues, providers, only := 0, 0, 0
	for id, r := range acme.of("AWS::CloudWatch::Alarm") {
		if len(list(r.Properties["AlarmActions"])) != len(list(r.Properties["OKActions"])) {
			t.Errorf("%s does not tell of its end", id)
		}
		for _, q := range topology.Queues {
			patience := generate.Patience(q)
			if !strings.Contains(id, "/"+topology.Title(string(q))+"WaitingAlarm") || patience == 0 {
				continue
			}
			queues++
			if above, _ := r.Properties["Threshold"].(float64); above <= 0 || above > patience.Seconds()*0.7 {
				t.Errorf("%s is raised after %v s, and work fails after %v", id, above, patience)
			}
		}
		if strings.Contains(id, "FailsAlarm") {
			providers++
			want := fmt.Sprint("ProviderFailed Average ", 5*60, " ", 2)
			if strings.Contains(id, "OnlyFailsAlarm") {
				// The lowest value of hours: a single good call is 0.
				only++
				want = fmt.Sprint("ProviderFailed Minimum ", 6*60*60, " ", 1)
			}
			p := r.Properties
			if got := fmt.Sprint(p["MetricName"], " ", p["Statistic"], " ", p["Period"], " ", p["EvaluationPeriods"]); got !=
				want || p["Threshold"] != 0.5 {
				t.Errorf("%s is %s above %v, want %s", id, got, p["Threshold"], want)
			}
		}
	}
	if queues < 5 || providers < 4 || only != providers/2 {
		t.Errorf("%d queues of work and %d providers have alarms", queues, providers)
	}
}
