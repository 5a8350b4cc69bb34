package experiment

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/statistics"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Outcome is what became of an item of an experiment.
type Outcome struct {
	Item  string
	Trial *item.Trial
	Kind  item.Kind
	// Value is the figure, if it is known. Open reports that it may still become known: the sequence waits for it, so
	// that the order of its trials does not depend on their results.
	Value       float64
	Known, Open bool
	// At is the time at which the figure was due.
	At time.Time
}

// The times after which an item without a post does not count, so that one that is never published ends the wait.
const (
	lateAfterCreation = 14 * 24 * time.Hour
	lateAfterPlan     = 3 * 24 * time.Hour
)

// outcomes reads the items of an experiment, in the order of their numbers.
func outcomes(ctx context.Context, db *store.DB, o tenant.Owner, r *Record, now time.Time) ([]Outcome,
	error) {
	var all []Outcome
	q := store.Query{Index: store.ByParent, Partition: item.ParentPartition(o, r.FactoryID), Limit: 100,
		From: id.First(id.ContentItem, r.StartedAt.Time)}
	for {
		page, err := item.List(ctx, db, q)
		if err != nil {
			return nil, err
		}
		var of []*item.Record
		for _, one := range page.Records {
			if one.Item.Experiment != nil && one.Item.Experiment.ID == r.ID {
				of = append(of, one)
			}
		}
		some, err := figures(ctx, db, o, r, of, now)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
		if q.After = page.Next; q.After == nil {
			break
		}
	}
	slices.SortFunc(all, func(a, b Outcome) int { return a.Trial.Number - b.Trial.Number })
	return all, nil
}

// figures returns the outcomes of items. Their posts have rows of readings, which are read together.
func figures(ctx context.Context, db *store.DB, o tenant.Owner, r *Record, of []*item.Record,
	now time.Time) ([]Outcome, error) {
	all, pubs, keys := make([]Outcome, len(of)), make([]*item.Publication, len(of)), []store.Key{}
	for i, one := range of {
		all[i] = Outcome{Item: one.Item.ID, Trial: one.Item.Experiment, Kind: one.Item.Kind}
		late := one.Item.CreatedAt.Add(lateAfterCreation)
		if at := one.Item.PlannedAt(); at.Add(lateAfterPlan).After(late) {
			late = at.Add(lateAfterPlan)
		}
		pub := postOn(one, r.Metric.Platform)
		if pub == nil || pub.PublishedAt.After(late) {
			all[i].At, all[i].Open = late, now.Before(late)
			continue
		}
		pubs[i], keys = pub, append(keys, item.ReadingsKey(pub.ID))
	}
	items, err := db.GetAll(ctx, keys...)
	if err != nil {
		return nil, err
	}
	age := time.Duration(r.Metric.AfterHours) * time.Hour
	for i, pub := range pubs {
		if pub == nil {
			continue
		}
		m, err := readAfter(items[0], pub, o.Mode, age)
		if err != nil {
			return nil, err
		}
		items = items[1:]
		// A reading may be late.
		all[i].At, all[i].Open = pub.PublishedAt.Add(age), m == nil && now.Before(pub.PublishedAt.Add(age+lateReading))
		if m != nil {
			all[i].Value, all[i].Known = r.Metric.valueOf(m.Counts)
		}
	}
	return all, nil
}

// lateReading is the time for which a figure is waited for after it was due.
const lateReading = 48 * time.Hour

// postOn returns the post of an item on a platform, or nil if there is none.
func postOn(r *item.Record, platform string) *item.Publication {
	for i := range r.Item.Publications {
		if pub := &r.Item.Publications[i]; pub.Platform == platform && pub.Taken() && pub.PublishedAt != nil {
			return pub
		}
	}
	return nil
}

