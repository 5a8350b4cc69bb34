package transfer

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// ExportKind is the kind of the task of an export, and ExportItem that of its item in the table.
const (
	ExportKind task.Kind = "transfer.export"
	ExportItem string    = "export"
)

// State is the state of an export or import.
type State string

// The states. The last two are final.
const (
	Running   State = "running"
	Completed State = "completed"
	Failed    State = "failed"
)

// ExportFailure is the reason for which an export has failed.
type ExportFailure struct {
	// Machine-readable reason. too_large: an export has too many parts, so export the profiles one by one. too_slow: it
	// has not ended within a day. internal: something went wrong on our side.
	Code string `json:"code" enum:"too_large,too_slow,internal"`
	// What happened and what to do about it.
	Message string `json:"message"`
}

// Part is a part of an export. createImport takes it as it is.
type Part struct {
	// What it has. lines: resources as JSON lines. files: a tar archive of the files that lines name.
	Kind string `json:"kind" enum:"lines,files"`
	// Signed URL of the part. Each GET signs it anew, until expires_at of the export at most; a URL may end some hours
	// after it was signed.
	URL string `json:"url" format:"uri"`
	// Size in bytes.
	Bytes int64 `json:"bytes"`
	// SHA-256 in hexadecimal.
	SHA256 string `json:"sha256" pattern:"^[0-9a-f]{64}$"`
}

// Export is an export as callers see it.
type Export struct {
	resource.Resource
	// Profile whose data is exported. Null: the whole account.
	ProfileID *tenant.Profile `json:"profile_id"`
	// State of the export.
	State State `json:"state" enum:"running,completed,failed"`
	// Version of the format of its parts.
	FormatVersion int `json:"format_version" example:"1"`
	// Time as of which it is. What is created later is left out; the last line of each part names what was changed
	// between this time and its reading.
	ConsistentAt resource.Time `json:"consistent_at"`
	// Its parts, of at most 1 GiB each, in order. While it is running, those that are ready. Empty in events and
	// lists.
	Parts []Part `json:"parts" nullable:"false"`
	// Number of exported resources, by their types.
	Resources map[string]int `json:"resources"`
	// Number of files in parts.
	Files int `json:"file_count"`
	// Number of files that were gone before they could be copied, such as those of deleted media.
	MissingFiles int `json:"missing_file_count"`
	// Why it failed. Null unless failed.
	Failure *ExportFailure `json:"failure"`
	// Time of its end. Null until then.
	EndedAt *resource.Time `json:"ended_at"`
	// Time at which the export and its parts are deleted. Null while it is running.
	ExpiresAt *resource.Time `json:"expires_at"`
}

// Pending returns the path that shows the export, and the time to look at it.
func (e Export) Pending() (path string, after time.Duration) {
	return "/v1/exports/" + e.ID, 2 * time.Second
}

// exportRecord is the stored document of an export.
type exportRecord struct {
	Export
	Stored []storedPart `json:"stored"`
}

// storedPart is a part of an export in the bucket.
type storedPart struct {
	Kind   string `json:"k"`
	Number int    `json:"n"`
	Bytes  int64  `json:"b"`
	Sum    []byte `json:"s"`
}

// mostParts bounds the parts of an export: its GET lists them all. They have half a terabyte of files.
const mostParts = 2000

// newExport adds an export and its task to the transaction, and counts it.
func newExport(tx *store.Tx, now time.Time, o tenant.Owner, metadata resource.Metadata) (Export, error) {
	if o.Profile == "" {
		quota.WholeExport(tx, now, o)
	}
	return addExport(tx, now, o, metadata, quota.Exports.Take)
}

// Last adds the last export of what is erased to the transaction, and its task. It is not counted, so that no bound
// holds the erasure up.
func Last(tx *store.Tx, now time.Time, o tenant.Owner) (Export, error) {
	return addExport(tx, now, o, nil, func(*store.Tx, time.Time, *store.Item) {})
}

// Find returns an export without its parts, and false if it is gone.
func Find(ctx context.Context, db *store.DB, exportID string) (x Export, found bool, err error) {
	it, err := db.Lookup(ctx, store.IDKey(exportID))
	if err != nil || it.PK == "" {
		return x, false, err
	}
	err = it.Decode(&x)
	return x, err == nil, err
}

func addExport(tx *store.Tx, now time.Time, o tenant.Owner, metadata resource.Metadata,
	count func(*store.Tx, time.Time, *store.Item)) (Export, error) {
	r := exportRecord{Stored: []storedPart{}}
	r.Export = Export{Resource: resource.New(id.New(id.Export, now), now, metadata), ProfileID: o.ProfileID(),
		State: Running, FormatVersion: FormatVersion, ConsistentAt: resource.Instant(now), Parts: []Part{},
		Resources: map[string]int{}}
	it, err := store.NewItem(ExportItem, o, r.ID, r)
	if err != nil {
		return r.Export, err
	}
	count(tx, now, &it)
	tx.Create(it, nil)
	return r.Export, task.Create(tx, now, task.Task{Message: task.Message{ID: ExportTask(r.ID), Kind: ExportKind,
		Queue: topology.Transfer, Subject: r.ID, Owner: o}, Deadline: now.Add(longest)}, nil)
}

// ExportTask returns the id of the task of an export.
func ExportTask(exportID string) string { return task.ID(ExportKind, exportID, 1) }

// end ends an export, with the reason if it failed, and announces it.
func (r *exportRecord) end(tx *store.Tx, it *store.Item, now time.Time, failure *ExportFailure) error {
	at, until := resource.Instant(now), resource.Instant(now.Add(keep))
	r.State, r.EndedAt, r.ExpiresAt, r.Failure = Completed, &at, &until, failure
	if failure != nil {
		r.State = Failed
	}
	it.ExpireAt = until.Time
	e, err := event.New(now, it.Owner, event.ExportCompleted, r.Export, nil)
	if err == nil {
		tx.Create(e, nil)
	}
	return err
}
