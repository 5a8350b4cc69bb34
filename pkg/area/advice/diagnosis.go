// Package advice holds the operations by which a factory is diagnosed, and by which the proposals that follow are
// listed and applied. Worker in worker.go makes a diagnosis; diagnosis.go and proposal.go have the operations.
package advice

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/event"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Service starts diagnoses, and applies proposals.
type Service struct {
	db  *store.DB
	now func() time.Time
}

// NewService makes the service on the state table. It makes no call.
func NewService(db *store.DB, now func() time.Time) *Service { return &Service{db, now} }

// Mount registers the operations of the area.
func Mount(r *httpapi.Router, e area.Env) { NewService(e.DB, e.Now).Register(r) }

// FactoryPath is the part of the path that names a factory.
type FactoryPath struct {
	// Id of the factory.
	FactoryID string `path:"factory_id" example:"fac_01h455vb4pex5vsknk084sn02q"`
}

// Register puts the operations of the area into the router.
func (s *Service) Register(r *httpapi.Router) {
	s.registerDiagnoses(r)
	s.registerProposals(r)
	s.registerExperiments(r)
}

func op(id, method, path string, scope auth.Scope, summary, description string) httpapi.Op {
	return httpapi.Op{
		ID: id, Method: method, Path: "/v1/factories/{factory_id}" + path, Scope: scope, Function: "factory",
		Tag:     "Factories",
		Summary: summary, Description: description,
	}
}

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
	return event.Add(tx, r.UpdatedAt.Time, o, event.DiagnosisCompleted, r.Diagnosis)
}

// MaxADay is the number of diagnoses that the live keys of an account may start in a day
// (UTC). They are free, but the text model costs us.
const MaxADay = 100

type createBody struct {
	// Up to 20 key-value pairs of your own.
	Metadata resource.Metadata `json:"metadata,omitempty"`
	// Simulated result of the diagnosis. For test keys only.
	Sandbox *Rehearsal `json:"sandbox,omitempty"`
}

// Rules refuses bodies that the schema cannot rule out.
func (b createBody) Rules() error {
	switch r := b.Sandbox; {
	case r == nil:
		return nil
	case r.Outcome == OutcomeFailed && len(r.Findings) > 0:
		return errs.Invalid("/sandbox/findings", "has no effect with outcome failed: leave one of them out")
	case r.Outcome == OutcomeNoProposals:
		return r.Check(generate.OutcomeFailed)
	default:
		return r.Check(r.Outcome)
	}
}

type diagnoseInput struct {
	FactoryPath
	Body *createBody
}

func (s *Service) registerDiagnoses(r *httpapi.Router) {
	start := op("diagnoseFactory", http.MethodPost, "/diagnose", auth.FactoriesWrite, "Diagnose a factory",
		"Compares the factory with what it has made in the last 90 days, of which at most the newest 1,000 items: "+
			"cadence, failures, captions, settings, and engagement where there is enough of it. Then a language "+
			"model gets the settings, the findings, and titles, captions and figures of the five best and the five "+
			"worst items. It writes up to five proposals in the factory's language; each is checked as a "+
			"change of the factory would be. The event `diagnosis.completed` reports the end, and `proposal.created` "+
			"each proposal. If the model fails, the diagnosis completes without proposals, and `proposal_failure` "+
			"says why. A diagnosis is free of charge. Only one runs at a time for a factory, and live keys may start "+
			"100 in a day (UTC). A paused factory can be diagnosed, too.").Opening(httpapi.Nothing)
	start.Status = http.StatusAccepted
	start.Errors = []errs.Code{errs.InvalidState}
	httpapi.Write(r, start, s.diagnose)

	httpapi.Read(r, op("getDiagnosis", http.MethodGet, "/diagnosis", auth.FactoriesRead, "Get the latest diagnosis",
		"Returns the latest diagnosis of the factory, also while it runs.").Opening(httpapi.Nothing), s.diagnosis)
}

// read reads a factory of the caller and its latest diagnosis, or nil if there is none yet, in one round trip.
func (s *Service) read(ctx context.Context, factoryID string) (of, it store.Item, r *DiagnosisRecord, err error) {
	found, beside, err := resource.FindAll(ctx, s.db, id.Factory, []string{factoryID}, Key(factoryID))
	if err != nil {
		return of, it, nil, err
	}
	if of = found[factoryID]; !factoryrecord.Usable(of, of.Owner) {
		return of, it, nil, errs.Missing(factoryrecord.Kind, factoryID)
	}
	if it = beside[0]; it.Kind == "" || it.Owner != of.Owner {
		return of, store.Item{}, nil, nil
	}
	r, err = DiagnosisDecode(&it)
	return of, it, r, err
}

func (s *Service) diagnose(ctx context.Context, tx *store.Tx, in *diagnoseInput) (out Diagnosis, err error) {
	p, now, b := auth.FromContext(ctx), s.now(), createBody{}
	if in.Body != nil {
		b = *in.Body
	}
	if err := cmp.Or(httpapi.CheckSandbox(b.Sandbox != nil, p.Mode), b.Rules()); err != nil {
		return out, err
	}
	of, was, latest, err := s.read(ctx, in.FactoryID)
	switch {
	case err != nil:
		return out, err
	case latest != nil && latest.Runs():
		return out, errs.New(errs.InvalidState, "A diagnosis of the factory is %s. Wait for its end.", latest.State).
			In(string(latest.State))
	}
	if b.Sandbox != nil {
		if err := generate.RehearsedError(b.Sandbox.Outcome, 0, p); err != nil {
			return out, err
		}
	}
	r := &DiagnosisRecord{
		Diagnosis: Diagnosis{
			Resource:  resource.New(id.New(id.Diagnosis, now), now, b.Metadata),
			FactoryID: in.FactoryID, State: Queued, Findings: []Finding{}, ProposalIDs: []string{},
		},
		Sandbox: b.Sandbox,
	}
	it, err := r.Entry(of.Owner)
	if err != nil {
		return out, err
	}
	if latest == nil {
		tx.Create(it, nil)
	} else {
		it.Version = was.Version
		tx.Replace(it)
	}
	if p.Mode == tenant.Live {
		count(tx, now, of.Owner)
	}
	err = r.Start(tx, now, of.Owner)
	return r.Diagnosis, err
}

// count counts a diagnosis of a day. The commit fails with rate_limited if there were too many.
func count(tx *store.Tx, now time.Time, o tenant.Owner) {
	const day = 24 * time.Hour
	tomorrow := now.UTC().Truncate(day).Add(day)
	full := errs.New(errs.RateLimited, "The live keys of this account have started %d diagnoses today (UTC), which "+
		"is the maximum. Repeat the request tomorrow.", MaxADay).
		With(errs.RateContext{Limit: MaxADay, WindowSeconds: int(day / time.Second)})
	full.RetryAfter = tomorrow.Sub(now)
	tx.CountUntil(store.IDKey("diagnoses#"+o.String()+"#"+now.UTC().Format(time.DateOnly)), 1, MaxADay,
		tomorrow.Add(day), full)
}

func (s *Service) diagnosis(ctx context.Context, in *FactoryPath) (out Diagnosis, err error) {
	_, _, r, err := s.read(ctx, in.FactoryID)
	if err != nil {
		return out, err
	}
	if r == nil {
		return out, errs.New(errs.NotFound, "The factory %s has no diagnosis yet. POST /v1/factories/%[1]s/diagnose "+
			"starts one.", in.FactoryID)
	}
	return r.Diagnosis, nil
}
