package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/content/experiment"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

// Learned is what a plan has from a decided experiment.
type Learned struct {
	// Id of the experiment.
	ExperimentID string `json:"experiment_id"`
	// Name of the factor.
	Factor string `json:"factor" example:"length"`
	// The arm that has won.
	Arm string `json:"arm" example:"15"`
	// What brought it into the plan. factory: the factory has it among its settings, as after its proposal was applied.
	// plan: from_experiment_ids names the experiment.
	By string `json:"by" enum:"factory,plan"`
}

// The values of Learned.By, which tell where a winner is from.
const (
	learnedByFactory = "factory"
	learnedByPlan    = "plan"
)

// lessons are the experiments of a factory that a plan depends on.
type lessons struct {
	// runs is the experiment that the items of the plan take part in, or nil.
	runs *experiment.Record
	all  []Learned
	// arms are those that the plan takes from decided experiments, and lost the content types that have lost there.
	arms        *item.Trial
	lostFactors []string
}

// mostLessons is the number of decided experiments of a factory that a plan looks at, the latest first.
const mostLessons = 50

// lessons reads the experiments of a factory that a body names.
func (s *Service) lessons(ctx context.Context, o tenant.Owner, f factory.Factory, b createBody) (l lessons, err error) {
	l.all = []Learned{}
	var keys []store.Key
	for _, experimentID := range append([]string{b.ExperimentID}, b.FromExperimentIDs...) {
		if id.Valid(id.Experiment, experimentID) {
			keys = append(keys, store.IDKey(experimentID))
		}
	}
	items, err := s.db.GetAll(ctx, keys...)
	if err != nil {
		return l, err
	}
	named := map[string]*experiment.Record{}
	for _, it := range items {
		if it.Kind != experiment.ItemKind || it.Owner != o {
			continue
		}
		r, err := experiment.Decode(&it)
		if err != nil {
			return l, err
		}
		named[r.ID] = r
	}
	if b.ExperimentID != "" {
		l.runs = named[b.ExperimentID]
		if err := experiment.Check("/experiment_id", b.ExperimentID, l.runs, f.ID); err != nil {
			return l, err
		}
	}
	return l, l.take(b.FromExperimentIDs, named, f.ID)
}

// learned adds to the plan what its factory has from decided experiments.
func (h *Handler) learned(ctx context.Context, j *job) error {
	f, err := factory.Decode(&j.factoryItem)
	if err != nil {
		return err
	}
	decided, err := experiment.DecidedOf(ctx, h.DB, j.Owner, j.factoryID, mostLessons)
	if err != nil {
		return err
	}
	all := slices.Clone(j.plan.Learned)
	for _, r := range decided {
		for _, w := range r.Winners {
			if experiment.Has(f, w) {
				all = append(all, Learned{r.ID, w.Factor, w.Arm, learnedByFactory})
			}
		}
	}
	j.plan.Learned = all
	return nil
}

// take takes the winners of decided experiments that are no settings of a factory.
func (l *lessons) take(ids []string, named map[string]*experiment.Record, factoryID string) error {
	var found []error
	for i, experimentID := range ids {
		at := "/from_experiment_ids/" + strconv.Itoa(i)
		r := named[experimentID]
		if err := experiment.Check(at, experimentID, r, factoryID); err != nil {
			found = append(found, err)
			continue
		}
		switch {
		case r.State != experiment.Decided:
			found = append(found, errs.Invalid(at, "is that of an experiment that is %s: only a decided one has a "+
				"winner", r.State))
			continue
		}
		taken := 0
		for _, w := range r.Winners {
			if experiment.Settable(w.Factor) {
				continue
			}
			if l.arms.Arm(w.Factor) != "" {
				found = append(found, errs.Invalid(at, "has a winner of %s, as another one of them has", w.Factor))
				continue
			}
			if l.arms == nil {
				l.arms = &item.Trial{}
			}
			l.arms.Arms = append(l.arms.Arms, item.TrialArm{Factor: w.Factor, Arm: w.Arm})
			l.all = append(l.all, Learned{experimentID, w.Factor, w.Arm, learnedByPlan})
			if taken++; w.Factor == experiment.FactorFormat {
				l.lostFactors = slices.DeleteFunc(r.Arms(w.Factor), func(arm string) bool { return arm == w.Arm })
			}
		}
		if taken == 0 {
			found = append(found, errs.Invalid(at, "has won by what is a setting of the factory: apply its proposal"))
		}
	}
	return errs.All(found...)
}

