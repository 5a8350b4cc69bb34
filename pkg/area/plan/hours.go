package plan

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/base/clock"
)

// Hours are the hours of each day of the week, from Sunday on, in which posts do best: the best first. A day without
// hours has the usual ones.
type Hours [7][]int

// usualHours are the hours that a day takes where nothing better is known, and once the better ones are taken.
var usualHours = []int{12, 18, 9, 15, 21, 10, 16, 13, 19, 7, 20, 11, 17, 14, 8, 22}

// platformHours are the hours at which the audience of a platform is mostly there, on working days and on weekends.
// They are what the published studies of schedulers (Buffer, Hootsuite, Sprout Social: 2024 and 2025) have in common,
// and give way to the account's own figures.
var platformHours = map[string][2][]int{
	"instagram": {{12, 18, 9, 15}, {11, 19, 14, 9}}, "facebook": {{9, 12, 18, 15}, {10, 13, 19, 16}},
	"threads": {{8, 12, 19, 16}, {10, 19, 14, 12}}, "tiktok": {{18, 21, 16, 12}, {11, 19, 21, 15}},
	"youtube": {{17, 12, 20, 15}, {11, 16, 19, 13}}, "linkedin": {{10, 8, 12, 16}, {11, 17}},
	"x": {{9, 12, 17, 20}, {10, 13, 19}}, "pinterest": {{20, 14, 21, 12}, {20, 11, 15}},
	"telegram": {{9, 19, 13, 21}, {11, 20, 16}}, "vk": {{19, 12, 21, 9}, {12, 20, 16}},
	"rutube": {{19, 20, 13, 21}, {12, 19, 16}}, "": {nil, {11, 19, 16, 14}},
}

// hoursOn returns the hours of accounts on platforms: those of each platform in turn. Without an account, the hours of
// weekends are those of most platforms.
func hoursOn(platforms []string) (all Hours) {
	for day := range all {
		kind := 0
		if day == int(time.Sunday) || day == int(time.Saturday) {
			kind = 1
		}
		for n := range 4 {
			for _, name := range slices.Concat(platforms, []string{""}) {
				of := platformHours[name][kind]
				if n < len(of) && !slices.Contains(all[day], of[n]) {
					all[day] = append(all[day], of[n])
				}
			}
		}
	}
	return all
}

// measured puts the hours of a day of the week that did better than others by an account's own figures before the rest.
func (h *Hours) measured(day time.Weekday, better []int) {
	rest := slices.DeleteFunc(slices.Clone(h[day]), func(hour int) bool { return slices.Contains(better, hour) })
	h[day] = slices.Concat(better, rest)
}

// gaps are the shortest distances between two times of a day, in the order in which they are tried.
var gaps = []time.Duration{90 * time.Minute, 45 * time.Minute, 20 * time.Minute, time.Minute}

// firstMinute and minutes bound the minute of a time within its hour: few people publish at a full hour by hand.
const firstMinute, minutes = 2, 55

// timesOf returns the n times of a day, as durations from midnight. Of a schedule with more times it takes n that are
// spread evenly over them, just as they are. To one with fewer it adds some in the given hours, and then in the usual
// ones, each at a minute by chance.
func timesOf(schedule []string, n int, hours []int, chance *rand.Rand) (times []time.Duration, err error) {
	for _, text := range slices.Sorted(slices.Values(schedule)) {
		at, err := clock.Parse(text)
		if err != nil {
			return nil, err
		}
		times = append(times, at)
	}
	if len(times) >= n {
		chosen := make([]time.Duration, n)
		for i := range chosen {
			chosen[i] = times[i*len(times)/n]
		}
		return chosen, nil
	}
	for _, gap := range gaps {
		for _, hour := range slices.Concat(hours, usualHours) {
			at := time.Duration(hour)*time.Hour + time.Duration(firstMinute+chance.IntN(minutes))*time.Minute
			close := func(other time.Duration) bool { return (other - at).Abs() < gap }
			if len(times) < n && !slices.ContainsFunc(times, close) {
				times = append(times, at)
			}
		}
	}
	slices.Sort(times)
	return times, nil
}
