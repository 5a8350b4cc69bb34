package consent

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/quota"
)

// idleVisits bounds the entries of visits that use up no link, and so can be repeated.
var idleVisits = quota.Limit{Name: "callback", Most: 10, Window: time.Hour}

// record writes the end of an authorization to the audit log of its customer. The entry has no part of the query.
func (f *Flow) record(ctx context.Context, p page, began time.Time) {
	if p.of == nil {
		return
	}
	owner, id, g, now := p.of.it.Owner, p.of.state.subject, httpapi.GatewayOf(ctx), f.Now()
	ctx = context.WithoutCancel(ctx)
	if p.code == failedExpired || p.code == failedUsed || p.code == failedElsewhere {
		if _, err := idleVisits.Begin(ctx, f.DB, now, owner, id); err != nil {
			slog.Warn("visit of a callback not in the audit log", "subject", id, "code", p.code, "error", err)
			return
		}
	}
	if !g.ReceivedAt.IsZero() {
		began = g.ReceivedAt
	}
	err := f.Audit.Record(ctx, httpapi.Call{
		RequestID: g.RequestID, Principal: &auth.Principal{Owner: owner,
			Actor: auth.Actor{Kind: f.Kind, ID: id}},
		OperationID: f.Operation, Method: http.MethodGet, Path: f.Path, Status: p.Status, ErrorCode: p.code,
		IP: g.SourceIP, UserAgent: g.UserAgent, At: began, Latency: now.Sub(began),
	})
	if err != nil {
		slog.Error("audit entry lost", "request_id", g.RequestID, "operation_id", f.Operation,
			"subject", id, "error", err)
	}
}
