package stack_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// watchedBy returns the metrics of an alarm as name and dimensions, sorted.
func watchedBy(alarm properties) (all []string) {
	show := func(name, dimensions any) {
		of := map[string]string{}
		for _, d := range list(dimensions) {
			if d, ok := d.(map[string]any); ok {
				of[fmt.Sprint(d["Name"])] = fmt.Sprint(d["Value"])
			}
		}
		all = append(all, fmt.Sprint(name, " ", slices.Sorted(maps.Keys(of)), of["GlobalSecondaryIndexName"]))
	}
	if alarm["MetricName"] != nil {
		show(alarm["MetricName"], alarm["Dimensions"])
	}
	for _, m := range list(alarm["Metrics"]) {
		if m, ok := m.(map[string]any); ok && m["MetricStat"] != nil {
			of := properties(m)
			show(of.at("MetricStat", "Metric", "MetricName"), of.at("MetricStat", "Metric", "Dimensions"))
		}
	}
	slices.Sort(all)
	return all
}

func TestLimitsOfAWSRaiseAlarms(t *testing.T) {
	state := []string{"ReadThrottleEvents [TableName]", "WriteThrottleEvents [TableName]"}
	for _, index := range []string{"by_due", "by_owner", "by_parent"} {
		for _, name := range []string{"ReadThrottleEvents", "WriteThrottleEvents"} {
			state = append(state, name+" [GlobalSecondaryIndexName TableName]"+index)
		}
	}
	slices.Sort(state)
	for name, want := range map[string]struct {
		metrics    []string
		expression string
		above      float64
	}{
		"api/LatencyAlarm":    {[]string{"Latency [ApiName]"}, "", 10_000},
		"work/ThrottlesAlarm": {[]string{"Throttles []"}, "", 0},
		"work/ConcurrencyAlarm": {[]string{"ClaimedAccountConcurrency []",
			"ResourceCount [Class Resource Service Type]"}, "100 * claimed / SERVICE_QUOTA(used)", 80},
		"work/StateThrottlesAlarm": {state, "SUM([m0, m1, m2, m3, m4, m5, m6, m7])", 0},
		"work/AuditThrottlesAlarm": {[]string{"ReadThrottleEvents [TableName]", "WriteThrottleEvents [TableName]"},
			"SUM([m0, m1])", 0},
	} {
		for customer, s := range map[string]stacks{"acme": acme, "hooli": hooli, "failover": failover} {
			found := false
			for id, r := range s.of("AWS::CloudWatch::Alarm") {
				part, alarm, _ := strings.Cut(name, "/")
				if !strings.Contains(id, part+"/"+alarm) {
					continue
				}
				found = true
				if got := watchedBy(r.Properties); !slices.Equal(got, want.metrics) ||
					!mentions(r.Properties["Metrics"], want.expression) {
					t.Errorf("%s: %s watches %q by %v", customer, id, got, r.Properties["Metrics"])
				}
				if r.Properties["Threshold"] != want.above ||
					(r.Properties["EvaluationPeriods"] != 3.) != (want.above == 80) ||
					len(list(r.Properties["AlarmActions"])) != 1 {
					t.Errorf("%s: %s is %v", customer, id, r.Properties)
				}
			}
			if !found {
				t.Errorf("%s has no alarm %s", customer, name)
			}
		}
	}
	_, latency := named(t, acme["acme-prod-eu-central-1-api"], "AWS::CloudWatch::Alarm", "LatencyAlarm")
	if latency["ExtendedStatistic"] != "p99" {
		t.Errorf("the latency is %v", latency)
	}
}

