package samples

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"
)

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
	Product string `json:"product"`
	Price   string `json:"price"`
	Reduced string `json:"reduced"`
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

var lines = sync.OnceValue(func() (all map[string]Lines) {
	raw, err := files.ReadFile("lines.json")
	if err == nil {
		err = json.Unmarshal(raw, &all)
	}
	if err != nil {
		panic(fmt.Sprintf("samples: lines: %v", err)) // the file is part of the program
	}
	return all
})

// Written lists the languages in which texts of content are written.
func Written() []string { return slices.Sorted(maps.Keys(lines())) }

// WrittenIn returns the language of Lines for a language tag (BCP 47): English for those without.
func WrittenIn(tag string) string {
	base, _, _ := strings.Cut(strings.ToLower(strings.ReplaceAll(tag, "_", "-")), "-")
	if _, known := lines()[base]; known {
		return base
	}
	return "en"
}

// LinesOf returns the sentences for a language tag.
func LinesOf(tag string) Lines { return lines()[WrittenIn(tag)] }

// scripts are the tables of letters of languages that are not written in Latin ones.
var scripts = map[string][]*unicode.RangeTable{"ru": {unicode.Cyrillic}, "uk": {unicode.Cyrillic},
	"ar": {unicode.Arabic}, "hi": {unicode.Devanagari}, "ja": {unicode.Han, unicode.Hiragana, unicode.Katakana},
	"zh": {unicode.Han},
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
