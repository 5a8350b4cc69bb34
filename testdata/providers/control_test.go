package main_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/testdata/providers/control"
)

// fake is a provider that accepts every call and logs it.
func controlFake(t *testing.T, c *control.Control) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/submit", c.Handle("acme", control.Submit, func(w http.ResponseWriter, r *http.Request) {
		c.Accept(control.Acceptance{Provider: "acme", Operation: control.Submit, Prompt: r.URL.Query().Get("prompt"),
			ClientToken: r.URL.Query().Get("token")})
		fmt.Fprintf(w, `{"fails":%t}`, control.JobFails(r.Context()))
	}))
	mux.Handle("/_control", c)
	mux.Handle("/_control/", c)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

// call returns the status and the body, or 0 if the connection was closed.
func controlCall(t *testing.T, method, address, body string) (int, string, http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		if !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		return 0, "", nil
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(answer), resp.Header
}

func TestEachFault(t *testing.T) {
	for _, tc := range []struct {
		fault    control.Fault
		status   int
		body     string
		accepted int
	}{
		{control.Fault{Kind: control.RateLimited, Seconds: 3}, 429, "", 0},
		{control.Fault{Kind: control.ServerError}, 503, "", 0},
		{control.Fault{Kind: control.ServerError, Status: 500}, 500, "", 0},
		{control.Fault{Kind: control.ResultExpired}, 404, "", 0},
		{control.Fault{Kind: control.ResultExpired, Status: 410}, 410, "", 0},
		{control.Fault{Kind: control.Drop}, 0, "", 0},
		{control.Fault{Kind: control.DropAfterAccept}, 0, "", 1},
		{control.Fault{Kind: control.Garbage}, 200, "{\"\x00<html>502", 1},
		{control.Fault{Kind: control.JobFailed}, 200, `{"fails":true}`, 1},
		{control.Fault{Kind: control.Slow, Seconds: 0.01}, 200, `{"fails":false}`, 1},
	} {
		c := control.New()
		server := controlFake(t, c)
		c.Queue("acme", control.Submit, tc.fault)
		status, body, header := controlCall(t, "POST", server.URL+"/submit?prompt=a", "")
		if status != tc.status || tc.body != "" && body != tc.body {
			t.Errorf("%+v: %d %q", tc.fault, status, body)
		}
		if tc.fault.Kind == control.RateLimited && header.Get("Retry-After") != "3" {
			t.Errorf("Retry-After is %q", header.Get("Retry-After"))
		}
		if got := c.Count("acme", "a"); got != tc.accepted {
			t.Errorf("%+v: accepted %d times, want %d", tc.fault, got, tc.accepted)
		}
		if status, body, _ := controlCall(t, "POST", server.URL+"/submit", ""); status != 200 || body != `{"fails":false}` {
			t.Errorf("after %+v: %d %q", tc.fault, status, body)
		}
	}
}

func TestFaultsComeInOrderAndAsOftenAsTheySay(t *testing.T) {
	c := control.New()
	server := controlFake(t, c)
	c.Queue("acme", control.Submit, control.Fault{Kind: control.ServerError, Status: 500, Times: 2},
		control.Fault{Kind: control.RateLimited})
	c.Queue("other", control.Submit, control.Fault{Kind: control.Drop})
	c.Queue("acme", control.Status, control.Fault{Kind: control.Drop})
	for i, want := range []int{500, 500, 429, 200} {
		if got, _, _ := controlCall(t, "POST", server.URL+"/submit", ""); got != want {
			t.Errorf("call %d: %d, want %d", i, got, want)
		}
	}
}

func TestAFaultIsForTheCallsThatItMatches(t *testing.T) {
	c := control.New()
	var read []string
	submit := c.Handle("acme", control.Submit, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		read = append(read, string(body))
		c.Accept(control.Acceptance{Provider: "acme", ID: fmt.Sprint("job-", len(read)), Prompt: string(body)})
	})
	status := c.Handle("acme", control.Status, func(w http.ResponseWriter, r *http.Request) {})
	c.Queue("acme", control.Submit, control.Fault{Kind: control.ServerError, Match: "a shoe", Times: 2})
	c.Queue("acme", control.Submit, control.Fault{Kind: control.RateLimited, Match: "a hat"})
	c.Queue("acme", control.Status, control.Fault{Kind: control.ServerError, Match: "a scarf"})
	for _, tc := range []struct {
		handler    http.HandlerFunc
		path, body string
		want       int
	}{
		{submit, "/jobs", "a scarf", 200},
		{submit, "/jobs", "a shoe of glass", 503},
		{submit, "/jobs", "a hat", 429},
		{submit, "/jobs", "a shoe", 503},
		{submit, "/jobs", "a shoe", 200},
		{submit, "/jobs", "a hat", 200},
		{status, "/jobs/job-2", "", 200},
		{status, "/jobs/job-1", "", 503},
		{status, "/jobs/job-1", "", 200},
	} {
		w := httptest.NewRecorder()
		tc.handler(w, httptest.NewRequestWithContext(t.Context(), "POST", tc.path, strings.NewReader(tc.body)))
		if w.Code != tc.want {
			t.Errorf("%s %q: %d, want %d", tc.path, tc.body, w.Code, tc.want)
		}
	}
	if want := []string{"a scarf", "a shoe", "a hat"}; !slices.Equal(read, want) {
		t.Errorf("the fake read %q, want %q", read, want)
	}
}

