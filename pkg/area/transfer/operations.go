package transfer

import (
	"context"
	"encoding/hex"
	"net/http"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// Service starts and shows exports and imports.
type Service struct {
	db     *store.DB
	signer *media.Signer
	now    func() time.Time
}

// NewService makes the service.
func NewService(db *store.DB, signer *media.Signer, now func() time.Time) *Service {
	return &Service{db, signer, now}
}

type exportBody struct {
	// Profile whose data is exported. Absent: the whole account.
	ProfileID string `json:"profile_id,omitempty" example:"prf_01h455vb4pex5vsknk084sn02q"`
	// Up to 20 key-value pairs of your own.
	Metadata resource.Metadata `json:"metadata,omitempty"`
}

type exportInput struct{ Body exportBody }

type exportPath struct {
	// Id of the export.
	ID string `path:"export_id" example:"xpt_01h455vb4pex5vsknk084sn02q"`
}

// Register puts the operations of the area into the router.
func (s *Service) Register(r *httpapi.Router) {
	op := func(id, method, path, summary, description string) httpapi.Op {
		return httpapi.Op{ID: id, Method: method, Path: path, Scope: auth.AccountManage, Function: "media",
			Tag: "Transfer", Summary: summary, Description: description, AccountWide: true}
	}
	create := op("createExport", http.MethodPost, "/v1/exports", "Export the data of the account",
		"Exports the resources of the mode of the key, or those of one profile, with their files. The parts are "+
			"JSON lines, one for each resource as its GET shows it, and tar archives of the files that the lines "+
			"name. They are made in the background; the event `export.completed` reports the end. Nothing that is "+
			"younger than the export is in it, and no secrets are: neither keys nor tokens nor the secrets of "+
			"webhooks. The parts stay for 7 days. createImport takes them.")
	create.Status, create.Errors = http.StatusAccepted, []errs.Code{errs.NotFound, errs.InvalidState}
	httpapi.Write(r, create, s.createExport)
	httpapi.Read(r, op("getExport", http.MethodGet, "/v1/exports/{export_id}", "Get an export",
		"Shows the parts that are ready. Their URLs are signed anew."), s.getExport)
}

func (s *Service) createExport(ctx context.Context, tx *store.Tx, in *exportInput) (out Export, err error) {
	now := s.now()
	o, err := profile.Given{ProfileID: in.Body.ProfileID}.Owner(ctx, tx, now)
	if err != nil {
		return out, err
	}
	return newExport(tx, now, o, in.Body.Metadata)
}

func (s *Service) getExport(ctx context.Context, in *exportPath) (out Export, err error) {
	it, err := resource.Find(ctx, s.db, id.Export, ExportItem, in.ID)
	if err != nil {
		return out, err
	}
	var r exportRecord
	if err := it.Decode(&r); err != nil {
		return out, err
	}
	lifetime := keep
	if r.ExpiresAt != nil {
		lifetime = min(r.ExpiresAt.Sub(s.now()), keep)
	}
	for _, p := range r.Stored {
		url, err := s.signer.URLFor(ctx, objectKey(Exports, it.Owner, r.ID, p.Kind, p.Number), mimeType(p.Kind), lifetime)
		if err != nil {
			return out, err
		}
		r.Parts = append(r.Parts, Part{p.Kind, url, p.Bytes, hex.EncodeToString(p.Sum)})
	}
	return r.Export, nil
}
