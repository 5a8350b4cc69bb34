// Package training holds the operations by which a factory trains a text model of its own from the content that it has
// generated. Service.Register has the operations; the task is in worker.go.
package training

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// Service starts and reads trainings.
type Service struct {
	db        *store.DB
	factories *factory.Service
	offer     catalog.Offer
	now       func() time.Time
}

// NewService makes the service. The offer is the part of the catalog that the stack offers.
func NewService(db *store.DB, factories *factory.Service, offer catalog.Offer, now func() time.Time) *Service {
	return &Service{db, factories, offer, now}
}

// The usual durations of a training.
const (
	usualSandbox = 2 * time.Second
	usualLive    = 2 * time.Hour
)

// plan is a training that can be started.
type plan struct {
	base    catalog.Model
	samples Samples
	credits int64
}

// plan chooses the base model of a training and its samples, and prices it. It reads the
// factory's content in a bounded number of round trips: the price depends on all of it.
func (s *Service) plan(ctx context.Context, f factory.Factory, asked string, live bool) (plan, error) {
	usual, _ := f.TextModel()
	base, err := s.offer.Base(asked, usual, "/base_model", live)
	if err != nil {
		return plan{}, err
	}
	samples, err := Collect(ctx, s.db, auth.FromContext(ctx).Owner, f.ID, "")
	if err != nil {
		return plan{}, err
	}
	if n := samples.Count(); n < MinSamples {
		return plan{}, errs.Invalid("", "The factory has too few generated content items with texts: %d. A training "+
			"needs at least %d: generate more content first.", n, MinSamples)
	}
	return plan{base, samples, base.Training.Cost(samples.Tokens)}, nil
}

// open reads the factory of a call, its training and other items.
func (s *Service) open(ctx context.Context, factoryID string, others ...store.Key) (f factory.Factory,
	beside []store.Item, err error) {
	if !id.Valid(id.Factory, factoryID) {
		return f, nil, errs.Missing(factory.Kind, factoryID)
	}
	found, beside, err := s.factories.FindAll(ctx, []string{factoryID},
		append([]store.Key{Key(factoryID)}, others...)...)
	if err != nil {
		return f, nil, err
	}
	f, ok := found[factoryID]
	if !ok {
		return f, nil, errs.Missing(factory.Kind, factoryID)
	}
	return f, beside, nil
}

// permit refuses a training of a factory that is paused, or that has one running.
func permit(f factory.Factory, earlier store.Item) error {
	if f.State == factory.StatePaused {
		return errs.New(errs.InvalidState, "The factory %s is paused and makes nothing new. Set its state to active "+
			"first.", f.ID).In(f.State, "update")
	}
	if earlier.Kind != ItemKind {
		return nil
	}
	r, err := Decode(&earlier)
	if err == nil && r.Runs() {
		err = errs.New(errs.InvalidState, "The factory has a training that is %s. Wait until it has ended.", r.State).
			In(string(r.State))
	}
	return err
}

func (s *Service) start(ctx context.Context, tx *store.Tx, in *startInput) (out Training, err error) {
	p, now, b := auth.FromContext(ctx), s.now(), in.Body
	live := p.Mode == tenant.Live
	if err := checkRehearsal(b.Sandbox, p.Mode); err != nil {
		return out, err
	}
	var funds []store.Key
	if live {
		funds = ledger.FundsKeys(p.Account, now)
	}
	f, beside, err := s.open(ctx, in.ID, funds...)
	if err != nil {
		return out, err
	}
	if err := permit(f, beside[0]); err != nil {
		return out, err
	}
	chosen, err := s.plan(ctx, f, b.BaseModel, live)
	if err != nil {
		return out, err
	}
	r := &Record{
		Training: Training{
			Resource:  resource.New(id.New(id.Training, now), now, b.Metadata),
			FactoryID: f.ID, BaseModel: chosen.base.ID, State: Queued, Samples: chosen.samples.Count(),
			Usual: usualSandbox,
		},
		Sandbox: b.Sandbox, Newest: chosen.samples.Newest, Tokens: chosen.samples.Tokens,
	}
	if b.Sandbox != nil {
		if err := generate.RehearsedError(b.Sandbox.Outcome, chosen.credits, p); err != nil {
			return out, err
		}
		r.Usual += time.Duration(b.Sandbox.DelaySeconds) * time.Second
	}
	if live {
		r.Usual = usualLive
		if err := r.Reserve(tx, now, f.In(p.Owner), chosen.credits, ledger.PayerOf(now, p),
			ledger.FundsOf(beside[1:])); err != nil {
			return out, err
		}
	}
	return r.View(), Begin(tx, now, f.In(p.Owner), r, beside[0])
}

// checkRehearsal rejects instructions for the sandbox that come with a live key, or contradict each other.
func checkRehearsal(r *Rehearsal, mode tenant.Mode) error {
	if r != nil && mode == tenant.Test && r.FailureCode != "" && r.Outcome != string(Failed) {
		return errs.Invalid("/sandbox/failure_code", "needs outcome failed")
	}
	return httpapi.CheckSandbox(r != nil, mode)
}

func (s *Service) get(ctx context.Context, in *factory.FactoryPath) (out Training, err error) {
	_, beside, err := s.open(ctx, in.ID)
	if err != nil {
		return out, err
	}
	if beside[0].Kind != ItemKind {
		return out, errs.New(errs.NotFound, "The factory %s has no training yet. Start one with POST "+
			"/v1/factories/%s/training.", in.ID, in.ID)
	}
	r, err := Decode(&beside[0])
	if err != nil {
		return out, err
	}
	return r.View(), nil
}

// Estimate returns the credits of a training of a factory with a body, with a live key.
// Places in errors begin below the body.
func (s *Service) Estimate(ctx context.Context, factoryID string, body any) ([]int64, error) {
	b, err := httpapi.Member[createBody]("body", body)
	if err != nil {
		return nil, err
	}
	if err := checkRehearsal(b.Sandbox, auth.FromContext(ctx).Mode); err != nil {
		return nil, err
	}
	f, beside, err := s.open(ctx, factoryID)
	if err != nil {
		return nil, err
	}
	if err := permit(f, beside[0]); err != nil {
		return nil, err
	}
	chosen, err := s.plan(ctx, f, b.BaseModel, true)
	return []int64{chosen.credits}, err
}
