package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed layout.html
var layout string

//go:embed look.css
var look string

// Look returns the beginning of the style sheet of pages for people without an account: the fonts at a path, which ends
// with a slash, the colors, and the rules of what the pages have in common, such as their header.
func Look(fonts string) string { return FontFaces(fonts) + look }

// Design is the look of pages.
type Design struct {
	style func() string
	parse func() *template.Template
}

// Translations is the data of a page that is in several languages.
type Translations interface {
	// Language returns the code of the language of the page, such as de.
	Language() string
}

func languageOf(data any) string {
	if t, ok := data.(Translations); ok {
		return t.Language()
	}
	return "en"
}

// NewDesign returns a design with a style sheet. main is the template of the element <main>; its data has the member
// Title, and is Translated unless it is English. The template may call further functions. Both are made when a page is
// first written, because most starts of a function write none.
func NewDesign(main string, style func() string, further ...template.FuncMap) *Design {
	style = sync.OnceValue(style)
	return &Design{style: style, parse: sync.OnceValue(func() *template.Template {
		t := template.New("page")
		for _, functions := range further {
			t.Funcs(functions)
		}
		template.Must(t.Funcs(template.FuncMap{
			"style": func() template.CSS { return template.CSS(style()) },
			"add":   func(a, b int) int { return a + b },
			"lang":  languageOf, "direction": Direction,
			"mark": func() template.HTML { return Mark("var(--link)", "var(--back)") },
			// The name of the service stands where there is none of a customer's.
			"service": func() string { return ServiceName },
		}).Parse(layout))
		template.Must(t.New("main").Parse(main))
		return t
	})}
}

// Policy returns the Content-Security-Policy of the pages. It permits the style sheet and the further directives, such
// as "form-action 'self'; ", and no script.
func (d *Design) Policy(further string) string {
	sum := sha256.Sum256([]byte(d.style()))
	return "default-src 'none'; " + further + "style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; frame-ancestors 'none'; base-uri 'none'"
}

// Write answers a request of the method with a page. The page is not cached or indexed. Its address may contain a
// secret, and so goes to no other site. The caller may set further headers before.
func (d *Design) Write(w http.ResponseWriter, method string, status int, policy string, data any) {
	h := w.Header()
	SetHeaders(h)
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Robots-Tag", "noindex, nofollow")
	if method == http.MethodPost {
		KeepAnswer(h)
	}
	var body bytes.Buffer
	if err := d.parse().Execute(&body, data); err != nil {
		slog.Error("page not written", "error", err)
		http.Error(w, "", http.StatusInternalServerError)
		return
	}
	w.WriteHeader(status)
	if method == http.MethodHead {
		return
	}
	if _, err := w.Write(body.Bytes()); err != nil {
		slog.Warn("page not written", "error", err)
	}
}

// The fonts are made by infra/tools/console-assets.mjs. NOTICE has their licence.
//
//go:embed fonts/*.woff2
var fontFiles embed.FS

// fonts are the fonts: the family of each, its weights, and the characters that it is for.
var fonts = []struct{ file, family, weights, characters string }{
	{"inter", "Inter", "400 600", "U+20-7E,U+A0,U+B7,U+D7,U+2013-2014,U+2019,U+201C-201D,U+2026,U+2190,U+2192,U+2212"},
	{"inter-latin", "Inter", "400 600", "U+A1-B6,U+B8-D6,U+D8-FF"},
	{"inter-cyrillic", "Inter", "400 600", "U+401,U+410-44F,U+451,U+2116"},
	{"mono", "JetBrains Mono", "400", "U+20-7E"},
}

// Fonts are the contents of the fonts of all pages, by names that change with them.
var Fonts = sync.OnceValue(func() map[string][]byte {
	all := map[string][]byte{}
	for _, f := range fonts {
		content, _ := fontFiles.ReadFile("fonts/" + f.file + ".woff2")
		all[fontName(f.file, content)] = content
	}
	return all
})

func fontName(file string, content []byte) string {
	sum := sha256.Sum256(content)
	return file + "-" + hex.EncodeToString(sum[:6]) + ".woff2"
}

// FontFaces returns the rules of a style sheet for the fonts at a path, which ends with a slash or is empty. Text is
// shown in a font of the system until they are there.
func FontFaces(path string) string {
	var rules strings.Builder
	for _, f := range fonts {
		content, _ := fontFiles.ReadFile("fonts/" + f.file + ".woff2")
		fmt.Fprintf(&rules, "@font-face{font-family:%q;font-weight:%s;font-display:swap;"+
			"src:url(%s%s)format(\"woff2\");unicode-range:%s}\n", f.family, f.weights, path,
			fontName(f.file, content), f.characters)
	}
	return rules.String()
}

// The file has a line for each platform and CRM: its id, its name, a color, whether the mark is filled or drawn as a
// line, and its outline of 24 by 24 units. The marks are drawings of this project, and not the trademarks' files.
//
//go:embed logos.tsv
var logoFile string

var logos = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(logoFile) {
		if row := strings.Split(strings.TrimSuffix(line, "\n"), "\t"); len(row) == 5 {
			all[row[0]] = row[1:]
		}
	}
	return all
})

// Label returns the name of a platform or CRM by its id. That of an unknown one is the id.
func Label(id string) string {
	if row := logos()[id]; row != nil {
		return row[0]
	}
	return id
}

// Logo draws the mark of a platform or CRM, which says nothing beside its name. An unknown one has none.
func Logo(id string) template.HTML {
	row := logos()[id]
	if row == nil {
		return ""
	}
	look := `fill="none" stroke="#fff" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round"`
	if row[2] == "fill" {
		look = `fill="#fff"`
	}
	//nolint:gosec // all parts are constants of the program itself
	return template.HTML(`<svg class="logo-mark" viewBox="0 0 24 24" width="24" height="24" aria-hidden="true">` +
		`<rect width="24" height="24" rx="6" fill="` + row[1] + `"/><path ` + look + ` d="` + row[3] + `"/></svg>`)
}

// ServiceName is the name of the service on its pages.
const ServiceName = "Content-Automation"

// Mark draws the mark of the service, which says nothing beside its name. The arguments are CSS colors of the page.
func Mark(ground, line string) template.HTML {
	//nolint:gosec // the callers pass constants
	return template.HTML(`<svg viewBox="0 0 24 24" width="26" height="26" aria-hidden="true">` +
		`<rect width="24" height="24" rx="6" fill="` + ground + `"/><path d="M7 15.5 12 6l5 9.5M9 12.5h6" ` +
		`fill="none" stroke="` + line + `" stroke-width="2.2" stroke-linecap="round" stroke-linejoin="round"/></svg>`)
}

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

// Language returns the language that a browser prefers most of those that there are (RFC 9110, 12.5.4), from its header
// Accept-Language. It is the first one if the browser prefers none of them.
func Language(header string, known []string) string {
	best, most := known[0], 0.0
	for part := range strings.SplitSeq(header, ",") {
		tag, quality, has := strings.Cut(strings.TrimSpace(part), ";q=")
		code, _, _ := strings.Cut(strings.ToLower(tag), "-")
		weight := 1.0
		if has {
			var err error
			if weight, err = strconv.ParseFloat(quality, 64); err != nil {
				continue
			}
		}
		if weight > most && slices.Contains(known, code) {
			best, most = code, weight
		}
	}
	return best
}
