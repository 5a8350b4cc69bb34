package docs

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"html/template"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/content-automation/api/pkg/base/errs"
)

// areas are the groups of the tags of the document. A tag that is in none comes last.
var areas = []struct {
	Name string   `json:"name"`
	Tags []string `json:"tags"`
}{
	{"Content", []string{"Factories", "Content", "Studio", "Media", "Products", "Promotions", "Feeds",
		"Templates"}},
	{"Publishing", []string{"Publishing", "Social accounts", "Comments", "Analytics", "Automations"}},
	{"Advice", []string{"Architect"}},
	{"Your system", []string{"Webhooks", "Events", "Integrations"}},
	{"Account", []string{"Account", "Profiles", "API keys", "People", "Catalog", "Transfer"}},
}

// reference is the document, whose schemas and answers stay text until a page shows them.
type reference struct {
	Info  struct{ Version string }
	Tags  []struct{ Name, Description string }
	Paths map[string]map[string]*operation
	// Components are what operations refer to.
	Components struct {
		Schemas, Parameters, Responses, Headers map[string]json.RawMessage
	}
	groups []group
	byID   map[string]*operation
	byCall map[string]*operation
}

// group has the operations of a tag.
type group struct {
	Area, Tag, Text string
	Operations      []*operation
}

// ID is the place of the group on the page of all operations.
func (g group) ID() string { return "tag-" + strings.ReplaceAll(strings.ToLower(g.Tag), " ", "-") }

// operation is an operation of the document.
type operation struct {
	ID          string                     `json:"operationId"`
	Summary     string                     `json:"summary"`
	Description string                     `json:"description"`
	Tags        []string                   `json:"tags"`
	Scopes      []string                   `json:"x-required-scopes"`
	Resource    string                     `json:"x-sdk-resource"`
	Name        string                     `json:"x-sdk-method"`
	Pagination  json.RawMessage            `json:"x-sdk-pagination"`
	Parameters  []json.RawMessage          `json:"parameters"`
	Body        *requestBody               `json:"requestBody"`
	Responses   map[string]json.RawMessage `json:"responses"`
	Deprecated  bool                       `json:"deprecated"`
	Sunset      string                     `json:"x-sunset"`

	Method, Path string
}

type requestBody struct {
	Required bool
	Content  map[string]mediaType
}

// mediaType is a body of one media type.
type mediaType struct {
	Schema   *schema
	Example  json.RawMessage
	Examples map[string]struct{ Value json.RawMessage }
}

// sample returns the example of a body.
func (c mediaType) sample() json.RawMessage {
	if len(c.Example) > 0 {
		return c.Example
	}
	for _, one := range c.Examples {
		if len(one.Value) > 0 {
			return one.Value
		}
	}
	return nil
}

// parameter is a parameter of an operation.
type parameter struct {
	Ref         string `json:"$ref"`
	Name, In    string
	Description string
	Required    bool
	Example     json.RawMessage
	Schema      *schema
}

// value returns the example of a parameter.
func (p parameter) value() string {
	text := p.Example
	if len(text) == 0 && p.Schema != nil && len(p.Schema.Examples) > 0 {
		text = p.Schema.Examples[0]
	}
	return strings.Trim(string(text), `"`)
}

// newReference takes a document apart. Of one that cannot be read, as in some tests, it has nothing.
func newReference(document []byte) *reference {
	r := &reference{byID: map[string]*operation{}, byCall: map[string]*operation{}}
	if json.Unmarshal(document, r) != nil {
		return r
	}
	tagged := map[string][]*operation{}
	for path, methods := range r.Paths {
		for method, o := range methods {
			o.Method, o.Path = strings.ToUpper(method), path
			r.byID[o.ID], r.byCall[o.Method+" "+path] = o, o
			for _, tag := range o.Tags[:min(1, len(o.Tags))] {
				tagged[tag] = append(tagged[tag], o)
			}
		}
	}
	add := func(area, tag string) {
		of := tagged[tag]
		if len(of) == 0 {
			return
		}
		delete(tagged, tag)
		slices.SortFunc(of, byPath)
		g := group{Area: area, Tag: tag, Operations: of}
		for _, t := range r.Tags {
			if t.Name == tag {
				g.Text = t.Description
			}
		}
		r.groups = append(r.groups, g)
	}
	for _, a := range areas {
		for _, tag := range a.Tags {
			add(a.Name, tag)
		}
	}
	for _, t := range r.Tags {
		add("More", t.Name)
	}
	return r
}

// byPath compares operations by their paths. What makes something comes before what reads it.
func byPath(a, b *operation) int {
	rank := func(o *operation) int {
		return slices.Index([]string{"POST", "GET", "PUT", "PATCH", "DELETE"}, o.Method)
	}
	return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(rank(a), rank(b)))
}

// all returns the operations by their paths.
func (r *reference) all() (all []*operation) {
	for _, o := range r.byCall {
		all = append(all, o)
	}
	slices.SortFunc(all, byPath)
	return all
}

