package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/webhook"
)

func TestListenForwardsWhatHappens(t *testing.T) {
	a, r := newAPI(t), newReceiver(t)
	a.happen("evt_before", "content.generated", -time.Minute)
	s := start(t, listen(a, r),
		func() { a.happen("evt_1", "content.generated", time.Second) },
		func() { a.happen("evt_2", "studio.failed", 3*time.Second) },
		nothing)
	if s.code != 0 || r.ids() != "evt_1 evt_2" {
		t.Fatalf("exit %d, sent %q\n%s%s", s.code, r.ids(), s.out, s.notes)
	}
	r.verify(t, s.secret())
	got := r.got[0]
	if h := got.header; h.Get("Content-Type") != "application/json" || h.Get("User-Agent") != webhook.UserAgent {
		t.Errorf("headers %v", h)
	}
	if !strings.Contains(string(got.body), `"id":"cnt_evt_1"`) {
		t.Errorf("body %s", got.body)
	}
	if !strings.Contains(s.out, "content.generated  evt_1  cnt_evt_1  204  ") ||
		!strings.Contains(s.notes, "Forwarded: 2, not accepted: 0.") {
		t.Errorf("%s%s", s.out, s.notes)
	}
	if want := []time.Duration{2 * time.Second, 2 * time.Second, 2 * time.Second,
		2 * time.Second}; !slices.Equal(s.waits, want) {
		t.Errorf("waits %v", s.waits)
	}
}

// Events of concurrent changes become visible late, so each request lists some events again.
func TestListenMissesNothingAndRepeatsNothing(t *testing.T) {
	a, r := newAPI(t), newReceiver(t)
	a.size = 2
	all := func() {
		for i := range 5 {
			a.happen(fmt.Sprintf("evt_%d", i), "content.generated", time.Duration(10+10*i)*time.Second)
		}
	}
	late := func() { a.happen("evt_late", "content.generated", 20*time.Second) }
	much := func() { a.happen("evt_5", "content.generated", time.Hour) }
	later := func() { a.happen("evt_6", "content.generated", time.Hour-59*time.Second) }
	s := start(t, listen(a, r), all, nothing, nothing, late, nothing, nothing, nothing, much, nothing, nothing, nothing,
		later, nothing, nothing, nothing)
	sent := strings.Fields(r.ids())
	slices.Sort(sent)
	if want := strings.Fields("evt_0 evt_1 evt_2 evt_3 evt_4 evt_5 evt_6 evt_late"); s.code != 0 ||
		!slices.Equal(sent, want) {
		t.Errorf("exit %d, sent %q", s.code, r.ids())
	}
	last, err := url.ParseQuery(a.asked[len(a.asked)-1])
	if want := noon.Add(time.Hour - time.Minute).Format(time.RFC3339Nano); err != nil || last.Get("from") != want ||
		last.Get("order") != "asc" || last.Get("wait_seconds") != "10" || last.Get("after") != "evt_late" {
		t.Errorf("the last query is %v, want from %s", last, want)
	}
}

func TestListenSince(t *testing.T) {
	for since, want := range map[string]string{
		"90s": "evt_1 evt_2", "30s": "evt_2", "2026-05-01T11:59:00Z": "evt_1 evt_2", "2026-05-01T14:00:00+02:00": "",
	} {
		a, r := newAPI(t), newReceiver(t)
		a.happen("evt_1", "content.generated", -time.Minute)
		a.happen("evt_2", "content.generated", -20*time.Second)
		if s := start(t, listen(a, r, "--since", since)); s.code != 0 || r.ids() != want {
			t.Errorf("%s: exit %d, sent %q, want %q\n%s", since, s.code, r.ids(), want, s.notes)
		}
	}
}

func TestListenChoosesEvents(t *testing.T) {
	for events, want := range map[string]string{
		"*": "evt_1 evt_2 evt_3", "content.*": "evt_1", "studio.failed, content.generated": "evt_1 evt_3",
		"content_plan.*,studio.generated": "evt_2",
	} {
		a, r := newAPI(t), newReceiver(t)
		a.happen("evt_1", "content.generated", 1*time.Second)
		a.happen("evt_2", "content_plan.completed", 2*time.Second)
		a.happen("evt_3", "studio.failed", 3*time.Second)
		if s := start(t, listen(a, r, "--events", events)); s.code != 0 || r.ids() != want {
			t.Errorf("%s: exit %d, sent %q, want %q\n%s", events, s.code, r.ids(), want, s.notes)
		}
		if query, _ := url.ParseQuery(a.asked[0]); (query.Get("type") != "") != (events == "content.*") {
			t.Errorf("%s: asked for %s", events, a.asked[0])
		}
	}
}

