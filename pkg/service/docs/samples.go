package docs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"html/template"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/content-automation/api/pkg/base/text"
)

// exampleHost stands for the address of the service in samples. The script of the pages puts the real one there.
const exampleHost = "https://api.example.com"

// language is a language of samples: its name in the tabs, in the memory of the browser, and in fences of Markdown.
type language struct{ id, label, fence string }

// languages are those of the tabs, in their order.
var languages = []language{
	{"sh", "curl", "sh"}, {"ts", "TypeScript", "ts"}, {"python", "Python", "python"}, {"go", "Go", "go"},
	{"cli", "Command line", "sh"},
}

// sampleOf is the sample of an operation in a language. The explorer and the tests of the clients read it too.
type sampleOf struct {
	Language string `json:"lang"`
	Label    string `json:"label"`
	Source   string `json:"source"`
}

// call has what the samples of an operation are written from.
type call struct {
	*operation
	ids    []string // of the path, in its order
	query  string   // with the parameters that are required
	params string   // the same for Go
	typed  bool     // the method of Go takes parameters
	plain  bool     // a parameter has a type of its own in Go, whose name the document does not have
	key    bool     // the call takes an idempotency key
	sent   json.RawMessage
}

var pathID = regexp.MustCompile(`{(\w+)}`)

// call finds what the samples of an operation need.
func (r *reference) call(o *operation) call {
	c := call{operation: o}
	values := map[string]string{}
	var query, fields []string
	for _, p := range r.parameters(o) {
		values[p.Name] = p.value()
		c.key = c.key || p.Name == "Idempotency-Key"
		if p.In != "query" {
			continue
		}
		if c.typed = true; p.Required {
			query = append(query, p.Name+"="+p.value())
			fields = append(fields, fmt.Sprintf("%s: contentautomation.Ptr(%q)", text.Go(p.Name), p.value()))
			of := r.resolve(p.Schema)
			c.plain = c.plain || len(of.Enum)+len(of.Extensible) > 0
		}
	}
	for _, id := range pathID.FindAllStringSubmatch(o.Path, -1) {
		c.ids = append(c.ids, values[id[1]])
	}
	c.query, c.params = strings.Join(query, "&"), "nil"
	if len(fields) > 0 {
		c.params = "&contentautomation." + text.Go(o.ID) + "Params{" + strings.Join(fields, ", ") + "}"
	}
	if body, ok := o.body(); ok {
		c.sent = body.sample()
	}
	return c
}

// url returns the address of the call below the one of the service.
func (c call) url() string {
	i := -1
	at := pathID.ReplaceAllStringFunc(c.Path, func(string) string { i++; return c.ids[i] })
	if c.query != "" {
		at += "?" + c.query
	}
	return at
}

// samples returns the samples of an operation in all languages.
func (r *reference) samples(o *operation) (all []sampleOf) {
	c := r.call(o)
	for i, source := range []string{c.curl(), c.typescript(), c.python(), c.golang(), c.line()} {
		all = append(all, sampleOf{languages[i].id, languages[i].label, source})
	}
	return all
}

func (c call) curl() string {
	at := exampleHost + c.url()
	if strings.Contains(at, "?") {
		at = `"` + at + `"`
	}
	lines := []string{"curl " + at}
	if c.Method != "GET" && (c.Method != "POST" || len(c.sent) == 0) {
		lines[0] = "curl -X " + c.Method + " " + at
	}
	lines = append(lines, `-H "Authorization: Bearer $SVC_API_KEY"`)
	if c.key {
		lines = append(lines, `-H "Idempotency-Key: $(uuidgen)"`)
	}
	if len(c.sent) > 0 {
		body := strings.ReplaceAll(indented(c.sent), "\n", "\n  ")
		lines = append(lines, `-H "Content-Type: application/json"`, "-d "+quotedForShell(body))
	}
	return strings.Join(lines, " \\\n  ")
}

// arguments returns the arguments of a method: the ids, and the body.
func (c call) arguments(body string) string {
	var all []string
	for _, id := range c.ids {
		if strings.Trim(id, "0123456789") != "" { // a number has no quotes
			id = strconv.Quote(id)
		}
		all = append(all, id)
	}
	if body != "" {
		all = append(all, body)
	}
	return strings.Join(all, ", ")
}

