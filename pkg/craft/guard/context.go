package guard

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// weekdays returns the days of the week that a sentence names, with the places of their names. Inputs may write them
// short, where a word of the same form may stand for something else.
func (l *lexicon) weekdays(sentence string, short bool) (days []dayAt) {
	for day := range 7 {
		for _, kind := range []string{"day", "briefday"} {
			if kind == "briefday" && !short {
				continue
			}
			for _, p := range l.patterns[fmt.Sprint(kind, day)] {
				for _, one := range p[0] {
					if from, to, ok := l.find(sentence, one); ok {
						days = append(days, dayAt{day, from, to})
					}
				}
			}
		}
	}
	slices.SortFunc(days, func(a, b dayAt) int { return a.from - b.from })
	return days
}

// dayAt is a day of the week, from Sunday, and its place in a sentence.
type dayAt struct{ day, from, to int }

// listed are the words and signs between days that are not the two ends of a range.
var listed = []string{",", "、", "・", "and", "und", " y ", " et ", " e ", " и ", " і ", " та ", " i ", " ve ", " و",
	" ו", "और", "和", "와 ", "과 "}

// longestRange is the longest text between the two days of a range, in bytes.
const longestRange = 24

// week adds the days of an input. Monday to Friday are five days.
func (k *known) week(l *lexicon, text string) {
	for _, s := range sentences(text) {
		days := l.weekdays(l.fold(s), true)
		for i, d := range days {
			k.days[d.day] = true
			if i+1 == len(days) || days[i+1].from < d.to {
				continue
			}
			between := l.fold(s)[d.to:days[i+1].from]
			if len(between) > longestRange || slices.ContainsFunc(listed, func(w string) bool {
				return strings.Contains(between, w)
			}) {
				continue
			}
			for day := d.day; day != days[i+1].day; day = (day + 1) % 7 {
				k.days[day] = true
			}
		}
	}
}

// weekday returns the day of the week on which a sentence asks people to come, if no input names it: neither itself nor
// by a date.
func (k *known) weekday(l *lexicon, sentence string) (part string, ok bool) {
	if !l.has(sentence, "open") || l.has(sentence, "closed") {
		return "", false
	}
	for _, d := range l.weekdays(sentence, false) {
		if !k.days[d.day] && !slices.ContainsFunc(k.dates, func(o date) bool { return k.falls(o, d.day) }) {
			return sentence[d.from:d.to], true
		}
	}
	return "", false
}

// falls reports whether a date may fall on a day of the week.
func (k *known) falls(d date, day int) bool {
	years := []int{d.year}
	if d.year == 0 {
		years = []int{k.now.Year(), k.now.Year() + 1}
	}
	return d.day > 0 && slices.ContainsFunc(years, func(y int) bool {
		return int(time.Date(y, time.Month(d.month), d.day, 0, 0, 0, 0, time.UTC).Weekday()) == day
	})
}

// endsOn reports whether the inputs have the day of a time, or one date twice: the end of an offer is the day of
// publication then.
func (k *known) endsOn(now time.Time) bool {
	return k.twice || slices.ContainsFunc(k.dates, func(d date) bool {
		return d.day == now.Day() && d.month == int(now.Month())
	})
}

// nearPrice is the longest text between a price and the word before it, in bytes.
const nearPrice = 14

// swapped returns two prices of which the earlier one is said to be the present one: it was 103, and is now 129.
func (s *scan) swapped() (part string, ok bool) {
	var was, now *claim
	for i, c := range s.found {
		if c.kind != aPrice || len(c.keys) == 0 {
			continue
		}
		before := s.shown[:c.from]
		if at := strings.LastIndexAny(before, ".!?\n"); at >= 0 {
			before = before[at+1:]
		}
		before = s.words.fold(strings.ToValidUTF8(before[max(0, len(before)-2*nearPrice):], ""))
		switch {
		case s.words.near(before, "old"):
			was = &s.found[i]
		case s.words.near(before, "new"):
			now = &s.found[i]
		}
	}
	if was == nil || now == nil {
		return "", false
	}
	a, currencyA := priceOf(was.keys[0])
	b, currencyB := priceOf(now.keys[0])
	if currencyA != currencyB || a >= b || len(was.keys) > 1 && len(now.keys) != len(was.keys) {
		return "", false
	}
	return was.text + " and " + now.text, true
}

// near reports whether a text ends with a phrase of a kind, and little after it.
func (l *lexicon) near(text, kind string) bool {
	for _, p := range l.patterns[kind] {
		for _, one := range p[0] {
			if i := strings.LastIndex(text, one.text); i >= 0 && len(text)-i-len(one.text) <= nearPrice/2 &&
				l.begins(text, i) && l.ends(text, i+len(one.text)) {
				return true
			}
		}
	}
	return false
}

func priceOf(key string) (amount int64, currency string) {
	_, _ = fmt.Sscanf(key, "%s %d", &currency, &amount)
	return amount, currency
}

// hashtag returns a reduction that a hashtag states and no input has, such as #sale70.
func (k *known) hashtag(l *lexicon, tag string) (part string, ok bool) {
	text := l.eastern(l.fold(normal(strings.TrimPrefix(tag, "#"))), true)
	plain := strings.ReplaceAll(text, "_", "")
	for _, p := range l.patterns["half"] {
		for _, one := range p[0] {
			if strings.Contains(plain, strings.ReplaceAll(one.text, " ", "")) {
				return tag, !k.keys[aPercentage]["% 50"]
			}
		}
	}
	for _, at := range figureText().FindAllStringIndex(plain, -1) {
		v := valuesOf(plain[at[0]:at[1]])
		if len(v) == 0 || v[0] >= 100 || v[0] < 1 || k.keys[aPercentage][fmt.Sprintf("%% %.6g", v[0])] {
			continue
		}
		before, after := plain[:at[0]], plain[at[1]:]
		if strings.HasPrefix(after, "%") || slices.ContainsFunc(l.dealWords(), func(w string) bool {
			return strings.HasPrefix(after, w) || w != "off" && len(w) > 3 && strings.HasSuffix(before, w) ||
				after == "" && l.spaceless() && strings.HasSuffix(before, w)
		}) {
			return tag, true
		}
	}
	return "", false
}

// dealWords are the words for a lower price, and for a part of a hundred.
func (l *lexicon) dealWords() (all []string) {
	for _, from := range []*lexicon{l, lexiconOf("en")} {
		for _, p := range from.patterns["deal"] {
			for _, one := range p[0] {
				all = append(all, strings.ReplaceAll(one.text, " ", ""))
			}
		}
	}
	return all
}
