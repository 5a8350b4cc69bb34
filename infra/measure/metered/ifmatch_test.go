package metered

import (
	"net/http"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/answers"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/service/api"
)

// readers returns the operations that read one resource, by their paths.
func readers() map[string]string {
	all := map[string]string{}
	for _, route := range api.Routes() {
		if route.Method == http.MethodGet && strings.HasSuffix(route.Path, "}") {
			all[route.Path] = route.OperationID
		}
	}
	return all
}

// TestAStaleVersionChangesNothing sends a version that is not the last one to each operation that takes If-Match: it
// is refused, and the resource of its path stays as it was.
func TestAStaleVersionChangesNothing(t *testing.T) {
	d, err := answers.Read()
	if err != nil {
		t.Fatal(err)
	}
	w, get := filled(t), readers()
	tried, compared := 0, 0
	for _, o := range d.Operations() {
		if !takesIfMatch(d, d.At("paths", o.Path, strings.ToLower(o.Method))) {
			continue
		}
		tried++
		r, err := w.Prepare(t.Context(), o.OperationID)
		if err != nil {
			t.Fatal(err)
		}
		path := o.Path
		for get[path] == "" && strings.Contains(path, "}/") {
			path = path[:strings.LastIndex(path, "/")]
		}
		read := func() string {
			if get[path] == "" {
				return ""
			}
			a, err := w.Send(t.Context(), Request{Operation: get[path], ID: r.ID, Part: r.Part, Live: r.Live,
				Key: r.Key})
			if err != nil {
				t.Fatal(err)
			}
			if a.Status != http.StatusOK {
				return ""
			}
			return versionOf(a.Body)
		}
		before := read()
		r.Header = map[string]string{"If-Match": `"999999"`}
		a, err := w.Send(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if a.Status != http.StatusPreconditionFailed ||
			!strings.Contains(a.Body, `"code":"`+string(errs.VersionMismatch)) {
			t.Errorf("%s answers %d: %.300s", o.OperationID, a.Status, a.Body)
		}
		if before != "" {
			compared++
		}
		if after := read(); after != before {
			t.Errorf("%s has changed %s to %s", o.OperationID, before, after)
		}
	}
	if tried < 50 || compared < 40 {
		t.Errorf("only %d operations take If-Match, and the resources of %d were read", tried, compared)
	}
}

// takesIfMatch reports whether an operation documents If-Match.
func takesIfMatch(d *answers.Document, described map[string]any) bool {
	parameters, _ := described["parameters"].([]any)
	for _, p := range parameters {
		one, _ := p.(map[string]any)
		if ref, ok := one["$ref"].(string); ok {
			one = d.At(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
		}
		if one["name"] == "If-Match" {
			return true
		}
	}
	return false
}

// versionOf returns the version, the time of the last change and the state of an answer.
func versionOf(body string) string {
	found := []string{}
	for _, name := range []string{`"version":`, `"updated_at":`, `"state":`} {
		if _, rest, ok := strings.Cut(body, name); ok {
			found = append(found, name+rest[:strings.IndexAny(rest, ",}")])
		}
	}
	return strings.Join(found, " ")
}
