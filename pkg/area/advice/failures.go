package advice

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/base/statistics"
)

const (
	// A share is judged if at least minEnded items have ended.
	minEnded = 10
	// The failure rate is a fault if it is above the limit even at the lower end of its 95% interval.
	someFail = 0.05
	manyFail = 0.2
	// A cause is named if at least minCause items have it.
	minCause = 3
)

// failures finds how often items fail, and why.
func failures(f Facts) (all []Finding) {
	ended, failed := 0, 0
	causes := map[string]int{}
	kinds := map[string]*[2]int{} // failed and ended
	for _, it := range f.Items {
		if it.State != itemFailed && !it.made() {
			continue
		}
		ended++
		if kinds[it.Kind] == nil {
			kinds[it.Kind] = &[2]int{}
		}
		kinds[it.Kind][1]++
		if it.State == itemFailed {
			failed++
			kinds[it.Kind][0]++
			causes[it.Failure]++
		}
	}
	if ended >= minEnded {
		share, least := float64(failed)/float64(ended), statistics.WilsonLower(failed, ended)
		if least > someFail {
			severity := Warning
			if least > manyFail {
				severity = Critical
			}
			all = append(all, found(FailureRate, severity,
				fmt.Sprintf("%d of %d items of the last 90 days failed (%d%%).", failed, ended, percent(share)),
				"failed", failed, "ended", ended, "share", share, "share_at_least", least).about("", Wilson))
		}
	}
	for _, code := range slices.Sorted(maps.Keys(causes)) {
		if n := causes[code]; n >= minCause {
			all = append(all, found(FailureCause, Info, fmt.Sprintf("%d of %d failed items failed with %s.", n,
				failed, code),
				"failed", n, "failed_in_all", failed, "share", float64(n)/float64(failed)).about(code, ""))
		}
	}
	return append(all, byKind(kinds, failed, ended)...)
}

// byKind finds the kinds that fail more often than the others together.
func byKind(kinds map[string]*[2]int, failed, ended int) (all []Finding) {
	compared := 0
	for _, k := range kinds {
		if k[1] >= minEnded && ended-k[1] >= minEnded {
			compared++
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		k := kinds[kind]
		others := ended - k[1]
		if k[1] < minEnded || others < minEnded {
			continue
		}
		z, p := statistics.TwoProportions(k[0], k[1], failed-k[0], others)
		if z <= 0 || p >= statistics.Significance/float64(compared) {
			continue
		}
		all = append(all, found(FailureByKind, Warning,
			fmt.Sprintf("Items of the kind %s fail more often than others: %d of %d, against %d of %d.", kind, k[0],
				k[1], failed-k[0], others),
			"failed", k[0], "ended", k[1], "others_failed", failed-k[0], "others_ended", others, "z", z, "p",
			p).about(kind, TwoProportion))
	}
	return all
}

const (
	// lately is the age of the oldest publications that count.
	lately = 30 * day
	// Failed publications are critical from this number and share on.
	manyUnpublished  = 2
	largeUnpublished = 0.2
)

// publications finds the publications that failed and were not repeated.
func publications(f Facts) []Finding {
	ended, failed := 0, 0
	causes := map[string]int{}
	for _, it := range f.Items {
		for _, p := range it.Publications {
			if p.At.Before(f.Now.Add(-lately)) {
				continue
			}
			if ended++; p.Failure != "" {
				failed++
				causes[p.Failure]++
			}
		}
	}
	if failed == 0 {
		return nil
	}
	share, severity := float64(failed)/float64(ended), Warning
	if failed >= manyUnpublished && share >= largeUnpublished {
		severity = Critical
	}
	var codes []string
	for _, code := range slices.Sorted(maps.Keys(causes)) {
		codes = append(codes, fmt.Sprintf("%s (%d)", code, causes[code]))
	}
	return []Finding{found(PublicationFailures, severity, fmt.Sprintf("%d of %d publications of the last 30 days "+
		"failed: %s. Publish the items again once the cause is gone.", failed, ended, strings.Join(codes, ", ")),
		"failed", failed, "ended", ended, "share", share)}
}
