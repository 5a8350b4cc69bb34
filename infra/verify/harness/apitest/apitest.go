// Package apitest calls an area's operations as the gateway does, for its tests.
package apitest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/media"
	keyrecord "github.com/content-automation/api/pkg/record/apikey"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/store"
)

// Clock is a clock that a test moves.
type Clock struct {
	mu sync.Mutex
	at time.Time
}

// NewClock returns a clock that starts at noon of a day in spring.
func NewClock() *Clock { return &Clock{at: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)} }

// Now returns the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

// Add advances the clock.
func (c *Clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// Log is an audit log that keeps the calls.
type Log struct {
	mu    sync.Mutex
	calls []httpapi.Call
}

var _ httpapi.Recorder = (*Log)(nil)

// Record keeps a call.
func (l *Log) Record(_ context.Context, c httpapi.Call) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = append(l.calls, c)
	return nil
}

// Calls returns the recorded calls.
func (l *Log) Calls() []httpapi.Call {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]httpapi.Call(nil), l.calls...)
}

// Reset forgets the calls.
func (l *Log) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = nil
}

// Area registers operations.
type Area interface{ Register(r *httpapi.Router) }

// Caller calls operations like one API key.
type Caller struct {
	t      testing.TB
	db     *store.DB
	router http.Handler
	// known are the keys that the table has. It is nil unless they are kept.
	known *sync.Map
	// Principal is the principal that the authorizer returns for the key.
	Principal auth.Principal
	// Gateway is the gateway's data of each call.
	Gateway httpapi.Gateway
}

// New returns a caller with a test key that has all scopes, for the operations of the areas. Their changes are
// committed to db, and log is their audit log.
func New(t testing.TB, db *store.DB, log httpapi.Recorder, now func() time.Time, areas ...Area) *Caller {
	r := httpapi.NewRouter(db, log, now)
	for _, a := range areas {
		a.Register(r)
	}
	return &Caller{
		t: t, db: db, router: r,
		Principal: auth.Principal{
			Owner: tenant.Of(tenant.Account(id.New(id.Account, now())), tenant.Test),
			Actor: auth.Key(id.New(id.APIKey, now())), Scopes: auth.AllScopes(),
			Rate: auth.Rate{Limit: 60, Window: 60, Remaining: 59, Reset: 30},
		},
		Gateway: httpapi.Gateway{RequestID: "req-1", SourceIP: "198.51.100.7", UserAgent: "apitest"},
	}
}

// As returns a caller with another key.
func (c *Caller) As(change func(*auth.Principal)) *Caller {
	other := *c
	change(&other.Principal)
	return &other
}

// Kept has the caller write its key to the table before its first call, as do the callers that are made of it: what a
// call makes may act later, with the rights that the key has then. It returns the caller.
func (c *Caller) Kept() *Caller {
	c.known = &sync.Map{}
	return c
}

// keep writes the key of the caller, unless there is one.
func (c *Caller) keep() {
	c.t.Helper()
	if _, known := c.known.LoadOrStore(c.Principal.Account+"#"+tenant.Account(c.Principal.Actor.ID), true); !known &&
		c.Principal.Actor.Kind == auth.APIKey {
		c.ChangeKey(func(*keyrecord.Record) {})
	}
}

// ChangeKey changes the key of the caller in the table. A key that the table does not have is active and has all
// scopes.
func (c *Caller) ChangeKey(change func(*keyrecord.Record)) {
	c.t.Helper()
	k := keyrecord.Record{Key: keyrecord.Key{Kind: c.Principal.Mode, Scopes: auth.AllScopes(), State: keyrecord.Active}}
	k.ID = c.Principal.Actor.ID
	at := credential.KeyOf(c.Principal.Account, k.ID)
	it, err := c.db.Get(c.t.Context(), at)
	if err == nil {
		err = it.Decode(&k)
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		c.t.Fatal(err)
	}
	change(&k)
	it.Key, it.Kind, it.Owner = at, "api_key", tenant.Of(c.Principal.Account, "")
	if err := it.Encode(k); err != nil {
		c.t.Fatal(err)
	}
	tx := &store.Tx{}
	if it.Version == 0 {
		tx.Create(it, nil)
	} else {
		tx.Replace(it)
	}
	if err := c.db.Commit(c.t.Context(), tx); err != nil && !errors.Is(err, store.ErrConflict) {
		c.t.Fatal(err)
	}
}

// Without returns a caller whose key lacks some of the scopes.
func (c *Caller) Without(scopes ...auth.Scope) *Caller {
	return c.As(func(p *auth.Principal) {
		p.Scopes = slices.DeleteFunc(slices.Clone(p.Scopes),
			func(s auth.Scope) bool { return slices.Contains(scopes, s) })
	})
}

