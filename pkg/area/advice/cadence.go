package advice

import (
	"fmt"
	"time"
)

const (
	day = 24 * time.Hour
	// recent is the period that cadence is judged by, and grace the age that a factory must have for that.
	recent = 28 * day
	grace  = 7 * day
	// idle and asleep are how long nothing was made.
	idle   = 14 * day
	asleep = 30 * day
	// A factory is behind its schedule with less than enough of it, and far behind with less than half.
	enough = 0.8
	half   = 0.5
	// A gap of longGap between two of at least cadenceItems items is irregular.
	longGap      = 7 * day
	cadenceItems = 8
	// Of at least lateItems planned items, so many are too late.
	lateItems = 5
	someLate  = 0.1
	manyLate  = 0.3
)

// cadence compares the generated items with the schedule and with the planned times.
func cadence(f Facts) (all []Finding) {
	all = append(all, late(f)...)
	age := f.Now.Sub(f.Factory.CreatedAt)
	if !f.Factory.Active || age < grace {
		return all
	}
	made := f.made()
	if len(made) == 0 {
		return append(all, found(NoContent, Warning, "The factory has made nothing in the last 90 days.", "days",
			int(Window/day)))
	}
	if quiet := f.Now.Sub(made[len(made)-1]); quiet > idle {
		severity := Warning
		if quiet > asleep {
			severity = Critical
		}
		days := int(quiet / day)
		return append(all, found(NoRecentContent, severity, fmt.Sprintf("The factory has made nothing for %d days.",
			days), "days", days))
	}
	period := min(recent, age)
	from := f.Now.Add(-period)
	var inPeriod []time.Time
	for _, at := range made {
		if !at.Before(from) {
			inPeriod = append(inPeriod, at)
		}
	}
	days := int(period / day)
	if expected := f.Factory.Times * days; expected > 0 {
		if share := float64(len(inPeriod)) / float64(expected); share < enough {
			severity := Warning
			if share < half {
				severity = Critical
			}
			all = append(all, found(BelowSchedule, severity,
				fmt.Sprintf("The factory made %d items in %d days. Its schedule has room for %d.", len(inPeriod),
					days, expected),
				"made", len(inPeriod), "expected", expected, "days", days, "share", share))
		}
	}
	if gap := longest(inPeriod); len(inPeriod) >= cadenceItems && gap >= longGap {
		all = append(all, found(IrregularCadence, Warning,
			fmt.Sprintf("Nothing was made for %d days in a row, although the factory made %d items in %d days.",
				int(gap/day), len(inPeriod), days),
			"gap_days", int(gap/day), "made", len(inPeriod), "days", days))
	}
	return all
}

// longest is the longest time between two of the times, which are in order.
func longest(times []time.Time) (gap time.Duration) {
	for i := 1; i < len(times); i++ {
		gap = max(gap, times[i].Sub(times[i-1]))
	}
	return gap
}

// late finds planned items that were not ready at their time.
func late(f Facts) []Finding {
	planned, missed := 0, 0
	for _, it := range f.Items {
		if at := it.PublishAt; at.IsZero() || at.After(f.Now) || at.Before(f.Now.Add(-recent)) ||
			it.State == itemCanceled {
			continue
		}
		planned++
		if !it.made() || it.MadeAt.After(it.PublishAt) {
			missed++
		}
	}
	share := float64(missed) / float64(max(planned, 1))
	if planned < lateItems || share < someLate {
		return nil
	}
	severity := Warning
	if share >= manyLate {
		severity = Critical
	}
	return []Finding{found(LateItems, severity,
		fmt.Sprintf("%d of %d items that were planned for the last 28 days were not ready at their time (%d%%).",
			missed, planned, percent(share)),
		"late", missed, "planned", planned, "share", share)}
}
