package plan

import (
	"fmt"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/record/resource"
)

// The shares of values and of pairs of values are kept in plans of all sizes, and none is tied to another.
func TestTheGridIsBalanced(t *testing.T) {
	types := []string{"post", "short_video", "carousel", "story"}
	for seed := range 60 {
		chance := seeded("case", fmt.Sprint(seed))
		p := &Plan{ContentTypes: types[:1+chance.IntN(4)], ProductShare: []int{0, 40, 60, 100}[chance.IntN(4)]}
		p.Brief = resource.Text(fmt.Sprint("Plan ", seed))
		n := 28 + chance.IntN(300)
		total := 0
		for i := range 3 + chance.IntN(4) {
			p.Pillars = append(p.Pillars, Pillar{Name: fmt.Sprint(i), Share: 2 + chance.IntN(2)})
			total += p.Pillars[i].Share
		}
		cells := p.grid(n)
		marginal, pairs := map[string]int{}, map[string]int{}
		for i, c := range cells {
			if i > 0 && c.pillar == cells[i-1].pillar {
				t.Fatalf("seed %d: slots %d and %d have the same pillar", seed, i-1, i)
			}
			marginal[fmt.Sprint("type ", c.typeOnly)]++
			marginal[fmt.Sprint("pillar ", c.pillar)]++
			marginal[fmt.Sprint("goal ", c.goal)]++
			marginal[fmt.Sprint("offers ", c.offers)]++
			pairs[fmt.Sprint("pillar type ", c.pillar, c.typeOnly)]++
			pairs[fmt.Sprint("pillar goal ", c.pillar, c.goal)]++
			pairs[fmt.Sprint("goal type ", c.goal, c.typeOnly)]++
			pairs[fmt.Sprint("pillar offers ", c.pillar, c.offers)]++
			pairs[fmt.Sprint("type offers ", c.typeOnly, c.offers)]++
		}
		offered := float64(p.ProductShare) / 100
		near := func(name string, got int, want, most float64) {
			if math.Abs(float64(got)-want) > most {
				t.Errorf("seed %d, %d slots: %d of %q, want %.1f", seed, n, got, name, want)
			}
		}
		near("offers", marginal["offers true"], offered*float64(n), 1)
		for typed := range p.ContentTypes {
			near("type", marginal[fmt.Sprint("type ", typed)], float64(n)/float64(len(p.ContentTypes)), 1)
			near("type offers", pairs[fmt.Sprint("type offers ", typed, true)],
				offered*float64(n)/float64(len(p.ContentTypes)), 2)
		}
		for i, pillar := range p.Pillars {
			want := float64(n*pillar.Share) / float64(total)
			near("pillar", marginal[fmt.Sprint("pillar ", i)], want, 2)
			near("pillar offers", pairs[fmt.Sprint("pillar offers ", i, true)], offered*want, 2.5)
			for typed := range p.ContentTypes {
				near(fmt.Sprint("pillar type ", i, typed), pairs[fmt.Sprint("pillar type ", i, typed)],
					want/float64(len(p.ContentTypes)), 2.5)
			}
			for goal := range numberOfGoals {
				near(fmt.Sprint("pillar goal ", i, goal), pairs[fmt.Sprint("pillar goal ", i, goal)],
					want/float64(numberOfGoals), 2.5)
			}
		}
	}
}

// The order follows from the plan: others have another one, and it does not repeat after some slots.
func TestTheGridIsShuffled(t *testing.T) {
	p := &Plan{ContentTypes: []string{"post", "short_video", "carousel"}, ProductShare: 60,
		Pillars: []Pillar{{"Making", 1}, {"People", 1}, {"Questions", 1}}}
	p.Brief = "One"
	first, again := p.grid(30), p.grid(30)
	if fmt.Sprint(first) != fmt.Sprint(again) {
		t.Error("the grid of a plan is not always the same")
	}
	p.Brief = "Two"
	if fmt.Sprint(first) == fmt.Sprint(p.grid(30)) {
		t.Error("two plans have the same grid")
	}
	for period := 1; period <= 12; period++ {
		same := 0
		for i := period; i < len(first); i++ {
			if first[i].typeOnly == first[i-period].typeOnly && first[i].goal == first[i-period].goal {
				same++
			}
		}
		if same > (len(first)-period)/2 {
			t.Errorf("%d slots repeat after %d", same, period)
		}
	}
}

// Products are taken equally often, and none follows itself.
func TestProductsAreTakenInTurn(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7} {
		s := shelf{seed: "seed", zone: time.UTC, shop: map[string]*product.StoredProduct{}}
		for i := range n {
			s.products = append(s.products, strconv.Itoa(i))
			s.shop[strconv.Itoa(i)] = &product.StoredProduct{}
		}
		for range 10 * n {
			s.slots = append(s.slots, Slot{cell: cell{offers: true}})
		}
		s.places = make([]place, len(s.slots))
		all := s.allot()
		counts, last := map[string]int{}, ""
		for i := range s.slots {
			one := all[i].Product
			if counts[one]++; one == last && n > 1 {
				t.Errorf("of %d, %s follows itself", n, one)
			}
			last = one
		}
		for _, one := range s.products {
			if counts[one] != 10 {
				t.Errorf("of %d, %s is taken %d times", n, one, counts[one])
			}
		}
	}
}
