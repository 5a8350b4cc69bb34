package docs

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"slices"
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

	referencePath = "/api-docs/reference"
	searchPath    = "/api-docs/search"
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

// path returns the path of the page of a guide.
func (g guide) path() string { return guidesPath + "/" + g.name }

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
	{"Content", "shop-day", "A shop's first day"},
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
	"img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"

// addGuides adds the assets of all pages, the guides and the pages of the error codes.
func (h *handler) addGuides() {
	styles := append([]byte(web.FontFaces("")), pageStyle...)
	h.style, h.script = "page-"+digest(styles)+".css", "page-"+digest(pageScript)+".js"
	h.pages[assetsPath+h.style] = &page{content: fixed(styles), kind: "text/css; charset=utf-8", caching: forever}
	h.pages[assetsPath+h.script] = &page{content: fixed(pageScript), kind: scriptType, caching: forever}
	for name, font := range web.Fonts() {
		h.pages[assetsPath+name] = &page{content: fixed(font), kind: "font/woff2", caching: forever}
	}
	add := func(path, title string, markdown func() []byte) {
		h.addPage(path, func() []byte { return h.textPage(textPage{path, title, markdown()}) })
	}
	for _, g := range guides {
		add(g.path(), g.title, func() []byte { return guideText(g.name) })
	}
	add(errorsPath, "Errors", errorIndex)
	for _, info := range errs.Infos {
		add(errorsPath+"/"+string(info.Code), string(info.Code), func() []byte { return errorPage(info) })
	}
}

