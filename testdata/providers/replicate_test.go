package main_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/testdata/providers/control"
	"github.com/content-automation/api/testdata/providers/replicate"
	"github.com/content-automation/api/testdata/providers/sample"
)

func TestReplicateWhatIsNotOfTheProtocol(t *testing.T) {
	faults := control.New()
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	server := httptest.NewServer(http.StripPrefix("/replicate",
		replicate.New(faults, sample.File, func() time.Time { return at }, time.Second)))
	defer server.Close()
	call := func(method, path, body, key, contentType string) (int, map[string]any) {
		t.Helper()
		if strings.HasPrefix(path, "/") {
			path = server.URL + "/replicate" + path
		}
		req, err := http.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", key)
		req.Header.Set("Content-Type", contentType)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var answer map[string]any
		if resp.Header.Get("Content-Type") == "application/json" {
			if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
				t.Fatal(err)
			}
		}
		return resp.StatusCode, answer
	}
	const key, kind, turbo = "Bearer x", "application/json", "/v1/models/runwayml/gen4-turbo/predictions"
	for name, c := range map[string]struct {
		method, path, body, key, kind string
		want                          int
	}{
		"no key":         {"POST", turbo, `{}`, "", kind, 401},
		"another scheme": {"POST", turbo, `{}`, "Key x", kind, 401},
		"an unknown model": {"POST", "/v1/models/runwayml/gen9/predictions", `{"input":{"prompt":"Sea"}}`,
			key, kind, 404},
		"no JSON": {"POST", turbo, `{`, key, kind, 422},
		"another type": {"POST", turbo, `{"input":{"prompt":"Sea","image":"https://a.example.com/a"}}`, key,
			"text/plain", 422},
		"no input":         {"POST", turbo, `{}`, key, kind, 422},
		"input outside":    {"POST", turbo, `{"prompt":"Sea"}`, key, kind, 422},
		"no image":         {"POST", turbo, `{"input":{"prompt":"Sea"}}`, key, kind, 422},
		"an image as path": {"POST", turbo, `{"input":{"prompt":"Sea","image":"a.png"}}`, key, kind, 422},
		"no prompt":        {"POST", turbo, `{"input":{"image":"https://a.example.com/a"}}`, key, kind, 422},
		"an empty prompt": {"POST", turbo, `{"input":{"prompt":"","image":"https://a.example.com/a"}}`,
			key, kind, 422},
		"a length as text": {"POST", turbo,
			`{"input":{"prompt":"Sea","image":"https://a.example.com/a","duration":"5"}}`, key, kind, 422},
		"another length": {"POST", turbo, `{"input":{"prompt":"Sea","image":"https://a.example.com/a","duration":7}}`,
			key, kind, 422},
		"another ratio": {"POST", turbo,
			`{"input":{"prompt":"Sea","image":"https://a.example.com/a","aspect_ratio":"4:5"}}`, key, kind, 422},
		"an unknown input": {"POST", turbo, `{"input":{"prompt":"Sea","image":"https://a.example.com/a","motion":5}}`,
			key, kind, 422},
		"nobody's":       {"GET", "/v1/predictions/abc", ``, key, kind, 404},
		"nobody's end":   {"POST", "/v1/predictions/abc/cancel", ``, key, kind, 404},
		"another method": {"PUT", "/v1/predictions/abc/cancel", ``, key, kind, 405},
		"nobody's file":  {"GET", "/files/abc/video-9x16.mp4", ``, "", kind, 404},
	} {
		if got, answer := call(c.method, c.path, c.body, c.key, c.kind); got != c.want {
			t.Errorf("%s: %d %v, want %d", name, got, answer, c.want)
		}
	}
	if n := len(faults.Accepted()); n > 0 {
		t.Errorf("%d accepted", n)
	}

	status, made := call("POST", turbo,
		`{"input":{"prompt":"Sea","image":"https://a.example.com/a"},"webhook":"https://a.example.com/hook"}`, key,
		kind)
	urls, _ := made["urls"].(map[string]any)
	if status != 201 || made["status"] != "starting" || urls["get"] != server.URL+"/replicate/v1/predictions/"+
		made["id"].(string) {
		t.Fatalf("%d %v", status, made)
	}
	at = at.Add(time.Second)
	_, done := call("GET", urls["get"].(string), "", key, kind)
	output, _ := done["output"].(string)
	if status, _ := call("GET", output, "", "", kind); status != 200 ||
		!strings.HasPrefix(output, server.URL+"/replicate/files/") {
		t.Errorf("%d %v", status, done)
	}
	at = at.Add(time.Hour)
	if status, _ := call("GET", output, "", "", kind); status != 404 {
		t.Errorf("the file is still there: %d", status)
	}
	if _, gone := call("GET", urls["get"].(string), "", key, kind); gone["data_removed"] != true ||
		gone["output"] != nil {
		t.Errorf("%v", gone)
	}
}
