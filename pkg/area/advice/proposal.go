package advice

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/content/experiment"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/event"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
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
	return event.Add(tx, p.UpdatedAt.Time, o, t, p)
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

// maxProposals is the greatest number of proposals of a diagnosis.
const maxProposals = 5

// The bounds of the texts of a proposal, in characters. Longer ones are cut.
const (
	maxTitle     = 120
	maxRationale = 1000
	maxEffect    = 300
)

// patched are the members of a factory that proposals may change. They describe its
// content. Proposals do not change its costs, its accounts, or whether it runs.
var patched = []string{"description", "audience", "tone", "topics", "content_types", "schedule", "settings"}

// draft is a proposal as the model writes it.
type draft struct {
	Title          string         `json:"title"`
	Rationale      string         `json:"rationale"`
	Patch          map[string]any `json:"patch"`
	ExpectedEffect string         `json:"expected_effect"`
}

// rejectedDraft is a draft that does not fit, with the reasons.
type rejectedDraft struct {
	Draft    *draft   `json:"proposal,omitempty"`
	Problems []string `json:"problems"`
}

// judge adds the proposals of an answer that fit the factory to those that are known, and
// returns why the others do not.
func judge(f factory.Factory, known []draft, answer json.RawMessage, now time.Time) (drafts []draft,
	refused []rejectedDraft) {
	drafts = slices.Clone(known)
	var form struct {
		Proposals []draft `json:"proposals"`
	}
	d := json.NewDecoder(bytes.NewReader(answer))
	d.DisallowUnknownFields()
	if err := d.Decode(&form); err != nil {
		return drafts, []rejectedDraft{{Problems: []string{"The answer is not of the form asked for: " + err.Error()}}}
	}
	for _, one := range form.Proposals {
		one.clean()
		problems := one.fits(f, now)
		if slices.ContainsFunc(drafts, func(other draft) bool { return reflect.DeepEqual(other.Patch, one.Patch) }) {
			continue
		}
		switch {
		case len(problems) > 0:
			refused = append(refused, rejectedDraft{&one, problems})
		case len(drafts) < maxProposals:
			drafts = append(drafts, one)
		}
	}
	if len(drafts) == 0 && len(refused) == 0 {
		refused = append(refused, rejectedDraft{Problems: []string{"There are no proposals."}})
	}
	return drafts, refused
}

// clean puts each text on one line, and cuts those that are too long.
func (d *draft) clean() {
	line := func(text string, most int) string {
		text = strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) || unicode.IsPrint(r) || r == '\u200c' || r == '\u200d' { // the last two join letters
				return r
			}
			return -1
		}, strings.ToValidUTF8(text, ""))
		return provider.Clip(strings.Join(strings.Fields(text), " "), most)
	}
	d.Title, d.Rationale, d.ExpectedEffect = line(d.Title, maxTitle), line(d.Rationale, maxRationale),
		line(d.ExpectedEffect, maxEffect)
}

// fits returns the reasons why the factory cannot take a draft over, or nothing if it can.
func (d *draft) fits(f factory.Factory, now time.Time) (problems []string) {
	for name, text := range map[string]string{"title": d.Title, "rationale": d.Rationale,
		"expected_effect": d.ExpectedEffect} {
		if text == "" {
			problems = append(problems, name+" is empty")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Patch)) {
		if !slices.Contains(patched, name) {
			problems = append(problems, fmt.Sprintf("/%s must not be changed", name))
		}
	}
	slices.Sort(problems)
	if len(problems) > 0 {
		return problems
	}
	changed, err := f.Change(d.Patch, now)
	if err == nil && !changed {
		return []string{"the patch changes nothing"}
	}
	if err != nil {
		e := errs.As(err)
		if len(e.Details) == 0 {
			return []string{e.Message}
		}
		for _, detail := range e.Details {
			problems = append(problems, detail.Param+" "+detail.Message)
		}
	}
	return problems
}

