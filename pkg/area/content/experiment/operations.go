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
	"github.com/content-automation/api/pkg/httpapi/kind"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Service holds the operations of experiments.
type Service struct {
	db          *store.DB
	factories   *factory.Service
	now         func() time.Time
	experiments *kind.Kind[Record]
}

// NewService returns the service. It makes no call.
func NewService(db *store.DB, factories *factory.Service, now func() time.Time) *Service {
	return &Service{db, factories, now, experiments.On(db, now)}
}

var experiments = kind.Kind[Record]{Name: ItemKind, ID: id.Experiment, Path: "/v1/experiments/{experiment_id}",
	Function: "factory", Tag: "Analytics", Reads: auth.FactoriesRead, Writes: auth.FactoriesWrite, Place: place,
	Count: quota.Experiments.Take}

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

type patchBody struct {
	// running starts a draft; its factors, metric, budget and stopping rule are fixed from then on. stopped ends it.
	State State `json:"state,omitempty" enum:"running,stopped"`
	// Metadata to set. A null value removes that pair; null removes all.
	Metadata resource.MetadataPatch `json:"metadata,omitempty" nullable:"true"`
}

type listInput struct {
	httpapi.PageInput
	resource.MetadataFilter
	profile.Filter
	// Only experiments of this factory.
	FactoryID string `query:"factory_id" filter:"factory"`
	// Only experiments in these states, separated by commas. A running one is decided within six hours of its last
	// figure.
	State []string `query:"state" filter:"state" enum:"draft,running,decided,inconclusive,stopped" nullable:"false"`
}

// Details is an experiment with its results over time.
type Details struct {
	Experiment
	// Results over time, the earliest first: at the end of each day with a new figure.
	History []Look `json:"history" nullable:"false"`
}

// Register puts the operations of the area into the router.
func (s *Service) Register(r *httpapi.Router) {
	kind.Create(r, s.experiments, httpapi.Op{ID: "createExperiment", Summary: "Create an experiment",
		Description: "Compares posts of a factory that differ by chance alone, such as in their hook. It is a draft: " +
			"`PATCH` with the state running starts it. New content items with its `experiment_id` then get their " +
			"arms: each as often in the first half of the budget, and later those more often that do better, but " +
			"each in a tenth of the posts at least. An arm wins only if that is chance with the probability `alpha` " +
			"at most, however often you look.", Opens: httpapi.Publishing, Errors: []errs.Code{errs.NotFound}},
		s.opened, shown)
	kind.List[listInput](r, s.experiments, httpapi.Op{ID: "listExperiments", Summary: "List the experiments",
		Description: "Newest first."}, shown)
	kind.Get(r, s.experiments, httpapi.Op{ID: "getExperiment", Summary: "Get an experiment",
		Description: "With its results up to now, and over time. A post counts once its figure has the age of the " +
			"metric; posts count in the order of their items, so that a result waits for an earlier item that is not " +
			"published yet: for 14 days after its creation, or three days after the time that it is planned for."},
		s.details)
	s.registerRows(r)
	kind.Update(r, s.experiments, httpapi.Op{ID: "updateExperiment", Summary: "Start or stop an experiment",
		Description: "Takes a JSON merge patch (RFC 7396). Everything else is fixed: create another experiment " +
			"instead. A stopped one has no winner.",
		Opens: httpapi.Publishing, Errors: []errs.Code{errs.InvalidState}}, s.changed, shown)
}

// shown returns an experiment as lists show it.
func shown(_ context.Context, f *kind.Found[Record]) (Experiment, error) {
	return f.Record.Experiment, nil
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

func (s *Service) opened(ctx context.Context, _ *store.Tx, c *kind.Change[Record, createBody]) error {
	if err := c.Body.Rules(); err != nil {
		return err
	}
	f, of, err := s.factories.Find(ctx, c.Body.FactoryID)
	if err != nil {
		return errs.At("/factory_id", err)
	}
	r := c.Record
	c.Item.Owner, r.ProfileID, r.FactoryID = of.Owner, of.ProfileID(), f.ID
	r.Stopping.Alpha = cmp.Or(r.Stopping.Alpha, 0.05)
	r.Stopping.MinEffect = cmp.Or(r.Stopping.MinEffect, 0.05)
	r.Stopping.Design = cmp.Or(r.Stopping.Design, AlwaysValid)
	r.Metric.AfterHours = cmp.Or(r.Metric.AfterHours, 24)
	r.Seed, r.State, r.NeededPosts, r.Winners = rand.Text(), Draft, Needed(r.Stopping, r.Factors), []Winner{}
	r.Authority = authority.Of(auth.FromContext(ctx), auth.FactoriesWrite)
	r.Look(nil, c.Now)
	return nil
}

// Find returns an experiment of the caller, and its item.
func Find(ctx context.Context, db *store.DB, experimentID string) (*Record, store.Item, error) {
	f, err := experiments.On(db, nil).Find(ctx, experimentID)
	if err != nil {
		return nil, store.Item{}, err
	}
	return f.Record, f.Item, nil
}

// details returns an experiment with its results over time.
func (s *Service) details(ctx context.Context, f *kind.Found[Record]) (Details, error) {
	history := []Look{}
	if f.Record.StartedAt != nil {
		all, err := outcomes(ctx, s.db, f.Item.Owner, f.Record, s.now())
		if err != nil {
			return Details{}, err
		}
		history = append(history, f.Record.Look(all, s.now())...)
	}
	return Details{f.Record.Experiment, history}, nil
}

func (s *Service) changed(ctx context.Context, tx *store.Tx, c *kind.Change[Record, patchBody]) error {
	r := c.Record
	switch to := r.State; {
	case to == c.Was.State:
	case to == Running && c.Was.State == Draft:
		return s.start(ctx, tx, r, c.Item)
	case to == Stopped && (c.Was.State == Draft || c.Was.State == Running):
		r.stop(c.Now)
	default:
		return errs.New(errs.InvalidState, "The experiment is %s. Create another one.", c.Was.State).
			In(string(c.Was.State))
	}
	return nil
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

func (s *Service) rows(ctx context.Context, in *httpapi.SliceInput) (page httpapi.Page[Row], err error) {
	r, it, err := Find(ctx, s.db, httpapi.PathID(ctx))
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
	return httpapi.Slice(ctx, all, map[string]string{"experiment": r.ID}, *in,
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
