package text

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/script"
)

func fonts(t *testing.T) *Fonts {
	t.Helper()
	f, err := Open(filepath.Join("..", "..", "..", "..", ".tools", "media", "fonts"))
	if err != nil {
		t.Fatalf("%v (make media-tools installs them)", err)
	}
	return f
}

var heading = Box{Width: 900, Height: 560, MaxEm: 96, MinEm: 30, MaxLines: 9}

func TestEveryScriptHasItsFont(t *testing.T) {
	f := fonts(t)
	for _, c := range []struct{ lang, text, font string }{
		{"en", "Hello", "Noto Sans"},
		{"ru", "Привет", "Noto Sans"},
		{"el", "Ελλάδα", "Noto Sans"},
		{"ar", "مرحبا", "Noto Sans Arabic"},
		{"he", "שלום", "Noto Sans Hebrew"},
		{"hi", "हिन्दी", "Noto Sans Devanagari"},
		{"th", "น้ำ", "Noto Sans Thai"},
		{"zh-CN", "骨直", "Noto Sans SC"},
		{"zh-TW", "體驗", "Noto Sans TC"},
		{"zh-Hant", "體驗", "Noto Sans TC"},
		{"zh-HK", "骨直", "Noto Sans HK"},
		{"yue", "骨直", "Noto Sans HK"},
		{"zh-HK", "升𨋢", "Noto Sans HK"},
		{"ja", "𠮷野家", "Noto Sans JP"},
		{"ja", "炭火焼きの𩸽定食", "Noto Sans JP"},
		{"en", "SALE", "Noto Sans"},
		{"en", "𝗦𝗔𝗟𝗘", "Noto Sans"},
		{"en", "✗", "Noto Sans Symbols 2"},
		{"ja", "骨直", "Noto Sans JP"},
		{"", "骨はかな", "Noto Sans JP"},
		{"ko", "骨直", "Noto Sans KR"},
		{"", "안녕", "Noto Sans KR"},
		{"en", "😀", "Noto Emoji"},
		{"en", "❤️", "Noto Emoji"},
		{"en", "👨‍👩‍👧", "Noto Emoji"},
	} {
		b, err := f.Fit(c.text, c.lang, heading)
		if err != nil {
			t.Fatalf("%s: %v", c.text, err)
		}
		if got := b.lines[0].runs; len(got) != 1 || got[0].face.name != c.font {
			t.Errorf("%s of %q is set in %d runs, the first in %s, not %s", c.text, c.lang, len(got),
				got[0].face.name, c.font)
		}
	}
	if _, err := f.Fit("বাংলা ভাষা", "bn", heading); !errors.Is(err, ErrScript) {
		t.Errorf("Bengali, of which there is no font: %v", err)
	}
	for _, s := range []string{"A letter of another script: ক", "৳1,299", "ends \U000e0041"} {
		if _, err := f.Fit(s, "en", heading); !errors.Is(err, ErrScript) {
			t.Errorf("%q has a character without a font: %v", s, err)
		}
	}
}

func TestATextShrinksUntilItFits(t *testing.T) {
	f := fonts(t)
	last := heading.MaxEm + 1
	for _, words := range []int{1, 12, 30, 36} {
		b, err := f.Fit(strings.TrimSpace(strings.Repeat("heading ", words)), "en", heading)
		if err != nil {
			t.Fatal(err)
		}
		if b.Em > last || b.Width > heading.Width || b.Height > heading.Height || len(b.lines) > heading.MaxLines {
			t.Errorf("%d words: em %.1f after %.1f, %.0f x %.0f, %d lines", words, b.Em, last, b.Width, b.Height,
				len(b.lines))
		}
		last = b.Em
	}
	if last == heading.MaxEm {
		t.Error("36 words are as large as one")
	}
	if _, err := f.Fit(strings.Repeat("heading ", 2000), "en", heading); !errors.Is(err, ErrTooLong) {
		t.Errorf("2000 words: %v", err)
	}
	if _, err := f.Fit(" \n", "en", heading); !errors.Is(err, ErrEmpty) {
		t.Errorf("spaces: %v", err)
	}
}

