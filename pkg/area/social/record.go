package social

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/attempts"
)

// CallbackOperation is the operation of the callback in the audit log.
const CallbackOperation = "social.callback"

// idleVisits bounds the entries of visits that use up no link, and so can be repeated.
var idleVisits = attempts.Limit{Name: "callback", Most: 10, Window: time.Hour}

// record writes the end of an authorization to the audit log of its customer. The entry has no part
// of the query.
func (s *Service) record(ctx context.Context, p page, began time.Time) {
	if p.of == nil {
		return
	}
	owner, id, g, now := p.of.it.Owner, p.of.record.ID, httpapi.GatewayOf(ctx), s.now()
	ctx = context.WithoutCancel(ctx)
	if p.code == failedExpired || p.code == failedUsed || p.code == failedElsewhere {
		if _, err := idleVisits.Begin(ctx, s.db, now, owner, id); err != nil {
			slog.Warn("visit of a callback not in the audit log", "social_account_id", id, "code", p.code, "error", err)
			return
		}
	}
	if !g.ReceivedAt.IsZero() {
		began = g.ReceivedAt
	}
	err := s.audit.Record(ctx, httpapi.Call{
		RequestID: g.RequestID, Principal: &auth.Principal{Owner: owner,
			Actor: auth.Actor{Kind: auth.SocialAccount, ID: id}},
		OperationID: CallbackOperation, Method: http.MethodGet, Path: CallbackPath, Status: p.Status, ErrorCode: p.code,
		IP: g.SourceIP, UserAgent: g.UserAgent, At: began, Latency: now.Sub(began),
	})
	if err != nil {
		slog.Error("audit entry lost", "request_id", g.RequestID, "operation_id", CallbackOperation,
			"social_account_id", id, "error", err)
	}
}
