// Package training holds the operations by which a factory trains a text model of its own from the content that it has
// generated. Service.Register has the operations; the task is in worker.go.
package training

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
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

type createBody struct {
	// Id of a text model whose training is not null in the catalog. Absent: the factory's text model if it can be
	// trained, or else one that can.
	BaseModel string `json:"base_model,omitempty" maxLength:"100" example:"nova-lite"`
	// Simulated result. For test keys only.
	Sandbox *Rehearsal `json:"sandbox,omitempty"`
	// Up to 20 key-value pairs of your own.
	Metadata resource.Metadata `json:"metadata,omitempty"`
}

type startInput struct {
	factory.FactoryPath
	Body createBody
}

// Register puts the operations into the router.
func (s *Service) Register(r *httpapi.Router) {
	const path = "/v1/factories/{factory_id}/training"
	op := func(id, method string, scope auth.Scope, summary, description string) httpapi.Op {
		return httpapi.Op{ID: id, Method: method, Path: path, Scope: scope, Function: "factory", Tag: "Factories",
			Summary: summary, Description: description}
	}
	start := op("startTraining", http.MethodPost, auth.FactoriesWrite, "Train a model",
		"Trains a text model of the factory's own from the texts of its newest generated content items: at least 50, "+
			"at most 1,000. It runs in the background for hours, 48 at most; the event `training.completed` or "+
			"`training.failed` reports its end. The trained model is then in `GET /v1/catalog/models`, with "+
			"`fine_tuned_from`; set `models.text` of the factory to its id to use it. A factory has one trained "+
			"model: a later training replaces it under the same id. "+
			"The cost depends on the length of the texts and the base model: it is reserved now, charged when the "+
			"model is ready, and released if the training fails or the factory is deleted. `POST "+
			"/v1/balance/estimates` returns it beforehand. With a test key nothing is spent, and `sandbox` selects "+
			"the result.").Opening(httpapi.Spending)
	start.Status = http.StatusAccepted
	start.Errors = []errs.Code{errs.NotFound, errs.InvalidState, errs.UnsupportedModel, errs.InsufficientBalance,
		errs.SpendLimitReached}
	httpapi.Write(r, start, s.start)

	httpapi.Read(r, op("getTraining", http.MethodGet, auth.FactoriesRead, "Get the training",
		"Returns the factory's latest training. Without one it returns `not_found`.").Opening(httpapi.Nothing), s.get)
}

// Mount registers the operations.
func Mount(r *httpapi.Router, e area.Env) {
	NewService(e.DB, factory.NewService(e.DB, e.Now), e.Offer(), e.Now).Register(r)
}

var (
	_ = format.Define("training-failure", format.Format{Values: format.Values(FailedTraining, FailedRefused,
		FailedSamples, FailedUnavailable, FailedTimeout)})
	_ = format.Define("training-outcome", format.Format{
		Values: format.Words("completed failed insufficient_balance spend_limit_reached rate_limited")})
)

// ItemKind is the kind of a training in the table.
const ItemKind = "training"

// State is the state of a training.
type State string

// The states. The last three are final.
const (
	Queued    State = "queued"
	Running   State = "running"
	Completed State = "completed"
	Failed    State = "failed"
	Canceled  State = "canceled"
)

// Failure is the reason why a training failed.
type Failure struct {
	// Machine-readable reason of the failure.
	Code FailureCode `json:"code" format:"training-failure" example:"training_failed"`
	// What happened and what to do about it.
	Message string `json:"message"`
	// Whether another training may succeed.
	Retryable bool `json:"retryable"`
}

// Training is a training as callers see it.
type Training struct {
	resource.Resource
	// Factory whose content it learns from.
	FactoryID string `json:"factory_id"`
	// Id of the model that it starts from.
	BaseModel string `json:"base_model" example:"nova-lite"`
	// State of the training. The last three are final. canceled: its factory was deleted.
	State State `json:"state" filter:"state" enum:"queued,running,completed,failed,canceled"`
	// Number of content items that it learns from.
	Samples int `json:"samples" example:"120"`
	// Progress in percent. It moves in few steps.
	Progress int `json:"progress" minimum:"0" maximum:"100"`
	// Id of the trained model, for models.text of the factory. Null until completed.
	ModelID *string `json:"model_id" example:"mdl_01h455vb4pex5vsknk084sn02q"`
	// Credits reserved while it is queued or running. 0 once it has ended, and always in the sandbox.
	ReservedCredits int64 `json:"reserved_credits"`
	// Credits charged. 0 until completed, and always in the sandbox.
	CostCredits int64 `json:"cost_credits"`
	// Reason of the failure. Null if it has not failed.
	Failure *Failure `json:"failure"`

	// Usual is the usual duration of a training that was just accepted.
	Usual time.Duration `json:"-"`
}

// Pending returns the path that shows an accepted training, and the time to look at it.
func (t Training) Pending() (path string, after time.Duration) {
	return "/v1/factories/" + t.FactoryID + "/training", t.Usual
}

// Rehearsal is the result that a test key requests.
type Rehearsal struct {
	// Result of the training. The last three refuse the call with that error, as with a live key.
	Outcome string `json:"outcome,omitempty" format:"training-outcome" default:"completed"`
	// Code of the failure, with its message and retryable as with a live key. With outcome failed only. Absent:
	// training_failed.
	FailureCode FailureCode `json:"failure_code,omitempty" format:"training-failure"`
	// Seconds until the result.
	DelaySeconds int `json:"delay_seconds,omitempty" minimum:"0" maximum:"60" default:"0"`
}