func TestHeadingsOfTheGreatestLengthFit(t *testing.T) {
	f := fonts(t)
	for name, text := range map[string]string{
		"emoji":          strings.Repeat("😀", 200),
		"a family":       strings.Repeat("👨‍👩‍👧", 40),
		"one word":       strings.Repeat("W", 200),
		"Chinese":        strings.Repeat("字", 200),
		"Arabic":         strings.Repeat("مرحبا ", 33),
		"one Arabic one": strings.Repeat("ب", 200),
		"Thai":           strings.Repeat("สวัสดีชาวโลก", 16),
		"Devanagari":     strings.Repeat("क्षत्रिय ", 22),
	} {
		b, err := f.Fit(text, "", heading)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := strings.ReplaceAll(strings.Join(b.Lines(), ""), " ", ""); got != strings.ReplaceAll(text, " ", "") {
			t.Errorf("%s: laid out is %q", name, got)
		}
		if b.Width > heading.Width*1.001 || b.Height > heading.Height {
			t.Errorf("%s: %.0f x %.0f pixels", name, b.Width, b.Height)
		}
	}
}

func TestLinesBreakWhereTheyMay(t *testing.T) {
	f := fonts(t)
	for _, c := range []struct {
		text  string
		width float64
		want  []string
	}{
		{"one two three four", 600, []string{"one two", "three four"}},
		{"こんにちは、世界。", 600, []string{"こんにちは、", "世界。"}},
		{"あいうえおか、きくけこ", 600, []string{"あいうえお", "か、きくけこ"}}, // no line begins with the comma
		{"今日新品：渔网制成的鞋", 900, []string{"今日新品：", "渔网制成的鞋"}},
		{"it has 640 000 parts", 600, []string{"it has", "640 000", "parts"}},
		{"Пять фактов о рыболовных сетях, о которых никто не говорит", 1000, []string{"Пять фактов", "о рыболовных",
			"сетях, о которых", "никто не говорит"}}, // no line ends with a preposition
		{"สวัสดีเพื่อนเก่า", 500, []string{"สวัสดี", "เพื่อนเก่า"}},
	} {
		b, err := f.Fit(c.text, "", Box{Width: c.width, Height: 1000, MaxEm: 100, MinEm: 100, MaxLines: 9})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(b.Lines(), "|"); got != strings.Join(c.want, "|") {
			t.Errorf("%s is broken as %s", c.text, got)
		}
	}
}

// A line ends with a preposition rather than leave one short word for the last line.
func TestTheLastLineIsNotShort(t *testing.T) {
	b, err := fonts(t).Fit("Five things that nobody tells you about fishing nets", "en",
		Box{Width: 900, Height: 1000, MaxEm: 100, MinEm: 100, MaxLines: 9})
	if got := strings.Join(b.Lines(), "|"); got != "Five things|that nobody|tells you about|fishing nets" || err != nil {
		t.Errorf("the lines are %s, %v", got, err)
	}
}