func (c call) typescript() string {
	method := fmt.Sprintf("client.%s.%s(%s)", c.Resource, c.Name, c.arguments(indented(c.sent)))
	lines := []string{"import { ContentAutomation } from '@content-automation/api';", "",
		"const client = new ContentAutomation({ apiKey: process.env.SVC_API_KEY!, baseUrl: \"" + exampleHost + "\" });"}
	if len(c.Pagination) > 0 {
		return strings.Join(append(lines, "for await (const one of "+method+") {", "  console.log(one);", "}"), "\n")
	}
	return strings.Join(append(lines, "const result = await "+method+";", "console.log(result);"), "\n")
}

func (c call) python() string {
	body := ""
	if len(c.sent) > 0 {
		var v any
		if err := json.Unmarshal(c.sent, &v); err != nil {
			panic(err) // the document is JSON
		}
		body = pythonValue(v, "")
	}
	method := fmt.Sprintf("client.%s.%s(%s)", text.Snake(c.Resource), text.Snake(c.Name), c.arguments(body))
	lines := []string{"import os", "from content_automation import ContentAutomation", "",
		`client = ContentAutomation(os.environ["SVC_API_KEY"], "` + exampleHost + `")`}
	if len(c.Pagination) > 0 {
		return strings.Join(append(lines, "for one in "+method+":", "    print(one)"), "\n")
	}
	return strings.Join(append(lines, "result = "+method, "print(result)"), "\n")
}

// pythonValue writes a value of JSON as Python does.
func pythonValue(v any, indent string) string {
	inner := indent + "    "
	var parts []string
	open, end := "[", "]"
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		return map[bool]string{true: "True", false: "False"}[v]
	case []any:
		for _, one := range v {
			parts = append(parts, inner+pythonValue(one, inner))
		}
	case map[string]any:
		open, end = "{", "}"
		for _, name := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, fmt.Sprintf("%s%q: %s", inner, name, pythonValue(v[name], inner)))
		}
	default:
		return encoded(v)
	}
	if len(parts) == 0 {
		return open + end
	}
	return open + "\n" + strings.Join(parts, ",\n") + ",\n" + indent + end
}

// golang calls the method of the client. A body is given as JSON, since its type depends on what is in it.
func (c call) golang() string {
	lines := []string{`client, err := contentautomation.New(contentautomation.WithBaseURL("` + exampleHost + `"))`,
		"if err != nil {", "\tlog.Fatal(err)", "}"}
	end := []string{"if err != nil {", "\tlog.Fatal(err)", "}", "fmt.Println(result)"}
	if len(c.sent) > 0 || c.plain {
		body, result := "nil", "map[string]any"
		if len(c.sent) > 0 {
			body = "json.RawMessage(`" + indented(c.sent) + "`)"
		}
		if len(c.Pagination) > 0 {
			result = "[]" + result
		}
		lines = append(lines, "var result "+result,
			fmt.Sprintf("err = client.Do(ctx, %q, %q, nil, %s, &result)", c.Method, c.url(), body))
		return strings.Join(append(lines, end...), "\n")
	}
	arguments := []string{"ctx"}
	if len(c.ids) > 0 {
		arguments = append(arguments, c.arguments(""))
	}
	if c.Body != nil {
		arguments = append(arguments, "nil")
	}
	if c.typed {
		arguments = append(arguments, c.params)
	}
	method := fmt.Sprintf("client.%s.%s(%s)", text.Go(c.Resource), text.Go(c.Name), strings.Join(arguments, ", "))
	if len(c.Pagination) > 0 {
		return strings.Join(append(lines, "for one, err := range "+method+" {",
			"\tif err != nil {", "\t\tlog.Fatal(err)", "\t}", "\tfmt.Println(one)", "}"), "\n")
	}
	return strings.Join(append(append(lines, "result, err := "+method), end...), "\n")
}

// line calls the operation on the command line.
func (c call) line() string {
	words := append([]string{"content-automation", text.Kebab(c.Resource), text.Kebab(c.Name)}, c.ids...)
	for pair := range strings.SplitSeq(c.query, "&") {
		if name, value, ok := strings.Cut(pair, "="); ok {
			words = append(words, "--"+strings.ReplaceAll(name, "_", "-"), value)
		}
	}
	if len(c.sent) > 0 {
		words = append(words, "--body", quotedForShell(compact(c.sent)))
	}
	return "export BASE_URL=" + exampleHost + "\n" + strings.Join(words, " ")
}

