package main

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/content-automation/api/infra/measure/metered"
	"github.com/content-automation/api/pkg/task/queue"
)

// credits returns the amount that the live account can spend.
func credits(t *testing.T, w *metered.World) int64 {
	t.Helper()
	a, err := w.Call(t.Context(), metered.Request{Operation: "getMe", Live: true})
	if err != nil {
		t.Fatal(err)
	}
	var me struct{ Balance struct{ Credits int64 } }
	if err := json.Unmarshal(a.Data, &me); err != nil {
		t.Fatal(err)
	}
	return me.Balance.Credits
}

// want is the expected usage of a generation.
type want struct {
	// steps are the runs of generate, and runs are those of all functions.
	steps, runs                     int
	calls, records, events          int
	submits, polls, fetches, cancel int
	puts, lists                     int
	// spends reports whether the generation costs the customer anything.
	spends bool
}

func TestGenerationsAreCountedToTheirEnd(t *testing.T) {
	w := filled(t)
	factory, err := w.Call(t.Context(), metered.Request{Operation: "createFactory",
		Body: w.Examples()["createFactory"].Body, Live: true})
	if err != nil {
		t.Fatal(err)
	}
	id, err := factory.ID()
	if err != nil {
		t.Fatal(err)
	}
	// In addition to the steps, there are the authorizer and the area's function for each call, the relay for each
	// transaction that creates a job or an event, dispatch, and the sums of analytics at the end of content.
	wants := map[string]want{
		// The steps are submit, three polls, store, sign and finish.
		"image": {steps: 7, runs: 12, calls: 1, records: 2, events: 1, submits: 1, polls: 3,
			fetches: 1, puts: 2, spends: true},
		"image, answered at once": {steps: 3, runs: 8, calls: 1, records: 2, events: 1, submits: 1, puts: 2,
			spends: true},
		"post": {steps: 10, runs: 16, calls: 1, records: 3, events: 1, submits: 3, polls: 3,
			fetches: 1, puts: 3, spends: true},
		// The steps are script, a second look at it, voice, four clips (17
		// steps each), a look at the accounts, compose and finish.
		"short video": {steps: 74, runs: 80, calls: 1, records: 3, events: 1, submits: 7, polls: 60, fetches: 4,
			puts: 10, spends: true},
		"image that fails": {steps: 4, runs: 9, calls: 1, records: 2, events: 1, submits: 1, polls: 3},
		// The steps are submit, poll and give up.
		"image canceled": {steps: 3, runs: 8, calls: 2, records: 1, submits: 1, polls: 1, cancel: 1},
	}
	for _, s := range scenarios(id) {
		before := credits(t, w)
		c, err := count(t.Context(), w, s)
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		u := c.whole
		got := want{
			steps(u), u.functionRuns(), u.calls, u.records, u.events, u.submits, u.polls, u.fetches, u.cancels, u.puts,
			u.lists, credits(t, w) < before,
		}
		if got != wants[s.name] {
			t.Errorf("%s:\n%+v, want\n%+v", s.name, got, wants[s.name])
		}
		delete(wants, s.name)
		// Each message is sent by a function or the bus, and arrives once. The sums of analytics read theirs from a
		// queue.
		if queued := u.runs["dispatch"].times + u.runs["rollup"].times; u.sends != u.receives ||
			u.receives != steps(u)+queued || u.runs["dispatch"].times != u.events {
			t.Errorf("%s: %d sent, %d received in %v, %d events", s.name, u.sends, u.receives, u.runs, u.events)
		}
		if u.grouped != u.queueRequests()-4*u.events {
			t.Errorf("%s: %d of %d requests are of fair queues", s.name, u.grouped, u.queueRequests())
		}
		// The calls are those of the authorizer, the function with its read and its transaction, and the audit
		// entry.
		if c.create.table.Trips != 1+2+1 || c.create.functionRuns() != 2 || c.create.receives != 0 {
			t.Errorf("%s: the call alone uses %+v", s.name, c.create)
		}
		if rest := u.table.Minus(c.create.table); rest.Trips <= 0 || rest.Reads <= 0 || rest.Writes <= 0 {
			t.Errorf("%s: what follows uses %+v", s.name, rest)
		}
		if (u.stored > 0) != (u.puts > 0) {
			t.Errorf("%s: %d files have %d bytes", s.name, u.puts, u.stored)
		}
	}
	if len(wants) > 0 {
		t.Errorf("not counted: %v", wants)
	}
}

func TestARunTakesWhatItWaitsFor(t *testing.T) {
	all := counts(t).generations
	for _, c := range all {
		u := c.whole
		var took time.Duration
		for _, r := range u.runs {
			took += r.took
		}
		if sum := time.Duration(u.functionRuns())*handling + time.Duration(u.table.Trips)*tableWait +
			u.waited; took != sum {
			t.Errorf("%s: the functions took %v, and handled and waited for %v", c.name, took, sum)
		}
	}
	if len(all) != len(scenarios("")) {
		t.Errorf("%d generations", len(all))
	}
}

func TestMessagesAreHiddenAnewInTime(t *testing.T) {
	if beatEvery >= queue.HiddenFor {
		t.Errorf("a message is hidden for %v, and again after %v", queue.HiddenFor, beatEvery)
	}
}

// steps returns the number of steps of generation work.
func steps(u usage) int { return u.runs["generate"].times + u.runs["compose"].times }
