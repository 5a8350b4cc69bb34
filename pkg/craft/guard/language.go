package guard

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/language"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// common are frequent words of languages that share a script. A word may be in several lists.
var common = sync.OnceValue(func() map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for tag, words := range map[string]string{
		"en": "the and you your is are of to for with that this it in on we our have has not but from what when how " +
			"will can be as at was they more all if just out about so up them who why here there been",
		"de": "der die das und ist nicht ein eine einen du ihr wir mit für auf den dem des sie es im zu von auch " +
			"sich wie aber oder wenn dein deine euer eure nur noch schon mehr aus bei nach über wird sind hat kann " +
			"einer einem was",
		"es": "el la los las que y de en un una es para con por tu tus se lo más pero como nuestro nuestra su sus te " +
			"del al si cuando porque este esta todo también hay está son qué sin nos le ya muy",
		"fr": "le la les et des est une un pour dans vous votre vos que qui avec sur pas ne plus nous notre ce cette " +
			"ses son sa mais ou du au aux en il elle on tout par sont comme vous c'est quand sans",
		"it": "il lo la gli le che e di un una è per con non più sono della del dei nella nel tuo tua nostro nostra " +
			"ma come anche si ci questo questa da al alla se quando dove perché tutto ogni",
		"pt": "o a os as que e de um uma é para com não seu sua mais por do da dos das no na em você nosso nossa mas " +
			"como se ao este esta isso quando são também tem muito pelo até",
		"nl": "de het een en van is niet je jouw wij we met voor op dat die te zijn ook maar als om er aan bij naar " +
			"uit wat hoe meer wordt kan heeft onze deze dit",
		"pl": "i w na nie się jest z do to że jak dla po od ale co czy tak twój nasz nasze są już tylko przez gdy " +
			"lub ich może tego który która",
		"tr": "ve bir bu için ile çok daha ama gibi ne her olan kadar en sen siz biz değil var da de mi ya",
		"sv": "och att det som en är på för med inte du vi av den till har om ett din vår så men från kan eller när",
		"ru": "и в не на что с как это для из по но вы мы вас ваш все уже так или только от до бы если когда где он " +
			"она они есть чтобы за у к о же",
		"uk": "і в не на що з як це для із по але ви ми вас ваш все вже так або тільки від до якщо коли де він вона " +
			"вони є щоб за у та й",
		"bg": "и в не на че с как това за от по но вие ние ви вашия всичко вече така или само до ако когато къде той " +
			"тя те е да се са ще",
	} {
		all[tag] = map[string]bool{}
		for word := range strings.FieldsSeq(words) {
			all[tag][word] = true
		}
	}
	return all
})

// scripts are the tables of letters for scripts that have several.
var scripts = map[string][]string{"Jpan": {"Han", "Hiragana", "Katakana"}, "Kore": {"Hangul", "Han"}, "Hans": {"Han"},
	"Hant": {"Han"}, "Latn": {"Latin"}, "Cyrl": {"Cyrillic"}, "Arab": {"Arabic"}, "Hebr": {"Hebrew"},
	"Deva": {"Devanagari"}, "Grek": {"Greek"}, "Thai": {"Thai"}, "Geor": {"Georgian"}, "Armn": {"Armenian"},
	"Beng": {"Bengali"}, "Taml": {"Tamil"}, "Telu": {"Telugu"}, "Ethi": {"Ethiopic"}, "Khmr": {"Khmer"},
	"Laoo": {"Lao"}, "Mymr": {"Myanmar"}, "Sinh": {"Sinhala"}, "Gujr": {"Gujarati"}, "Guru": {"Gurmukhi"},
	"Knda": {"Kannada"}, "Mlym": {"Malayalam"}}

// The least texts whose language is judged: the number of letters for the script, and the number of frequent words of
// another language.
const (
	leastLetters = 30
	leastCommon  = 5
)

