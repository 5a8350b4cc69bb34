package api

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/content-automation/api/clients"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/httpapi"
)

// at returns a part of a document, by its members; nil where there is none.
func at(tree any, members ...string) any {
	for _, name := range members {
		object, _ := tree.(map[string]any)
		tree = object[name]
	}
	return tree
}

// referred returns the place that a place in a document refers to, or the place itself.
func referred(tree any, place []string) []string {
	place = slices.Clip(place)
	if ref, ok := at(tree, append(place, "$ref")...).(string); ok {
		return strings.Split(strings.TrimPrefix(ref, "#/"), "/")
	}
	return place
}

// TestExamplesFitTheirSchemas holds all examples against the schemas beside them:
// those of each request, of each response that succeeds, and one for each error code.
func TestExamplesFitTheirSchemas(t *testing.T) {
	tree := instance(t, clients.OpenAPIJSON).(map[string]any)
	compile := schemas(t)
	fit := func(t *testing.T, example any, in []string) {
		t.Helper()
		if err := compile(append(slices.Clip(in), "content", kind, "schema")...).Validate(example); err != nil {
			t.Errorf("%v: %v", in, err)
		}
	}
	for _, r := range Routes() {
		t.Run(r.OperationID, func(t *testing.T) {
			operation := slices.Clip([]string{"paths", r.Path, strings.ToLower(r.Method)})
			if body := slices.Clip(append(operation, "requestBody")); at(tree, body...) != nil {
				fit(t, at(tree, append(body, "content", kind, "example")...), body)
			}
			success := slices.Clip(append(operation, "responses", strconv.Itoa(r.Status)))
			fit(t, at(tree, append(success, "content", kind, "example")...), success)
			for _, code := range r.Errors {
				status, _ := httpapi.Status(code)
				refused := referred(tree, append(operation, "responses", strconv.Itoa(status)))
				example := referred(tree, append(refused, "content", kind, "examples", string(code)))
				value := at(tree, append(example, "value")...)
				if got := at(value, "error", "code"); got != string(code) {
					t.Errorf("the example of %s %s has the code %v", http.StatusText(status), code, got)
					continue
				}
				fit(t, value, refused)
			}
		})
	}
}

// TestExamplesHoldNoSecret looks for keys: those of examples have no valid checksum,
// and repeat one word.
func TestExamplesHoldNoSecret(t *testing.T) {
	found := 0
	for _, key := range strings.FieldsFunc(string(clients.OpenAPIJSON),
		func(r rune) bool { return r == '"' || r == ' ' }) {
		if !strings.HasPrefix(key, "svc_") && !strings.HasPrefix(key, "whsec_") {
			continue
		}
		found++
		if _, ok := auth.ParseKey(key); ok {
			t.Errorf("the document has the API key %s", key)
		}
		if _, secret, ok := strings.Cut(key, "whsec_"); ok && !strings.HasPrefix(secret, "EXAMPLE") &&
			len(secret) == 44 {
			t.Errorf("the document has the signing secret %s", key)
		}
	}
	if found == 0 {
		t.Error("no example shows a key")
	}
}

// TestEveryOperationHasAnExample holds the record against the operations.
func TestEveryOperationHasAnExample(t *testing.T) {
	var all map[string]Example
	if err := json.Unmarshal(recorded, &all); err != nil {
		t.Fatal(err)
	}
	for _, r := range Routes() {
		if _, ok := all[r.OperationID]; !ok {
			t.Errorf("%s has no recorded example: run make generate", r.OperationID)
		}
		delete(all, r.OperationID)
	}
	for operation := range all {
		t.Errorf("there is no operation %s any more: run make generate", operation)
	}
}
