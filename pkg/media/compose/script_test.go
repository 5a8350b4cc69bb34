package compose_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/font/opentype"
	"github.com/go-text/typesetting/font/opentype/tables"

	"github.com/content-automation/api/pkg/media/compose/script"
	"github.com/content-automation/api/pkg/media/compose/text"
)

// samples are texts in writing systems, and whether they can be shown.
var samples = []struct {
	language, text string
	shown          bool
}{
	{"en", "Trail running", true}, {"vi", "Chạy bộ đường mòn", true}, {"ru", "Бег по тропам", true},
	{"uk", "Біг стежками", true}, {"el", "Τρέξιμο σε μονοπάτι", true},
	{"ar", "الجري على الدروب", true}, {"fa", "دویدن در کوهستان", true}, {"ur", "پگڈنڈی پر دوڑنا", true},
	{"he", "ריצת שבילים", true}, {"hi", "पगडंडी पर दौड़", true},
	{"th", "วิ่งเทรล", true}, {"zh", "越野跑", true}, {"zh-TW", "越野跑步體驗", true}, {"ja", "トレイルランニングの靴", true},
	{"ko", "트레일 러닝", true}, {"sr", "Трчање", true},
	{"sr-Latn", "Trčanje", true}, {"en", "A letter of another script", true}, {"en", "😀😀", true},
	{"ja", "𠮷野家", true}, {"zh-HK", "升𨋢大優惠，今日𠵱家開始", true}, {"en", "𝗦𝗔𝗟𝗘 ⓈⒶⓁⒺ ＳＡＬＥ", true},
	{"en", "✗ No sugar ✓", true}, {"en", "❤︎ ☎︎ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 1️⃣", true}, {"de", "Kranken\u00adkasse", true},
	{"en", "12:30", true},
	{"bn", "ট্রেইল দৌড়", false}, {"ta", "பாதை ஓட்டம்", false}, {"te", "ట్రైల్ రన్నింగ్", false},
	{"ka", "ბილიკზე სირბილი", false}, {"hy", "Արահետային վազք", false},
	{"am", "የመንገድ ሩጫ", false}, {"km", "ការរត់ផ្លូវ", false}, {"my", "လမ်းပြေးခြင်း", false},
	{"si", "මංපෙත් දිවීම", false}, {"lo", "ແລ່ນເທຣວ", false}, {"pa", "ਟ੍ਰੇਲ ਦੌੜ", false},
	{"kn", "ಟ್ರಯಲ್ ಓಟ", false}, {"ml", "ട്രെയിൽ ഓട്ടം", false}, {"gu", "ટ્રેઇલ દોડ", false},
}

func TestWhatIsShown(t *testing.T) {
	for _, s := range samples {
		if l, missing := script.Missing(s.text); missing == s.shown {
			t.Errorf("%q: %v, want %v", s.text, l, s.shown)
		}
		if got := script.CoversLanguage(s.language); got != s.shown {
			t.Errorf("the language %s: %v, want %v", s.language, got, s.shown)
		}
	}
	for tag, want := range map[string]bool{"": true, "und": true, "no such": true, "az": true, "kk": true, "mr": true,
		"ne": true, "yi": true, "or": false} {
		if got := script.CoversLanguage(tag); got != want {
			t.Errorf("the language %q: %v, want %v", tag, got, want)
		}
	}
}

// The tables say of no text that it can be shown where the fonts lack it, and the other way
// round.
func TestTheFontsAgree(t *testing.T) {
	fonts, err := text.Open(filepath.Join("..", "..", "..", ".tools", "media", "fonts"))
	if err != nil {
		t.Fatalf("%v (make media-tools installs them)", err)
	}
	for _, s := range samples {
		_, err := fonts.Fit(s.text, s.language, text.Box{Width: 900, Height: 560, MaxEm: 96, MinEm: 30, MaxLines: 9})
		if got := !errors.Is(err, text.ErrScript); got != s.shown || got && err != nil {
			t.Errorf("%q: %v", s.text, err)
		}
	}
}

// The place of a character is what a caller counts, and its code is that of the character without a font.
func TestWhatIsMissing(t *testing.T) {
	for s, want := range map[string]script.MissingGlyph{"Just ক": {Char: 'ক', Place: 6}, "𠮷 ৳1,299": {Char: '৳', Place: 3},
		"ab\ue000": {Char: 0xe000, Place: 3}, "😀\U000e0041": {Char: 0xe0041, Place: 2}, "ok \u0378": {Char: 0x378, Place: 4},
		"e\u0302\u0301 \U00010330": {Char: 0x10330, Place: 5}, "\U0001f3f4\U000e0067 \u3164x\u2060\u200b\ufeff": {}} {
		if got, found := script.Missing(s); found != (want.Char != 0) || got != want {
			t.Errorf("%q: %v, %t", s, got, found)
		}
	}
	for s, want := range map[string]string{"𝗦𝗔𝗟𝗘 now": "SALE now", "½ ﬁ ™ ①": "½ ﬁ ™ ①", "ক": "ক"} {
		if got := script.Drawn(s); got != want {
			t.Errorf("%q is drawn as %q, not %q", s, got, want)
		}
	}
}

