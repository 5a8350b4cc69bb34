package statistics

import (
	"math"
	"slices"
)

// Trial is one post of a comparison of two arms.
type Trial struct {
	// Score is from 0 to 1. It may depend on earlier trials, but not on which arm later ones get.
	Score float64
	// Treated reports whether the post had the first of the two arms, and Propensity is the probability with which it
	// was given that one of the two.
	Treated    bool
	Propensity float64
}

// bets are the parts of the greatest bet that a sequence makes at once. The average of the fortunes of all bets is a
// fortune, too.
var bets = [...]float64{-0.9, -0.7, -0.5, -0.35, -0.2, -0.1, -0.05, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9}

// Wager is a gambler who bets against the claim that the first arm raises the score by effect.
type Wager struct {
	effect float64
	// fortunes are the fortunes of all bets, and most is the greatest of their means so far.
	fortunes [len(bets)]float64
	most     float64
	center   float64 // mean of the scores without the effect so far
}

// NewWager makes a gambler who has not bet yet.
func NewWager(effect float64) Wager {
	w := Wager{effect: effect, center: 0.5, most: 1}
	for i := range w.fortunes {
		w.fortunes[i] = 1
	}
	return w
}

// Add bets on a trial, the n-th from 0.
func (w *Wager) Add(t Trial, n int) {
	arm := 0.0
	if t.Treated {
		arm = 1
	}
	// The greatest bet that cannot lose everything.
	bound := (max(w.center, 1-w.center) + math.Abs(w.effect)) * max(t.Propensity, 1-t.Propensity)
	rest := t.Score - w.effect*arm - w.center
	gain, sum := rest*(arm-t.Propensity)/bound, 0.0
	for i, bet := range bets {
		w.fortunes[i] *= 1 + bet*gain
		sum += w.fortunes[i]
	}
	w.most = max(w.most, sum/float64(len(bets)))
	w.center = min(max(w.center+rest/float64(n+2), 0), 1)
}

// Most returns the greatest fortune so far. It reaches 1/alpha with the probability alpha at most if the claim is true.
func (w *Wager) Most() float64 { return w.most }

// steps is the number of effects on each side of 0 that a sequence bets against.
const steps = 100

// Sequence is a confidence sequence of the effect of the first of two arms on the score: an interval that has the true
// effect at a confidence at all times together, so that it may be looked at after each trial, and an experiment may end
// when it likes.
//
// For each effect, a gambler bets against it on the coins of the assignment. A fortune of f rejects the effect at the
// level 1/f, whenever and however often one looks (Ville's inequality). This assumes nothing about the distribution of
// scores, and holds where the scores of both arms drift over time. The method is that of Waudby-Smith and Ramdas,
// Estimating means of bounded random variables by betting, JRSS B 86 (2024), with the assignment as the source of
// chance.
type Sequence struct {
	wagers [2*steps + 1]Wager
	n      int
	// of has the sums of the scores and of the weights of both arms, by inverse propensities.
	of [2]struct{ score, weight float64 }
}

// NewSequence returns a sequence without trials.
func NewSequence() *Sequence {
	s := &Sequence{}
	for i := range s.wagers {
		s.wagers[i] = NewWager(float64(i-steps) / (2 * steps))
	}
	return s
}

// Add adds the result of a trial to the sequence.
func (s *Sequence) Add(t Trial) {
	for i := range s.wagers {
		s.wagers[i].Add(t, s.n)
	}
	s.n++
	arm, p := 0, 1-t.Propensity
	if t.Treated {
		arm, p = 1, t.Propensity
	}
	s.of[arm].score += t.Score / p
	s.of[arm].weight += 1 / p
}

// At returns the estimate of the effect, and the interval that has it at the confidence 1 - alpha at all times. Before
// the first trial it is that of all effects, from -0.5 to 0.5.
func (s *Sequence) At(alpha float64) (estimate, low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	best := s.wagers[steps]
	for _, w := range s.wagers {
		if w.most < best.most {
			best = w
		}
		if w.most < 1/alpha {
			low, high = min(low, w.effect), max(high, w.effect)
		}
	}
	if low > high { // the effect changes, so that each is rejected
		low, high = best.effect, best.effect
	}
	estimate = best.effect
	if s.of[0].weight > 0 && s.of[1].weight > 0 {
		estimate = s.of[1].score/s.of[1].weight - s.of[0].score/s.of[0].weight
	}
	return min(max(estimate, low), high), low, high
}

// Quantile returns the value below which a part p of a normal distribution is.
func Quantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }

// Ranker turns values of any scale into scores from 0 to 1: the part of the earlier values that a value exceeds, where
// equal ones count half. The difference of the mean scores of two arms is the probability that a value of the first
// exceeds one of the second, less one half.
type Ranker struct{ earlier []float64 }

// Score returns the score of a value, which counts as an earlier one from then on.
func (r *Ranker) Score(value float64) float64 {
	below, _ := slices.BinarySearch(r.earlier, value)
	above := below
	for above < len(r.earlier) && r.earlier[above] == value {
		above++
	}
	// One imagined value on each side, so that the first scores are not extreme.
	score := (float64(below+above)/2 + 1) / float64(len(r.earlier)+2)
	r.earlier = slices.Insert(r.earlier, below, value)
	return score
}

// Arm has the scores of an arm of an experiment so far: their number and sum.
type Arm struct {
	N     int     `json:"n"`
	Score float64 `json:"score"`
}

// Propensities returns the probability of each arm in Thompson sampling: that its mean score is the greatest, by beta
// distributions with a uniform prior, each approximated by a normal one. The smallest ones are next to 0: see Floored.
func Propensities(arms []Arm) []float64 {
	means, deviations := make([]float64, len(arms)), make([]float64, len(arms))
	for i, a := range arms {
		hits, misses := 1+a.Score, 1+float64(a.N)-a.Score
		n := hits + misses
		means[i], deviations[i] = hits/n, math.Sqrt(hits*misses/(n*n*(n+1)))
	}
	const parts = 400
	best, sum := make([]float64, len(arms)), 0.0
	for i := range arms {
		for s := range parts {
			// The middle of a step of the i-th distribution, from -4 to 4 deviations.
			z := -4 + 8*(float64(s)+0.5)/parts
			p := math.Exp(-z * z / 2)
			for j := range arms {
				if j != i {
					p *= 0.5 * math.Erfc(-(means[i]+z*deviations[i]-means[j])/deviations[j]/math.Sqrt2)
				}
			}
			best[i] += p
		}
		sum += best[i]
	}
	for i := range best {
		best[i] /= sum
	}
	return best
}

// Floored returns probabilities that are proportional to weights, but for a part of them, floor, which is shared
// equally: so each is at least floor divided by their number.
func Floored(weights []float64, floor float64) []float64 {
	sum, n := 0.0, float64(len(weights))
	for _, w := range weights {
		sum += w
	}
	p := make([]float64, len(weights))
	for i, w := range weights {
		p[i] = (1-floor)*w/sum + floor/n
	}
	return p
}