// guideText returns the text of a guide in Markdown.
func guideText(name string) []byte {
	text, err := guideTexts.ReadFile("guides/" + name + ".md")
	if err != nil {
		panic(err) // a test reads every guide
	}
	return text
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
		"Example\n\n```json\n%s\n```\n\n[All codes](../errors) · [API reference](../reference)\n",
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

// textPage is a page of the documentation with a text.
type textPage struct {
	path, title string
	markdown    []byte
}

// to returns the relative address of a path of the documentation.
func (p textPage) to(path string) string {
	return rootOf(p.path) + strings.TrimPrefix(path, "/api-docs/")
}

// textPage returns a page with a text.
func (h *handler) textPage(p textPage) []byte {
	var content bytes.Buffer
	if err := renderer().Convert(p.markdown, &content); err != nil {
		panic(err) // writing to memory does not fail
	}
	// Elements that may be wider than the page can be scrolled, also by keyboard.
	scrolled := strings.NewReplacer("<pre>", `<pre tabindex="0">`, "<table>", `<div class="table" tabindex="0"><table>`,
		"</table>", "</table></div>")
	text := h.reference().linked(tabbed(content.String()), rootOf(p.path))
	return h.render(frame{path: p.path, title: p.title, class: "guide",
		side:    aside("Guides", []byte("<nav aria-label=\"Documentation\">\n"+p.links()+"</nav>\n")),
		content: highlight(scrolled.Replace(text)) + p.around(), contents: contents(content.String())})
}

// contents returns the list of the sections of a page that has some.
func contents(text string) string {
	var out strings.Builder
	heads := sectionHead().FindAllStringSubmatch(text, -1)
	for _, head := range heads {
		if strings.HasPrefix(head[0], "<h2") {
			fmt.Fprintf(&out, "<li><a href=\"#%s\">%s</a></li>\n", head[1], element().ReplaceAllString(head[2], ""))
		}
	}
	if strings.Count(out.String(), "<li>") < 2 {
		return ""
	}
	return "<nav class=\"contents\" aria-label=\"On this page\"><p>On this page</p><ul>\n" + out.String() +
		"</ul></nav>\n"
}

// around returns the links to the guides before and after this one.
func (p textPage) around() string {
	at := slices.IndexFunc(guides, func(g guide) bool { return g.path() == p.path })
	if at < 0 {
		return ""
	}
	var out strings.Builder
	add := func(i int, rel, text string) {
		if i >= 0 && i < len(guides) {
			fmt.Fprintf(&out, "<a rel=\"%s\" href=\"%s\"><span>%s</span>%s</a>\n", rel, p.to(guides[i].path()), text,
				guides[i].title)
		}
	}
	add(at-1, "prev", "Previous")
	add(at+1, "next", "Next")
	return "<nav class=\"around\" aria-label=\"Previous, Next\">\n" + out.String() + "</nav>\n"
}

// links returns the lines of the navigation. The group of the page is open.
func (p textPage) links() string {
	var out strings.Builder
	add := func(to, title string) {
		current := ""
		if to == p.path {
			current = ` aria-current="page"`
		}
		fmt.Fprintf(&out, "<li><a href=\"%s\"%s>%s</a></li>\n", p.to(to), current, title)
	}
	group := ""
	begin := func(next string, open bool) {
		if group != "" {
			out.WriteString("</ul></details>\n")
		}
		if group = next; group == "" {
			return
		}
		attribute := ""
		if open {
			attribute = " open"
		}
		fmt.Fprintf(&out, "<details%s><summary>%s</summary><ul>\n", attribute, group)
	}
	for i, g := range guides {
		if g.group != group {
			begin(g.group, slices.ContainsFunc(guides[i:], func(other guide) bool {
				return other.group == g.group && p.path == other.path()
			}))
		}
		add(g.path(), g.title)
	}
	begin("Reference", strings.HasPrefix(p.path, errorsPath))
	add(errorsPath, "Errors")
	add(referencePath, "API reference")
	add(explorerPath, "Explorer")
	begin("", false)
	return out.String()
}

const (
	quoted    = `"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'`
	number    = `(?P<n>\b\d+(?:\.\d+)?\b)`
	lineHash  = `(?P<c>(?m:(?:^|\s)#[^\n]*))`
	lineSlash = `(?P<c>(?m:(?:^|\s)//[^\n]*))`
	goWords   = `break|case|const|continue|default|defer|else|for|func|go|if|import|map|nil|package|range|return|` +
		`struct|switch|type|var`
	jsWords = `async|await|catch|const|default|else|export|for|from|function|if|import|let|new|null|of|return|` +
		`throw|try|undefined`
	pyWords    = `and|as|def|else|except|False|for|from|if|import|in|None|not|or|raise|return|True|try|while|with`
	shellWords = `curl|do|done|echo|else|export|fi|for|if|in|then|until|while|wait`
)

// syntaxes find what code samples show in colors, by the name of their language: comments (c), texts (s), words and the
// members of JSON (k), and numbers (n). They are simple: a part that they miss is shown as the rest.
var syntaxes = func() map[string]*regexp.Regexp {
	words := func(list string) string { return `(?P<k>\b(?:` + list + `)\b)` }
	code := func(comment, list string) *regexp.Regexp {
		return regexp.MustCompile(comment + "|(?P<s>" + quoted + "|`[^`]*`)|" + words(list) + "|" + number)
	}
	shell := regexp.MustCompile(lineHash + `|(?P<s>` + quoted + `)|` + words(shellWords) + `|(?P<n>\$\{?\w+\}?)`)
	python := regexp.MustCompile(lineHash + `|(?P<s>` + quoted + `)|` + words(pyWords) + `|` + number)
	return map[string]*regexp.Regexp{
		"json": regexp.MustCompile(`(?P<k>"(?:[^"\\]|\\.)*"\s*:)|(?P<s>` + quoted +
			`)|(?P<n>\b(?:true|false|null)\b|-?\b\d+(?:\.\d+)?\b)`),
		"sh": shell, "bash": shell, "python": python, "py": python, "yaml": python,
		"go": code(lineSlash, goWords), "js": code(lineSlash, jsWords), "ts": code(lineSlash, jsWords),
		"javascript": code(lineSlash, jsWords), "typescript": code(lineSlash, jsWords),
	}
}()

var sample = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)<code class="language-(\w+)">(.*?)</code>`)
})

// highlight adds the colors to the code samples of a page.
func highlight(page string) string {
	return sample().ReplaceAllStringFunc(page, func(found string) string {
		parts := sample().FindStringSubmatch(found)
		syntax := syntaxes[parts[1]]
		if syntax == nil {
			return found
		}
		code, names := html.UnescapeString(parts[2]), syntax.SubexpNames()
		var out strings.Builder
		last := 0
		for _, at := range syntax.FindAllStringSubmatchIndex(code, -1) {
			for i := 1; i < len(names); i++ {
				if at[2*i] < 0 || names[i] == "" {
					continue
				}
				out.WriteString(html.EscapeString(code[last:at[0]]))
				out.WriteString(`<span class="` + names[i] + `">` + html.EscapeString(code[at[0]:at[1]]) + `</span>`)
				last = at[1]
				break
			}
		}
		out.WriteString(html.EscapeString(code[last:]))
		return `<code class="language-` + parts[1] + `">` + out.String() + `</code>`
	})
}
