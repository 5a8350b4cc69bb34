package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/base/clock"
	"github.com/content-automation/api/pkg/craft/calendar"
	"github.com/content-automation/api/pkg/craft/guard"
)

// dated is a day that the brief of a plan names: an opening, a release, the last day of a sale.
type dated struct {
	day time.Time // midnight in UTC
	// at is the time of the day at which it begins, or negative if the brief names none.
	at time.Duration
	// begins and ends report that it is the first or the last one of some days, and follows that the day before has the
	// same event, which is announced there.
	begins, ends, follows bool
	text                  string
}

// The days before and after a plan whose events still matter to it, the most events that it knows, and the size of
// their texts in bytes.
const (
	daysBeyond = 8
	mostEvents = 20
	maxEvent   = 160
)

// events returns the days near the plan that its brief and its campaigns name, in their order.
func (p *Plan) events(language string) (all []dated) {
	first, err := time.Parse(time.DateOnly, p.StartsOn)
	if err != nil {
		return nil
	}
	from, to := first.AddDate(0, 0, -3), first.AddDate(0, 0, p.Days-1+daysBeyond)
	texts := []string{string(p.Brief)}
	for _, c := range p.Campaigns {
		texts = append(texts, c.About)
	}
	for _, text := range texts {
		for _, d := range guard.DaysIn(text, language) {
			year := d.Year
			if year == 0 {
				if year = first.Year(); time.Date(year, time.Month(d.Month), d.Day, 0, 0, 0, 0, time.UTC).Before(from) {
					year++
				}
			}
			day := time.Date(year, time.Month(d.Month), d.Day, 0, 0, 0, 0, time.UTC)
			known := slices.ContainsFunc(all, func(e dated) bool { return e.day.Equal(day) })
			if day.Day() != d.Day || day.Before(from) || day.After(to) || known || len(all) >= mostEvents {
				continue
			}
			e := dated{day: day, at: -1, begins: d.Begins, ends: d.Ends, text: eventText(d.Sentence)}
			if at, err := clock.Parse(d.At); d.At != "" && err == nil {
				e.at = at
			}
			all = append(all, e)
		}
	}
	slices.SortStableFunc(all, func(a, b dated) int { return a.day.Compare(b.day) })
	for i := 1; i < len(all); i++ {
		if last := &all[i-1]; last.text == all[i].text && all[i].day.Equal(last.day.AddDate(0, 0, 1)) && !all[i].ends {
			last.begins, all[i].follows = true, true
		}
	}
	return all
}

// eventText returns the sentence of an event, as far as there is room.
func eventText(sentence string) string { return clip(clean(sentence), maxEvent) }

// on returns the events of a day.
func on(events []dated, day time.Time) (all []dated) {
	for _, e := range events {
		if e.day.Equal(day) {
			all = append(all, e)
		}
	}
	return all
}

// The hours before which the first item of the day of an event is published, and the one at which it is moved there.
const (
	lateMorning  = 10 * time.Hour
	earlyMorning = 5 * time.Hour
	usualMorning = 8
)

// morning moves the first of the times of a day before the event of that day: an invitation that follows is none. Hour
// is when readers are there in the morning, and minute the minute of the time.
func morning(times []time.Duration, e dated, hour, minute int) []time.Duration {
	limit := lateMorning
	if e.at >= 0 {
		limit = e.at - time.Hour
	}
	if len(times) == 0 || e.ends || times[0] <= limit || limit < earlyMorning {
		return times
	}
	at := min(time.Duration(hour)*time.Hour+time.Duration(minute)*time.Minute, limit)
	return append([]time.Duration{at}, times[1:]...)
}

// morningHour is the hour of the morning at which readers are there.
func morningHour(hours []int) int {
	for _, hour := range hours {
		if hour >= 6 && hour <= 9 {
			return hour
		}
	}
	return usualMorning
}

// weekAhead are the distances in days at which an event is announced a week before, the best first.
var weekAhead = []int{7, 6, 8, 5}

