package text

import (
	_ "embed"
	"slices"
	"strings"
	"testing"
)

// thaiTable has sentences with their words by ICU. infra/tools/words/thai.mjs writes it.
//
//go:embed testdata/thai.tsv
var thaiTable string

// apart are words of ICU that are two in other dictionaries.
var apart = strings.NewReplacer("ไม่มี", "ไม่|มี", "ประเทศไทย", "ประเทศ|ไทย")

// No line ends within what ICU takes for a word, and most of its words are apart.
func TestWordsOfThaiStayWhole(t *testing.T) {
	ours, theirs := 0, 0
	for row := range strings.Lines(thaiTable) {
		sentence, words, _ := strings.Cut(strings.TrimSpace(row), "\t")
		var ends []int
		at := 0
		for w := range strings.SplitSeq(apart.Replace(words), "|") {
			at += len([]rune(w))
			ends = append(ends, at)
		}
		for _, at := range thaiBreaks([]rune(sentence)) {
			ours++
			if !slices.Contains(ends, at) {
				t.Errorf("%s: a line may end at %d, in %s", sentence, at, words)
			}
		}
		theirs += len(ends) - 1
	}
	if ours < theirs/2 {
		t.Errorf("%d places, and ICU has %d", ours, theirs)
	}
}

func TestThaiIsDividedIntoWords(t *testing.T) {
	for _, words := range []string{
		"รองเท้า|ของ|เรา", "ใน|ทะเล", "เด็กๆ|ชอบ", "คุณ|ฌิฌุฌูฌี|ไป|ตลาด", "ฯลฯ", "ก", "", "ๆ", "ะะ", "เเเ", "กก",
	} {
		sentence := []rune(strings.ReplaceAll(words, "|", ""))
		breaks := thaiBreaks(sentence)
		slices.Sort(breaks)
		var got []string
		from := 0
		for _, at := range append(breaks, len(sentence)) {
			got, from = append(got, string(sentence[from:at])), at
		}
		if joined := strings.Join(got, "|"); joined != words {
			t.Errorf("%s, want %s", joined, words)
		}
	}
	// A space before the sign of repetition ends no line.
	if units := spoken("เด็ก ๆ ชอบ", "th"); len(units) != 2 || units[0].text() != "เด็ก ๆ" {
		t.Errorf("%+v", units)
	}
}

// No line of a heading ends with a word that belongs to the next one.
func TestHeadingsOfThaiEndWithPhrases(t *testing.T) {
	for _, width := range []float64{10, 11, 12, 14} {
		units := spoken("ห้าสิ่งเกี่ยวกับอวนจับปลาที่ไม่มีใครบอกคุณ", "th")
		ends, ok := wrap(units, width)
		ends = balance(units, width, ends)
		for _, end := range ends[:len(ends)-1] {
			if last := units[end-1].text(); functionWords["th"][last] || !ok {
				t.Errorf("in %.0f ems, a line ends with %s", width, last)
			}
		}
	}
}

func TestLongThaiIsDividedInTime(t *testing.T) {
	long := strings.Repeat("ไม่มีใครบอกคุณกขคงจฉชซ", 4000)
	if breaks := thaiBreaks([]rune(long)); len(breaks) < 4000 {
		t.Errorf("%d places", len(breaks))
	}
}
