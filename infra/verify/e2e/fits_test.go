package e2e

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/content-automation/api/infra/verify/answers"
)

// document is the OpenAPI document of the service.
var document = sync.OnceValues(answers.Read)

// fits reports an answer of an operation that the document does not allow. The gateway answers what is no operation.
func fits(t *testing.T, method, path string, resp *http.Response, raw []byte) {
	t.Helper()
	doc, err := document()
	if err != nil {
		t.Fatal(err)
	}
	o := doc.Find(method, path)
	if o == nil || !strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") ||
		resp.StatusCode >= 300 && o.Responses[resp.StatusCode] == nil {
		return
	}
	if err := o.Check(resp.StatusCode, raw); err != nil {
		t.Errorf("%s %s does not fit the document: %v", method, path, err)
	}
}
