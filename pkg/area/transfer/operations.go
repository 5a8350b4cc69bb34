package transfer

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/httpapi/kind"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// Service starts and shows exports and imports.
type Service struct {
	signer  *media.Signer
	urls    safehttp.Checker
	now     func() time.Time
	exports *kind.Kind[exportRecord]
	imports *kind.Kind[importRecord]
}

// NewService makes the service. The checker refuses addresses of parts that are not public.
func NewService(db *store.DB, signer *media.Signer, urls safehttp.Checker, now func() time.Time) *Service {
	return &Service{signer, urls, now, exports.On(db, now), imports.On(db, now)}
}

var (
	exports = kind.Kind[exportRecord]{Name: ExportItem, ID: id.Export, Path: "/v1/exports/{export_id}",
		Function: "media", Tag: "Transfer", Reads: auth.AccountManage, Writes: auth.AccountManage, AccountWide: true}
	imports = kind.Kind[importRecord]{Name: ImportItem, ID: id.Import, Path: "/v1/imports/{import_id}",
		Function: "media", Tag: "Transfer", Reads: auth.AccountManage, Writes: auth.AccountManage, AccountWide: true}
)

type exportBody struct {
	// Profile whose data is exported. Absent: the whole account.
	ProfileID string `json:"profile_id,omitempty" example:"prf_01h455vb4pex5vsknk084sn02q"`
	// Up to 20 key-value pairs of your own.
	Metadata resource.Metadata `json:"metadata,omitempty"`
}

type exportsInput struct {
	httpapi.PageInput
	resource.MetadataFilter
	profile.Filter
	// Only exports in these states, separated by commas.
	State []State `query:"state" filter:"state" enum:"running,completed,failed" nullable:"false"`
}

type importsInput struct {
	httpapi.PageInput
	resource.MetadataFilter
	// Only imports in these states, separated by commas.
	State []State `query:"state" filter:"state" enum:"running,completed,failed" nullable:"false"`
}

type exportInput struct{ Body exportBody }

// partBody is a part that an import reads. It takes the members of parts of exports.
type partBody struct {
	// Ignored: the content says what the part has.
	Kind string `json:"kind,omitempty" enum:"lines,files"`
	// Public https URL of the part, such as that of a part of an export.
	URL string `json:"url" minLength:"1" maxLength:"4096" example:"https://www.example.com/acme-lines-00001.jsonl"`
	// Size in bytes. If it is sent, the part must have it.
	Bytes int64 `json:"bytes,omitempty" minimum:"1" maximum:"1073741824"`
	// SHA-256 in hexadecimal. If it is sent, the part must have it.
	SHA256 string `json:"sha256,omitempty" format:"sha256"`
}

type importBody struct {
	// Parts of one export, as getExport shows them, or files of yours with their content: JSON lines, and tar archives.
	Parts []partBody `json:"parts" minItems:"1" maxItems:"400" nullable:"false"`
	// Up to 20 key-value pairs of your own.
	Metadata resource.Metadata `json:"metadata,omitempty"`
}

type importInput struct{ Body importBody }

// Register puts the operations of the area into the router.
func (s *Service) Register(r *httpapi.Router) {
	httpapi.Write(r, s.exports.Op(httpapi.Op{ID: "createExport", Summary: "Export the data of the account",
		Description: "Exports the resources of the mode of the key, or those of one profile, with their files. The " +
			"parts are JSON lines, one for each resource as its GET returns it, and tar archives of the files that " +
			"the lines name. A worker makes them in the background, and the event `export.completed` reports the " +
			"end. The export has no resource that was created after it, and no secret: no key, no token and no " +
			"secret of a webhook. The parts are kept for 7 days, and their links need no key. createImport takes them.",
		Status: http.StatusAccepted, Opens: httpapi.Copy, Also: reading,
		Errors: []errs.Code{errs.NotFound, errs.InvalidState}}, http.MethodPost, "/v1/exports"), s.createExport)
	kind.Get(r, s.exports, httpapi.Op{ID: "getExport", AccountWide: true, Summary: "Get an export",
		Description: "Returns the export with the parts that are ready. Each call returns new signed URLs.",
		Opens:       httpapi.Copy, Also: reading}, s.export)
	kind.List[exportsInput](r, s.exports, httpapi.Op{ID: "listExports", AccountWide: true, Summary: "List the exports",
		Description: "Newest first, without the links of their parts: getExport signs them. An export is listed " +
			"until `expires_at`."},
		func(_ context.Context, f *kind.Found[exportRecord]) (Export, error) { return f.Record.Export, nil })

	httpapi.Write(r, s.imports.Op(httpapi.Op{ID: "createImport", Summary: "Import an export",
		Description: "Takes an export into the account and mode of the key: into another account with a live key, " +
			"into a sandbox with a test key. Resources get new ids, which `map` has; the same export gets the same " +
			"ids each time, so that an import that is repeated adds only what is missing. Nothing is generated, " +
			"published, charged or announced: content that was being made is canceled, and content that was " +
			"scheduled is generated. Webhooks are disabled: rotate their secrets, which nobody has seen, and enable " +
			"them. Automations are paused, and factories publish nothing automatically. Social accounts are " +
			"connected anew. `left_out` says what was left out, and why. The key needs the scopes of all operations " +
			"that would create the same.", Status: http.StatusAccepted, Opens: httpapi.Address,
		Errors: []errs.Code{errs.InvalidState, errs.InsufficientScope}}, http.MethodPost, "/v1/imports"),
		s.createImport)
	kind.Get(r, s.imports, httpapi.Op{ID: "getImport", AccountWide: true, Summary: "Get an import",
		Description: "Returns what was imported so far, and once it is completed the map of old ids to new ones.",
		Opens:       httpapi.Copy}, s.imported)
	kind.List[importsInput](r, s.imports, httpapi.Op{ID: "listImports", AccountWide: true, Summary: "List the imports",
		Description: "Newest first, without their maps of ids: getImport has them. An import is listed until " +
			"`expires_at`."},
		func(_ context.Context, f *kind.Found[importRecord]) (Import, error) { return f.Record.Import, nil })
}