// A no-break space is drawn as a space, at which no line ends: between a number and its currency, and after a
// preposition.
func TestSpacesAreDrawn(t *testing.T) {
	f := fonts(t)
	for _, space := range []string{"\u00a0", "\u202f", "\u2007", "\u2009", "\u3000", " "} {
		for lang, c := range map[string][2]string{"ru": {"Кофе в", "ноябре"}, "de": {"31,20", "€"}, "ar": {"قهوة", "مرحبا"},
			"ja": {"価格", "100円"}, "hi": {"मूल्य", "रुपये"}, "ko": {"가격", "원"}, "th": {"ราคา", "บาท"}} {
			b, err := f.Fit(c[0]+space+c[1], lang, heading)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(b.Lines(), "|"); got != c[0]+" "+c[1] {
				t.Errorf("%s with %U is drawn as %q", lang, []rune(space)[0], got)
			}
			for _, w := range b.Words() {
				if w.Begin > len(c[0]+space+c[1]) {
					t.Errorf("%s with %U: a word begins at %d", lang, []rune(space)[0], w.Begin)
				}
			}
		}
	}
	// A number and its sign stay on a line, in both orders.
	for text, whole := range map[string]string{"nur 129\u00a0€ heute": "129 €", "nur 129 € heute": "129 €",
		"nur € 129 heute": "€ 129", "nur 20 % heute": "20 %", "3 ב-100 ₪ בלבד": "100 ₪"} {
		for width := 60.0; width < 400; width += 10 {
			b, err := f.Fit(text, "de", Box{Width: width, Height: 560, MaxEm: 60, MinEm: 12, MaxLines: 9})
			if err != nil {
				t.Fatal(err)
			}
			if lines := strings.Join(b.Lines(), "|"); !strings.Contains(lines, whole) {
				t.Errorf("%q is broken beside the sign: %q", text, lines)
			}
		}
	}
}

// A soft hyphen is seen where a line ends at it, and nowhere else (UAX 14).
func TestSoftHyphens(t *testing.T) {
	f := fonts(t)
	const long = "Kranken\u00adversicherungs\u00adkarten\u00adlesegeräte gelten"
	for width := 300.0; width < 1800; width += 50 {
		box := Box{Width: width, Height: 700, MaxEm: 60, MinEm: 20, MaxLines: 9}
		b, err := f.Fit(long, "de", box)
		if err != nil {
			t.Fatal(err)
		}
		lines := b.Lines()
		for i, l := range lines {
			ends := i < len(lines)-1 && !strings.HasSuffix(l, "lesegeräte")
			if strings.HasSuffix(l, "-") != ends || strings.Count(l, "-") > 1 || strings.Contains(l, "\u00ad") {
				t.Errorf("%.0f: the lines are %q", width, lines)
			}
		}
		if b.Width > width+0.01 {
			t.Errorf("%q is %.0f wide of %.0f", lines, b.Width, width)
		}
		if said := strings.ReplaceAll(strings.Join(lines, ""), "-", ""); strings.ReplaceAll(said, " ", "") !=
			"Krankenversicherungskartenlesegerätegelten" {
			t.Errorf("the lines say %q", said)
		}
	}
	pages, err := f.Pages("Die "+long, "de", Box{Width: 420, MaxEm: 60, MaxLines: 2, MaxWords: 4})
	if err != nil || !strings.Contains(strings.Join(pages[0].Lines(), "|")+"|", "-|") {
		t.Errorf("the captions are %v, %v", pages, err)
	}
	if b, err := f.Fit("Ende\u00ad", "de", heading); err != nil || b.Lines()[0] != "Ende" {
		t.Errorf("a soft hyphen at the end: %v, %v", b.Lines(), err)
	}
}

// The font of pictures has a space as wide as they are, which would leave a hole after each.
func TestASpaceAfterAnEmojiIsThatOfAText(t *testing.T) {
	f := fonts(t)
	one, err := f.Fit("a b", "en", heading)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"😀 b", "a\u00a0b"} {
		b, err := f.Fit(text, "en", heading)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range b.lines[0].runs {
			if strings.Contains(r.text, " ") && r.face.name != "Noto Sans" {
				t.Errorf("%q: run %d, %q, is set in %s", text, i, r.text, r.face.name)
			}
		}
		if b.lines[0].words[0].Begin != one.lines[0].words[0].Begin {
			t.Errorf("%q: %+v", text, b.lines[0].words)
		}
	}
}

