package training

import (
	"cmp"
	"errors"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

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
	State State `json:"state" enum:"queued,running,completed,failed,canceled"`
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
	it.Filters = r.filters()
	return it, err
}

// replace adds the changed record to the transaction.
func (r *Record) replace(tx *store.Tx, now time.Time, it store.Item) error {
	r.Touch(now)
	it.Filters = r.filters()
	err := it.Encode(r)
	tx.Replace(it)
	return err
}

// taskID is the id of the task that carries out the training.
func (r *Record) taskID() string { return task.ID(Train, r.ID, 1) }

// filters are the values by which the stream's filter selects records.
func (r *Record) filters() map[string]string { return map[string]string{"state": string(r.State)} }

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

// failed is the error of a step that the training fails with.
type failed struct {
	code  FailureCode
	cause error
}

func (f *failed) Error() string {
	if f.cause == nil {
		return string(f.code)
	}
	return string(f.code) + ": " + f.cause.Error()
}
func (f *failed) Unwrap() error { return f.cause }

func fail(code FailureCode, cause error) error { return task.Permanent(&failed{code, cause}) }

// failureOf returns why a training fails, by the error that ends its task.
func failureOf(cause error) Failure {
	var f *failed
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
			Most: task.NoLimit}
	default:
		return &task.RetryError{Err: cause, After: min(e.RetryAfter, longestRetryAfter), Most: task.NoLimit}
	}
}
