package craft_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/base/money"
	"github.com/content-automation/api/pkg/craft/guard"
)

// caption is an answer of one text.
func caption(text string) []guard.Field { return []guard.Field{{Path: "/caption", Text: text}} }

var rules = guard.Rules{Language: "en", Now: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC), Facts: []string{
	"Weight 1,500 g. Call +49 (0)30 123-45-67 89. Sale until 2026-12-03, 15% off with CODE7. https://www.acme.example/shoes?ref=a",
	"hello@acme.example, @acme_shop, 2 million users, open from 9 am"}, Prices: []money.Price{{Amount: 12900, Currency: "EUR"}}}

// A claim is the same in other digits, formats, scripts and units.
func TestClaimsInOtherForms(t *testing.T) {
	for _, text := range []string{
		"1.5 kg", "1 500 grams", "１５００ｇ", "١٥٠٠ g", "1.500 Gramm", "1\u200b500 g",
		"030 123456789", "+49 30 1234 56789", "0049 30 12345 6789",
		"3 December", "December 3rd, 2026", "03.12.2026", "12/3/2026", "3 декабря", "2026年12月3日", "le 3/12/2026",
		"15 %", "15٪", "15 percent", "fifteen percent", "15 процентов",
		"code7 it is: CODE7", "Code: “CODE7”",
		"acme.example", "ACME.EXAMPLE/shoes?ref=a", "http://acme.example/shoes?ref=a", "(www.acme.example)",
		"Hello@ACME.example", "@acme_shop", "2M users", "2,000,000 users", "2 Millionen Nutzer", "9:00", "9 a.m.",
		"€129", "129,00 euros", "EUR 129.00", "in 2026 and 2027", "TOP 10", "3 reasons", "two minutes", "24/7",
	} {
		if found := guard.Check(caption(text), rules); len(found) > 0 {
			t.Errorf("%s: %v", text, found)
		}
	}
	for text, want := range map[string]string{
		"1.6 kg": "quantity", "15 kg": "quantity", "1500 kg": "quantity", "030 123456780": "telephone number",
		"4 December": "date", "3 December 2027": "date", "03.11.2026": "date", "16 %": "percentage", "50 percent": "percentage",
		"use code SAVE": "promotional code", "SUMMER20": "promotional code", "acme.com": "address",
		"acme.example/hats": "address", "acme[.]com": "address", "evil@acme.example": "e-mail address", "@acme": "account",
		"3 million users": "quantity", "9 pm": "time", "21:00": "time", "€12": "price", "$129": "price", "since 1999": "year",
		"129 000 €": "price", "twenty thousand customers": "quantity",
	} {
		found := guard.Check(caption(text), rules)
		if len(found) == 0 || found[0].Code != guard.Unsupported || found[0].Kind != want {
			t.Errorf("%s: %v, want the %s", text, found, want)
		}
	}
}

func TestPricesOfUnpricedInputsAreNone(t *testing.T) {
	r := guard.Rules{Language: "en", UnpricedInputs: []string{"A shoe for 129 €, 260 g"}}
	if found := guard.Check(caption("It weighs 260 g."), r); len(found) > 0 {
		t.Errorf("%v", found)
	}
	if found := guard.Check(caption("It costs 129 €."), r); len(found) != 1 || found[0].Kind != "price" {
		t.Errorf("%v", found)
	}
}

// Forbidden words are whole words in all forms of Russian, and as they are written elsewhere.
func TestForbiddenWords(t *testing.T) {
	for _, c := range []struct {
		forbidden, text string
		found           bool
	}{
		{"скидка", "Большие скидки!", true}, {"скидка", "Много скидок", true}, {"скидка", "Скидываем снег", false},
		{"лучший", "самого лучшего", true}, {"лучший", "улучшить", false}, {"дешёвый", "ДЕШЕВОЕ", true},
		{"рак", "раки", true}, {"рак", "раковина", false}, {"купить сейчас", "можно купить сейчас", true},
		{"cheap", "Cheap!", true}, {"cheap", "cheaper", false},
		{"cheap", "chе\u200bap", true}, // with a Cyrillic е
		{"best ever", "the best, ever", true}, {"best ever", "ever best", false}, {"最高", "これは最高です", true},
		{"Diät", "DIÄT", true}, {"!!", "wow!!", false},
	} {
		r := guard.Rules{Language: "und", Forbidden: []string{c.forbidden}}
		found := guard.Check(caption(c.text), r)
		if (len(found) == 1 && found[0].Code == guard.Forbidden) != c.found {
			t.Errorf("%s in %s: %v", c.forbidden, c.text, found)
		}
	}
	tag := []guard.Field{{Path: "/hashtags/0", Text: "cheap", Tag: true}}
	if found := guard.Check(tag, guard.Rules{Forbidden: []string{"cheap"}}); len(found) != 1 {
		t.Errorf("a hashtag: %v", found)
	}
}

