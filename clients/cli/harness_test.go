package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

const testKey = "svc_test_key"

// noon is the time of the service; the machine's own clock differs.
var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// api is a service with events. Its lists behave like the real ones.
type api struct {
	*httptest.Server
	mu     sync.Mutex
	events []string // bodies, in any order
	size   int      // greatest size of a page
	asked  []string // queries of the requests
	header http.Header
	// refuse answers the next requests instead of the list.
	refuse []http.HandlerFunc
}

func newAPI(t *testing.T) *api {
	a := &api{size: 100, header: http.Header{}}
	a.Server = httptest.NewServer(a)
	t.Cleanup(a.Close)
	return a
}

func body(id, eventType string, at time.Time) string {
	return fmt.Sprintf(`{"id":%q,"type":%q,"created_at":%q,"account_id":"acc_1","mode":"test","api_version":"v1","data":{"object":{"id":"cnt_%s","title":"A & B"}}}`,
		id, eventType, at.Format("2006-01-02T15:04:05.000Z"), id)
}

// happen adds an event at a time after noon.
func (a *api) happen(id, eventType string, after time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.events = append(a.events, body(id, eventType, noon.Add(after)))
}

func (a *api) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	query := req.URL.Query()
	a.asked = append(a.asked, req.URL.RawQuery)
	w.Header().Set("Date", noon.Format(http.TimeFormat))
	if len(a.refuse) > 0 {
		next := a.refuse[0]
		a.refuse = a.refuse[1:]
		next(w, req)
		return
	}
	if req.URL.Path != "/v1/events" || req.Header.Get("Authorization") != "Bearer "+testKey {
		refusing(401, "invalid_api_key")(w, req)
		return
	}
	var listed []map[string]any
	for _, e := range a.events {
		var m map[string]any
		_ = json.Unmarshal([]byte(e), &m)
		if from := query.Get("from"); from == "" || m["created_at"].(string) >= strings.TrimSuffix(from, "Z") {
			listed = append(listed, m)
		}
	}
	slices.SortStableFunc(listed, func(a, b map[string]any) int {
		return strings.Compare(a["created_at"].(string), b["created_at"].(string))
	})
	if query.Get("order") != "asc" {
		slices.Reverse(listed)
	}
	first, _ := strconv.Atoi(strings.TrimPrefix(query.Get("cursor"), query.Get("from")+"@"))
	last, limit := len(listed), 20
	if asked := query.Get("limit"); asked != "" {
		limit, _ = strconv.Atoi(asked)
	}
	var next *string
	if end := first + min(limit, a.size); end < last {
		cursor := query.Get("from") + "@" + strconv.Itoa(end)
		last, next = end, &cursor
	}
	for name, values := range a.header {
		w.Header()[name] = values
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"data": append([]map[string]any{}, listed[min(first, last):last]...),
		"error": nil, "request_id": "r", "next_cursor": next})
}

// refusing answers with an error; headers are pairs of name and value.
func refusing(status int, code string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		if code != "" {
			fmt.Fprintf(w, `{"data":null,"error":{"code":%q,"message":"Why.","type":"t"},"request_id":"r"}`, code)
		}
	}
}

// receiver is a developer's receiver.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	got    []request
	answer []int // statuses of the next responses, and then 204
	before func(*http.Request)
}

type request struct {
	header http.Header
	body   []byte
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			t.Error(err)
		}
		if r.before != nil {
			r.before(req)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.got = append(r.got, request{req.Header.Clone(), body})
		status := http.StatusNoContent
		if len(r.answer) > 0 {
			status, r.answer = r.answer[0], r.answer[1:]
		}
		if status/100 == 3 {
			w.Header().Set("Location", "/elsewhere")
		}
		w.WriteHeader(status)
	}))
	t.Cleanup(r.Close)
	return r
}

// ids returns the ids of the requests, in their order.
func (r *receiver) ids() string {
	var ids []string
	for _, g := range r.got {
		ids = append(ids, g.header.Get("webhook-id"))
	}
	return strings.Join(ids, " ")
}

// verify checks the signature of every request by the official library.
func (r *receiver) verify(t *testing.T, secret string) {
	t.Helper()
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range r.got {
		if err := verifier.Verify(g.body, g.header); err != nil {
			t.Errorf("%s: %v", g.header.Get("webhook-id"), err)
		}
	}
}

// session is a run of the command. Each wait runs the next step. After the last step, Ctrl-C
// interrupts the next wait.
type session struct {
	code       int
	out, notes string
	waits      []time.Duration
}

func start(t *testing.T, args []string, steps ...func()) session {
	return startIn(t.Context(), t, args, steps...)
}

func startIn(ctx context.Context, t *testing.T, args []string, steps ...func()) (s session) {
	t.Helper()
	ctx, interrupt := context.WithCancel(ctx)
	defer interrupt()
	var out, notes bytes.Buffer
	w := machine{out: &out, notes: &notes, getenv: func(string) string { return "" }, now: time.Now,
		random: rand.Reader}
	w.wait = func(ctx context.Context, d time.Duration) error {
		s.waits = append(s.waits, d)
		if len(steps) == 0 {
			interrupt()
			return ctx.Err()
		}
		steps[0]()
		steps = steps[1:]
		return ctx.Err()
	}
	s.code = run(ctx, args, w)
	s.out, s.notes = out.String(), notes.String()
	return s
}

// secret returns the secret that the command has printed.
func (s session) secret() string { return regexp.MustCompile(`whsec_\S+`).FindString(s.out) }

// listen returns the arguments of the command listen.
func listen(a *api, r *receiver, more ...string) []string {
	return append([]string{"listen", "--base-url", a.URL, "--api-key", testKey, "--forward-to",
		r.URL + "/hooks"}, more...)
}

func nothing() {}