func TestPagesFollowSentences(t *testing.T) {
	f := fonts(t)
	box := Box{Width: 860, MaxEm: 60, MaxLines: 2}
	script := "Our shoe is made of nets. They were lost at sea, pulled out by divers, washed, shredded and spun into " +
		"a yarn that lasts for a thousand miles. Try it!"
	pages, err := f.Pages(script, "en", box)
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for i, p := range pages {
		if len(p.lines) > 2 || p.Width > box.Width {
			t.Errorf("page %d has %d lines, %.0f wide", i, len(p.lines), p.Width)
		}
		if p.Begin < at || script[p.Begin:p.End] != strings.Join(p.Lines(), " ") {
			t.Errorf("page %d is %q, and said to be %q", i, p.Lines(), script[p.Begin:p.End])
		}
		at = p.End
	}
	if at != len(script) {
		t.Errorf("the pages end at %d of %d", at, len(script))
	}
	if first := script[pages[0].Begin:pages[0].End]; first != "Our shoe is made of nets." {
		t.Errorf("the first page is %q", first)
	}
	// A line that is too narrow for a word is divided between letters.
	pages, err = f.Pages(strings.Repeat("字", 500), "zh", box)
	if err != nil || len(pages) < 500/28 {
		t.Errorf("500 letters make %d pages, %v", len(pages), err)
	}
}

// Pages of captions have few words, and end where the sense does: no number stands apart from its noun, and no page or
// line ends with a word that belongs to the next one.
func TestPagesEndBySense(t *testing.T) {
	f := fonts(t)
	box := Box{Width: 790, MaxEm: 92, MaxLines: 2, MaxWords: 4}
	for lang, want := range map[string]string{
		"en": "We stood/in front|of a locked door,|and the drum|was full|of 11 batches.",
		"de": "Wir haben|in der letzten/Woche|640 Tonnen/Netze|aus dem Meer/geholt.",
		"fr": "L'eau de la mer|est pleine|de 11 tonnes|de filets.",
		"es": "Hemos sacado|11 redes del mar|y las lavamos|con agua.",
		"it": "Abbiamo/tirato fuori|11 reti dal mare|con i sub.",
		"pt": "Tiramos 11 redes|do mar|com a ajuda|dos pescadores.",
		"pl": "Wyciągnęliśmy/11 sieci|z morza|razem/z nurkami.",
		"ru": "Кофе в ноябре|и у моря:|мы обжарили/11 партий.",
		"uk": "Кава/в листопаді|і біля моря:|ми обсмажили/11 партій.",
		"tr": "Bu ayakkabı/denizde|kaybolan/ağlar ile yapıldı.",
		"nl": "We/hebben vorige|week elf netten|uit de zee/gehaald.",
		"sv": "Förra veckan tog|vi elva nät ur|havet med våra/vänner.",
		"da": "I sidste uge|tog vi elleve|net op af havet|med vores/venner.",
		"nb": "Forrige uke tok|vi elleve garn|opp av havet|med våre venner.",
		"cs": "Minulý/týden jsme|vytáhli z moře|jedenáct/starých sítí.",
		"ro": "Săptămâna/trecută am scos|din mare|unsprezece/plase vechi.",
		"hu": "A múlt héten|tizenegy régi/hálót húztunk|ki a tengerből.",
		"el": "Την περασμένη/εβδομάδα|βγάλαμε από τη|θάλασσα/έντεκα δίχτυα.",
		"bg": "Миналата/седмица|извадихме/от морето|единайсет/стари мрежи.",
		"id": "Minggu/lalu kami|mengangkat/sebelas jaring|dari laut|untuk sepatu/baru.",
		"ja": "新しい豆が先週の|火曜日に/届いたので、|私たちはすぐに/焙煎しました。",
		"zh": "这双鞋是/用我们去年|夏天在海边找到的/旧渔网做成的。", "zh-HK": "上個星期我們/從海裡拉出了|十一張舊漁網。",
		"th": "สัปดาห์ที่แล้วเราดึง|อวนเก่าสิบเอ็ด/ผืนขึ้นมาจากทะเล", "no": "Forrige uke tok|vi elleve garn|opp av havet|med våre venner.",
	} {
		text := strings.NewReplacer("|", " ", "/", " ").Replace(want)
		if lang == "ja" || lang == "th" || strings.HasPrefix(lang, "zh") {
			text = strings.NewReplacer("|", "", "/", "").Replace(want)
		}
		pages, err := f.Pages(text, lang, box)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range pages {
			got = append(got, strings.Join(p.Lines(), "/"))
			if p.Em < 0.6*box.MaxEm || p.Width > box.Width+1 {
				t.Errorf("%s: %q has letters of %.0f px and is %.0f wide", lang, p.Lines(), p.Em, p.Width)
			}
		}
		for page := range strings.SplitSeq(strings.ReplaceAll(strings.Join(got, "|"), "/", "|"), "|") {
			words := strings.Fields(page)
			if last := bareWord(words[len(words)-1]); functionWords[baseOf(lang)][last] || numeric(last) {
				t.Errorf("%s: a line or page ends with %q", lang, last)
			}
		}
		if all := strings.Join(got, "|"); all != want {
			t.Errorf("%s: the pages are\n%s, not\n%s", lang, all, want)
		}
	}
	// A long word is set in smaller letters, not divided.
	pages, err := f.Pages("Der Sommerschlussverkauf beginnt", "de", box)
	if err != nil || !slices.ContainsFunc(pages, func(p Page) bool {
		return strings.Contains(strings.Join(p.Lines(), "|"), "Sommerschlussverkauf") && p.Em < box.MaxEm
	}) {
		t.Errorf("a long word: %v, %v", pages, err)
	}
}

