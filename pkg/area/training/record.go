package training

import (
	"time"

	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
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
	Code      FailureCode `json:"code" enum:"training_failed,training_refused,not_enough_samples,provider_unavailable,timeout" doc:"Machine-readable reason of the failure" example:"training_failed"`
	Message   string      `json:"message" doc:"What happened and what to do about it"`
	Retryable bool        `json:"retryable" doc:"Whether another training may succeed"`
}

// Training is a training as callers see it.
type Training struct {
	resource.Resource
	FactoryID       string   `json:"factory_id" doc:"Factory whose content it learns from"`
	BaseModel       string   `json:"base_model" doc:"Id of the model that it starts from" example:"nova-lite"`
	State           State    `json:"state" enum:"queued,running,completed,failed,canceled" doc:"State of the training. The last three are final. canceled: its factory was deleted"`
	Samples         int      `json:"samples" doc:"Number of content items that it learns from" example:"120"`
	Progress        int      `json:"progress" minimum:"0" maximum:"100" doc:"Progress in percent. It moves in few steps"`
	ModelID         *string  `json:"model_id" doc:"Id of the trained model, for models.text of the factory. Null until completed" example:"mdl_01h455vb4pex5vsknk084sn02q"`
	ReservedCredits int64    `json:"reserved_credits" doc:"Credits reserved while it is queued or running. 0 once it has ended, and always in the sandbox"`
	CostCredits     int64    `json:"cost_credits" doc:"Credits charged. 0 until completed, and always in the sandbox"`
	Failure         *Failure `json:"failure" doc:"Reason of the failure. Null if it has not failed"`

	// Usual is the usual duration of a training that was just accepted.
	Usual time.Duration `json:"-"`
}

// Pending returns the path that shows an accepted training, and the time to look at it.
func (t Training) Pending() (path string, after time.Duration) {
	return "/v1/factories/" + t.FactoryID + "/training", t.Usual
}

// Rehearsal is the result that a test key requests.
type Rehearsal struct {
	Outcome      string      `json:"outcome,omitempty" enum:"completed,failed,insufficient_balance,spend_limit_reached,rate_limited" default:"completed" doc:"Result of the training. The last three refuse the call with that error, as with a live key"`
	FailureCode  FailureCode `json:"failure_code,omitempty" enum:"training_failed,training_refused,not_enough_samples,provider_unavailable,timeout" doc:"Code of the failure, with its message and retryable as with a live key. With outcome failed only. Absent: training_failed"`
	DelaySeconds int         `json:"delay_seconds,omitempty" minimum:"0" maximum:"60" default:"0" doc:"Seconds until the result"`
}

// Record is the stored document of a training. A factory has one: the next training
// takes the place of the last.
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

// modelID is the id of the trained model of a factory. It stays the same when the model is
// trained again.
func modelID(factoryID string) string { return id.Renamed(id.Model, factoryID) }

// entry writes the record as an item of the table, in the place of an earlier training,
// if there is one.
func (r *Record) entry(o tenant.Owner, earlier store.Item) (store.Item, error) {
	it, err := store.NewItem(ItemKind, o, r.ID, r)
	it.Key, it.Version = Key(r.FactoryID), earlier.Version
	it.Filters = r.filters()
	return it, err
}

// write changes the item of the record.
func (r *Record) write(it *store.Item) error {
	it.Filters = r.filters()
	return it.Encode(r)
}

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
