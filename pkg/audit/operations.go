package audit

import (
	"context"
	"net/http"
	"slices"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/errs"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/id"
	"github.com/content-automation/api/pkg/store"
)

type listInput struct {
	httpapi.PageInput
	httpapi.Period
	KeyID       string `query:"key_id" doc:"Only requests of this API key"`
	OperationID string `query:"operation_id" doc:"Only requests for this operation" example:"createFactory"`
	Status      string `query:"status" pattern:"^[1-5][0-9]{2}$" doc:"Only requests with this HTTP status" example:"429"`
	RequestID   string `query:"request_id" maxLength:"128" doc:"Only the request with this id"`
}

// Register puts the operation of the area into the router.
func (l *Log) Register(r *httpapi.Router) {
	httpapi.List(r, httpapi.Op{
		ID: "listAuditEntries", Method: http.MethodGet, Path: "/v1/audit-log", Scope: auth.AccountManage, Function: "account", Tag: "Account",
		Summary:     "List the requests of the last 90 days",
		Description: "Lists every request with a known key, including refused ones, newest first. A live key lists live requests, a test key those of the sandbox.",
		Errors:      []errs.Code{errs.InvalidCursor},
	}, l.list)
}

func (l *Log) list(ctx context.Context, in *listInput) (httpapi.Page[Entry], error) {
	p := auth.FromContext(ctx)
	from, to, err := in.Bounds(id.AuditEntry)
	if err != nil {
		return httpapi.Page[Entry]{}, err
	}
	q := store.Query{
		Index: store.Table, Partition: p.Owner.String(), From: from, To: to,
		Filters: map[string]string{"key_id": in.KeyID, "operation_id": in.OperationID, "status": in.Status},
	}
	if in.RequestID != "" {
		// The index has no order of its own. One request has one entry, so that the
		// period can be looked at afterwards.
		q.Index, q.Partition, q.From, q.To = store.ByRequest, in.RequestID, "", ""
		q.Filters["owner"] = p.Owner.String()
	}
	page, err := httpapi.ListItems(ctx, l.db, q, in.PageInput, func(it store.Item) (e Entry, err error) {
		return e, it.Decode(&e)
	})
	page.Items = slices.DeleteFunc(page.Items, func(e Entry) bool { return !in.Contains(e.At) })
	return page, err
}
