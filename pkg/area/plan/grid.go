package plan

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
)

// cell is what the grid of a plan gives a slot beside its time.
type cell struct {
	typed, pillar, goal int // the pillar is -1 in a plan without pillars
	// offers reports that the slot presents a product.
	offers bool
}

// The weights of the grid: of the shares, of the shares of pairs, of chance, and of a repetition of the last slot.
const (
	weighShare, weighPair, weighChance, weighAgain = 3, 2, 0.6, 0.4
)

// axis is a property of slots whose values have shares of them.
type axis struct {
	shares []float64 // of the values, which add up to 1 in all
	most   []int     // slots of each value, or nil: the shares alone bound it
	counts []int
}

// newAxis returns the axis of values with relative shares, over n slots. An exact one gives each value its share of
// the slots, rounded by the largest remainder.
func newAxis(relative []int, n int, exact bool) *axis {
	total := 0
	for _, r := range relative {
		total += r
	}
	a := &axis{counts: make([]int, len(relative))}
	order, given := make([]int, len(relative)), 0
	for v, r := range relative {
		a.shares = append(a.shares, float64(r)/float64(total))
		a.most = append(a.most, r*n/total)
		given += r * n / total
		order[v] = v
	}
	slices.SortStableFunc(order, func(v, w int) int { return relative[w]*n%total - relative[v]*n%total })
	for _, v := range order[:n-given] {
		a.most[v]++
	}
	if !exact {
		a.most = nil
	}
	return a
}

// ahead is how far a value is ahead of its share after i slots.
func (a *axis) ahead(v, i int) float64 { return float64(a.counts[v]) - a.shares[v]*float64(i) }

// open reports whether a value may be taken once more.
func (a *axis) open(v int) bool { return a.most == nil || a.counts[v] < a.most[v] }

// seeded returns a source of chance that depends on texts alone.
func seeded(texts ...string) *rand.Rand {
	h := sha256.New()
	for _, text := range texts {
		h.Write([]byte(text + "\x00"))
	}
	sum := h.Sum(nil)
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum), binary.BigEndian.Uint64(sum[8:])))
}

// seed is what the order of a plan follows from: what its caller asked for, so that an estimate, the plan and the same
// plan of another day of work agree.
func (p *Plan) seed() string {
	return fmt.Sprint(p.StartsOn, p.Days, p.PostsPerDay, p.Timezone, p.Brief, p.Pillars)
}

// even returns n equal shares, for values without shares of their own.
func even(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = 1
	}
	return all
}

// grid returns the cells of a plan's slots. Content types, pillars, goals and slots with a product have their shares,
// and so has each pair of their values: no pillar is tied to one type or goal. No two neighbours have the same pillar.
// The order is by chance that the plan fixes. Plans of the same size have the same number of each content
// type, so that they have the same price.
func (p *Plan) grid(n int) []cell {
	pillars := []int{}
	for _, pillar := range p.Pillars {
		pillars = append(pillars, max(pillar.Share, 1))
	}
	if len(pillars) == 0 {
		pillars = []int{1}
	}
	axes := [4]*axis{newAxis(even(len(p.ContentTypes)), n, true), newAxis(pillars, n, false),
		newAxis(even(numberOfGoals), n, true), newAxis([]int{100 - p.ProductShare, p.ProductShare}, n, true)}
	pairs, chance := map[[4]int]int{}, seeded(p.seed())
	cells, last := make([]cell, n), [4]int{-1, -1, -1, -1}
	for i := range cells {
		best, least := [4]int{}, 0.0
		found := false
		each(axes, func(at [4]int) {
			if at[1] == last[1] && len(pillars) > 1 {
				return
			}
			if cost := costOf(axes, pairs, at, last, i) + weighChance*chance.Float64(); !found || cost < least {
				best, least, found = at, cost, true
			}
		})
		for a, v := range best {
			axes[a].counts[v]++
			for b := range a {
				pairs[[4]int{b, best[b], a, v}]++
			}
		}
		cells[i], last = cell{best[0], best[1], best[2], best[3] == 1}, best
		if len(p.Pillars) == 0 {
			cells[i].pillar = -1
		}
	}
	return cells
}

// each calls f with all combinations of values that may be taken.
func each(axes [4]*axis, f func(at [4]int)) {
	for t := range axes[0].shares {
		for l := range axes[1].shares {
			for g := range axes[2].shares {
				for o := range axes[3].shares {
					at := [4]int{t, l, g, o}
					if axes[0].open(t) && axes[1].open(l) && axes[2].open(g) && axes[3].open(o) {
						f(at)
					}
				}
			}
		}
	}
}

// costOf is how much a combination for slot i takes the grid away from the shares of values and pairs.
func costOf(axes [4]*axis, pairs map[[4]int]int, at, last [4]int, i int) (cost float64) {
	for a, v := range at {
		cost += weighShare * axes[a].ahead(v, i)
		if v == last[a] && len(axes[a].shares) > 1 && a != 3 {
			cost += weighAgain
		}
		for b := range a {
			share := axes[a].shares[v] * axes[b].shares[at[b]]
			cost += weighPair * (float64(pairs[[4]int{b, at[b], a, v}]) - share*float64(i))
		}
	}
	return cost
}