// readAfter returns the first metrics of a post that were read at an age, or nil if there are none yet. Those of a
// sandbox are the latest ones.
func readAfter(it store.Item, pub *item.Publication, mode tenant.Mode, age time.Duration) (*item.Metrics, error) {
	if mode == tenant.Test {
		return pub.Metrics, nil
	}
	history, err := item.History(it)
	if err != nil {
		return nil, err
	}
	for _, m := range history {
		if m.ReadAt.Sub(pub.PublishedAt.Time) >= age {
			return &m, nil
		}
	}
	return nil, nil
}

// valueOf returns the figure of a post, and reports whether it is known. Where there are impressions, it is divided by
// them.
func (m Metric) valueOf(counts item.Counts) (float64, bool) {
	value, ok := counts.Value(m.Name)
	if !ok || counts.Impressions == nil || slices.Contains([]string{item.Engagement, "impressions", "reach", "views"},
		m.Name) {
		return value, ok
	}
	if *counts.Impressions == 0 {
		return 0, false
	}
	return value / float64(*counts.Impressions), true
}

// leastPosts is the number of posts of an arm below which it neither wins nor loses.
const leastPosts = 10

// verdict is what the outcomes of an experiment show.
type verdict struct {
	results []Result
	winners []Winner
	history []Look
	model   map[string][]statistics.Arm
	// settled reports that no arm differs from the first one by the least effect that matters. Waits reports that
	// figures may still become known.
	settled, waits bool
}

// arm is what is known of an arm: the posts that have it, their figures, and its part of the model.
type arm struct {
	assigned int
	values   []float64
	score    *statistics.Arm
}

// comparison is the comparison of an arm with the first one of its factor.
type comparison struct {
	factor Factor
	arm    int
	n      [2]int
	*statistics.Sequence
}

// compare returns what the outcomes show, by a sequence for each arm but the first of each factor. Scores are ranks
// among the earlier posts of the same kind, so that a few posts with very high figures do not decide.
func compare(r *Record, all []Outcome) (v verdict) {
	var pairs []*comparison
	v.model = map[string][]statistics.Arm{}
	for _, f := range r.Factors {
		v.model[f.Name] = make([]statistics.Arm, len(f.Arms))
		for i := range f.Arms[1:] {
			pairs = append(pairs, &comparison{factor: f, arm: i + 1, Sequence: statistics.NewSequence()})
		}
	}
	alpha := r.Stopping.Alpha / float64(len(pairs))
	rankers, arms := map[item.Kind]*statistics.Ranker{}, map[Winner]*arm{}
	for _, f := range r.Factors {
		for i, name := range f.Arms {
			arms[Winner{f.Name, name}] = &arm{score: &v.model[f.Name][i]}
		}
	}
	var last time.Time // when the latest figure was due
	look := func() Look { return Look{resource.Instant(last), results(r, pairs, arms, alpha)} }
	for _, out := range all {
		for _, a := range out.Trial.Arms {
			if of := arms[Winner{a.Factor, a.Arm}]; of != nil {
				of.assigned++
			}
		}
		v.waits = v.waits || out.Open
		if v.waits || !out.Known {
			continue
		}
		if rankers[out.Kind] == nil {
			rankers[out.Kind] = &statistics.Ranker{}
		}
		if !last.IsZero() && !out.At.UTC().Truncate(24*time.Hour).Equal(last.UTC().Truncate(24*time.Hour)) {
			v.history = append(v.history, look())
		}
		last = out.At
		score := rankers[out.Kind].Score(out.Value)
		for _, a := range out.Trial.Arms {
			if of := arms[Winner{a.Factor, a.Arm}]; of != nil {
				of.values = append(of.values, out.Value)
				of.score.N++
				of.score.Score += score
			}
			for _, c := range pairs {
				c.take(a, score)
			}
		}
	}
	now := look()
	if v.results = now.Results; !last.IsZero() {
		v.history = append(v.history, now)
	}
	v.winners = winners(r, pairs, alpha)
	v.settled = len(pairs) > 0
	for _, c := range pairs {
		_, low, high := c.At(alpha)
		v.settled = v.settled && -r.Stopping.MinEffect < low && high < r.Stopping.MinEffect
	}
	return v
}

