// Package samples has the texts that the sandbox and the fakes of language models write, by language. They are written
// by hand, and stand for what a language model writes with a live key: they say nothing but what they are given, ask
// readers a question, and have none of the phrases that the prompts ban. Start with Write.
package samples

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/text"
)

//go:embed texts lines.json topics.json
var files embed.FS

// Languages lists the languages with texts of their own. The first stands for all others.
var Languages = []string{"en", "de", "es", "fr", "it", "pt", "ru"}

// Texts are the texts of a language for plans and proposals. Names in braces stand for what they are about; see Fill.
type Texts struct {
	// Angles and Twists make topics of a plan: one of each.
	Angles    []string  `json:"angles"`
	Twists    []string  `json:"twists"`
	Proposals Proposals `json:"proposals"`
}

// Proposals are the texts of proposals. Of each member of a factory, the first text is the title.
type Proposals struct {
	Rationale    string   `json:"rationale"`
	Effect       string   `json:"effect"`
	Description  []string `json:"description"`
	Audience     []string `json:"audience"`
	Tone         []string `json:"tone"`
	Topics       []string `json:"topics"`
	Schedule     []string `json:"schedule"`
	ContentTypes []string `json:"content_types"`
}

// load returns a function that reads a file when its content is needed.
func load[T any](name string) func() T {
	return sync.OnceValue(func() (v T) {
		raw, err := files.ReadFile(name)
		if err == nil {
			err = json.Unmarshal(raw, &v)
		}
		if err != nil {
			panic(fmt.Sprintf("samples: %s: %v", name, err)) // the file is part of the program
		}
		return v
	})
}

// languages has a function for each language that returns its texts.
var languages = func() map[string]func() Texts {
	all := map[string]func() Texts{}
	for _, language := range Languages {
		all[language] = load[Texts]("texts/" + language + ".json")
	}
	return all
}()

// Language returns the language of the texts for a language tag (BCP 47).
func Language(tag string) string {
	if base, _, _ := strings.Cut(strings.ToLower(tag), "-"); slices.Contains(Languages, base) {
		return base
	}
	return Languages[0]
}

// Of returns the texts for a language tag.
func Of(tag string) Texts { return languages[Language(tag)]() }

// topics are the parts of topics of the languages that have no Texts.
var topics = load[map[string]Texts]("topics.json")

// TopicsOf returns the angles and twists for a language tag: those of English for languages without.
func TopicsOf(tag string) (angles, twists []string) {
	t, known := text.In(topics(), tag)
	if !known {
		t = Of(tag)
	}
	return t.Angles, t.Twists
}

// The angles and twists of Texts that fit every subject and state no number.
var plainAngles, plainTwists = []int{2, 3, 4, 8, 9, 11, 13, 20, 21, 28}, []int{1, 3, 5, 6, 7, 8, 10, 12, 14}

// PlainTopicsOf returns the angles and twists for a language tag that fit every subject and state no number, which a
// guard would take for a claim.
func PlainTopicsOf(tag string) (angles, twists []string) {
	angles, twists = TopicsOf(tag)
	if len(angles) <= slices.Max(plainAngles) || len(twists) <= slices.Max(plainTwists) {
		return angles, twists
	}
	some := func(all []string, numbers []int) (chosen []string) {
		for _, n := range numbers {
			chosen = append(chosen, all[n])
		}
		return chosen
	}
	return some(angles, plainAngles), some(twists, plainTwists)
}

// Subject returns the beginning of a text that can be the subject of another: its first clause, or its first words, of
// at most so many characters.
func Subject(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	clause := text
	if i := strings.IndexAny(text, ".!?…;:–—。、！？؟।"); i > 0 {
		clause = text[:i]
	}
	return strings.Trim(provider.Clip(clause, most), ".!?…,;: ")
}

// Fill puts values into the places of a text. Pairs are names and values. A name that begins with a capital letter is
// the place of its value with a capital letter.
func Fill(text string, pairs ...string) string {
	replaced := make([]string, 0, 2*len(pairs))
	for i := 0; i+1 < len(pairs); i += 2 {
		replaced = append(replaced, "{"+pairs[i]+"}", pairs[i+1], "{"+Capital(pairs[i])+"}", Capital(pairs[i+1]))
	}
	return strings.NewReplacer(replaced...).Replace(text)
}

