package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/testdata/fakes"
)

type object = map[string]any

// patience is the time without any progress after which a test fails.
const patience = 2 * time.Minute

// asCommand is the variable with which the binary of the tests is the command, so that it need not be built.
const asCommand = "TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// command is the command, with a working directory of its own.
type command struct {
	t       *testing.T
	dir     string
	port    int
	process *exec.Cmd
}

func newCommand(t *testing.T) *command {
	t.Helper()
	c := &command{t: t, dir: t.TempDir()}
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".tools", "infra", "pkg"} {
		if err := os.Symlink(filepath.Join(root, name), filepath.Join(c.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	c.port = freePort(t)
	t.Cleanup(c.kill)
	return c
}

func freePort(t *testing.T) int {
	t.Helper()
	port, err := web.FreePort(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// cmd returns the command with variables.
func (c *command) cmd(variables ...string) *exec.Cmd {
	bin, err := os.Executable()
	if err != nil {
		c.t.Fatal(err)
	}
	cmd := exec.CommandContext(c.t.Context(), bin)
	cmd.Dir = c.dir
	cmd.Env = append(append(os.Environ(), asCommand+"=1", "PORT="+strconv.Itoa(c.port), "PROVIDERS=", "FRESH="), variables...)
	return cmd
}

// start starts the command, and returns the address and the keys that it has written for scripts.
func (c *command) start(variables ...string) (values map[string]string) {
	c.t.Helper()
	file := filepath.Join(c.dir, local, "env")
	if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
		c.t.Fatal(err)
	}
	var output bytes.Buffer
	c.process = c.cmd(variables...)
	c.process.Stdout, c.process.Stderr = &output, &output
	if err := c.process.Start(); err != nil {
		c.t.Fatal(err)
	}
	ended := make(chan struct{})
	process := c.process
	go func() {
		_ = process.Wait()
		close(ended)
	}()
	for deadline := time.Now().Add(patience); ; <-time.After(50 * time.Millisecond) {
		data, err := os.ReadFile(file)
		if err == nil && strings.Contains(string(data), "export") {
			values = map[string]string{}
			for line := range strings.Lines(string(data)) {
				name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
				values[name] = value
			}
			return values
		}
		select {
		case <-ended:
			c.t.Fatalf("the command ended:\n%s", output.String())
		default:
		}
		if time.Now().After(deadline) {
			c.kill()
			<-ended
			c.t.Fatalf("the command is not ready:\n%s", output.String())
		}
	}
}

// kill kills the command without notice.
func (c *command) kill() {
	if c.process == nil {
		return
	}
	_ = c.process.Process.Kill()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-time.After(10 * time.Millisecond) {
		if conn, err := (&net.Dialer{}).Dial("tcp", "127.0.0.1:"+strconv.Itoa(c.port)); err != nil {
			break
		} else {
			_ = conn.Close()
		}
	}
	c.process = nil
}

// ask makes a call, and reads the data of its answer. It waits if it has made too many calls.
func (c *command) ask(key, method, path string, body any, status int, into any) {
	c.t.Helper()
	for {
		var content io.Reader
		if body != nil {
			data, err := json.Marshal(body)
			if err != nil {
				c.t.Fatal(err)
			}
			content = bytes.NewReader(data)
		}
		req, err := http.NewRequestWithContext(c.t.Context(), method, fmt.Sprint("http://127.0.0.1:", c.port, path), content)
		if err != nil {
			c.t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+key)
		if body != nil {
			req.Header.Set("Content-Type", "application/json")
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			c.t.Fatal(err)
		}
		raw, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil {
			c.t.Fatal(err)
		}
		if resp.StatusCode == http.StatusTooManyRequests {
			seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
			if err != nil {
				c.t.Fatalf("%s %s: %s", method, path, raw)
			}
			<-time.After(time.Duration(seconds) * time.Second)
			continue
		}
		envelope := struct{ Data any }{into}
		if err := json.Unmarshal(raw, &envelope); err != nil || resp.StatusCode != status {
			c.t.Fatalf("%s %s: %d %s", method, path, resp.StatusCode, raw)
		}
		return
	}
}

// receiver is a receiver of webhooks, which outlives the command.
type receiver struct {
	*httptest.Server
	mu   sync.Mutex
	got  map[string]string // types of the events by their ids
	come chan struct{}     // one for each delivery
	// failures are the reasons of the events about failures.
	failures map[string]int
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{got: map[string]string{}, come: make(chan struct{}, 10_000), failures: map[string]int{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		var e struct {
			ID, Type, Mode string
			Data           struct {
				Object struct {
					Failure *struct{ Code, Message string }
				}
			}
		}
		if err := json.NewDecoder(req.Body).Decode(&e); err != nil {
			return // The command was killed while it sent.
		}
		r.mu.Lock()
		r.got[e.ID] = e.Type
		if f := e.Data.Object.Failure; f != nil {
			r.failures[e.Mode+" "+f.Code+": "+f.Message]++
		}
		r.mu.Unlock()
		r.come <- struct{}{}
	}))
	t.Cleanup(r.Close)
	return r
}

// await waits until f holds. It fails if no delivery comes for as long as patience.
func (r *receiver) await(t *testing.T, what string, f func(got map[string]string) bool) {
	t.Helper()
	for {
		r.mu.Lock()
		done, kinds := f(r.got), map[string]int{}
		for _, kind := range r.got {
			kinds[kind]++
		}
		failures := maps.Clone(r.failures)
		r.mu.Unlock()
		if done {
			return
		}
		select {
		case <-r.come:
		case <-time.After(patience):
			t.Fatalf("%s: no delivery comes after the events %v, with the failures %v", what, kinds, failures)
		}
	}
}

// newProviders serves the fakes of the providers, which outlive the command like the providers themselves.
func newProviders(t *testing.T) string {
	t.Helper()
	document, err := fakes.Credentials()
	if err != nil {
		t.Fatal(err)
	}
	keys, err := fakes.Keys(document)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(fakes.Providers(keys, nil, nil, time.Now)) // posts need no files of AWS's providers
	t.Cleanup(server.Close)
	return server.URL
}

// generated returns the number of items that were generated.
func generated(got map[string]string) (n int) {
	for _, kind := range got {
		if kind == "content.generated" {
			n++
		}
	}
	return n
}

// plan has one key's content plan, and what its webhook and its balance were before.
type plan struct {
	key, at, id string
	before      int64
}

const posts = 10

// On a fresh checkout, the first post takes as long as the download of ffmpeg.
func TestTheFirstStartSaysWhatMediaWaitFor(t *testing.T) {
	var said []string
	say := func(text string) { said = append(said, text) }
	late := &tools{media: make(chan struct{})}
	if late.note(say); len(said) != 1 || !strings.Contains(said[0], "the first media wait") {
		t.Errorf("without tools: %q", said)
	}
	close(late.media)
	if late.note(say); len(said) != 1 {
		t.Errorf("with tools: %q", said)
	}
}

// The end of the process by a signal loses nothing: all items of the plans are generated and charged once, each event
// arrives, and the keys remain.
func TestKilledInTheMiddleOfAPlan(t *testing.T) {
	c, hooks := newCommand(t), newReceiver(t)
	providers := "PROVIDER_ENDPOINT=" + newProviders(t)
	env := c.start(providers)
	type me struct{ Balance struct{ Credits int64 } }
	type planned struct {
		ID, State string
		Items     struct{ Total, Generated, Failed, Canceled int64 }
		Reserved  int64 `json:"reserved_credits"`
		Cost      int64 `json:"cost_credits"`
		Estimate  int64 `json:"cost_estimate"`
	}
	var plans []plan
	for _, key := range []string{env["SVC_TEST_KEY"], env["SVC_LIVE_KEY"]} {
		p := plan{key: key}
		var account me
		c.ask(key, "GET", "/v1/me", nil, http.StatusOK, &account)
		p.before = account.Balance.Credits
		c.ask(key, "POST", "/v1/webhooks", object{"url": hooks.URL, "event_types": []string{"*"}}, http.StatusCreated,
			&object{})
		var made struct{ ID string }
		c.ask(key, "POST", "/v1/factories", object{"type": "brand", "name": "Acme",
			"settings": object{"brand_name": "Acme"}}, http.StatusCreated, &made)
		p.at = "/v1/factories/" + made.ID + "/content-plan"
		var first planned
		c.ask(key, "POST", p.at, object{"days": 1, "posts_per_day": posts, "content_types": []string{"post"}},
			http.StatusAccepted, &first)
		p.id = first.ID
		plans = append(plans, p)
	}
	// Twice, at different steps of different items: a composition of which three functions have died fails.
	for _, n := range []int{1, posts} {
		hooks.await(t, fmt.Sprint(n, " items"), func(got map[string]string) bool { return generated(got) >= n })
		c.kill()
		if again := c.start(providers); again["SVC_TEST_KEY"] != env["SVC_TEST_KEY"] ||
			again["SVC_LIVE_KEY"] != env["SVC_LIVE_KEY"] || again["BASE_URL"] != env["BASE_URL"] {
			t.Fatalf("after the end, the environment is %v, and was %v", again, env)
		}
	}
	completed := func(got map[string]string) (n int) {
		for _, kind := range got {
			if kind == "content_plan.completed" {
				n++
			}
		}
		return n
	}
	hooks.await(t, "all items", func(got map[string]string) bool {
		return generated(got) >= len(plans)*posts && completed(got) >= len(plans)
	})
	spent := int64(0)
	events := map[string]string{}
	for _, p := range plans {
		var end planned
		c.ask(p.key, "GET", p.at, nil, http.StatusOK, &end)
		if end.State != "completed" || end.Items.Total != posts || end.Items.Generated != posts || end.Reserved != 0 {
			t.Errorf("the plan is %+v", end)
		}
		var items []struct {
			ID, State string
			Media     []object
			Cost      int64 `json:"cost_credits"`
		}
		c.ask(p.key, "GET", "/v1/content-items?limit=100&content_plan_id="+p.id, nil, http.StatusOK, &items)
		cost := int64(0)
		for _, it := range items {
			cost += it.Cost
			if it.State != "generated" || len(it.Media) != 2 {
				t.Errorf("an item is %+v", it)
			}
		}
		live := p.key == env["SVC_LIVE_KEY"]
		if len(items) != posts || live && (cost == 0 || end.Cost < cost) || !live && (cost != 0 || end.Cost != 0) {
			t.Errorf("%d items cost %d, the plan %d", len(items), cost, end.Cost)
		}
		spent += end.Cost
		var page []struct{ ID, Type string }
		c.ask(p.key, "GET", "/v1/events?limit=100", nil, http.StatusOK, &page)
		for _, e := range page {
			if e.Type != "api_key.created" { // before there was a webhook
				events[e.ID] = e.Type
			}
		}
	}
	var account me
	c.ask(env["SVC_LIVE_KEY"], "GET", "/v1/me", nil, http.StatusOK, &account)
	if plans[1].before-account.Balance.Credits != spent {
		t.Errorf("the balance was %d and is %d, but the plans have cost %d", plans[1].before, account.Balance.Credits, spent)
	}
	if n := generated(events); n != len(plans)*posts {
		t.Errorf("there are %d events of generated items: %v", n, events)
	}
	hooks.await(t, "each event", func(got map[string]string) bool {
		for id := range events {
			if got[id] == "" {
				return false
			}
		}
		return true
	})
	hooks.mu.Lock()
	defer hooks.mu.Unlock()
	for id, kind := range hooks.got {
		if events[id] != kind {
			t.Errorf("the event %s, %s, was delivered, but is not listed", id, kind)
		}
	}
}

// Two processes must not use one folder, and FRESH=1 must not remove that of a running service.
func TestASecondProcessIsRefused(t *testing.T) {
	c := newCommand(t)
	env := c.start()
	for _, fresh := range []string{"", "1"} {
		output, err := c.cmd("PORT="+strconv.Itoa(freePort(t)), "FRESH="+fresh).CombinedOutput()
		if err == nil || !strings.Contains(string(output), "another service runs in") {
			t.Errorf("FRESH=%s: %v: %s", fresh, err, output)
		}
	}
	c.ask(env["SVC_TEST_KEY"], "GET", "/v1/me", nil, http.StatusOK, &object{})
	c.kill()
	if fresh := c.start("FRESH=1"); fresh["SVC_TEST_KEY"] == env["SVC_TEST_KEY"] || fresh["SVC_TEST_KEY"] == "" {
		t.Errorf("FRESH=1 keeps the keys %v", fresh)
	}
}
