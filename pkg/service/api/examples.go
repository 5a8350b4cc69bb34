package api

import (
	_ "embed"
	"encoding/json"
	"maps"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/httpapi"
)

// recorded has the Example of each operation that infra/verify/tables has written, by its id.
//
//go:embed examples.json
var recorded []byte

// Example is a call of an operation that succeeds.
type Example struct {
	// Request is the body of the request; nil if it has none.
	Request json.RawMessage `json:"request,omitempty"`
	// Response is the body of the response.
	Response json.RawMessage `json:"response"`
}

// kind is the media type of all answers.
const kind = "application/json"

// addExamples shows the recorded calls in the document, and with each error response the
// example of each of its codes. A new operation has no call until it is recorded.
func addExamples(doc *huma.OpenAPI, routes []httpapi.Route) {
	var all map[string]Example
	if err := json.Unmarshal(recorded, &all); err != nil {
		panic(err) // the file is part of the program
	}
	doc.Components.Examples = map[string]*huma.Example{}
	for _, r := range routes {
		o := operationOf(doc.Paths[r.Path], r.Method)
		if e, known := all[r.OperationID]; known {
			if o.RequestBody != nil {
				for _, media := range o.RequestBody.Content {
					media.Example = e.Request
				}
			}
			o.Responses[strconv.Itoa(r.Status)].Content[kind].Example = short(e.Response)
		}
		for _, code := range r.Errors {
			doc.Components.Examples[string(code)] = &huma.Example{Value: json.RawMessage(errs.InfoOf(code).Response())}
			status, _ := httpapi.Status(code)
			media := responseOf(doc, o.Responses[strconv.Itoa(status)]).Content[kind]
			if media.Examples == nil {
				media.Examples = map[string]*huma.Example{}
			}
			media.Examples[string(code)] = &huma.Example{Ref: "#/components/examples/" + string(code)}
		}
	}
}

// longMember is the member whose object is too long for an example: it is of a free form, and requests describe it.
const longMember = "design"

// fewMembers is the number of its members that an example has.
const fewMembers = 3

// short returns an example whose lists of objects have their first element alone, and whose designs are cut.
func short(response json.RawMessage) any {
	var all any
	if json.Unmarshal(response, &all) != nil {
		return response
	}
	return firstOnly(all)
}

// signedURL matches the query of a signed URL, also in a body that is shown as a text.
var signedURL = regexp.MustCompile(`\?X-Amz-(?:[^"\\\s]|\\u0026)*`)

func firstOnly(value any) any {
	switch v := value.(type) {
	case string:
		return signedURL.ReplaceAllLiteralString(v, "?X-Amz-Signature=EXAMPLE")
	case tree:
		for name, member := range v {
			if design, ok := member.(tree); ok && name == longMember {
				for _, left := range slices.Sorted(maps.Keys(design))[min(fewMembers, len(design)):] {
					delete(design, left)
				}
			}
			v[name] = firstOnly(member)
		}
	case []any:
		for i := range v {
			v[i] = firstOnly(v[i])
		}
		if len(v) > 1 {
			if _, ok := v[0].(tree); ok {
				return v[:1]
			}
		}
	}
	return value
}

// usual are the codes that come first among the examples of a status: servers of mock answers send the first.
var usual = []string{
	string(errs.ValidationFailed), string(errs.InvalidAPIKey), string(errs.InsufficientScope), string(errs.RateLimited),
	string(errs.MalformedJSON), string(errs.InvalidCursor), string(errs.InsufficientBalance), string(errs.InvalidState),
	string(errs.NotFound),
}

// inOrder puts the usual code of each status first.
func inOrder(responses tree) {
	for _, r := range responses {
		response, _ := r.(tree)
		content, _ := response["content"].(tree)
		media, _ := content[kind].(tree)
		examples, _ := media["examples"].(tree)
		if len(examples) < 2 {
			continue
		}
		names := slices.Sorted(maps.Keys(examples))
		slices.SortStableFunc(names, func(a, b string) int { return place(a) - place(b) })
		media["examples"] = members{names, examples}
	}
}

// place returns the place of a code among the usual ones.
func place(code string) int {
	if i := slices.Index(usual, code); i >= 0 {
		return i
	}
	return len(usual)
}

// responseOf returns a response of an operation, or the shared one that it refers to.
func responseOf(doc *huma.OpenAPI, r *huma.Response) *huma.Response {
	if r == nil || r.Ref == "" {
		return r
	}
	return doc.Components.Responses[path.Base(r.Ref)]
}

func operationOf(item *huma.PathItem, method string) *huma.Operation {
	return map[string]*huma.Operation{
		http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodPut: item.Put, http.MethodPatch: item.Patch,
		http.MethodDelete: item.Delete,
	}[method]
}
