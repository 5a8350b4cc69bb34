package architect

import (
	"context"
	"net/http"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

type updateBody struct {
	// Merge patch (RFC 7396) of the body. The result must be a body that its operation accepts.
	Body map[string]any `json:"body,omitempty"`
	// discarded: the draft can no longer be applied.
	State State `json:"state,omitempty" enum:"discarded"`
	// Pairs to set. A null value removes that pair; null removes all.
	Metadata resource.MetadataPatch `json:"metadata,omitempty" nullable:"true"`
}

type updateInput struct {
	DraftPath
	httpapi.IfMatch
	Body updateBody
}

type applyInput struct {
	DraftPath
	httpapi.IfMatch
}

// changeable are the members of a draft that a caller may change.
type changeable struct {
	Body     map[string]any    `json:"body"`
	State    State             `json:"state"`
	Metadata resource.Metadata `json:"metadata"`
}

func (s *Service) registerDrafts(r *httpapi.Router) {
	update := op("updateDraft", http.MethodPatch, "drafts/{draft_id}", "Change a draft",
		"Takes a JSON merge patch (RFC 7396). The key needs the scope of the operation that applying carries out as "+
			"well. `body` is validated as the operation validates it that applying carries out. Set `state` to "+
			"discard the draft.").Opening(httpapi.Nothing)
	update.Errors = []errs.Code{errs.InvalidState, errs.UnsupportedModel, errs.VersionMismatch}
	update.Fixed = map[string]string{"kind": "ask the architect for another draft",
		"factory_id": "ask the architect for another draft", "content_item_id": "ask the architect for another draft"}
	httpapi.Write(r, update, s.update)

	apply := op("applyDraft", http.MethodPost, "drafts/{draft_id}/apply", "Apply a draft",
		"Carries out `POST /v1/factories`, `POST /v1/factories/{factory_id}/content-plan` or `POST "+
			"/v1/content-items` with the body of the draft, or for a change `PATCH /v1/factories/{factory_id}` or "+
			"`PATCH /v1/content-items/{content_item_id}`, and shows the id of what was created or changed as "+
			"`result_id`. The key needs the scope of that operation as well, and the cost is reserved as by that "+
			"operation. A draft is applied once, in the version that `If-Match` names, which is required: another "+
			"key may have changed the draft since you read it. A refusal names the member of the draft's body.").
		Opening(httpapi.Spending | httpapi.Publishing)
	apply.Status = http.StatusCreated
	apply.Errors = []errs.Code{errs.InvalidState, errs.ValidationFailed, errs.UnsupportedModel,
		errs.InsufficientBalance, errs.SpendLimitReached, errs.QueueFull, errs.VersionMismatch}
	httpapi.Write(r, apply, s.apply)
}

// open refuses a draft that has been applied or discarded.
func open(d Draft) error {
	if d.State == Open {
		return nil
	}
	return errs.New(errs.InvalidState, "The draft is %s already. Ask the architect for another one.", d.State).
		In(string(d.State))
}

func (s *Service) update(ctx context.Context, tx *store.Tx, in *updateInput) (Draft, error) {
	d, it, err := s.draft(ctx, in.ID)
	if err != nil {
		return d, err
	}
	if err := in.Check(d.Version); err != nil {
		return d, err
	}
	if err := open(d); err != nil {
		return d, err
	}
	set, err := httpapi.MergePatch(ctx, changeable{d.Body, d.State, d.Metadata})
	if err != nil {
		return d, err
	}
	d.Body, d.State, d.Metadata = set.Body, set.State, set.Metadata.OrEmpty()
	if httpapi.Patched(ctx)["body"] {
		if err := s.check(ctx, d); err != nil {
			return d, err
		}
		d.FactoryID = subject(d)
	}
	return d, s.replace(tx, it, &d)
}

// subject returns the factory that a draft is for. A content item has it in its body.
func subject(d Draft) *string {
	if of, ok := d.Body["factory_id"].(string); ok && d.Kind == ContentItem {
		return &of
	}
	return d.FactoryID
}

// replace adds the changed draft to the transaction.
func (s *Service) replace(tx *store.Tx, it store.Item, d *Draft) error {
	d.Touch(s.now())
	it, err := d.Into(it)
	tx.Replace(it)
	return err
}

func (s *Service) apply(ctx context.Context, tx *store.Tx, in *applyInput) (Draft, error) {
	d, it, err := s.draft(ctx, in.ID)
	if err != nil {
		return d, err
	}
	if err := open(d); err != nil {
		return d, err
	}
	// A draft that has ended reports that, whatever version the caller expects.
	if err := in.Require(d.Version); err != nil {
		return d, err
	}
	made, err := s.carryOut(ctx, tx, d)
	if err != nil {
		return d, err
	}
	d.State, d.ResultID = Applied, &made
	return d, s.replace(tx, it, &d)
}

// carryOut adds the resource or the change of a draft to the transaction, and returns the id.
func (s *Service) carryOut(ctx context.Context, tx *store.Tx, d Draft) (string, error) {
	switch d.Kind {
	case Factory:
		f, err := s.factories.CreateFrom(ctx, tx, d.Body)
		if err != nil {
			return "", err
		}
		return f.ID, s.bind(ctx, tx, d.ChatID, f.ID)
	case ContentPlan:
		p, err := s.plans.CreateFrom(ctx, tx, *d.FactoryID, d.Body)
		return p.ID, err
	case FactoryChange:
		f, err := s.factories.ChangeFrom(ctx, tx, *d.FactoryID, d.Body)
		return f.ID, err
	case ContentItemChange:
		i, err := s.items.ChangeFrom(ctx, tx, *d.ContentItemID, d.Body)
		return i.ID, err
	default:
		i, err := s.items.CreateFrom(ctx, tx, d.Body)
		return i.ID, err
	}
}

// bind has a chat that is about no factory be about the one that it has led to.
func (s *Service) bind(ctx context.Context, tx *store.Tx, chatID, factoryID string) error {
	r, it, _, err := s.chat(ctx, chatID)
	switch {
	case errs.CodeOf(err) == errs.NotFound: // a reset of the sandbox is removing it
		return nil
	case err != nil || r.FactoryID != nil:
		return err
	}
	r.FactoryID = &factoryID
	r.Touch(s.now())
	if err := it.Encode(r); err != nil {
		return err
	}
	tx.Replace(it)
	return nil
}
