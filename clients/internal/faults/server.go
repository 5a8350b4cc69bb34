package faults

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"
)

// table has the scenarios.
//
//go:embed scenarios.json
var table []byte

// Key is the key that clients use in scenarios that name none.
const Key = "svc_test_Ab0Ab0Ab0Ab0Ab0Ab0Ab0Ab0Ab0Ab0Ab0Ab0Ab0Ab0Ab0Ab0Z"

// Scenario is a call, how the service answers it, and what is to come of it.
type Scenario struct {
	Name, Why  string
	Key, Base  *string
	BaseSuffix string `json:"base_suffix"`
	// Insecure lets a client take a live key without https.
	Insecure  bool
	Retries   *int
	TimeoutMS int `json:"timeout_ms"`
	Call      Call
	Answers   []Answer
	// More reports whether further requests get the last answer: some runtimes repeat a lost request by themselves.
	More bool
	// Requests are what the service must receive, one for each answer. Members that are absent may be anything.
	Requests []Request
	Webhook  *Webhook
	Expect   Expect
}

// Call is what the client does: it calls an operation, reads all pages, waits, uploads a file, verifies a webhook, or
// makes or prints a client.
type Call struct {
	Op, Mode       string
	Path           []string
	Params         map[string]any
	Body           map[string]any
	Pad            int
	IdempotencyKey string `json:"idempotency_key"`
	IfMatch        any    `json:"if_match"` // a version, or an ETag
	Headers        map[string]string
	Until          []string
	WaitMS         int `json:"wait_ms"`
	Times, Take    int
	// File is what a client uploads: as bytes, or as a stream that it can read once.
	File   string
	Stream bool
}

// Answer is an answer of the service or of storage, or none. In its data, {store} is the address of storage.
type Answer struct {
	Status           int
	Data             map[string]any
	List             []map[string]any
	Next             *string
	Error            map[string]any
	Text             *string
	Headers          map[string]string
	Meta             any
	Pad              int
	Drop, Stall, Cut bool
}

// Request is what the service must receive.
type Request struct {
	Method, Path  string
	Query, Header map[string]string
	Body          map[string]any
}

// Webhook is a request that a receiver gets.
type Webhook struct {
	Secrets []string
	Now     int64
	Headers map[string]string
	Body    string
}

// Expect is what is to come of the call. Absent members may be anything.
type Expect struct {
	Data     map[string]any
	Length   map[string]int
	IDs      []string
	Error    *Failure
	Pauses   [][2]int64
	Attempts int
	Replayed *bool
}

// Failure is an error.
type Failure struct {
	Kind, Code, Param, State string
	Status                   int
	RequestID                string `json:"request_id"`
	RetryAfter               int    `json:"retry_after"`
	Details                  []string
	// Says is a part of its message.
	Says string
}

// Scenarios returns the table.
func Scenarios() (all []Scenario, err error) { return all, json.Unmarshal(table, &all) }

// run is a scenario as one client runs it.
type run struct {
	Scenario
	got    int
	keys   []string
	faults []string
}

func (r *run) fault(format string, args ...any) {
	r.faults = append(r.faults, fmt.Sprintf("request %d: ", r.got)+fmt.Sprintf(format, args...))
}

// Server answers the clients. The path of a scenario begins with /s/, the client and the name, and with /store/ and the
// same two for storage; /report/ and the same two tell what was wrong with the requests.
type Server struct {
	mu   sync.Mutex
	all  map[string]Scenario
	runs map[string]*run
	// patience bounds an answer that stalls.
	patience time.Duration
}

// Report returns what was wrong with the requests of a client.
func (s *Server) Report(client, name string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.runs[client+"/"+name]
	if r == nil {
		r = &run{Scenario: s.all[name]}
	}
	return r.report()
}

// NewServer returns the service.
func NewServer() (*Server, error) {
	list, err := Scenarios()
	s := &Server{all: map[string]Scenario{}, runs: map[string]*run{}, patience: 5 * time.Second}
	for _, one := range list {
		s.all[one.Name] = one
	}
	return s, err
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.URL.Path == "/scenarios" {
		_, _ = w.Write(table)
		return
	}
	parts := strings.SplitN(strings.TrimPrefix(req.URL.EscapedPath(), "/"), "/", 4)
	if len(parts) < 3 || s.all[parts[2]].Name == "" {
		http.NotFound(w, req)
		return
	}
	s.mu.Lock()
	r := s.runs[parts[1]+"/"+parts[2]]
	if r == nil {
		r = &run{Scenario: s.all[parts[2]]}
		s.runs[parts[1]+"/"+parts[2]] = r
	}
	if parts[0] == "report" {
		_ = json.NewEncoder(w).Encode(map[string]any{"faults": r.report()})
		s.mu.Unlock()
		return
	}
	body, _ := io.ReadAll(req.Body)
	var a Answer
	if parts[0] == "store" {
		a = r.stored(req, body)
	} else {
		a = r.take(req, "/"+strings.Join(parts[3:], "/"), body)
	}
	n := r.got
	s.mu.Unlock()
	s.answer(w, req, a, n, "http://"+req.Host+"/store/"+parts[1]+"/"+parts[2])
}