// Capital returns a text that begins with a capital letter.
func Capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return text
	}
	return string(unicode.ToUpper(first)) + text[size:]
}

// Lines are the sentences of a language that texts of content are made of. Names in braces stand for what they are
// about; see Fill.
type Lines struct {
	// Date is the layout of a day, such as 2.1., in the form of the package time.
	Date string `json:"date"`
	// Subject stands for a topic that is not in the script of the language.
	Subject string `json:"subject"`
	// Hooks are first lines of the kinds in hookKinds. Lead is that of news.
	Hooks []string `json:"hooks"`
	Lead  string   `json:"lead"`
	// Body is the middle of a caption, by kind of content, and Close is its end, by type of factory.
	Body  map[string]string `json:"body"`
	Close map[string]string `json:"close"`
	// Product, Price and Reduced present a product.
	Product      string `json:"product"`
	Price        string `json:"price"`
	ReducedPrice string `json:"reduced"`
	// Alt describes a picture to people who cannot see it.
	Alt string `json:"alt"`
	// Slides are the headings of a carousel, and SlideBodies the texts below them.
	SlidePrice  string   `json:"slide_price"`
	SlideClose  string   `json:"slide_close"`
	Slides      []string `json:"slides"`
	SlideBodies []string `json:"slide_bodies"`
	// Scenes are the sentences of a script. The first opens it.
	Scenes []string `json:"scenes"`
}

// hookKinds are the kinds of the first lines in Lines.Hooks.
var hookKinds = []string{"question", "contradiction", "scene"}

var lines = load[map[string]Lines]("lines.json")

// Written lists the languages in which texts of content are written.
func Written() []string { return slices.Sorted(maps.Keys(lines())) }

// WrittenIn returns the language of Lines for a language tag (BCP 47): English for those without.
func WrittenIn(tag string) string {
	if _, known := text.In(lines(), tag); !known {
		return "en"
	}
	return text.Language(tag)
}

// LinesOf returns the sentences for a language tag.
func LinesOf(tag string) Lines { return lines()[WrittenIn(tag)] }

// scripts are the tables of letters of languages that are not written in Latin ones.
var scripts = map[string][]*unicode.RangeTable{"ru": {unicode.Cyrillic}, "uk": {unicode.Cyrillic},
	"bg": {unicode.Cyrillic}, "el": {unicode.Greek}, "ar": {unicode.Arabic}, "hi": {unicode.Devanagari},
	"he": {unicode.Hebrew}, "th": {unicode.Thai},
	"ja": {unicode.Han, unicode.Hiragana, unicode.Katakana},
	"zh": {unicode.Han}, text.Traditional: {unicode.Han},
	"ko": {unicode.Hangul, unicode.Han}}

// readable reports whether most letters of a text are of the script of a language: others cannot stand in its
// sentences.
func readable(text, language string) bool {
	tables := scripts[language]
	if tables == nil {
		tables = []*unicode.RangeTable{unicode.Latin}
	}
	own, letters := 0, 0
	for _, r := range text {
		if unicode.IsLetter(r) {
			letters++
			if unicode.In(r, tables...) {
				own++
			}
		}
	}
	return 2*own >= letters
}

const (
	// The longest titles, names and first lines, in characters.
	maxTitle, maxName, maxHook = 60, 40, 160
	// The hashtags of a text that bounds none, and the shortest and the longest words that are worth one.
	usualHashtags          = 5
	minHashtag, maxHashtag = 4, 20
	// style is the style of all pictures.
	style = "Documentary photography, soft daylight, muted colors, shallow depth of field"
	// spare is the hashtag of a text whose topic has no word for one.
	spare = "sandbox"
)

// Order is the request for a text.
type Order struct {
	// Language is a tag of BCP 47.
	Language string
	// Topic is what the text is about, on one line without the end of a sentence.
	Topic string
	About provider.About
	// Slides, Pictures, Scenes and Sources are numbers, and Seconds is the length of the script.
	Slides, Pictures, Scenes, Seconds, Sources int
	Headline                                   bool
	Short                                      []provider.ShortVersion
	Hashtags                                   int // the most of them, as in provider.Request
	// Seed chooses among sentences and first lines of the language.
	Seed uint32
}