// Only returns a caller with another key, which has only the given scopes.
func (c *Caller) Only(scopes ...auth.Scope) *Caller {
	return c.As(func(p *auth.Principal) {
		p.Actor, p.Scopes = auth.Key(id.Derived(id.APIKey, time.UnixMilli(1), fmt.Sprint(scopes))), scopes
	})
}

// Live returns a caller with a live key of the same account.
func (c *Caller) Live() *Caller {
	return c.As(func(p *auth.Principal) { p.Mode = tenant.Live })
}

// Stranger returns a caller with a key of another account.
func (c *Caller) Stranger() *Caller {
	return c.As(func(p *auth.Principal) {
		p.Account = tenant.Account(id.Derived(id.Account, time.UnixMilli(1), string(p.Account)))
	})
}

// Answer is the answer to a call.
type Answer struct {
	Status int
	Header http.Header
	Raw    string

	Data  json.RawMessage `json:"data"`
	Error *struct {
		Code, Type, Message, Param string
		Details                    []errs.Detail
		Context                    json.RawMessage
	} `json:"error"`
	RequestID  string  `json:"request_id"`
	NextCursor *string `json:"next_cursor"`
}

// Call makes a call. A body that is a string is sent unchanged, any other but nil as JSON. Headers are pairs of a name
// and a value.
func (c *Caller) Call(method, path string, body any, headers ...string) Answer {
	c.t.Helper()
	if c.known != nil {
		c.keep()
	}
	var sent []byte
	switch b := body.(type) {
	case nil:
	case string:
		sent = []byte(b)
	default:
		var err error
		if sent, err = json.Marshal(b); err != nil {
			c.t.Fatal(err)
		}
	}
	g := c.Gateway
	var err error
	if g.Authorizer, err = c.Principal.Encode(); err != nil {
		c.t.Fatal(err)
	}
	req := httptest.NewRequest(method, path, bytes.NewReader(sent))
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	c.router.ServeHTTP(w, req.WithContext(httpapi.WithGateway(req.Context(), g)))
	a := Answer{Status: w.Code, Header: w.Header(), Raw: w.Body.String()}
	if strings.HasPrefix(w.Header().Get("Content-Type"), "text/csv") {
		return a
	}
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
		c.t.Fatalf("%s %s answers %d %q: %v", method, path, w.Code, a.Raw, err)
	}
	if a.RequestID != g.RequestID {
		c.t.Errorf("%s %s: request_id is %q", method, path, a.RequestID)
	}
	return a
}

// Into reads the data of an answer that must have the status.
func (a Answer) Into(t testing.TB, status int, v any) {
	t.Helper()
	if a.Status != status || a.Error != nil {
		t.Fatalf("answered %d %s, want %d", a.Status, a.Raw, status)
	}
	if err := json.Unmarshal(a.Data, v); err != nil {
		t.Fatalf("%v: %s", err, a.Raw)
	}
}

// Refused checks that the call was refused with the status, code and param.
func (a Answer) Refused(t testing.TB, status int, code errs.Code, param string) {
	t.Helper()
	if a.Error == nil || a.Status != status || a.Error.Code != string(code) || a.Error.Param != param {
		t.Errorf("answered %d %s, want %d %s of %q", a.Status, a.Raw, status, code, param)
	}
	if a.Error != nil && (a.Error.Message == "" || string(a.Data) != "null") {
		t.Errorf("answered %s: no message, or data", a.Raw)
	}
}

// Context checks the data about the error, which is compact JSON.
func (a Answer) Context(t testing.TB, want string) {
	t.Helper()
	if a.Error == nil || string(a.Error.Context) != want {
		t.Errorf("answered %s, want the context %s", a.Raw, want)
	}
}

// All reads a whole list, page by page.
func All[T any](c *Caller, path string, limit int) []T {
	c.t.Helper()
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	path += separator + "limit=" + strconv.Itoa(limit)
	var all []T
	const mostPages = 1000
	cursor := ""
	for range mostPages {
		a := c.Call(http.MethodGet, path+cursor, nil)
		var page []T
		a.Into(c.t, http.StatusOK, &page)
		if len(page) > limit {
			c.t.Fatalf("%s: a page has %d entries", path, len(page))
		}
		all = append(all, page...)
		if a.NextCursor == nil {
			return all
		}
		cursor = "&cursor=" + *a.NextCursor
	}
	c.t.Fatalf("%s has no end", path)
	return nil
}

// Unusable fails the test unless a member was refused: as invalid, or, if it is an id of nobody, as not found.
func (a Answer) Unusable(t testing.TB, param string) {
	t.Helper()
	if a.Status == http.StatusNotFound {
		a.Refused(t, a.Status, errs.NotFound, param)
		return
	}
	a.Refused(t, http.StatusUnprocessableEntity, errs.ValidationFailed, param)
}

