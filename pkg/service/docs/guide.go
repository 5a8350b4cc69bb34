package docs

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/web"
)

// The paths of the pages. The pages of guides and codes are below them.
const (
	explorerPath = "/api-docs/explorer"
	guidesPath   = "/api-docs/guides"
	errorsPath   = "/api-docs/errors"
	assetsPath   = "/api-docs/assets/"
)

var (
	//go:embed guides
	guideTexts embed.FS

	//go:embed page.html
	pageFrame string

	//go:embed page.css
	pageStyle []byte

	//go:embed page.js
	pageScript []byte
)

// guide is a guide and its group in the navigation.
type guide struct{ group, name, title string }

// guides are the guides in the order of the navigation. The name of the file is the last part of the path.
var guides = []guide{
	{"Start", "quick-start", "Quick start"},
	{"Start", "first-hour", "The first hour of a shop"},
	{"Start", "authentication", "Authentication"},
	{"Start", "sandbox", "Sandbox"},
	{"Start", "clients", "Clients"},
	{"Start", "testing", "Tests of your own"},
	{"Start", "idempotency", "Idempotency"},
	{"Start", "lists", "Lists and changes"},
	{"Start", "agencies", "Clients of an agency"},
	{"Start", "client-month", "A month for a client"},
	{"Start", "three-platforms", "Three platforms, one month, one bill"},
	{"Content", "media", "Media of your own"},
	{"Content", "products", "Products and promotions"},
	{"Content", "finished-media", "Finished media"},
	{"Content", "law-and-origin", "Law and origin"},
	{"Content", "plans", "Content plans"},
	{"Content", "checked-texts", "Checked texts and sources"},
	{"Content", "automations", "Automations"},
	{"Publishing", "publishing", "Publishing"},
	{"Publishing", "own-posts", "Own posts, approval and the calendar"},
	{"Publishing", "law-and-origin", "Law and origin"},
	{"Publishing", "social", "Social accounts"},
	{"Publishing", "engagement", "Comments"},
	{"Publishing", "analytics", "Analytics"},
	{"Advice", "diagnosis", "Diagnoses and proposals"},
	{"Advice", "experiments", "Experiments"},
	{"Advice", "training", "Trained models"},
	{"Advice", "architect", "The architect"},
	{"Integrations", "integrations", "CRM integrations"},
	{"Integrations", "agents", "Agents"},
	{"Integrations", "n8n", "n8n"},
	{"Integrations", "zapier-and-make", "Zapier and Make"},
	{"Operation", "webhooks", "Webhooks"},
	{"Operation", "credits", "Credits"},
	{"Operation", "limits", "Limits"},
	{"Operation", "transfer", "Leaving and moving"},
	{"Operation", "service-levels", "Service levels"},
	{"Operation", "changelog", "Changelog"},
}

// pagePolicy is the policy of the guides and the pages of codes. They can be read without their script.
const pagePolicy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; font-src 'self'; " +
	"img-src data:; " +
	"frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

// addGuides adds the guides and the pages of the error codes. They are rendered on the first request.
func (h handler) addGuides() {
	styles := append([]byte(web.FontFaces("")), pageStyle...)
	style, script := "page-"+digest(styles)+".css", "page-"+digest(pageScript)+".js"
	h[assetsPath+style] = &page{content: fixed(styles), kind: "text/css; charset=utf-8", caching: forever}
	h[assetsPath+script] = &page{content: fixed(pageScript), kind: scriptType, caching: forever}
	for name, font := range web.Fonts() {
		h[assetsPath+name] = &page{content: fixed(font), kind: "font/woff2", caching: forever}
	}
	h[guidesPath+"/index.json"] = &page{content: content(func() []byte { return guideIndex(false) }),
		kind: "application/json"}
	add := func(path, title string, markdown func() []byte) {
		h[path] = &page{kind: htmlType, policy: pagePolicy, content: content(func() []byte {
			return written{path, title, markdown(), false}.render(style, script)
		})}
	}
	h.addRussian(style, script)
	for _, g := range guides {
		add(guidesPath+"/"+g.name, g.title, func() []byte { return guideText(g.name) })
	}
	add(errorsPath, "Errors", errorIndex)
	for _, info := range errs.Infos {
		add(errorsPath+"/"+string(info.Code), string(info.Code), func() []byte { return errorPage(info) })
	}
	h.addRussianErrors(style, script)
}