// writer writes one text from the sentences of its language.
type writer struct {
	Order
	Lines
	language, topic string
	// offer are the sentences about the product.
	offer []string
}

// Write writes a text: about the topic and the product, as the kind of content and the type of factory have it.
func Write(o Order) provider.Text {
	w := writer{Order: o, Lines: LinesOf(o.Language), language: WrittenIn(o.Language), topic: o.Topic}
	if !readable(o.Topic, w.language) {
		w.topic = w.Subject
	}
	w.offer = w.offers()
	title := headline(Capital(w.topic))
	t := provider.Text{Title: title, Hashtags: w.hashtags(), Style: style}
	t.Hooks, t.HookKinds, t.Hook = w.hooks()
	paragraphs := []string{t.Hooks[t.Hook-1]}
	if about := w.About.Channel; w.About.Product == "" && readable(about, w.language) {
		paragraphs = append(paragraphs, sentence(about))
	}
	paragraphs = append(paragraphs, strings.Join(w.offer, " "))
	closing := cmp.Or(w.Close[w.About.Type], w.Close["blogger"])
	if w.About.Kind != "story" {
		paragraphs = append(paragraphs, cmp.Or(w.Body[w.About.Kind], w.Body["post"]), closing)
	}
	t.Caption = strings.Join(slices.DeleteFunc(paragraphs, func(p string) bool { return p == "" }), "\n\n")
	for _, s := range o.Short {
		caption := short(t.Hooks[t.Hook-1], closing, s.Characters)
		t.Short = append(t.Short, provider.Short{Platform: s.Platform, Caption: caption})
	}
	if o.Headline {
		t.Headline = provider.Clip(title, maxName)
	}
	if o.Sources > 0 {
		t.Sources = []int{1}
	}
	for range o.Pictures {
		t.Pictures = append(t.Pictures, w.picture(title))
	}
	for i, heading := range w.headings(title, t) {
		slide := provider.Slide{Heading: heading, Picture: w.picture(heading)}
		if i > 0 {
			slide.Body = w.SlideBodies[i%len(w.SlideBodies)]
		}
		t.Slides = append(t.Slides, slide)
	}
	if w.About.Kind == "music_clip" {
		t.Sound = "Slow and warm, with a soft piano over strings."
	}
	t.Scenes = w.scenes(title)
	return t
}

func (w writer) fill(text string) string {
	a := w.About
	about := ""
	if readable(a.Description, w.language) {
		about = sentence(a.Description)
	}
	return strings.TrimSpace(Fill(text, "topic", w.topic, "product", a.Product, "about", about, "price", a.Price,
		"was", a.Was, "until", until(a.Until, w.Date)))
}

// offers are the sentences about the product, if there is one.
func (w writer) offers() (all []string) {
	if w.About.Product != "" {
		all = append(all, w.fill(w.Product))
	}
	switch {
	case w.About.Was != "":
		all = append(all, w.fill(w.ReducedPrice))
	case w.About.Price != "":
		all = append(all, w.fill(w.Price))
	}
	return all
}

// hooks returns three first lines, their kinds, and the number of the chosen one. News lead with what is known.
func (w writer) hooks() (all, kinds []string, chosen int) {
	kinds, chosen = slices.Clone(hookKinds), 1+int(w.Seed%uint32(len(hookKinds)))
	for _, hook := range w.Hooks {
		all = append(all, provider.Clip(w.fill(hook), maxHook))
	}
	if w.About.Type == "news" {
		all[0], all[1] = provider.Clip(w.fill(w.Lead), maxHook), sentence(Capital(w.topic))
		return all, []string{"news", "news", "news"}, 1
	}
	return all, kinds, chosen
}

// short returns a text of at most n characters: the first line, and the end if there is room.
func short(hook, closing string, n int) string {
	if all := hook + "\n\n" + closing; utf8.RuneCountInString(all) <= n {
		return all
	}
	return provider.Clip(hook, n)
}

