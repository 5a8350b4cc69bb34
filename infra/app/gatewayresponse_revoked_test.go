package app_test

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/content-automation/api/infra/app/gatewayresponse"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi"
)

type nobody struct{}

func (nobody) Record(context.Context, httpapi.Call) error { return nil }

// A revoked key, for which a function answers, gets the answer of an unknown one, which the gateway makes itself: the
// same text, headers and form of the id.
func TestB13ARevokedKeyIsAnsweredLikeAnUnknownOne(t *testing.T) {
	p := &auth.Principal{Owner: tenant.Of("acc_1", tenant.Live), Actor: auth.Key("key_1"),
		Rate:   auth.Rate{Limit: 60, Window: 60, Remaining: 59, Reset: 30},
		Denial: &auth.Denial{Code: errs.InvalidAPIKey, Message: auth.MessageInvalidKey}}
	values, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	const id = "6f9a4e7e-2f0b-4d3c-9b1e-0a5f1c7d8e21"
	unknown := gatewayresponse.All[slices.IndexFunc(gatewayresponse.All, func(r gatewayresponse.Response) bool {
		return r.Type == "ACCESS_DENIED"
	})]
	want := map[string]string{"Content-Type": "application/json", "X-Request-Id": id}
	for name, value := range unknown.Headers() {
		want[http.CanonicalHeaderKey(name)] = value
	}
	router := httpapi.NewRouter(nil, nobody{}, time.Now)
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		req := httptest.NewRequest(method, "/v1/me", nil)
		w := httptest.NewRecorder()
		router.ServeHTTP(w, req.WithContext(httpapi.WithGateway(req.Context(), httpapi.Gateway{
			RequestID: "1763812345678-" + id, Authorizer: values})))
		got := map[string]string{}
		for name := range w.Header() {
			got[name] = w.Header().Get(name)
		}
		if w.Code != unknown.Status() || w.Body.String() != unknown.Body(id, "") || !maps.Equal(got, want) {
			t.Errorf("%s: %d\n%v\n%s\nand an unknown key gets %d\n%v\n%s", method, w.Code, got, w.Body, unknown.Status(), want,
				unknown.Body(id, ""))
		}
	}
}
