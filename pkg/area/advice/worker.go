package advice

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/record/event"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Providers finds the provider of a name for work in a mode.
type Providers interface {
	For(name string, mode tenant.Mode) (provider.Provider, error)
}

// Worker is the handler of the tasks of diagnoses.
type Worker struct {
	DB        *store.DB
	Providers Providers
	// Offer is the part of the catalog that the stack offers.
	Offer catalog.Offer
	Now   func() time.Time
}

var _ task.Handler = (*Worker)(nil)

const (
	// maxAsked is the number of times that a text model is asked for proposals that fit.
	maxAsked = 3
	// maxFailures is the number of times in a row that it may fail to answer.
	maxFailures = 4
)

// progress is the payload of a task. Its first is a Work.
type progress struct {
	Work
	// Analyzed reports that the findings are known.
	Analyzed bool      `json:"analyzed,omitempty"`
	Findings []Finding `json:"findings,omitempty"`
	// Best and Worst are the texts with the best and the worst figures.
	Best  []item.Performance `json:"best,omitempty"`
	Worst []item.Performance `json:"worst,omitempty"`
	// Drafts are the proposals that fit, Refused the proposals of the last answer that do
	// not, and Asked the number of times that the model was asked.
	Drafts  []draft         `json:"drafts,omitempty"`
	Refused []rejectedDraft `json:"refused,omitempty"`
	Asked   int             `json:"asked,omitempty"`
}

// subject holds the diagnosis and the factory of a step.
type subject struct {
	item    store.Item
	record  *DiagnosisRecord
	factory factory.Factory
}

// read reads the diagnosis of a task and its factory. It returns nil if nothing waits for
// the task any more: the factory was deleted, or the sandbox was reset.
func (w *Worker) read(ctx context.Context, s *task.Step, factoryID string) (*subject, error) {
	items, err := w.DB.GetAll(ctx, factoryrecord.Key(factoryID), Key(factoryID))
	if err != nil || !factoryrecord.Usable(items[0], s.Owner) || items[1].Kind == "" {
		return nil, err
	}
	r, err := DiagnosisDecode(&items[1])
	if err != nil {
		return nil, err
	}
	if r.ID != s.Subject || !r.Runs() {
		return nil, nil
	}
	f, err := factory.Decode(&items[0])
	return &subject{items[1], r, f}, err
}

// Step takes the next step: the analysis, and then the questions to the model.
func (w *Worker) Step(ctx context.Context, s *task.Step) (o task.Outcome, err error) {
	var p progress
	if err := s.Decode(&p); err != nil {
		return o, err
	}
	on, err := w.read(ctx, s, p.FactoryID)
	switch {
	case err != nil:
		return o, err
	case on == nil:
		return task.Outcome{Done: true}, nil
	case !p.Analyzed:
		return w.analyze(ctx, s, p, on)
	}
	return w.propose(ctx, s, p, on)
}

// analyze finds possible improvements. If there are none, the diagnosis is complete.
func (w *Worker) analyze(ctx context.Context, s *task.Step, p progress, on *subject) (o task.Outcome, err error) {
	if r := on.record.Sandbox; r != nil && r.Outcome == OutcomeFailed {
		return o, task.Permanent(errRehearsed)
	}
	if r := on.record.Sandbox; r != nil && len(r.Findings) > 0 {
		p.Findings = Rehearsed(r.Findings)
	} else {
		facts, made, err := w.facts(ctx, s.Owner, on.factory)
		if err != nil {
			return o, err
		}
		p.Best, p.Worst = item.Extremes(made, extremes)
		p.Findings = Find(facts)
	}
	p.Analyzed = true
	if len(p.Findings) == 0 {
		return w.complete(s, p, nil), nil
	}
	o.Payload = p
	o.Join = w.join(s, p.FactoryID, func(_ *store.Tx, on *subject) error {
		on.record.State = Running
		return nil
	})
	return o, nil
}

// errRehearsed ends a diagnosis whose sandbox instructions ask for a failure.
var errRehearsed = errors.New("diagnose: the rehearsed failure")

// propose has the model write proposals, and completes the diagnosis once they fit or it was asked often enough.
func (w *Worker) propose(ctx context.Context, s *task.Step, p progress, on *subject) (o task.Outcome, err error) {
	if p.Asked >= maxAsked {
		return w.complete(s, p, silent(nil)), nil
	}
	// Two deliveries of the message must not ask at the same time. An attempt whose function died counts, too.
	p.Asked++
	if err := s.Lease(ctx, p); err != nil {
		return o, err
	}
	answer, err := w.ask(ctx, s, p, on)
	if err != nil {
		p.Asked-- // that is counted by the task
		return task.Outcome{Payload: p}, classify(err)
	}
	if p.Drafts, p.Refused = judge(on.factory, p.Drafts, answer, w.Now()); len(p.Refused) > 0 && p.Asked < maxAsked {
		o.Payload = p
		return o, nil
	}
	return w.complete(s, p, unfit), nil
}

