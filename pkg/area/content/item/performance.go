package item

import (
	"cmp"
	"slices"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/craft/prompt"
)

// Performance is a text of a channel with the figures of its posts.
type Performance struct {
	ID      string `json:"content_item_id"`
	Kind    Kind   `json:"kind"`
	Title   string `json:"title"`
	Opening string `json:"caption"`
	Pillar  string `json:"pillar,omitempty"`
	// Hook is the kind of its first line.
	Hook string `json:"hook_kind,omitempty"`
	// Views and the counts of reactions are those of all its posts together.
	Views    int64 `json:"views"`
	Likes    int64 `json:"likes"`
	Comments int64 `json:"comments"`
	Shares   int64 `json:"shares"`
	Saves    int64 `json:"saves"`
	// Rate is what Engagement returns, in thousandths.
	Rate float64 `json:"reactions_per_1000_views"`
}

// maxQuoted is the number of characters of a caption that a performance quotes.
const maxQuoted = 300

// Extremes returns the n texts with the best and with the worst figures, each of them best first. No text is in both.
func Extremes(all []*Record, n int) (best, worst []Performance) {
	measured := withFigures(all)
	half := min(n, (len(measured)+1)/2)
	for _, r := range measured[:half] {
		best = append(best, r.performance())
	}
	for _, r := range measured[max(len(measured)-n, half):] {
		worst = append(worst, r.performance())
	}
	return best, worst
}

// withFigures returns the items whose figures are known, the best first.
func withFigures(all []*Record) []*Record {
	known := slices.DeleteFunc(slices.Clone(all), func(r *Record) bool {
		_, ok := r.Item.Engagement()
		return !ok
	})
	slices.SortStableFunc(known, func(a, b *Record) int {
		x, _ := a.Item.Engagement()
		y, _ := b.Item.Engagement()
		return cmp.Compare(y, x)
	})
	return known
}

// BestHook returns the kind of first lines whose posts have the best figures, or nothing if too few are measured.
func BestHook(all []*Record) prompt.HookKind { return bestHook(all) }

// Lessons returns the items whose texts are worth learning from: edited by a person, in the best quarter by their
// figures, or published where the figures are unknown. The order stays.
func Lessons(all []*Record) []*Record {
	known := withFigures(all)
	best := map[string]bool{}
	for _, r := range known[:(len(known)+3)/4] {
		best[r.Item.ID] = true
	}
	return slices.DeleteFunc(slices.Clone(all), func(r *Record) bool {
		_, measured := r.Item.Engagement()
		return !r.Edited() && !best[r.Item.ID] && (measured || r.Item.State != Published)
	})
}

func (r *Record) performance() Performance {
	p := Performance{ID: r.Item.ID, Kind: r.Item.Kind, Title: string(r.Item.Title),
		Opening: provider.Clip(string(r.Item.Caption),
			maxQuoted),
		Hook: string(r.Item.HookKind)}
	if r.Slot != nil {
		p.Pillar = r.Slot.Pillar
	}
	for _, publication := range r.Item.Publications {
		m := publication.Metrics
		if m == nil {
			continue
		}
		for n, sum := range map[*int64]*int64{m.Views: &p.Views, m.Likes: &p.Likes, m.Comments: &p.Comments,
			m.Shares: &p.Shares, m.Saves: &p.Saves} {
			if n != nil {
				*sum += *n
			}
		}
	}
	rate, _ := r.Item.Engagement()
	p.Rate = float64(int(rate*1e6)) / 1e3
	return p
}
