package e2e

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

// patience bounds every wait of a test. Instagram is asked only once a minute whether it has
// processed a file.
const patience = 3 * time.Minute

// operator returns the operator's services on the running system.
func operator() (*account.Service, *apikey.Service) {
	db := store.Open(running.AWS(), running.Table)
	accounts := account.NewService(db, time.Now)
	return accounts, apikey.NewService(db, accounts, time.Now, rand.Reader)
}

// customer is an account with a key of each kind.
type customer struct {
	t          *testing.T
	id         string
	test, live apikey.NewKey
}

// newCustomer makes an account on the enterprise plan whose keys have all scopes and may make
// many calls.
func newCustomer(t *testing.T, change ...func(*account.Settings)) *customer {
	t.Helper()
	accounts, _ := operator()
	name, limit := t.Name(), 10_000
	set := account.Settings{Name: &name, TestLimit: &limit, LiveLimit: &limit}
	for _, f := range change {
		f(&set)
	}
	a, err := accounts.Create(t.Context(), set)
	if err != nil {
		t.Fatal(err)
	}
	c := &customer{t: t, id: a.ID}
	c.test = c.key(tenant.Test, apikey.Settings{})
	c.live = c.key(tenant.Live, apikey.Settings{})
	return c
}

// key makes a key of the customer. Without scopes it gets all scopes.
func (c *customer) key(mode tenant.Mode, set apikey.Settings) apikey.NewKey {
	c.t.Helper()
	_, keys := operator()
	if set.Name == "" {
		set.Name = "e2e"
	}
	if set.Scopes == nil {
		set.Scopes = auth.AllScopes()
	}
	k, err := keys.Issue(c.t.Context(), tenant.Account(c.id), mode, set)
	if err != nil {
		c.t.Fatal(err)
	}
	note(k.Secret)
	return k
}

// answer is a response of the API.
type answer struct {
	t          *testing.T
	call       string
	Status     int             `json:"-"`
	Header     http.Header     `json:"-"`
	Raw        string          `json:"-"`
	Data       json.RawMessage `json:"data"`
	Error      *failure        `json:"error"`
	RequestID  string          `json:"request_id"`
	NextCursor *string         `json:"next_cursor"`
}

type failure struct {
	Code    string `json:"code"`
	Type    string `json:"type"`
	Message string `json:"message"`
	Param   string `json:"param"`
}

// call makes a call with a secret (empty for no key) and optional headers, as pairs of name and
// value. A string is sent as the body unchanged; nil sends none; other values are encoded as JSON.
func call(t *testing.T, secret, method, path string, body any, headers ...string) answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var reader io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(b)
	default:
		encoded, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		notePrivate(encoded, true)
		reader = strings.NewReader(string(encoded))
	}
	req, err := http.NewRequestWithContext(ctx, method, running.BaseURL+path, reader)
	if err != nil {
		t.Fatal(err)
	}
	if reader != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if secret != "" {
		req.Header.Set("Authorization", "Bearer "+secret)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	note(string(raw))
	fits(t, method, path, resp, raw)
	a := answer{t: t, call: method + " " + path, Status: resp.StatusCode, Header: resp.Header, Raw: string(raw)}
	if err := json.Unmarshal(raw, &a); err != nil {
		t.Fatalf("%s answered %d and no JSON: %v\n%s", a.call, a.Status, err, raw)
	}
	noteAnswer(a)
	// A repeat returns exactly the body of the first response, but its own header.
	if a.RequestID == "" || a.RequestID != a.Header.Get("X-Request-Id") && a.Header.Get("Idempotent-Replayed") == "" {
		t.Errorf("%s: request_id %q, X-Request-Id %q", a.call, a.RequestID, a.Header.Get("X-Request-Id"))
	}
	return a
}

// into reads the data of an answer that must have the status.
func into[T any](a answer, status int) T {
	a.t.Helper()
	var v T
	if a.Status != status {
		a.t.Fatalf("%s answered %d: %s", a.call, a.Status, a.Raw)
	}
	if err := json.Unmarshal(a.Data, &v); err != nil {
		a.t.Fatalf("%s: %v\n%s", a.call, err, a.Raw)
	}
	return v
}

// refused returns an error unless the response is the wanted refusal.
func (a answer) refused(status int, code string) error {
	if a.Status != status || a.Error == nil || a.Error.Code != code {
		return fmt.Errorf("%s answered %d, want %d %s: %s", a.call, a.Status, status, code, a.Raw)
	}
	if string(a.Data) != "null" || a.Error.Message == "" || a.Error.Type == "" {
		return fmt.Errorf("%s: the envelope is not whole: %s", a.call, a.Raw)
	}
	return nil
}

// object is a JSON object.
type object = map[string]any

// factory makes a factory and returns its id.
func (c *customer) factory(secret string) string {
	c.t.Helper()
	f := into[struct{ ID string }](call(c.t, secret, "POST", "/v1/factories", object{
		"type": "brand", "name": "Acme", "quality": "draft", "settings": object{"brand_name": "Acme"},
	}), http.StatusCreated)
	return f.ID
}

type logged struct {
	ID       string `json:"id"`
	EventID  string `json:"event_id"`
	State    string `json:"state"`
	Attempts []struct {
		Status *int    `json:"status"`
		Error  *string `json:"error"`
		Body   string  `json:"response_body"`
	} `json:"attempts"`
}

// contentPlan is a content plan.
type contentPlan struct {
	ID, State string
	Timezone  string
	StartsOn  string `json:"starts_on"`
	Items     struct{ Total, Generated, Failed, Canceled int64 }
	Reserved  int64 `json:"reserved_credits"`
	Cost      int64 `json:"cost_credits"`
	Estimate  int64 `json:"cost_estimate"`
}

type plannedItem struct {
	ID, State, Kind, Prompt string
	PublishAt               time.Time `json:"publish_at"`
}
