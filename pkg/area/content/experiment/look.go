package experiment

import (
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
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
	// Rejected reports that a person or a check has kept the item from being published. It counts as the lowest figure:
	// an arm whose weakest posts are rejected would seem better otherwise.
	Rejected bool
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
	for _, d := range r.Deleted {
		all = append(all, Outcome{Item: d.Item, Trial: &d.Trial, Kind: d.Kind, Value: d.Value, Known: d.Known,
			Rejected: d.Rejected, At: d.At})
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
			all[i].Rejected = !all[i].Open && rejected(&one.Item, r.Metric.Platform)
			continue
		}
		pubs[i], keys = pub, append(keys, item.ReadingsKey(pub.ID))
	}
	items, err := db.GetAll(ctx, keys...)
	if err != nil {
		return nil, err
	}
	for i, pub := range pubs {
		if pub == nil {
			continue
		}
		history, err := item.History(items[0])
		if err != nil {
			return nil, err
		}
		items = items[1:]
		all[i].At = pub.PublishedAt.Add(time.Duration(r.Metric.AfterHours) * time.Hour)
		if o.Mode == tenant.Test && pub.Metrics != nil { // the latest figures of a sandbox are those of each age
			all[i].Value, all[i].Known = r.Metric.valueOf(pub.Metrics.Counts)
			continue
		}
		all[i].Value, all[i].Known = r.Metric.figure(history, all[i].At)
		all[i].Open = !all[i].Known && now.Before(all[i].At.Add(lateReading))
	}
	return all, nil
}

// refusals are the failures of items whose texts or pictures a check has refused.
var refusals = []provider.FailureCode{provider.FailedContentPolicy, provider.FailedClaim, provider.FailedWord,
	provider.FailedWrongLanguage, provider.FailedUnfinished}

// rejected reports whether a person or a check has kept an item from a platform: it was canceled or refused, its
// approval was not given, or nobody has published it. What failed for another reason, or had no account, was not
// rejected.
func rejected(i *item.Item, platform string) bool {
	if i.Failure != nil {
		return slices.Contains(refusals, i.Failure.Code)
	}
	for _, pub := range i.Publications {
		if pub.Platform == platform && pub.Failure != nil {
			return false
		}
	}
	return i.WaitsFor != item.WaitsForAccount
}

// Deleted is what became of an item that was deleted.
type Deleted struct {
	Item     string     `json:"item"`
	Trial    item.Trial `json:"trial"`
	Kind     item.Kind  `json:"kind"`
	Value    float64    `json:"value,omitempty"`
	Known    bool       `json:"known,omitempty"`
	Rejected bool       `json:"rejected,omitempty"`
	At       time.Time  `json:"at"`
}