func TestListenWaitsWhenItIsAskedTo(t *testing.T) {
	a, r := newAPI(t), newReceiver(t)
	a.happen("evt_1", "content.generated", time.Second)
	a.header.Set("RateLimit", `"default";r=4;t=20`)
	a.refuse = []http.HandlerFunc{
		refusing(429, "rate_limited", "Retry-After", "17"), refusing(503, "provider_unavailable", "Retry-After", "5"),
		refusing(500, ""), refusing(502, "internal"), refusing(500, ""),
		func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "{")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		},
		func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") },
	}
	s := start(t, listen(a, r), slices.Repeat([]func(){nothing}, 8)...)
	if s.code != 0 || r.ids() != "evt_1" || len(s.waits) != 9 {
		t.Fatalf("exit %d, sent %q, waits %v\n%s", s.code, r.ids(), s.waits, s.notes)
	}
	if s.waits[0] != 17*time.Second || s.waits[1] != 5*time.Second {
		t.Errorf("waits %v, want 17 s and 5 s first", s.waits)
	}
	for i, limit := range []time.Duration{4, 8, 16, 32, 60} {
		if got := s.waits[2+i]; got < limit*time.Second/2 || got > limit*time.Second {
			t.Errorf("wait %d is %v, want %d s at most, and half of it at least", 2+i, got, limit)
		}
	}
	// At most half of four calls in 20 seconds.
	if s.waits[7] != 10*time.Second {
		t.Errorf("waits %v, want 10 s after the list", s.waits)
	}
	if !strings.Contains(s.notes, "answered 429 rate_limited: Why. Next try in 17s.") ||
		!strings.Contains(s.notes, "the answer ends early") || !strings.Contains(s.notes, "not with a list of events") {
		t.Errorf("notes:\n%s", s.notes)
	}
}

func TestListenReadsAgainAfterACursorIsRefused(t *testing.T) {
	a, r := newAPI(t), newReceiver(t)
	a.size = 1
	a.happen("evt_1", "content.generated", 1*time.Second)
	a.happen("evt_2", "content.generated", 2*time.Second)
	refuse := func() { a.refuse = []http.HandlerFunc{refusing(400, "invalid_cursor")} }
	if s := start(t, listen(a, r), refuse, nothing, nothing); s.code != 0 || r.ids() != "evt_1 evt_2" {
		t.Errorf("exit %d, sent %q\n%s", s.code, r.ids(), s.notes)
	}
}

func TestListenEndsWhenItIsRefused(t *testing.T) {
	for _, c := range []struct {
		answer http.HandlerFunc
		want   string
	}{
		{refusing(401, "invalid_api_key"), "answered 401 invalid_api_key: Why. Check --api-key or SVC_API_KEY."},
		{refusing(403, "insufficient_scope"), "answered 403 insufficient_scope: Why. Use a key with the scope " +
			"account:read, and the scopes of what the events are about."},
		{refusing(403, "ip_not_allowed"), "answered 403 ip_not_allowed: Why."},
		{refusing(404, ""), "answered 404 Not Found. Check --base-url or BASE_URL."},
		{refusing(301, "", "Location", "https://api.example.com/"),
			`answered 301 Moved Permanently. It redirects to "https://api.example.com/": check --base-url or BASE_URL.`},
	} {
		a, r := newAPI(t), newReceiver(t)
		a.refuse = []http.HandlerFunc{c.answer}
		s := start(t, listen(a, r), nothing)
		if want := "cli: GET " + a.URL + "/v1/events " + c.want + "\n"; s.code != 1 || s.notes != want ||
			len(a.asked) != 1 {
			t.Errorf("exit %d after %d requests: %q, want %q", s.code, len(a.asked), s.notes, want)
		}
	}
}

// Revoking the key later also ends the command.
func TestListenEndsWhenTheKeyIsRevoked(t *testing.T) {
	a, r := newAPI(t), newReceiver(t)
	s := start(t, listen(a, r), nothing,
		func() { a.refuse = []http.HandlerFunc{refusing(401, "invalid_api_key")} }, nothing)
	if s.code != 1 || !strings.Contains(s.notes, "401 invalid_api_key") {
		t.Errorf("exit %d: %s", s.code, s.notes)
	}
}

func TestListenTriesAReceiverAFewTimes(t *testing.T) {
	a, r := newAPI(t), newReceiver(t)
	a.happen("evt_1", "content.generated", time.Second)
	a.happen("evt_2", "content.generated", 2*time.Second)
	a.happen("evt_3", "content.generated", 3*time.Second)
	r.answer = []int{500, 204, 500, 302, 404, 503, 204}
	s := start(t, listen(a, r), nothing, nothing, nothing, nothing)
	if s.code != 0 || r.ids() != "evt_1 evt_1 evt_2 evt_2 evt_2 evt_2 evt_3" {
		t.Fatalf("exit %d, sent %q\n%s", s.code, r.ids(), s.out)
	}
	r.verify(t, s.secret())
	if want := []time.Duration{time.Second, time.Second, 2 * time.Second, 4 * time.Second,
		2 * time.Second}; !slices.Equal(s.waits, want) {
		t.Errorf("waits %v, want %v", s.waits, want)
	}
	for _, want := range []string{"evt_1  cnt_evt_1  500  ", ", next try in 1s\n",
		"(redirects are not followed), next try in 2s", ", given up after 4 tries\n"} {
		if !strings.Contains(s.out, want) {
			t.Errorf("%q is not in\n%s", want, s.out)
		}
	}
	if !strings.Contains(s.notes, "Forwarded: 2, not accepted: 1.") {
		t.Error(s.notes)
	}
}

