package factory

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// lookEvery is the time between two looks at the models of a factory. A release may tell of an end that was not known
// when the factory was written.
const lookEvery = 7 * 24 * time.Hour

// named is the partition of store.ByDue that lists the factories of all accounts that name a model, by the time of the
// next look at these.
const named = "factories#models"

// toldAttribute is the attribute of a factory's item with the models whose end it was told of, separated by commas.
const toldAttribute = "retiring_told"

// Retirement is the object of the event model.retiring: a model that a factory names and that ends.
type Retirement struct {
	// Id of the model.
	ID string `json:"id" example:"nano-banana-pro"`
	// Id of the factory that names the model.
	FactoryID string `json:"factory_id" example:"fac_01h455vb4pex5vsknk084sn02q"`
	// Profile that the factory belongs to. Null: the account as a whole.
	ProfileID *tenant.Profile `json:"profile_id"`
	// Kind of generation that the factory names it for.
	Kind string `json:"kind" enum:"text,image,video,music,voice,avatar"`
	// Time from which on its provider no longer has it.
	RetiresAt resource.Time `json:"retires_at"`
	// Id of the model to use instead. Null if there is none.
	Successor *string `json:"successor" example:"nano-banana-2.1"`
	// Whether the factory lets a successor take the place of the model, as far as that costs no more.
	ReplaceRetiredModels bool `json:"replace_retired_models"`
}

// Ends returns the nearest end of the models that the factory names, and the first time from which on one of them is
// advised against, for the headers of an answer.
func (f Factory) Ends() (deprecated, end time.Time) {
	for _, named := range f.Models {
		from, until := catalog.Ending(named)
		deprecated, end = earlier(deprecated, from), earlier(end, until)
	}
	return deprecated, end
}

// earlier returns the earlier of two times, of which the zero time stands for none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// watch plans the next look at the models of a factory: at once if one of them ends soon, so that the event follows
// the change that names it.
func (f *Factory) watch(it *store.Item) {
	it.Due = store.Key{}
	if len(f.Models) == 0 || f.State == StateDeleted {
		return
	}
	at := f.UpdatedAt.Time
	if len(f.retiring(at, told(*it))) == 0 {
		at = at.Add(lookEvery)
	}
	it.Due = store.DueAt(named, at, f.ID)
}

func told(it store.Item) []string {
	return strings.FieldsFunc(it.Attributes[toldAttribute], func(r rune) bool { return r == ',' })
}

// retiring returns the models of the factory that end soon, apart from those that it was told of.
func (f *Factory) retiring(now time.Time, told []string) (ending []Retirement) {
	for _, kind := range slices.Sorted(maps.Keys(f.Models)) {
		m, ok := catalog.Find(f.Models[kind])
		if t := f.Trained; t != nil && t.ID == f.Models[kind] {
			m, ok = catalog.Find(t.BaseModel)
		}
		if !ok || m.RetiresAt == nil || slices.Contains(told, m.ID) ||
			m.RetiresAt.Sub(now) > m.Notice()+lookEvery {
			continue
		}
		ending = append(ending, Retirement{ID: m.ID, FactoryID: f.ID, ProfileID: f.ProfileID, Kind: kind,
			RetiresAt: *m.RetiresAt, Successor: m.Successor, ReplaceRetiredModels: f.ReplaceRetiredModels})
	}
	return ending
}

// WarnRetiring emits the event model.retiring for each model that ends soon and that a factory names, once for each
// factory and model, and returns the number of events. A factory that fails stays in the list for the next call.
func WarnRetiring(ctx context.Context, db *store.DB, now time.Time) (warned int, err error) {
	return db.EachDue(ctx, named, now, func(it store.Item) (int, error) { return warnRetiring(ctx, db, it, now) })
}

func warnRetiring(ctx context.Context, db *store.DB, it store.Item, now time.Time) (int, error) {
	f, err := Decode(&it)
	if err != nil {
		return 0, err
	}
	tx := &store.Tx{}
	known := told(it)
	ending := f.retiring(now, known)
	for _, one := range ending {
		e, err := event.New(now, it.Owner, event.ModelRetiring, one, nil)
		if err != nil {
			return 0, err
		}
		tx.Create(e, nil)
		known = append(known, one.ID)
	}
	if len(ending) > 0 {
		if it.Attributes == nil {
			it.Attributes = map[string]string{}
		}
		it.Attributes[toldAttribute] = strings.Join(known, ",")
	}
	// Nothing that callers see changes, so the version stays.
	it.Due = store.DueAt(named, now.Add(lookEvery), f.ID)
	tx.Replace(it)
	return len(ending), db.Commit(ctx, tx)
}