// parameters returns the parameters of an operation.
func (r *reference) parameters(o *operation) (all []parameter) {
	for _, text := range o.Parameters {
		var p parameter
		if json.Unmarshal(text, &p) == nil && p.Ref != "" {
			_ = json.Unmarshal(r.Components.Parameters[last(p.Ref)], &p)
		}
		all = append(all, p)
	}
	return all
}

func last(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// response is an answer of an operation.
type response struct {
	Ref         string `json:"$ref"`
	Description string
	Content     map[string]mediaType
	Headers     map[string]struct {
		Ref         string `json:"$ref"`
		Description string
	}
}

// response returns the answer of an operation with a status.
func (r *reference) response(o *operation, status string) (one response) {
	if json.Unmarshal(o.Responses[status], &one) == nil && one.Ref != "" {
		_ = json.Unmarshal(r.Components.Responses[last(one.Ref)], &one)
	}
	return one
}

// body returns the JSON of a request, if the operation has one.
func (o *operation) body() (mediaType, bool) {
	if o.Body == nil {
		return mediaType{}, false
	}
	c, ok := o.Body.Content["application/json"]
	return c, ok
}

//go:embed reference.html
var referenceText string

var referencePages = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"lower": strings.ToLower, "join": strings.Join,
		"deep": func(m member) bool { return strings.Count(m.At, ".") > 1 },
	}).Parse(referenceText))
})

// written fills a template of the reference.
func written(name string, data any) []byte {
	var out bytes.Buffer
	if err := referencePages().ExecuteTemplate(&out, name, data); err != nil {
		panic(err) // a test writes the page of each operation
	}
	return out.Bytes()
}

// refusal is a code with which an operation refuses a call.
type refusal struct {
	Status        int
	Code, Meaning string
}

// described is an operation as its page shows it.
type described struct {
	*operation
	Root           string
	Group          group
	Text           template.HTML
	Lists          []parameters
	Sent           *shape
	Status, Answer string
	Of             string // the kind of the result
	Got            *shape
	Headers        []member
	Refusals       []refusal
	Samples, Reply template.HTML
	Try            string
}

// parameters are the parameters of one place.
type parameters struct {
	Title   string
	Members []member
}

// describe finds what the page of an operation shows.
func (r *reference) describe(o *operation) described {
	d := drawing{r, map[string]string{}}
	text, _, _ := strings.Cut(o.Description, "\n\nNeeds the scope `") // which the page lists
	page := described{operation: o, Root: "../", Text: r.markdown(text), Samples: r.tabs(o),
		Try: r.explorer(o)}
	for _, g := range r.groups {
		if slices.Contains(g.Operations, o) {
			page.Group = g
		}
	}
	for _, place := range []struct{ in, title string }{{"path", "Path"}, {"query", "Query"}, {"header", "Headers"}} {
		list := parameters{Title: place.title}
		for _, p := range r.parameters(o) {
			if p.In != place.in || p.Schema == nil {
				continue
			}
			m := member{At: p.In + "." + p.Name, Name: p.Name, Required: p.Required}
			d.fill(&m, p.Schema)
			m.Text, m.Example = d.inline(cmp.Or(p.Description, p.Schema.Description)), p.value()
			list.Members = append(list.Members, m)
		}
		if len(list.Members) > 0 {
			page.Lists = append(page.Lists, list)
		}
	}
	if c, ok := o.body(); ok && c.Schema != nil {
		page.Sent = d.shape(c.Schema, "body")
	}
	r.answer(&d, &page)
	return page
}

// answer adds the answers of the operation to its page.
func (r *reference) answer(d *drawing, page *described) {
	for _, status := range slices.Sorted(maps.Keys(page.Responses)) {
		one := r.response(page.operation, status)
		c := one.Content["application/json"]
		if status < "3" {
			page.Status, page.Answer = status, one.Description
			if len(c.Example) > 0 {
				page.Reply = inColors("json", indented(c.sample()))
			}
			if c.Schema == nil {
				continue
			}
			whole, _ := r.whole(c.Schema)
			if data := whole.Properties["data"]; data != nil {
				page.Of, page.Got = d.kind(data), d.shape(data, "data")
			}
			for _, name := range slices.Sorted(maps.Keys(one.Headers)) {
				h := one.Headers[name]
				if h.Ref != "" {
					_ = json.Unmarshal(r.Components.Headers[last(h.Ref)], &h)
				}
				page.Headers = append(page.Headers, member{Name: name, Text: r.inline(h.Description)})
			}
			continue
		}
		for _, code := range slices.Sorted(maps.Keys(c.Examples)) {
			if info := errs.InfoOf(errs.Code(code)); info.Status != 0 {
				page.Refusals = append(page.Refusals, refusal{info.Status, code, info.Meaning})
			}
		}
	}
}
