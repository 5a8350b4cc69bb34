package auth_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/authorizer"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/store"
)

// service is an authorizer with the function behind it, which has one operation.
type service struct {
	authorizer *authorizer.Authorizer
	router     *httpapi.Router
	audit      *apitest.Log
	key        string
	// ran counts the runs of the operation.
	ran int
}

func newService(t *testing.T) (*service, *storetest.Faults) {
	faults, clock := &storetest.Faults{}, func() time.Time { return now }
	db := storetest.Open(t, clock, faults.Attach)
	s := &service{audit: &apitest.Log{}, key: newKey(t, tenant.Test)}
	known := good()
	known.Hash = auth.HashKey(s.key)
	known.Scopes = []string{"content:read"}
	known.Owner.Mode = tenant.Test
	it, err := store.NewItem("api_key", known.Owner, known.KeyID, struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	it.Key = credential.KeyOf(known.Account, known.KeyID)
	tx := &store.Tx{}
	tx.Create(it, nil)
	credential.Create(tx, known)
	if err := db.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	s.authorizer = authorizer.New(credential.NewCounter(db, clock), nil, authorizer.Scopes, clock)
	s.router = httpapi.NewRouter(db, s.audit, clock)
	httpapi.Read(s.router, httpapi.Op{ID: "listContentItems", Method: http.MethodGet, Path: "/v1/content-items",
		Scope: auth.ContentRead, Function: "content"},
		func(context.Context, *struct{}) (string, error) { s.ran++; return "read", nil })
	return s, faults
}

// get makes a call as the gateway does.
func (s *service) get(t *testing.T, c call) (*httptest.ResponseRecorder, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // of the authorizer
	defer cancel()
	allowed, err := s.authorizer.Handle(ctx, c)
	if err != nil || allowed.PolicyDocument.Statement[0].Effect != "Allow" || allowed.PrincipalID == "" {
		t.Fatalf("%+v, %v", allowed, err)
	}
	if ctx.Err() != nil {
		t.Error("the authorizer has used all of its time")
	}
	req := httptest.NewRequest(c.HTTPMethod, c.Resource, nil)
	w := httptest.NewRecorder()
	s.router.ServeHTTP(w, req.WithContext(httpapi.WithGateway(t.Context(),
		httpapi.Gateway{RequestID: "req-1", Authorizer: allowed.Context})))
	var body struct {
		Error struct{ Code string }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	return w, body.Error.Code
}

func TestACallWhoseKeyCannotBeLookedUpIs503(t *testing.T) {
	const forever = 1000
	for name, fault := range map[string]func(*storetest.Faults){
		"throttled": func(f *storetest.Faults) {
			f.Reject("UpdateItem",
				"ThrottlingException", forever)
		},
		"a hot partition": func(f *storetest.Faults) {
			f.Reject("UpdateItem",
				"ProvisionedThroughputExceededException", forever)
		},
		"a limit of the account": func(f *storetest.Faults) {
			f.Reject("UpdateItem",
				"RequestLimitExceeded", forever)
		},
		"it fails": func(f *storetest.Faults) {
			f.Reject("UpdateItem",
				"InternalServerError", forever)
		},
		"it is down": func(f *storetest.Faults) {
			f.Break("UpdateItem",
				http.StatusServiceUnavailable, forever)
		},
		"there is no connection": func(f *storetest.Faults) { f.Disconnect("UpdateItem", forever) },
		"it is silent":           func(f *storetest.Faults) { f.Hang("UpdateItem", forever) },
		"no window opens": func(f *storetest.Faults) {
			f.Reject("TransactWriteItems",
				"ThrottlingException", forever)
		},
		"silent as a window opens": func(f *storetest.Faults) { f.Hang("TransactWriteItems", forever) },
	} {
		t.Run(name, func(t *testing.T) {
			storetest.InMemory(t)
			synctest.Test(t, func(t *testing.T) {
				s, faults := newService(t)
				fault(faults)
				w, code := s.get(t, read(s.key))
				if w.Code != http.StatusServiceUnavailable || code != "provider_unavailable" ||
					w.Header().Get("Retry-After") != "1" {
					t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
				}
				if s.ran != 0 || len(s.audit.Calls()) != 0 {
					t.Errorf("the operation ran %d times, and the audit log has %+v", s.ran, s.audit.Calls())
				}
				faults.Reset()
				if w, _ := s.get(t, read(s.key)); w.Code != http.StatusOK || s.ran != 1 || len(s.audit.Calls()) != 1 {
					t.Errorf("then: %d %s", w.Code, w.Body)
				}
			})
		})
	}
}

// A call that is refused is counted; if that is not possible, the refusal waits.
func TestARefusalThatCannotBeCountedIs503(t *testing.T) {
	storetest.InMemory(t)
	synctest.Test(t, func(t *testing.T) {
		s, faults := newService(t)
		if w, _ := s.get(t, read(s.key)); w.Code != http.StatusOK { // opens the window
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		c := read(s.key)
		c.HTTPMethod = http.MethodPost // needs another scope
		faults.Before("UpdateItem", func() {})
		faults.Reject("UpdateItem", "ThrottlingException", 1000)
		if w, code := s.get(t, c); w.Code != http.StatusServiceUnavailable || code != "provider_unavailable" {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		faults.Reset()
		if w, code := s.get(t, c); w.Code != http.StatusForbidden || code != string(errs.InsufficientScope) {
			t.Errorf("then: %d %s", w.Code, w.Body)
		}
	})
}
