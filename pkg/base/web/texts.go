package web

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
)

// Tongue is a language of the pages for people without an account.
type Tongue struct {
	Code, Name string
	// Date is the pattern of a date, of its day, the name of its month and its year.
	Date string
}

// Tongues are the languages of these pages. The first one is that of readers who prefer none of them.
var Tongues = []Tongue{{"en", "English", "%d %s %d"}, {"ru", "Русский", "%d %s %d"}, {"de", "Deutsch", "%d. %s %d"},
	{"es", "Español", "%d de %s de %d"}, {"fr", "Français", "%d %s %d"}, {"pt", "Português", "%d de %s de %d"},
	{"ar", "العربية", "%d %s %d"}, {"ja", "日本語", "%[3]d年%[2]s%[1]d日"}}

// TongueOf returns the language that the reader of a page has chosen by the parameter lang, or that of the browser.
func TongueOf(req *http.Request) (code string, chosen bool) {
	codes := make([]string, len(Tongues))
	for i, t := range Tongues {
		codes[i] = t.Code
	}
	if asked := req.URL.Query().Get("lang"); Language(asked, codes) == asked {
		return asked, true
	}
	return Language(req.Header.Get("Accept-Language"), codes), false
}

// Direction returns the direction of the text of a language: ltr or rtl.
func Direction(code string) string {
	if code == "ar" {
		return "rtl"
	}
	return "ltr"
}

// Texts returns the translation of texts into Tongues. The file has a line for each text: English, and after a tab each
// of the other languages in their order. A text that the file lacks stays English. Values are those of fmt.Sprintf.
func Texts(file string) func(code, text string, values ...any) string {
	read := sync.OnceValue(func() map[string][]string {
		all := map[string][]string{}
		for line := range strings.Lines(file) {
			texts := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			all[texts[0]] = texts
		}
		return all
	})
	return func(code, text string, values ...any) string {
		for i, translated := range read()[text] {
			if i < len(Tongues) && Tongues[i].Code == code {
				text = translated
				break
			}
		}
		if len(values) > 0 {
			return fmt.Sprintf(text, values...)
		}
		return text
	}
}
