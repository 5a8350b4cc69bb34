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
	sectionHead = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`<h[23] id="([^"]+)">(.*?)</h[23]>`)
	})
	element = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`<[^>]*>`)
	})
)

// guideIndex returns the index of the search, in one language.
func guideIndex(russian bool) []byte {
	plain := func(part string) string {
		return strings.Join(strings.Fields(html.UnescapeString(element().ReplaceAllString(part, " "))), " ")
	}
	var all []indexed
	for _, g := range (written{russian: russian}).listed() {
		var out bytes.Buffer
		if err := renderer().Convert(guideText(strings.TrimPrefix(g.path, guidesPath+"/")), &out); err != nil {
			panic(err) // writing to memory does not fail
		}
		text := out.String()
		heads := sectionHead().FindAllStringSubmatchIndex(text, -1)
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

// russianPath is the path of the guides in Russian. A guide that is not translated has no page there.
const russianPath = guidesPath + "/ru"

// russianTitles are the titles of the translated guides, by their names. The order is that of guides.
var russianTitles = map[string]string{
	"quick-start": "Быстрый старт", "authentication": "Аутентификация", "webhooks": "Вебхуки",
	"own-posts": "Свои посты, согласование и календарь", "limits": "Лимиты и ошибки", "media": "Свои медиа",
	"publishing": "Публикация",
}

// russianGroups are the groups of the navigation in Russian.
var russianGroups = map[string]string{"Start": "Начало", "Content": "Контент", "Publishing": "Публикация",
	"Operation": "Работа", "Reference": "Справочник"}

// words are the texts of the frame in a language.
type words map[string]string

// in returns a text in the language of the page. English texts are their own names.
func (w words) in(text string) string {
	if other, ok := w[text]; ok {
		return other
	}
	return text
}

var russianWords = words{
	"Skip to content": "К содержанию", "Account area": "Личный кабинет", "Guides": "Руководства",
	"API reference": "Справочник API", "Search the guides": "Поиск по руководствам", "Errors": "Ошибки",
	"On this page": "На этой странице", "Previous": "Назад", "Next": "Дальше", "Documentation": "Документация",
	"All guides are in English": "Все руководства на английском", "Reference": "Справочник", "Site": "Сайт",
}

// written is a page of the documentation with a text.
type written struct {
	path, title string
	markdown    []byte
	russian     bool
}

func (p written) words() words {
	if p.russian {
		return russianWords
	}
	return nil
}

// root returns the relative address of the folder of the documentation.
func (p written) root() string {
	return strings.Repeat("../", strings.Count(strings.TrimPrefix(p.path, "/api-docs/"), "/"))
}

// to returns the relative address of a path of the documentation.
func (p written) to(path string) string { return p.root() + strings.TrimPrefix(path, "/api-docs/") }

// listed is a guide as the navigation of a page shows it.
type listed struct{ group, path, title string }

// listed returns the guides in the language of the page, in their order, each once.
func (p written) listed() (all []listed) {
	for _, g := range guides {
		if !p.russian {
			all = append(all, listed{g.group, guidesPath + "/" + g.name, g.title})
		} else if title := russianTitles[g.name]; title != "" {
			all = append(all, listed{russianGroups[g.group], russianPath + "/" + g.name, title})
		}
	}
	return all
}

// render returns the page in the frame of all pages.
func (p written) render(style, script string) []byte {
	var content bytes.Buffer
	if err := renderer().Convert(p.markdown, &content); err != nil {
		panic(err) // writing to memory does not fail
	}
	// Elements that may be wider than the page can be scrolled, also by keyboard.
	scrolled := strings.NewReplacer("<pre>", `<pre tabindex="0">`, "<table>", `<div class="table" tabindex="0"><table>`,
		"</table>", "</table></div>")
	w, language, index := p.words(), "en", ""
	if p.russian {
		language, index = "ru", ` data-index="guides/ru/index.json"`
	}
	texts := []string{"{{language}}", language, "{{title}}", html.EscapeString(p.title), "{{root}}", p.root(),
		"{{style}}", style, "{{script}}", script, "{{index}}", index, "{{links}}", p.links(), "{{other}}", p.other(),
		"{{contents}}", p.contents(content.String()), "{{around}}", p.around(),
		"{{content}}", highlight(scrolled.Replace(content.String()))}
	for _, text := range []string{"Skip to content", "Account area", "Guides", "API reference", "Search the guides",
		"Documentation", "Site"} {
		texts = append(texts, "{{"+text+"}}", w.in(text))
	}
	return []byte(strings.NewReplacer(texts...).Replace(pageFrame))
}

// other returns the link to the page in the other language, if there is one.
func (p written) other() string {
	if p.russian {
		english := strings.Replace(p.path, russianErrorsPath, errorsPath, 1)
		english = strings.Replace(english, russianPath, guidesPath, 1)
		return fmt.Sprintf("<a href=\"%s\" lang=\"en\" hreflang=\"en\">English</a>\n", p.to(english))
	}
	russian := russianPath + "/" + guides[0].name
	if code, is := strings.CutPrefix(p.path, errorsPath); is {
		russian = russianErrorsPath + code
	} else if name := strings.TrimPrefix(p.path, guidesPath+"/"); russianTitles[name] != "" {
		russian = russianPath + "/" + name
	}
	return fmt.Sprintf("<a href=\"%s\" lang=\"ru\" hreflang=\"ru\">Русский</a>\n", p.to(russian))
}

// contents returns the list of the sections of a page that has some.
func (p written) contents(text string) string {
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
	return fmt.Sprintf("<nav class=\"contents\" aria-label=\"%s\"><p>%[1]s</p><ul>\n%s</ul></nav>\n",
		p.words().in("On this page"), out.String())
}

// around returns the links to the guides before and after this one.
func (p written) around() string {
	all := p.listed()
	at := slices.IndexFunc(all, func(l listed) bool { return l.path == p.path })
	if at < 0 {
		return ""
	}
	var out strings.Builder
	add := func(i int, rel, text string) {
		if i >= 0 && i < len(all) && all[i].path != p.path {
			fmt.Fprintf(&out, "<a rel=\"%s\" href=\"%s\"><span>%s</span>%s</a>\n", rel, p.to(all[i].path),
				p.words().in(text), all[i].title)
		}
	}
	add(at-1, "prev", "Previous")
	add(at+1, "next", "Next")
	return "<nav class=\"around\" aria-label=\"" + p.words().in("Previous") + ", " + p.words().in("Next") + "\">\n" +
		out.String() + "</nav>\n"
}

// links returns the lines of the navigation. The group of the page is open.
func (p written) links() string {
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
	all := p.listed()
	for i, l := range all {
		if l.group != group {
			begin(l.group, slices.ContainsFunc(all[i:], func(other listed) bool {
				return other.group == l.group && p.path == other.path
			}))
		}
		add(l.path, l.title)
	}
	begin(p.words().in("Reference"), strings.HasPrefix(p.path, errorsPath))
	if p.russian {
		add(russianErrorsPath, p.words().in("Errors"))
	} else {
		add(errorsPath, "Errors")
	}
	add(explorerPath, p.words().in("API reference"))
	if p.russian {
		add(guidesPath+"/"+guides[0].name, p.words().in("All guides are in English"))
	}
	begin("", false)
	return out.String()
}

// addRussian adds the guides in Russian, with an index of their own.
func (h handler) addRussian(style, script string) {
	h[russianPath+"/index.json"] = &page{content: content(func() []byte { return guideIndex(true) }),
		kind: "application/json"}
	for name, title := range russianTitles {
		path := russianPath + "/" + name
		h[path] = &page{kind: htmlType, policy: pagePolicy, content: content(func() []byte {
			return written{path, title, guideText("ru/" + name), true}.render(style, script)
		})}
	}
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