// Emoji at the end of a heading stay with its last word, in smaller letters if they must, unless they are too wide.
func TestEmojiEndNoHeadingAlone(t *testing.T) {
	f := fonts(t)
	for text, want := range map[string]string{
		"Подпишитесь 🎣": "Подпишитесь 🎣", "フォローしてね🎣": "フォローしてね🎣", "Follow us 🎉 🎣": "Follow|us 🎉 🎣",
		"🎉🎉🎉🎉🎉🎉🎉🎉": "🎉🎉🎉🎉|🎉🎉🎉🎉", "🎣": "🎣", "Follow 🎣 us": "Follow|🎣 us",
		"Подпишитесь 🎣🎣🎣": "Подпишитесь|🎣🎣🎣", "Foto\u00ad🎣": "Foto🎣",
	} {
		b, err := f.Fit(text, "", Box{Width: 400, Height: 400, MaxEm: 80, MinEm: 40, MaxLines: 2})
		if got := strings.Join(b.Lines(), "|"); err != nil || got != want || b.Width > 400 {
			t.Errorf("%q, %.0f wide, want %q (%v)", got, b.Width, want, err)
		}
	}
}

// An emoji is drawn in its colors, in a place that the words beside it leave free, in both directions.
func TestEmojiAreDrawnInColor(t *testing.T) {
	f := fonts(t)
	for _, text := range []string{"Coffee ☕ first", "تابعونا 🎣 اليوم", "❤️", "👩🏽‍💻🇩🇪"} {
		b, err := f.Fit(text, "en", heading)
		if err != nil {
			t.Fatal(err)
		}
		s := NewScript(1000, 300)
		s.Text(b, 0, 1000, 0, Start, canvas.White, Always)
		colors := map[string]bool{}
		for _, e := range s.events {
			if _, rest, ok := strings.Cut(e.text, `\1c&H`); ok && strings.Contains(e.text, `\p1`) {
				colors[rest[:6]] = true
			}
		}
		if l := b.lines[0]; len(l.pictures) == 0 || len(colors) < 2 {
			t.Errorf("%q: %d pictures in the colors %v", text, len(l.pictures), colors)
		} else if end := l.pictures[len(l.pictures)-1]; end.before+end.width > l.width/b.Em+0.01 {
			t.Errorf("%q: a picture ends at %.2f of %.2f em", text, end.before+end.width, l.width/b.Em)
		}
	}
}

