package main

import "testing"

func TestAFeedCostsWhatHasChanged(t *testing.T) {
	first, daily := feedCosts(counts(t).feed, inVirginia)
	t.Logf("first %+v, daily %+v", first, daily)
	if daily.writes > first.writes/20 {
		t.Errorf("a daily run takes %.2f write units of a row, and the first one %.2f", daily.writes, first.writes)
	}
	if first.dollars > 2 || 30*daily.dollars > 5 {
		t.Errorf("the first run costs $%.2f, and a month $%.2f", first.dollars, 30*daily.dollars)
	}
}
