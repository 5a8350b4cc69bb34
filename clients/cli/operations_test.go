package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	contentautomation "github.com/content-automation/api/clients/go"
	"github.com/content-automation/api/clients/internal/faults"
	names "github.com/content-automation/api/pkg/base/text"
)

// play runs the command with an environment, without waiting.
func play(env map[string]string, args ...string) (code int, out, notes string) {
	var o, n bytes.Buffer
	now := noon
	code = run(context.Background(), args, machine{
		out: &o, notes: &n, getenv: func(name string) string { return env[name] },
		now: func() time.Time { return now }, wait: func(_ context.Context, d time.Duration) error {
			now = now.Add(d)
			return nil
		},
	})
	return code, o.String(), n.String()
}

// TestTheCommandRunsTheTable runs all scenarios but those that need a setting that the command does not have.
func TestTheCommandRunsTheTable(t *testing.T) {
	service, err := faults.NewServer()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(service)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	t.Cleanup(server.Close)
	all, err := faults.Scenarios()
	if err != nil {
		t.Fatal(err)
	}
	statuses := map[string]int{"authentication": 3, "permission": 3, "invalid_request": 4, "not_found": 4, "conflict": 5,
		"rate_limit": 6, "payment": 7, "server": 8, "failed": 9, "api": 1, "answer": 1, "upload": 1, "connection": 1, "config": 2}
	n := 0
	for _, s := range all {
		c := s.Call
		if c.Op == "" && c.Mode != "upload" || s.Retries != nil || s.TimeoutMS+c.WaitMS+c.Times+c.Take > 0 ||
			c.Headers != nil { // the command has no such options
			continue
		}
		n++
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			env := map[string]string{"BASE_URL": server.URL + "/s/cli/" + s.Name, "SVC_API_KEY": faults.Key}
			code, out, notes := play(env, arguments(t, s.Call)...)
			want := 0
			if s.Expect.Error != nil {
				want = statuses[s.Expect.Error.Kind]
			}
			if code != want {
				t.Errorf("the exit status is %d, want %d: %s", code, want, notes)
			}
			if strings.Contains(out+notes, faults.Key) {
				t.Errorf("the key is shown: %s%s", out, notes)
			}
			var got map[string]any
			_ = json.Unmarshal([]byte(out), &got)
			for name, value := range s.Expect.Data {
				if !reflect.DeepEqual(got[name], value) {
					t.Errorf("%s is %v, want %v", name, got[name], value)
				}
			}
			for _, id := range s.Expect.IDs {
				if !strings.Contains(out, `"id":"`+id+`"`) {
					t.Errorf("%s is not in %s", id, out)
				}
			}
			for _, fault := range service.Report("cli", s.Name) {
				t.Error(fault)
			}
		})
	}
	if n < 40 {
		t.Errorf("the command runs %d scenarios", n)
	}
}

// arguments writes a call as a command line.
func arguments(t *testing.T, c faults.Call) []string {
	if c.Mode == "upload" {
		file := filepath.Join(t.TempDir(), "logo.png")
		if err := os.WriteFile(file, []byte(c.File), 0o600); err != nil {
			t.Fatal(err)
		}
		return []string{"media", "upload", file, "--json"}
	}
	resource, name, _ := strings.Cut(c.Op, ".")
	if c.Mode == "wait" {
		name = "waitFor" + strings.TrimPrefix(name, "get")
	}
	args := append([]string{names.Kebab(resource), names.Kebab(name), "--json"}, c.Path...)
	if c.Body != nil {
		if c.Pad > 0 {
			c.Body["script"] = strings.Repeat("x", c.Pad)
		}
		body, _ := json.Marshal(c.Body)
		args = append(args, "--body", string(body))
	}
	for name, value := range c.Params {
		switch v := value.(type) {
		case []any:
			args = append(args, "--"+names.Kebab(name), strings.Trim(strings.ReplaceAll(fmt.Sprint(v), " ", ","), "[]"))
		case map[string]any:
			for key, one := range v {
				args = append(args, "--"+names.Kebab(name), fmt.Sprint(key, "=", one))
			}
		default:
			args = append(args, "--"+names.Kebab(name), fmt.Sprint(v))
		}
	}
	if c.Mode == "all" {
		args = append(args, "--all")
	}
	if c.IdempotencyKey != "" {
		args = append(args, "--idempotency-key", c.IdempotencyKey)
	}
	if c.IfMatch != nil {
		args = append(args, "--if-match", fmt.Sprint(c.IfMatch))
	}
	if len(c.Until) > 0 {
		args = append(args, "--until", strings.Join(c.Until, ","))
	}
	return args
}

