package console

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/content-automation/api/clients"
)

var update = flag.Bool("update", false, "write limits.tsv anew")

// schema is a part of the document.
type schema struct {
	Ref        string            `json:"$ref"`
	AnyOf      []schema          `json:"anyOf"`
	AllOf      []schema          `json:"allOf"`
	Properties map[string]schema `json:"properties"`
	Required   []string          `json:"required"`
	Minimum    *float64          `json:"minimum"`
	Maximum    *float64          `json:"maximum"`
	MaxLength  *float64          `json:"maxLength"`
}

// openAPI is the OpenAPI document.
type openAPI struct {
	Components struct {
		Schemas map[string]schema `json:"schemas"`
	} `json:"components"`
	Paths map[string]struct {
		Post  operation `json:"post"`
		Patch operation `json:"patch"`
		Put   operation `json:"put"`
	} `json:"paths"`
}

// operation is an operation of the document.
type operation struct {
	Body struct {
		Content map[string]struct {
			Schema schema `json:"schema"`
		} `json:"content"`
	} `json:"requestBody"`
}

// members returns the schemas of a member in all forms of a body, and whether one of them requires it.
func (d openAPI) members(of schema, name string) (found []schema, required bool) {
	if of.Ref != "" {
		return d.members(d.Components.Schemas[of.Ref[strings.LastIndex(of.Ref, "/")+1:]], name)
	}
	for _, one := range append(of.AnyOf, of.AllOf...) {
		more, needed := d.members(one, name)
		found, required = append(found, more...), required || needed
	}
	if member, ok := of.Properties[name]; ok {
		found = append(found, member)
	}
	for _, one := range of.Required {
		required = required || one == name
	}
	return found, required
}

// limits returns the line of a member in limits.tsv, or an empty text for a member that the document has not.
func (d openAPI) limits(call, member string) string {
	method, path, _ := strings.Cut(call, " ")
	of := []schema{}
	for other, methods := range d.Paths {
		if pathPart.ReplaceAllString(other, "{}") != pathPart.ReplaceAllString(path, "{}") {
			continue
		}
		body := map[string]operation{http.MethodPost: methods.Post, http.MethodPatch: methods.Patch,
			http.MethodPut: methods.Put}[method].Body
		for _, content := range body.Content {
			of = append(of, content.Schema)
		}
	}
	required := false
	for name := range strings.SplitSeq(member, "/") {
		var next []schema
		required = false
		for _, one := range of {
			found, needed := d.members(one, name)
			next, required = append(next, found...), required || needed
		}
		of = next
	}
	columns := []string{call, member, "", "", "", ""}
	if required {
		columns[2] = "required"
	}
	for _, one := range of {
		for i, number := range []*float64{one.Minimum, one.Maximum, one.MaxLength} {
			if number != nil && columns[3+i] == "" {
				columns[3+i] = fmt.Sprintf("%.0f", *number)
			}
		}
	}
	if len(of) == 0 {
		return ""
	}
	return strings.Join(columns, "\t") + "\n"
}

// The limits of inputs are those of the document.
func TestLimitsAreThoseOfTheDocument(t *testing.T) {
	var d openAPI
	if err := json.Unmarshal(clients.OpenAPIJSON, &d); err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for _, p := range pages {
		for _, one := range p.routes() {
			for _, in := range one.Inputs {
				line := d.limits(one.Call, in.Member)
				if line == "" && in.Member != "" && !strings.HasPrefix(in.Member, "template/") {
					t.Errorf("the body of %s has no member %s", one.Call, in.Member)
				}
				want.WriteString(line)
			}
		}
	}
	if *update {
		if err := os.WriteFile("limits.tsv", []byte(want.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if want.String() != limitFile {
		t.Error("limits.tsv is not of the document: run this test with -update")
	}
}

// texts returns the texts of a page, which are all that its declaration has for people.
func (p *page[T]) texts() (all []string) {
	all = append(all, p.Title, p.Lead, p.Empty, p.NoMatch, p.Hint, p.Heading)
	for _, c := range p.Columns {
		all = append(all, c.Text)
	}
	for _, in := range p.Folded {
		all = append(all, in.Label)
	}
	for _, f := range []*form[T]{p.Create, p.Edit} {
		if f == nil {
			continue
		}
		all = append(all, f.Title, f.Verb)
		for _, in := range f.Inputs {
			all = append(all, in.Label, in.Help, in.Added, in.Removed)
			for _, c := range append(in.Choices, in.Examples...) {
				all = append(all, c.Text)
			}
		}
	}
	for _, a := range p.Actions {
		if a.Ask != nil {
			all = append(all, a.Ask.Title, a.Ask.Verb, a.Ask.Text)
		}
	}
	for _, text := range p.Done {
		all = append(all, text)
	}
	return present(all)
}

func present(all []string) (some []string) {
	for _, one := range all {
		if one != "" {
			some = append(some, one)
		}
	}
	return some
}

// A form of a resource as it is changes nothing.
func TestAFormWithoutAChangeIsEmpty(t *testing.T) {
	f := form[map[string]any]{Inputs: []input{{Name: "name", Member: "name"},
		{Name: "limit", Member: "spend_limit_credits", Kind: asDigits},
		{Name: "types", Member: "types", Kind: asEvents}}}
	one := map[string]any{"name": "Acme", "spend_limit_credits": 500, "types": []string{"b.*", "a.*"}}
	d := f.of(one)
	if patch, found := f.patch(d, f.of(one)); len(patch) > 0 || found != nil {
		t.Errorf("%v %v", patch, found)
	}
	changed := f.of(one)
	changed["limit"], changed["name"], changed["types"] = []string{"700"}, nil, []string{"a.*"}
	patch, found := f.patch(d, changed)
	want := map[string]any{"name": nil, "spend_limit_credits": int64(700), "types": []string{"a.*"}}
	if found != nil || !reflect.DeepEqual(patch, want) {
		t.Errorf("%v %v, want %v", patch, found, want)
	}
	changed["limit"] = []string{"many"}
	if _, found := f.patch(d, changed); found["limit"] == "" {
		t.Errorf("a number that is none: %v", found)
	}
}
