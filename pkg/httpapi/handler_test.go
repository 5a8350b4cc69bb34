package httpapi_test

import (
	"encoding/json"
	"net/http/httptest"
	"reflect"
	"testing"

	"github.com/content-automation/api/pkg/httpapi"
)

// TestHEAD holds the answers to HEAD against those to GET: the same, of which the
// gateway leaves the body out.
func TestHEAD(t *testing.T) {
	f := newFixture(t)
	made := f.call("POST", "/v1/things", `{"name":"a"}`)
	var v thing
	if err := json.Unmarshal(made.Data, &v); err != nil {
		t.Fatal(err)
	}
	values, err := f.caller.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path   string
		key    map[string]any
		status int
	}{
		{"/v1/things", values, 200},
		{"/v1/things/" + v.ID, values, 200},
		{"/v1/things?limit=0", values, 422},
		{"/v1/things/x", values, 404},
		{"/v1/nothing", values, 404},
		{"/v1/things", nil, 401},
	} {
		answers := map[string]*httptest.ResponseRecorder{}
		for _, method := range []string{"GET", "HEAD"} {
			req := httptest.NewRequest(method, c.path, nil)
			answers[method] = httptest.NewRecorder()
			f.router.ServeHTTP(answers[method],
				req.WithContext(httpapi.WithGateway(req.Context(), httpapi.Gateway{RequestID: "req-1", ReceivedAt: noon,
					Authorizer: c.key})))
		}
		get, head := answers["GET"], answers["HEAD"]
		if head.Code != c.status || get.Code != c.status || head.Body.String() != get.Body.String() ||
			!reflect.DeepEqual(head.Header(), get.Header()) {
			t.Errorf("%s: GET %d %v, HEAD %d %v with %d bytes", c.path, get.Code, get.Header(), head.Code,
				head.Header(), head.Body.Len())
		}
	}
}