// take adds a post to the comparison, if it has one of the two arms.
func (c *comparison) take(a item.TrialArm, score float64) {
	i := slices.Index(c.factor.Arms, a.Arm)
	if a.Factor != c.factor.Name || i != 0 && i != c.arm || len(a.All) != len(c.factor.Arms) {
		return
	}
	treated := i == c.arm
	if treated {
		c.n[1]++
	} else {
		c.n[0]++
	}
	c.Add(statistics.Trial{Score: score, Treated: treated, Propensity: a.All[c.arm] / (a.All[0] + a.All[c.arm])})
}

// enough reports whether both arms have as many posts as a claim needs.
func (c *comparison) enough() bool { return min(c.n[0], c.n[1]) >= leastPosts }

// results returns what is known of each arm.
func results(r *Record, pairs []*comparison, arms map[Winner]*arm, alpha float64) []Result {
	all := []Result{}
	for _, f := range r.Factors {
		for i, name := range f.Arms {
			of := arms[Winner{f.Name, name}]
			res := Result{Factor: f.Name, Arm: name, Assigned: of.assigned, N: len(of.values)}
			if len(of.values) > 0 {
				median := statistics.Median(of.values)
				res.Median = &median
			}
			for _, c := range pairs {
				if c.factor.Name == f.Name && c.arm == i && c.n[0] > 0 && c.n[1] > 0 {
					estimate, low, high := c.At(alpha)
					res.Estimate, res.Lower, res.Upper = &estimate, &low, &high
				}
			}
			all = append(all, res)
		}
	}
	return all
}

// winners returns the best arm of each factor of which an arm is proven better than the first one, and the first one of
// a factor whose others are all proven worse. All intervals hold together, so that a claim is false with the
// probability alpha at most.
func winners(r *Record, pairs []*comparison, alpha float64) []Winner {
	all := []Winner{}
	for _, f := range r.Factors {
		best, most, worse := "", 0.0, 0
		for _, c := range pairs {
			if c.factor.Name != f.Name || !c.enough() {
				continue
			}
			switch estimate, low, high := c.At(alpha); {
			case low > 0 && estimate > most:
				best, most = f.Arms[c.arm], estimate
			case high < 0:
				worse++
			}
		}
		if best == "" && worse == len(f.Arms)-1 {
			best = f.Arms[0]
		}
		if best != "" {
			all = append(all, Winner{f.Name, best})
		}
	}
	return all
}

// Look brings a running experiment up to date, and returns its results over time. The state of an experiment follows
// from its outcomes and the clock alone.
func (r *Record) Look(all []Outcome, now time.Time) []Look {
	v := compare(r, all)
	if r.Results = v.results; r.State != Running {
		return v.history // an experiment that you have stopped has no winner
	}
	r.Winners = v.winners
	if n := len(r.Models); n == 0 || !maps.EqualFunc(r.Models[n-1].Arms, v.model, slices.Equal) {
		r.Models = append(r.Models, Model{After: r.Posts, Arms: v.model})
	}
	full := !r.Takes(now)
	switch {
	case len(v.winners) == len(r.Factors), full && !v.waits && len(v.winners) > 0:
		r.State = Decided
	case v.settled, full && !v.waits:
		r.State = Inconclusive
	default:
		r.Winners = []Winner{}
		return v.history
	}
	at := resource.Instant(now)
	r.EndedAt = &at
	return v.history
}

// LookAt reads the items of an experiment, and looks at them. It returns the results over time.
func (r *Record) LookAt(ctx context.Context, db *store.DB, o tenant.Owner, now time.Time) ([]Look, error) {
	all, err := outcomes(ctx, db, o, r, now)
	if err != nil {
		return nil, err
	}
	return r.Look(all, now), nil
}

