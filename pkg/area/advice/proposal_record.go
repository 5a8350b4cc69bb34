package advice

import (
	"time"

	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// ProposalItemKind is the kind of a proposal in the table.
const ProposalItemKind = "proposal"

// ProposalState is the state of a proposal.
type ProposalState string

// The states. Expired is not stored: it follows from the clock.
const (
	Open      ProposalState = "open"
	Applied   ProposalState = "applied"
	Dismissed ProposalState = "dismissed"
	Expired   ProposalState = "expired"
)

// Life is the time for which a proposal can be applied.
const Life = 30 * 24 * time.Hour

// The sources of proposals.
const (
	FromDiagnosis  = "diagnosis"
	FromExperiment = "experiment"
)

// Proposal is a change that the service proposes for a factory.
type Proposal struct {
	resource.Resource
	// Factory to change.
	FactoryID string `json:"factory_id"`
	// Origin of the proposal: a diagnosis of the factory, a chat with the architect, or an experiment.
	Source string `json:"source" enum:"diagnosis,architect,experiment"`
	// Summary of the change, in one line.
	Title string `json:"title"`
	// Reason for the change.
	Rationale string `json:"rationale"`
	// The change, as a merge patch of the factory (RFC 7396).
	Patch map[string]any `json:"patch"`
	// Expected effect of the change.
	ExpectedEffect string `json:"expected_effect"`
	// Version of the factory that the proposal was made for. It can be applied to a later one unless the values that it
	// replaces have changed.
	BaseVersion int64 `json:"base_version"`
	// State of the proposal. open: it can be applied. expired: it was not applied in 30 days.
	State ProposalState `json:"state" enum:"open,applied,dismissed,expired"`
	// Time from which it can no longer be applied.
	ExpiresAt resource.Time `json:"expires_at"`
	// Version that the factory got by applying it. Null until applied.
	AppliedVersion *int64 `json:"applied_version"`
}

// ProposalRecord is the stored document of a proposal.
type ProposalRecord struct {
	Proposal
	// Base is what the factory's Under has returned for the patch.
	Base string `json:"base,omitempty"`
}

// NewProposal returns an open proposal for a factory with an id, of what it says. It refuses a patch that the factory
// does not take.
func NewProposal(f factory.Factory, proposalID string, says Proposal, now time.Time) (*ProposalRecord, error) {
	base, err := f.Under(says.Patch)
	if err != nil {
		return nil, err
	}
	p := &ProposalRecord{Base: base, Proposal: says}
	p.Resource, p.FactoryID, p.BaseVersion = resource.New(proposalID, now, nil), f.ID, f.Version
	p.State, p.ExpiresAt = Open, resource.Instant(now.Add(Life))
	if _, err := f.Change(p.Patch, now); err != nil {
		return nil, errs.Wrap(err, errs.InvalidState, "The factory does not take the change: %s", errs.As(err).Message)
	}
	return p, nil
}

// Apply adds the changed factory, which was read as an item, to the transaction.
func (p *ProposalRecord) Apply(tx *store.Tx, by *auth.Principal, f *factory.Factory, of store.Item,
	now time.Time) error {
	before, err := f.Before(now)
	if err != nil {
		return err
	}
	if _, err := f.Change(p.Patch, now); err != nil {
		return errs.Wrap(err, errs.StaleProposal, "The factory no longer takes this proposal over. Diagnose it "+
			"again for new proposals.")
	}
	if err := f.Permit(by, before); err != nil {
		return errs.Below("/patch", err)
	}
	f.Touch(now)
	p.State, p.AppliedVersion = Applied, &f.Version
	if of, err = f.Into(of); err != nil {
		return err
	}
	tx.Replace(of)
	return f.Notify(tx, of.Owner)
}

// Announce adds the event of a new proposal to the transaction: that it is applied, or that it is there.
func (p *Proposal) Announce(tx *store.Tx, o tenant.Owner) error {
	if p.State == Applied {
		return p.Notify(tx, o, event.ProposalApplied)
	}
	return p.Notify(tx, o, event.ProposalCreated)
}

// StateFilter and expiresFilter are the filters of proposals. An open one has the time at which it expires, so that
// lists find those that have expired without a write.
const (
	StateFilter   = "state"
	expiresFilter = "expires"
)

// Partition returns the partition of store.ByParent that lists the proposals of a factory.
func Partition(o tenant.Owner, factoryID string) string {
	return store.OwnerPartition(o, ProposalItemKind) + "#" + factoryID
}

// Entry returns the proposal as an item of the table.
func (p *ProposalRecord) Entry(o tenant.Owner) (store.Item, error) {
	it, err := store.NewItem(ProposalItemKind, o, p.ID, p)
	it.Parent = store.Key{PK: Partition(o, p.FactoryID), SK: p.ID}
	it.Filters = p.filters()
	return it, err
}

// Into writes the changed proposal into the item that it was read from.
func (p *ProposalRecord) Into(it store.Item) (store.Item, error) {
	it.Filters = p.filters()
	return it, it.Encode(p)
}

func (p *ProposalRecord) filters() map[string]string {
	f := map[string]string{StateFilter: string(p.State)}
	if p.State == Open {
		f[expiresFilter] = resource.SortableTime(p.ExpiresAt.Time)
	}
	return f
}

// ProposalDecode reads the proposal of an item, in the state that it has at a time.
func ProposalDecode(it *store.Item, now time.Time) (p ProposalRecord, err error) {
	err = it.Decode(&p)
	if p.State == Open && !now.Before(p.ExpiresAt.Time) {
		p.State = Expired
	}
	return p, err
}

// Notify adds an event of the proposal to the transaction.
func (p *Proposal) Notify(tx *store.Tx, o tenant.Owner, t event.Type) error {
	e, err := event.New(p.UpdatedAt.Time, o, t, p, nil)
	if err == nil {
		tx.Create(e, nil)
	}
	return err
}

// Filter returns the values of the filter StateFilter and the bounds that select the
// proposals which are in one of the states at a time; no states are all.
func Filter(states []ProposalState, now time.Time) (stored []string, bounds map[string]store.Bound) {
	open, expired := false, false
	for _, s := range states {
		switch s {
		case Open:
			open = true
		case Expired:
			expired = true
		default:
			stored = append(stored, string(s))
		}
	}
	if open || expired {
		stored = append(stored, string(Open))
	}
	if open != expired {
		bounds = map[string]store.Bound{expiresFilter: {At: resource.SortableTime(now), After: open}}
	}
	return stored, bounds
}