func TestListenGoesOnWithoutAReceiver(t *testing.T) {
	a, r := newAPI(t), newReceiver(t)
	a.happen("evt_1", "content.generated", time.Second)
	r.Close()
	s := start(t, listen(a, r), nothing, nothing, nothing)
	if s.code != 0 || strings.Count(s.out, "no answer: ") != 4 || !strings.Contains(s.out, "given up after 4 tries") ||
		len(s.waits) != 4 {
		t.Errorf("exit %d, waits %v\n%s", s.code, s.waits, s.out)
	}
}

func TestListenIsInterruptedWhileItForwards(t *testing.T) {
	a, r := newAPI(t), newReceiver(t)
	a.happen("evt_1", "content.generated", time.Second)
	ctx, interrupt := context.WithCancel(t.Context())
	r.before = func(req *http.Request) {
		interrupt()
		<-req.Context().Done()
	}
	s := startIn(ctx, t, listen(a, r))
	if s.code != 0 || strings.Contains(s.out, "evt_1") || s.notes != "Ended. Forwarded: 0, not accepted: 0.\n" {
		t.Errorf("exit %d\n%s%s", s.code, s.out, s.notes)
	}
}

func TestListenSignsWithTheSecretThatItIsGiven(t *testing.T) {
	a, r := newAPI(t), newReceiver(t)
	a.happen("evt_1", "content.generated", time.Second)
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	s := start(t, listen(a, r, "--secret", secret))
	if s.code != 0 || r.ids() != "evt_1" || strings.Contains(s.out, "whsec_") {
		t.Errorf("exit %d, sent %q\n%s", s.code, r.ids(), s.out)
	}
	r.verify(t, secret)
}

func TestUsageFaults(t *testing.T) {
	a, r := newAPI(t), newReceiver(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"lisen"}, `unknown command "lisen"`},
		{[]string{"listen", "now"}, `unknown command "now"`},
		{[]string{"listen", "--forward", "x"}, "unknown flag: --forward"},
		{[]string{"listen"}, "name the address of your receiver by --forward-to"},
		{listen(a, r, "--api-key", ""), "give an API key"},
		{listen(a, r, "--base-url", ""), "give the base URL of the API in BASE_URL or by --base-url"},
		{listen(a, r, "--base-url", "http://api.example.com"), "--base-url must use https"},
		{listen(a, r, "--forward-to", "localhost:3000/hooks"), "--forward-to must be an address such as " +
			"http://localhost:3000/hooks"},
		{listen(a, r, "--secret", "secret"), "--secret must be whsec_ and the base64 of 24 to 64 bytes"},
		{listen(a, r, "--secret", "whsec_c2hvcnQ="), "--secret must be whsec_ and the base64 of 24 to 64 bytes"},
		{listen(a, r, "--since", "yesterday"), "--since must be a time such as 2026-11-22T06:00:00Z or a duration " +
			"such as 15m"},
		{listen(a, r, "--since", "-5m"), "--since must be"},
		{listen(a, r, "--events", "content.generate"),
			`"content.generate" is no type of event; did you mean content.generated?`},
		{listen(a, r, "--events", "content.*,"), `"" is no type of event`},
		{[]string{"trigger", "content.generatd"},
			"did you mean content.generated?\nThe types are:\n  api_key.created "},
		{[]string{"trigger", "--forward-to", r.URL}, "name the type of event to send\nThe types are:\n"},
		{[]string{"trigger", "balance.low", "--forward-to", "ftp://localhost"}, "--forward-to must be an address"},
	} {
		s := start(t, c.args, nothing)
		if s.code != 2 || !strings.Contains(s.notes, c.want) || !strings.Contains(s.notes, "--help' for help.\n") ||
			s.out != "" {
			t.Errorf("%v: exit %d: %s%s", c.args, s.code, s.out, s.notes)
		}
	}
	if len(a.asked) != 0 || len(r.got) != 0 {
		t.Errorf("%d requests to the API, %d to the receiver", len(a.asked), len(r.got))
	}
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{}, {"--help"}, {"listen", "--help"}, {"trigger", "--help"}} {
		if s := start(t, args); s.code != 0 || !strings.Contains(s.out, "Usage:") || s.notes != "" {
			t.Errorf("%v: exit %d\n%s%s", args, s.code, s.out, s.notes)
		}
	}
}
