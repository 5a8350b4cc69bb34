package diagnosis

import (
	"math"
	"slices"
)

// z95 is the quantile of the normal distribution for an interval of 95%.
const z95 = 1.959963984540054

// wilsonLower returns the lower end of the 95% interval of a share, k of n (Wilson).
func wilsonLower(k, n int) float64 {
	if n == 0 {
		return 0
	}
	total, share := float64(n), float64(k)/float64(n)
	center := share + z95*z95/(2*total)
	spread := z95 * math.Sqrt(share*(1-share)/total+z95*z95/(4*total*total))
	return max(0, (center-spread)/(1+z95*z95/total))
}

// twoProportions compares the shares k1 of n1 and k2 of n2 with a two-sided z-test with
// pooled variance. z is positive if the first share is the larger one.
func twoProportions(k1, n1, k2, n2 int) (z, p float64) {
	pooled := float64(k1+k2) / float64(n1+n2)
	deviation := math.Sqrt(pooled * (1 - pooled) * (1/float64(n1) + 1/float64(n2)))
	if deviation == 0 {
		return 0, 1
	}
	z = (float64(k1)/float64(n1) - float64(k2)/float64(n2)) / deviation
	return z, twoSided(z)
}

// mannWhitney compares two samples with the two-sided Mann-Whitney U test, by its normal
// approximation with corrections for ties and continuity. superiority is the probability
// that a value of a exceeds one of b, with ties counted half.
func mannWhitney(a, b []float64) (superiority, p float64) {
	type value struct {
		x     float64
		first bool
	}
	var all []value
	for _, x := range a {
		all = append(all, value{x, true})
	}
	for _, x := range b {
		all = append(all, value{x, false})
	}
	slices.SortFunc(all, func(v, w value) int {
		switch {
		case v.x < w.x:
			return -1
		case v.x > w.x:
			return 1
		}
		return 0
	})
	var rankSum, ties float64
	for i := 0; i < len(all); {
		j := i
		for j < len(all) && all[j].x == all[i].x {
			j++
		}
		rank, equal := float64(i+j+1)/2, float64(j-i) // ranks begin at 1
		ties += equal*equal*equal - equal
		for ; i < j; i++ {
			if all[i].first {
				rankSum += rank
			}
		}
	}
	n1, n2 := float64(len(a)), float64(len(b))
	n := n1 + n2
	u := rankSum - n1*(n1+1)/2
	superiority = u / (n1 * n2)
	variance := n1 * n2 / 12 * (n + 1 - ties/(n*(n-1)))
	if variance <= 0 {
		return superiority, 1
	}
	distance := max(0, math.Abs(u-n1*n2/2)-0.5)
	return superiority, twoSided(distance / math.Sqrt(variance))
}

// twoSided returns how likely a normal value is to lie so far from the mean or farther.
func twoSided(z float64) float64 { return math.Erfc(math.Abs(z) / math.Sqrt2) }
