package experiment

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/advice"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// MaxPerOwner is the number of experiments that an account, or a profile, may have.
const MaxPerOwner = 200

// Service holds the operations of experiments.
type Service struct {
	db        *store.DB
	factories *factory.Service
	now       func() time.Time
}

// NewService returns the service.
func NewService(db *store.DB, factories *factory.Service, now func() time.Time) *Service {
	return &Service{db, factories, now}
}

// Mount registers the operations of the area.
func Mount(r *httpapi.Router, e area.Env) {
	NewService(e.DB, factory.NewService(e.DB, e.Now), e.Now).Register(r)
}

type createBody struct {
	// Factory whose posts are compared.
	FactoryID string `json:"factory_id" example:"fac_01h455vb4pex5vsknk084sn02q"`
	// What it is to answer, in words.
	Question string `json:"question" format:"line-not-blank" minLength:"1" maxLength:"500" example:"Do questions in the first line bring more likes?"`
	// What differs: one to three factors, each drawn by itself.
	Factors []Factor `json:"factors" minItems:"1" maxItems:"3" nullable:"false"`
	// Figure by which arms are compared.
	Metric Metric `json:"metric"`
	// Its bounds.
	Budget Budget `json:"budget"`
	// When it ends before.
	Stopping *Stopping `json:"stopping,omitempty"`
	// Whether its proposal is applied by itself as soon as it is decided.
	AutoApply bool `json:"auto_apply,omitempty"`
	// Up to 20 key-value pairs of your own.
	Metadata resource.Metadata `json:"metadata,omitempty"`
}

type createInput struct{ Body createBody }

// Path names the experiment of a call.
type Path struct {
	// Id of the experiment.
	ID string `path:"experiment_id" example:"exp_01h455vb4pex5vsknk084sn02q"`
}

type updateBody struct {
	// running starts a draft; its factors, metric, budget and stopping rule are fixed from then on. stopped ends it.
	State State `json:"state,omitempty" enum:"running,stopped"`
	// Metadata to set. A null value removes that pair; null removes all.
	Metadata resource.MetadataPatch `json:"metadata,omitempty" nullable:"true"`
}

// changeable are the members that a patch changes.
type changeable struct {
	State    State             `json:"state"`
	Metadata resource.Metadata `json:"metadata"`
}

type updateInput struct {
	Path
	httpapi.IfMatch
	Body updateBody
}

type applyInput struct {
	Path
	Body applyBody
}

type applyBody struct {
	// Whether the factory is changed at once. Absent: an open proposal is made, for you to apply.
	Apply bool `json:"apply,omitempty"`
}

type listInput struct {
	httpapi.PageInput
	profile.Filter
	// Only experiments of this factory.
	FactoryID string `query:"factory_id"`
	// Only experiments in these states, separated by commas. A running one is decided within six hours of its last
	// figure.
	State []string `query:"state" enum:"draft,running,decided,inconclusive,stopped" nullable:"false"`
}

// Details is an experiment with its results over time.
type Details struct {
	Experiment
	// Results over time, the earliest first: at the end of each day with a new figure.
	History []Look `json:"history" nullable:"false"`
}

