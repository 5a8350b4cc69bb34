// Package statistics has the tests and intervals by which the service judges figures. All intervals are those of 95%.
// Start with Sequence, which says when an experiment has a winner.
package statistics

import (
	"math"
	"slices"
)

// Significance is the level of the tests. It is divided by the number of groups that are compared at once (Bonferroni).
const Significance = 0.05

// z95 is the quantile of the normal distribution for an interval of 95%.
const z95 = 1.959963984540054

// WilsonLower returns the lower end of the 95% interval of a share, k of n (Wilson).
func WilsonLower(k, n int) float64 {
	if n == 0 {
		return 0
	}
	total, share := float64(n), float64(k)/float64(n)
	center := share + z95*z95/(2*total)
	spread := z95 * math.Sqrt(share*(1-share)/total+z95*z95/(4*total*total))
	return max(0, (center-spread)/(1+z95*z95/total))
}

// TwoProportions compares the shares k1 of n1 and k2 of n2 with a two-sided z-test with
// pooled variance. z is positive if the first share is the larger one.
func TwoProportions(k1, n1, k2, n2 int) (z, p float64) {
	pooled := float64(k1+k2) / float64(n1+n2)
	deviation := math.Sqrt(pooled * (1 - pooled) * (1/float64(n1) + 1/float64(n2)))
	if deviation == 0 {
		return 0, 1
	}
	z = (float64(k1)/float64(n1) - float64(k2)/float64(n2)) / deviation
	return z, twoSided(z)
}

// MannWhitney compares two samples with the two-sided Mann-Whitney U test, by its normal approximation with corrections
// for ties and continuity. superiority is the probability that a value of a exceeds one of b, with ties counted half.
func MannWhitney(a, b []float64) (superiority, p float64) {
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

// t95 has the quantiles of Student's distribution for an interval of 95%, with 1 to 30 degrees of freedom.
var t95 = [...]float64{12.706205, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912, 2.364624, 2.306004, 2.262157,
	2.228139, 2.200985, 2.178813, 2.160369, 2.144787, 2.131450, 2.119905, 2.109816, 2.100922, 2.093024, 2.085963,
	2.079614, 2.073873, 2.068658, 2.063899, 2.059539, 2.055529, 2.051831, 2.048407, 2.045230, 2.042272}

// quantile returns the quantile of Student's distribution for an interval of 95%. Above 30 degrees of
// freedom, it is the first terms of the expansion by Cornish and Fisher.
func quantile(freedom int) float64 {
	if freedom <= len(t95) {
		return t95[freedom-1]
	}
	n, z := float64(freedom), z95
	third, fifth, seventh := z*z*z, math.Pow(z, 5), math.Pow(z, 7)
	return z + (third+z)/(4*n) + (5*fifth+16*third+3*z)/(96*n*n) +
		(3*seventh+19*fifth+17*third-15*z)/(384*n*n*n)
}

// Mean returns the mean of at least two values with its interval, by Student's distribution.
func Mean(values []float64) (mean, low, high float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	var squares float64
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	spread := quantile(len(values)-1) * math.Sqrt(squares/(n-1)/n)
	return mean, mean - spread, mean + spread
}

// Median returns the median of values. Of an even number, it is the mean of the two in the middle.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	half := len(sorted) / 2
	if len(sorted)%2 > 0 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}

// Shift returns how much greater the values of a are than those of b, by the estimate of Hodges and Lehmann: the median
// of the differences of all pairs. The interval goes with MannWhitney: without ties, it leaves out 0 where p is below
// Significance. Both samples have at least five values. The pairs are not made, because large samples have too many.
func Shift(a, b []float64) (shift, low, high float64) {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	n1, n2, pairs := float64(len(a)), float64(len(b)), len(a)*len(b)
	rank := max(0, int(math.Floor(n1*n2/2-0.5-z95*math.Sqrt(n1*n2*(n1+n2+1)/12))))
	shift = (difference(a, b, (pairs-1)/2) + difference(a, b, pairs/2)) / 2
	return shift, difference(a, b, rank), difference(a, b, pairs-1-rank)
}

// difference returns the difference of a rank, counted from 0, among those of all pairs of sorted samples. It halves
// the range in which the difference lies until no number is left between the ends.
func difference(a, b []float64, rank int) float64 {
	below, at := math.Nextafter(a[0]-b[len(b)-1], math.Inf(-1)), a[len(a)-1]-b[0]
	for {
		middle := below + (at-below)/2
		if middle <= below || middle >= at {
			return at
		}
		// The number of pairs up to the middle: for a greater x, more of b are too small.
		count, first := 0, 0
		for _, x := range a {
			for first < len(b) && x-b[first] > middle {
				first++
			}
			count += len(b) - first
		}
		if count > rank {
			at = middle
		} else {
			below = middle
		}
	}
}

// Relative returns each value divided by the median of its group. Values of a group whose median is 0 have nothing to
// relate to: they are NaN.
func Relative(values []float64, groups []string) []float64 {
	of := map[string][]float64{}
	for i, v := range values {
		of[groups[i]] = append(of[groups[i]], v)
	}
	medians := map[string]float64{}
	for name, group := range of {
		medians[name] = Median(group)
	}
	all := make([]float64, len(values))
	for i, v := range values {
		if all[i] = math.NaN(); medians[groups[i]] > 0 {
			all[i] = v / medians[groups[i]]
		}
	}
	return all
}
