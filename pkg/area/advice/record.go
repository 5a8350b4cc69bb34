package advice

import (
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// DiagnosisItemKind is the kind of a diagnosis in the table.
const DiagnosisItemKind = "diagnosis"

// TaskKind is the kind of the task that makes one.
const TaskKind task.Kind = "diagnose"

// DiagnosisState is the state of a diagnosis.
type DiagnosisState string

// The states. The last two are final.
const (
	Queued    DiagnosisState = "queued"
	Running   DiagnosisState = "running"
	Completed DiagnosisState = "completed"
	Failed    DiagnosisState = "failed"
)

// Failure is the reason why something is missing.
type Failure struct {
	// Machine-readable reason.
	Code provider.FailureCode `json:"code" example:"provider_unavailable"`
	// What happened and what to do about it.
	Message string `json:"message"`
	// Whether another diagnosis may succeed.
	Retryable bool `json:"retryable"`
}

// Diagnosis is a review of a factory, as callers see it.
type Diagnosis struct {
	resource.Resource
	// Factory under review.
	FactoryID string `json:"factory_id"`
	// State of the diagnosis. completed and failed are final.
	State DiagnosisState `json:"state" enum:"queued,running,completed,failed"`
	// Overall score of the factory: 100 less 25 for each critical finding and 10 for each warning, of findings with the
	// same code at most 25 together. Null until completed.
	Score *int `json:"score" minimum:"0" maximum:"100"`
	// Findings, the most severe first. Empty until completed.
	Findings []Finding `json:"findings" nullable:"false"`
	// Ids of the proposals based on the findings.
	ProposalIDs []string `json:"proposal_ids" nullable:"false"`
	// Reason why a completed diagnosis has no proposals although it has findings. Null otherwise.
	ProposalFailure *Failure `json:"proposal_failure"`
	// Reason of the failure. Null if it has not failed.
	Failure *Failure `json:"failure"`

	// Usual is the usual duration of a diagnosis that was just accepted.
	Usual time.Duration `json:"-"`
}

// Pending returns the path that shows an accepted diagnosis, and the time to look at it.
func (d Diagnosis) Pending() (path string, after time.Duration) {
	return "/v1/factories/" + d.FactoryID + "/diagnosis", d.Usual
}

// The outcomes that a test key can request.
const (
	OutcomeCompleted   = "completed"
	OutcomeNoProposals = "no_proposals"
	OutcomeFailed      = generate.OutcomeFailed
)

// Rehearsal is the result that a test key requests.
type Rehearsal struct {
	// Result of the diagnosis. no_proposals: it completes, but the text model fails. rate_limited refuses the call with
	// that error, as with a live key.
	Outcome string `json:"outcome,omitempty" enum:"completed,no_proposals,failed,rate_limited" default:"completed"`
	// Codes of the findings that the diagnosis has, with the numbers of a sample factory. Absent: the findings of this
	// factory. Not with outcome failed.
	//
	// Findings replace those of the factory.
	Findings []Code `json:"findings,omitempty" format:"finding" nullable:"false"`
	generate.Rehearsal
}

// DiagnosisRecord is the stored document of a diagnosis.
type DiagnosisRecord struct {
	Diagnosis
	Sandbox *Rehearsal `json:"sandbox,omitempty"`
}

// Key returns the key of the latest diagnosis of a factory. There is one item for all of
// them, so that no two run at a time and the latest is found with the factory.
func Key(factoryID string) store.Key { return store.IDKey(DiagnosisItemKind + "#" + factoryID) }

// Entry returns the record as an item of the table.
func (r *DiagnosisRecord) Entry(o tenant.Owner) (store.Item, error) {
	it, err := store.NewItem(DiagnosisItemKind, o, r.ID, r)
	it.Key = Key(r.FactoryID)
	return it, err
}

// Runs reports whether the diagnosis has not ended.
func (r *DiagnosisRecord) Runs() bool { return r.State == Queued || r.State == Running }

// DiagnosisDecode reads the record of an item.
func DiagnosisDecode(it *store.Item) (*DiagnosisRecord, error) {
	var r DiagnosisRecord
	return &r, it.Decode(&r)
}

const (
	// deadline is when a diagnosis ends in any case.
	deadline = 15 * time.Minute
	// usual is the usual duration of a diagnosis with a live key, and usualSandbox with a test key.
	usual        = 20 * time.Second
	usualSandbox = 2 * time.Second
)

// Work is the payload of the task before its first step.
type Work struct {
	FactoryID string `json:"factory_id"`
}

// Start adds the task that makes the diagnosis to the transaction.
func (r *DiagnosisRecord) Start(tx *store.Tx, now time.Time, o tenant.Owner) error {
	r.Usual = usual
	if o.Mode == tenant.Test {
		r.Usual = usualSandbox
	}
	due := now
	if r.Sandbox != nil {
		r.Usual += r.Sandbox.Delay()
		due = due.Add(r.Sandbox.Delay())
	}
	return task.Create(tx, now, task.Task{
		Message: task.Message{ID: task.ID(TaskKind, r.ID, 1), Kind: TaskKind, Queue: topology.Diagnose,
			Subject: r.ID, Owner: o},
		DueAt: due, Deadline: due.Add(deadline),
	}, Work{FactoryID: r.FactoryID})
}

// Notify adds the event that the diagnosis is completed to the transaction.
func (r *DiagnosisRecord) Notify(tx *store.Tx, o tenant.Owner) error {
	e, err := event.New(r.UpdatedAt.Time, o, event.DiagnosisCompleted, r.Diagnosis, nil)
	if err == nil {
		tx.Create(e, nil)
	}
	return err
}