// Register puts the operations of the area into the router.
func (s *Service) Register(r *httpapi.Router) {
	const collection, one = "/v1/experiments", "/v1/experiments/{experiment_id}"
	op := func(id, method, path string, scope auth.Scope, summary, description string) httpapi.Op {
		return httpapi.Op{ID: id, Method: method, Path: path, Scope: scope, Function: "factory", Tag: "Analytics",
			Summary: summary, Description: description}
	}
	create := op("createExperiment", http.MethodPost, collection, auth.FactoriesWrite, "Create an experiment",
		"Compares posts of a factory that differ by chance alone, such as in their hook. It is a draft: `PATCH` with the "+
			"state running starts it. New content items with its `experiment_id` then get their arms: at first each as "+
			"often, and later those more often that do better, but each in a tenth of the posts at least. An arm wins "+
			"only if that is chance with the probability `alpha` at most, however often you look.")
	create.Status, create.Errors = http.StatusCreated, []errs.Code{errs.NotFound}
	httpapi.Write(r, create, s.create)

	list := op("listExperiments", http.MethodGet, collection, auth.FactoriesRead, "List the experiments", "Newest first.")
	list.Errors = []errs.Code{errs.InvalidCursor}
	httpapi.List(r, list, s.list)

	httpapi.Read(r, op("getExperiment", http.MethodGet, one, auth.FactoriesRead, "Get an experiment",
		"With its results up to now, and over time. A post counts once its figure has the age of the metric; posts "+
			"count in the order of their items, so that a result waits for an earlier item that is not published yet: for "+
			"14 days after its creation, or three days after the time that it is planned for."), s.get)

	update := op("updateExperiment", http.MethodPatch, one, auth.FactoriesWrite, "Start or stop an experiment",
		"Takes a JSON merge patch (RFC 7396). Everything else is fixed: create another experiment instead. A stopped one "+
			"has no winner.")
	update.Errors = []errs.Code{errs.VersionMismatch, errs.InvalidState}
	httpapi.Write(r, update, s.update)

	apply := op("applyExperiment", http.MethodPost, one+"/apply", auth.FactoriesWrite, "Apply the result of an experiment",
		"Makes a proposal for the factory of the winners of a decided experiment, with the evidence, once. With `apply`, "+
			"it changes the factory at once. A length and the style of pictures are no settings of a factory: send them "+
			"with your items.")
	apply.Status, apply.Errors = http.StatusCreated, []errs.Code{errs.InvalidState, errs.StaleProposal}
	httpapi.Write(r, apply, s.apply)
}

// Rules refuses bodies that the schema cannot rule out.
func (b createBody) Rules() error {
	var found []error
	seen := map[string]bool{}
	for i, f := range b.Factors {
		at := "/factors/" + strconv.Itoa(i)
		if seen[f.Name] {
			found = append(found, errs.Invalid(at+"/name", "stands twice: put all arms of %s into one factor", f.Name))
		}
		seen[f.Name] = true
		found = append(found, f.check(at))
	}
	return errs.All(append(found, checkMetric(b.Metric))...)
}

func (s *Service) create(ctx context.Context, tx *store.Tx, in *createInput) (out Experiment, err error) {
	b, now := in.Body, s.now()
	if err := b.Rules(); err != nil {
		return out, err
	}
	f, of, err := s.factories.Find(ctx, b.FactoryID)
	if err != nil {
		e := *errs.As(err)
		e.Param = "/factory_id"
		return out, &e
	}
	stopping := Stopping{Alpha: 0.05, MinEffect: 0.05}
	if b.Stopping != nil {
		stopping.Alpha = cmp.Or(b.Stopping.Alpha, stopping.Alpha)
		stopping.MinEffect = cmp.Or(b.Stopping.MinEffect, stopping.MinEffect)
	}
	b.Metric.AfterHours = cmp.Or(b.Metric.AfterHours, 24)
	r := &Record{Seed: rand.Text()}
	r.Experiment = Experiment{Resource: resource.New(id.New(id.Experiment, now), now, b.Metadata),
		ProfileID: of.ProfileID(), FactoryID: f.ID, Question: b.Question, Factors: b.Factors, Metric: b.Metric,
		Budget: b.Budget, Stopping: stopping, AutoApply: b.AutoApply, State: Draft, NeededPosts: needed(stopping),
		Winners: []Winner{}}
	if b.AutoApply {
		r.Authority = authority.Of(auth.FromContext(ctx), auth.FactoriesWrite)
	}
	r.Look(nil, now)
	it, err := r.Entry(of.Owner)
	if err != nil {
		return out, err
	}
	quota.Take(tx, &it, MaxPerOwner, "experiments")
	tx.Create(it, nil)
	return r.Experiment, nil
}

// find returns an experiment of the caller.
func (s *Service) find(ctx context.Context, experimentID string) (*Record, store.Item, error) {
	it, err := resource.Find(ctx, s.db, id.Experiment, ItemKind, experimentID)
	if err != nil {
		return nil, it, err
	}
	r, err := Decode(&it)
	return r, it, err
}