// RefusedAs is Refused with the status of the code.
func (a Answer) RefusedAs(t testing.TB, code errs.Code, param string) {
	t.Helper()
	a.Refused(t, errs.InfoOf(code).Status, code, param)
}

// TopUp adds credits to the balance of an account.
func TopUp(t testing.TB, db *store.DB, now time.Time, account tenant.Account, credits int64) {
	t.Helper()
	tx := &store.Tx{}
	if _, err := ledger.TopUp(tx, now, account, credits); err != nil {
		t.Fatal(err)
	}
	if err := db.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
}

// Balance returns the credits that an account can spend.
func Balance(t testing.TB, db *store.DB, account tenant.Account) int64 {
	t.Helper()
	it, err := db.Get(t.Context(), ledger.BalanceKey(account))
	if err != nil {
		t.Fatal(err)
	}
	return ledger.BalanceOf(it).Credits
}

// Signer returns a signer of the files in a bucket that does not exist.
func Signer(t testing.TB, now func() time.Time, options ...func(*aws.Config)) *media.Signer {
	t.Helper()
	cfg := aws.Config{Region: "eu-central-1",
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "id", SecretAccessKey: "secret"}, nil
		})}
	for _, change := range options {
		change(&cfg)
	}
	signer, err := media.NewSigner(cfg, "bucket", now)
	if err != nil {
		t.Fatal(err)
	}
	return signer
}

// at returns the key of the count of a bound.
func at(b quota.Bound, kind string, o tenant.Owner, now time.Time) store.Key {
	key := "quota#" + kind + "#" + o.String()
	if b.Daily {
		key += "#" + now.UTC().Format(time.DateOnly)
	}
	return store.IDKey(key)
}

// FillQuotas counts so many resources of a kind that the owner's account and mode have room for one more.
func FillQuotas(t testing.TB, db *store.DB, b quota.Bound, kind string, o tenant.Owner, now time.Time) {
	t.Helper()
	most := b.Live
	if o.Mode == tenant.Test {
		most = b.Test
	}
	tx := &store.Tx{}
	tx.Count(at(b, kind, o, now), most-1-CountQuota(t, db, b, kind, o, now), math.MaxInt64, store.ErrConflict)
	if err := db.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
}

// CountQuota returns the resources of a kind that count.
func CountQuota(t testing.TB, db *store.DB, b quota.Bound, kind string, o tenant.Owner, now time.Time) int64 {
	t.Helper()
	items, err := db.GetAll(t.Context(), at(b, kind, o, now))
	if err != nil {
		t.Fatal(err)
	}
	return items[0].Count()
}

// QuotaCase is a bound and the calls that it is about.
type QuotaCase struct {
	DB    *store.DB
	Bound quota.Bound
	Kind  string
	Now   func() time.Time
	// Create makes a resource. The headers are those of Caller.Call.
	Create func(c *Caller, headers ...string) Answer
	// Remove ends a resource, or makes it count no more. It is nil if none is ended.
	Remove func(c *Caller, id string)
}

// Check checks that the bound holds for a caller. It leaves no room.
func (c QuotaCase) Check(t *testing.T, caller *Caller) {
	t.Helper()
	o, most := caller.Principal.Owner, c.Bound.Live
	if o.Mode == tenant.Test {
		most = c.Bound.Test
	}
	count := func(want int64) {
		t.Helper()
		if n := CountQuota(t, c.DB, c.Bound, c.Kind, o, c.Now()); n != want {
			t.Errorf("%d count, not %d", n, want)
		}
	}
	create := func(headers ...string) string {
		t.Helper()
		var made struct{ ID string }
		c.Create(caller, headers...).Into(t, http.StatusCreated, &made)
		return made.ID
	}
	refused := func() {
		t.Helper()
		before := storetest.Snapshot(t, c.DB)
		a := c.Create(caller)
		a.Refused(t, http.StatusConflict, errs.InvalidState, "")
		if a.Error != nil && !strings.Contains(a.Error.Message, c.Bound.Name) {
			t.Errorf("the error does not say what there are too many of: %s", a.Error.Message)
		}
		if storetest.Snapshot(t, c.DB) != before {
			t.Error("a call that is refused changes something")
		}
		count(most)
	}
	FillQuotas(t, c.DB, c.Bound, c.Kind, o, c.Now())
	key := "the last of " + c.Now().String()
	made := create("Idempotency-Key", key)
	if again := create("Idempotency-Key", key); again != made {
		t.Errorf("a repeat has made %s, not %s", again, made)
	}
	refused()
	if c.Remove != nil {
		c.Remove(caller, made)
		count(most - 1)
		create()
		refused()
	}
}
