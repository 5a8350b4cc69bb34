package stack_test

import "testing"

// A reservoir of one call a second would trace all calls of most customers, at a hundred times
// the price.
func TestOneOfAHundredCallsIsTraced(t *testing.T) {
	for id, r := range acme.of("AWS::XRay::SamplingRule") {
		if rate, reservoir := r.Properties.at("SamplingRule", "FixedRate"),
			r.Properties.at("SamplingRule", "ReservoirSize"); rate != 0.01 || reservoir != 0. {
			t.Errorf("%s traces %v of the calls, and %v a second in any case", id, rate, reservoir)
		}
	}
	if n := len(acme.of("AWS::XRay::SamplingRule")); n != 1 {
		t.Errorf("there are %d rules", n)
	}
}