type applyExperimentInput struct {
	httpapi.IfMatch
	Body applyExperimentBody
}

type applyExperimentBody struct {
	// Whether the factory is changed at once. Absent: an open proposal is made, for you to apply.
	Apply bool `json:"apply,omitempty"`
}

// registerExperiments adds the operation that makes a proposal of an experiment.
func (s *Service) registerExperiments(r *httpapi.Router) {
	apply := httpapi.Op{ID: "applyExperiment", Method: http.MethodPost, Path: "/v1/experiments/{experiment_id}/apply",
		Scope: auth.FactoriesWrite, Function: "factory", Tag: "Analytics", Summary: "Apply the result of an experiment",
		Description: "Makes a proposal for the factory of the winners of a decided experiment, with the evidence, " +
			"once. With `apply`, it changes the factory at once. A length, a format and the style of pictures are no " +
			"settings of a factory: send them with your items, or name the experiment in `from_experiment_ids` of a " +
			"content plan.", Opens: httpapi.Publishing}
	apply.Status, apply.Errors = http.StatusCreated, []errs.Code{errs.InvalidState, errs.StaleProposal,
		errs.VersionMismatch}
	httpapi.Write(r, apply, s.applyExperiment)
}

func (s *Service) applyExperiment(ctx context.Context, tx *store.Tx, in *applyExperimentInput) (out Proposal,
	err error) {
	r, it, err := experiment.Find(ctx, s.db, httpapi.PathID(ctx))
	if err != nil {
		return out, err
	}
	if err := in.Check(r.Version); err != nil {
		return out, err
	}
	now := s.now()
	if r.State == experiment.Running {
		if _, err := r.LookAt(ctx, s.db, it.Owner, now); err != nil {
			return out, err
		}
	}
	if r.State != experiment.Decided || r.ProposalID != nil {
		why := "The experiment is " + string(r.State) + ", and has no winner to apply."
		if r.ProposalID != nil {
			why = "The experiment has made the proposal " + *r.ProposalID + " already: apply that one."
		}
		return out, errs.New(errs.InvalidState, "%s", why).In(string(r.State))
	}
	of, err := resource.Find(ctx, s.db, id.Factory, factory.Kind, r.FactoryID)
	if err != nil {
		return out, err
	}
	f, err := factory.Decode(&of)
	if err != nil {
		return out, err
	}
	made, err := propose(r, f, now)
	if err != nil {
		return out, err
	}
	if in.Body.Apply {
		if err := made.Apply(tx, auth.FromContext(ctx), &f, of, now); err != nil {
			return out, err
		}
	}
	return made.Proposal, propagate(tx, r, made, it, now)
}

// propagate adds the proposal of an experiment, and the experiment itself, to the transaction.
func propagate(tx *store.Tx, r *experiment.Record, made *ProposalRecord, it store.Item, now time.Time) error {
	p, err := made.Entry(it.Owner)
	if err != nil {
		return err
	}
	tx.Create(p, nil)
	r.ProposalID = &made.ID
	r.Touch(now)
	if err := tx.Rewrite(it, r); err != nil {
		return err
	}
	return made.Announce(tx, it.Owner)
}

// errNoSetting refuses the result of factors that are no settings of a factory.
var errNoSetting = errors.New("advice: no setting")

