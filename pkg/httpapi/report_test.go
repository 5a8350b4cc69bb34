package httpapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/httpapi"
)

// A release ends whose version answers 5xx, which Lambda does not count: the metric has the
// function and its version. Other responses are not counted.
func TestServerErrorsAreCountedByVersion(t *testing.T) {
	name, version := lambdacontext.FunctionName, lambdacontext.FunctionVersion
	t.Cleanup(func() { lambdacontext.FunctionName, lambdacontext.FunctionVersion = name, version })
	lambdacontext.FunctionName, lambdacontext.FunctionVersion = "acme-prod-things", "12"
	var counted bytes.Buffer
	before := metric.SetOutput(&counted)
	t.Cleanup(func() { metric.SetOutput(before) })
	f, faults := fragile(t)
	f.call("POST", "/v1/things", `{"name":"a"}`)
	f.call("POST", "/v1/things", `{}`)
	if counted.Len() > 0 {
		t.Errorf("other responses are counted: %s", counted.String())
	}
	faults.Lose("PutItem", storetest.Attempts)
	if a := f.call("POST", "/v1/things", `{"name":"b"}`); a.status < 500 {
		t.Fatalf("the call was answered %d", a.status)
	}
	var line map[string]any
	if err := json.Unmarshal(counted.Bytes(), &line); err != nil || line[httpapi.ServerErrors] != 1. ||
		line["release"] != "acme-prod-things:12" {
		t.Errorf("%v: %s", err, counted.String())
	}
}

func TestEveryCallHasOneLineInTheLog(t *testing.T) {
	var log bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewJSONHandler(&log, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	f := newFixture(t)
	for _, c := range []struct {
		method, path, body, operation, code string
		status                              float64
		reason, param                       string
	}{
		{"POST", "/v1/things", `{"name":"Ada"}`, "createThing", "", 201, "", ""},
		{"GET", "/v1/things/fac_ada@example.com", "", "getThing", "not_found", 404, "has the id …", ""},
		{"GET", "/v1/ada@example.com", "", "", "unknown_path", 404, "", ""},
		{"POST", "/v1/things", `{"name":7}`, "createThing", "validation_failed", 422, "must be a string", "/name"},
		{"POST", "/v1/things", `{"name":"x","ada@hunter2":1}`, "createThing", "validation_failed", 422, "is not a member",
			""},
	} {
		log.Reset()
		f.call(c.method, c.path, c.body, "User-Agent", "ada@here", "Authorization", "Bearer svc_test_hunter2")
		var line map[string]any
		if err := json.Unmarshal(log.Bytes(), &line); err != nil {
			t.Fatalf("%v: %s", err, log.String())
		}
		if line["msg"] != "call" || line["request_id"] != "req-1" || line["account_id"] != string(f.caller.Account) ||
			line["mode"] != string(f.caller.Mode) ||
			line["key_id"] != f.caller.KeyID() || line["operation_id"] != c.operation || line["status"] != c.status ||
			line["code"] != c.code || line["ms"] == nil || line["function_ms"] == nil ||
			!strings.Contains(fmt.Sprint(line["reason"]), c.reason) || c.param != "" && line["param"] != c.param {
			t.Errorf("%s %s: %s", c.method, c.path, log.String())
		}
		for _, personal := range []string{"Ada", "ada@", "hunter2", "198.51.100.7"} {
			if strings.Contains(log.String(), personal) {
				t.Errorf("the log has %q: %s", personal, log.String())
			}
		}
	}
}
