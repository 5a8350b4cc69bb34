package webhook_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/webhooktest"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/record/event"
)

// library is an official library of Standard Webhooks in another language: the
// folder that `make tools` installs it into, and how the script that calls it runs.
type library struct {
	folder  string
	command []string
	env     string
}

// libraries are run in testdata/verify.
var libraries = map[string]library{
	"Python":     {"webhooks-python", []string{"bin/python", "verify.py"}, ""},
	"JavaScript": {"webhooks-node", []string{"node", "verify.js"}, "NODE_PATH=node_modules"},
}

// sent is a request as the scripts read it.
type sent struct {
	Secret  string            `json:"secret"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

// result is the outcome of a library's verification: the event, or the reason for which it was rejected.
type result struct {
	ID, Type, Error string
}

// verify has a library verify requests.
func (l library) verify(t *testing.T, requests []sent) (results []result) {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(root, ".tools", l.folder)
	// The stamp is there once it is installed whole.
	if _, err := os.Stat(filepath.Join(folder, ".stamp")); err != nil {
		t.Fatal("the library is not installed: run `make tools`")
	}
	program := l.command[0]
	if strings.Contains(program, "/") {
		program = filepath.Join(folder, program)
	}
	in, err := json.Marshal(requests)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, l.command[1:]...)
	cmd.Dir = filepath.Join(root, "testdata", "verify")
	name, below, set := strings.Cut(l.env, "=")
	if cmd.Env = os.Environ(); set {
		cmd.Env = append(cmd.Env, name+"="+filepath.Join(folder, below))
	}
	var problems bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), &problems
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, problems.String())
	}
	if err := json.Unmarshal(out, &results); err != nil || len(results) != len(requests) {
		t.Fatalf("%d results on %d requests (%v): %s", len(results), len(requests), err, out)
	}
	return results
}

// asSent returns a request that a receiver got as the scripts read it.
func asSent(r webhooktest.Receipt, secret string) sent {
	s := sent{Secret: secret, Headers: map[string]string{}, Body: string(r.Body)}
	for name := range r.Header {
		s.Headers[name] = r.Header.Get(name)
	}
	return s
}

// TestTheOfficialLibrariesVerifyWhatIsSent posts to a receiver, whose requests the
// libraries then judge. Both look at the time, so that ours must be the true one.
func TestTheOfficialLibrariesVerifyWhatIsSent(t *testing.T) {
	w := deliverNewWorld(t)
	w.Clock.Add(time.Since(w.Clock.Now()))
	r := w.Receive(nil, "*")
	before := w.Happen(event.ContentGenerated)
	w.Run()
	var rotated webhook.NewWebhook
	w.API.Call(http.MethodPost, "/v1/webhooks/"+r.Hook.ID+"/rotate-secret", nil).Into(t, http.StatusOK, &rotated)
	during := w.Happen(event.ContentFailed)
	w.Run()
	got := r.Receipts()
	if len(got) != 2 {
		t.Fatalf("%d requests", len(got))
	}
	if n := len(strings.Fields(got[1].Header.Get("webhook-signature"))); n != 2 {
		t.Fatalf("%d signatures while a secret rotates", n)
	}

	change := func(s sent, f func(*sent)) sent {
		f(&s)
		return s
	}
	withHeader := func(s sent, name, value string) sent {
		headers := map[string]string{}
		for n, v := range s.Headers {
			headers[n] = v
		}
		headers[http.CanonicalHeaderKey(name)] = value
		s.Headers = headers
		return s
	}
	first, second := asSent(got[0], r.Hook.Secret), asSent(got[1], r.Hook.Secret)
	old := webhook.Timestamp(w.Clock.Now().Add(-time.Hour))
	cases := []struct {
		name   string
		sent   sent
		wants  event.Ref // the verified event
		denies string    // or why it is refused
	}{
		{"as it was sent", first, before, ""},
		{"the old secret while it rotates", second, during, ""},
		{"the new secret while it rotates", asSent(got[1], rotated.Secret), during, ""},
		{"the new secret for what was before", asSent(got[0], rotated.Secret), event.Ref{},
			"No matching signature found"},
		{"another body", change(first, func(s *sent) { s.Body = strings.Replace(s.Body, "cnt_1", "cnt_2", 1) }),
			event.Ref{}, "No matching signature found"},
		{"the body of another", change(first, func(s *sent) { s.Body = second.Body }), event.Ref{},
			"No matching signature found"},
		{"another id", withHeader(first, "webhook-id", during.ID), event.Ref{}, "No matching signature found"},
		{"an old one", withHeader(first, "webhook-timestamp", old), event.Ref{}, "Message timestamp too old"},
		{"another time", withHeader(first, "webhook-timestamp", webhook.Timestamp(w.Clock.Now().Add(-time.Minute))),
			event.Ref{}, "No matching signature found"},
		{"no signature", withHeader(first, "webhook-signature", ""), event.Ref{}, "Missing required headers"},
	}
	requests := make([]sent, len(cases))
	for i, c := range cases {
		requests[i] = c.sent
	}
	for language, l := range libraries {
		t.Run(language, func(t *testing.T) {
			for i, v := range l.verify(t, requests) {
				c := cases[i]
				if v != (result{c.wants.ID, string(c.wants.Type), c.denies}) {
					t.Errorf("%s: %+v", c.name, v)
				}
			}
		})
	}
}
