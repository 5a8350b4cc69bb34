package console

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/content-automation/api/pkg/base/web"
)

// The file has a line for each text: English, a tab, and Russian.
//
//go:embed texts.tsv
var textFile string

// language is a language of the pages.
type language struct{ Code, Name string }

var languages = []language{{"en", "English"}, {"ru", "Русский"}}

func known(code string) bool {
	return slices.ContainsFunc(languages, func(l language) bool { return l.Code == code })
}

// russian are the Russian texts by the English ones.
var russian = sync.OnceValue(func() map[string]string {
	texts := map[string]string{}
	for line := range strings.Lines(textFile) {
		if english, other, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); ok {
			texts[english] = other
		}
	}
	return texts
})

// translate returns a text in a language. A text that the file lacks, such as a message of the API, stays English.
func translate(code, text string) string {
	if code == "ru" {
		if other, ok := russian()[text]; ok {
			return other
		}
	}
	return text
}

// preferred returns the language of the pages that a browser prefers most.
func preferred(header string) string {
	codes := make([]string, len(languages))
	for i, l := range languages {
		codes[i] = l.Code
	}
	return web.Language(header, codes)
}