func TestFlagsAreMembersOfTheBody(t *testing.T) {
	var sent map[string]any
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		_ = json.NewDecoder(req.Body).Decode(&sent)
		fmt.Fprint(w, `{"data":{"id":"fac_1","name":"Acme"},"error":null,"request_id":"r"}`)
	}))
	t.Cleanup(server.Close)
	code, out, notes := play(map[string]string{"BASE_URL": server.URL, "SVC_API_KEY": faults.Key}, "factories", "create",
		"--type", "brand", "--name", "Acme", "--topics", "shoes,training", "--auto-publish=false",
		"--body", `{"name":"is replaced","settings":{"brand_name":"Acme"}}`)
	want := map[string]any{"type": "brand", "name": "Acme", "topics": []any{"shoes", "training"}, "auto_publish": false,
		"settings": map[string]any{"brand_name": "Acme"}}
	if code != 0 || !reflect.DeepEqual(sent, want) {
		t.Errorf("%d %s: sent %v, want %v", code, notes, sent, want)
	}
	if !strings.Contains(out, "id                   fac_1\n") {
		t.Errorf("it prints %q", out)
	}
}

func TestACallWithoutAKeyOrWithAWrongLineIsRefused(t *testing.T) {
	env := map[string]string{"BASE_URL": "http://127.0.0.1:9", "SVC_API_KEY": faults.Key}
	for _, c := range []struct {
		want string
		env  map[string]string
		args []string
	}{
		{"give an API key", nil, []string{"account", "get"}},
		{"give the base URL", map[string]string{"SVC_API_KEY": faults.Key}, []string{"account", "get"}},
		{`--limit must be a whole number, not "abc"`, env, []string{"content", "list", "--limit", "abc"}},
		{`--limit must be a whole number, not "1.5"`, env, []string{"content", "list", "--limit", "1.5"}},
		{`--all must be true or false, not "perhaps"`, env, []string{"content", "list", "--all=perhaps"}},
		{`--wait-at-most must be a duration such as 15m, not "long"`, env,
			[]string{"content", "regenerate", "cnt_1", "--wait-at-most", "long"}},
		{"--body must be a JSON object, not array\n", env, []string{"factories", "create", "--body", "[1]"}},
		{"--body must be a JSON object, not null\n", env, []string{"factories", "create", "--body", "null", "--name", "x"}},
		{"--body must be a JSON object: ", env, []string{"factories", "create", "--body", "{"}},
		{"unknown flag: --nam", env, []string{"factories", "create", "--nam", "x"}},
		{"accepts 1 arg(s)", env, []string{"factories", "get"}},
		{`unknown command "lst" for "cli content"; did you mean list?`, env, []string{"content", "lst"}},
		{`unknown command "tial" for "cli logs"; did you mean tail?`, env, []string{"logs", "tial"}},
		{`unknown command "bsh" for "cli completion"; did you mean bash?`, env, []string{"completion", "bsh"}},
		{`unknown command "contnt" for "cli"`, env, []string{"contnt", "list"}},
		{`unknown command "contnt" for "cli"`, env, []string{"help", "contnt"}},
		{`unknown command "lst" for "cli content"; did you mean list?`, env, []string{"help", "content", "lst"}},
		{"the type of film.xyz is not known: use --mime-type with one of audio/aac, audio/mp4, audio/mpeg, audio/wav, " +
			"image/avif, image/heic, image/heif, image/jpeg, image/png, image/webp, video/mp4\n",
			env, []string{"media", "upload", "film.xyz"}},
	} {
		if code, _, notes := play(c.env, c.args...); code != 2 || !strings.Contains(notes, c.want) {
			t.Errorf("%v: %d %s", c.args, code, notes)
		}
	}
}