// DynamoDB counts refused calls by table and index. A graph with other dimensions stays empty.
func TestTheDashboardShowsWhatDynamoDBRefuses(t *testing.T) {
	for id, r := range acme.of("AWS::CloudWatch::Dashboard") {
		body := fmt.Sprint(r.Properties["DashboardBody"])
		if strings.Contains(body, "ThrottledRequests") {
			t.Errorf("%s has a graph of a metric that is not counted by table alone", id)
		}
		for _, name := range []string{"ReadThrottleEvents", "WriteThrottleEvents"} {
			// For both tables, and for three indexes.
			if n := strings.Count(body, `"AWS/DynamoDB","`+name+`"`); n != 5 {
				t.Errorf("%s has %d metrics %s", id, n, name)
			}
		}
		for _, index := range []string{"by_due", "by_owner", "by_parent"} {
			if strings.Count(body, `"GlobalSecondaryIndexName","`+index+`"`) != 2 {
				t.Errorf("%s lacks the index %s: %s", id, index, body)
			}
		}
		if !strings.Contains(body, "FunctionName=acme FunctionName=prod") {
			t.Errorf("%s does not show the customer's functions", id)
		}
	}
}

func TestADisabledKeySendsAMessage(t *testing.T) {
	for customer, s := range map[string]stacks{"acme": acme, "hooli": hooli, "standby": standby, "failover": failover} {
		for name, in := range s {
			if !strings.HasSuffix(name, "-data") {
				continue
			}
			_, rule := named(t, in, "AWS::Events::Rule", "KeysRule")
			key, _ := named(t, in, "AWS::KMS::Key", "Key")
			alarmKey, sending := named(t, in, "AWS::KMS::Key", "AlarmKey")
			topic, of := named(t, in, "AWS::SNS::Topic", "Pages")
			if !mentions(rule["EventPattern"], "DisableKey") ||
				!mentions(rule["EventPattern"], "ScheduleKeyDeletion") ||
				!pointsAt(rule.at("EventPattern", "detail", "resources", "ARN"), key) {
				t.Errorf("%s: the rule is for %v", customer, rule["EventPattern"])
			}
			want := 3
			if customer == "standby" || customer == "failover" {
				want = 2 // a standby region has no key that signs media
			}
			if n := len(list(rule.at("EventPattern", "detail", "resources", "ARN"))); n != want {
				t.Errorf("%s: %d keys are watched", customer, n)
			}
			if !pointsAt(rule["Targets"], topic) {
				t.Errorf("%s: the message goes to %v", customer, rule["Targets"])
			}
			// A disabled key cannot encrypt the message.
			if !pointsAt(of["KmsMasterKeyId"], alarmKey) {
				t.Errorf("%s: the alarms are encrypted by %v", customer, of["KmsMasterKeyId"])
			}
			_, policy := named(t, in, "AWS::SNS::TopicPolicy", "PagesPolicy")
			for _, sender := range []string{"cloudwatch.amazonaws.com", "events.amazonaws.com"} {
				if !mentions(sending["KeyPolicy"], sender) || !mentions(policy["PolicyDocument"], sender) {
					t.Errorf("%s: %s cannot send alarms", customer, sender)
				}
			}
		}
	}
}

func TestABudgetIsOfTheCustomersRegionAlone(t *testing.T) {
	for customer, c := range map[string]struct {
		stacks  stacks
		dollars []any
	}{"acme": {acme, []any{500.}}, "hooli": {hooli, []any{2000.}}, "initech": {initech, nil}, "standby": {standby, nil},
		"failover": {failover, nil}, "local": {local, nil}} {
		var found []any
		for id, r := range c.stacks.of("AWS::Budgets::Budget") {
			found = append(found, r.Properties.at("Budget", "BudgetLimit", "Amount"))
			if n := len(list(r.Properties["NotificationsWithSubscribers"])); n != 2 ||
				!mentions(r.Properties["NotificationsWithSubscribers"], "@"+customer+".example") {
				t.Errorf("%s tells %v", id, r.Properties["NotificationsWithSubscribers"])
			}
		}
		if !slices.Equal(found, c.dollars) {
			t.Errorf("%s has budgets of %v, want %v", customer, found, c.dollars)
		}
	}
}