func TestTextIsNoCommand(t *testing.T) {
	f := fonts(t)
	b, err := f.Fit(`{\pos(0,0)}a\Nb{`, "en", heading)
	if err != nil {
		t.Fatal(err)
	}
	s := NewScript(100, 100)
	s.Text(b, 0, 100, 0, Start, canvas.White, Always)
	if out := s.String(); strings.Contains(out, `}{\pos(0`) || strings.Contains(out, `a\Nb`) ||
		!strings.Contains(out, "\\{\\\u2060pos") {
		t.Errorf("the script is\n%s", out)
	}
}

// The families of brands set the scripts that they have, and Noto all others, each text in one of them.
func TestTheFamiliesOfBrands(t *testing.T) {
	f := fonts(t)
	names := map[string]string{"noto_sans": "Noto Sans", "montserrat": "Montserrat",
		"lora": "Lora", "oswald": "Oswald"}
	if len(script.Fonts) != len(names) {
		t.Errorf("the families are %v", script.Fonts)
	}
	for _, family := range script.Fonts {
		set, ok := f.In(family)
		if !ok {
			t.Fatalf("there is no family %s", family)
		}
		for _, c := range []struct{ lang, text, font string }{
			{"en", "The quick brown fox jumps over the lazy dog", ""},
			{"de", "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich", ""},
			{"fr", "Portez ce vieux whisky au juge blond qui fume, cœur à l’été", ""},
			{"pl", "Pchnąć w tę łódź jeża lub ośm skrzyń fig", ""},
			{"cs", "Příliš žluťoučký kůň úpěl ďábelské ódy", ""},
			{"tr", "Pijamalı hasta yağız şoföre çabucak güvendi", ""},
			{"vi", "Chạy bộ đường mòn", ""},
			{"ru", "Съешь же ещё этих мягких французских булок, да выпей чаю", ""},
			{"uk", "Жебракують філософи при ґанку церкви в Гадячі, ще й шатро їхнє п’яне", ""},
			{"be", "У Іўі худы жвавы чорт у зялёнай камізэльцы", ""},
			{"bg", "Ах чудна българска земьо, полюшвай цъфтящи жита", ""},
			{"sr", "Љубазни фењерџија чађавог лица хоће да ми покаже штос", ""},
			{"el", "Ελλάδα", "Noto Sans"},
			{"el", "Acme Ελλάδα", "Noto Sans"},
			{"ar", "مرحبا", "Noto Sans Arabic"},
			{"he", "שלום", "Noto Sans Hebrew"},
			{"hi", "हिन्दी", "Noto Sans Devanagari"},
			{"th", "น้ำ", "Noto Sans Thai"},
			{"zh-CN", "骨直", "Noto Sans SC"},
			{"ja", "はかな", "Noto Sans JP"},
			{"ko", "안녕", "Noto Sans KR"},
			{"en", "😀", "Noto Emoji"},
		} {
			if c.font == "" {
				c.font = names[family]
			}
			b, err := set.Fit(c.text, c.lang, heading)
			if err != nil {
				t.Fatalf("%s: %q: %v", family, c.text, err)
			}
			for _, l := range b.lines {
				for _, r := range l.runs {
					if r.face.name != c.font {
						t.Errorf("%s: %q of %s is in %s, not %s", family, r.text, c.lang, r.face.name, c.font)
					}
				}
			}
		}
	}
	if _, ok := f.In("comic_sans"); ok {
		t.Error("there is a family comic_sans")
	}
	// A text that fits in Noto fits.
	montserrat, _ := f.In("montserrat")
	box, long := Box{Width: 1000, Height: 100, MaxEm: 30, MinEm: 30, MaxLines: 1}, "good headings"
	for _, c := range []struct {
		set  *Fonts
		want string
	}{{montserrat, "Montserrat"}, {f, "Noto Sans"}, {montserrat, "Noto Sans"}} {
		b, err := c.set.Fit(long, "en", box)
		if err != nil || b.lines[0].runs[0].face.name != c.want {
			t.Fatalf("%.0f pixels for a text in %s: %v", box.Width, c.want, err)
		}
		box.Width = b.Width + 1
	}
}