// Record is the stored document of a training. A factory has one: the next training takes the place of the last.
type Record struct {
	Training
	Sandbox *Rehearsal `json:"sandbox,omitempty"`
	// Newest is the id of the newest item that it learns from. Tokens is the number of
	// tokens that its reservation pays for: those of all samples, once.
	Newest string `json:"newest"`
	Tokens int    `json:"tokens"`
	// Hold is the reservation that pays for it; the zero value in the sandbox.
	Hold ledger.Hold `json:"hold,omitzero"`
}

// Key is the key of the training of a factory.
func Key(factoryID string) store.Key { return store.IDKey("training#" + factoryID) }

// modelID is the id of the trained model of a factory. It stays the same when the model is trained again.
func modelID(factoryID string) string { return id.Renamed(id.Model, factoryID) }

// entry writes the record as an item of the table, in the place of an earlier training, if there is one.
func (r *Record) entry(o tenant.Owner, earlier store.Item) (store.Item, error) {
	it, err := store.NewItem(ItemKind, o, r.ID, r)
	it.Key, it.Version = Key(r.FactoryID), earlier.Version
	return it, err
}

// replace adds the changed record to the transaction.
func (r *Record) replace(tx *store.Tx, now time.Time, it store.Item) error {
	r.Touch(now)
	return tx.Rewrite(it, r)
}

// taskID is the id of the task that carries out the training.
func (r *Record) taskID() string { return task.ID(Train, r.ID, 1) }

// Runs reports whether the training has not ended.
func (r *Record) Runs() bool { return r.State == Queued || r.State == Running }

// View returns the training as its GET shows it.
func (r *Record) View() Training {
	v := r.Training
	if r.Runs() {
		v.ReservedCredits = r.Hold.Credits
	}
	return v
}

// Decode reads the record of an item.
func Decode(it *store.Item) (*Record, error) {
	var r Record
	return &r, it.Decode(&r)
}

// about returns the description of the training for the entries of its money.
func (r *Record) about() ledger.About {
	return ledger.About{FactoryID: r.FactoryID, Metadata: r.Metadata}
}

// Ends returns the end of the model that the training starts from, for the headers of an answer.
func (t Training) Ends() (deprecated, end time.Time) { return catalog.Ending(t.BaseModel) }

// FailureCode is the code of a failed training, as callers see it.
type FailureCode string

// The codes that a training can fail with.
const (
	FailedTraining    FailureCode = "training_failed"
	FailedRefused     FailureCode = "training_refused"
	FailedSamples     FailureCode = "not_enough_samples"
	FailedUnavailable FailureCode = "provider_unavailable"
	FailedTimeout     FailureCode = "timeout"
)

// failures are the failures by their codes.
var failures = map[FailureCode]Failure{
	FailedTraining: {FailedTraining, "The provider could not train the model. Nothing was charged. Start another " +
		"training, perhaps with another base model.", true},
	FailedRefused: {FailedRefused, "The provider refuses the training. Nothing was charged. Choose another base " +
		"model, or contact support.", false},
	FailedSamples: {FailedSamples, "Content items were deleted since the training was started, and too few are " +
		"left. Nothing was charged. Start another training once the factory has more content.", false},
	FailedUnavailable: {FailedUnavailable, "The provider could not be reached after several attempts. Nothing was " +
		"charged. Start another training.", true},
	FailedTimeout: {FailedTimeout, "The training took longer than 48 hours and was stopped. Nothing was charged. " +
		"Start another training.", true},
}

// stepError is the error of a step that the training fails with.
type stepError struct {
	code  FailureCode
	cause error
}

func (f *stepError) Error() string {
	if f.cause == nil {
		return string(f.code)
	}
	return string(f.code) + ": " + f.cause.Error()
}
func (f *stepError) Unwrap() error { return f.cause }

func fail(code FailureCode, cause error) error { return task.Permanent(&stepError{code, cause}) }

// failureOf returns why a training fails, by the error that ends its task.
func failureOf(cause error) Failure {
	var f *stepError
	switch {
	case errors.As(cause, &f):
		return failures[f.code]
	case errors.Is(cause, task.ErrDeaths):
		return failures[FailedTraining]
	case errors.Is(cause, task.ErrDeadline):
		return failures[FailedTimeout]
	default:
		return failures[FailedUnavailable]
	}
}

// longestRetryAfter bounds the wait that a provider may ask for.
const longestRetryAfter = 10 * time.Minute

// quotaWait is the wait after the provider's quota is used up.
const quotaWait = 10 * time.Minute

// classify wraps the error of a call of the provider in one that decides what follows.
// Calls that may succeed later are tried until the deadline: every call is idempotent.
func classify(cause error) error {
	var e *provider.Error
	if !errors.As(cause, &e) {
		return cause
	}
	switch e.Kind {
	case provider.BadInput, provider.Rejected:
		return fail(FailedRefused, cause)
	case provider.Quota:
		return &task.RetryError{Err: cause, After: task.Jitter(cmp.Or(min(e.RetryAfter, longestRetryAfter), quotaWait)),
			MaxFailures: task.NoLimit}
	default:
		return &task.RetryError{Err: cause, After: min(e.RetryAfter, longestRetryAfter), MaxFailures: task.NoLimit}
	}
}
