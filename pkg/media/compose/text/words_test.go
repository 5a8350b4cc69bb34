package text

import (
	"embed"
	"slices"
	"strings"
	"testing"
)

// words has sentences with their words by ICU, by language. infra/tools/words/icu.mjs writes them.
//
//go:embed testdata/words.*.tsv
var words embed.FS

// apart are words of ICU that are two in other dictionaries.
var apart = strings.NewReplacer("ไม่มี", "ไม่|มี", "ประเทศไทย", "ประเทศ|ไทย", "你的", "你|的", "五件事", "五件|事", "海中", "海|中",
	"一直在", "一直|在", "拍出", "拍|出", "最常", "最|常", "不需要", "不|需要", "照常营业", "照常|营业", "受歡迎", "受|歡迎", "五百元", "五百|元")

// No line ends within what ICU takes for a word, and most of its words are apart.
func TestLinesEndBetweenWords(t *testing.T) {
	for _, lang := range []string{"th", "zh"} {
		table, err := words.ReadFile("testdata/words." + lang + ".tsv")
		if err != nil {
			t.Fatal(err)
		}
		ours, theirs := 0, 0
		for row := range strings.Lines(string(table)) {
			sentence, words, _ := strings.Cut(strings.TrimSpace(row), "\t")
			var ends []int
			at := 0
			for w := range strings.SplitSeq(apart.Replace(words), "|") {
				at += len(w)
				ends = append(ends, at)
			}
			theirs += len(ends)
			for _, u := range spoken(sentence, lang) {
				if ours++; !slices.Contains(ends, u.end) {
					t.Errorf("%s: a line may end after %s, in %s", sentence, u.text(), words)
				}
			}
		}
		if ours < theirs/2 {
			t.Errorf("%s: %d parts, and ICU has %d", lang, ours, theirs)
		}
	}
}

func TestThaiIsDividedIntoWords(t *testing.T) {
	for _, words := range []string{
		"รองเท้า|ของ|เรา", "ใน|ทะเล", "เด็กๆ|ชอบ", "คุณ|ฌิฌุฌูฌี|ไป|ตลาด", "ฯลฯ", "ก", "", "ๆ", "ะะ", "เเเ", "กก", "ติ๊กต็อก",
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
	// Letters in no word, and words of Chinese: in time that grows with the square, these would take a minute.
	if breaks := thaiBreaks([]rune(strings.Repeat("ฌ", 100_000))); len(breaks) > 0 {
		t.Errorf("%d places in no word", len(breaks))
	}
	if within := withinChinese([]rune(strings.Repeat("中国", 100_000))); len(within) < 50_000 {
		t.Errorf("%d places in words", len(within))
	}
}
