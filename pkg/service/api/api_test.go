package api

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/authorizer"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/service/serve"
)

// promised is a row of the table of operations.
type promised struct {
	function, scope, status string
	served                  bool
}

// operations reads the table of all operations that the contract knows.
func operations(t *testing.T) map[string]promised {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "..", "testdata", "operations.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma, r.Comment = '\t', '#'
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	table := map[string]promised{}
	for _, row := range rows {
		key := row[1] + " " + row[2] + " " + row[3]
		if _, twice := table[key]; twice {
			t.Errorf("%s stands twice in the table", key)
		}
		table[key] = promised{function: row[0], scope: row[4], status: row[5], served: row[6] == "served"}
	}
	return table
}

func TestOperationsAreThoseOfTheContract(t *testing.T) {
	table := operations(t)
	registered := map[string]bool{}
	for _, r := range Routes() {
		key := r.Method + " " + r.Path + " " + r.OperationID
		registered[key] = true
		want, known := table[key]
		switch {
		case !known:
			t.Errorf("%s is registered, but not in the table", key)
		case want.scope != string(r.Scope):
			t.Errorf("%s needs the scope %s, the table says %s", key, r.Scope, want.scope)
		case want.status != strconv.Itoa(r.Status):
			t.Errorf("%s answers %d, the table says %s", key, r.Status, want.status)
		case !want.served:
			t.Errorf("%s is registered, but the table calls it planned", key)
		}
	}
	for key, want := range table {
		if want.served && !registered[key] {
			t.Errorf("%s is in the table as served, but not registered", key)
		}
		if s := auth.Scope(want.scope); !s.Known() && s != auth.PersonScope {
			t.Errorf("%s needs the unknown scope %s", key, want.scope)
		}
	}
}

func TestDocumentDescribesEveryAnswer(t *testing.T) {
	doc := Document()
	for path, item := range doc.Paths {
		for _, r := range Routes() {
			if r.Path != path {
				continue
			}
			o := item.Get
			switch r.Method {
			case http.MethodPost:
				o = item.Post
			case http.MethodPut:
				o = item.Put
			case http.MethodPatch:
				o = item.Patch
			case http.MethodDelete:
				o = item.Delete
			}
			if o.Summary == "" || o.Description == "" || len(o.Tags) == 0 {
				t.Errorf("%s lacks a summary, a description or a tag", r.OperationID)
			}
			scopes := []string{string(r.Scope)}
			for _, scope := range r.Also {
				scopes = append(scopes, string(scope))
			}
			if got := o.Extensions[httpapi.RequiredScopes]; !reflect.DeepEqual(got, scopes) ||
				o.Security[0]["apiKey"] == nil {
				t.Errorf("%s: security %v, scopes %v", r.OperationID, o.Security, got)
			}
			for _, status := range []string{strconv.Itoa(r.Status), "401", "403", "429", "500", "503", "504"} {
				if o.Responses[status] == nil {
					t.Errorf("%s does not describe its answer %s", r.OperationID, status)
				}
			}
			for status, headers := range map[string][]string{"202": {"Location", "Retry-After"},
				"401": {"WWW-Authenticate"}, "429": {"Retry-After"}, "503": {"Retry-After"}} {
				for _, header := range headers {
					if r := responseOf(doc, o.Responses[status]); r != nil && r.Headers[header] == nil {
						t.Errorf("%s: its answer %s lacks %s", o.OperationID, status, header)
					}
				}
			}
			if strings.Contains(path, "{") && o.Responses["404"] == nil {
				t.Errorf("%s does not describe its answer 404", r.OperationID)
			}
			if o.RequestBody != nil && o.RequestBody.Content["application/json"].Example == nil {
				t.Errorf("%s has no example of its body", r.OperationID)
			}
			for _, p := range o.Parameters {
				if p.Description == "" {
					t.Errorf("%s: parameter %s has no description", r.OperationID, p.Name)
				}
			}
		}
	}
	if len(doc.Webhooks) != len(event.Types) || len(event.Types) != 46 {
		t.Errorf("%d webhooks for %d types of event", len(doc.Webhooks), len(event.Types))
	}
}

