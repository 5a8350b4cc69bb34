package stack_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/cloud/metric"
)

// streams returns the event sources of a customer that read a stream, by the first words of
// their ids.
func (s stacks) streams() map[string]properties {
	all := map[string]properties{}
	for id, r := range s.of("AWS::Lambda::EventSourceMapping") {
		if r.Properties["StartingPosition"] != nil {
			name, _, _ := strings.Cut(id[strings.Index(id, "/")+1:], "Source")
			all[name] = r.Properties
		}
	}
	return all
}

// Several readers of a stream are throttled if the table has a replica. All customers have the
// same functions.
func TestEachStreamHasOneReader(t *testing.T) {
	for name, customer := range map[string]stacks{"without a replica": acme, "with a replica": hooli,
		"after a failover": failover} {
		readers := map[string][]string{}
		for reader, p := range customer.streams() {
			of, _ := json.Marshal(p["EventSourceArn"])
			readers[string(of)] = append(readers[string(of)], reader)
		}
		var all []string
		for _, names := range readers {
			if len(names) != 1 {
				t.Errorf("%s: a stream is read by %v", name, names)
			}
			all = append(all, names...)
		}
		if slices.Sort(all); !slices.Equal(all, []string{"Levels", "Relay"}) {
			t.Errorf("%s: streams are read by %v", name, all)
		}
	}
}

// A record is tried as long as its stream keeps it, minus the time in which an operator can read
// it again. Alarms report a function that is behind, and its dead letters.
func TestStreamsAreTriedUntilTheyForgetAndTell(t *testing.T) {
	for name, p := range acme.streams() {
		age, _ := p["MaximumRecordAgeInSeconds"].(float64)
		if p["MaximumRetryAttempts"] != -1. || age < 12*3600 || age > 22*3600 ||
			p["BisectBatchOnFunctionError"] != true {
			t.Errorf("%s tries %v times for %v s", name, p["MaximumRetryAttempts"], p["MaximumRecordAgeInSeconds"])
		}
		dead, _ := named(t, acme[workStack], "AWS::SQS::Queue", name+"DeadLetters")
		if !pointsAt(p.at("DestinationConfig", "OnFailure", "Destination"), dead) {
			t.Errorf("%s gives up to %v", name, p["DestinationConfig"])
		}
		for _, alarm := range []string{name + "AgeAlarm", name + "DeadLettersAlarm", "LoopsAlarm"} {
			if _, of := named(t, acme[workStack], "AWS::CloudWatch::Alarm", alarm); len(list(of["AlarmActions"])) == 0 {
				t.Errorf("%s says nothing to anyone", alarm)
			}
		}
	}
}

// No reader is called for expired items that DynamoDB removes.
func TestExpiryCallsNoReader(t *testing.T) {
	removals := 0
	for name, p := range acme.streams() {
		for _, f := range list(p.at("FilterCriteria", "Filters")) {
			text := fmt.Sprint(f.(map[string]any)["Pattern"])
			var pattern struct {
				EventName    []string `json:"eventName"`
				UserIdentity struct {
					PrincipalID []map[string]bool `json:"principalId"`
				} `json:"userIdentity"`
			}
			if err := json.Unmarshal([]byte(text), &pattern); err != nil || len(pattern.EventName) == 0 {
				t.Fatalf("%s is called for %s: %v", name, text, err)
			}
			if !slices.Contains(pattern.EventName, "REMOVE") {
				continue
			}
			removals++
			if by := pattern.UserIdentity.PrincipalID; name != "Levels" || len(by) != 1 || by[0]["exists"] {
				t.Errorf("%s is called for %s", name, text)
			}
		}
	}
	if removals != 1 {
		t.Errorf("%d filters take removals", removals)
	}
}

// Readers that do less work for several records together collect them in batches.
func TestBatchesAreCollected(t *testing.T) {
	if window := acme.streams()["Levels"]["MaximumBatchingWindowInSeconds"]; window != 30. {
		t.Errorf("levels collects for %v s", window)
	}
	if window := acme.streams()["Relay"]["MaximumBatchingWindowInSeconds"]; window != nil {
		t.Errorf("tasks and events wait for %v s", window)
	}
	_, sums := named(t, acme[workStack], "AWS::Lambda::EventSourceMapping", "RollupSource")
	if sums["BatchSize"] != 100. || sums["MaximumBatchingWindowInSeconds"] != 5. {
		t.Errorf("rollup collects %v for %v s", sums["BatchSize"], sums["MaximumBatchingWindowInSeconds"])
	}
}

func TestAnAlarmTellsOfWhatWasPutAside(t *testing.T) {
	_, alarm := named(t, acme[workStack], "AWS::CloudWatch::Alarm", "PutAsideAlarm")
	if alarm["MetricName"] != metric.Aside || alarm["Threshold"] != 0. || len(list(alarm["AlarmActions"])) == 0 {
		t.Errorf("the alarm is %v", alarm)
	}
}