// language returns a finding if an answer is in another script or language. Names may be in any.
func (r Rules) language(answer []Field) []Finding {
	tag, err := language.Parse(r.Language)
	if err != nil {
		return nil
	}
	var all []string
	for _, f := range answer {
		if f.Tag {
			continue
		}
		all = append(all, f.Text)
		if found := r.languageOf(tag, f.Path, f.Text); found != nil {
			return found
		}
	}
	return r.languageOf(tag, "", strings.Join(all, "\n"))
}

func (r Rules) languageOf(tag language.Tag, path, text string) []Finding {
	text = bare(normal(text))
	script, _ := tag.Script()
	if own, letters := share(text, scripts[script.String()]); letters >= leastLetters && 3*own < letters {
		return []Finding{{Language, path, "is not in the script of the language " + r.Language, text}}
	}
	base, _ := tag.Base()
	if foreignLetters(base.String(), text) {
		return []Finding{{Language, path, "is not in the language " + r.Language, text}}
	}
	expected := common()[base.String()]
	if expected == nil {
		return nil
	}
	// Of each other language: the words that only it has, and those that only the expected one has.
	theirs, ours := map[string]int{}, map[string]int{}
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && r != '\''
	}) {
		for other, words := range common() {
			switch {
			case words[word] && !expected[word]:
				theirs[other]++
			case expected[word] && !words[word]:
				ours[other]++
			}
		}
	}
	for other, n := range theirs {
		if n >= leastCommon && n > 2*ours[other] {
			return []Finding{{Language, path, "is not in the language " + r.Language, text}}
		}
	}
	return nil
}

// letters tell languages of one script apart: those that only other languages have, and those of the language alone.
var letters = map[string]struct{ foreign, own string }{
	"uk": {"ыэъё", "іїєґ"},
	"ru": {"іїєґў", "ыэъё"},
	"ar": {"پچژگکی", "ةيكىإأ"},
	"fa": {"ةيكى", "پچژگکی"},
}

// The least numbers of characters by which languages of one script are told apart.
const (
	leastForeign = 4
	leastKana    = 6
	leastHan     = 20
)

// foreignLetters reports whether a text has the letters of another language that is written in the script of its own.
func foreignLetters(base, text string) bool {
	if l, ok := letters[base]; ok {
		foreign, own := 0, 0
		for _, r := range strings.ToLower(text) {
			switch {
			case strings.ContainsRune(l.foreign, r):
				foreign++
			case strings.ContainsRune(l.own, r):
				own++
			}
		}
		return foreign >= leastForeign && foreign > 2*own
	}
	if base != "ja" && base != "zh" {
		return false
	}
	kana, han := 0, 0
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Hiragana):
			kana++
		case unicode.Is(unicode.Han, r):
			han++
		}
	}
	if base == "ja" {
		return kana == 0 && han >= leastHan && !unicode.In(firstOf(text, unicode.Katakana), unicode.Katakana)
	}
	return kana >= leastKana && 3*kana > han
}

// firstOf returns the first character of a text that is of a script, or 0.
func firstOf(text string, script *unicode.RangeTable) rune {
	for _, r := range text {
		if unicode.Is(script, r) {
			return r
		}
	}
	return 0
}

// bare returns a text without addresses, hashtags and accounts, which are in Latin letters in all languages.
func bare(text string) string {
	if strings.ContainsAny(text, "@([") {
		text = mailText().ReplaceAllString(text, " ")
	}
	for _, l := range slices.Backward(platform.Links(text)) {
		text = text[:l.Start] + " " + text[l.End:]
	}
	if strings.Contains(text, "@") {
		text = handleText().ReplaceAllString(text, " ")
	}
	for _, t := range slices.Backward(platform.WrittenTags(text)) {
		text = text[:t.Start] + " " + text[t.End:]
	}
	return text
}

// share returns the number of letters of the given tables, or of all tables if there is none, and of all letters.
func share(text string, tables []string) (own, letters int) {
	for _, r := range text {
		if !unicode.IsLetter(r) {
			continue
		}
		letters++
		for _, name := range tables {
			if unicode.Is(unicode.Scripts[name], r) {
				own++
			}
		}
	}
	if len(tables) == 0 {
		own = letters
	}
	return own, letters
}