// unfit is why there are no proposals although the model has answered.
var unfit = &Failure{
	Code: provider.FailedResultInvalid, Retryable: true,
	Message: "The text model wrote no proposal that the factory can take over. Start another diagnosis.",
}

// classify wraps the error of a question in one that decides between another attempt and the end of the questions.
func classify(cause error) error {
	var e *provider.Error
	if !errors.As(cause, &e) {
		return cause
	}
	if e.Kind == provider.BadInput || e.Kind == provider.Rejected {
		return task.Permanent(cause)
	}
	return &task.RetryError{Err: cause, After: e.RetryAfter, Most: maxFailures}
}

// Fail completes a diagnosis without proposals, or fails one whose analysis failed.
func (w *Worker) Fail(_ context.Context, s *task.Step, cause error) (o task.Outcome, err error) {
	var p progress
	if err := s.Decode(&p); err != nil {
		return o, err
	}
	if p.Analyzed {
		return w.complete(s, p, silent(cause)), nil
	}
	o.Join = w.join(s, p.FactoryID, func(_ *store.Tx, on *subject) error {
		on.record.State, on.record.Failure = Failed, failed(cause, on.record.Sandbox)
		return nil
	})
	return o, nil
}

// silent is why the model has not answered.
func silent(cause error) *Failure {
	var e *provider.Error
	if errors.As(cause, &e) && (e.Kind == provider.BadInput || e.Kind == provider.Rejected) {
		return &Failure{Code: provider.FailureCode(e.Code), Message: e.Message +
			" The findings do not depend on it.", Retryable: e.Kind == provider.Rejected}
	}
	return &Failure{Code: provider.FailedProviderUnavailable,
		Message:   "The text model could not be reached after several attempts. Start another diagnosis later.",
		Retryable: true}
}

// failed is why there are no findings.
func failed(cause error, r *Rehearsal) *Failure {
	code := provider.FailedGeneration
	switch {
	case errors.Is(cause, task.ErrDeadline):
		code = provider.FailedTimeout
	case errors.Is(cause, errRehearsed) && r.FailureCode != "":
		code = r.FailureCode
	}
	return &Failure{Code: code, Message: "The factory could not be diagnosed. Start another diagnosis.",
		Retryable: true}
}

// complete is the outcome that stores the findings, with the proposals that still fit the
// factory, and their events. Missing is the reason if there are none.
func (w *Worker) complete(s *task.Step, p progress, missing *Failure) task.Outcome {
	join := w.join(s, p.FactoryID, func(tx *store.Tx, on *subject) error {
		r := on.record
		score := Score(p.Findings)
		r.State, r.Score, r.Findings = Completed, &score, append([]Finding{}, p.Findings...)
		for n, d := range p.Drafts {
			if len(d.fits(on.factory, w.Now())) > 0 {
				continue // the factory has changed since
			}
			made, err := w.proposal(r, on.factory, n, d)
			if err != nil {
				return err
			}
			it, err := made.Entry(s.Owner)
			if err != nil {
				return err
			}
			tx.Create(it, nil)
			if err := made.Notify(tx, s.Owner, event.ProposalCreated); err != nil {
				return err
			}
			r.ProposalIDs = append(r.ProposalIDs, made.ID)
		}
		if len(r.ProposalIDs) == 0 {
			r.ProposalFailure = missing
		}
		return nil
	})
	return task.Outcome{Done: true, Join: join}
}

// proposal makes the n-th proposal of a diagnosis of a draft.
func (w *Worker) proposal(r *DiagnosisRecord, f factory.Factory, n int, d draft) (*ProposalRecord, error) {
	now := w.Now()
	base, err := f.Under(d.Patch)
	return &ProposalRecord{Base: base, Proposal: Proposal{
		// The id has the time of the diagnosis, so that a reset of the sandbox removes both,
		// less a little for each, so that lists have the most useful proposal first.
		Resource: resource.New(id.Derived(id.Proposal, r.CreatedAt.Add(-time.Duration(n)*time.Millisecond), r.ID,
			fmt.Sprint(n)), now, nil),
		FactoryID: f.ID, Source: FromDiagnosis, Title: d.Title, Rationale: d.Rationale, Patch: d.Patch,
		ExpectedEffect: d.ExpectedEffect,
		BaseVersion:    f.Version, State: Open, ExpiresAt: resource.Instant(now.Add(Life)),
	}}, err
}

// join returns an Outcome.Join that changes the diagnosis. The event of its completion follows from its state.
func (w *Worker) join(s *task.Step, factoryID string, change func(*store.Tx, *subject) error) func(context.Context,
	*store.Tx) error {
	return func(ctx context.Context, tx *store.Tx) error {
		on, err := w.read(ctx, s, factoryID)
		if err != nil {
			return err
		}
		if on == nil {
			return task.ErrMoved // the next delivery ends the task
		}
		if err := change(tx, on); err != nil {
			return err
		}
		on.record.Touch(w.Now())
		if on.record.State == Completed {
			if err := on.record.Notify(tx, s.Owner); err != nil {
				return err
			}
		}
		if err := on.item.Encode(on.record); err != nil {
			return err
		}
		tx.Replace(on.item)
		return nil
	}
}
