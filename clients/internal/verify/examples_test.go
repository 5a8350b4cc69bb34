//go:build clients

package verify

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/content-automation/api/clients"
	"github.com/content-automation/api/clients/internal/faults"
	"github.com/content-automation/api/pkg/service/docs"
)

// hookSecret is the signing secret of the examples.
const hookSecret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

// examples runs the examples of a language. The function program returns the command line of an example.
func examples(t *testing.T, dir string, env []string, program func(name string) []string) {
	t.Helper()
	// The clock of the sandbox is near that of the machine, by which a receiver judges signatures.
	b := serve(t, "--now", time.Now().UTC().Format(time.RFC3339))
	logo := filepath.Join(t.TempDir(), "logo.png")
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewRGBA(image.Rect(0, 0, 256, 256))); err != nil {
		t.Fatal(err)
	}
	write(t, logo, picture.String())
	for name, want := range map[string]string{"post": `^\S.* https?://\S+\n`, "week": `(?s)^(\S.*\n){7}$`,
		"upload": `^telegram https?://\S+\n`, "shop": `^completed 200 0\n$`, "journey": `^\d+ \d+ .*Light as air\..* .*content\.published.*\n$`} {
		line := program(name)
		if name == "upload" {
			line = append(line, logo)
		}
		out := command(t, dir, append(env, b.env()...), line[0], line[1:]...)
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("%s printed %q, want %s", name, out, want)
		}
	}
}

// receive starts the receiver of a language on a port, and sends it a signed event and a forged one.
func receive(t *testing.T, dir string, env []string, port string, line ...string) {
	t.Helper()
	address := start(t, dir, append(env, "WEBHOOK_SECRET="+hookSecret, "PORT="+port), line[0], line[1:]...)
	if found := regexp.MustCompile(`(?:port: |127\.0\.0\.1:)(\d+)`).FindStringSubmatch(address); found != nil {
		port = found[1]
	}
	verifier, err := standardwebhooks.NewWebhook(hookSecret)
	if err != nil {
		t.Fatal(err)
	}
	all, err := faults.Scenarios()
	if err != nil {
		t.Fatal(err)
	}
	var body []byte
	for _, s := range all {
		if s.Name == "webhook_good" {
			body = []byte(s.Webhook.Body)
		}
	}
	now := time.Now()
	signature, err := verifier.Sign("evt_1", now, body)
	if err != nil {
		t.Fatal(err)
	}
	for want, sent := range map[int][]byte{204: body, 400: bytes.ReplaceAll(body, []byte("generated"), []byte("published"))} {
		req, err := http.NewRequest(http.MethodPost, "http://127.0.0.1:"+port+"/hooks", bytes.NewReader(sent))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Webhook-Id", "evt_1")
		req.Header.Set("Webhook-Timestamp", strconv.FormatInt(now.Unix(), 10))
		req.Header.Set("Webhook-Signature", signature)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("the receiver answers %d, want %d", res.StatusCode, want)
		}
	}
}

// samples writes the samples that the reference shows into a folder.
func samples(t *testing.T, folder string) {
	t.Helper()
	w := httptest.NewRecorder()
	docs.New(docs.Options{JSON: clients.OpenAPIJSON, Assets: docs.Assets()}).ServeHTTP(w,
		httptest.NewRequest(http.MethodGet, "/api-docs/explorer.json", nil))
	data := filepath.Join(folder, "explorer.json")
	if err := os.WriteFile(data, w.Body.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	command(t, root, nil, "node", "clients/typescript/test/samples.mjs", data, folder)
}

// TestSamplesOfGo compiles the samples of Go that the reference shows.
func TestSamplesOfGo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	samples(t, dir)
	write(t, filepath.Join(dir, "go.mod"), "module samples\n\ngo 1.25\n\n"+
		"require github.com/content-automation/api/clients/go v1.0.0\n"+
		"replace github.com/content-automation/api/clients/go => "+filepath.Join(root, "clients/go")+"\n")
	command(t, dir, []string{"GOFLAGS=-mod=mod", "GOWORK=off"}, "go", "build", "-o", os.DevNull, ".")
}

// TestSamplesOfTheCommandLine runs the samples that the explorer shows.
func TestSamplesOfTheCommandLine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	samples(t, dir)
	command(t, root, nil, "go", "build", "-o", filepath.Join(dir, "content-automation"), "./clients/cli")
	data, err := os.ReadFile(filepath.Join(dir, "samples.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		seen[req.Method+" "+req.URL.Path] = true
		_, _ = io.WriteString(w, `{"data":{},"error":null,"request_id":"r","next_cursor":null}`)
	}))
	t.Cleanup(server.Close)
	env := []string{"BASE_URL=" + server.URL, "SVC_API_KEY=" + faults.Key, "PATH=" + dir + ":" + os.Getenv("PATH")}
	command(t, dir, env, "sh", "-e", "-c", strings.Join(all, "\n"))
	if len(all) < 89 || len(seen) != len(all) {
		t.Errorf("%d samples make %d different requests", len(all), len(seen))
	}
}

