package experiment

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/content/item"
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
	Question string `json:"question" format:"question"`
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

type patchBody struct {
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
	Body patchBody
}

type listInput struct {
	httpapi.PageInput
	resource.Tagged
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
	op := httpapi.Ops("factory", "Analytics")
	create := op("createExperiment", http.MethodPost, collection, auth.FactoriesWrite, "Create an experiment",
		"Compares posts of a factory that differ by chance alone, such as in their hook. It is a draft: `PATCH` with "+
			"the state running starts it. New content items with its `experiment_id` then get their arms: each as "+
			"often in the first half of the budget, and later those more often that do better, but each in a tenth of "+
			"the posts at least. An arm wins only if that is chance with the probability `alpha` at most, however often you look.").
		Opening(httpapi.Publishing)
	create.Status, create.Errors = http.StatusCreated, []errs.Code{errs.NotFound}
	httpapi.Write(r, create, s.create)

	list := op("listExperiments", http.MethodGet, collection, auth.FactoriesRead, "List the experiments",
		"Newest first.").Opening(httpapi.Nothing)
	list.Errors = []errs.Code{errs.InvalidCursor}
	httpapi.List(r, list, s.list)

	httpapi.Read(r, op("getExperiment", http.MethodGet, one, auth.FactoriesRead, "Get an experiment",
		"With its results up to now, and over time. A post counts once its figure has the age of the metric; posts "+
			"count in the order of their items, so that a result waits for an earlier item that is not published yet: "+
			"for 14 days after its creation, or three days after the time that it is planned for.").
		Opening(httpapi.Nothing), s.get)

	s.registerRows(r)

	update := op("updateExperiment", http.MethodPatch, one, auth.FactoriesWrite, "Start or stop an experiment",
		"Takes a JSON merge patch (RFC 7396). Everything else is fixed: create another experiment instead. A stopped "+
			"one has no winner.").Opening(httpapi.Publishing)
	update.Errors = []errs.Code{errs.VersionMismatch, errs.InvalidState}
	httpapi.Write(r, update, s.update)
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
	stopping := Stopping{Alpha: 0.05, MinEffect: 0.05, Design: AlwaysValid}
	if b.Stopping != nil {
		stopping.Alpha = cmp.Or(b.Stopping.Alpha, stopping.Alpha)
		stopping.MinEffect = cmp.Or(b.Stopping.MinEffect, stopping.MinEffect)
		stopping.Design = cmp.Or(b.Stopping.Design, stopping.Design)
	}
	b.Metric.AfterHours = cmp.Or(b.Metric.AfterHours, 24)
	r := &Record{Seed: rand.Text()}
	r.Experiment = Experiment{Resource: resource.New(id.New(id.Experiment, now), now, b.Metadata),
		ProfileID: of.ProfileID(), FactoryID: f.ID, Question: b.Question, Factors: b.Factors, Metric: b.Metric,
		Budget: b.Budget, Stopping: stopping, AutoApply: b.AutoApply, State: Draft, NeededPosts: Needed(stopping, b.Factors),
		Winners: []Winner{}}
	r.Authority = authority.Of(auth.FromContext(ctx), auth.FactoriesWrite)
	r.Look(nil, now)
	it, err := r.Entry(of.Owner)
	if err != nil {
		return out, err
	}
	quota.Experiments.Take(tx, now, &it)
	tx.Create(it, nil)
	return r.Experiment, nil
}

// find returns an experiment of the caller, as Find does.
func (s *Service) find(ctx context.Context, experimentID string) (*Record, store.Item, error) {
	return Find(ctx, s.db, experimentID)
}

// Find returns an experiment of the caller, and its item.
func Find(ctx context.Context, db *store.DB, experimentID string) (*Record, store.Item, error) {
	it, err := resource.Find(ctx, db, id.Experiment, ItemKind, experimentID)
	if err != nil {
		return nil, it, err
	}
	r, err := Decode(&it)
	return r, it, err
}

