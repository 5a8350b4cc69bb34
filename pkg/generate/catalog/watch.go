package catalog

import (
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
)

// Difference is what an operator should know of a model: its provider says something else of it than the catalog, or it
// ends soon.
type Difference struct {
	// Model is the id of the model.
	Model string
	// Text is the difference, and begins with the id.
	Text string
	// Ends reports that the model ends within its notice, or is refused to new accounts.
	Ends bool
}

// Compare returns the differences between the catalog and what Bedrock says of its models in the stack's region: those
// that it lacks, that are Legacy, or whose end is another one or near. Lives are the models that it has, by their ids.
func (o Offer) Compare(lives map[string]provider.Life) (all []Difference) {
	now := o.clock()
	add := func(m Model, ends bool, format string, args ...any) {
		all = append(all, Difference{m.ID, m.ID + " " + fmt.Sprintf(format, args...), ends})
	}
	for _, m := range Models(Filter{Provider: bedrock}) {
		if m = o.today(m); m.State == Retired || !o.has(m) {
			continue
		}
		life, known := lives[m.ProviderModel]
		end, ours := life.End, m.RetiresAt.OrZero()
		switch on := end.UTC().Format(time.DateOnly); {
		case !known:
			add(m, true, "is not in %s: %s", o.region, o.Place(m))
		case life.Legacy:
			add(m, true, "is Legacy, and AWS refuses it to new accounts: %s", o.Place(m))
		case !end.IsZero() && ours.IsZero():
			add(m, end.Sub(now) < m.Notice(), "ends on %s (the catalog has no end)", on)
		case !end.IsZero() && on != ours.UTC().Format(time.DateOnly):
			add(m, end.Sub(now) < m.Notice(), "ends on %s (the catalog has %s)", on, ours.UTC().Format(time.DateOnly))
		case !end.IsZero() && end.Sub(now) < m.Notice():
			add(m, true, "ends on %s", on)
		}
	}
	return all
}

// Place says which model takes the place of one that its provider refuses.
func (o Offer) Place(m Model) string {
	next := o.StandIns(m.ProviderModel)
	if m.Kind != provider.KindText || len(next) == 0 {
		return "nothing takes its place"
	}
	return next[0].ID + " writes in its place"
}

// EndingSoon returns the models of all providers that end within their notice, by what the catalog has.
func (o Offer) EndingSoon() (all []Difference) {
	for _, m := range Models(Filter{}) {
		if end := m.RetiresAt.OrZero(); m.State != Retired && !end.IsZero() && end.Sub(o.clock()) < m.Notice() {
			all = append(all, Difference{m.ID, m.ID + " ends on " + end.UTC().Format(time.DateOnly), true})
		}
	}
	return all
}
