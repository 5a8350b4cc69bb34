package cloud_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/cloud/proxy"
)

// TestHandlerTakesPathsThatTheGatewayHasDecoded sends paths on which the module fails by itself.
func TestHandlerTakesPathsThatTheGatewayHasDecoded(t *testing.T) {
	serve := proxy.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		gateway, found := proxy.Gateway(r.Context())
		if !found || gateway.RequestID != "abc" {
			t.Errorf("the gateway is %v %+v", found, gateway)
		}
		_, _ = io.WriteString(w, r.URL.Path+" "+r.URL.RawQuery)
	}))
	for path, want := range map[string]string{
		"/docs/a%20b": "/docs/a b ", "/docs/100%": "/docs/100% ", "/docs/%zz": "/docs/%zz ", "/docs/a?b=c": "/docs/a?b=c ",
		"/docs/a#b": "/docs/a#b ", "/docs/a\nb": "/docs/a\nb ", "/docs/a b": "/docs/a b ", "docs": "/docs ", "": "/ ",
	} {
		res, err := serve(t.Context(), events.APIGatewayProxyRequest{HTTPMethod: "GET", Path: path,
			RequestContext: events.APIGatewayProxyRequestContext{RequestID: "abc"}})
		if err != nil || res.StatusCode != http.StatusOK || res.Body != want {
			t.Errorf("the path %q: %v, %d, %q, want %q", path, err, res.StatusCode, res.Body, want)
		}
	}
}

func TestGatewayIsEmptyOutsideOfAFunction(t *testing.T) {
	if gateway, found := proxy.Gateway(t.Context()); found || gateway.RequestID != "" {
		t.Errorf("a gateway is found: %+v", gateway)
	}
}
