package fuzz

import (
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/answers"
)

// object is a JSON object of the document.
type object = map[string]any

// document is the OpenAPI document, read for the requests and the checks of responses.
type document struct {
	*answers.Document
	operations []*operation // in the order of their ids
}

// operation is one operation of the document.
type operation struct {
	*answers.Operation
	body       object // the schema, or nil if the operation takes no body
	parameters []parameter
	prefixes   []string // of the ids of its path
}

// parameter is a parameter of the query or a header.
type parameter struct {
	in, name string
	schema   object
}

// readDocument reads the document that the service publishes.
func readDocument(t *testing.T) *document {
	t.Helper()
	whole, err := answers.Read()
	if err != nil {
		t.Fatal(err)
	}
	d := &document{Document: whole}
	for _, o := range whole.Operations() {
		d.operations = append(d.operations, d.operation(o))
	}
	return d
}

func (d *document) operation(of *answers.Operation) *operation {
	described := d.At("paths", of.Path, strings.ToLower(of.Method))
	o := &operation{Operation: of}
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
	for segment := range strings.SplitSeq(of.Path, "/") {
		for _, one := range listed {
			if p := d.resolve(one.(object)); segment == "{"+p["name"].(string)+"}" {
				prefix, _ := prefixOf(p["schema"].(object))
				o.prefixes = append(o.prefixes, prefix)
			}
		}
	}
	return o
}

// prefixOf returns the prefix of the ids that a schema describes.
func prefixOf(s object) (string, bool) {
	pattern, _ := s["pattern"].(string)
	prefix, _, ok := strings.Cut(strings.TrimPrefix(pattern, "^"), "_[0-7]")
	return prefix, ok
}

// resolve follows the reference of a schema or a parameter. It ignores the members next to the reference.
func (d *document) resolve(s object) object {
	for {
		ref, ok := s["$ref"].(string)
		if !ok {
			return s
		}
		s = d.At(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
	}
}
