package clients_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/clients"
	"github.com/content-automation/api/clients/internal/form"
)

func read(t *testing.T) *form.Form {
	t.Helper()
	f, err := form.Read(clients.OpenAPIJSON)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestTheFormHasTheWholeDocument(t *testing.T) {
	f := read(t)
	n := 0
	for _, r := range f.Resources {
		n += len(r.Operations)
		if len(r.Operations) > 1 && r.Doc == r.Operations[0].Summary {
			t.Errorf("%s is described by its first operation: %s", r.Name, r.Doc)
		}
		for _, o := range r.Operations {
			if o.Status == 0 || o.Result.Kind == "" || o.Scope == "" {
				t.Errorf("%s is incomplete: %+v", o.ID, o)
			}
			if o.Method == "GET" && o.Body != nil || o.Paged && !strings.HasPrefix(o.ID, "list") {
				t.Errorf("%s: %+v", o.ID, o)
			}
		}
	}
	if want := strings.Count(string(clients.OpenAPIJSON), `"x-sdk-method"`); n != want || n < 89 {
		t.Errorf("the form has %d operations, the document %d", n, want)
	}
	for _, ty := range f.Types {
		if ty.Open && ty.Sent {
			t.Errorf("%s: requests have an open enumeration", ty.Name)
		}
	}
	if len(f.Codes) == 0 || len(f.Events) == 0 || !slices.Contains(f.Scopes, "content:write") {
		t.Error("codes, events or scopes are missing")
	}
}

func TestAnUnnamedOperationIsRefused(t *testing.T) {
	doc := strings.Replace(string(clients.OpenAPIJSON), `"x-sdk-method":"create",`, "", 1)
	if _, err := form.Read([]byte(doc)); err == nil || !strings.Contains(err.Error(), "no name for clients") {
		t.Errorf("got %v", err)
	}
}
