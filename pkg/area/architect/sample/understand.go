package sample

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/adapter/provider"
)

// what is what a message asks for.
type what int

const (
	wantsNothing what = iota
	wantsFactory
	wantsPlan
	wantsItem
	wantsFactories
	wantsProposals
	wantsModels
	wantsFacts
)

// wish is a message as it is understood.
type wish struct {
	what     what
	of       string // the type of a factory
	kind     string // of a content item
	subject  string
	language string // of the content
	days     int
	perDay   int
}

// named is a thing and how words for it begin.
type named struct {
	name  string
	words []string
}

var types = []named{
	{"musician", []string{"musician", "band", "singer", "musiker", "sänger", "músico", "musicien", "музык"}},
	{"news", []string{"news", "nachricht", "noticia", "notícia", "actualité", "новост"}},
	{"entertainment", []string{"entertain", "unterhaltung", "entretenim", "divertissem", "развлек"}},
	{"expert", []string{"expert", "especialista", "эксперт"}},
	{"blogger", []string{"blog", "блог"}},
	{"seller", []string{"seller", "shop", "store", "verkäufer", "händler", "laden", "tienda", "vendedor", "vendeur", "boutique", "loja", "продав", "магазин"}},
	{"brand", []string{"brand", "marke", "marca", "marque", "бренд"}},
}

var itemKinds = []named{
	{"carousel", []string{"carousel", "karussell", "carrusel", "carrousel", "carrossel", "карусел"}},
	{"video", []string{"video", "vídeo", "vidéo", "видео", "ролик"}},
	{"story", []string{"story", "stories", "сторис"}},
	{"post", []string{"post", "beitrag", "publicación", "publication", "publicação", "пост"}},
}

// contentLanguages are languages that content may be wanted in.
var contentLanguages = []named{
	{"en", []string{"english", "englisch", "inglés", "anglais", "inglês", "английск"}},
	{"de", []string{"german", "deutsch", "alemán", "allemand", "alemão", "немецк"}},
	{"es", []string{"spanish", "spanisch", "español", "espagnol", "espanhol", "испанск"}},
	{"fr", []string{"french", "französisch", "francés", "français", "francês", "французск"}},
	{"pt", []string{"portuguese", "portugiesisch", "portugués", "portugais", "português", "португальск"}},
	{"it", []string{"italian", "italienisch", "italiano", "italien", "итальянск"}},
	{"ru", []string{"russian", "russisch", "ruso", "russe", "russo", "русск"}},
}

var (
	factoryWords  = []string{"factory", "fabrik", "fábrica", "usine", "фабрик"}
	allFactories  = []string{"factories", "fabriken", "fábricas", "usines", "фабрики"}
	planWords     = []string{"plan", "redaktionsplan", "calendar", "kalender", "calendario", "calendrier", "calendário", "план", "контент"}
	proposalWords = []string{"proposal", "vorschl", "propuesta", "proposition", "proposta", "предложен"}
	modelWords    = []string{"model", "modell", "modelo", "modèle", "модел"}
	makingWords   = []string{
		"make", "create", "build", "draft", "want", "need", "new", "neu", "erstell", "mach", "brauch", "möchte", "crea", "quiero", "nueva", "créer", "crée", "veux", "nouvelle",
		"crie", "cria", "quero", "nova", "созда", "сдела", "хочу", "нуж", "новая", "новую",
	}
)

// has reports whether one of the words begins with one of the beginnings. Compounds of
// German, such as Verkäufer-Fabrik, are several words.
func has(words, beginnings []string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		return slices.ContainsFunc(beginnings, func(b string) bool { return strings.HasPrefix(w, b) })
	})
}

// first returns the name of the first thing that is among the words.
func first(words []string, of []named) string {
	for _, n := range of {
		if has(words, n.words) {
			return n.name
		}
	}
	return ""
}

// numbers are words for numbers.
var numbers = map[string]int{
	"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "ten": 10, "ein": 1, "einen": 1, "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "zehn": 10, "uno": 1, "una": 1, "dos": 2, "tres": 3, "cuatro": 4, "cinco": 5,
	"un": 1, "une": 1, "deux": 2, "trois": 3, "quatre": 4, "cinq": 5, "um": 1, "uma": 1, "dois": 2, "duas": 2, "três": 3, "один": 1, "одна": 1, "два": 2, "две": 2, "три": 3, "четыре": 4, "пять": 5,
}

const number = `(\d{1,3}|\p{L}+)`