// reading are the scopes of the operations that read what an export has. Its links need no key.
var reading = []auth.Scope{auth.AccountRead, auth.FactoriesRead, auth.ContentRead, auth.ProductsRead, auth.StudioUse,
	auth.SocialManage, auth.ArchitectUse, auth.WebhooksManage}

// creating are the scopes of the operations that create what an import creates.
var creating = []auth.Scope{auth.FactoriesWrite, auth.ContentWrite, auth.ContentPublish, auth.StudioUse,
	auth.ProductsWrite, auth.WebhooksManage}

func (s *Service) createImport(ctx context.Context, tx *store.Tx, in *importInput) (out Import, err error) {
	p := auth.FromContext(ctx)
	for _, scope := range creating {
		if err := p.Require(scope, ""); err != nil {
			return out, err
		}
	}
	for i, part := range in.Body.Parts {
		if err := s.urls.CheckURL(ctx, part.URL); err != nil {
			return out, safehttp.InvalidURL(err, "/parts/"+strconv.Itoa(i)+"/url")
		}
	}
	return newImport(tx, s.now(), p.Owner, authority.Of(p), in.Body.Parts, in.Body.Metadata, nil)
}

// imported returns an import with its map.
func (s *Service) imported(ctx context.Context, f *kind.Found[importRecord]) (out Import, err error) {
	r := f.Record
	if r.State != Completed {
		return r.Import, nil
	}
	whole := media.File{Key: objectKey(Imports, f.Item.Owner, r.ID, kindMap, 0), MIMEType: linesType}
	url, err := s.signer.URLFor(ctx, whole.Key, whole.MIMEType, min(r.ExpiresAt.Sub(s.now()), keep))
	if err != nil {
		return out, err
	}
	if r.MapURL = &url; r.MapParts > mostInline {
		return r.Import, nil
	}
	lines, err := s.signer.Read(ctx, whole, 1<<20)
	if err != nil {
		return out, err
	}
	for d := json.NewDecoder(bytes.NewReader(lines)); d.More(); {
		var m mapLine
		if err := d.Decode(&m); err != nil {
			return out, err
		}
		r.Map[m.OldID] = m.NewID
	}
	return r.Import, nil
}

func (s *Service) createExport(ctx context.Context, tx *store.Tx, in *exportInput) (out Export, err error) {
	now := s.now()
	o, err := profile.ProfileMember{ProfileID: in.Body.ProfileID}.Owner(ctx, tx, now)
	if err != nil {
		return out, err
	}
	return newExport(tx, now, o, in.Body.Metadata)
}

// export returns an export with the links of its parts. Lists show no link, and so need no scope of what they have.
func (s *Service) export(ctx context.Context, f *kind.Found[exportRecord]) (out Export, err error) {
	r := f.Record
	lifetime := keep
	if r.ExpiresAt != nil {
		lifetime = min(r.ExpiresAt.Sub(s.now()), keep)
	}
	for _, p := range r.StoredParts {
		key := objectKey(Exports, f.Item.Owner, r.ID, p.Kind, p.Number)
		url, err := s.signer.URLFor(ctx, key, mimeType(p.Kind), lifetime)
		if err != nil {
			return out, err
		}
		r.Parts = append(r.Parts, Part{p.Kind, url, p.Bytes, hex.EncodeToString(p.Sum)})
	}
	return r.Export, nil
}
