package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi"
)

// slowLog is an audit log that reports whether there was time to write.
type slowLog struct {
	log
	err      error
	deadline time.Time
}

func (l *slowLog) Record(ctx context.Context, c httpapi.Call) error {
	l.err = ctx.Err()
	l.deadline, _ = ctx.Deadline()
	return l.log.Record(ctx, c)
}

func TestACallThatTakesTooLongIsAudited(t *testing.T) {
	l := &slowLog{}
	r := httpapi.NewRouter(nil, l, time.Now)
	httpapi.Read(r, httpapi.Op{ID: "wait", Method: http.MethodGet, Path: "/v1/wait", Scope: auth.AccountRead,
		Function: "things"},
		func(ctx context.Context, _ *struct{}) (thing, error) {
			<-ctx.Done()
			return thing{}, ctx.Err()
		})
	p := auth.Principal{Owner: tenant.Of("acc_1", tenant.Test), Actor: auth.Key("key_1"), Scopes: auth.AllScopes()}
	authorizer, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	end, _ := ctx.Deadline()
	w := httptest.NewRecorder()
	req := httptest.NewRequest(http.MethodGet, "/v1/wait", nil)
	r.ServeHTTP(w, req.WithContext(httpapi.WithGateway(ctx,
		httpapi.Gateway{RequestID: "req-1", Authorizer: authorizer})))
	if w.Code != http.StatusGatewayTimeout {
		t.Errorf("answered %d %s", w.Code, w.Body)
	}
	if len(l.calls) != 1 || l.calls[0].Status != http.StatusGatewayTimeout || l.calls[0].ErrorCode != "timeout" {
		t.Errorf("recorded %+v", l.calls)
	}
	if l.err != nil || !l.deadline.After(end) || l.deadline.After(end.Add(time.Second)) {
		t.Errorf("the entry was to be written until %v, %v after the call's end: %v", l.deadline,
			l.deadline.Sub(end), l.err)
	}
}
