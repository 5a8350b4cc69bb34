package docs_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/service/docs"
)

func event(method, path string, headers map[string]string) events.APIGatewayProxyRequest {
	multi := map[string][]string{}
	for name, value := range headers {
		multi[name] = []string{value}
	}
	return events.APIGatewayProxyRequest{
		Resource: path, Path: path, HTTPMethod: method, MultiValueHeaders: multi,
		RequestContext: events.APIGatewayProxyRequestContext{RequestID: requestID, Stage: "v",
			DomainName: "api.acme.dev", HTTPMethod: method},
	}
}

func TestLambdaTakesTheGatewaysRequestID(t *testing.T) {
	fn := docs.Lambda(builtIn())
	for _, path := range []string{"/healthz", "/nothing"} {
		resp, err := fn(t.Context(), event("GET", path, map[string]string{"x-request-id": "forged",
			"X-Request-Id": "forged"}))
		if err != nil {
			t.Fatal(err)
		}
		var e struct {
			RequestID string `json:"request_id"`
		}
		if err := json.Unmarshal([]byte(resp.Body), &e); err != nil {
			t.Fatal(err)
		}
		if got := http.Header(resp.MultiValueHeaders).Values("X-Request-Id"); e.RequestID != requestID ||
			len(got) != 1 || got[0] != requestID || resp.IsBase64Encoded {
			t.Errorf("%s: request_id %q, header %q, base64 %v", path, e.RequestID, got, resp.IsBase64Encoded)
		}
	}
}

func TestLambdaAnswersBinaryAsBase64(t *testing.T) {
	fn := docs.Lambda(builtIn())
	page, err := fn(t.Context(), event("GET", "/api-docs/explorer", nil))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(page.Body, `data-script="assets/scalar-`)
	name, _, _ := strings.Cut(rest, ` `)
	resp, err := fn(t.Context(), event("GET", "/api-docs/assets/scalar-"+name,
		map[string]string{"accept-encoding": "gzip"}))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := base64.StdEncoding.DecodeString(resp.Body)
	if err != nil || !resp.IsBase64Encoded || !strings.HasPrefix(string(raw), "\x1f\x8b") {
		t.Fatalf("status %d, base64 %v, %v: want gzip in base64", resp.StatusCode, resp.IsBase64Encoded, err)
	}
	etag := http.Header(resp.MultiValueHeaders).Get("ETag")
	again, err := fn(t.Context(), event("GET", "/api-docs/assets/scalar-"+name,
		map[string]string{"if-none-match": etag}))
	if err != nil || again.StatusCode != 304 || again.Body != "" {
		t.Errorf("repeat with its ETag: %d, %d bytes, %v", again.StatusCode, len(again.Body), err)
	}
}
