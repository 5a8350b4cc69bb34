// Package answers holds answers of the service against its OpenAPI document, for tests.
package answers

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/service/api"
)

// object is a JSON object of the document.
type object = map[string]any

// address is the address of the document among the schemas.
const address = "https://api.example.com/openapi.json"

// Document is the OpenAPI document, read for the checks of answers.
type Document struct {
	// Whole is the document itself.
	Whole    map[string]any
	compiler *jsonschema.Compiler
	routes   map[string][]*Operation // by the number of segments of their path
	typed    map[string]bool         // the members that requests have
}

// Operation is one operation of the document.
type Operation struct {
	httpapi.Route
	// Responses are the answers that it may have, by status.
	Responses map[int]*Response
	typed     map[string]bool
}

// Response describes the answers with a status.
type Response struct {
	// Schema is nil if there is no body.
	Schema *jsonschema.Schema
	// Headers are the names of the headers.
	Headers []string
}

// Read reads the document that the service publishes. It restricts open enumerations to their known values: clients
// must expect others, but this version of the service has none.
func Read() (*Document, error) {
	text, err := api.JSON(api.Document())
	if err != nil {
		return nil, err
	}
	whole, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	listValues(whole)
	d := &Document{Whole: whole.(object), compiler: jsonschema.NewCompiler(), routes: map[string][]*Operation{},
		typed: map[string]bool{}}
	d.compiler.AssertFormat()
	if err := d.compiler.AddResource(address, whole); err != nil {
		return nil, err
	}
	for _, route := range api.Routes() {
		o := &Operation{Route: route, Responses: map[int]*Response{}, typed: d.typed}
		if body, ok := d.At("paths", route.Path, strings.ToLower(route.Method))["requestBody"]; ok {
			d.note(body, map[string]bool{})
		}
		at := []string{"paths", route.Path, strings.ToLower(route.Method), "responses"}
		for _, name := range slices.Sorted(maps.Keys(d.At(at...))) {
			status, err := strconv.Atoi(name)
			if err == nil {
				o.Responses[status], err = d.response(append(slices.Clone(at), name))
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", route.OperationID, err)
			}
		}
		shape := shapeOf(route.Method, route.Path)
		d.routes[shape] = append(d.routes[shape], o)
	}
	return d, nil
}

func shapeOf(method, path string) string { return fmt.Sprint(method, " ", strings.Count(path, "/")) }

// listValues makes open enumerations closed ones, which have null if their types have.
func listValues(tree any) {
	switch v := tree.(type) {
	case object:
		if values, open := v[api.ExtensibleEnum].([]any); open {
			if types, several := v["type"].([]any); several && slices.Contains(types, any("null")) {
				values = append(slices.Clone(values), nil)
			}
			v["enum"] = values
		}
		for _, part := range v {
			listValues(part)
		}
	case []any:
		for _, part := range v {
			listValues(part)
		}
	}
}

// Operations returns all operations, in the order of their ids.
func (d *Document) Operations() (all []*Operation) {
	for _, some := range d.routes {
		all = append(all, some...)
	}
	slices.SortFunc(all, func(a, b *Operation) int { return strings.Compare(a.OperationID, b.OperationID) })
	return all
}

// Find returns the operation of a request, or nil if there is none. A segment of the path that is no parameter comes
// first.
func (d *Document) Find(method, path string) (found *Operation) {
	path, _, _ = strings.Cut(path, "?")
	parts := strings.Split(path, "/")
	for _, o := range d.routes[shapeOf(method, path)] {
		fits, parameters := true, strings.Count(o.Path, "{")
		for i, segment := range strings.Split(o.Path, "/") {
			fits = fits && (segment == parts[i] || strings.HasPrefix(segment, "{") && parts[i] != "")
		}
		if fits && (found == nil || parameters < strings.Count(found.Path, "{")) {
			found = o
		}
	}
	return found
}

func (d *Document) response(at []string) (*Response, error) {
	described := d.At(at...)
	if ref, ok := described["$ref"].(string); ok {
		at = strings.Split(strings.TrimPrefix(ref, "#/"), "/")
		described = d.At(at...)
	}
	r := &Response{}
	headers, _ := described["headers"].(object)
	r.Headers = slices.Sorted(maps.Keys(headers))
	if _, ok := described["content"]; !ok {
		return r, nil
	}
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	pointer := address + "#"
	for _, name := range append(slices.Clone(at), "content", "application/json", "schema") {
		pointer += "/" + escape.Replace(name)
	}
	var err error
	r.Schema, err = d.compiler.Compile(pointer)
	return r, err
}

// At returns the object at a place of the document, which must have one.
func (d *Document) At(names ...string) map[string]any {
	o := d.Whole
	for _, name := range names {
		next, ok := o[name].(object)
		if !ok {
			panic(fmt.Sprintf("the document has nothing at %v", names))
		}
		o = next
	}
	return o
}

// Check returns an error if the document does not allow the answer of an operation.
func (o *Operation) Check(status int, raw []byte) error {
	known := o.Responses[status]
	if known == nil {
		return fmt.Errorf("%s: the document has no status %d", o.OperationID, status)
	}
	if status == http.StatusNotModified {
		return nil
	}
	if known.Schema == nil {
		return fmt.Errorf("%s: the document has no body for the status %d", o.OperationID, status)
	}
	body, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	if err := known.Schema.Validate(body); err != nil {
		return fmt.Errorf("%s: %w", o.OperationID, err)
	}
	if at := o.blank("", body); at != "" {
		return fmt.Errorf("%s: %s is an empty text that no caller can have typed: it must be null", o.OperationID, at)
	}
	return nil
}

// free are members with pairs of the caller, or with a body or patch of its own shape.
var free = []string{"metadata", "attributes", "headers", "patch", "body"}

// note notes the names of all members that a request may have.
func (d *Document) note(part any, seen map[string]bool) {
	switch v := part.(type) {
	case object:
		if ref, ok := v["$ref"].(string); ok && !seen[ref] {
			seen[ref] = true
			d.note(d.At(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...), seen)
		}
		properties, _ := v["properties"].(object)
		for name := range properties {
			d.typed[name] = true
		}
		for name, one := range v {
			if name != "example" && name != "examples" {
				d.note(one, seen)
			}
		}
	case []any:
		for _, one := range v {
			d.note(one, seen)
		}
	}
}

// blank returns the place of an empty text that stands for nothing, or "". Empty texts are for what callers type:
// members that requests have too. The JSON pointer of a whole body is empty as well.
func (o *Operation) blank(at string, part any) string {
	switch v := part.(type) {
	case object:
		for name, one := range v {
			if text, ok := one.(string); ok && text == "" && !o.typed[name] && name != "param" {
				return at + "/" + name
			}
			if slices.Contains(free, name) {
				continue
			}
			if found := o.blank(at+"/"+name, one); found != "" {
				return found
			}
		}
	case []any:
		for i, one := range v {
			if found := o.blank(fmt.Sprint(at, "/", i), one); found != "" {
				return found
			}
		}
	}
	return ""
}