func TestLanguagesAndScripts(t *testing.T) {
	english := "This is what you have been waiting for, and it is here: the shoe that will not leave your feet."
	arabic := "هذا هو الحذاء الذي كنت تنتظره منذ زمن طويل، وهو الآن بين يديك."
	for _, c := range []struct {
		language, text string
		ok             bool
	}{
		{"en", english, true}, {"en-GB", english, true}, {"de", english, false}, {"ru", english, false},
		{"ar", arabic, true}, {"ar", english, false}, {"he", arabic, false}, {"ja", "今日は新しい靴を紹介します。とても軽くて、雨の日でも滑りません。ぜひ試してください。", true},
		{"ja", english, false}, {"xx", english, true}, {"de", "Acme Fellrunner", true},
		{"ru", "Новинка: Acme Fellrunner Pro Max уже в магазине https://acme.example/shoes", true},
		{"uk", "Это новая обувь, и мы не знаем, как вы без нее жили, но только это уже не важно для вас.", false},
		{"de", "Der Titel „The Long Way Home“ passt, denn wir sind mit dem Rad und nicht mit dem Zug gekommen.", true},
	} {
		found := guard.Check(caption(c.text), guard.Rules{Language: c.language, Facts: []string{"https://acme.example/shoes"}})
		if (len(found) == 0) != c.ok || !c.ok && found[0].Code != guard.Language {
			t.Errorf("%s: %s: %v", c.language, c.text, found)
		}
	}
}

func TestLengthsAreThoseOfTheStrictestTarget(t *testing.T) {
	r := guard.Rules{Language: "und", Limits: []guard.Limit{
		{Path: "/caption", Text: platform.Text{Max: 10}, Target: "Wide"},
		{Path: "/caption", Text: platform.Text{Max: 6, Unit: platform.UTF16}, Target: "Strict"},
		{Path: "/title", Text: platform.Text{Max: 1}, Target: "Other"}, {Path: "/caption", Target: "None"}}}
	if found := guard.Check(caption("😄😄😄"), r); len(found) > 0 {
		t.Errorf("%v", found)
	}
	found := guard.Check(caption("😄😄😄!"), r)
	if len(found) != 1 || found[0].Code != guard.TooLong || !strings.Contains(found[0].String(), "Strict takes 6") {
		t.Errorf("%v", found)
	}
}

func TestRepetition(t *testing.T) {
	text := "Mud on the path, rain in the air, and you are smiling anyway. Tell us about your wettest run this year."
	past := guard.Past{ID: "cnt_1", Signature: guard.Sign(caption(text))}
	r := guard.Rules{Language: "en", Past: []guard.Past{{ID: "cnt_0", Signature: "x"}, past}}
	for other, ok := range map[string]bool{
		text: false, strings.ToUpper(text) + " 😄": false, strings.Replace(text, "Mud on the path", "Mud on your path", 1): false,
		"The shoe weighs nothing and the hill does not care. Which path do you take when the leaves fall and nobody looks?": true,
		"Mud on the path.": true,
	} {
		found := guard.Check(caption(other), r)
		if (len(found) == 0) != ok || !ok && (found[0].Code != guard.Repetitive || found[0].Text != "cnt_1") {
			t.Errorf("%s: %v", other, found)
		}
	}
	if n := len(past.Signature); n > 130 {
		t.Errorf("a signature takes %d bytes", n)
	}
}

// Texts that no writer would write do not crash the guards.
func TestOddTexts(t *testing.T) {
	for _, text := range []string{"", " ", "\x00\xff", strings.Repeat("1 ", 5000), strings.Repeat("a.", 5000), "%%%", "@", "#",
		strings.Repeat("5 five ", 2000), "١٢٣٤٥٦٧٨٩٠", "٪", "code:", "0000-00-00", "99.99.9999", "+", "https://", "1,2,3,4,5 kg"} {
		guard.Check(caption(text), rules)
	}
}

func FuzzCheck(f *testing.F) {
	f.Add("Only 99 € until 3 May at shop.example.com, call 030 1234567, code SAVE10, 15 % off 2 Mio. km")
	f.Add("двадцать процентов, 5 кг, 12.03., 18:30")
	f.Fuzz(func(t *testing.T, text string) {
		// What the inputs state, the answer may state.
		r := guard.Rules{Language: "und", Facts: []string{text}}
		for _, found := range guard.Check(caption(text), r) {
			if found.Code == guard.Unsupported && found.Kind != "quantity" && found.Kind != "percentage" && found.Kind != "price" {
				t.Errorf("%q: %v", text, found)
			}
		}
	})
}

func TestReasonsAreShort(t *testing.T) {
	var all []guard.Finding
	for n := range 20 {
		all = append(all, guard.Finding{Code: guard.Unsupported, Path: "/caption", Kind: "price",
			Text: fmt.Sprint(n, strings.Repeat("x", 300))})
	}
	if reasons := guard.Reasons(append(all[:2:2], all...)); len(reasons) > 800 || strings.Count(reasons, ";") != 4 {
		t.Errorf("%s", reasons)
	}
}
