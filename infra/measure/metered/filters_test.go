package metered

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/answers"
	"github.com/content-automation/api/pkg/base/id"
)

// lists are the lists of a world that has two of what its examples make, and of what they need.
type lists struct {
	*World
	t *testing.T
	d *answers.Document
}

// parameters returns the parameters of an operation in the query, by their names.
func (l *lists) parameters(o *answers.Operation) map[string]map[string]any {
	all := map[string]map[string]any{}
	parameters, _ := l.d.At("paths", o.Path, strings.ToLower(o.Method))["parameters"].([]any)
	for _, p := range parameters {
		one, _ := p.(map[string]any)
		if ref, ok := one["$ref"].(string); ok {
			one = l.d.At(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
		}
		if one["in"] == "query" {
			all[one["name"].(string)] = one
		}
	}
	return all
}

// rows returns the resources of a list with a query, of all pages, and the status of the first answer.
func (l *lists) rows(r Request, query map[string]string) (rows []map[string]any, status int) {
	l.t.Helper()
	sent := map[string]string{"limit": "20"}
	for name, value := range r.Query {
		sent[name] = value
	}
	for name, value := range query {
		sent[name] = value
	}
	for range 50 {
		r.Query = sent
		a, err := l.Send(l.t.Context(), r)
		if err != nil {
			l.t.Fatal(err)
		}
		if a.Status != http.StatusOK {
			return nil, a.Status
		}
		var page struct {
			Data []map[string]any
			Next *string `json:"next_cursor"`
		}
		if err := json.Unmarshal([]byte(a.Body), &page); err != nil {
			l.t.Fatal(err)
		}
		rows = append(rows, page.Data...)
		if page.Next == nil {
			break
		}
		sent["cursor"] = *page.Next
	}
	return rows, http.StatusOK
}

// TestListsFilter calls each list with each value that a member of its resources has: the filter of that name finds
// those with the value, in the order of the whole list, and no other.
func TestListsFilter(t *testing.T) {
	d, err := answers.Read()
	if err != nil {
		t.Fatal(err)
	}
	l := &lists{filled(t), t, d}
	for _, o := range d.Operations() {
		if o.Method == http.MethodPost {
			if _, err := l.Prepare(t.Context(), o.OperationID); err != nil {
				t.Fatal(err)
			}
		}
	}
	filters := 0
	for _, o := range d.Operations() {
		parameters := l.parameters(o)
		if parameters["limit"] == nil || o.Method != http.MethodGet ||
			o.OperationID == "listAuditEntries" { // each call adds one
			continue
		}
		r, err := l.Prepare(t.Context(), o.OperationID)
		if err != nil {
			t.Fatal(err)
		}
		all, status := l.rows(r, nil)
		if status != http.StatusOK {
			t.Errorf("%s answers %d", o.OperationID, status)
			continue
		}
		for name, p := range parameters {
			if given := r.Query[name]; given != "" || name == "sku" { // which needs a factory
				continue
			}
			filters += l.filter(o.OperationID, r, name, p, all)
		}
	}
	if filters < 45 {
		t.Errorf("only %d filters were tried", filters)
	}
}

// filter tries the filter of a name by each value that the resources have, and returns 1 if there is one.
func (l *lists) filter(operation string, r Request, name string, p map[string]any, all []map[string]any) int {
	values := map[string][]any{}
	for _, row := range all {
		if value, ok := row[name].(string); ok {
			values[value] = append(values[value], row["id"])
		}
	}
	schema, _ := p["schema"].(map[string]any)
	if items, ok := schema["items"].(map[string]any); ok {
		schema = items
	}
	closed, _ := schema["enum"].([]any)
	for _, value := range closed {
		if value, ok := value.(string); ok && len(all) > 0 && all[0][name] != nil && values[value] == nil {
			values[value] = []any{}
		}
	}
	for value, want := range values {
		rows, status := l.rows(r, map[string]string{name: value})
		got := []any{}
		for _, row := range rows {
			got = append(got, row["id"])
		}
		if status != http.StatusOK || !slices.Equal(got, want) && fmt.Sprint(got) != fmt.Sprint(want) {
			l.t.Errorf("%s?%s=%s answers %d with %d, want %d of %d", operation, name, value, status, len(got),
				len(want), len(all))
		}
	}
	if strings.HasSuffix(name, "_id") {
		l.nobody(operation, r, name, values)
	}
	return min(len(values), 1)
}

// nobody tries a filter by the id of nobody, which finds nothing.
func (l *lists) nobody(operation string, r Request, name string, values map[string][]any) {
	for value := range values {
		if len(value) < 4 || value[3] != '_' {
			return
		}
		rows, status := l.rows(r, map[string]string{name: id.New(value[:3], l.Now())})
		if len(rows) > 0 || status != http.StatusOK && status != http.StatusNotFound {
			l.t.Errorf("%s by %s of nobody answers %d with %d", operation, name, status, len(rows))
		}
		return
	}
}