func (s *Service) list(ctx context.Context, in *listInput) (httpapi.Page[Experiment], error) {
	if in.FactoryID != "" && !id.Valid(id.Factory, in.FactoryID) {
		return httpapi.Page[Experiment]{}, errs.Invalid("factory_id", "is not the id of a factory")
	}
	q, err := httpapi.Owned(ctx, ItemKind, id.Experiment, httpapi.Period{}, in.Filter.Into(map[string]string{
		factoryFilter: in.FactoryID, stateFilter: httpapi.AnyOf(in.State)}))
	if err != nil {
		return httpapi.Page[Experiment]{}, err
	}
	return httpapi.ListItems(ctx, s.db, q, in.PageInput, func(it store.Item) (Experiment, error) {
		r, err := Decode(&it)
		return r.Experiment, err
	})
}

func (s *Service) get(ctx context.Context, in *Path) (out Details, err error) {
	r, it, err := s.find(ctx, in.ID)
	if err != nil {
		return out, err
	}
	out.History = []Look{}
	if r.StartedAt != nil {
		all, err := outcomes(ctx, s.db, it.Owner, r, s.now())
		if err != nil {
			return out, err
		}
		out.History = append(out.History, r.Look(all, s.now())...)
	}
	out.Experiment = r.Experiment
	return out, nil
}

func (s *Service) update(ctx context.Context, tx *store.Tx, in *updateInput) (out Experiment, err error) {
	r, it, err := s.find(ctx, in.ID)
	if err != nil {
		return out, err
	}
	if err := in.Check(r.Version); err != nil {
		return out, err
	}
	set, err := httpapi.MergePatch(ctx, changeable{r.State, r.Metadata})
	if err != nil {
		return out, err
	}
	now, was := s.now(), r.Version
	switch to := set.State; {
	case to == r.State:
	case to == Running && r.State == Draft:
		if err := s.start(ctx, tx, r, it); err != nil {
			return out, err
		}
	case to == Stopped && (r.State == Draft || r.State == Running):
		r.stop(now)
	default:
		return out, errs.New(errs.InvalidState, "The experiment is %s. Create another one.", r.State).
			With(errs.StateContext{State: string(r.State), Allowed: []string{}})
	}
	r.Metadata = set.Metadata
	if r.State != Stopped || r.Version == was {
		r.Touch(now)
	}
	if it, err = r.Into(it); err != nil {
		return out, err
	}
	tx.Replace(it)
	return r.Experiment, nil
}

// start begins an experiment: items may have arms from now on, and a task looks at their figures.
func (s *Service) start(ctx context.Context, tx *store.Tx, r *Record, it store.Item) error {
	f, _, err := s.factories.Find(ctx, r.FactoryID)
	if err != nil {
		return err
	}
	r.Zone = "UTC"
	if f.Schedule != nil {
		r.Zone = f.Schedule.Timezone
	}
	at := resource.Instant(s.now())
	r.State, r.StartedAt = Running, &at
	return task.Create(tx, s.now(), lookTask(r.ID, it.Owner, s.now()), struct{}{})
}

func (s *Service) apply(ctx context.Context, tx *store.Tx, in *applyInput) (out advice.Proposal, err error) {
	r, it, err := s.find(ctx, in.ID)
	if err != nil {
		return out, err
	}
	now := s.now()
	if r.State == Running {
		all, err := outcomes(ctx, s.db, it.Owner, r, now)
		if err != nil {
			return out, err
		}
		r.Look(all, now)
	}
	if r.State != Decided || r.ProposalID != nil {
		why := "The experiment is " + string(r.State) + ", and has no winner to apply."
		if r.ProposalID != nil {
			why = "The experiment has made the proposal " + *r.ProposalID + " already: apply that one."
		}
		return out, errs.New(errs.InvalidState, "%s", why).With(errs.StateContext{State: string(r.State),
			Allowed: []string{}})
	}
	of, err := resource.Find(ctx, s.db, id.Factory, factory.Kind, r.FactoryID)
	if err != nil {
		return out, err
	}
	f, err := factory.Decode(&of)
	if err != nil {
		return out, err
	}
	made, err := r.propose(f, now)
	if err != nil {
		return out, err
	}
	if in.Body.Apply {
		if err := made.Apply(tx, &f, of, now); err != nil {
			return out, err
		}
	}
	return made.Proposal, r.propagate(tx, made, it, now)
}

