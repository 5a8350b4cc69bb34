package stack_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// recipients returns the topics that an alarm is sent to, by the start of their logical ids. Topics are imported from
// the stack of the data.
func recipients(r resource) (topics []string) {
	for _, action := range list(r.Properties["AlarmActions"]) {
		for _, topic := range []string{"Alarms", "Pages"} {
			if strings.Contains(fmt.Sprint(action), "Ref"+topic) || strings.Contains(fmt.Sprint(action), "Ref:"+topic) {
				topics = append(topics, topic)
			}
		}
	}
	return topics
}

// What costs customers work, money or answers wakes somebody, by a topic of its own. A small stack sends nothing else.
func TestAlarmsHaveTwoSeverities(t *testing.T) {
	quiet := small
	wakes := []string{"Burn", "ProbesAlarm", "ProbesSilentAlarm", "DeadLettersAlarm", "WaitingAlarm", "AgeAlarm",
		"LoopsAlarm", "FailsAlarm", "LostSpendAlarm", "AuditLogModifyAlarm", "AuditLogRemoveAlarm"}
	sent := map[string]int{}
	for _, kind := range []string{"AWS::CloudWatch::Alarm", "AWS::CloudWatch::CompositeAlarm"} {
		for id, r := range acme.of(kind) {
			name := id[:len(id)-len("12345678")]
			want := []string{"Alarms"}
			switch {
			case strings.HasSuffix(name, "GateAlarm"), strings.Contains(name, "Burn") && kind == "AWS::CloudWatch::Alarm":
				want = nil // CodeDeploy and the composite alarm look at these
			case slices.ContainsFunc(wakes, func(end string) bool { return strings.HasSuffix(name, end) }):
				want = []string{"Pages"}
			}
			if got := recipients(r); !slices.Equal(got, want) {
				t.Errorf("%s is sent to %v, want %v", id, got, want)
			}
			if len(want) > 0 {
				sent[want[0]]++
			}
			if len(want) > 0 && want[0] == "Alarms" {
				want = nil
			}
			if got := recipients(quiet.of(kind)[id]); !slices.Equal(got, want) {
				t.Errorf("the quiet %s is sent to %v, want %v", id, got, want)
			}
		}
	}
	if sent["Pages"] < 40 || sent["Alarms"] < 10 {
		t.Errorf("%v alarms are sent", sent)
	}
	addresses := map[any]any{}
	for id, r := range quiet.of("AWS::SNS::Subscription") {
		_, name, _ := strings.Cut(id, "/")
		addresses[name[:5]] = r.Properties["Endpoint"]
	}
	if addresses["Pages"] != "pager@acme.example" || addresses["Alarm"] != "operations@acme.example" {
		t.Errorf("the topics go to %v", addresses)
	}
}
