// Package audit keeps the log of every call with a known key for 90 days, and the operation that reads it. Start with
// Log.
package audit

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/auditlog"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// Keep is the time for which an entry can be read.
const Keep = auditlog.Keep

// Entry is one call, and Actor is who made it.
type (
	Entry = auditlog.Entry
	Actor = auditlog.Actor
)

// Log is the audit log. It is the Recorder of the HTTP side.
type Log struct {
	db     *store.DB
	now    func() time.Time
	region string
}

var _ httpapi.Recorder = (*Log)(nil)

// New makes a log in the given table.
func New(db *store.DB, now func() time.Time) *Log { return &Log{db: db, now: now} }

// In notes with each entry the region that writes it: a replica of the table has the entries of all regions.
func (l *Log) In(region string) *Log {
	l.region = region
	return l
}

// Record writes one call. It never writes a body, a header or a query, which may hold secrets.
func (l *Log) Record(ctx context.Context, c httpapi.Call) error {
	count := 1
	if refusal := c.Principal.Denial; refusal != nil {
		if count = standsFor(refusal.Count); count == 0 {
			return nil
		}
	}
	e := Entry{
		At: resource.Instant(c.At), RequestID: c.RequestID, OperationID: resource.Text(c.OperationID),
		Method: resource.Text(c.Method), Path: c.Path, Status: c.Status, IP: resource.Text(c.IP),
		UserAgent: resource.Text(c.UserAgent), LatencyMS: c.Latency.Milliseconds(), Count: count,
	}
	e.ErrorCode, e.Mandate = resource.OrNil(c.ErrorCode), resource.OrNil(c.Principal.MandateID())
	e.FactoryID, e.Kind = resource.OrNil(c.Concern.FactoryID), resource.OrNil(c.Concern.Kind)
	e.ProfileID = resource.OrNil(string(cmp.Or(c.Concern.ProfileID, c.Principal.Profile)))
	return auditlog.Write(ctx, l.db, l.region, c.Principal.Owner, c.Principal.Actor, e)
}

// Sampled refusals: the first everyRefusal of a key in a minute are all logged, then
// those of the thresholds, then each refusalStep.
const (
	everyRefusal = 10
	refusalStep  = 100
)

var refusalThresholds = []int{20, 50, 100}

// standsFor returns the number of refused calls that the entry of the nth stands for, or 0
// if the nth gets no entry. n is 0 if it is unknown.
func standsFor(n int) int {
	before := everyRefusal
	if n <= before {
		return 1
	}
	for _, threshold := range refusalThresholds {
		if n == threshold {
			return n - before
		}
		before = threshold
	}
	if n > before && n%refusalStep == 0 {
		return refusalStep
	}
	return 0
}

// Command is one run of an operator's command.
type Command struct {
	Operator string
	// Operation is the operation of the command, such as admin.account.update, and Line the
	// command without its flags, which may hold data that the customer must not see.
	Operation, Line string
	// Account is the account that it concerns; System if it concerns none.
	Account tenant.Account
	Err     error // nil if it succeeded
	Began   time.Time
}

// System is the account of the commands that concern no account.
const System tenant.Account = "system"

// RecordCommand writes one run of an operator's command. The live keys of the account list it.
func (l *Log) RecordCommand(ctx context.Context, c Command) error {
	now := l.now()
	e := Entry{
		At: resource.Instant(c.Began), OperationID: resource.Text(c.Operation), Path: c.Line, Status: http.StatusOK,
		UserAgent: "admin",
		LatencyMS: now.Sub(c.Began).Milliseconds(), Count: 1,
	}
	if c.Err != nil {
		code := string(errs.CodeOf(c.Err))
		e.ErrorCode = &code
		e.Status, _ = httpapi.Status(errs.CodeOf(c.Err))
	}
	by := auth.Actor{Kind: auth.Operator, ID: c.Operator}
	return auditlog.Write(ctx, l.db, l.region, tenant.Of(c.Account, tenant.Live), by, e)
}

var _ = format.Define("audit-kind", format.Format{
	Values: format.Words("post video carousel story music_clip image music voice avatar")})

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
	// Only requests for this operation. Any text is taken: the log also has operations that have ended, and acts such
	// as person.sign_in.
	OperationID string `query:"operation_id" example:"createFactory"`
	// Only requests that concerned this factory or its content.
	FactoryID string `query:"factory_id" example:"fac_01h455vb4pex5vsknk084sn02q"`
	// Only requests about this profile, and requests by API keys that are bound to it.
	ProfileID string `query:"profile_id" example:"prf_01h455vb4pex5vsknk084sn02q"`
	// Only requests that concerned content items or generations of the studio of this kind.
	Kind string `query:"kind" format:"audit-kind" example:"post"`
	// Only requests with this HTTP status, or with one of a class: 4xx.
	Status string `query:"status" format:"status-or-class"`
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
			auditlog.FactoryFilter: in.FactoryID, auditlog.ConcernFilter: in.ProfileID, auditlog.KindFilter: in.Kind},
	}
	if class, ok := strings.CutSuffix(in.Status, "xx"); ok {
		q.Prefixes = map[string][]string{"status": {class}}
	} else {
		q.Filters["status"] = in.Status
	}
	if in.WithoutReads {
		q.Bounds = map[string]store.Bound{auditlog.ReadFilter: {At: auditlog.NoRead}}
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