// TestSamplesFitTheirSchemas holds the sample of each type of event against the
// schema of the resource that it carries.
func TestSamplesFitTheirSchemas(t *testing.T) {
	r := httpapi.NewDocument(&huma.OpenAPI{}, httpapi.NewTexts(nil))
	registry := r.OpenAPI().Components.Schemas
	for _, known := range event.Types {
		shape := payloads[known.Type]
		if shape == nil {
			t.Errorf("%s has no payload", known.Type)
			continue
		}
		var sample any
		if err := json.Unmarshal(event.SampleObject(known.Type), &sample); err != nil {
			t.Errorf("%s: %v", known.Type, err)
			continue
		}
		if err := strict(event.SampleObject(known.Type), shape); err != nil {
			t.Errorf("%s: %v", known.Type, err)
		}
		// A webhook may choose each member.
		want := slices.Sorted(slices.Values(httpapi.MembersOf(shape)))
		if got := event.Members(known.Type); !slices.Equal(got, want) {
			t.Errorf("%s: the members are %v, want %v", known.Type, got, want)
		}
		// huma does not know that a pointer to a struct may be null.
		for name, value := range sample.(map[string]any) {
			if value == nil {
				delete(sample.(map[string]any), name)
			}
		}
		var result huma.ValidateResult
		huma.Validate(registry, r.Schema(shape), huma.NewPathBuffer(nil, 0), huma.ModeReadFromServer, sample, &result)
		for _, err := range result.Errors {
			if !strings.Contains(err.Error(), "expected required property") {
				t.Errorf("%s: %v", known.Type, err)
			}
		}
	}
}

// strict reads a document that must have no member that the type has not, and
// all that it has.
func strict(doc []byte, shape reflect.Type) error {
	v := reflect.New(shape)
	d := json.NewDecoder(bytes.NewReader(doc))
	d.DisallowUnknownFields()
	if err := d.Decode(v.Interface()); err != nil {
		return err
	}
	again, err := json.Marshal(v.Interface())
	if err != nil {
		return err
	}
	var want, got map[string]any
	if err := errors.Join(json.Unmarshal(again, &want), json.Unmarshal(doc, &got)); err != nil {
		return err
	}
	for name := range want {
		if _, ok := got[name]; !ok {
			return fmt.Errorf("the sample lacks %s", name)
		}
	}
	return nil
}

func TestEveryOperationIsRoutedToTheFunctionThatMountsIt(t *testing.T) {
	for _, f := range serve.All {
		r := httpapi.NewDocument(&huma.OpenAPI{}, httpapi.NewTexts(nil))
		f.Mount(r, area.Env{})
		if len(r.Routes()) == 0 {
			t.Errorf("%s serves nothing", f.Name)
		}
		for _, route := range r.Routes() {
			if route.Function != f.Name {
				t.Errorf("%s is mounted by %s, and routed to %s", route.OperationID, f.Name, route.Function)
			}
		}
	}
}

// Each area is mounted by a function.
func TestEveryAreaIsMounted(t *testing.T) {
	wiring, err := os.ReadFile(filepath.Join("..", "serve", "serve.go"))
	if err != nil {
		t.Fatal(err)
	}
	areas := 0
	err = filepath.WalkDir(filepath.Join("..", "..", "area"), func(file string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		code, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(code), "\nfunc Mount(r *httpapi.Router") {
			return err
		}
		areas++
		imported := "content-automation/api/pkg/" + strings.TrimPrefix(filepath.ToSlash(filepath.Dir(file)), "../../")
		if !strings.Contains(string(wiring), imported+`"`) {
			t.Errorf("%s is mounted by no function", imported)
		}
		return nil
	})
	if err != nil || areas < 15 {
		t.Errorf("found %d areas: %v", areas, err)
	}
}

// The authorizer knows the scope of each operation.
func TestScopesCoverAllOperations(t *testing.T) {
	want := map[string]auth.Scope{}
	for _, r := range Routes() {
		want[r.Method+" "+r.Path] = r.Scope
	}
	if !reflect.DeepEqual(authorizer.Scopes, want) {
		t.Errorf("got  %v\nwant %v", authorizer.Scopes, want)
	}
}
