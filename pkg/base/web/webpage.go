package web

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"log/slog"
	"net/http"
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