// propagate adds the proposal of an experiment, and the experiment itself, to the transaction.
func (r *Record) propagate(tx *store.Tx, made *advice.ProposalRecord, it store.Item, now time.Time) error {
	p, err := made.Entry(it.Owner)
	if err != nil {
		return err
	}
	tx.Create(p, nil)
	r.ProposalID = &made.ID
	r.Touch(now)
	if it, err = r.Into(it); err != nil {
		return err
	}
	tx.Replace(it)
	return made.Announce(tx, it.Owner)
}

// errNoSetting refuses the result of factors that are no settings of a factory.
var errNoSetting = errors.New("experiment: no setting")

// propose returns the proposal of the winners.
func (r *Record) propose(f factory.Factory, now time.Time) (*advice.ProposalRecord, error) {
	patch, said := map[string]any{}, []string{}
	for _, w := range r.Winners {
		if change(patch, f, r, w) {
			said = append(said, w.Factor+" "+strconv.Quote(w.Arm))
		}
	}
	if len(said) == 0 {
		return nil, errs.Wrap(errNoSetting, errs.InvalidState, "What has won is no setting of the factory. Send it with "+
			"your content items.").With(errs.StateContext{State: string(r.State), Allowed: []string{}})
	}
	var evidence []string
	for _, w := range r.Winners {
		for _, res := range r.Results {
			if res.Factor == w.Factor && res.Estimate != nil && (res.Arm == w.Arm || w.Arm == r.first(w.Factor)) {
				evidence = append(evidence, fmt.Sprintf("%s: a post does better than one of %s with the probability %.2f "+
					"(%.2f to %.2f, %d posts)", res.Arm, r.first(w.Factor), 0.5+*res.Estimate, 0.5+*res.Lower,
					0.5+*res.Upper, res.N))
			}
		}
	}
	title := "Use " + strings.Join(said, " and ")
	return advice.NewProposal(f, id.Derived(id.Proposal, r.EndedAt.Time, r.ID), advice.Proposal{
		Source: advice.FromExperiment, Title: title, Rationale: r.Question + " " + strings.Join(evidence, ". ") + ".",
		Patch: patch, ExpectedEffect: "More " + r.Metric.Name + " on " + r.Metric.Platform + "."}, now)
}

// first returns the first arm of a factor.
func (r *Record) first(factor string) string {
	i := slices.IndexFunc(r.Factors, func(f Factor) bool { return f.Name == factor })
	return r.Factors[i].Arms[0]
}

// hooks say how texts begin, for the tone of a factory.
var hooks = map[string]string{"claim": "begins with a concrete claim", "contradiction": "begins with a contradiction",
	"number": "begins with a number", "question": "begins with a question", "scene": "begins with a scene"}

// change adds the winner to the patch of a factory, and reports whether there is such a setting.
func change(patch map[string]any, f factory.Factory, r *Record, w Winner) bool {
	settings, _ := patch["settings"].(map[string]any)
	if settings == nil {
		settings = map[string]any{}
	}
	switch w.Factor {
	case FactorHook:
		patch["tone"] = strings.TrimPrefix(f.Tone+"; "+hooks[w.Arm], "; ")
	case FactorPillar:
		topics := []any{w.Arm}
		for _, t := range f.Topics {
			if string(t) != w.Arm {
				topics = append(topics, string(t))
			}
		}
		patch["topics"] = topics
	case FactorSlot:
		times := []any{w.Arm}
		if f.Schedule != nil {
			i := slices.IndexFunc(r.Factors, func(f Factor) bool { return f.Name == FactorSlot })
			for _, at := range f.Schedule.Times {
				if !slices.Contains(r.Factors[i].Arms, at) {
					times = append(times, at)
				}
			}
		}
		patch["schedule"] = map[string]any{"timezone": r.Zone, "times": times}
	case FactorCaptionStyle:
		settings["caption_style"], patch["settings"] = w.Arm, settings
	case FactorFirstFrame:
		settings["post_headlines"], patch["settings"] = w.Arm == "headline", settings
	default:
		return false
	}
	return true
}