// propose returns the proposal of the winners.
func propose(r *experiment.Record, f factory.Factory, now time.Time) (*ProposalRecord, error) {
	patch, said := map[string]any{}, []string{}
	for _, w := range r.Winners {
		if setting(patch, f, r, w) {
			said = append(said, w.Factor+" "+strconv.Quote(w.Arm))
		}
	}
	if len(said) == 0 {
		return nil, errs.Wrap(errNoSetting, errs.InvalidState, "What has won is no setting of the factory. Send it "+
			"with your content items, or name the experiment in from_experiment_ids of a content plan.").
			In(string(r.State))
	}
	var evidence []string
	for _, w := range r.Winners {
		for _, res := range r.Results {
			if res.Factor == w.Factor && res.Estimate != nil && (res.Arm == w.Arm || w.Arm == first(r, w.Factor)) {
				evidence = append(evidence, fmt.Sprintf("%s: a post does better than one of %s with the probability "+
					"%.2f (%.2f to %.2f, %d posts)", res.Arm, first(r, w.Factor), 0.5+*res.Estimate, 0.5+*res.Lower,
					0.5+*res.Upper, res.N))
			}
		}
	}
	title := "Use " + strings.Join(said, " and ")
	return NewProposal(f, id.Derived(id.Proposal, r.EndedAt.Time, r.ID), Proposal{
		Source: FromExperiment, Title: title, Rationale: r.Question + " " + strings.Join(evidence, ". ") + ".",
		Patch: patch, ExpectedEffect: "More " + r.Metric.Name + " on " + r.Metric.Platform + "."}, now)
}

// first returns the first arm of a factor.
func first(r *experiment.Record, factor string) string {
	i := slices.IndexFunc(r.Factors, func(f experiment.Factor) bool { return f.Name == factor })
	return r.Factors[i].Arms[0]
}

// setting adds the winner to the patch of a factory, and reports whether there is such a setting.
func setting(patch map[string]any, f factory.Factory, r *experiment.Record, w experiment.Winner) bool {
	settings, _ := patch["settings"].(map[string]any)
	if settings == nil {
		settings = map[string]any{}
	}
	switch w.Factor {
	case experiment.FactorHook:
		patch["tone"] = strings.TrimPrefix(string(f.Tone)+"; "+experiment.Hooks[w.Arm], "; ")
	case experiment.FactorPillar:
		topics := []any{w.Arm}
		for _, t := range f.Topics {
			if string(t) != w.Arm {
				topics = append(topics, string(t))
			}
		}
		patch["topics"] = topics
	case experiment.FactorSlot:
		times := []any{w.Arm}
		if f.Schedule != nil {
			i := slices.IndexFunc(r.Factors, func(f experiment.Factor) bool { return f.Name == experiment.FactorSlot })
			for _, at := range f.Schedule.Times {
				if !slices.Contains(r.Factors[i].Arms, at) {
					times = append(times, at)
				}
			}
		}
		patch["schedule"] = map[string]any{"timezone": r.Zone, "times": times}
	case experiment.FactorCaptionStyle:
		settings["caption_style"], patch["settings"] = w.Arm, settings
	case experiment.FactorFirstFrame:
		settings["post_headlines"], patch["settings"] = w.Arm == "headline", settings
	default:
		return false
	}
	return true
}

// ExperimentApplier applies the results of experiments with auto_apply, on behalf of who has created them.
type ExperimentApplier struct {
	DB  *store.DB
	Now func() time.Time
}

// Apply adds the applied proposal of the winners to the transaction. It reports false, and changes nothing, if the
// factory does not take it: the result stays, for people to decide.
func (w ExperimentApplier) Apply(ctx context.Context, tx *store.Tx, r *experiment.Record,
	it store.Item) (bool, error) {
	of, err := w.DB.Lookup(ctx, factoryrecord.Key(r.FactoryID))
	if err != nil || !factoryrecord.Usable(of, it.Owner) {
		return false, err
	}
	f, err := factory.Decode(&of)
	if err != nil {
		return false, err
	}
	now := w.Now()
	held, err := r.Authority.Find(ctx, w.DB, it.Owner, now)
	if err == nil {
		err = authority.Lacks(held.Principal, auth.FactoriesWrite)
	}
	if ended := (*authority.EndedError)(nil); errors.As(err, &ended) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	held.Hold(tx)
	made, err := propose(r, f, now)
	if err == nil {
		err = made.Apply(tx, held.Principal, &f, of, now)
	}
	if refused := (*errs.Error)(nil); errors.As(err, &refused) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, propagate(tx, r, made, it, now)
}
