package content

import (
	"slices"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/area/content/experiment"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// ongoing is an experiment with its item in the table.
type ongoing struct {
	*experiment.Record
	it    store.Item
	drawn bool
}

func experimentKeys(bodies []createBody) (keys []store.Key) {
	for _, b := range bodies {
		if key := store.IDKey(b.ExperimentID); b.ExperimentID != "" && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// experimentsOf returns the experiments of an owner among items.
func experimentsOf(o tenant.Owner, items []store.Item) (map[string]*ongoing, error) {
	all := map[string]*ongoing{}
	for _, it := range items {
		if it.Kind != experiment.ItemKind || it.Owner != o {
			continue
		}
		r, err := experiment.Decode(&it)
		if err != nil {
			return nil, err
		}
		all[r.ID] = &ongoing{Record: r, it: it}
	}
	return all, nil
}

// draw gives a body the arms of its experiment, if it names one that takes items. Which factors apply does not depend
// on the arms.
func (a *references) draw(b *createBody, now time.Time) error {
	if b.ExperimentID == "" {
		return nil
	}
	e := a.experiments[b.ExperimentID]
	if e == nil {
		return errs.MissingAt("/experiment_id", "experiment", b.ExperimentID)
	}
	if e.FactoryID != b.FactoryID {
		return errs.Invalid("/experiment_id", "is the id of an experiment of another factory than %s. Use one of that factory", b.FactoryID)
	}
	if b.Source == item.SourceProvided {
		return errs.Invalid("/experiment_id", "is for generated items: leave it out with source provided")
	}
	if !e.Takes(now) {
		return nil
	}
	at := now
	if b.PublishAt != nil && !b.PublishAt.Next {
		at = b.PublishAt.Time.Time
	}
	b.drawn = e.Draw(e.Stratum(at), func(f experiment.Factor) bool { return b.takes(f, e.Place(), now) })
	if b.drawn == nil {
		return nil
	}
	e.drawn = true
	if time := b.drawn.Arm(experiment.FactorSlot); time != "" {
		b.PublishAt = &publishTime{Time: resource.Instant(experiment.At(b.PublishAt.Time.Time, time, e.Place()))}
	}
	b.slot = Placed(b.slot, b.drawn)
	b.fix()
	return nil
}

// fix sets the members of the body that its arms decide.
func (b *createBody) fix() {
	if seconds, err := strconv.Atoi(b.drawn.Arm(experiment.FactorLength)); err == nil {
		b.DurationSeconds = &seconds
	}
	if arm := b.drawn.Arm(experiment.FactorFirstFrame); arm != "" {
		shown := arm == "headline"
		b.ShowHeadline = &shown
	}
}

// takes reports whether a factor applies to a body: to its kind, and where the body has no value of its own.
func (b *createBody) takes(f experiment.Factor, zone *time.Location, now time.Time) bool {
	switch f.Name {
	case experiment.FactorHook:
		return b.Kind != item.MusicClip && b.Caption == nil
	case experiment.FactorLength:
		if b.Kind != item.Video || b.DurationSeconds != nil || b.Script != nil || b.Scenes != nil || b.Reuse {
			return false
		}
		bounds := item.Lengths(b.Format)
		for _, arm := range f.Arms {
			if n, _ := strconv.Atoi(arm); n < bounds[0] || n > bounds[1] {
				return false
			}
		}
	case experiment.FactorSlot:
		if b.PublishAt == nil || b.PublishAt.Next {
			return false
		}
		for _, arm := range f.Arms {
			if !experiment.At(b.PublishAt.Time.Time, arm, zone).After(now) {
				return false
			}
		}
	case experiment.FactorFormat:
		return false // an item has its kind already: plans draw it
	case experiment.FactorCaptionStyle:
		return b.Kind == item.Video || b.Kind == item.Story
	case experiment.FactorFirstFrame:
		return b.Kind == item.Post && b.ShowHeadline == nil
	}
	return true
}

// Placed returns the place of an item in a plan with the hook and the pillar of its arms.
func Placed(at *prompt.Plan, t *item.Trial) *prompt.Plan {
	hook, pillar := t.Arm(experiment.FactorHook), t.Arm(experiment.FactorPillar)
	if hook == "" && pillar == "" {
		return at
	}
	var place prompt.Plan
	if at != nil {
		place = *at
	}
	if hook != "" {
		place.Hook = "the first line is a " + hook
	}
	if pillar != "" {
		place.Pillar = pillar
	}
	return &place
}

// Restyle sets how an item looks by its arms.
func Restyle(b *item.Brief, t *item.Trial) {
	if style := t.Arm(experiment.FactorCaptionStyle); style != "" {
		b.CaptionStyle = style
	}
	if style := t.Arm(experiment.FactorPictureStyle); style != "" {
		if b.Look != "" {
			style += ". " + b.Look
		}
		b.Look = style
	}
}

// spend counts the price of an item in its experiment.
func (a *references) spend(r *item.Record) {
	if r.Item.Experiment != nil {
		a.experiments[r.Item.Experiment.ID].SpentCredits += r.Attempt.Credits
	}
}

// keepDraws adds the experiments that have given arms to the transaction. If another call has drawn from one meanwhile,
// the call draws again.
func (a *references) keepDraws(tx *store.Tx) error {
	for _, e := range a.experiments {
		if !e.drawn {
			continue
		}
		it, err := e.Into(e.it)
		if err != nil {
			return err
		}
		tx.Replace(it)
	}
	return nil
}
