package craft_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/cost"
	"github.com/content-automation/api/pkg/craft/guard"
)

// hostileTexts are texts of one piece that is repeated, by language.
var hostileTexts = map[string][]string{
	"en": {"½", "a ", "A ", "a'", "one ", "one and ", "5% ", "5 years ", "0.5 ", "11,", "1,", "12.12. ",
		"2026-12-03 ", "May 3, 2026 ", "half past one ", "#a ", "#1a", "a@b.cd ", "@ab ", "a.com ", "com.", "+49 ",
		"5 kg 6 miles ", "5 € ", "was 5 € now 9 € ", "😀", "[name] ", "((", "{{a}}", "“It cures” says Anna Bell. ",
		"Anna Bell ", "a", "5", "-", "…", "日aа", "double ", "cures pain. ", "won the best award. ", "only 5 left. ",
		"open Monday, 3 May. ", "since the 1990s ", "I K E A ", "рхр"},
	"tr": {"inini", "yüzde inini ", "yüzdeinini"},
	"de": {"hundert", "einund"},
	"it": {"cento"},
	"vi": {"không ", "mươi "},
	"ru": {"Икеа", "не скидка ", "ф.рф"},
	"zh": {"晚上五点", "5点", "百分之五", "一万", "本"},
	"ja": {"5時", "クリスさん"},
	"ko": {"한시에 ", "오천원 "},
	"th": {"สิบ"},
}

// Times are measured on texts of a few thousand characters and of four times as many. The square of the length takes 16
// times as long. A few milliseconds are not compared.
const (
	fewLetters  = 1000
	mostGrowth  = 9
	noTime      = 4 * time.Millisecond
	mostMeasure = 6
)

// The time of a check, of an answer that is one of its inputs and its name, of the reading of days, and of a signature
// grows with the length of a text, and not with its square, whatever the text repeats.
func TestTheTimeGrowsWithTheLength(t *testing.T) {
	for _, language := range slices.Sorted(maps.Keys(hostileTexts)) {
		for _, piece := range hostileTexts[language] {
			for name, read := range map[string]func(text string){
				"answer":    func(text string) { check(language, text, "Acme Bakery", "Anna Bell bakes bread.") },
				"inputs":    func(text string) { check(language, text, text+"b", text+"z") },
				"days":      func(text string) { guard.DaysIn(text, language) },
				"signature": func(text string) { guard.Sign(caption(text)) },
			} {
				if less, more := growth(piece, read); grown(less, more) {
					t.Errorf("%s in %s: %q of %d characters takes %v, and of %d it takes %v", name, language, piece,
						fewLetters, less, 4*fewLetters, more)
				}
			}
		}
	}
}

// check checks an answer that draws on a name and an input.
func check(language, answer, name, input string) {
	guard.Check(caption(answer), guard.Rules{Language: language, Now: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC),
		Facts: []string{input}, Names: []string{name}, Competitors: []string{"Ikea"},
		Forbidden: []string{"cheap", "скидка", "ucuz"}})
}

// grown reports whether the text of four times the length takes too long.
func grown(less, more time.Duration) bool { return more > noTime && more > mostGrowth*less }

// growth returns the CPU times of reading a text and one of four times its length, one after the other. It measures
// until the second one is not too long: a moment in which the machine is slow is no growth.
func growth(piece string, read func(text string)) (less, more time.Duration) {
	text := func(n int) string { return strings.Repeat(piece, n/len([]rune(piece))+1) }
	few, many := text(fewLetters), text(4*fewLetters)
	read(text(100)) // what is compiled at its first use is compiled then
	for n := 0; n == 0 || n < mostMeasure && grown(less, more); n++ {
		less, more = cost.Quick(func() { read(few) }).CPU, cost.Quick(func() { read(many) }).CPU
	}
	return less, more
}

// A fraction is read with the digits before it, also where many follow one another.
func TestFractions(t *testing.T) {
	for text, want := range map[string]string{"1½ kg": "1.5 kg", "½ kg": "0.5 kg", "½ kg or 2¼ kg": "500 g, 2250 g",
		"２ kg": "2 kg", "½½ ¾ kg": "0.75 kg"} {
		r := guard.Rules{Language: "en", Facts: []string{want}}
		if found := guard.Check(caption(text), r); len(found) > 0 {
			t.Errorf("%s: %v", text, found)
		}
		r.Facts = []string{"9 kg"}
		if len(guard.Check(caption(text), r)) == 0 {
			t.Errorf("%s passes with 9 kg", text)
		}
	}
}