func TestAWrongKeyHasAnExitStatusOfItsOwn(t *testing.T) {
	for _, key := range []string{"svc_x", "svc_test_wrong", "sk_live_123", "svc_test_" + strings.Repeat("é", 49)} {
		for _, line := range [][]string{{"account", "get"}, {"content", "list", "--all"}, {"media", "download", "med_1"}} {
			code, out, notes := play(map[string]string{"BASE_URL": "http://127.0.0.1:9", "SVC_API_KEY": key}, line...)
			if code != 3 || out != "" || !strings.Contains(notes, "the API key is malformed") || strings.Contains(notes, "--help") {
				t.Errorf("%q, %v: %d %s%s", key, line, code, out, notes)
			}
		}
	}
}

func TestVariablesOfAFileWithOtherLineBreaks(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+faults.Key {
			w.WriteHeader(http.StatusUnauthorized)
		}
		_, _ = io.WriteString(w, `{"data":{"id":"acc_1"},"error":null,"request_id":"r"}`)
	}))
	defer server.Close()
	for _, end := range []string{"\r", "\r\n", " "} {
		env := map[string]string{"BASE_URL": server.URL + end, "SVC_API_KEY": faults.Key + end}
		if code, out, notes := play(env, "account", "get"); code != 0 || !strings.Contains(out, "acc_1") {
			t.Errorf("%q: %d %s%s", end, code, out, notes)
		}
	}
}

// full is a disk without space.
type full struct{}

// Write implements io.Writer.
func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestAnOutputThatCannotBeWrittenIsAFailure(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		data := `{"id":"fac_1"}`
		if req.URL.Path == "/v1/factories" {
			data = "[" + data + "]"
		}
		fmt.Fprint(w, `{"data":`+data+`,"error":null,"next_cursor":null,"request_id":"r"}`)
	}))
	t.Cleanup(server.Close)
	env := map[string]string{"BASE_URL": server.URL, "SVC_API_KEY": faults.Key}
	for _, line := range [][]string{{"factories", "list"}, {"factories", "list", "--json"}, {"factories", "get", "fac_1"},
		{"factories", "list", "--all", "--json"}, {"trigger"}, {"--help"}} {
		var notes strings.Builder
		code := run(context.Background(), line, machine{out: full{}, notes: &notes, now: time.Now,
			getenv: func(name string) string { return env[name] }})
		want := "cli: write the output: no space left on device\n"
		if slices.Contains(line, "--json") {
			want = `{"error":{"message":"write the output: no space left on device"}}` + "\n"
		}
		if code != 1 || notes.String() != want {
			t.Errorf("%v: %d %q", line, code, notes.String())
		}
	}
}

func TestAllPagesAreOneDocument(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		page, next := `{"id":"fac_1"},{"id":"fac_2"}`, `"c1"`
		if req.URL.Query().Get("cursor") == "c1" {
			page, next = `{"id":"fac_3"}`, "null"
		}
		fmt.Fprint(w, `{"data":[`+page+`],"error":null,"next_cursor":`+next+`,"request_id":"r"}`)
	}))
	t.Cleanup(server.Close)
	env := map[string]string{"BASE_URL": server.URL, "SVC_API_KEY": faults.Key}
	var all []map[string]any
	code, out, notes := play(env, "factories", "list", "--all", "--json")
	if err := json.Unmarshal([]byte(out), &all); code != 0 || err != nil || len(all) != 3 || notes != "" {
		t.Errorf("%d %s: %s, %v", code, out, notes, err)
	}
	code, out, notes = play(env, "factories", "list", "--json")
	if err := json.Unmarshal([]byte(out), &all); code != 0 || err != nil || len(all) != 2 ||
		!strings.Contains(notes, "--cursor c1") {
		t.Errorf("%d %s: %s, %v", code, out, notes, err)
	}
}

func TestARefusalIsShownWithAllItsDetails(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnprocessableEntity)
		fmt.Fprint(w, `{"data":null,"error":{"code":"validation_failed","type":"invalid_request_error","message":"/name: is `+
			`required (and 1 more; see details)","param":"/name","details":[{"param":"/name","message":"is required"},`+
			`{"param":"/type","message":"is required"}],"doc_url":"https://api.example.com/errors"},"request_id":"r"}`)
	}))
	t.Cleanup(server.Close)
	env := map[string]string{"BASE_URL": server.URL, "SVC_API_KEY": faults.Key}
	code, out, notes := play(env, "factories", "create", "--name", "x")
	if code != 4 || out != "" || !strings.Contains(notes, "\n  /type: is required\n") {
		t.Errorf("%d %s: %s", code, out, notes)
	}
	var shown struct {
		Error struct {
			Code    string
			Details []struct{ Param string }
		}
	}
	code, out, notes = play(env, "factories", "create", "--name", "x", "--json")
	if err := json.Unmarshal([]byte(notes), &shown); code != 4 || out != "" || err != nil ||
		shown.Error.Code != "validation_failed" || len(shown.Error.Details) != 2 {
		t.Errorf("%d %s: %s, %v", code, out, notes, err)
	}
}

