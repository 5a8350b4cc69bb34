package webhook

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/id"
	"github.com/content-automation/api/pkg/safehttp"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/store/storetest"
)

// clock is a time that tests move.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// noAudit is an audit log that keeps nothing.
type noAudit struct{}

func (noAudit) Record(context.Context, httpapi.Call) error { return nil }

// caller calls the operations of the area as one key does.
type caller struct {
	t         *testing.T
	router    http.Handler
	principal auth.Principal
}

func newCaller(t *testing.T, db *store.DB, c *clock, urls URLChecker) *caller {
	r := httpapi.NewRouter(db, noAudit{}, c.now)
	NewService(db, urls, c.now, rand.Reader).Register(r)
	return &caller{t: t, router: r, principal: auth.Principal{
		Account: id.New(id.Account, c.now()), KeyID: id.New(id.APIKey, c.now()), Mode: auth.Test,
		Scopes: []auth.Scope{auth.WebhooksManage},
	}}
}

// as gives a caller of another account, or with another mode.
func (c *caller) as(account string, mode auth.Mode) *caller {
	other := *c
	other.principal.Account, other.principal.Mode = account, mode
	return &other
}

// answer is an answer of the API.
type answer struct {
	status int
	header http.Header
	body   []byte
	Data   json.RawMessage
	Next   *string `json:"next_cursor"`
	Error  *struct {
		Code, Message, Param string
	}
}

// into reads the data of a successful answer.
func (a answer) into(t *testing.T, v any) {
	t.Helper()
	if a.Error != nil {
		t.Fatalf("status %d: %+v", a.status, *a.Error)
	}
	if err := json.Unmarshal(a.Data, v); err != nil {
		t.Fatal(err)
	}
}

func (c *caller) call(method, path string, body any, headers ...string) answer {
	c.t.Helper()
	var b []byte
	if body != nil {
		var err error
		if b, err = json.Marshal(body); err != nil {
			c.t.Fatal(err)
		}
	}
	context, err := c.principal.Encode()
	if err != nil {
		c.t.Fatal(err)
	}
	req := httptest.NewRequest(method, path, bytes.NewReader(b))
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	c.router.ServeHTTP(w, req.WithContext(httpapi.WithGateway(req.Context(), httpapi.Gateway{RequestID: "req", Authorizer: context})))
	a := answer{status: w.Code, header: w.Header(), body: w.Body.Bytes()}
	if err := json.Unmarshal(a.body, &a); err != nil {
		c.t.Fatalf("%s %s answers %d %q: %v", method, path, w.Code, a.body, err)
	}
	return a
}

// refused checks that a call was refused with the status, the code and the
// place of the fault.
func (a answer) refused(t *testing.T, status int, code, param string) {
	t.Helper()
	if a.Error == nil || a.status != status || a.Error.Code != code || a.Error.Param != param {
		t.Errorf("answered %d %s, want %d %s %s", a.status, a.body, status, code, param)
	}
}

// create makes a webhook.
func (c *caller) create(url string, types ...string) NewWebhook {
	c.t.Helper()
	var w NewWebhook
	a := c.call(http.MethodPost, "/v1/webhooks", map[string]any{"url": url, "event_types": types})
	a.into(c.t, &w)
	return w
}

// local is the client of the local system: it may call loopback addresses.
func local() *safehttp.Client { return NewClient(true) }

// on opens a table and a caller of its operations.
func on(t *testing.T) (*store.DB, *clock, *caller) {
	c := newClock()
	db := storetest.Open(t, c.now)
	return db, c, newCaller(t, db, c, local())
}

// holds tells whether a text is anywhere in the bytes.
func holds(b []byte, s string) bool { return strings.Contains(string(b), s) }
