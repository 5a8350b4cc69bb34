package console

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/audit/chain"
)

// A sign-in and a sign-out are in the audit log under the person, and an entry is found by the id of its request.
func TestSignInsAndSignOutsAreInTheAuditLog(t *testing.T) {
	s := start(t)
	b := s.browser(t)
	s.signIn(b, "owner@demo.example")
	if p := b.post("/auth/sign-out", url.Values{}); p.status != http.StatusOK {
		t.Fatalf("%d: %s", p.status, p.body)
	}
	var actors []string
	for _, operation := range []string{"person.sign_in", "person.sign_out"} {
		e := s.entry(t, operation)
		if e.Actor.Kind != "person" || !strings.HasPrefix(e.Actor.ID, "usr_") || e.IP != "127.0.0.1" ||
			!strings.HasPrefix(e.Path, "/auth/") || e.ErrorCode != nil || e.Count != 1 {
			t.Errorf("%+v", e)
		}
		actors = append(actors, e.Actor.ID)
		if found := s.entries(t, "request_id="+e.RequestID); len(found) != 1 {
			t.Errorf("the request %s has %d entries", e.RequestID, len(found))
		}
	}
	if actors[0] != actors[1] {
		t.Errorf("%v", actors)
	}
}

// Somebody who is not admitted is in the audit log of the account that knows them.
func TestARefusedSignInIsInTheAuditLog(t *testing.T) {
	s := start(t)
	s.clock.advance(8 * 24 * time.Hour) // the invitations have expired
	if p := s.signIn(s.browser(t), "developer@demo.example"); p.status != http.StatusForbidden {
		t.Fatalf("%d: %s", p.status, p.body)
	}
	e := s.entry(t, "person.sign_in")
	if e.Actor.Kind != "person" || !strings.HasPrefix(e.Actor.ID, "usr_") || e.Status != http.StatusForbidden ||
		e.ErrorCode == nil || *e.ErrorCode != "uninvited" {
		t.Errorf("%+v", e)
	}
}

// entries returns the entries of a filter.
func (s *system) entries(t *testing.T, filter string) []chain.Entry {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.BaseURL+"/v1/audit-log?"+filter, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.Live)
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var out struct{ Data []chain.Entry }
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%d, %v", resp.StatusCode, err)
	}
	return out.Data
}

// entry returns the only entry of an operation.
func (s *system) entry(t *testing.T, operation string) chain.Entry {
	t.Helper()
	found := s.entries(t, "operation_id="+operation)
	if len(found) != 1 {
		t.Fatalf("%s has the entries %+v", operation, found)
	}
	return found[0]
}
