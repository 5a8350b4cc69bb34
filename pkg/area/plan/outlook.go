package plan

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/craft/prompt"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/store"
)

// The posts that a planner sees: how many are read, and how many of the best and of the worst ones it is told.
const (
	postsRead = 60
	postsTold = 5
	// mostOffers is the number of promotions of which it is told, and mostLabel the size of their texts in bytes.
	mostOffers, mostLabel = 20, 200
)

// outlook returns what the planner knows beside the slots: the dates of the brief, the platforms, the offers, the best
// and the worst posts with their figures, and what figures and experiments have shown.
func (h *Handler) outlook(ctx context.Context, j *job) (a prompt.Planning, err error) {
	a.Dates = j.plan.datesTold(j.recipe.Language)
	a.Newsless = j.recipe.Trade == string(factory.News)
	if a.Platforms, err = h.platforms(ctx, j); err != nil {
		return a, err
	}
	sales, err := h.salesOf(ctx, j)
	if err != nil {
		return a, err
	}
	zone, err := time.LoadLocation(j.plan.Timezone)
	if err != nil {
		return a, err
	}
	for _, p := range sales[:min(len(sales), mostOffers)] {
		a.Offers = append(a.Offers, clip(fmt.Sprintf("%s, %s, from %s to %s, %d products. %s", p.Name,
			reduction(p.Discount), p.StartsAt.In(zone).Format(time.DateOnly),
			p.EndsAt.Add(-time.Nanosecond).In(zone).Format(time.DateOnly), len(p.ProductIDs), p.Message), mostLabel))
	}
	seen := j.posts
	if j.again != nil { // perhaps months after the planning
		if seen, err = h.postsOf(ctx, j); err != nil {
			return a, err
		}
	}
	a.Best, a.Worst = seen.Best, seen.Worst
	if seen.Hook != "" {
		a.Learned = append(a.Learned, fmt.Sprintf("first lines of the kind %s have the best figures", seen.Hook))
	}
	for _, l := range j.plan.Learned {
		a.Learned = append(a.Learned, fmt.Sprintf("an experiment has shown that %s works best as the %s", l.Arm,
			l.Factor))
	}
	return a, nil
}

// posts are what a planner sees of the posts of a channel: the best and the worst ones, and the kind of first lines
// that have the best figures.
type posts struct {
	Best  []prompt.Figures `json:"best,omitempty"`
	Worst []prompt.Figures `json:"worst,omitempty"`
	Hook  prompt.HookKind  `json:"hook,omitempty"`
}

// postsOf reads the posts of the channel.
func (h *Handler) postsOf(ctx context.Context, j *job) (p posts, err error) {
	page, err := item.List(ctx, h.DB, store.Query{Index: store.ByParent,
		Partition: item.ParentPartition(j.Owner, j.factoryID),
		OneOf:     map[string][]string{"state": item.WrittenStates()}, Limit: postsRead})
	if err != nil {
		return p, err
	}
	best, worst := item.Extremes(page.Records, postsTold)
	return posts{figuresOf(best), figuresOf(worst), item.BestHook(page.Records)}, nil
}

// figuresOf returns posts as the planner reads them.
func figuresOf(posts []item.Performance) (all []prompt.Figures) {
	for _, p := range posts {
		all = append(all, prompt.Figures{Title: clip(p.Title, maxShown), Kind: string(p.Kind), Pillar: p.Pillar,
			Hook: p.Hook, Views: p.Views, Rate: p.Rate})
	}
	return all
}

// platforms returns the platforms of the accounts of the factory, with their limits for posts.
func (h *Handler) platforms(ctx context.Context, j *job) (all []prompt.Platform, err error) {
	ids, err := factoryrecord.Accounts(&j.factoryItem)
	if err != nil {
		return nil, err
	}
	accounts, err := h.DB.GetAll(ctx, store.IDKeys(ids)...)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, it := range accounts {
		if name := it.Filters["platform"]; name != "" && it.Owner == j.Owner && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		row, ok := registry.Find(name)
		if !ok {
			continue
		}
		c := row.Capabilities
		one := prompt.Platform{Name: c.Label, Links: c.Habits.Links, Action: c.Habits.Action}
		for _, rule := range c.Kinds {
			one.Caption, one.Title = max(one.Caption, rule.Caption.Max), max(one.Title, rule.Title.Max)
		}
		all = append(all, one)
	}
	return all, nil
}
