package standalone

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/infra/local/terminal"
	"github.com/content-automation/api/infra/verify/harness/poll"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/composer"
	"github.com/content-automation/api/pkg/media/compose"
	"github.com/content-automation/api/pkg/media/objects"
	"github.com/content-automation/api/pkg/service/api"
)

// The metrics of the functions would be in the output of the tests.
func TestMain(m *testing.M) {
	metric.SetOutput(io.Discard)
	os.Exit(m.Run())
}

// started starts a service that can compose.
func started(t *testing.T, o Options) *Service {
	t.Helper()
	if o.Compose == nil {
		o.Compose = composing(t)
	}
	s, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// composing returns the option Compose.
func composing(t *testing.T) func(*objects.Store) generate.Composer {
	t.Helper()
	scratch, tools := t.TempDir(), filepath.Join("..", "..", "..", ".tools", "media")
	engine, err := compose.New(compose.Settings{FFmpeg: filepath.Join(tools, "ffmpeg"),
		Fonts: filepath.Join(tools, "fonts"), Scratch: scratch, Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	return func(files *objects.Store) generate.Composer {
		return &composer.Composer{Engine: engine, Objects: files, Dir: scratch}
	}
}

type object = map[string]any

// called is a response of the API.
type called struct {
	status int
	data   object
	code   string
	raw    string
}

// ask makes a call of a service's API, without a body if that is nil.
func ask(t *testing.T, s *Service, key, method, path string, body any) (got called) {
	t.Helper()
	var content io.Reader
	if body != nil {
		content = bytes.NewReader(encoded(body))
	}
	req, err := http.NewRequestWithContext(t.Context(), method, s.BaseURL+path, content)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var envelope struct {
		Data  any
		Error struct{ Code string }
	}
	if err := json.Unmarshal(raw, &envelope); err != nil {
		t.Fatalf("%s %s: %d %s", method, path, resp.StatusCode, raw)
	}
	got = called{status: resp.StatusCode, code: envelope.Error.Code, raw: string(raw)}
	got.data, _ = envelope.Data.(object)
	return got
}

// hooks is a receiver of webhooks.
type hooks struct {
	*httptest.Server
	mu  sync.Mutex
	got []object
}

func newHooks(t *testing.T) *hooks {
	t.Helper()
	h := &hooks{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var e object
		if err := json.NewDecoder(r.Body).Decode(&e); err != nil {
			t.Errorf("the receiver got no JSON: %v", err)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.got = append(h.got, e)
	}))
	t.Cleanup(h.Close)
	return h
}

// about returns the types of the events about a resource.
func (h *hooks) about(id string) (kinds []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range h.got {
		data, _ := e["data"].(object)
		if about, _ := data["object"].(object); about["id"] == id {
			kinds = append(kinds, e["type"].(string))
		}
	}
	return kinds
}

func TestAServiceDoesItsJob(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new", "service")
	for name, dir := range map[string]string{"in memory": "", "in a folder": folder} {
		t.Run(name, func(t *testing.T) {
			s := started(t, Options{Dir: dir})
			defer func() { s.Stop() }()
			demo, err := terminal.NewDemo(t.Context(), s.DB(), s.BaseURL, time.Now)
			if err != nil {
				t.Fatal(err)
			}
			s.Keep("demo", demo.Test)
			h := newHooks(t)
			hook := object{"url": h.URL, "event_types": []string{"*"}}
			if got := ask(t, s, demo.Test, "POST", "/v1/webhooks", hook); got.status != http.StatusCreated {
				t.Fatal(got.raw)
			}
			factory := ask(t, s, demo.Test, "POST", "/v1/factories", object{"type": "brand", "name": "Acme",
				"settings": object{"brand_name": "Acme"}})
			made := ask(t, s, demo.Test, "POST", "/v1/content-items", object{"factory_id": factory.data["id"],
				"kind": "post", "prompt": "A shoe made of recycled nets"})
			id, _ := made.data["id"].(string)
			if made.status != http.StatusAccepted || id == "" {
				t.Fatal(made.raw)
			}
			poll.Until(t, "the event", func() bool { return len(h.about(id)) > 0 })
			if got := h.about(id)[0]; got != "content.generated" {
				t.Errorf("the event is %s", got)
			}
			if dir != "" { // All of it is there after a restart.
				s.Stop()
				s = started(t, Options{Dir: dir})
			}
			if kept := s.Kept("demo"); kept != demo.Test || s.Kept("none") != "" {
				t.Errorf("kept is %q", kept)
			}
			got := ask(t, s, demo.Test, "GET", "/v1/content-items/"+id, nil)
			files, _ := got.data["media"].([]any)
			if got.data["state"] != "generated" || len(files) != 2 {
				t.Fatal(got.raw)
			}
			for _, f := range files {
				resp, err := http.Get(f.(object)["url"].(string))
				if err != nil {
					t.Fatal(err)
				}
				n, err := io.Copy(io.Discard, resp.Body)
				if err = errors.Join(err, resp.Body.Close()); err != nil || resp.StatusCode != http.StatusOK ||
					float64(n) != f.(object)["bytes"] {
					t.Errorf("%v: %d, %d bytes, %v", f, resp.StatusCode, n, err)
				}
			}
			var due object
			if err := s.Invoke(t.Context(), "due", "{}", &due); err != nil {
				t.Error(err)
			}
			if err := s.Invoke(t.Context(), "generate", "{}", &due); err == nil {
				t.Error("a function without a schedule is invoked")
			}
		})
	}
}

// The function of each operation answers: it does not take the path for an unknown one, and does not fail.
func TestEveryOperationIsServed(t *testing.T) {
	s := started(t, Options{})
	defer s.Stop()
	accounts := account.NewService(s.DB(), time.Now)
	demo, err := terminal.NewDemo(t.Context(), s.DB(), s.BaseURL, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	limit := 10_000
	set := account.Settings{TestLimit: &limit}
	if _, err := accounts.Update(t.Context(), tenant.Account(demo.Account), set); err != nil {
		t.Fatal(err)
	}
	for _, r := range api.Routes() {
		path := parameter.ReplaceAllString(r.Path, "none")
		var body any
		if r.Method != http.MethodGet && r.Method != http.MethodDelete {
			body = object{}
		}
		if got := ask(t, s, demo.Test, r.Method, path, body); got.status >= http.StatusInternalServerError ||
			got.code == "unknown_path" || got.code == "method_not_allowed" || got.code == "rate_limited" {
			t.Errorf("%s %s: %d %s", r.Method, path, got.status, got.raw)
		}
	}
	if got := ask(t, s, demo.Test, "GET", "/v1/nothing", nil); got.code != "unknown_path" {
		t.Errorf("an unknown path: %s", got.raw)
	}
}

// With the URL of a file, nobody can call as the operator.
func TestSignedURLsDoNotTellTheSecret(t *testing.T) {
	s := started(t, Options{})
	defer s.Stop()
	e, err := s.env()
	if err != nil {
		t.Fatal(err)
	}
	url, err := e.Media.URL(t.Context(), "media/a", "image/png")
	if err != nil {
		t.Fatal(err)
	}
	access := s.access()
	if strings.Contains(url, access.SecretAccessKey) || access.SecretAccessKey == "" {
		t.Errorf("%s has the secret %s", url, access.SecretAccessKey)
	}
	for _, line := range []string{"AWS_ENDPOINT_URL=" + s.Endpoint(), "AWS_ACCESS_KEY_ID=" + access.AccessKeyID,
		"AWS_SECRET_ACCESS_KEY=" + access.SecretAccessKey, "TABLE_NAME=" + StateTable} {
		if !strings.Contains(s.Environment(), line+"\n") {
			t.Errorf("the operator's variables have no %s:\n%s", line, s.Environment())
		}
	}
}

func TestAServiceThatCannotStart(t *testing.T) {
	s := started(t, Options{Dir: t.TempDir()})
	defer s.Stop()
	_, text, err := net.SplitHostPort(strings.TrimPrefix(s.internal, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	var taken *PortError
	if _, err := Start(Options{Port: port}); !errors.As(err, &taken) || taken.Port != port {
		t.Errorf("a port in use: %v", err)
	}
	free := freePort(t)
	for range 2 { // The port is free again after the first failure.
		if _, err := Start(Options{Port: free, Dir: s.options.Dir}); !errors.Is(err, errInUse) {
			t.Errorf("a folder in use: %v", err)
		}
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	port, err := web.FreePort(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// A worker that outlasts the grace of Stop may write, which has no effect any more.
func TestStopDoesNotWaitForever(t *testing.T) {
	dir := t.TempDir()
	s := started(t, Options{Dir: dir})
	release := make(chan struct{})
	s.running.Go(func() { <-release })
	began := time.Now()
	s.Stop()
	if took := time.Since(began); took < grace {
		t.Errorf("it took %v", took)
	}
	s.Keep("late", "value")
	close(release)
	again := started(t, Options{Dir: dir})
	defer again.Stop()
	if again.Kept("late") != "" {
		t.Error("a stopped service has written")
	}
	if _, err := http.Get(s.BaseURL + "/healthz"); err == nil {
		t.Error("a stopped service answers")
	}
}

// BenchmarkCalls measures calls of one client of a service with a folder.
func BenchmarkCalls(b *testing.B) {
	s, err := Start(Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Stop()
	demo, err := terminal.NewDemo(b.Context(), s.DB(), s.BaseURL, time.Now)
	if err != nil {
		b.Fatal(err)
	}
	limit := 1_000_000
	if _, err := account.NewService(s.DB(), time.Now).Update(b.Context(), tenant.Account(demo.Account),
		account.Settings{LiveLimit: &limit}); err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		method, path, body string
		status             int
	}{
		{"GET", "/v1/me", "", http.StatusOK},
		{"POST", "/v1/factories", `{"type":"brand","name":"Acme","settings":{"brand_name":"Acme"}}`, http.StatusCreated},
	} {
		b.Run(c.method+c.path, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				req, err := http.NewRequestWithContext(b.Context(), c.method, s.BaseURL+c.path,
					strings.NewReader(c.body))
				if err != nil {
					b.Fatal(err)
				}
				req.Header.Set("Authorization", "Bearer "+demo.Live)
				if c.body != "" {
					req.Header.Set("Content-Type", "application/json")
				}
				began := time.Now()
				resp, err := http.DefaultClient.Do(req)
				if err != nil {
					b.Fatal(err)
				}
				_, err = io.Copy(io.Discard, resp.Body)
				if err = errors.Join(err, resp.Body.Close()); err != nil || resp.StatusCode != c.status {
					b.Fatal(resp.Status, err)
				}
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			at := func(part float64) float64 { return took[int(part*float64(len(took)-1))].Seconds() * 1000 }
			b.ReportMetric(at(0.5), "p50-ms")
			b.ReportMetric(at(0.99), "p99-ms")
		})
	}
}