// formats returns the content types of a plan without those that have lost against the one that the plan takes.
func (l *lessons) formats(types []string) []string {
	best := l.arms.Arm(experiment.FactorFormat)
	if best == "" || !slices.Contains(types, best) {
		return types
	}
	return slices.DeleteFunc(slices.Clone(types), func(t string) bool {
		return slices.Contains(l.lostFactors, t)
	})
}

// base returns the arms of a content type that the plan takes.
func (l *lessons) base(t Type) *item.Trial {
	all := &item.Trial{}
	if l.arms != nil {
		for _, a := range l.arms.Arms {
			if content.Takes(experiment.Factor{Name: a.Factor, Arms: []string{a.Arm}}, t.Kind, t.Format) {
				all.Arms = append(all.Arms, a)
			}
		}
	}
	return all
}

// priced are the factors whose arms have prices of their own. No content type takes both.
var priced = []string{experiment.FactorLength, experiment.FactorFirstFrame}

// variant is the key of a record of Recipe.Variants.
func variant(contentType, arm string) string { return contentType + " " + arm }

// variants returns the arms of a factor for which a content type has records of their own.
func (l *lessons) variants(t Type) (all []item.TrialArm) {
	if l.runs == nil {
		return nil
	}
	for _, f := range l.runs.Factors {
		if slices.Contains(priced, f.Name) && content.Takes(f, t.Kind, t.Format) {
			for _, arm := range f.Arms {
				all = append(all, item.TrialArm{Factor: f.Name, Arm: arm})
			}
		}
	}
	return all
}

// formatsOf returns the arms of the factor format of an experiment, if a plan has all of these content types.
func formatsOf(r *experiment.Record, types []string) []string {
	if r == nil {
		return nil
	}
	arms := r.Arms(experiment.FactorFormat)
	if slices.ContainsFunc(arms, func(arm string) bool { return !slices.Contains(types, arm) }) {
		return nil
	}
	return arms
}

// level has each of some content types cost what the dearest of them costs, because they may be drawn for each other.
func level(prices map[string]int64, types []string) {
	most := int64(0)
	for _, t := range types {
		most = max(most, prices[t])
	}
	for _, t := range types {
		prices[t] = most
	}
}

// record returns the record with which an item of a content type begins that has the arms of a trial, or nil.
func (r *Recipe) record(contentType string, t *item.Trial) *item.Record {
	for _, factor := range priced {
		if arm := t.Arm(factor); arm != "" && r.Variants[variant(contentType, arm)] != nil {
			return r.Variants[variant(contentType, arm)]
		}
	}
	return r.Items[contentType]
}

// reserved returns the credits that are reserved for an item of a content type: those of its dearest variant.
func (r *Recipe) reserved(contentType string) int64 {
	if credits, ok := r.Reserves[contentType]; ok {
		return credits
	}
	return r.Items[contentType].Attempt.Credits
}

// trial returns the running experiment of the plan with its item, or nil if it has none that takes items.
func (h *Handler) trial(ctx context.Context, j *job) (*experiment.Record, store.Item, error) {
	if j.plan.ExperimentID == "" {
		return nil, store.Item{}, nil
	}
	found, err := h.DB.Lookup(ctx, store.IDKey(string(j.plan.ExperimentID)))
	if err != nil || found.Kind != experiment.ItemKind || found.Owner != j.Owner {
		return nil, store.Item{}, err
	}
	r, err := experiment.Decode(&found)
	return r, found, err
}

// keepTrial adds what was drawn from an experiment to the transaction.
func keepTrial(tx *store.Tx, r *experiment.Record, it store.Item) error { return tx.Rewrite(it, r) }

