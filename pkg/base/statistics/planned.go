package statistics

import (
	"math"
	"sync"
)

// Planned compares two arms at a few looks that are planned before the first trial. It finds an effect with fewer
// trials than a Sequence does, but may be looked at no more often.
//
// Scores are centred by the mean of the earlier ones, so that, without an effect, chance is that of the assignment
// alone: the test assumes nothing about the distribution of scores, and holds where they drift.
type Planned struct {
	n                    int
	sum                  float64 // of the scores
	gain, square, weight float64
	estimate, low, high  float64 // at the last look
}

// NewPlanned returns a test without trials.
func NewPlanned() *Planned { return &Planned{low: -0.5, high: 0.5} }

// Add adds a trial. Its score counts against the mean of the earlier ones.
func (p *Planned) Add(t Trial) {
	center := (p.sum + 0.5) / float64(p.n+1)
	arm, rest, spread := 0.0, t.Score-center, t.Propensity*(1-t.Propensity)
	if t.Treated {
		arm = 1
	}
	p.gain += rest * (arm - t.Propensity)
	p.square += rest * rest * spread
	p.weight += spread
	p.sum += t.Score
	p.n++
}

// Look computes the estimate and its interval anew. The interval is that of O'Brien and Fleming, A multiple testing
// procedure for clinical trials, Biometrics 35 (1979): all of them together hold at the level that Critical was called
// with. Look is the number of the look, from 1 to looks.
func (p *Planned) Look(look, looks int, critical float64) {
	if p.weight == 0 || p.square == 0 {
		return
	}
	z := critical * math.Sqrt(float64(looks)/float64(look))
	p.estimate = clamp(p.gain / p.weight)
	p.low, p.high = clamp(p.estimate-z*math.Sqrt(p.square)/p.weight), clamp(p.estimate+z*math.Sqrt(p.square)/p.weight)
}

// clamp returns the effect that is next to x.
func clamp(x float64) float64 { return min(max(x, -0.5), 0.5) }

// At returns the estimate and its interval at the last look. Before the first one, it is that of all effects.
func (p *Planned) At(float64) (estimate, low, high float64) { return p.estimate, p.low, p.high }

// criticals has the results of Critical by their arguments.
var criticals sync.Map

// Critical returns the deviation from 0 of the last of some looks, at equal distances, beyond which there is an effect,
// at a level of all looks together: 2.040 for five looks and the level 0.05. That of the look k is greater by the root
// of looks divided by k.
func Critical(looks int, alpha float64) float64 {
	key := [2]float64{float64(looks), alpha}
	if c, ok := criticals.Load(key); ok {
		return c.(float64)
	}
	low, high := 0.0, 10.0
	for range 50 {
		if c := (low + high) / 2; crosses(looks, c*math.Sqrt(float64(looks))) > alpha {
			low = c
		} else {
			high = c
		}
	}
	criticals.Store(key, high)
	return high
}

// crosses returns the probability that one of the first sums of standard normal values is beyond a bound, by numerical
// integration (Armitage, McPherson and Rowe, Journal of the Royal Statistical Society A 132, 1969).
func crosses(sums int, bound float64) float64 {
	const parts = 200
	width := 2 * bound / parts
	kernel := make([]float64, parts+1) // the density of a step of i parts, times the width
	for i := range kernel {
		x := float64(i) * width
		kernel[i] = math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) * width
	}
	within := make([]float64, parts) // the probability of the middle of each part
	for i := range within {
		x := (float64(i)+0.5)*width - bound
		within[i] = math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) * width
	}
	for range sums - 1 {
		next := make([]float64, parts)
		for i := range next {
			for j, p := range within {
				next[i] += p * kernel[max(i-j, j-i)]
			}
		}
		within = next
	}
	rest := 1.0
	for _, p := range within {
		rest -= p
	}
	return rest
}
