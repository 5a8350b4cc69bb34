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

// Fortune returns the greatest fortune of a gambler who bets against the claim that the first arm raises the score by
// effect: a fortune of f rejects it at the level 1/f, whenever and however often one looks (Ville's inequality). It
// assumes nothing about the distribution of scores, and holds where all scores drift over time, since it bets on the
// coins of the assignment alone. The method is betting on bounded means by Waudby-Smith and Ramdas, Estimating means of
// bounded random variables by betting, JRSS B 86 (2024), with the assignment as the source of chance.
func Fortune(trials []Trial, effect float64) float64 {
	var logs [len(bets)]float64
	center, most := 0.5, 1.0
	for n, t := range trials {
		arm := 0.0
		if t.Treated {
			arm = 1
		}
		// The greatest bet that cannot lose everything.
		bound := (max(center, 1-center) + math.Abs(effect)) * max(t.Propensity, 1-t.Propensity)
		gain := (t.Score - effect*arm - center) * (arm - t.Propensity) / bound
		sum := 0.0
		for i, bet := range bets {
			logs[i] += math.Log1p(bet * gain)
			sum += math.Exp(logs[i])
		}
		most = max(most, sum/float64(len(bets)))
		// The center is the mean of the scores before, and half of one more.
		center += (t.Score - effect*arm - center) / float64(n+2)
		center = min(max(center, 0), 1)
	}
	return most
}

// Sequence returns the effect of the first arm on the score, with an interval that has the true one at the confidence 1
// - alpha at all times together: it may be looked at after each trial. Without trials it is that of all effects, from
// -0.5 to 0.5.
func Sequence(trials []Trial, alpha float64) (estimate, low, high float64) {
	const steps = 100
	low, high = math.Inf(1), math.Inf(-1)
	best, least := 0.0, math.Inf(1)
	for i := -steps; i <= steps; i++ {
		effect := float64(i) / (2 * steps)
		f := Fortune(trials, effect)
		if f < least || f == least && math.Abs(effect) < math.Abs(best) {
			best, least = effect, f
		}
		if f < 1/alpha {
			low, high = min(low, effect), max(high, effect)
		}
	}
	if low > high { // the effect differs over time, so that each is rejected
		return best, best, best
	}
	return weighted(trials, min(max(best, low), high)), low, high
}

// weighted returns the estimate by inverse propensities, within bounds that keep it at the interval's middle if there
// are too few trials.
func weighted(trials []Trial, otherwise float64) float64 {
	var of [2]struct{ sum, weight float64 }
	for _, t := range trials {
		i, p := 0, 1-t.Propensity
		if t.Treated {
			i, p = 1, t.Propensity
		}
		of[i].sum += t.Score / p
		of[i].weight += 1 / p
	}
	if of[0].weight == 0 || of[1].weight == 0 {
		return otherwise
	}
	return of[1].sum/of[1].weight - of[0].sum/of[0].weight
}

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

// Select returns which of several claims may be made by their fortunes, such that in expectation at most the part alpha
// of those made are false (e-BH by Wang and Ramdas, False discovery rate control with e-values, JRSS B 84 (2022)).
func Select(fortunes []float64, alpha float64) []bool {
	order := make([]int, len(fortunes))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case fortunes[a] > fortunes[b]:
			return -1
		case fortunes[a] < fortunes[b]:
			return 1
		}
		return 0
	})
	made, k := make([]bool, len(fortunes)), 0
	for i := range order {
		if fortunes[order[i]] >= float64(len(fortunes))/(alpha*float64(i+1)) {
			k = i + 1
		}
	}
	for _, i := range order[:k] {
		made[i] = true
	}
	return made
}

// Arm has the scores of an arm of an experiment so far: their number and sum.
type Arm struct {
	N     int     `json:"n"`
	Score float64 `json:"score"`
}

// Propensities returns the probability of each arm in Thompson sampling: that its mean score is the greatest, by beta
// distributions with a uniform prior, each approximated by a normal one. A part of the probability, floor, is shared
// equally among all arms.
func Propensities(arms []Arm, floor float64) []float64 {
	means, deviations := make([]float64, len(arms)), make([]float64, len(arms))
	for i, a := range arms {
		hits, misses := 1+a.Score, 1+float64(a.N)-a.Score
		n := hits + misses
		means[i], deviations[i] = hits/n, math.Sqrt(hits*misses/(n*n*(n+1)))
	}
	const steps = 400
	best, sum := make([]float64, len(arms)), 0.0
	for i := range arms {
		for s := range steps {
			// The middle of a step of the i-th distribution, from -4 to 4 deviations.
			z := -4 + 8*(float64(s)+0.5)/steps
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
		best[i] = (1-floor)*best[i]/sum + floor/float64(len(arms))
	}
	return best
}