// perDay finds how much there is a day: "two posts a day".
var perDay = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)` + number + `\s+(?:\p{L}+\s+){0,2}(?:a day|per day|each day|every day|am tag|pro tag|al día|por día|par jour|por dia|ao dia|в день)`)
})

// about finds what something is about, up to the language or the end of the clause.
var about = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|\s)(?:about|for|über|für|sobre|para|pour|sur|про|для|о|об)\s+([^,.;:!?\n]+)`)
})

// inLanguage finds the language that something is to be in.
var inLanguage = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\s+(?:in|auf|en|em|на)\s+(\p{L}+)(?:\s.*)?$`)
})

// understand reads a message.
func understand(text string) wish {
	words := wordsOf(text)
	w := wish{of: first(words, types), kind: first(words, itemKinds), language: first(words, contentLanguages), days: 7}
	if w.language == "" {
		w.language = languageOf(text)
	}
	rest := text
	if at := perDay().FindStringSubmatchIndex(text); at != nil {
		w.perDay = min(value(text[at[2]:at[3]]), 10)
		rest = text[:at[0]] + text[at[1]:]
	}
	w.days = daysOf(rest)
	w.subject = subjectOf(rest)
	asks, makes := strings.Contains(text, "?"), has(words, makingWords)
	switch {
	case has(words, factoryWords) && (makes || w.of != "" && !asks):
		w.what = wantsFactory
	case has(words, planWords) && (makes || !asks):
		w.what = wantsPlan
	case w.kind != "" && (makes || !asks):
		w.what = wantsItem
	case has(words, proposalWords):
		w.what = wantsProposals
	case has(words, modelWords):
		w.what = wantsModels
	case has(words, allFactories):
		w.what = wantsFactories
	case asks:
		w.what = wantsFacts
	}
	return w
}

// value returns the number that a word is for; 0 where it is for none.
func value(word string) int {
	if n, err := strconv.Atoi(word); err == nil {
		return n
	}
	return numbers[strings.ToLower(word)]
}

// daysOf returns for how many days a plan is wanted: a week where nothing is said.
func daysOf(text string) int {
	words := wordsOf(text)
	for i, word := range words[:max(len(words)-1, 0)] {
		n := value(word)
		for _, l := range languages {
			switch next := words[i+1 : i+2]; {
			case n > 0 && has(next, phrases[l].day):
				return min(n, 90)
			case n > 0 && has(next, phrases[l].week):
				return min(7*n, 90)
			}
		}
	}
	return 7
}

// subjectOf returns what something is about; empty where nothing is said.
func subjectOf(text string) string {
	match := about().FindStringSubmatch(text)
	if match == nil {
		return ""
	}
	subject := match[1]
	if at := inLanguage().FindStringSubmatchIndex(subject); at != nil && first(wordsOf(subject[at[2]:at[3]]), contentLanguages) != "" {
		subject = subject[:at[0]]
	}
	const longest = 60
	return provider.Clip(provider.OneLine(subject), longest)
}

// prompt returns what a content item is about: the message where it names no subject.
func (w wish) prompt(text string) string {
	if w.subject != "" {
		return w.subject
	}
	return text
}

// factory returns the body of the factory that is wanted.
func (w wish) factory() object {
	of, name := w.of, upper(w.subject)
	if of == "" {
		of = "brand"
	}
	if name == "" {
		name = upper(of)
	}
	body := object{"type": of, "name": name, "language": w.language, "topics": []string{name}}
	if w.subject != "" {
		body["description"] = name
	}
	if times := timesOf(w.perDay); times != nil {
		body["schedule"] = object{"timezone": "UTC", "times": times}
	}
	switch of {
	case "seller":
		currency := phrases[w.language].currency
		if currency == "" {
			currency = "EUR"
		}
		body["settings"] = object{"currency": currency}
	case "expert":
		body["settings"] = object{"field": name}
	case "brand":
		body["settings"] = object{"brand_name": name}
	case "musician":
		body["settings"] = object{"artist_name": name, "genres": []string{name}}
	}
	return body
}

// timesOf returns times of day, spread from nine to nine; none for none.
func timesOf(n int) (times []string) {
	const begin, end = 9, 21
	for i := range n {
		hour := begin
		if n > 1 {
			hour += (end - begin) * i / (n - 1)
		}
		times = append(times, time(hour))
	}
	return times
}

func time(hour int) string {
	if hour < 10 {
		return "0" + strconv.Itoa(hour) + ":00"
	}
	return strconv.Itoa(hour) + ":00"
}

// upper returns a text with a capital at its beginning.
func upper(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(r)) + s[size:]
}