func TestAFaultIsShownWithItsField(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnprocessableEntity)
		fmt.Fprint(w, `{"data":null,"error":{"code":"validation_failed","type":"invalid_request_error",`+
			`"message":"A name is required.","param":"/type","details":[{"param":"/type","message":"is required"}]},`+
			`"request_id":"r"}`)
	}))
	t.Cleanup(server.Close)
	_, _, notes := play(map[string]string{"BASE_URL": server.URL, "SVC_API_KEY": faults.Key}, "factories", "create",
		"--name", "x")
	if !strings.Contains(notes, "/type: is required") {
		t.Error(notes)
	}
}

func TestASingleFaultIsShownOnce(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnprocessableEntity)
		fmt.Fprint(w, `{"data":null,"error":{"code":"validation_failed","type":"invalid_request_error","message":"/type: is `+
			`required","param":"/type","details":[{"param":"/type","message":"is required"}]},"request_id":"r"}`)
	}))
	t.Cleanup(server.Close)
	code, _, notes := play(map[string]string{"BASE_URL": server.URL, "SVC_API_KEY": faults.Key}, "factories", "create",
		"--name", "x")
	if code != 4 || strings.Count(notes, "is required") != 1 {
		t.Errorf("%d: %s", code, notes)
	}
}

func TestCompletionAndManualPages(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if code, out, notes := play(nil, "completion", shell); code != 0 || len(out) < 1000 {
			t.Errorf("%s: %d %s", shell, code, notes)
		}
	}
	dir := t.TempDir()
	if code, _, notes := play(nil, "man", dir); code != 0 {
		t.Fatal(notes)
	}
	pages := must(t, dir)
	if len(pages) < 89 {
		t.Errorf("there are %d pages", len(pages))
	}
}

func TestLogsTailPrintsNewEntriesOnce(t *testing.T) {
	entries := []string{`{"id":"aud_1","created_at":"2026-05-01T12:00:00.000Z","operation_id":"getMe","status":200}`}
	n := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if n++; n == 2 {
			entries = append([]string{
				`{"id":"aud_3","created_at":"2026-05-01T12:00:02.000Z","operation_id":"listAuditEntries"}`,
				`{"id":"aud_2","created_at":"2026-05-01T12:00:01.000Z","operation_id":"listEvents","status":401}`,
			}, entries...)
		}
		fmt.Fprintf(w, `{"data":[%s],"error":null,"request_id":"r","next_cursor":null}`, strings.Join(entries, ","))
	}))
	t.Cleanup(server.Close)
	s := start(t, []string{"logs", "tail", "--base-url", server.URL, "--api-key", faults.Key}, nothing, nothing, nothing)
	if s.code != 0 || strings.Count(s.out, "aud_2") != 1 || strings.Contains(s.out, "aud_1") ||
		strings.Contains(s.out, "aud_3") || !strings.Contains(s.out, "listEvents  401") {
		t.Errorf("%d %q %s", s.code, s.out, s.notes)
	}
}

func must(t *testing.T, dir string) []os.DirEntry {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A refusal names flags, and how a member without a flag of its own is sent.
func TestARefusalNamesFlags(t *testing.T) {
	c := &calling{operation: operation{takesBody: true, body: []parameter{{name: "auto_publish"}}}}
	err := &contentautomation.Error{Details: []contentautomation.ErrorDetail{{Param: "/auto_publish"},
		{Param: "/settings/brand_name"}, {Param: "/items/0/kind"}, {Param: "limit"}}}
	want := []string{"/auto_publish is the flag --auto-publish", `/items/0/kind is sent by --body '{"items": [{"kind": …}]}'`,
		`/settings/brand_name is sent by --body '{"settings": {"brand_name": …}}'`}
	if got := c.hints(err); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
