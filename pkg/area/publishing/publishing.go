// Package publishing holds the operations around the publication of content: checks, approvals, review links, the
// slots of schedules, and the published posts. What they share with the operations of content items is in package
// content and its subpackages. Service.Register has the operations, and review.go the page of a review link.
package publishing

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/httpapi/kind"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/record/testclock"
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
	signatures  seal.Signer
	reviewLinks *kind.Kind[linkRecord]
}

// NewService returns the service. It makes no call.
func NewService(db *store.DB, items *content.Service, factories *factory.Service, signer *media.Signer,
	audit httpapi.Recorder, now func() time.Time, random io.Reader) *Service {
	return &Service{db: db, content: items, factories: factories, signer: signer, audit: audit, now: now,
		random: random, reviewLinks: reviewLinks.On(db, now)}
}

// Open opens the service of a function.
func Open(e area.Env) *Service {
	factories := factory.NewService(e.DB, e.Now)
	return NewService(e.DB, content.NewService(e.DB, factories, e.Media, e.Offer(),
		e.Now).Moderated(e.Moderator), factories, e.Media, e.Audit, e.Now, e.Random).SignWith(e.Signatures)
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

// mostSlotDays bounds the period of a list of slots.
const mostSlotDays = 62

type validateBody struct {
	// Content item to check. Send it or item.
	ItemID string `json:"content_item_id,omitempty" maxLength:"64" example:"cnt_01h455vb4pex5vsknk084sn02q"`
	// Body of createContentItem to check.
	Item *content.CreateBody `json:"item,omitempty"`
	// Ids of the social accounts. Absent: those that the item is planned for, or else those of its factory.
	Accounts []string `json:"social_account_ids,omitempty" format:"accounts" nullable:"false"`
	// Time of publication. Absent: that of the item, or else now.
	PublishAt *resource.Time `json:"publish_at,omitempty" example:"2027-01-15T09:30:00Z"`
	// Time for which rules of law are checked (RFC 3339). Absent: that of the publication.
	At *resource.Time `json:"at,omitempty" example:"2027-01-15T09:30:00Z"`
	// Options of the post, by platform.
	Options content.PlatformOptions `json:"options,omitempty"`
}

// Rules refuses a body without a subject, or with two.
func (b validateBody) Rules() error {
	if (b.ItemID == "") == (b.Item == nil) {
		return errs.Invalid("/content_item_id", "send content_item_id or item, not both")
	}
	return nil
}

type validateInput struct {
	Body validateBody
}

type slotsInput struct {
	httpapi.SliceInput
	// Factory with the schedule.
	FactoryID string `query:"factory_id" required:"true" example:"fac_01h455vb4pex5vsknk084sn02q"`
	// Only this social account. Absent: all of the factory.
	AccountID string `query:"social_account_id"`
	// Only slots at this time or later (RFC 3339). Absent: now.
	From time.Time `query:"from"`
	// Only slots before this time (RFC 3339), up to 62 days later. Absent: 14 days later.
	To time.Time `query:"to"`
}

// Slot is a time of the schedule of a factory.
type Slot struct {
	// Time.
	At resource.Time `json:"at"`
	// Whether no item takes it on any of the accounts.
	Free bool `json:"free"`
	// Accounts on which an item takes it.
	Taken []TakenSlot `json:"taken" nullable:"false"`
}

// TakenSlot is an account on which a slot is taken.
type TakenSlot struct {
	// Social account.
	SocialAccountID string `json:"social_account_id"`
	// Content item that takes it.
	ContentItemID string `json:"content_item_id"`
	// Why it is taken. scheduled: the item is scheduled for it. planned: an item of the factory is planned for it, such
	// as one of a content plan, and is not scheduled yet.
	Reason string `json:"reason" enum:"scheduled,planned"`
}

// registerPlanning adds the checks and the slots.
func (s *Service) registerPlanning(r *httpapi.Router) {
	validate := op("validatePublishing", http.MethodPost, "/v1/publishing/validate", auth.ContentPublish,
		"Check a publication",
		"Returns every problem that an item, or the body of a new one, would have on each account: its texts, files "+
			"and options, the state of the account, the posts that are left on the day, a slot that is taken, an "+
			"approval that is missing, and rules of law of the region of its factory. Of content that is not "+
			"generated yet, it checks what is known. It changes "+
			"nothing.").Opening(httpapi.Nothing)
	validate.Errors = []errs.Code{errs.NotFound}
	httpapi.Write(r, validate, s.validate)

	slots := op("listSlots", http.MethodGet, "/v1/publishing/slots", auth.ContentRead, "List the slots of a schedule",
		"Lists the free and taken times of the schedule of a factory, the earliest first. The value `next_slot` of "+
			"`publish_at` takes the first time that is free on all accounts of the item. A time is taken by "+
			"everything that is scheduled for it, and by the items of the factory that are planned for it.").
		Opening(httpapi.Nothing)
	slots.Errors = []errs.Code{errs.NotFound, errs.InvalidCursor}
	httpapi.List(r, slots, s.slots)
}

func (s *Service) slots(ctx context.Context, in *slotsInput) (page httpapi.Page[Slot], err error) {
	f, _, err := s.factories.Find(ctx, in.FactoryID)
	if err != nil {
		return page, err
	}
	from, to := in.From, in.To
	if from.IsZero() {
		if from, err = testclock.Now(ctx, s.db, auth.FromContext(ctx).Owner, s.now()); err != nil {
			return page, err
		}
	}
	if to.IsZero() {
		to = from.AddDate(0, 0, 14)
	}
	if !from.Before(to) || to.Sub(from) > mostSlotDays*24*time.Hour {
		return page, errs.Invalid("to", "must be after from, and up to %d days later", mostSlotDays)
	}
	accounts := f.SocialAccountIDs
	if in.AccountID != "" {
		accounts = nil
		for _, attached := range f.SocialAccountIDs {
			if attached == in.AccountID {
				accounts = []string{attached}
			}
		}
		if accounts == nil {
			return page, errs.Invalid("social_account_id", "is not attached to the factory")
		}
	}
	times, err := content.TimesOf(f)
	if err != nil {
		return page, err
	}
	all := []Slot{}
	for _, at := range times.Between(from, to) {
		all = append(all, Slot{At: resource.Instant(at), Free: true, Taken: []TakenSlot{}})
	}
	var planned map[string]publication.TakenTimes
	if len(accounts) > 0 {
		if planned, err = times.PlannedBetween(ctx, s.db, auth.FromContext(ctx).Owner, from, to); err != nil {
			return page, err
		}
	}
	for _, accountID := range accounts {
		taken, err := publication.TakenBetween(ctx, s.db, accountID, from, to)
		if err != nil {
			return page, err
		}
		for i := range all {
			by, why := taken.At(all[i].At.Time), "scheduled"
			if by == "" {
				by, why = planned[accountID].At(all[i].At.Time), "planned"
			}
			if by != "" {
				all[i].Free = false
				all[i].Taken = append(all[i].Taken, TakenSlot{accountID, by, why})
			}
		}
	}
	return httpapi.Slice(ctx, all, map[string]string{"factory": f.ID, "account": in.AccountID,
		"from": in.From.String(), "to": in.To.String()}, in.SliceInput,
		func(s Slot) string { return s.At.Format(resource.TimeLayout) })
}

// validate changes nothing, but is a POST, so that a repeat with the same Idempotency-Key gets the same answer.
func (s *Service) validate(ctx context.Context, _ *store.Tx, in *validateInput) (content.Validation, error) {
	b := in.Body
	if err := b.Rules(); err != nil {
		return content.Validation{}, err
	}
	p := content.PublishProposal{ItemID: b.ItemID, Body: b.Item, Accounts: b.Accounts, Options: b.Options}
	if b.PublishAt != nil {
		p.At = b.PublishAt.Time
	}
	if b.At != nil {
		p.RulesAt = b.At.Time
	}
	return s.content.Validate(ctx, p)
}

// SignWith has a signer sign the dossiers of live posts. Without one, and those of sandboxes, they are signed with a
// key that everybody knows, whose id says so.
func (s *Service) SignWith(by seal.Signer) *Service {
	s.signatures = by
	return s
}

// SignedDossier is a dossier with its signature.
type SignedDossier struct {
	// What is known of the post, as it was when it was published.
	Dossier canonical `json:"dossier"`
	// SHA-256 of the canonical form of the dossier (RFC 8785), in hexadecimal. The entry publication.published of the
	// audit log has it as dossier_sha256.
	SHA256 string `json:"sha256"`
	// Signature by ES256 of the canonical form: a JWS without its payload (RFC 7515, Appendix F). To verify it, put the
	// canonical form in base64url between its two points.
	Signature string `json:"signature"`
	// Public key that verifies the signature.
	Key seal.JWK `json:"key"`
}

// canonical is a dossier in its canonical form.
type canonical struct{ json.RawMessage }

// Schema describes the dossier in the OpenAPI document.
func (canonical) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[publication.Dossier](), true, "")
}

