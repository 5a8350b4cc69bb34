// Package audit keeps the log of every call with a known key for 90 days, and
// the operation that reads it.
package audit

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/area/audit/chain"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// Keep is the time for which an entry can be read.
const Keep = chain.Keep

// longest is the number of characters that are kept of a text that the caller chose.
const longest = 512

// Entry is one call.
type Entry struct {
	ID          string        `json:"id" doc:"Id of the entry"`
	At          resource.Time `json:"at" doc:"Time at which the gateway received the request, UTC"`
	RequestID   string        `json:"request_id" doc:"Id of the request"`
	Actor       Actor         `json:"actor" doc:"Who made the request"`
	KeyID       *string       `json:"key_id" doc:"API key of the request. Null if it was not made with an API key"`
	OperationID string        `json:"operation_id" doc:"operationId. Empty if the path or method is unknown. A change by an operator of the service is named admin.…, such as admin.account.update. social.callback: the end of a connection by OAuth" example:"createFactory"`
	Method      string        `json:"method" doc:"HTTP method. Empty for a change by an operator" example:"POST"`
	Path        string        `json:"path" doc:"Path, without the query. For a change by an operator, the command" example:"/v1/factories"`
	Status      int           `json:"status" doc:"HTTP status of the response" example:"201"`
	ErrorCode   *string       `json:"error_code" doc:"Error code; of social.callback the error that the return_url is sent, link_used or internal. Null if the request succeeded"`
	IP          string        `json:"ip" doc:"Address of the caller"`
	UserAgent   string        `json:"user_agent" doc:"User-Agent of the caller. Empty if none was sent"`
	LatencyMS   int64         `json:"latency_ms" doc:"Milliseconds from receipt by the gateway to the response"`
	Count       int           `json:"count" doc:"Number of requests for which the entry stands. More than 1 for one of many requests of a key that were refused within a minute"`
}

// Actor is who makes a request.
type Actor struct {
	Kind string `json:"kind" enum:"api_key,person,operator,social_account,directory" doc:"Kind of actor. operator: an operator of the service. directory: the customer's directory, which calls SCIM. social_account: a browser in which access to a social account was granted or denied"`
	ID   string `json:"id" doc:"Id of the API key, person, social account or sign-on connection, or name of the operator"`
}

// Log is the audit log. It is the Recorder of the HTTP side.
type Log struct {
	db     *store.DB
	now    func() time.Time
	region string
}

var _ httpapi.Recorder = (*Log)(nil)

// New makes a log in the given table.
func New(db *store.DB, now func() time.Time) *Log { return &Log{db: db, now: now} }

// In notes with each entry the region that writes it: a replica of the table has the
// entries of all regions.
func (l *Log) In(region string) *Log {
	l.region = region
	return l
}

// Record writes one call. It never writes a body, a header or a query, which may
// hold secrets.
func (l *Log) Record(ctx context.Context, c httpapi.Call) error {
	count := 1
	if refusal := c.Principal.Denial; refusal != nil {
		if count = standsFor(refusal.Count); count == 0 {
			return nil
		}
	}
	e := Entry{
		At: resource.Instant(c.At), RequestID: c.RequestID, OperationID: c.OperationID, Method: c.Method, Path: c.Path,
		Status: c.Status,
		IP:     c.IP, UserAgent: c.UserAgent, LatencyMS: c.Latency.Milliseconds(), Count: count,
	}
	if c.ErrorCode != "" {
		e.ErrorCode = &c.ErrorCode
	}
	return l.append(ctx, c.Principal.Owner, c.Principal.Actor, e)
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

// RecordCommand writes one run of an operator's command. The live keys of the account
// list it.
func (l *Log) RecordCommand(ctx context.Context, c Command) error {
	now := l.now()
	e := Entry{
		At: resource.Instant(c.Began), OperationID: c.Operation, Path: c.Line, Status: http.StatusOK,
		UserAgent: "admin",
		LatencyMS: now.Sub(c.Began).Milliseconds(), Count: 1,
	}
	if c.Err != nil {
		code := string(errs.CodeOf(c.Err))
		e.ErrorCode = &code
		e.Status, _ = httpapi.Status(errs.CodeOf(c.Err))
	}
	return l.append(ctx, tenant.Of(c.Account, tenant.Live), auth.Actor{Kind: auth.Operator, ID: c.Operator}, e)
}

// append writes an entry. An entry that exists is never changed.
func (l *Log) append(ctx context.Context, owner tenant.Owner, by auth.Actor, e Entry) error {
	e.ID, e.Actor = id.New(id.AuditEntry, e.At.Time), Actor{string(by.Kind), by.ID}
	e.Path, e.UserAgent = clip(e.Path), clip(e.UserAgent)
	keyID := ""
	if by.Kind == auth.APIKey {
		keyID, e.KeyID = by.ID, &by.ID
	}
	it, err := store.NewItem(chain.EntryKind, owner, e.ID, e)
	if err != nil {
		return err
	}
	// Entries are listed by account and mode: the table's own key serves that, and saves
	// an index.
	it.Key = store.Key{PK: owner.String(), SK: e.ID}
	it.Listed = store.Key{}
	it.Filters = map[string]string{
		"key_id": keyID, "operation_id": e.OperationID, "status": strconv.Itoa(e.Status), "request": e.RequestID,
	}
	if l.region != "" {
		it.Attributes = map[string]string{chain.Region: l.region}
	}
	it.ExpireAt = e.At.Add(Keep)
	tx := &store.Tx{}
	tx.Create(it, nil)
	return l.db.Commit(ctx, tx)
}

func clip(s string) string {
	if len(s) > longest {
		return s[:longest]
	}
	return s
}
