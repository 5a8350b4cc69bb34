package audit

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/area/audit/chain"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/store"
)

type listInput struct {
	httpapi.PageInput
	httpapi.Period
	// Only requests of this API key.
	KeyID string `query:"key_id"`
	// Only requests of this person in the account area.
	PersonID string `query:"person_id" example:"usr_01h455vb4pex5vsknk084sn02q"`
	// true: without what people have read in the account area, whose pages make several requests each. Their changes
	// and sign-ins stay.
	WithoutReads bool `query:"exclude_person_reads"`
	// Only requests for this operation.
	OperationID string `query:"operation_id" example:"createFactory"`
	// Only requests that concerned this factory or its content.
	FactoryID string `query:"factory_id" example:"fac_01h455vb4pex5vsknk084sn02q"`
	// Only requests about this profile, and requests by API keys that are bound to it.
	ProfileID string `query:"profile_id" example:"prf_01h455vb4pex5vsknk084sn02q"`
	// Only requests that concerned content items or generations of the studio of this kind.
	Kind string `query:"kind" maxLength:"32" example:"post"`
	// Only requests with this HTTP status, or with one of a class: 4xx.
	Status string `query:"status" pattern:"^[1-5]([0-9]{2}|xx)$" example:"429"`
	// Only the request with this id.
	RequestID string `query:"request_id" maxLength:"128"`
}

// Register puts the operation of the area into the router.
func (l *Log) Register(r *httpapi.Router) {
	httpapi.List(r, httpapi.Op{
		ID: "listAuditEntries", Method: http.MethodGet, Path: "/v1/audit-log", Scope: auth.AccountManage,
		AccountWide: true,
		Function:    "account", Tag: "Account",
		Summary: "List the requests of the last 90 days",
		Description: "Lists the requests with a known key, including refused ones, newest first. A live key lists " +
			"live requests and the changes that operators of the service have made, a test key the requests of the " +
			"sandbox.\n\nOf many requests of a key that are refused within a minute, the first 10 have an entry " +
			"each; after that, one entry stands for several, as its `count` says.",
		Errors: []errs.Code{errs.InvalidCursor}, Opens: httpapi.Nothing,
	}, l.list)
}

// entryOf reads an entry. One that was written before there were actors and counts is of
// a key, and stands for one request.
func entryOf(it store.Item) (e Entry, err error) {
	if err := it.Decode(&e); err != nil {
		return e, err
	}
	e.Count = max(e.Count, 1)
	if e.Actor.Kind == "" && e.KeyID != nil {
		e.Actor = Actor{Kind: string(auth.APIKey), ID: *e.KeyID}
	}
	return e, nil
}

func (l *Log) list(ctx context.Context, in *listInput) (httpapi.Page[Entry], error) {
	p := auth.FromContext(ctx)
	from, to, err := in.Bounds(id.AuditEntry)
	if err != nil {
		return httpapi.Page[Entry]{}, err
	}
	q := store.Query{
		Index: store.Table, Partition: p.Owner.String(), From: from, To: to,
		Filters: map[string]string{"key_id": in.KeyID, "person_id": in.PersonID, "operation_id": in.OperationID,
			chain.FactoryFilter: in.FactoryID, chain.ConcernFilter: in.ProfileID, chain.KindFilter: in.Kind},
	}
	if class, ok := strings.CutSuffix(in.Status, "xx"); ok {
		q.Prefixes = map[string][]string{"status": {class}}
	} else {
		q.Filters["status"] = in.Status
	}
	if in.WithoutReads {
		q.Bounds = map[string]store.Bound{chain.ReadFilter: {At: chain.NoRead}}
	}
	if in.RequestID != "" {
		at, ok := httpapi.RequestTime(in.RequestID)
		if !ok || !in.Contains(at) {
			return httpapi.Page[Entry]{Items: []Entry{}}, nil
		}
		// The id of an entry begins with the time of its request, and so does the id of the
		// request: no index is needed.
		q.From, q.To = id.First(id.AuditEntry, at), id.First(id.AuditEntry, at.Add(time.Millisecond))
		q.Filters["request"] = in.RequestID
	}
	return httpapi.ListItems(ctx, l.db, q, in.PageInput, entryOf)
}
