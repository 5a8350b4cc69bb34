package docs

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"

	"github.com/content-automation/api/pkg/base/errs"
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
)

// guides are the guides in the order of the navigation. The name of the file is the last part of the path.
var guides = []struct{ name, title string }{
	{"quick-start", "Quick start"},
	{"authentication", "Authentication"},
	{"sandbox", "Sandbox"},
	{"testing", "Tests of your own"},
	{"idempotency", "Idempotency"},
	{"lists", "Lists and changes"},
	{"media", "Media of your own"},
	{"products", "Products and promotions"},
	{"finished-media", "Finished media"},
	{"publishing", "Publishing"},
	{"plans", "Content plans"},
	{"social", "Social accounts"},
	{"diagnosis", "Diagnoses and proposals"},
	{"training", "Trained models"},
	{"architect", "The architect"},
	{"webhooks", "Webhooks"},
	{"analytics", "Analytics"},
	{"credits", "Credits"},
	{"limits", "Limits"},
	{"service-levels", "Service levels"},
	{"changelog", "Changelog"},
}

// stylePolicy is the policy of pages without scripts.
const stylePolicy = "default-src 'none'; style-src 'self'; img-src data:; frame-ancestors 'none'; base-uri 'none'; " +
	"form-action 'none'"

// addGuides adds the guides and the pages of the error codes. They are rendered on the first request.
func (h handler) addGuides() {
	style := "page-" + digest(pageStyle) + ".css"
	h[assetsPath+style] = &page{content: fixed(pageStyle), kind: "text/css; charset=utf-8", caching: forever}
	add := func(path, title string, markdown func() []byte) {
		h[path] = &page{kind: htmlType, policy: stylePolicy, content: content(func() []byte {
			return frame(path, title, style, markdown())
		})}
	}
	for _, g := range guides {
		add(guidesPath+"/"+g.name, g.title, func() []byte {
			text, err := guideTexts.ReadFile("guides/" + g.name + ".md")
			if err != nil {
				panic(err) // a test reads every guide
			}
			return text
		})
	}
	add(errorsPath, "Errors", errorIndex)
	for _, info := range errs.Infos {
		add(errorsPath+"/"+string(info.Code), string(info.Code), func() []byte { return errorPage(info) })
	}
}

// renderer converts Markdown to HTML.
var renderer = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(extension.Table),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()))
})

// frame inserts a page's HTML into the frame of all pages.
func frame(path, title, style string, markdown []byte) []byte {
	var content bytes.Buffer
	if err := renderer().Convert(markdown, &content); err != nil {
		panic(err) // writing to memory does not fail
	}
	root := "../"
	if path == errorsPath {
		root = ""
	}
	// Elements that may be wider than the page can be scrolled, also by keyboard.
	scrolled := strings.NewReplacer("<pre>", `<pre tabindex="0">`, "<table>", `<div class="table" tabindex="0"><table>`,
		"</table>", "</table></div>")
	return []byte(strings.NewReplacer(
		"{{title}}", html.EscapeString(title), "{{root}}", root, "{{style}}", style,
		"{{links}}", links(path, root), "{{content}}", scrolled.Replace(content.String()),
	).Replace(pageFrame))
}

// links returns the lines of the navigation.
func links(path, root string) string {
	var out strings.Builder
	add := func(to, title string) {
		current := ""
		if to == path {
			current = ` aria-current="page"`
		}
		fmt.Fprintf(&out, "<li><a href=\"%s\"%s>%s</a></li>\n", root+strings.TrimPrefix(to, "/api-docs/"),
			current, title)
	}
	for _, g := range guides {
		add(guidesPath+"/"+g.name, g.title)
	}
	add(errorsPath, "Errors")
	add(explorerPath, "API reference")
	return out.String()
}

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
	out.WriteString("\nA 502 without this shape can come from the gateway. Treat it as [`internal`](errors/internal).\n")
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