// anchor gives slots near the events of a brief their part of them: a week before, the day before, all of the day
// itself, and the day after. No slot has two.
func (p *Plan) anchor(slots []Slot, all []place, zone *time.Location, language string) {
	events := p.events(language)
	if len(events) == 0 {
		return
	}
	days := make([]time.Time, len(slots))
	for i, slot := range slots {
		at := slot.At.In(zone)
		days[i] = time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
	}
	told := 0
	for i, day := range days {
		today := on(events, day)
		if len(today) == 0 {
			continue
		}
		if i == 0 || !days[i-1].Equal(day) {
			told = 0
		}
		e := today[told%len(today)]
		told++
		all[i].Event = e.text + standing(e, slots[i].At.In(zone))
	}
	// near gives the first free slot of a day at one of some distances from the event its part.
	near := func(e dated, distances []int, say func(days int) string) {
		for _, n := range distances {
			for i, day := range days {
				if all[i].Event == "" && day.Equal(e.day.AddDate(0, 0, -n)) {
					all[i].Event = e.text + " (" + say(n) + ")"
					return
				}
			}
		}
	}
	for _, e := range events {
		if e.follows {
			continue
		}
		near(e, []int{1, 2, 3}, func(days int) string {
			switch {
			case e.ends && days == 1:
				return "ends tomorrow"
			case e.ends:
				return fmt.Sprintf("ends in %d days", days)
			case days == 1:
				return "tomorrow"
			}
			return fmt.Sprintf("in %d days", days)
		})
	}
	for _, e := range events {
		if e.begins || e.ends {
			continue
		}
		near(e, []int{-1, -2, -3}, func(days int) string {
			if days == -1 {
				return "yesterday"
			}
			return fmt.Sprintf("%d days ago", -days)
		})
	}
	for _, e := range events {
		if !e.ends && !e.follows {
			near(e, weekAhead, func(days int) string { return fmt.Sprintf("in %d days", days) })
		}
	}
	for i := range all {
		if all[i].Event != "" {
			all[i].Pillar = p.pillarFor(all[i].Event)
		}
	}
}

// standing says how an event stands to a time of its day.
func standing(e dated, at time.Time) string {
	since := time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute
	switch {
	case e.ends:
		return " (last day)"
	case e.at >= 0 && since >= e.at:
		return " (today, it has begun)"
	}
	return " (today)"
}

// datesTold returns the events of a plan as models read them.
func (p *Plan) datesTold(language string) (all []string) {
	for _, e := range p.events(language) {
		all = append(all, e.day.Format(time.DateOnly)+": "+e.text)
	}
	return all
}

// leastStem is the number of letters by which a word of a text is one of a pillar.
const leastStem = 4

// pillarFor returns the pillar that shares most words with a text, or none.
func (p *Plan) pillarFor(text string) string {
	best, most := "", 0.0
	known := stemsOf(text)
	for _, pillar := range p.Pillars {
		shared, all := 0.0, stemsOf(pillar.Name)
		for stem := range all {
			if known[stem] {
				shared += 1 + 1/float64(len(all)) // of two with as many, the one of which nothing else is left
			}
		}
		if shared > most {
			best, most = pillar.Name, shared
		}
	}
	return best
}

// stemsOf returns the beginnings of the longer words of a text, and the pairs of characters of scripts without spaces.
func stemsOf(text string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool {
		return !unicode.In(r, unicode.Letter, unicode.Mark, unicode.Number)
	}) {
		runes := []rune(word)
		if first, _ := utf8.DecodeRuneInString(word); unicode.In(first, dense...) || unicode.Is(unicode.Hangul, first) {
			for i := 0; i+2 <= len(runes); i++ {
				all[string(runes[i:i+2])] = true
			}
		} else if len(runes) >= leastStem {
			all[string(runes[:min(len(runes), leastStem+1)])] = true
		}
	}
	return all
}

// silence is when the plan publishes nothing.
func (p *Plan) silence(country string) calendar.Silence {
	return calendar.Silence{Weekdays: p.Weekdays, Days: p.SilentDays, Country: country}
}