func (s *Service) list(ctx context.Context, in *listInput) (httpapi.Page[Experiment], error) {
	q := httpapi.AllOwned(ctx, ItemKind, in.Filter.Into(map[string]string{
		factoryFilter: in.FactoryID, stateFilter: httpapi.AnyOf(in.State)}))
	in.Tagged.Into(&q)
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
	now := s.now()
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
			In(string(r.State))
	}
	r.Metadata = set.Metadata.OrEmpty()
	r.Touch(now)
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

// Row is an arm of a post of an experiment, with the figure of the post.
type Row struct {
	// Number of the item in the experiment, from 1. An item has a row for each factor that applies to it.
	Number int `json:"number" minimum:"1"`
	// Id of the content item.
	ContentItemID string `json:"content_item_id"`
	// Kind of content. Ranks are among posts of the same kind, but for the factor format.
	Kind item.Kind `json:"kind" enum:"post,video,carousel,story,music_clip"`
	// Name of the factor.
	Factor string `json:"factor" example:"hook"`
	// The arm.
	Arm string `json:"arm" example:"question"`
	// Probability with which the item was given this arm.
	Propensity float64 `json:"propensity" minimum:"0" maximum:"1" example:"0.5"`
	// The metric of its post, divided by the impressions where the platform counts them. Null: it is not known.
	Value *float64 `json:"value"`
	// Whether the figure is known. pending: it is not due yet, or late. completed: it is known. failed: there is none,
	// and it does not count. rejected: a person or a check has kept the item from being published, and it counts as the
	// lowest figure.
	State string `json:"state" enum:"pending,completed,failed,rejected"`
	// Time at which the figure was due.
	DueAt resource.Time `json:"due_at"`

	arm int // its number among the arms of the item
}

type rowsInput struct {
	Path
	httpapi.SliceInput
}

// registerRows adds the list of the posts of an experiment to the router.
func (s *Service) registerRows(r *httpapi.Router) {
	httpapi.List(r, httpapi.Op{ID: "listExperimentPosts", Method: http.MethodGet,
		Path: "/v1/experiments/{experiment_id}/posts", Scope: auth.FactoriesRead, Function: "factory", Tag: "Analytics",
		Sheet: "experiment-posts.csv", Summary: "List the posts of an experiment",
		Description: "Lists the raw rows from which the results follow, in the order in which items were given their " +
			"arms: each item with each of its arms, the probability of the arm, and the figure of its post. With the " +
			"header `Accept: text/csv`, the answer is a file of comma-separated values with all rows.",
		Errors: []errs.Code{errs.InvalidCursor, errs.NotFound}, Opens: httpapi.Nothing}, s.rows)
}

func (s *Service) rows(ctx context.Context, in *rowsInput) (page httpapi.Page[Row], err error) {
	r, it, err := s.find(ctx, in.ID)
	if err != nil {
		return page, err
	}
	all := []Row{}
	if r.StartedAt != nil {
		found, err := outcomes(ctx, s.db, it.Owner, r, s.now())
		if err != nil {
			return page, err
		}
		for _, o := range found {
			all = append(all, rowsOf(o)...)
		}
	}
	return httpapi.Slice(ctx, all, map[string]string{"experiment": in.ID}, in.SliceInput,
		func(r Row) string { return fmt.Sprintf("%09d-%03d", r.Number, r.arm) })
}

// rowsOf returns the rows of an item, one for each of its arms.
func rowsOf(o Outcome) (all []Row) {
	for i, a := range o.Trial.Arms {
		row := Row{Number: o.Trial.Number, ContentItemID: o.Item, Kind: o.Kind, Factor: a.Factor, Arm: a.Arm,
			Propensity: a.Propensity, State: "failed", DueAt: resource.Instant(o.At), arm: i}
		switch {
		case o.Known:
			row.Value, row.State = &o.Value, "completed"
		case o.Rejected:
			row.State = "rejected"
		case o.Open:
			row.State = "pending"
		}
		all = append(all, row)
	}
	return all
}