func TestASlowFakeEndsWithItsCaller(t *testing.T) {
	c := control.New()
	server := controlFake(t, c)
	c.Queue("acme", control.Submit, control.Fault{Kind: control.Slow, Seconds: 3600})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "POST", server.URL+"/submit", strings.NewReader("a body"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := http.DefaultClient.Do(req); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	server.Close() // waits for the handler
	if n := len(c.Accepted()); n != 0 {
		t.Errorf("accepted %d", n)
	}
}

func TestControlOverHTTP(t *testing.T) {
	server := controlFake(t, control.New())
	for body, want := range map[string]int{
		`{"provider":"acme","operation":"submit","faults":[{"kind":"server_error","status":500}]}`: 204,
		`{"provider":"acme","operation":"submit","faults":[{"kind":"tired"}]}`:                     400,
		`{"provider":"acme","operation":"submit","faults":[]}`:                                     400,
		`{"operation":"submit","faults":[{"kind":"drop"}]}`:                                        400,
		`{"provider":"acme","operation":"submit","fault":[{"kind":"drop"}]}`:                       400,
		`nonsense`: 400,
	} {
		if got, _, _ := controlCall(t, "POST", server.URL+"/_control", body); got != want {
			t.Errorf("%s: %d, want %d", body, got, want)
		}
	}
	for i, want := range []int{500, 200, 200} {
		if got, _, _ := controlCall(t, "POST", server.URL+"/submit?prompt=p&token=t", ""); got != want {
			t.Errorf("call %d: %d, want %d", i, got, want)
		}
	}
	logged := func() int {
		status, body, _ := controlCall(t, "GET", server.URL+"/_control/log", "")
		var log struct{ Accepted []control.Acceptance }
		if err := json.Unmarshal([]byte(body), &log); err != nil || status != 200 || log.Accepted == nil {
			t.Fatalf("%d %s: %v", status, body, err)
		}
		for _, a := range log.Accepted {
			if a.Provider != "acme" || a.Prompt != "p" || a.ClientToken != "t" {
				t.Errorf("logged %+v", a)
			}
		}
		return len(log.Accepted)
	}
	if n := logged(); n != 2 {
		t.Errorf("%d logged, want 2", n)
	}
	if status, _, _ := controlCall(t, "DELETE", server.URL+"/_control", ""); status != 204 {
		t.Errorf("reset: %d", status)
	}
	if n := logged(); n != 0 {
		t.Errorf("%d logged after a reset", n)
	}
	if status, _, _ := controlCall(t, "GET", server.URL+"/_control", ""); status != 404 {
		t.Errorf("unknown: %d", status)
	}
}

func TestControlIsSafeForConcurrentUse(t *testing.T) {
	c := control.New()
	server := controlFake(t, c)
	const calls = 50
	c.Queue("acme", control.Submit, control.Fault{Kind: control.ServerError, Times: calls / 2})
	var wg sync.WaitGroup
	for range calls {
		wg.Go(func() { controlCall(t, "POST", server.URL+"/submit?prompt=a", "") })
	}
	wg.Wait()
	if got := c.Count("acme", "a"); got != calls/2 {
		t.Errorf("%d accepted, want %d", got, calls/2)
	}
}

func TestBaseKnowsThePrefix(t *testing.T) {
	say := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, control.Base(r)) })
	mux := http.NewServeMux()
	mux.Handle("/acme/", http.StripPrefix("/acme", say))
	mux.Handle("/", say)
	server := httptest.NewServer(mux)
	defer server.Close()
	for path, want := range map[string]string{"/acme/v1/jobs?x=1": server.URL + "/acme", "/v1/jobs": server.URL,
		"/acme/a%2Fb": server.URL + "/acme"} {
		if _, got, _ := controlCall(t, "GET", server.URL+path, ""); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

func TestJobsTakeTheirTime(t *testing.T) {
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	jobs := control.NewJobs[string](func() time.Time { return at }, time.Second)
	jobs.Start("a", "work", false)
	jobs.Start("b", "work", true)
	jobs.Start("c", "work", false)
	for _, step := range []struct {
		after    time.Duration
		phase    control.Phase
		progress int
	}{
		{0, control.Waiting, 0}, {249 * time.Millisecond, control.Waiting, 0},
		{250 * time.Millisecond, control.Working, 25},
		{999 * time.Millisecond, control.Working, 99}, {time.Second, control.Succeeded, 100},
		{time.Hour, control.Succeeded, 100},
	} {
		at = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC).Add(step.after)
		job, phase, progress, found := jobs.Find("a")
		if !found || job.Work != "work" || phase != step.phase || progress != step.progress {
			t.Errorf("after %v: %v %s %d %v", step.after, job, phase, progress, found)
		}
		if step.after == 250*time.Millisecond {
			if canceled, found := jobs.Cancel("c"); !canceled || !found {
				t.Error("not canceled")
			}
		}
	}
	if _, phase, _, _ := jobs.Find("b"); phase != control.Failed {
		t.Errorf("b has %s", phase)
	}
	if _, phase, _, _ := jobs.Find("c"); phase != control.Canceled {
		t.Errorf("c has %s", phase)
	}
	if canceled, found := jobs.Cancel("a"); canceled || !found {
		t.Error("canceled after its end")
	}
	if _, found := jobs.Cancel("d"); found {
		t.Error("found a job that nobody started")
	}
	if _, _, _, found := jobs.Find("d"); found {
		t.Error("found a job that nobody started")
	}
}