// draw gives the slots of the next chunk of a plan that makes its items at once their arms, before their topics are
// written. A slot without a topic keeps its number of the experiment, which no item has then.
func (h *Handler) draw(j *job) error {
	zone, err := time.LoadLocation(j.plan.Timezone)
	if err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	j.Also(func(ctx context.Context, tx *store.Tx) error {
		drawn := map[int]*item.Trial{}
		r, it, err := h.trial(ctx, j)
		if err != nil || r == nil {
			return errors.Join(err, j.Keep("trials", drawn))
		}
		now, spent := h.Now(), r.SpentCredits
		from, to := j.chunk()
		for i, slot := range j.slots[from:to] {
			if !r.Takes(now) {
				break
			}
			t := r.Draw(r.Stratum(slot.At), func(f experiment.Factor) bool { return j.takes(r, f, slot, zone, now) })
			if t != nil {
				drawn[i+1] = t
				r.SpentCredits += j.recipe.reserved(slot.HeldType)
			}
		}
		r.SpentCredits = spent // it is counted when the items are made
		return errors.Join(j.Keep("trials", drawn), keepTrial(tx, r, it))
	})
	return j.Sleep(0)
}

// takes reports whether a factor of an experiment applies to a slot. That never depends on what is drawn: where the
// format is drawn, too, each format has to take the factor.
func (j *job) takes(r *experiment.Record, f experiment.Factor, slot Slot, zone *time.Location, now time.Time) bool {
	types := formatsOf(r, j.plan.ContentTypes)
	if !slices.Contains(types, slot.Type) {
		types = []string{slot.Type}
	}
	switch f.Name {
	case experiment.FactorFormat:
		return len(types) > 1
	case experiment.FactorSlot: // two items of a day would have the same time
		return j.plan.PostsPerDay == 1 && !slices.ContainsFunc(f.Arms, func(arm string) bool {
			return !experiment.At(slot.At, arm, zone).After(now)
		})
	}
	return !slices.ContainsFunc(types, func(name string) bool { return !typeOf(name).takes(f) })
}

// place sets the places of the slots, those of the next chunk with the arms that were drawn for them.
func (j *job) place() error {
	zone, err := time.LoadLocation(j.plan.Timezone)
	if err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	from, _ := j.chunk()
	for n, t := range j.trials {
		slot := &j.slots[from+n-1]
		if arm := t.Arm(experiment.FactorFormat); arm != "" {
			slot.Type = arm
		}
		if arm := t.Arm(experiment.FactorSlot); arm != "" {
			slot.At = experiment.At(slot.At, arm, zone)
		}
	}
	if j.places, err = j.plan.thread(j.slots, j.recipe); err != nil {
		return err
	}
	for n, t := range j.trials {
		if arm := t.Arm(experiment.FactorPillar); arm != "" {
			j.places[from+n-1].Pillar = arm
		}
	}
	return nil
}

// typeOf returns the content type of a name.
func typeOf(name string) Type {
	return Types[slices.IndexFunc(Types, func(t Type) bool { return t.Name == name })]
}

// takes reports whether a factor applies to items of the type.
func (t Type) takes(f experiment.Factor) bool { return content.Takes(f, t.Kind, t.Format) }

// spend counts the prices of items of an experiment in it.
func (b *batch) spend(r *experiment.Record) {
	for _, one := range b.records {
		if one.Item.Experiment != nil && r != nil && one.Item.Experiment.ID == r.ID {
			r.SpentCredits += one.Attempt.Credits
		}
	}
}

// drawLate gives an item its arms when it is written. What its calendar has told stays: format, time and pillar.
func (j *job) drawLate(r *experiment.Record, c *topicItem, now time.Time) *item.Trial {
	if r == nil || !r.Takes(now) {
		return nil
	}
	return r.Draw(r.Stratum(c.At), func(f experiment.Factor) bool {
		return f.Name != experiment.FactorPillar && typeOf(c.Type).takes(f)
	})
}
