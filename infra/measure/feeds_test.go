package main

import "testing"

// $0.21, and $0.47 a month, were measured; a daily run wrote 1.3 % of the units of the first one.
func TestAFeedCostsWhatHasChanged(t *testing.T) {
	first, daily := feedCosts(counts(t).feed, inVirginia)
	t.Logf("first %+v, daily %+v", first, daily)
	if daily.writes > 0.015*first.writes {
		t.Errorf("a daily run takes %.2f write units of a row, and the first one %.2f", daily.writes, first.writes)
	}
	if first.dollars > 0.25 || 30*daily.dollars > 0.6 {
		t.Errorf("the first run costs $%.2f, and a month $%.2f", first.dollars, 30*daily.dollars)
	}
}
