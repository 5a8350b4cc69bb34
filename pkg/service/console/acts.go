package console

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/content-automation/api/pkg/area/audit/chain"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/proxy"
	"github.com/content-automation/api/pkg/record/connection"
	"github.com/content-automation/api/pkg/record/resource"
)

// The acts of people that no call of the API records, as the audit log names them.
const (
	signedInOperation  = "person.sign_in"
	signedOutOperation = "person.sign_out"
	// endedSessionOperation signs another browser of the person out.
	endedSessionOperation = "person.end_session"
)

// noteSignIn writes a sign-in to the audit log. Provider is the provider that the person came by, or empty. Reason is
// that of a refusal.
func (s *site) noteSignIn(r *http.Request, account tenant.Account, by auth.Actor, provider, reason string) {
	e := chain.Entry{OperationID: signedInOperation, Path: r.URL.Path, Status: http.StatusSeeOther}
	if provider != "" {
		e.Path += " " + connection.IDOf(provider)
	}
	if reason != "" {
		e.Status, e.ErrorCode = http.StatusForbidden, &reason
	}
	s.note(r, account, by, e)
}

// noteSignOn writes a change of sign-on to the audit log, with its error. The path has what it concerns, and no secret.
func (s *site) noteSignOn(r *http.Request, account tenant.Account, by auth.Actor, operation, path string, err error) {
	e := chain.Entry{OperationID: resource.Text(operation), Path: path, Status: http.StatusOK}
	if err != nil {
		found := errs.As(err)
		code := string(found.Code)
		e.Status, e.ErrorCode = errs.InfoOf(found.Code).Status, &code
	}
	s.note(r, account, by, e)
}

// note writes an entry to the audit log. A sign-in or sign-out has happened by then, so it stays even if this fails.
func (s *site) note(r *http.Request, account tenant.Account, by auth.Actor, e chain.Entry) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), noteTimeout)
	defer cancel()
	gateway, _ := proxy.Gateway(r.Context())
	now := s.Now()
	at := now
	if gateway.RequestTimeEpoch > 0 {
		at = time.UnixMilli(gateway.RequestTimeEpoch)
	}
	e.At, e.LatencyMS, e.Count, e.Method = resource.Instant(at), now.Sub(at).Milliseconds(), 1, resource.Text(r.Method)
	e.RequestID, e.IP = id.OfRequest(at, gateway.RequestID), resource.Text(gateway.Identity.SourceIP)
	e.UserAgent = resource.Text(r.UserAgent())
	if err := s.Audit(ctx, account, by, e); err != nil {
		slog.Error("audit entry lost", "request_id", e.RequestID, "operation_id", e.OperationID, "error", err)
	}
}

const noteTimeout = 3 * time.Second