func TestGoInAnEmptyProject(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"post", "week", "upload", "webhook", "journey", "shop"} {
		copied(t, "clients/go/examples/"+name, filepath.Join(dir, name))
	}
	module := "github.com/content-automation/api/clients/go"
	write(t, filepath.Join(dir, "go.mod"), "module example.com/empty\n\ngo 1.25\n\nrequire "+module+" v1.0.0\n\nreplace "+module+
		" => "+filepath.Join(root, "clients", "go")+"\n")
	command(t, dir, nil, "go", "vet", "./...")
	command(t, dir, nil, "go", "build", "-o", dir+"/bin/", "./...")
	examples(t, dir, nil, func(name string) []string { return []string{filepath.Join(dir, "bin", name)} })
	receive(t, dir, nil, "0", filepath.Join(dir, "bin", "webhook"))
}

// TestPostman runs the whole collection twice in a row, beside data of the caller's own, which it leaves alone.
func TestPostman(t *testing.T) {
	t.Parallel()
	b := sandbox(t)
	folder := filepath.Join(root, "clients", "postman")
	collection := filepath.Join(folder, "content-automation.postman_collection.json")
	if info, err := os.Stat(collection); err != nil || info.Size() > 300_000 {
		t.Errorf("the collection has %d bytes: %v", info.Size(), err)
	}
	own := b.create(t, "/v1/factories", `{"type":"brand","name":"Mine","settings":{"brand_name":"Mine"}}`)
	item := b.create(t, "/v1/content-items", `{"factory_id":"`+own+`","kind":"post","source":"provided","caption":"Mine"}`)
	for range 2 {
		report := filepath.Join(t.TempDir(), "report.json")
		command(t, root, nil, filepath.Join(tools, "sdk-node/node_modules/.bin/newman"), "run", collection, "--environment",
			filepath.Join(folder, "local.postman_environment.json"), "--env-var", "baseUrl="+b.URL, "--env-var", "apiKey="+b.Key,
			"--env-var", "pause=1", "--reporters", "cli,json", "--reporter-json-export", report, "--color", "off")
		var said struct {
			Run struct {
				Stats struct{ Requests, Assertions struct{ Total, Failed int } }
			}
		}
		data, err := os.ReadFile(report)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &said); err != nil {
			t.Fatal(err)
		}
		stats := said.Run.Stats
		failed := stats.Requests.Failed + stats.Assertions.Failed
		if stats.Requests.Total < 89 || stats.Assertions.Total < 267 || failed > 0 {
			t.Errorf("the run: %+v", stats)
		}
		for _, path := range []string{"/v1/factories/" + own, "/v1/content-items/" + item} {
			if status, answer := b.send(t, http.MethodGet, path, ""); status != http.StatusOK {
				t.Errorf("after the run %s answers %d: %s", path, status, answer)
			}
		}
	}
}

// send calls an operation of a sandbox.
func (b box) send(t *testing.T, method, path, body string) (int, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, b.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+b.Key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, answer
}

// create makes a resource of the sandbox, and returns its id.
func (b box) create(t *testing.T, path, body string) string {
	t.Helper()
	status, answer := b.send(t, http.MethodPost, path, body)
	var made struct{ Data struct{ ID string } }
	if err := json.Unmarshal(answer, &made); err != nil || made.Data.ID == "" {
		t.Fatalf("%s answers %d: %s", path, status, answer)
	}
	return made.Data.ID
}

// TestBreakingChanges compares the document with that of the last release, and a broken one.
func TestBreakingChanges(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile(filepath.Join(root, "clients", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(t.TempDir(), "broken.json")
	var doc map[string]any
	if err := json.Unmarshal(document, &doc); err != nil {
		t.Fatal(err)
	}
	paths := doc["paths"].(map[string]any)
	paths["/v1/coupons"] = map[string]any{"get": paths["/v1/promotions"].(map[string]any)["get"]}
	added, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	addition := filepath.Join(t.TempDir(), "addition.json")
	write(t, addition, string(added))
	delete(paths["/v1/media/{media_id}"].(map[string]any), "delete")
	data, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	write(t, broken, string(data))
	released, err := os.ReadFile(filepath.Join(root, "clients", "released", "accepted.txt"))
	if err != nil {
		t.Fatal(err)
	}
	accepted := filepath.Join(t.TempDir(), "accepted.txt")
	write(t, accepted, string(released)+"DELETE /v1/media/{media_id} api removed without deprecation\n")
	for _, c := range []struct {
		document, accepted string
		fails              bool
	}{
		{filepath.Join(root, "clients", "openapi.json"), filepath.Join(root, "clients", "released", "accepted.txt"), false},
		{addition, filepath.Join(root, "clients", "released", "accepted.txt"), false},
		{broken, filepath.Join(root, "clients", "released", "accepted.txt"), true},
		{broken, accepted, false},
	} {
		cmd := exec.Command("go", "tool", "-modfile=infra/tools/oasdiff.mod", "oasdiff", "breaking",
			"clients/released/openapi.json", c.document, "--fail-on", "ERR", "--err-ignore", c.accepted)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); (err != nil) != c.fails {
			t.Errorf("%s with %s: %v\n%s", c.document, c.accepted, err, out)
		}
	}
}
