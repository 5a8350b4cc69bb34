package advice

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/httpapi"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

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