// registerDossiers adds the operation that reads dossiers.
func (s *Service) registerDossiers(r *httpapi.Router) {
	get := op("getPublicationDossier", http.MethodGet, "/v1/publications/{publication_id}/dossier", auth.ContentRead,
		"Get the dossier of a published post",
		"Returns what is known of a post as it was when it was published: the rules of law that were checked, who "+
			"approved it, the models, the hashes of its files and its texts. It is never changed, also if the post is "+
			"changed or deleted, and ends with its content item. It is signed at each call. Its hash is in the audit "+
			"log since the publication.").Opening(httpapi.Nothing)
	get.Errors = []errs.Code{errs.NotFound, errs.InvalidState, errs.ProviderUnavailable}
	httpapi.Read(r, get, s.dossier)
}

func (s *Service) dossier(ctx context.Context, in *PublicationPath) (out SignedDossier, err error) {
	it, row, err := s.find(ctx, in.ID, nil)
	if err != nil {
		return out, err
	}
	if row.PublishedAt == nil {
		return out, errs.New(errs.InvalidState, "The publication is %s. A dossier is made when the post is published.",
			row.State).In(row.State)
	}
	found, err := s.db.Lookup(ctx, publication.DossierKey(in.ID))
	if err != nil {
		return out, err
	}
	if found.Kind != publication.DossierKind || found.Owner != it.Owner {
		return out, errs.Missing("dossier", in.ID)
	}
	var d publication.StoredDossier
	if err := found.Decode(&d); err != nil {
		return out, err
	}
	signer := s.signatures
	if signer == nil || it.Owner.Mode == tenant.Test {
		if signer, err = seal.TestSigner(); err != nil {
			return out, err
		}
	}
	out.Dossier, out.SHA256 = canonical{json.RawMessage(d.Canonical)}, d.SHA256
	out.Signature, out.Key, err = seal.SignDetached(ctx, signer, []byte(d.Canonical))
	if err != nil {
		return out, errs.Wrap(err, errs.ProviderUnavailable, "The dossier cannot be signed at the moment. Repeat the "+
			"request.")
	}
	return out, nil
}
