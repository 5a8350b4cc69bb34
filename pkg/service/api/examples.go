package api

import (
	_ "embed"
	"encoding/json"
	"maps"
	"net/http"
	"path"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/httpapi"
)

// recorded contains the Examples that infra/verify/record has written.
//
//go:embed examples.json
var recorded []byte

// Examples are recorded calls of the operations, with their answers.
type Examples struct {
	// Operations are the examples by the ids of the operations.
	Operations map[string]Example `json:"operations"`
	// Shared are the answers that several operations return, by their names.
	Shared map[string]json.RawMessage `json:"shared"`
}

// Example has the calls of an operation.
type Example struct {
	// Request is the body of the call that succeeds, or nil if it has none.
	Request json.RawMessage `json:"request,omitempty"`
	// Response is the answer to it.
	Response json.RawMessage `json:"response"`
	// Errors are the answers for each code that the operation declares.
	Errors map[errs.Code]Answer `json:"errors"`
}

// Answer is an answer to a call, or the name of a shared one.
type Answer struct {
	Shared string          `json:"shared,omitempty"`
	Value  json.RawMessage `json:"value,omitempty"`
}

// kind is the media type of all answers.
const kind = "application/json"

// addExamples adds the recorded calls to the document. A new operation has none until it is recorded.
func addExamples(doc *huma.OpenAPI, routes []httpapi.Route) {
	var all Examples
	if err := json.Unmarshal(recorded, &all); err != nil {
		panic(err) // the file is part of the program
	}
	doc.Components.Examples = map[string]*huma.Example{}
	for name, value := range all.Shared {
		doc.Components.Examples[name] = &huma.Example{Value: value}
	}
	common := map[string]bool{} // responses that operations share
	for _, r := range routes {
		o := operationOf(doc.Paths[r.Path], r.Method)
		if e, known := all.Operations[r.OperationID]; known {
			e.addTo(doc, o, r)
		}
		for _, response := range o.Responses {
			common[path.Base(response.Ref)] = true
		}
	}
	maps.DeleteFunc(doc.Components.Responses, func(name string, _ *huma.Response) bool { return !common[name] })
}

// addTo adds the calls of an operation to the document.
func (e Example) addTo(doc *huma.OpenAPI, o *huma.Operation, r httpapi.Route) {
	if o.RequestBody != nil {
		for _, media := range o.RequestBody.Content {
			media.Example = e.Request
		}
	}
	o.Responses[strconv.Itoa(r.Status)].Content[kind].Example = e.Response
	refusals := map[int]map[string]*huma.Example{}
	for _, code := range r.Errors {
		status, _ := httpapi.Status(code)
		if refusals[status] == nil {
			refusals[status] = map[string]*huma.Example{}
		}
		refusals[status][string(code)] = e.Errors[code].example()
	}
	for status, examples := range refusals {
		at := strconv.Itoa(status)
		o.Responses[at] = show(doc, o.Responses[at], examples)
	}
}

// show adds examples to a response. A shared response gets the examples that most of its operations have. An operation
// with different ones gets a response of its own.
func show(doc *huma.OpenAPI, response *huma.Response, examples map[string]*huma.Example) *huma.Response {
	if response.Ref == "" {
		response.Content[kind].Examples = examples
		return response
	}
	common := doc.Components.Responses[path.Base(response.Ref)]
	usual := true
	for code, e := range examples {
		usual = usual && path.Base(e.Ref) == code
	}
	if usual {
		common.Content[kind].Examples = examples
		return response
	}
	own := *common
	own.Content = map[string]*huma.MediaType{kind: {Schema: common.Content[kind].Schema, Examples: examples}}
	return &own
}

func (a Answer) example() *huma.Example {
	if a.Shared != "" {
		return &huma.Example{Ref: "#/components/examples/" + a.Shared}
	}
	return &huma.Example{Value: a.Value}
}

func operationOf(item *huma.PathItem, method string) *huma.Operation {
	return map[string]*huma.Operation{
		http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodPut: item.Put, http.MethodPatch: item.Patch, http.MethodDelete: item.Delete,
	}[method]
}
