package advice

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate/ask"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/record/event"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Worker makes diagnoses.
type Worker struct {
	DB        *store.DB
	Providers ask.Models
	// Offer is the part of the catalog that the stack offers.
	Offer catalog.Offer
	Now   func() time.Time
}

const (
	// maxAsked is the number of times that a text model is asked for proposals that fit.
	maxAsked = 3
	// maxFailures is the number of times in a row that it may fail to answer.
	maxFailures = 4
)

// analysis is what the figures of a factory show.
type analysis struct {
	Findings []Finding `json:"findings,omitempty"`
	// Best and Worst are the texts with the best and the worst figures.
	Best  []item.Performance `json:"best,omitempty"`
	Worst []item.Performance `json:"worst,omitempty"`
}

// proposed is what the answers of a model have told: the proposals that fit, and those of the last answer that do not.
type proposed struct {
	Drafts  []draft         `json:"drafts,omitempty"`
	Refused []rejectedDraft `json:"refused,omitempty"`
}

// subject holds the diagnosis and the factory of a step.
type subject struct {
	item    store.Item
	record  *DiagnosisRecord
	factory factory.Factory
}

// read reads the diagnosis of a task and its factory. It returns nil if nothing waits for
// the task any more: the factory was deleted, or the sandbox was reset.
func (w *Worker) read(ctx context.Context, r *task.Run, factoryID string) (*subject, error) {
	items, err := w.DB.GetAll(ctx, factoryrecord.Key(factoryID), Key(factoryID))
	if err != nil || !factoryrecord.Usable(items[0], r.Owner) || items[1].Kind == "" {
		return nil, err
	}
	d, err := DiagnosisDecode(&items[1])
	if err != nil {
		return nil, err
	}
	if d.ID != r.Subject || !d.Runs() {
		return nil, nil
	}
	f, err := factory.Decode(&items[0])
	return &subject{items[1], d, f}, err
}

// Diagnose analyzes the figures of a factory, and then asks a model for proposals, unless there is nothing to improve.
// A diagnosis whose analysis has failed fails. Without proposals it is complete, too.
func (w *Worker) Diagnose(ctx context.Context, r *task.Run) error {
	var p Work
	if err := r.Decode(&p); err != nil {
		return err
	}
	on, err := w.read(ctx, r, p.FactoryID)
	if err != nil || on == nil {
		return err
	}
	var found *analysis
	if err := r.Kept("analysis", &found); err != nil {
		return err
	}
	if found == nil && r.Cause() == nil {
		if found, err = w.analyze(ctx, r.Owner, on); err != nil {
			return err
		}
		if err := r.Keep("analysis", found); err != nil {
			return err
		}
		if len(found.Findings) > 0 {
			r.Also(w.change(r, p.FactoryID, func(_ *store.Tx, on *subject) error {
				on.record.State = Running
				return nil
			}))
			return r.Sleep(0)
		}
	}
	if found == nil {
		return r.End(w.change(r, p.FactoryID, func(_ *store.Tx, on *subject) error {
			on.record.State, on.record.Failure = Failed, failed(r.Cause(), on.record.Sandbox)
			return nil
		}))
	}
	var answer proposed
	if len(found.Findings) > 0 {
		answer, err = ask.Talk[proposed]{Models: w.Providers, Name: "proposals", Questions: maxAsked,
			Failures: maxFailures,
			Put: func(_ context.Context, known proposed) (ask.Question, error) {
				return w.question(r.Mode, on, found, known)
			},
			Take: func(known *proposed, answer json.RawMessage) (bool, error) {
				known.Drafts, known.Refused = judge(on.factory, known.Drafts, answer, w.Now())
				return len(known.Refused) == 0, nil
			}}.In(ctx, r)
		if task.Waits(err) {
			return err
		}
	}
	return r.End(w.change(r, p.FactoryID, func(tx *store.Tx, on *subject) error {
		return w.complete(tx, r.Owner, on, found, answer, err)
	}))
}

// analyze finds possible improvements.
func (w *Worker) analyze(ctx context.Context, o tenant.Owner, on *subject) (*analysis, error) {
	if r := on.record.Sandbox; r != nil && r.Outcome == OutcomeFailed {
		return nil, task.Permanent(errRehearsed)
	} else if r != nil && len(r.Findings) > 0 {
		return &analysis{Findings: Rehearsed(r.Findings)}, nil
	}
	facts, made, err := w.facts(ctx, o, on.factory)
	if err != nil {
		return nil, err
	}
	best, worst := item.Extremes(made, extremes)
	return &analysis{Find(facts), best, worst}, nil
}

// errRehearsed ends a diagnosis whose sandbox instructions ask for a failure.
var errRehearsed = errors.New("diagnose: the rehearsed failure")

// complete stores the findings, with the proposals that still fit the factory, and their events. The error is that of
// the questions to the model.
func (w *Worker) complete(tx *store.Tx, o tenant.Owner, on *subject, found *analysis, answer proposed,
	asked error) error {
	r, score := on.record, Score(found.Findings)
	r.State, r.Score, r.Findings = Completed, &score, append([]Finding{}, found.Findings...)
	for n, d := range answer.Drafts {
		if len(d.fits(on.factory, w.Now())) > 0 {
			continue // the factory has changed since
		}
		made, err := w.proposal(r, on.factory, n, d)
		if err != nil {
			return err
		}
		it, err := made.Entry(o)
		if err != nil {
			return err
		}
		tx.Create(it, nil)
		if err := made.Notify(tx, o, event.ProposalCreated); err != nil {
			return err
		}
		r.ProposalIDs = append(r.ProposalIDs, made.ID)
	}
	switch {
	case len(r.ProposalIDs) > 0 || len(found.Findings) == 0:
	case asked == nil:
		r.ProposalFailure = &Failure{Code: provider.FailedResultInvalid, Retryable: true,
			Message: "The text model wrote no proposal that the factory can take over. Start another diagnosis."}
	default:
		r.ProposalFailure = silent(asked)
	}
	return nil
}

// silent is why the model has not answered.
func silent(cause error) *Failure {
	if e := provider.Refused(cause); e != nil {
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

// change returns a change of the diagnosis, if it still waits for the task. The event of its completion follows from
// its state.
func (w *Worker) change(r *task.Run, factoryID string, change func(*store.Tx, *subject) error) func(context.Context,
	*store.Tx) error {
	return func(ctx context.Context, tx *store.Tx) error {
		on, err := w.read(ctx, r, factoryID)
		if err != nil || on == nil {
			return err
		}
		if err := change(tx, on); err != nil {
			return err
		}
		on.record.Touch(w.Now())
		if on.record.State == Completed {
			if err := on.record.Notify(tx, r.Owner); err != nil {
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