// LookKind is the kind of the task that looks at the figures of a running experiment, and ends it.
const LookKind task.Kind = "experiment.look"

// lookEvery is the time between two looks.
const lookEvery = 6 * time.Hour

func lookTask(experimentID string, o tenant.Owner, now time.Time) task.Task {
	return task.Task{Message: task.Message{ID: task.ID(LookKind, experimentID, 1), Kind: LookKind,
		Queue: topology.Diagnose, Subject: experimentID, Owner: o}, DueAt: now.Add(lookEvery)}
}

// Worker looks at experiments.
type Worker struct {
	DB  *store.DB
	Now func() time.Time
	// Apply adds the applied proposal of a decided experiment to the transaction. It reports false, and changes
	// nothing, if it cannot be applied: the result stays, for people to decide.
	Apply func(ctx context.Context, tx *store.Tx, r *Record, it store.Item) (bool, error)
}

// Look looks at the figures of an experiment until it has ended. What a look finds follows from the stored items and
// the clock alone, so that it may be repeated.
func (w Worker) Look(ctx context.Context, t *task.Run) error {
	r, _, err := w.read(ctx, t.Subject)
	if err != nil || r == nil {
		return err
	}
	all, err := outcomes(ctx, w.DB, t.Owner, r, w.Now())
	if err != nil {
		return task.Again(err)
	}
	t.Also(func(ctx context.Context, tx *store.Tx) error {
		// The experiment may have got items meanwhile.
		r, it, err := w.read(ctx, t.Subject)
		if err != nil || r == nil {
			return err
		}
		r.Look(all, w.Now())
		r.Touch(w.Now())
		if r.State != Running {
			e, err := event.New(w.Now(), it.Owner, event.ExperimentDecided, r.Experiment, nil)
			if err != nil {
				return err
			}
			tx.Create(e, nil)
		}
		if r.AutoApply && r.State == Decided {
			if done, err := w.Apply(ctx, tx, r, it); done || err != nil {
				return err
			}
		}
		return tx.Rewrite(it, r)
	})
	if r.Look(all, w.Now()); r.State != Running {
		return nil
	}
	return t.Sleep(lookEvery)
}

// read returns an experiment if it runs.
func (w Worker) read(ctx context.Context, experimentID string) (*Record, store.Item, error) {
	it, err := w.DB.Lookup(ctx, store.IDKey(experimentID))
	if err != nil {
		return nil, it, task.Again(err)
	}
	if it.PK == "" {
		return nil, it, nil
	}
	r, err := Decode(&it)
	if err != nil || r.State != Running {
		return nil, it, err
	}
	return r, it, nil
}

// Cleaner stops the experiments of a factory that was deleted.
type Cleaner struct {
	DB  *store.DB
	Now func() time.Time
}

// Clean stops the next experiments of the factory. Called again, it finds nothing.
func (c Cleaner) Clean(ctx context.Context, o tenant.Owner, factoryID string) (more bool, err error) {
	q := store.Query{Index: store.ByOwner, Partition: store.OwnerPartition(o, ItemKind), Limit: 25,
		Filters: map[string]string{"factory": factoryID},
		OneOf:   map[string][]string{"state": {string(Draft), string(Running)}}}
	return c.DB.Some(ctx, q, func(it store.Item) error {
		r, err := Decode(&it)
		if err != nil {
			return err
		}
		r.stop(c.Now())
		r.Touch(c.Now())
		tx := &store.Tx{}
		if err := tx.Rewrite(it, r); err != nil {
			return err
		}
		return c.DB.Commit(ctx, tx)
	})
}

// stop ends an experiment without a winner.
func (r *Record) stop(now time.Time) {
	at := resource.Instant(now)
	r.State, r.EndedAt, r.Winners = Stopped, &at, []Winner{}
}