func quotedForShell(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// indented writes JSON over several lines.
func indented(text json.RawMessage) string {
	if len(text) == 0 {
		return ""
	}
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "  "); err != nil {
		panic(err) // the document is JSON
	}
	return out.String()
}

func compact(text json.RawMessage) string {
	var out bytes.Buffer
	if err := json.Compact(&out, text); err != nil {
		panic(err) // the document is JSON
	}
	return out.String()
}

// encoded returns a number or a text as JSON.
func encoded(v any) string {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // it came from JSON
	}
	return strings.TrimSpace(out.String())
}

// inColors returns a sample of code in colors.
func inColors(fence, source string) template.HTML {
	//nolint:gosec // the source is escaped
	return template.HTML(highlight(`<pre tabindex="0"><code class="language-` + fence + `">` +
		html.EscapeString(source) + `</code></pre>`))
}

// tab is a sample in a row of tabs.
type tab struct {
	language
	code string
}

// tabs returns samples as tabs. Each is reached without a script: a tab is a choice of a form. The name tells the row
// from the others of its page.
func tabs(name string, all []tab) string {
	var choices, samples strings.Builder
	for i, t := range all {
		checked := ""
		if i == 0 {
			checked = " checked"
		}
		fmt.Fprintf(&choices, `<input type="radio" name="%[1]s" id="%[1]s-%[2]s" value="%[2]s"%[3]s>`+
			`<label for="%[1]s-%[2]s">%[4]s</label>`, name, t.id, checked, t.label)
		fmt.Fprintf(&samples, `<div class="of-%s">%s</div>`, t.id, t.code)
	}
	return `<div class="tabs" role="group" aria-label="Language of the sample">` + choices.String() + samples.String() +
		"</div>\n"
}

// tabs returns the samples of an operation as tabs.
func (r *reference) tabs(o *operation) template.HTML {
	var all []tab
	for i, s := range r.samples(o) {
		all = append(all, tab{languages[i], string(inColors(languages[i].fence, s.Source))})
	}
	return template.HTML(tabs("samples-"+o.ID, all)) //nolint:gosec // the samples are escaped
}

// explorer returns the address of an operation in the explorer, below the folder of the documentation. The explorer
// begins with the operations of one tag: with all of them, it would take ten times as long.
func (r *reference) explorer(o *operation) string {
	if len(o.Tags) == 0 {
		return "explorer"
	}
	slug := strings.ReplaceAll(strings.ToLower(o.Tags[0]), " ", "-")
	return "explorer?area=" + strings.ReplaceAll(o.Tags[0], " ", "+") + "#tag/" + slug + "/" + o.Method + o.Path
}

// fenced finds samples that follow one another in a page.
var fenced = regexp.MustCompile(`(?s)(?:<pre><code class="language-\w+">[^<]*</code></pre>\s*){2,}`)

// fence finds one of them.
var fence = regexp.MustCompile(`(?s)<pre><code class="language-(\w+)">[^<]*</code></pre>`)

// tabbed puts samples that follow one another in different languages into tabs.
func tabbed(page string) string {
	n := 0
	return fenced.ReplaceAllStringFunc(page, func(found string) string {
		var all []tab
		for _, one := range fence.FindAllStringSubmatch(found, -1) {
			i := slices.IndexFunc(languages, func(l language) bool { return l.fence == one[1] })
			if i < 0 || slices.ContainsFunc(all, func(t tab) bool { return t.fence == one[1] }) {
				return found
			}
			all = append(all, tab{languages[i], one[0]})
		}
		n++
		return tabs(fmt.Sprintf("samples-%d", n), all)
	})
}

// explorerData is what the explorer shows beside the document: its groups, and the samples of the operations.
func (r *reference) explorerData() []byte {
	samples := map[string][]sampleOf{}
	for id, o := range r.byID {
		samples[id] = r.samples(o)
	}
	data, err := json.Marshal(map[string]any{"groups": areas, "samples": samples})
	if err != nil {
		panic(err) // there are texts alone
	}
	return data
}
