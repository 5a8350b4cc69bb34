package script_test

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

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
	{"sr-Latn", "Trčanje", true}, {"en", "A letter of another script: ক", true}, {"en", "😀😀", true},
	{"en", "12:30", true},
	{"bn", "ট্রেইল দৌড়", false}, {"ta", "பாதை ஓட்டம்", false}, {"te", "ట్రైల్ రన్నింగ్", false},
	{"ka", "ბილიკზე სირბილი", false}, {"hy", "Արահետային վազք", false},
	{"am", "የመንገድ ሩጫ", false}, {"km", "ការរត់ផ្លូវ", false}, {"my", "လမ်းပြေးခြင်း", false},
	{"si", "මංපෙත් දිවීම", false}, {"lo", "ແລ່ນເທຣວ", false}, {"pa", "ਟ੍ਰੇਲ ਦੌੜ", false},
	{"kn", "ಟ್ರಯಲ್ ಓಟ", false}, {"ml", "ട്രെയിൽ ഓട്ടം", false}, {"gu", "ટ્રેઇલ દોડ", false},
}

func TestCovers(t *testing.T) {
	for _, s := range samples {
		if got := script.Covers(s.text); got != s.shown {
			t.Errorf("%q: %v, want %v", s.text, got, s.shown)
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
	fonts, err := text.Open(filepath.Join("..", "..", "..", "..", ".tools", "media", "fonts"))
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
	fonts, err := text.Open(filepath.Join("..", "..", "..", "..", ".tools", "media", "fonts"))
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
