package app_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/app/gatewayresponse"
)

func TestAnswersAreEnvelopes(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range gatewayresponse.All {
		t.Run(a.Type, func(t *testing.T) {
			if seen[a.Type] {
				t.Fatal("two answers have this type")
			}
			seen[a.Type] = true
			body := a.Body("$context.requestId", "https://$context.domainName")
			if strings.ContainsFunc(body, func(r rune) bool { return r > '~' }) {
				t.Errorf("%s is not ASCII", body)
			}
			var envelope map[string]any
			if err := json.Unmarshal([]byte(body), &envelope); err != nil {
				t.Fatalf("%s: %v", body, err)
			}
			if data, ok := envelope["data"]; !ok || data != nil {
				t.Errorf("data is %v, want null", data)
			}
			if envelope["request_id"] != "$context.requestId" {
				t.Errorf("request_id is %v", envelope["request_id"])
			}
			e, _ := envelope["error"].(map[string]any)
			if len(e) != 4 || e["doc_url"] != "https://$context.domainName/api-docs/errors/"+string(a.Code) ||
				e["code"] != string(a.Code) || e["message"] != a.Message || e["type"] == "" {
				t.Errorf("error is %v", envelope["error"])
			}
			if (e["type"] == "api_error") != (a.Status() >= 500) {
				t.Errorf("the status %d does not go with the type %v", a.Status(), e["type"])
			}
			// The template language would interpret these characters.
			if strings.Contains(a.Message, "$") || strings.Contains(a.Message, "#") {
				t.Errorf("the message %q would be taken for a template", a.Message)
			}
		})
	}
}

func TestStatuses(t *testing.T) {
	want := map[string]int{
		"UNAUTHORIZED": 401, "ACCESS_DENIED": 401, "MISSING_AUTHENTICATION_TOKEN": 404, "REQUEST_TOO_LARGE": 413,
		"UNSUPPORTED_MEDIA_TYPE": 415, "THROTTLED": 429, "WAF_FILTERED": 429, "INTEGRATION_TIMEOUT": 504,
		"DEFAULT_5XX":         500,
		"INTEGRATION_FAILURE": 503, "AUTHORIZER_FAILURE": 503, "AUTHORIZER_CONFIGURATION_ERROR": 503,
		"API_CONFIGURATION_ERROR": 500,
	}
	for _, a := range gatewayresponse.All {
		if status, ok := want[a.Type]; ok {
			if a.Status() != status {
				t.Errorf("%s has the status %d, want %d", a.Type, a.Status(), status)
			}
			delete(want, a.Type)
		}
		// The gateway puts each value in single quotes.
		for name, value := range a.Headers() {
			if strings.Contains(value, "'") {
				t.Errorf("%s: the gateway cannot send %s: %s", a.Type, name, value)
			}
		}
		if h := a.Headers(); h["Content-Security-Policy"] != "sandbox" || h["X-Frame-Options"] != "DENY" {
			t.Errorf("%s may be a page: %v", a.Type, h)
		}
		if _, challenged := a.Headers()["WWW-Authenticate"]; challenged != (a.Status() == 401) {
			t.Errorf("%s (%d): WWW-Authenticate is for 401 alone", a.Type, a.Status())
		}
		if _, waits := a.Headers()["Retry-After"]; waits != (a.Status() == 429 || a.Status() == 503) {
			t.Errorf("%s (%d): Retry-After is for 429 and 503 alone", a.Type, a.Status())
		}
	}
	if len(want) > 0 {
		t.Errorf("there is no answer for %v", want)
	}
}