// guideText returns the text of a guide in Markdown.
func guideText(name string) []byte {
	text, err := guideTexts.ReadFile("guides/" + name + ".md")
	if err != nil {
		panic(err) // a test reads every guide
	}
	return text
}

// indexed is a guide in the index of the search: its text up to the first section, and its sections.
type indexed struct {
	Path     string           `json:"path"`
	Title    string           `json:"title"`
	Text     string           `json:"text"`
	Sections []indexedSection `json:"sections"`
}

type indexedSection struct {
	ID      string `json:"id"`
	Heading string `json:"heading"`
	Text    string `json:"text"`
}

var (
	sectionHead = regexp.MustCompile(`<h[23] id="([^"]+)">(.*?)</h[23]>`)
	element     = regexp.MustCompile(`<[^>]*>`)
)

// guideIndex returns the index of the search, in one language.
func guideIndex(russian bool) []byte {
	plain := func(part string) string {
		return strings.Join(strings.Fields(html.UnescapeString(element.ReplaceAllString(part, " "))), " ")
	}
	var all []indexed
	for _, g := range (written{russian: russian}).listed() {
		var out bytes.Buffer
		if err := renderer().Convert(guideText(strings.TrimPrefix(g.path, guidesPath+"/")), &out); err != nil {
			panic(err) // writing to memory does not fail
		}
		text := out.String()
		heads := sectionHead.FindAllStringSubmatchIndex(text, -1)
		end := func(i int) int {
			if i < len(heads) {
				return heads[i][0]
			}
			return len(text)
		}
		one := indexed{strings.TrimPrefix(g.path, "/api-docs/"), g.title, plain(text[:end(0)]), []indexedSection{}}
		for i, at := range heads {
			one.Sections = append(one.Sections, indexedSection{text[at[2]:at[3]], plain(text[at[4]:at[5]]),
				plain(text[at[1]:end(i+1)])})
		}
		all = append(all, one)
	}
	index, err := json.Marshal(all)
	if err != nil {
		panic(err) // there are texts alone
	}
	return index
}

var renderer = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(extension.Table),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()))
})

// errorIndex returns the page of all codes.
func errorIndex() []byte {
	var out bytes.Buffer
	out.WriteString("# Errors\n\nA response that is not 2xx has an `error`:\n\n```json\n" +
		example(errs.InfoOf(errs.InsufficientBalance)) + "\n```\n\n" +
		"| Member | Value |\n|---|---|\n" +
		"| `code` | What is wrong, for programs. A code never changes its meaning |\n" +
		"| `message` | What is wrong and what to do, for developers. It may change |\n" +
		"| `type` | Kind of the error, by status |\n" +
		"| `param` | The member or parameter at fault: a JSON pointer, such as `/settings/brand_name`, or a name |\n" +
		"| `details` | With `validation_failed`: every fault, with `param` and `message` |\n" +
		"| `context` | Data of the code, such as the credits that are missing |\n" +
		"| `doc_url` | The page about the code |\n\n" +
		"Decide by `code`, log `message` and `request_id`. [Limits](guides/limits) says when to repeat a " +
		"request.\n\n## Codes\n\n| Status | Code | Meaning |\n|---|---|---|\n")
	for _, i := range errs.Infos {
		fmt.Fprintf(&out, "| %d | [`%s`](errors/%[2]s) | %s |\n", i.Status, i.Code, i.Meaning)
	}
	out.WriteString("\nA 502 without this shape can come from the gateway. Treat it as " +
		"[`internal`](errors/internal).\n")
	return out.Bytes()
}

// errorPage returns the page of a code.
func errorPage(i errs.Info) []byte {
	return fmt.Appendf(nil, "# `%s`\n\n%s\n\n| Status | Type |\n|---|---|\n| %d %s | `%s` |\n\n"+
		"## When\n\n%s\n\n## What to do\n\n%s\n\n## Repeat the request?\n\n%s\n\n## "+
		"Example\n\n```json\n%s\n```\n\n[All codes](../errors) · [API reference](../explorer)\n",
		i.Code, i.Meaning, i.Status, http.StatusText(i.Status), i.Type, i.When, i.Fix, i.Retry, example(i))
}

// example returns the body of a response with a code.
func example(i errs.Info) string {
	var out bytes.Buffer
	if err := json.Indent(&out, i.Response(), "", "  "); err != nil {
		panic(err) // a test reads every page
	}
	return out.String()
}