// report returns what was wrong, the answers that were not fetched included.
func (r *run) report() []string {
	all := append([]string{}, r.faults...)
	if r.got < len(r.Answers) {
		all = append(all, fmt.Sprintf("%d requests came, not %d", r.got, len(r.Answers)))
	}
	distinct := map[string]bool{}
	for _, k := range r.keys {
		distinct[k] = true
	}
	if want := max(r.Call.Times, 1); len(r.keys) > 0 && len(distinct) != want {
		all = append(all, fmt.Sprintf("the requests have %d idempotency keys, not %d", len(distinct), want))
	}
	return all
}

// take checks a request, and returns its answer.
func (r *run) take(req *http.Request, path string, body []byte) Answer {
	r.got++
	if got := req.Header.Get("Authorization"); got != "Bearer "+Key {
		r.fault("Authorization is %q", got)
	}
	if got := req.UserAgent(); !strings.Contains(got, "content-automation-") {
		r.fault("User-Agent is %q", got)
	}
	key := req.Header.Get("Idempotency-Key")
	if (req.Method == http.MethodGet) != (key == "") {
		r.fault("%s has the Idempotency-Key %q", req.Method, key)
	}
	if key != "" {
		r.keys = append(r.keys, key)
	}
	return r.next(req, path, body)
}

// stored checks a request to storage, and returns its answer.
func (r *run) stored(req *http.Request, body []byte) Answer {
	r.got++
	if got := req.Header.Get("Authorization"); got != "" {
		r.fault("storage gets Authorization %q", got)
	}
	if req.ContentLength != int64(len(body)) || string(body) != r.Call.File {
		r.fault("storage gets %q of the length %d, not %q", body, req.ContentLength, r.Call.File)
	}
	return r.next(req, "/", body)
}

// next compares a request with what was to come, and returns its answer.
func (r *run) next(req *http.Request, path string, body []byte) Answer {
	if r.got <= len(r.Requests) {
		r.compare(r.Requests[r.got-1], req, path, body)
	}
	if r.got > len(r.Answers) && r.More {
		return r.Answers[len(r.Answers)-1]
	}
	if r.got > len(r.Answers) {
		r.fault("no request was to come")
		return Answer{Status: http.StatusNotImplemented, Text: new(string)}
	}
	return r.Answers[r.got-1]
}

func (r *run) compare(want Request, req *http.Request, path string, body []byte) {
	if want.Method != "" && req.Method != want.Method {
		r.fault("it is %s, want %s", req.Method, want.Method)
	}
	if want.Path != "" && path != want.Path {
		r.fault("its path is %s, want %s", path, want.Path)
	}
	if want.Query != nil {
		got := map[string]string{}
		for name, values := range req.URL.Query() {
			got[name] = strings.Join(values, "|")
		}
		if from, err := time.Parse(time.RFC3339Nano, got["from"]); err == nil {
			got["from"] = from.UTC().Format(time.RFC3339)
		}
		if !reflect.DeepEqual(got, want.Query) {
			r.fault("its query is %v, want %v", got, want.Query)
		}
	}
	for name, value := range want.Header {
		if got := req.Header.Get(name); got != value {
			r.fault("%s is %q, want %q", name, got, value)
		}
	}
	var got map[string]any
	if want.Body != nil && (json.Unmarshal(body, &got) != nil || !reflect.DeepEqual(got, want.Body)) {
		r.fault("its body is %s, want %v", body, want.Body)
	}
}

// answer writes an answer.
func (s *Server) answer(w http.ResponseWriter, req *http.Request, a Answer, n int, store string) {
	if a.Stall {
		select {
		case <-req.Context().Done():
		case <-time.After(s.patience):
		}
	}
	if a.Drop || a.Stall {
		panic(http.ErrAbortHandler)
	}
	var body []byte
	if a.Text != nil {
		body = []byte(*a.Text)
	} else {
		whole := map[string]any{"data": nil, "error": nil, "request_id": "req_" + strconv.Itoa(n)}
		switch {
		case a.Error != nil:
			whole["error"] = a.Error
		case a.List != nil:
			whole["data"], whole["next_cursor"] = a.List, a.Next
		default:
			whole["data"] = a.Data
		}
		if a.Pad > 0 {
			a.Data["caption"] = strings.Repeat("x", a.Pad)
		}
		if a.Meta != nil {
			whole["meta"] = a.Meta
		}
		body, _ = json.Marshal(whole)
		body = []byte(strings.NewReplacer("{key}", Key, "{store}", store).Replace(string(body)))
		w.Header().Set("Content-Type", "application/json")
	}
	for name, value := range a.Headers {
		w.Header().Set(name, value)
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(a.Status)
	if a.Cut {
		_, _ = w.Write(body[:len(body)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(body)
}
