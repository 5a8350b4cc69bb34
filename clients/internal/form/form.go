// Package form reads the OpenAPI document into the form that clients are written from: operations with their names in
// clients, and types without references to parts of the document.
package form

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/base/text"
)

// Form is the document, as the writers of clients see it.
type Form struct {
	Version   string
	Resources []Resource
	// Types are those that operations and events use, by name in alphabetical order.
	Types []*Type
	// Scopes, Codes and Events are the values of their enumerations.
	Scopes, Codes, Events []string
}

// Type returns the type of a name, or nil.
func (f *Form) Type(name string) *Type {
	for _, t := range f.Types {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// States returns the states that the work which an operation reads may have.
func (f *Form) States(o Operation) []string {
	for _, m := range f.Type(o.Result.Name).Members {
		if m.Name == o.Wait.Member {
			return f.Type(m.Type.Name).Values
		}
	}
	return nil
}

// Shared returns the members that all variants of a union have alike, but for its tag.
func (f *Form) Shared(union *Type) []Member {
	var all []Member
	for _, m := range f.Type(union.Variants[0].Type).Members {
		alike := m.Name != union.Tag
		for _, v := range union.Variants {
			alike = alike && slices.ContainsFunc(f.Type(v.Type).Members, func(o Member) bool {
				return o.Name == m.Name && o.Required == m.Required && reflect.DeepEqual(o.Type, m.Type)
			})
		}
		if alike {
			all = append(all, m)
		}
	}
	return all
}

// Foreign returns the names of the members that a shape of an object lacks, and others have.
func (f *Form) Foreign(shape *Type) (names []string) {
	if shape.ShapeOf == "" {
		return nil
	}
	for _, m := range f.Type(shape.ShapeOf).Members {
		if !slices.ContainsFunc(shape.Members, func(o Member) bool { return o.Name == m.Name }) {
			names = append(names, m.Name)
		}
	}
	return names
}

// Special returns the names of the members that differ between the variants of a union, but for its tag.
func (f *Form) Special(union *Type) (names []string) {
	shared := f.Shared(union)
	for _, v := range union.Variants {
		for _, m := range f.Type(v.Type).Members {
			if m.Name != union.Tag && !slices.Contains(names, m.Name) &&
				!slices.ContainsFunc(shared, func(o Member) bool { return o.Name == m.Name }) {
				names = append(names, m.Name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// Resource is a group of operations.
type Resource struct {
	Name, Doc  string
	Operations []Operation
}

// Operation is an operation of the API.
type Operation struct {
	ID, Resource, Name   string
	Method, Path         string
	Summary, Description string
	Scope                string
	// Opens is what it opens to others, by the names of the document.
	Opens  []string
	Status int
	// PathParams are the parameters of the path, in its order.
	PathParams []Param
	Query      []Param
	// Body is nil for an operation without one.
	Body         *Ref
	BodyOptional bool
	MergePatch   bool
	Result       Ref
	// Paged reports whether Result is the type of the elements of a page.
	Paged bool
	// IfMatch reports whether the operation takes the version that it changes.
	IfMatch bool
	Wait    *Wait
	// Example is the body of a request that succeeds, and Answer the example of the response.
	Example, Answer json.RawMessage
}

// Wait says when the work that an operation reads has ended.
type Wait struct {
	Member       string
	Done, Failed []string
}

// Param is a parameter of the path or the query.
type Param struct {
	Name, Doc string
	Type      Ref
	Example   any
}

// Kind is the kind of a type.
type Kind string

// The kinds of types. Named types are objects, enumerations, unions or other names of a type.
const (
	String  Kind = "string"
	Integer Kind = "integer"
	Number  Kind = "number"
	Boolean Kind = "boolean"
	Time    Kind = "time"
	Any     Kind = "any"
	List    Kind = "list"
	Map     Kind = "map"
	Named   Kind = "named"
	// Const is a text with one value.
	Const Kind = "const"
	// Choice is one of several types that nothing tells apart.
	Choice Kind = "choice"
)

// Ref is the use of a type.
type Ref struct {
	Kind     Kind
	Name     string // of a Named type, or the value of a Const
	Of       *Ref   // of a List or a Map
	Choices  []Ref
	Nullable bool
}

// Type is a named type: it has members, values, or variants. One with members may have shapes.
type Type struct {
	Name, Doc string
	Members   []Member
	// Values are those of an enumeration. Open ones may get more.
	Values []string
	Open   bool
	// Variants are told apart by the member Tag.
	Tag      string
	Variants []Variant
	// Shapes are the types of the ways to fill in an object, if there are several. Members are those of all of them.
	Shapes []string
	// ShapeOf is the type of which this one is a shape.
	ShapeOf string
	// Alias is the type that this one is another name of.
	Alias *Ref
	// Sent reports whether requests have the type, and Given whether responses or events have it.
	Sent, Given bool
}

// Member is a member of an object.
type Member struct {
	Name, Doc string
	Type      Ref
	Required  bool
}

// Variant is a variant of a union.
type Variant struct{ Value, Type string }

// Read reads a document.
func Read(data []byte) (*Form, error) {
	var d document
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, fmt.Errorf("form: %w", err)
	}
	r := reader{schemas: d.Components.Schemas, parameters: d.Components.Parameters, types: map[string]*Type{}}
	f := &Form{Version: d.Info.Version}
	byName := map[string]*Resource{}
	for at, item := range d.Paths {
		for method, o := range item {
			op, err := r.operation(strings.ToUpper(method), at, o)
			if err != nil {
				return nil, fmt.Errorf("form: %s %s: %w", strings.ToUpper(method), at, err)
			}
			if byName[o.Resource] == nil {
				byName[o.Resource] = &Resource{Name: o.Resource}
			}
			group := byName[o.Resource]
			group.Operations = append(group.Operations, op)
			for _, tag := range d.Tags {
				if len(o.Tags) > 0 && tag.Name == o.Tags[0] && text.Snake(tag.Name) == text.Snake(o.Resource) {
					group.Doc = tag.Description
				}
			}
		}
	}
	for _, name := range []string{"Event", "ErrorBody"} {
		r.ref(&schema{Ref: name}, false)
	}
	for _, group := range byName {
		slices.SortFunc(group.Operations, func(a, b Operation) int {
			return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(rank(a.Method), rank(b.Method)))
		})
		group.Doc = cmp.Or(group.Doc, docs[group.Name], group.Operations[0].Summary)
		f.Resources = append(f.Resources, *group)
	}
	slices.SortFunc(f.Resources, func(a, b Resource) int { return cmp.Compare(a.Name, b.Name) })
	for _, t := range r.types {
		f.Types = append(f.Types, t)
	}
	slices.SortFunc(f.Types, func(a, b *Type) int { return cmp.Compare(a.Name, b.Name) })
	for name, list := range map[string]*[]string{"Scope": &f.Scopes, "ErrorCode": &f.Codes, "EventType": &f.Events} {
		if t := r.types[name]; t != nil {
			*list = t.Values
		}
	}
	if r.err != nil {
		return nil, fmt.Errorf("form: %w", r.err)
	}
	return f, nil
}

// rank orders methods as a resource lives: it is read and created, changed, and deleted.
func rank(method string) int {
	return strings.Index("GET POST PUT PATCH DELETE", method)
}

var braces = regexp.MustCompile(`\{(\w+)\}`)

func (r *reader) operation(method, at string, o operation) (Operation, error) {
	op := Operation{ID: o.OperationID, Resource: o.Resource, Name: o.Method, Method: method, Path: at,
		Summary: o.Summary, Description: o.Description, Paged: o.Pagination != nil, Wait: o.Wait}
	if o.Resource == "" || o.Method == "" {
		return op, fmt.Errorf("%s has no name for clients (x-sdk-resource, x-sdk-method)", o.OperationID)
	}
	if len(o.Scopes) > 0 {
		op.Scope = o.Scopes[0]
	}
	op.Opens = o.Opens
	byName := map[string]Param{}
	for _, p := range o.Parameters {
		if p.Ref != "" {
			if p = r.parameters[nameOf(p.Ref)]; p == nil {
				return op, errors.New("a parameter is not described")
			}
		}
		param := Param{p.Name, p.Description, r.ref(p.Schema, true), p.Example}
		switch p.In {
		case "path":
			byName[p.Name] = param
		case "query":
			op.Query = append(op.Query, param)
		case "header":
			op.IfMatch = op.IfMatch || strings.EqualFold(p.Name, "If-Match")
		}
	}
	for _, name := range braces.FindAllStringSubmatch(at, -1) {
		p, ok := byName[name[1]]
		if !ok {
			return op, fmt.Errorf("the parameter %s is not described", name[1])
		}
		op.PathParams = append(op.PathParams, p)
	}
	if o.RequestBody != nil {
		body := o.RequestBody.Content["application/json"]
		ref := r.ref(body.Schema, true)
		op.Body, op.BodyOptional, op.Example = &ref, !o.RequestBody.Required, body.Example
		_, op.MergePatch = o.RequestBody.Content["application/merge-patch+json"]
	}
	for _, status := range []string{"200", "201", "202"} {
		response, ok := o.Responses[status]
		if !ok {
			continue
		}
		op.Status = int(status[2]-'0') + 200
		media := response.Content["application/json"]
		op.Answer = media.Example
		answer, _ := r.whole(media.Schema)
		data := answer.of["data"]
		if data == nil {
			return op, fmt.Errorf("the response has no data")
		}
		if op.Paged {
			data = r.find(data).Items
		}
		op.Result = r.ref(data, false)
	}
	return op, nil
}

// nameOf returns the name of a schema.
func nameOf(ref string) string { return path.Base(ref) }
