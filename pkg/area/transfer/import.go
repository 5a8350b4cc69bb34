package transfer

import (
	"time"

	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// ImportKind is the kind of the task of an import, and ImportItem that of its item in the table.
const (
	ImportKind task.Kind = "transfer.import"
	ImportItem string    = "import"
)

// ImportedPart is a part that an import reads.
type ImportedPart struct {
	// What it has. Null until it was fetched.
	Kind resource.Text `json:"kind" enum:"lines,files"`
	// Size in bytes: as declared, and once fetched as found.
	Bytes int64 `json:"bytes"`
	// SHA-256 in hexadecimal: as declared, and once fetched as found. Empty if it was not declared, until then.
	SHA256 string `json:"sha256"`
}

// Taken counts the resources of a type in an import.
type Taken struct {
	// Resources that are there now, also those of an earlier import of the same export.
	Imported int `json:"imported_count"`
	// Resources that were left out. left_out says why.
	LeftOut int `json:"left_out_count"`
}

// LeftOut is a reason for which resources of a type were left out.
type LeftOut struct {
	// Kind of the resources.
	Kind string `json:"kind" example:"social_account"`
	// Machine-readable reason. needs_consent: the owner of the account connects it anew. of_elsewhere: it tells of what
	// has happened in the other account. invalid: it is not as the format describes. missing: what it belongs to, or
	// its file, is not there. refused: an operation that creates such a resource would refuse it, too.
	Code string `json:"code" enum:"needs_consent,of_elsewhere,invalid,missing,refused"`
	// What happened and what to do about it, for one of them.
	Message string `json:"message"`
	// Old id of that one.
	ID string `json:"id"`
	// Number of such resources.
	Count int `json:"count"`
}

// Import is an import as callers see it.
type Import struct {
	resource.Resource
	// State of the import.
	State State `json:"state" enum:"running,completed,failed"`
	// Parts that it reads.
	Parts []ImportedPart `json:"parts" nullable:"false"`
	// Export that the parts are of. Null until the first was read.
	ExportID resource.Text `json:"export_id" example:"xpt_01h455vb4pex5vsknk084sn02q"`
	// Resources, by their types.
	Resources map[string]Taken `json:"resources"`
	// Why resources were left out: up to 100 reasons.
	LeftOut []LeftOut `json:"left_out" nullable:"false"`
	// Number of files that were taken over.
	Files int `json:"file_count"`
	// Number of files that resources have and no part has.
	MissingFiles int `json:"missing_file_count"`
	// New ids by the old ones, once completed. Empty until then, in lists, and of more than 1,000: map_url has all.
	Map map[string]string `json:"map"`
	// Signed URL of JSON lines with kind, old_id and new_id of each resource. Null until completed, and in lists.
	MapURL *string `json:"map_url" format:"uri"`
	// Why it failed. What was imported until then stays; another import of the same export continues it. Null unless
	// failed.
	Failure *Failure `json:"failure"`
	// Time of its end. Null until then.
	EndedAt *resource.Time `json:"ended_at"`
	// Time at which the import and its map are deleted. Null while it is running. What was imported stays.
	ExpiresAt *resource.Time `json:"expires_at"`
}

// Failure is the reason for which an import has failed.
type Failure struct {
	// Machine-readable reason. not_fetched: a part cannot be fetched, or is not the one that was declared.
	// invalid_format: a part is no export, or is one of another export, or an archive has a sparse entry. unreadable:
	// reading a part has ended our function three times. storage_full: the account may not store as much.
	// authority_ended: the key or person that has started it may not import any more. too_slow: it has not ended within
	// a day. internal: something went wrong on our side.
	Code string `json:"code" enum:"not_fetched,invalid_format,unreadable,storage_full,authority_ended,too_slow,internal"`
	// What happened and what to do about it.
	Message string `json:"message"`
}

// Pending returns the path that shows the import, and the time to look at it.
func (i Import) Pending() (path string, after time.Duration) {
	return "/v1/imports/" + i.ID, 2 * time.Second
}

// importRecord is the stored document of an import.
type importRecord struct {
	Import
	// URLs are the addresses of the parts. They are forgotten as parts are fetched.
	URLs []string `json:"urls"`
	// Authority is on whose behalf it imports.
	Authority authority.Authority `json:"authority"`
	// Source is the header of the first part of lines.
	Source *Header `json:"source,omitempty"`
	// Replay is the time from which posts go out again, each at its time, in the rehearsal of an export; or nil.
	Replay *time.Time `json:"replay,omitempty"`
	// Maps is the number of objects with parts of the map, and Mapped the number of their lines.
	Maps   int `json:"maps,omitempty"`
	Mapped int `json:"mapped,omitempty"`
	// Named is the number of files that its lines name.
	Named int `json:"named,omitempty"`
	// Reserved are the bytes of its parts, which count for the storage of the account until it ends.
	Reserved int64 `json:"reserved,omitempty"`
	// Counted is the number of parts whose bytes are reserved.
	Counted int `json:"counted,omitempty"`
}

// mostInline is the size of the largest map that the import shows.
const mostInline = 1000

// newImport adds an import and its task to the transaction.
func newImport(tx *store.Tx, now time.Time, o tenant.Owner, by authority.Authority, parts []partBody,
	metadata resource.Metadata, replay *time.Time) (Import, error) {
	r := importRecord{Authority: by, Replay: replay}
	r.Import = Import{Resource: resource.New(id.New(id.Import, now), now, metadata), State: Running,
		Resources: map[string]Taken{}, LeftOut: []LeftOut{}, Map: map[string]string{}}
	for _, p := range parts {
		r.Parts = append(r.Parts, ImportedPart{Bytes: p.Bytes, SHA256: p.SHA256})
		r.URLs = append(r.URLs, p.URL)
	}
	it, err := store.NewItem(ImportItem, o, r.ID, r)
	if err != nil {
		return r.Import, err
	}
	quota.Imports.Take(tx, now, &it)
	tx.Create(it, nil)
	return r.Import, task.Create(tx, now, task.Task{Message: task.Message{ID: task.ID(ImportKind, r.ID, 1),
		Kind: ImportKind, Queue: topology.ImportData, Subject: r.ID, Owner: o}, Deadline: now.Add(longest)}, nil)
}

// leaveOut counts a resource that is left out.
func (r *importRecord) leaveOut(why LeftOut) {
	t := r.Resources[why.Kind]
	t.LeftOut++
	r.Resources[why.Kind] = t
	for i, known := range r.LeftOut {
		if known.Kind == why.Kind && known.Code == why.Code &&
			(why.Code != codeRefused || known.Message == why.Message) {
			r.LeftOut[i].Count++
			return
		}
	}
	if why.Count = 1; len(r.LeftOut) < 100 {
		r.LeftOut = append(r.LeftOut, why)
	}
}

// The codes of LeftOut, in the order of its description.
const (
	codeConsent   = "needs_consent"
	codeElsewhere = "of_elsewhere"
	codeInvalid   = "invalid"
	codeMissing   = "missing"
	codeRefused   = "refused"
)
