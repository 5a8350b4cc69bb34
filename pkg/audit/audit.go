// Package audit keeps the log of every call with a known key for 90 days, and
// the operation that reads it.
package audit

import (
	"context"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/id"
	"github.com/content-automation/api/pkg/resource"
	"github.com/content-automation/api/pkg/store"
)

// Keep is how long an entry can be read.
const Keep = 90 * 24 * time.Hour

// longest is how much of a text that the caller chose is kept of it.
const longest = 512

// Entry is one call.
type Entry struct {
	ID          string    `json:"id" doc:"Id of the entry"`
	At          time.Time `json:"at" doc:"Time at which the gateway received the request, UTC"`
	RequestID   string    `json:"request_id" doc:"Id of the request"`
	KeyID       string    `json:"key_id" doc:"API key of the request"`
	OperationID string    `json:"operation_id" doc:"operationId. Empty if the path or method is unknown" example:"createFactory"`
	Method      string    `json:"method" doc:"HTTP method" example:"POST"`
	Path        string    `json:"path" doc:"Path, without the query" example:"/v1/factories"`
	Status      int       `json:"status" doc:"HTTP status of the response" example:"201"`
	ErrorCode   *string   `json:"error_code" doc:"Error code. Null if the request succeeded"`
	IP          string    `json:"ip" doc:"Address of the caller"`
	UserAgent   string    `json:"user_agent" doc:"User-Agent of the caller. Empty if none was sent"`
	LatencyMS   int64     `json:"latency_ms" doc:"Milliseconds from receipt by the gateway to the response"`
}

// SchemaName names the schema in the OpenAPI document.
func (Entry) SchemaName() string { return "AuditEntry" }

// Log is the audit log. It is the Recorder of the HTTP side.
type Log struct {
	db  *store.DB
	now func() time.Time
}

var _ httpapi.Recorder = (*Log)(nil)

// New makes a log in the given table.
func New(db *store.DB, now func() time.Time) *Log { return &Log{db, now} }

// Record writes one call. It never writes a body, a header or a query, which may
// hold secrets.
func (l *Log) Record(ctx context.Context, c httpapi.Call) error {
	at := resource.Instant(c.At)
	e := Entry{
		ID: id.New(id.AuditEntry, at), At: at, RequestID: c.RequestID, KeyID: c.Principal.KeyID(),
		OperationID: c.OperationID, Method: c.Method, Path: clip(c.Path), Status: c.Status,
		IP: c.IP, UserAgent: clip(c.UserAgent), LatencyMS: c.Latency.Milliseconds(),
	}
	if c.ErrorCode != "" {
		e.ErrorCode = &c.ErrorCode
	}
	it, err := store.NewItem("audit_entry", c.Principal.Owner, e.ID, e)
	if err != nil {
		return err
	}
	// The table holds nothing but entries, listed by account and mode: its own key
	// serves that, and saves an index.
	it.Key = store.Key{PK: c.Principal.Owner.String(), SK: e.ID}
	it.Listed = store.Key{}
	it.Request = c.RequestID
	it.Filters = map[string]string{
		"key_id": e.KeyID, "operation_id": e.OperationID, "status": strconv.Itoa(e.Status), "owner": it.PK,
	}
	it.ExpireAt = at.Add(Keep)
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
