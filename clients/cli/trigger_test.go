package main

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/record/event"
)

func TestTriggerSendsASample(t *testing.T) {
	r := newReceiver(t)
	args := []string{"trigger", "content.generated", "balance.low", "--forward-to", r.URL}
	s, again := start(t, args), start(t, args)
	if s.code != 0 || len(r.got) != 4 || !strings.Contains(s.out, "  204  ") {
		t.Fatalf("exit %d, %d requests\n%s%s", s.code, len(r.got), s.out, s.notes)
	}
	if s.secret() == again.secret() {
		t.Error("both runs have the same secret")
	}
	seen := map[string]bool{}
	for _, g := range r.got {
		var e event.Event
		if err := json.Unmarshal(g.body, &e); err != nil || e.ID != g.header.Get("webhook-id") ||
			!id.Valid(id.Event, e.ID) || e.CreatedAt.IsZero() {
			t.Errorf("%v: %s", err, g.body)
		}
		seen[e.ID] = true
	}
	if len(seen) != 4 {
		t.Errorf("the ids are %v", seen)
	}
	r.got = r.got[:2]
	r.verify(t, s.secret())
}

func TestTriggerFailsIfTheSampleIsNotAccepted(t *testing.T) {
	r := newReceiver(t)
	r.answer = []int{500}
	s := start(t, []string{"trigger", "content.generated", "content.failed", "--forward-to", r.URL})
	if s.code != 1 || len(r.got) != 2 || s.notes != "cli: 1 of 2 samples were not answered with 2xx\n" ||
		!strings.Contains(s.out, "  500  ") {
		t.Errorf("exit %d, %d requests\n%s%s", s.code, len(r.got), s.out, s.notes)
	}
}

// A call that Ctrl-C interrupts is no success.
func TestATriggerThatIsInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	r := newReceiver(t)
	r.before = func(*http.Request) { interrupt() }
	s := startIn(ctx, t, []string{"trigger", "content.generated", "content.failed", "--forward-to", r.URL})
	if s.code != 130 || len(r.got) > 1 || !strings.Contains(s.notes, "interrupted: a call that was sent may have had its effect") {
		t.Errorf("exit %d, %d requests\n%s%s", s.code, len(r.got), s.out, s.notes)
	}
}

// The samples are those of the service, for every type.
func TestTriggerHasASampleOfEveryType(t *testing.T) {
	listed := start(t, []string{"trigger"})
	if listed.code != 0 {
		t.Fatal(listed.notes)
	}
	for _, known := range event.Types {
		if !strings.Contains(listed.out, "  "+string(known.Type)+" ") || !strings.Contains(listed.out, known.Summary) {
			t.Errorf("%s is not listed", known.Type)
		}
		s := start(t, []string{"trigger", string(known.Type)})
		var printed event.Event
		if err := json.Unmarshal([]byte(s.out), &printed); err != nil || printed.Type != known.Type {
			t.Fatalf("%s: exit %d, %v: %s", known.Type, s.code, err, s.out)
		}
		var got, want any
		if err := json.Unmarshal(printed.Data.Object, &got); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(event.SampleObject(known.Type), &want); err != nil {
			t.Fatal(err)
		}
		if g, w := text(t, got), text(t, want); g != w {
			t.Errorf("%s: got %s, want %s", known.Type, g, w)
		}
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
