package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/base/web"
)

// asProgram is the variable with which the test program is the sandbox itself.
const asProgram = "SANDBOX_TEST_AS_PROGRAM"

// folder is a folder for all tests.
var folder string

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	var err error
	if folder, err = os.MkdirTemp("", "sandbox-test-"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(folder)
	os.Exit(code)
}

// freePort returns a port that nothing listens on.
func freePort(t *testing.T) string {
	t.Helper()
	port, err := web.FreePort(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return strconv.Itoa(port)
}

// box is a running sandbox.
type box struct {
	greeting
	t      *testing.T
	cmd    *exec.Cmd
	stderr bytes.Buffer
	calls  int

	// answers and webhooks are what was said and sent. A webhook may come before the answer to its call is read.
	mu                sync.Mutex
	answers, webhooks strings.Builder
}

// newBox starts a sandbox in a process of its own.
func newBox(t *testing.T, args ...string) *box {
	t.Helper()
	b := &box{t: t}
	b.cmd = exec.Command(os.Args[0], append(args, "--json")...)
	b.cmd.Env, b.cmd.Stderr = append(os.Environ(), asProgram+"=1"), &b.stderr
	out, err := b.cmd.StdoutPipe()
	if err == nil {
		err = b.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.stop)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err == nil {
		err = json.Unmarshal([]byte(line), &b.greeting)
	}
	if err != nil {
		b.stop()
		t.Fatalf("%q, %v: %s", line, err, &b.stderr)
	}
	return b
}

// stop ends the sandbox. It must not have logged an error.
func (b *box) stop() {
	if b.cmd.ProcessState != nil {
		return
	}
	_ = b.cmd.Process.Signal(syscall.SIGTERM)
	if err := b.cmd.Wait(); err != nil || b.stderr.Len() > 0 {
		b.t.Errorf("%v: %s", err, &b.stderr)
	}
}

type object = map[string]any

// call makes a call with the test key, notes the whole answer, and returns its data: of a list, as the member all.
func (b *box) call(status int, method, path string, body any) object {
	b.t.Helper()
	return b.callAs(b.Test, status, method, path, body)
}

func (b *box) callAs(key string, status int, method, path string, body any) object {
	b.t.Helper()
	var content []byte
	if body != nil {
		var err error
		if content, err = json.Marshal(body); err != nil {
			b.t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(b.t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, b.URL+path, bytes.NewReader(content))
	if err != nil {
		b.t.Fatal(err)
	}
	b.calls++
	req.Header = http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"}}
	if method == http.MethodPost {
		req.Header.Set("Idempotency-Key", "call-"+strconv.Itoa(b.calls))
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != status {
		b.t.Fatalf("%s %s: %d %s, %v; want %d", method, path, resp.StatusCode, answer, err, status)
	}
	b.note(&b.answers, "%s %s\n%d %s%s\n", method, path, resp.StatusCode, headers(resp.Header), answer)
	var envelope object
	if err := json.Unmarshal(answer, &envelope); err != nil {
		b.t.Fatalf("%s: %v", answer, err)
	}
	if all, ok := envelope["data"].([]any); ok {
		return object{"all": all}
	}
	data, _ := envelope["data"].(object) // an error has none
	return data
}

func (b *box) note(to *strings.Builder, format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	fmt.Fprintf(to, format, args...)
}

// heard returns all that was said and sent.
func (b *box) heard() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.answers.String() + b.webhooks.String()
}

// headers returns headers as lines in the order of their names.
func headers(h http.Header) string {
	var lines strings.Builder
	for _, name := range slices.Sorted(maps.Keys(h)) {
		fmt.Fprintf(&lines, "%s: %s\n", name, strings.Join(h[name], ", "))
	}
	return lines.String()
}

// receiver takes the webhooks of sandboxes that run one after another, at one address.
type receiver struct {
	*httptest.Server
	mu      sync.Mutex
	of      *box
	refused bool
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

// listen takes the webhooks of a sandbox from now on, and refuses the first.
func (r *receiver) listen(b *box) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of, r.refused = b, false
}

// ServeHTTP notes a webhook.
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	body, err := io.ReadAll(req.Body)
	if err != nil {
		r.of.t.Error(err)
	}
	r.of.note(&r.of.webhooks, "webhook\n%s%s\n", headers(req.Header), body)
	if !r.refused {
		r.refused = true
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}
