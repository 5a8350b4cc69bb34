// Package transfer takes the data of an account out, and into another account or a sandbox. An export writes JSON lines
// and the files that they name into parts, which a worker makes one at a time. An import reads such parts.
// docs/transfer.md describes the format.
package transfer

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/resource"
)

// Format names the format of the lines, and FormatVersion is its version. A version changes only by additions.
const (
	Format        = "content-automation-export"
	FormatVersion = 1
)

// The types of the lines that are no resources. The type of any other line names its resource.
const (
	headerLine = "header"
	endLine    = "end"
)

// Header is the first line of each part of lines.
type Header struct {
	// Kind of the line: header.
	Kind string `json:"kind" enum:"header"`
	// Name of the format: content-automation-export.
	Format string `json:"format" enum:"content-automation-export"`
	// Version of the format.
	Version int `json:"version"`
	// Id of the export.
	ExportID string `json:"export_id"`
	// Account that the data is of.
	AccountID tenant.Account `json:"account_id"`
	// Mode that the data is of.
	Mode tenant.Mode `json:"mode" enum:"live,test"`
	// Profile that the data is of. Null: the whole account.
	ProfileID *tenant.Profile `json:"profile_id"`
	// Start of the export. No resource is younger.
	ConsistentAt resource.Time `json:"consistent_at"`
	// Number of the part, from 1.
	Part int `json:"part"`
}

// Line is the line of a resource.
type Line struct {
	// Kind of the resource, such as factory.
	Kind string `json:"kind"`
	// Id of the resource.
	ID string `json:"id"`
	// The resource as its GET shows it, without secrets. URLs of files name entries of the parts of files.
	Data json.RawMessage `json:"data"`
	// Its files, in parts of files. Those of media that it shows are with the lines of these media.
	Files []LineFile `json:"files" nullable:"false"`
}

// LineFile is a file of the resource of a line.
type LineFile struct {
	// Name of the entry in a part of files, after export://.
	URL string `json:"url" format:"uri" example:"export://media/cnt_01h455vb4pex5vsknk084sn02q/1/6.jpg"`
	// Size in bytes.
	Bytes int64 `json:"bytes"`
	// SHA-256 in hexadecimal.
	SHA256 string `json:"sha256"`
}

// End is the last line of each part of lines.
type End struct {
	// Kind of the line: end.
	Kind string `json:"kind" enum:"end"`
	// Number of the part.
	Part int `json:"part"`
	// Whether no more part of lines follows.
	Last bool `json:"last"`
	// Number of the resources in the part, by their types.
	Resources map[string]int `json:"resources"`
	// Ids of the resources in the part that have changed between consistent_at and their reading.
	Changed []string `json:"changed" nullable:"false"`
}

// The prefixes of the objects of exports and imports. The bucket removes them after some days.
const (
	Exports = "exports/"
	Imports = "imports/"
)

// FileScheme is the scheme of the URLs by which lines name entries of the parts of files.
const FileScheme = "export://"

// fileName returns the name of a stored file in an export: its key without the account and the mode.
func fileName(key string) string {
	parts := strings.SplitN(key, "/", 4)
	if len(parts) < 4 {
		return ""
	}
	return parts[0] + "/" + parts[3]
}

// objectKey returns the key of the n-th object of an export or import.
func objectKey(prefix string, o tenant.Owner, id, kind string, n int) string {
	ext := "jsonl"
	if kind == KindFiles {
		ext = "tar"
	}
	return fmt.Sprintf("%s%s/%s/%s/%s-%05d.%s", prefix, o.Account, o.Mode, id, kind, n, ext)
}

// The kinds of parts of exports, and of other objects of the worker.
const (
	KindLines = "lines"
	KindFiles = "files"
	kindNamed = "named" // the files that a part of lines names; for the worker alone
	kindMap   = "map"
)

// The MIME types of parts of lines and of parts of files.
const (
	linesType = "application/jsonl"
	filesType = "application/x-tar"
)

func mimeType(kind string) string {
	if kind == KindFiles {
		return filesType
	}
	return linesType
}

// keep is the time for which the parts of an export, and the map of an import, can be fetched.
const keep = 7 * 24 * time.Hour

// longest is the time after which an export or import that has not ended fails.
const longest = 24 * time.Hour

// Mount registers the operations of the area.
func Mount(r *httpapi.Router, e area.Env) {
	NewService(e.DB, e.Media, e.Client(safehttp.Options{}), e.Now).Register(r)
}
