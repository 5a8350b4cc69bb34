package fuzz

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/service/api"
)

// object is a JSON object of the document.
type object = map[string]any

// address is the address of the document among the schemas.
const address = "https://api.example.com/openapi.json"

// document is the OpenAPI document, read for the requests and the checks of responses.
type document struct {
	whole      object
	operations []*operation // in the order of their ids
	compiler   *jsonschema.Compiler
}

// operation is one operation of the document.
type operation struct {
	httpapi.Route
	body       object // the schema, or nil if the operation takes no body
	parameters []parameter
	prefixes   []string // of the ids of its path
	responses  map[int]*response
}

// parameter is a parameter of the query or a header.
type parameter struct {
	in, name string
	schema   object
}

// response describes the responses with a status.
type response struct {
	schema  *jsonschema.Schema // nil if there is no body
	headers []string
}

// readDocument reads the document that the service publishes.
func readDocument(t *testing.T) *document {
	t.Helper()
	text, err := api.Document().MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	whole, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	listValues(whole)
	d := &document{whole: whole.(object), compiler: jsonschema.NewCompiler()}
	d.compiler.AssertFormat()
	if err := d.compiler.AddResource(address, whole); err != nil {
		t.Fatal(err)
	}
	for _, route := range api.Routes() {
		o, err := d.operation(route)
		if err != nil {
			t.Fatalf("%s: %v", route.OperationID, err)
		}
		d.operations = append(d.operations, o)
	}
	slices.SortFunc(d.operations, func(a, b *operation) int { return strings.Compare(a.OperationID, b.OperationID) })
	return d
}

// listValues restricts open enumerations in responses to their known values: clients must expect others, but this
// version of the service has none.
func listValues(tree any) {
	switch v := tree.(type) {
	case object:
		if values, open := v[api.ExtensibleEnum]; open {
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

func (d *document) operation(route httpapi.Route) (*operation, error) {
	at := []string{"paths", route.Path, strings.ToLower(route.Method)}
	described := d.at(at...)
	o := &operation{Route: route, responses: map[int]*response{}}
	if body, ok := described["requestBody"].(object); ok {
		o.body = body["content"].(object)["application/json"].(object)["schema"].(object)
	}
	listed, _ := described["parameters"].([]any)
	for _, one := range listed {
		p := d.resolve(one.(object))
		if in := p["in"].(string); in != "path" {
			o.parameters = append(o.parameters, parameter{in, p["name"].(string), p["schema"].(object)})
		}
	}
	for segment := range strings.SplitSeq(route.Path, "/") {
		for _, one := range listed {
			if p := d.resolve(one.(object)); segment == "{"+p["name"].(string)+"}" {
				prefix, _ := prefixOf(p["schema"].(object))
				o.prefixes = append(o.prefixes, prefix)
			}
		}
	}
	all := described["responses"].(object)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		status, err := strconv.Atoi(name)
		if err != nil {
			return nil, err
		}
		if o.responses[status], err = d.response(append(at, "responses", name)); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// prefixOf returns the prefix of the ids that a schema describes.
func prefixOf(s object) (string, bool) {
	pattern, _ := s["pattern"].(string)
	prefix, _, ok := strings.Cut(strings.TrimPrefix(pattern, "^"), "_[0-7]")
	return prefix, ok
}

func (d *document) response(at []string) (*response, error) {
	described := d.at(at...)
	if ref, ok := described["$ref"].(string); ok {
		at = strings.Split(strings.TrimPrefix(ref, "#/"), "/")
		described = d.at(at...)
	}
	r := &response{}
	headers, _ := described["headers"].(object)
	r.headers = slices.Sorted(maps.Keys(headers))
	if _, ok := described["content"]; !ok {
		return r, nil
	}
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	pointer := address + "#"
	for _, name := range append(slices.Clone(at), "content", "application/json", "schema") {
		pointer += "/" + escape.Replace(name)
	}
	var err error
	r.schema, err = d.compiler.Compile(pointer)
	return r, err
}

// at returns the object at a place of the document.
func (d *document) at(names ...string) object {
	o := d.whole
	for _, name := range names {
		next, ok := o[name].(object)
		if !ok {
			panic(fmt.Sprintf("the document has nothing at %v", names))
		}
		o = next
	}
	return o
}

// resolve follows the reference of a schema or a parameter. It ignores the members next to the reference.
func (d *document) resolve(s object) object {
	for {
		ref, ok := s["$ref"].(string)
		if !ok {
			return s
		}
		s = d.at(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
	}
}
