package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/content-automation/api/clients/internal/faults"
)

// answering starts a service that a function answers with data, and returns the environment of a command.
func answering(t *testing.T, answer func(req *http.Request) string) map[string]string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		fmt.Fprintf(w, `{"data":%s,"error":null,"request_id":"r"}`, answer(req))
	}))
	t.Cleanup(server.Close)
	return map[string]string{"BASE_URL": server.URL, "SVC_API_KEY": faults.Key}
}

func TestAWaitingCallPrintsTheResult(t *testing.T) {
	var seen []string
	states := []string{"queued", "generating", "generated"}
	env := answering(t, func(req *http.Request) string {
		state := states[0]
		states = states[1:]
		seen = append(seen, req.Method+" "+req.URL.Path)
		return `{"id":"cnt_1","state":"` + state + `"}`
	})
	code, out, notes := play(env, "content", "create", "--factory-id", "fac_1", "--kind", "post", "--wait", "--json")
	if want := "POST /v1/content-items, GET /v1/content-items/cnt_1, GET /v1/content-items/cnt_1"; code != 0 ||
		out != `{"id":"cnt_1","state":"generated"}`+"\n" || strings.Join(seen, ", ") != want {
		t.Errorf("%d %s%s: %v", code, out, notes, seen)
	}
	// What is read by its factory.
	seen, states = nil, []string{"planning", "completed"}
	code, _, notes = play(env, "factories", "create-content-plan", "fac_1", "--days", "7", "--wait")
	if want := "POST /v1/factories/fac_1/content-plan, GET /v1/factories/fac_1/content-plan"; code != 0 ||
		strings.Join(seen, ", ") != want {
		t.Errorf("%d %s: %v", code, notes, seen)
	}
}

func TestFailedWorkIsTold(t *testing.T) {
	env := answering(t, func(*http.Request) string {
		return `{"id":"cnt_1","state":"failed","failure":{"code":"content_policy","message":"The prompt names a person."}}`
	})
	args := []string{"content", "create", "--factory-id", "fac_1", "--kind", "post", "--wait"}
	code, _, notes := play(env, args...)
	if code != 9 || !strings.Contains(notes, "cnt_1 has ended in the state failed: content_policy: The prompt names") {
		t.Errorf("%d %s", code, notes)
	}
	var shown struct {
		Error struct {
			State   string
			Failure struct{ Code string }
		}
		Data struct{ ID string }
	}
	code, out, notes := play(env, append(args, "--json")...)
	if err := json.Unmarshal([]byte(notes), &shown); code != 9 || out != "" || err != nil ||
		shown.Error.Failure.Code != "content_policy" || shown.Data.ID != "cnt_1" {
		t.Errorf("%d %s: %s, %v", code, out, notes, err)
	}
}

func TestFilesAreSavedOnce(t *testing.T) {
	var env map[string]string
	env = answering(t, func(req *http.Request) string {
		switch {
		case strings.HasPrefix(req.URL.Path, "/store/"):
			if req.Header.Get("Authorization") != "" {
				t.Error("storage is given the key")
			}
			return `"the file"`
		case strings.HasPrefix(req.URL.Path, "/v1/media/"):
			return `{"id":"med_1","state":"ready","url":"` + env["BASE_URL"] + `/store/a.png?signature=s"}`
		}
		return `{"id":"cnt_1","state":"generated","media":[{"role":"final","url":"` + env["BASE_URL"] + `/store/b.mp4"},` +
			`{"role":"part","url":"` + env["BASE_URL"] + `/store/c.mp3"}]}`
	})
	dir := t.TempDir()
	for _, c := range []struct{ resource, id, file string }{
		{"media", "med_1", "med_1.png"}, {"content", "cnt_1", "cnt_1-1.mp4"},
	} {
		name := filepath.Join(dir, c.file)
		code, out, notes := play(env, c.resource, "download", c.id, "--folder", dir)
		text, err := os.ReadFile(name)
		if code != 0 || out != name+"\n" || err != nil || !strings.Contains(string(text), "the file") {
			t.Errorf("%d %s%s: %s, %v", code, out, notes, text, err)
		}
		code, _, notes = play(env, c.resource, "download", c.id, "--folder", dir)
		if code != 1 || !strings.Contains(notes, "exists") || strings.Contains(notes, "signature") {
			t.Errorf("again: %d %s", code, notes)
		}
	}
}

func TestALiveKeyGoesWithoutHTTPSOnlyIfItIsAllowed(t *testing.T) {
	env := map[string]string{"BASE_URL": "http://sandbox.invalid:8080",
		"SVC_API_KEY": strings.Replace(faults.Key, "svc_test_", "svc_live_", 1)}
	if code, _, notes := play(env, "account", "get"); code != 2 || !strings.Contains(notes, "https for a live key") {
		t.Errorf("%d %s", code, notes)
	}
	code, _, notes := play(env, "account", "get", "--allow-insecure")
	if code != 1 || !strings.Contains(notes, "no answer") {
		t.Errorf("allowed: %d %s", code, notes)
	}
}

func TestHelpNamesValuesAndWhatIsRequired(t *testing.T) {
	_, help, _ := play(nil, "content", "create", "--help")
	for _, want := range []string{"(required) ", "Kind of content (post, video, carousel", "--wait "} {
		if !strings.Contains(help, want) {
			t.Errorf("the help lacks %q: %s", want, help)
		}
	}
	_, found, _ := play(nil, "__complete", "content", "create", "--kind", "")
	if !strings.Contains(found, "carousel\n") {
		t.Errorf("the completion is %s", found)
	}
	_, found, _ = play(nil, "__complete", "content", "list", "--state", "failed,")
	if !strings.Contains(found, "failed,canceled\n") {
		t.Errorf("the completion of a list is %s", found)
	}
	_, help, _ = play(nil, "publications", "--help")
	if !strings.HasPrefix(help, "List, read, change and take down publications\n") {
		t.Errorf("the help of the group is %s", help)
	}
	for _, name := range []string{"listen", "trigger"} {
		if _, help, _ := play(nil, name, "--help"); strings.Contains(help, "go run") || !strings.Contains(help, "  cli "+name) {
			t.Errorf("the help of %s is %s", name, help)
		}
	}
}
