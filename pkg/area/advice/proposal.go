package advice

import (
	"context"
	"net/http"
	"sync"

	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/event"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

type listInput struct {
	httpapi.PageInput
	FactoryPath
	// Only the proposal with this id.
	ID string `query:"id" example:"prp_01h455vb4pex5vsknk084sn02q"`
	// Only proposals in these states, separated by commas.
	State []ProposalState `query:"state" enum:"open,applied,dismissed,expired" nullable:"false"`
}

type applyInput struct {
	FactoryPath
	// Id of the proposal.
	ProposalID string `path:"proposal_id" example:"prp_01h455vb4pex5vsknk084sn02q"`
	httpapi.IfMatch
}

func (s *Service) registerProposals(r *httpapi.Router) {
	list := op("listProposals", http.MethodGet, "/proposals", auth.FactoriesRead, "List the proposals for a factory",
		"Newest first.").Opening(httpapi.Nothing)
	list.Errors = []errs.Code{errs.InvalidCursor}
	httpapi.List(r, list, s.list)

	apply := op("applyProposal", http.MethodPost, "/proposals/{proposal_id}/apply", auth.FactoriesWrite,
		"Apply a proposal",
		"Changes the factory as the patch of the proposal says, and sends the event `proposal.applied`. It can be "+
			"applied once. If a value that the patch replaces has changed since the proposal was made, the answer is "+
			"`stale_proposal`. Proposals that change different members of a factory can all be applied. `If-Match` "+
			"takes the ETag of the proposal, which is its version.").Opening(httpapi.Publishing)
	apply.Errors = []errs.Code{errs.InvalidState, errs.StaleProposal, errs.VersionMismatch}
	httpapi.Write(r, apply, s.apply)
}

// list lists the proposals for a factory, which is looked up at the same time.
func (s *Service) list(ctx context.Context, in *listInput) (httpapi.Page[Proposal], error) {
	now := s.now()
	stored, bounds := Filter(in.State, now)
	q := store.Query{
		Index: store.ByParent, Partition: Partition(auth.FromContext(ctx).Owner, in.FactoryID),
		Filters: map[string]string{StateFilter: httpapi.AnyOf(stored)}, Bounds: bounds,
	}
	var page httpapi.Page[Proposal]
	if err := httpapi.Only(&q, id.Proposal, "a proposal", in.ID); err != nil {
		return page, err
	}
	var failed error
	var listing sync.WaitGroup
	listing.Go(func() {
		page, failed = httpapi.ListItems(ctx, s.db, q, in.PageInput,
			func(it store.Item) (Proposal, error) {
				p, err := ProposalDecode(&it, now)
				return p.Proposal, err
			})
	})
	it, err := resource.Find(ctx, s.db, id.Factory, factoryrecord.Kind, in.FactoryID)
	listing.Wait()
	switch {
	case err != nil:
		return httpapi.Page[Proposal]{}, err
	case !factoryrecord.Usable(it, it.Owner):
		return httpapi.Page[Proposal]{}, errs.Missing(factoryrecord.Kind, in.FactoryID)
	}
	return page, failed
}

func (s *Service) apply(ctx context.Context, tx *store.Tx, in *applyInput) (out Proposal, err error) {
	missing := errs.Missing("proposal", in.ProposalID)
	if !id.Valid(id.Proposal, in.ProposalID) {
		return out, missing
	}
	owner, now := auth.FromContext(ctx).Owner, s.now()
	found, beside, err := resource.FindAll(ctx, s.db, id.Factory, []string{in.FactoryID}, store.IDKey(in.ProposalID))
	if err != nil {
		return out, err
	}
	of, it := found[in.FactoryID], beside[0]
	switch {
	case !factoryrecord.Usable(of, owner):
		return out, errs.Missing(factoryrecord.Kind, in.FactoryID)
	case it.Kind != ProposalItemKind || it.Owner != of.Owner:
		return out, missing
	}
	f, err := factory.Decode(&of)
	if err != nil {
		return out, err
	}
	p, err := ProposalDecode(&it, now)
	switch {
	case err != nil:
		return out, err
	case p.FactoryID != in.FactoryID:
		return out, missing
	}
	if err := in.Check(p.Version); err != nil {
		return out, err
	}
	if p.State == Open && p.BaseVersion != f.Version {
		// One read of two items is not of one moment: this proposal may have been applied
		// between the two, which is a better reason than the version that it made.
		if it, err = s.db.Get(ctx, it.Key); err != nil {
			return out, err
		}
		if p, err = ProposalDecode(&it, now); err != nil {
			return out, err
		}
	}
	if err := permit(p, f); err != nil {
		return out, err
	}
	if err := p.Apply(tx, auth.FromContext(ctx), &f, of, now); err != nil {
		return out, err
	}
	p.Touch(now)
	if it, err = p.Into(it); err != nil {
		return out, err
	}
	tx.Replace(it)
	return p.Proposal, p.Notify(tx, owner, event.ProposalApplied)
}

// permit refuses a proposal that is no longer open, or would replace values that have changed since it was made.
func permit(p ProposalRecord, f factory.Factory) error {
	switch {
	case p.State == Expired:
		return errs.New(errs.InvalidState,
			"The proposal has expired. Diagnose the factory again.").In(string(p.State))
	case p.State != Open:
		return errs.New(errs.InvalidState, "The proposal is %s already.",
			p.State).In(string(p.State))
	case p.BaseVersion == f.Version:
		return nil
	}
	base, err := f.Under(p.Patch)
	if err == nil && base != p.Base {
		return errs.New(errs.StaleProposal, "What this proposal changes has been changed since it was made for "+
			"version %d of the factory: its version is now %d. Diagnose it again for new "+
			"proposals.", p.BaseVersion, f.Version)
	}
	return err
}
