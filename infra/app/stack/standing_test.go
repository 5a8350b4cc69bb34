package stack_test

import (
	"strings"
	"testing"

	"github.com/content-automation/api/infra/measure/standing"
)

func TestWhatIsPaidForEveryMonthIsCounted(t *testing.T) {
	for _, want := range standing.Resources {
		n := len(acme.of(want.Type))
		switch want.Type {
		case "AWS::CloudWatch::Alarm": // Each metric of an alarm costs money.
			n = 0
			for _, r := range acme.of(want.Type) {
				if r.Condition == "" {
					n += metricsOf(r.Properties)
				}
			}
		case standing.Rule:
			for _, r := range acme.of("AWS::WAFv2::WebACL") {
				n += len(list(r.Properties["Rules"]))
			}
		}
		if n != want.Count {
			t.Errorf("the stacks have %d of %s; infra/measure/standing says %d", n, want.Type, want.Count)
		}
	}
}

func TestTheKeysThatAreRotatedAreCounted(t *testing.T) {
	rotated := 0
	for _, r := range acme.of("AWS::KMS::Key") {
		if r.Properties["EnableKeyRotation"] == true {
			rotated++
		}
	}
	if rotated != standing.Rotated || standing.Rotations(1) != 0 || standing.Rotations(2) != float64(rotated) ||
		standing.Rotations(9) != float64(2*rotated) {
		t.Errorf("%d keys are rotated; infra/measure/standing says %d", rotated, standing.Rotated)
	}
}

// paid returns the number of billed units of a type of resources. An endpoint counts in each of
// its subnets, a secret with each of its copies, and instances by their number. The alarms of
// providers are left out: customers have different providers.
func paid(all stacks, kind string) (n int) {
	for id, r := range all.of(kind) {
		if strings.Contains(id, "FailsAlarm") || r.Condition != "" {
			continue
		}
		switch kind {
		case "AWS::EC2::VPCEndpoint":
			if r.Properties["VpcEndpointType"] == "Interface" {
				n += len(list(r.Properties["SubnetIds"]))
			}
		case "AWS::ApplicationAutoScaling::ScalableTarget":
			most, _ := r.Properties["MaxCapacity"].(float64)
			n += int(most)
		default:
			n++
		}
	}
	return n
}

// metricsOf returns the number of metrics that an alarm watches.
func metricsOf(alarm properties) (n int) {
	if alarm["MetricName"] != nil {
		return 1
	}
	for _, m := range list(alarm["Metrics"]) {
		if properties(m.(map[string]any))["MetricStat"] != nil {
			n++
		}
	}
	return n
}

func TestWhatADedicatedCustomerPaysForIsCounted(t *testing.T) {
	for _, want := range standing.Dedicated {
		if n := paid(hooli, want.Type) - paid(acme, want.Type); n != want.Count {
			t.Errorf("a dedicated customer has %d of %s more; infra/measure/standing says %d", n, want.Type, want.Count)
		}
	}
	for _, want := range standing.Waiting {
		n := paid(standby, want.Type)
		if want.Type == "AWS::SecretsManager::Secret" {
			for _, r := range hooli.of(want.Type) {
				n += len(list(r.Properties["ReplicaRegions"]))
			}
		}
		if n != want.Count {
			t.Errorf("the region of the replica has %d of %s; infra/measure/standing says %d", n, want.Type, want.Count)
		}
	}
	known := map[string]bool{}
	for _, r := range standing.Waiting {
		known[r.Type] = true
	}
	// All other resources cost nothing while they are not used.
	for name, s := range standby {
		for id, r := range s.Resources {
			if costly := strings.HasPrefix(r.Type, "AWS::CloudWatch::") || strings.HasPrefix(r.Type, "AWS::WAFv2::") ||
				strings.HasPrefix(r.Type, "AWS::EC2::Nat"); costly && !known[r.Type] {
				t.Errorf("%s/%s of %s is not counted", name, id, r.Type)
			}
		}
	}
}
