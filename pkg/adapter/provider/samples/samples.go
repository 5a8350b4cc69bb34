// Package samples has the texts that the sandbox and the fakes of language models write, by language. They are written
// by hand, and stand for what a language model writes with a live key: they say nothing but what they are given, ask
// readers a question, and have none of the phrases that the prompts ban. Start with Write.
package samples

import (
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

//go:embed texts lines.json
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

// known has a function for each language, which reads its texts when they are needed.
var known = func() map[string]func() Texts {
	all := map[string]func() Texts{}
	for _, language := range Languages {
		all[language] = sync.OnceValue(func() (t Texts) {
			raw, err := files.ReadFile("texts/" + language + ".json")
			if err == nil {
				err = json.Unmarshal(raw, &t)
			}
			if err != nil {
				panic(fmt.Sprintf("samples: %s: %v", language, err)) // the file is part of the program
			}
			return t
		})
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
func Of(tag string) Texts { return known[Language(tag)]() }

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
