package base_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/content-automation/api/pkg/base/statistics"
)

// The constants are those of table 2.3 of Jennison and Turnbull, Group Sequential Methods (2000).
func TestCriticalValuesAreThoseOfOBrienAndFleming(t *testing.T) {
	for _, c := range []struct {
		looks       int
		alpha, want float64
	}{{1, 0.05, 1.960}, {2, 0.05, 1.977}, {3, 0.05, 2.004}, {4, 0.05, 2.024}, {5, 0.05, 2.040}, {1, 0.01, 2.576},
		{5, 0.01, 2.621}, {5, 0.1, 1.751}} {
		if got := statistics.Critical(c.looks, c.alpha); math.Abs(got-c.want) > 0.002 {
			t.Errorf("%d looks at %v: %.4f, want %.3f", c.looks, c.alpha, got, c.want)
		}
	}
}

// planned runs a test of five looks over n trials, and reports whether one of them claims an effect.
func planned(seed uint64, n int, score func(chance *rand.Rand, i int, treated bool) float64) (low, high float64,
	claims bool) {
	chance := rand.New(rand.NewPCG(seed, 9))
	p, critical := statistics.NewPlanned(), statistics.Critical(5, 0.05)
	for i := range n {
		treated := chance.IntN(2) == 0
		p.Add(statistics.Trial{Score: score(chance, i, treated), Treated: treated, Propensity: 0.5})
		if (i+1)%(n/5) == 0 {
			p.Look((i+1)/(n/5), 5, critical)
			_, low, high = p.At(0)
			claims = claims || low > 0 || high < 0
		}
	}
	return low, high, claims
}

func TestPlannedLooksClaimNothingByChance(t *testing.T) {
	worlds := map[string]func(chance *rand.Rand, i int, treated bool) float64{
		"uniform": func(chance *rand.Rand, _ int, _ bool) float64 { return chance.Float64() },
		"drifts": func(chance *rand.Rand, i int, _ bool) float64 {
			return (chance.Float64() + float64(i)/100) / 3
		},
		"zero mostly":       func(chance *rand.Rand, _ int, _ bool) float64 { return math.Floor(chance.Float64() * 1.05) },
		"swings every week": func(chance *rand.Rand, i int, _ bool) float64 { return (chance.Float64() + float64(i%7)) / 7 },
	}
	for name, world := range worlds {
		claims := 0
		for seed := range uint64(1000) {
			if _, _, claim := planned(seed, 200, world); claim {
				claims++
			}
		}
		if claims > 70 { // 50 are expected; the deviation is 7
			t.Errorf("%s: %d of 1000 tests claim an effect", name, claims)
		}
	}
}

func TestPlannedLooksHaveTheEffectInTheirInterval(t *testing.T) {
	inside, claims := 0, 0
	for seed := range uint64(500) {
		low, high, claim := planned(seed, 200, func(chance *rand.Rand, _ int, treated bool) float64 {
			x := 0.9 * chance.Float64()
			if treated {
				return x + 0.1
			}
			return x
		})
		if low < 0.1 && 0.1 < high {
			inside++
		}
		if claim {
			claims++
		}
	}
	if inside < 460 || claims < 300 {
		t.Errorf("the effect is in %d of 500 intervals, and %d claim one", inside, claims)
	}
	p := statistics.NewPlanned()
	if e, low, high := p.At(0); e != 0 || low != -0.5 || high != 0.5 {
		t.Errorf("without a look: %v from %v to %v", e, low, high)
	}
}