// The table is of the fonts that are installed.
func TestTheTableIsOfTheFonts(t *testing.T) {
	for f, file := range script.Files {
		family := script.Family(f)
		content, err := os.ReadFile(filepath.Join("..", "..", "..", ".tools", "media", "fonts", file))
		if err != nil {
			t.Fatalf("%v (make media-tools installs them)", err)
		}
		loader, err := opentype.NewLoader(bytes.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := font.NewFont(loader)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := loader.RawTable(opentype.MustNewTag("name"))
		if err != nil {
			t.Fatal(err)
		}
		names, _, err := tables.ParseName(raw)
		if err != nil || family.Version() != names.Name(5) || family.Name() != names.Name(1) {
			t.Errorf("%s: the table is of %q %q, the font of %q %q (%v): run go generate", file, family.Name(),
				family.Version(), names.Name(1), names.Name(5), err)
		}
		differ := 0
		for r := rune(' '); r <= unicode.MaxRune; r++ {
			glyph, ok := parsed.NominalGlyph(r)
			if family.Has(r) != (ok && glyph != 0) {
				differ++
			}
		}
		if differ > 0 {
			t.Errorf("%s: %d characters differ from the table: run go generate", file, differ)
		}
	}
}

// A question at acceptance takes microseconds.
func BenchmarkMissing(b *testing.B) {
	for name, text := range map[string]string{"latin": strings.Repeat("Running on the trails of the North. ", 6),
		"japanese": strings.Repeat("創業百年の老舗、東京浅草の𠮷野家で牛丼とみそ汁", 8), "emoji": strings.Repeat("😀❤️👩🏽‍💻", 50)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				script.Missing(text)
			}
		})
	}
}

// letters are the alphabets of the samples below, with wide characters among them.
var letters = []string{
	"abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "mwMW@%", "0123456789,.-!?", "àáâãäåæçèéêëßÀÁÂÃÄÅÆ",
	"абвгдежзийклмнопрстуфхцчшщъыьэюя", "АБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯ",
	"αβγδεζηθικλμνξοπρστυφχψω", "ابتثجحخدذرزسشصضطظعغفقكلمنهوي", "אבגדהוזחטיכלמנסעפצקרשת",
	"कखगघङचछजझञटठडढणतथदधनपफबभमयरलवशषसह", "กขคฆงจฉชซฌญฎฏฐฑฒณดตถทธน", "骨直體驗", "はかなカナ", "안녕하세요",
	"😀❤🏃", "\ufdfd\ufdfa\ufdf4", "\u2e3b\u2e3a\u2014",
}

// A script that fits by the estimate fits in the fonts.
func TestFits(t *testing.T) {
	fonts, err := text.Open(filepath.Join("..", "..", "..", ".tools", "media", "fonts"))
	if err != nil {
		t.Fatalf("%v (make media-tools installs them)", err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	places := []struct {
		script.Place
		box text.Box
	}{
		{script.Track, text.Box{Width: 840, Height: 175, MaxEm: 72, MinEm: 30, MaxLines: 3}},
		{script.ByALogo, text.Box{Width: 580, Height: 128, MaxEm: 46, MinEm: 22, MaxLines: 2}},
	}
	taken := 0
	for range 3000 {
		alphabet, p := []rune(letters[random.IntN(len(letters))]), places[random.IntN(len(places))]
		var s strings.Builder
		for range 1 + random.IntN(200) {
			s.WriteRune(alphabet[random.IntN(len(alphabet))])
			if random.IntN(8) == 0 {
				s.WriteByte(' ')
			}
		}
		if !p.Fits(s.String()) {
			continue
		}
		taken++
		family, _ := fonts.In(script.Fonts[random.IntN(len(script.Fonts))])
		if _, err := family.Fit(s.String(), "", p.box); errors.Is(err, text.ErrTooLong) {
			t.Errorf("%q does not fit into %+v", s.String(), p.Place)
		}
	}
	if taken < 500 {
		t.Errorf("%d of 3,000 texts fit", taken)
	}
	for s, want := range map[string]bool{
		"Running on the trails of the North in the shoes that we have made of recycled nets": true,
		strings.Repeat("Laufschuhe aus Netzen ", 9):                                          false,
		strings.Repeat("\ufdfd", 20):                                                         false,
	} {
		if got := script.Track.Fits(s); got != want {
			t.Errorf("%q fits: %v", s, got)
		}
	}
}