// Delete adds to the transaction that an item of an experiment is deleted: its figure still counts if it is known, and
// as the lowest one otherwise. Without it, deleting the weakest posts of an arm would make the others seem better.
func Delete(ctx context.Context, db *store.DB, tx *store.Tx, o tenant.Owner, of *item.Record, now time.Time) error {
	if of.Item.Experiment == nil {
		return nil
	}
	it, err := db.Lookup(ctx, store.IDKey(of.Item.Experiment.ID))
	if err != nil || it.PK == "" {
		return err
	}
	r, err := Decode(&it)
	if err != nil || r.State != Running {
		return err
	}
	all, err := figures(ctx, db, o, r, []*item.Record{of}, now)
	if err != nil {
		return err
	}
	out := all[0]
	failed := out.Known || of.Item.Failure != nil && !rejected(&of.Item, r.Metric.Platform)
	r.Deleted = append(r.Deleted, Deleted{Item: of.Item.ID, Trial: *of.Item.Experiment, Kind: of.Item.Kind,
		Value: out.Value, Known: out.Known, Rejected: !failed, At: now})
	return tx.Rewrite(it, r)
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

// figure returns the figure of a post by the first reading from a time on that has it, and reports whether one has. One
// that is later than what is waited for has none: the post had more time than others, and the sequence is past it.
func (m Metric) figure(history []item.Metrics, due time.Time) (float64, bool) {
	for _, one := range history {
		if one.ReadAt.Before(due) || !one.ReadAt.Before(due.Add(lateReading)) {
			continue
		}
		if value, known := m.valueOf(one.Counts); known {
			return value, true
		}
	}
	return 0, false
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
	assigned, rejected int
	values             []float64
	score              *statistics.Arm
}

// comparison is the comparison of an arm with the first one of its factor.
type comparison struct {
	factor Factor
	arm    int
	n      [2]int
	interval
}

// interval is a test of the effect of an arm, at one level of all looks together.
type interval interface {
	Add(t statistics.Trial)
	At(alpha float64) (estimate, low, high float64)
}

// compare returns what the outcomes show. A winner is one both with the rejected posts as the lowest figures and
// without them: if one arm loses its weakest posts, the figures of the others say nothing of either.
func compare(r *Record, all []Outcome, full bool) verdict {
	v := judge(r, all, full)
	published := slices.DeleteFunc(slices.Clone(all), func(out Outcome) bool { return out.Rejected })
	if len(v.winners) > 0 && len(published) < len(all) {
		also := judge(r, published, full).winners
		v.winners = slices.DeleteFunc(v.winners, func(w Winner) bool { return !slices.Contains(also, w) })
	}
	return v
}

// judge returns what outcomes show, by a test for each arm but the first of each factor. Scores are ranks among the
// earlier posts, so that a few posts with very high figures do not decide: among those of the same kind, but for the
// factor that is the kind.
func judge(r *Record, all []Outcome, full bool) (v verdict) {
	var pairs []*comparison
	v.model = map[string][]statistics.Arm{}
	for _, f := range r.Factors {
		v.model[f.Name] = make([]statistics.Arm, len(f.Arms))
		for i := range f.Arms[1:] {
			pairs = append(pairs, &comparison{factor: f, arm: i + 1, interval: r.Stopping.test()})
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
	counted, looks := 0, 0
	for _, out := range all {
		for _, a := range out.Trial.Arms {
			if of := arms[Winner{a.Factor, a.Arm}]; of != nil {
				of.assigned++
			}
		}
		v.waits = v.waits || out.Open
		if v.waits || !out.Known && !out.Rejected {
			continue
		}
		if !last.IsZero() && !out.At.UTC().Truncate(24*time.Hour).Equal(last.UTC().Truncate(24*time.Hour)) {
			v.history = append(v.history, look())
		}
		last = out.At
		score := map[bool]float64{} // by whether it is a rank among all kinds
		for mixed, kind := range map[bool]item.Kind{false: out.Kind, true: ""} {
			if rankers[kind] == nil {
				rankers[kind] = &statistics.Ranker{}
			}
			score[mixed] = rankers[kind].Score(out.rank())
		}
		for _, a := range out.Trial.Arms {
			if of := arms[Winner{a.Factor, a.Arm}]; of != nil {
				of.take(out, score[a.Factor == FactorFormat])
			}
			for _, c := range pairs {
				c.take(a, score[a.Factor == FactorFormat])
			}
		}
		if counted++; looks < plannedLooks && counted >= (looks+1)*r.Budget.Posts/plannedLooks {
			looks++
			lookAt(pairs, looks, alpha)
		}
	}
	if full && !v.waits && looks < plannedLooks { // some posts do not count
		lookAt(pairs, plannedLooks, alpha)
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

// rank returns the figure by which a post is ranked. That of one that was rejected is below all others.
func (o Outcome) rank() float64 {
	if o.Rejected {
		return math.Inf(-1)
	}
	return o.Value
}

// plannedLooks is the number of looks of the design planned_looks.
const plannedLooks = 5

// test returns the test of a comparison.
func (s Stopping) test() interval {
	if s.Design == PlannedLooks {
		return statistics.NewPlanned()
	}
	return statistics.NewSequence()
}

// lookAt is a planned look at all comparisons.
func lookAt(pairs []*comparison, n int, alpha float64) {
	for _, c := range pairs {
		if p, ok := c.interval.(*statistics.Planned); ok {
			p.Look(n, plannedLooks, statistics.Critical(plannedLooks, alpha))
		}
	}
}

// take adds a post to the arm.
func (a *arm) take(out Outcome, score float64) {
	if out.Rejected {
		a.rejected++
	} else {
		a.values = append(a.values, out.Value)
	}
	a.score.N++
	a.score.Score += score
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
			res := Result{Factor: f.Name, Arm: name, Assigned: of.assigned, N: len(of.values),
				Rejected: of.rejected}
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
	full := r.State == Running && !r.Takes(now)
	v := compare(r, all, full)
	if r.Results = v.results; r.State != Running {
		return v.history // an experiment that you have stopped has no winner
	}
	r.Winners = v.winners
	if n := len(r.Models); n == 0 || !maps.EqualFunc(r.Models[n-1].Arms, v.model, slices.Equal) {
		r.Models = append(r.Models, Model{After: r.Posts, Arms: v.model})
	}
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
			if err := event.Add(tx, w.Now(), it.Owner, event.ExperimentDecided, r.Experiment); err != nil {
				return err
			}
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
	return c.DB.ChangeSome(ctx, q, func(tx *store.Tx, it store.Item) error {
		r, err := Decode(&it)
		if err != nil || r.State != Draft && r.State != Running {
			return err
		}
		r.stop(c.Now())
		r.Touch(c.Now())
		return tx.Rewrite(it, r)
	})
}

// stop ends an experiment without a winner.
func (r *Record) stop(now time.Time) {
	at := resource.Instant(now)
	r.State, r.EndedAt, r.Winners = Stopped, &at, []Winner{}
}
