// Package publishing holds the operations around the publication of content: checks, approvals, review links, the
// slots of schedules, and the published posts. What they share with the operations of content items is in package
// content and its subpackages. Service.Register has the operations, and page.go the page of a review link.
package publishing

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/store"
)

// Service serves the operations.
type Service struct {
	db        *store.DB
	content   *content.Service
	factories *factory.Service
	signer    *media.Signer
	audit     httpapi.Recorder // for the decisions of review links
	now       func() time.Time
	random    io.Reader
	// signatures signs dossiers, or is nil.
	signatures seal.Signer
}

// NewService returns the service.
func NewService(db *store.DB, items *content.Service, factories *factory.Service, signer *media.Signer,
	audit httpapi.Recorder, now func() time.Time, random io.Reader) *Service {
	return &Service{db: db, content: items, factories: factories, signer: signer, audit: audit, now: now,
		random: random}
}

// Open opens the service of a function.
func Open(e area.Env) *Service {
	factories := factory.NewService(e.DB, e.Now)
	return NewService(e.DB, content.NewService(e.DB, factories, e.Media, e.Offer(),
		e.Now).Moderated(e.Moderator), factories, e.Media, e.Audit, e.Now, e.Random).Signed(e.Signatures)
}

// Mount registers the operations of the area.
func Mount(r *httpapi.Router, e area.Env) { Open(e).Register(r) }

var op = httpapi.Ops("content", "Publishing")

// Register adds the operations of the area to the router.
func (s *Service) Register(r *httpapi.Router) {
	s.registerPublications(r)
	s.registerDossiers(r)
	s.registerPlanning(r)
	s.registerApprovals(r)
	s.registerLinks(r)
}

type decideInput struct {
	content.ItemPath
	httpapi.IfMatch
	Body *approveBody
}

type approveBody struct {
	// Note for those who made the content.
	Note string `json:"note,omitempty" format:"not-blank" maxLength:"2000"`
}

type changesInput struct {
	content.ItemPath
	httpapi.IfMatch
	Body changesBody
}

type changesBody struct {
	// What is to be changed.
	Note string `json:"note" format:"review-note"`
}

// registerApprovals adds the decisions about content items.
func (s *Service) registerApprovals(r *httpapi.Router) {
	approve := op("approveContentItem", http.MethodPost, "/v1/approvals/{content_item_id}/approve", auth.ContentPublish,
		"Approve a content item",
		"Approves a generated item, and sends the event `content.approved`. What waited for it goes on: an item that "+
			"was scheduled, or created with a `publish_at`, is scheduled for it. An item of a content plan whose time "+
			"is ahead is scheduled for it, on the accounts of its factory. Another one is published if its factory "+
			"has `auto_publish`. `waits_for` says what is left: `time` if it is published by itself, `slot` if you "+
			"have to schedule it, and `account` if no account can take it. If the item is changed or regenerated "+
			"later, it waits for an approval again. Of several decisions at once, one is made; the others are refused "+
			"and say by whom it was.").Opening(httpapi.Publishing)
	approve.Errors = []errs.Code{errs.VersionMismatch, errs.InvalidState}
	httpapi.Write(r, approve, func(ctx context.Context, tx *store.Tx, in *decideInput) (item.Item, error) {
		note := ""
		if in.Body != nil {
			note = in.Body.Note
		}
		return s.content.Decide(ctx, tx, in.ID, item.Approved, note,
			authority.Of(auth.FromContext(ctx), auth.ContentPublish), in.IfMatch)
	})
	changes := op("requestChanges", http.MethodPost, "/v1/approvals/{content_item_id}/request-changes",
		auth.ContentPublish, "Request changes of a content item",
		"Notes what is to be changed, and sends the event `content.changes_requested`. A scheduled item of a factory "+
			"that requires an approval is not published before it is approved.").Opening(httpapi.Publishing)
	changes.Errors = []errs.Code{errs.VersionMismatch, errs.InvalidState}
	httpapi.Write(r, changes, func(ctx context.Context, tx *store.Tx, in *changesInput) (item.Item, error) {
		return s.content.Decide(ctx, tx, in.ID, item.ChangesRequested, in.Body.Note,
			authority.Of(auth.FromContext(ctx), auth.ContentPublish), in.IfMatch)
	})
}
