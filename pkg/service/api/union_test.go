package api

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/httpapi"
)

func TestWhatATypeDecidesIsChecked(t *testing.T) {
	schema := schemas(t)
	for _, c := range []struct {
		name, body string
		fits       bool
	}{
		{"FactoryCreate", `{"type":"musician","name":"M","settings":{"artist_name":"A","genres":["pop"]}}`, true},
		{"FactoryCreate", `{"type":"musician","name":"M"}`, false},
		{"FactoryCreate", `{"type":"musician","name":"M","settings":{"artist_name":"A"}}`, false},
		{"FactoryCreate", `{"type":"musician","name":"M","settings":{"brand_name":"B"}}`, false},
		{"FactoryCreate", `{"type":"musician","name":"M","settings":{"artist_name":"A","genres":["pop"]},"colour":"red"}`, false},
		{"FactoryCreate", `{"type":"blogger","name":"B"}`, true},
		{"FactoryCreate", `{"type":"shop","name":"S"}`, false},
		{"FactoryCreate", `{"name":"S"}`, false},
		{"EstimateCreate", `{"operation":"createImage","body":{"prompt":"A shoe"}}`, true},
		{"EstimateCreate", `{"operation":"createImage","body":{"text":"A shoe"}}`, false},
		{"EstimateCreate", `{"operation":"createImage"}`, false},
		{"EstimateCreate", `{"operation":"createFactory","body":{}}`, false},
		{"FactoryUpdate", `{"settings":{"mood":null,"genres":["pop"]}}`, true},
		{"FactoryUpdate", `{"settings":null}`, true},
		{"FactoryUpdate", `{"settings":{"artist_name":null}}`, false},
		{"FactoryUpdate", `{"settings":{"mood":"calm","slogan":"Run."}}`, false},
		{"FactoryUpdate", `{"settings":{"mode":"calm"}}`, false},
	} {
		if err := schema("components", "schemas",
			c.name).Validate(instance(t, []byte(c.body))); (err == nil) != c.fits {
			t.Errorf("%s as %s: %v", c.body, c.name, err)
		}
	}
}

// TestErrorsHaveTheCodesOfTheOperation checks each error response of each operation with
// every code: it takes those that it names, and all of them have its status.
func TestErrorsHaveTheCodesOfTheOperation(t *testing.T) {
	doc, schema := Document(), schemas(t)
	code := regexp.MustCompile("`([a-z_]+)`")
	checked := map[string]bool{}
	for path, item := range doc.Paths {
		for _, o := range operationsOf(item) {
			for status, r := range o.Responses {
				r = responseOf(doc, r)
				if status < "400" || checked[r.Description] {
					continue
				}
				checked[r.Description] = true
				named := map[string]bool{}
				for _, m := range code.FindAllStringSubmatch(r.Description, -1) {
					named[m[1]] = true
				}
				shape := schema("components", "schemas", strings.TrimPrefix(r.Content["application/json"].Schema.Ref,
					"#/components/schemas/"))
				for _, c := range errs.Codes {
					of, _ := httpapi.Status(c)
					if named[string(c)] && strconv.Itoa(of) != status {
						t.Errorf("%s answers %s with %s", path, c, status)
					}
					body := errs.InfoOf(c).Response()
					if err := shape.Validate(instance(t, body)); (err == nil) != named[string(c)] {
						t.Errorf("%s %s %s takes %s: %v", o.OperationID, status, http.StatusText(of), c, err)
					}
				}
			}
		}
	}
	if len(checked) < 15 {
		t.Errorf("checked %d", len(checked))
	}
}