func (w writer) picture(subject string) provider.Picture {
	return provider.Picture{Visual: "A quiet scene about: " + subject, Alt: Fill(w.Alt, "subject", subject)}
}

// headings returns the headings of a carousel: its title first, then thoughts and the product, and an invitation last.
func (w writer) headings(title string, t provider.Text) (all []string) {
	from := w.Seed % uint32(len(w.Lines.Slides))
	thoughts := slices.Concat(w.Lines.Slides[from:], w.Lines.Slides[:from], t.Hooks)
	for i := range w.Order.Slides {
		switch {
		case i == 0:
			all = append(all, title)
		case i == w.Order.Slides-1:
			all = append(all, w.SlideClose)
		case i == 1 && w.About.Product != "":
			all = append(all, w.About.Product)
		case i == 2 && w.About.Price != "":
			all = append(all, w.fill(w.SlidePrice))
		default:
			all = append(all, thoughts[i%len(thoughts)])
		}
	}
	return all
}

// scenes divides the sentences of the script among the scenes, so that each is spoken in its time.
func (w writer) scenes(title string) (all []provider.Scene) {
	opening := Fill(w.Lines.Scenes[0], "topic", title)
	sentences := slices.Concat([]string{opening}, w.offer, w.Lines.Scenes[1:])
	var rest []string
	for i := range w.Order.Scenes {
		spoken, said := time.Duration(w.Seconds)*time.Second/time.Duration(w.Order.Scenes), ""
		for {
			if len(rest) == 0 {
				rest = slices.Clone(sentences)
			}
			next := slices.IndexFunc(rest,
				func(more string) bool { return provider.SpokenLength(said+" "+more) <= spoken })
			if next < 0 {
				break
			}
			said = strings.TrimSpace(said + " " + rest[next])
			rest = slices.Delete(rest, next, next+1)
		}
		if said == "" {
			said = provider.ClipSpoken(opening, spoken)
		}
		scene := provider.Scene{Text: said, Visual: w.picture(title).Visual}
		if i == 0 {
			scene.OnScreen = provider.Clip(title, maxName)
		}
		all = append(all, scene)
	}
	return all
}

// headline returns the beginning of a text: as much as fits into a title, and its last clause as a whole if it can.
func headline(text string) string {
	short := provider.Clip(text, maxTitle)
	if cut := strings.LastIndex(short, ", "); short != text && cut > 0 {
		short = short[:cut]
	}
	return short
}

// ends are the signs that end a sentence.
const ends = ".!?…。！？؟।"

// sentence returns a text that ends a sentence, or "".
func sentence(text string) string {
	text = strings.TrimSpace(text)
	last, _ := utf8.DecodeLastRuneInString(text)
	switch {
	case text == "" || strings.ContainsRune(ends, last):
		return text
	case unicode.In(last, unicode.Han, unicode.Hiragana, unicode.Katakana):
		return text + "。"
	case unicode.Is(unicode.Devanagari, last):
		return text + "।"
	}
	return text + "."
}

// until returns a day in the layout of a language.
func until(day, layout string) string {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return day
	}
	return at.Format(layout)
}

// hashtags returns the longest words of the product and of the topic, in their order, each once.
func (w writer) hashtags() (tags []string) {
	most := min(cmp.Or(w.Order.Hashtags, usualHashtags), usualHashtags)
	if most < 0 {
		return []string{}
	}
	var known []string
	for _, word := range strings.FieldsFunc(strings.ToLower(w.About.Product+" "+w.topic), func(r rune) bool {
		return !unicode.In(r, unicode.Letter, unicode.Mark, unicode.Number)
	}) {
		if n := utf8.RuneCountInString(word); n >= minHashtag && n <= maxHashtag && !slices.Contains(known, word) {
			known = append(known, word)
		}
	}
	longest := slices.SortedStableFunc(slices.Values(known), func(a, b string) int {
		return cmp.Compare(utf8.RuneCountInString(b), utf8.RuneCountInString(a))
	})
	longest = longest[:min(len(longest), most)]
	for _, word := range known {
		if slices.Contains(longest, word) {
			tags = append(tags, word)
		}
	}
	if tags == nil {
		return []string{spare}
	}
	return tags
}
