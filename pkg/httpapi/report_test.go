package httpapi_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
)

func TestEveryCallHasOneLineInTheLog(t *testing.T) {
	var log bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewJSONHandler(&log, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	f := newFixture(t)
	for _, c := range []struct {
		method, path, body, operation, code string
		status                              float64
	}{
		{"POST", "/v1/things", `{"name":"Ada"}`, "createThing", "", 201},
		{"GET", "/v1/things/fac_ada@example.com", "", "getThing", "not_found", 404},
		{"GET", "/v1/ada@example.com", "", "", "unknown_path", 404},
	} {
		log.Reset()
		f.call(c.method, c.path, c.body, "User-Agent", "ada", "Authorization", "Bearer svc_test_hunter2")
		var line map[string]any
		if err := json.Unmarshal(log.Bytes(), &line); err != nil {
			t.Fatalf("%v: %s", err, log.String())
		}
		if line["msg"] != "call" || line["request_id"] != "req-1" || line["account_id"] != string(f.caller.Account) || line["mode"] != string(f.caller.Mode) ||
			line["key_id"] != f.caller.KeyID() || line["operation_id"] != c.operation || line["status"] != c.status || line["code"] != c.code || line["ms"] == nil || line["function_ms"] == nil {
			t.Errorf("%s %s: %s", c.method, c.path, log.String())
		}
		for _, personal := range []string{"Ada", "ada", "hunter2", "198.51.100.7"} {
			if strings.Contains(log.String(), personal) {
				t.Errorf("the log has %q: %s", personal, log.String())
			}
		}
	}
}
