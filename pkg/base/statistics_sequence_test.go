package base_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/content-automation/api/pkg/base/statistics"
)

// lookedAt returns the part of many experiments without an effect in which an effect of 0 was rejected at any look, and
// of those with one in which the true effect was.
func lookedAt(t *testing.T, lift, drift float64, adaptive bool) (rejectsZero, missesTruth float64) {
	t.Helper()
	const experiments, posts = 200, 120
	r := rand.New(rand.NewPCG(7, uint64(1000*lift)+uint64(10*drift)))
	for range experiments {
		var ranker statistics.Ranker
		var arms [2]statistics.Arm
		// A value of the one distribution exceeds one of the other with the probability of the true effect.
		none := statistics.NewWager(0)
		truth := statistics.NewWager(0.5*math.Erfc(-math.Log(1+lift)/2) - 0.5)
		for n := range posts {
			p := 0.5
			if adaptive {
				p = statistics.Floored(statistics.Propensities(arms[:]), 0.1)[1]
			}
			treated := r.Float64() < p
			// A heavy tail: the standard deviation of the logarithm is 1.
			value := math.Exp(r.NormFloat64() + drift*float64(n)/posts)
			if treated {
				value *= 1 + lift
			}
			score, i := ranker.Score(value), 0
			if treated {
				i = 1
			}
			arms[i].N++
			arms[i].Score += score
			none.Add(statistics.Trial{Score: score, Treated: treated, Propensity: p}, n)
			truth.Add(statistics.Trial{Score: score, Treated: treated, Propensity: p}, n)
		}
		// The fortunes are the greatest of all looks.
		if none.Most() >= 20 {
			rejectsZero++
		}
		if truth.Most() >= 20 {
			missesTruth++
		}
	}
	return rejectsZero / experiments, missesTruth / experiments
}

func TestSequencesHoldWhateverTheLooks(t *testing.T) {
	for _, c := range []struct {
		drift    float64
		adaptive bool
	}{{0, false}, {0, true}, {3, true}} {
		if rejects, _ := lookedAt(t, 0, c.drift, c.adaptive); rejects > 0.05 {
			t.Errorf("%+v: an effect is claimed in %.3f of experiments without one", c, rejects)
		}
	}
	for adaptive, least := range map[bool]float64{false: 0.95, true: 0.55} {
		if rejects, misses := lookedAt(t, 2, 0, adaptive); misses > 0.05 || rejects < least {
			t.Errorf("three times the value is seen in %.2f, and its effect missed in %.3f", rejects, misses)
		}
	}
}

func TestASequenceNarrows(t *testing.T) {
	s := statistics.NewSequence()
	if estimate, low, high := s.At(0.05); estimate != 0 || low != -0.5 || high != 0.5 {
		t.Errorf("without trials %v, %v to %v", estimate, low, high)
	}
	width := 1.0
	for n := range 400 {
		treated := n%2 == 0
		score := float64(n*37%100) / 125
		if treated {
			score += 0.2
		}
		s.Add(statistics.Trial{Score: score, Treated: treated, Propensity: 0.5})
		if n%100 == 99 {
			estimate, low, high := s.At(0.05)
			if low > 0.2 || high < 0.2 || high-low >= width || math.Abs(estimate-0.2) > 0.05 {
				t.Errorf("after %d: %v, %v to %v", n+1, estimate, low, high)
			}
			width = high - low
		}
	}
	if width > 0.15 {
		t.Errorf("after 400 the interval has %v", width)
	}
}

func TestRanksAreOfEarlierValues(t *testing.T) {
	var r statistics.Ranker
	var scores []float64
	for _, v := range []float64{5, 9, 1, 5} {
		scores = append(scores, r.Score(v))
	}
	if want := []float64{0.5, 2. / 3, 0.25, 2.5 / 5}; !slices.Equal(scores, want) {
		t.Errorf("%v, want %v", scores, want)
	}
}

func TestPropensitiesFollowTheScores(t *testing.T) {
	if p := statistics.Propensities(make([]statistics.Arm, 4)); math.Abs(p[0]-0.25) > 1e-9 ||
		math.Abs(p[3]-0.25) > 1e-9 {
		t.Errorf("before the first score: %v", p)
	}
	p := statistics.Floored(statistics.Propensities([]statistics.Arm{{N: 100, Score: 30}, {N: 100, Score: 70}}), 0.1)
	if math.Abs(p[0]-0.05) > 0.001 || math.Abs(p[0]+p[1]-1) > 1e-9 {
		t.Errorf("after clear scores: %v", p)
	}
	// The probability that a beta distribution of 4 and 2 exceeds one of 2 and 4 is 0.901.
	if p := statistics.Propensities([]statistics.Arm{{N: 4, Score: 3}, {N: 4, Score: 1}}); math.Abs(p[0]-0.90) > 0.03 {
		t.Errorf("after few scores: %v", p)
	}
}
