package base_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/content-automation/api/pkg/base/statistics"
)

func near(a, b float64) bool { return math.Abs(a-b) < 5e-5 }

// The expected values are those of R and SciPy.
func TestStatistics(t *testing.T) {
	for _, c := range []struct {
		k, n int
		want float64
	}{{10, 100, 0.05523}, {0, 20, 0}, {20, 20, 0.83887}, {3, 10, 0.10779}, {0, 0, 0}} {
		if got := statistics.WilsonLower(c.k, c.n); !near(got, c.want) {
			t.Errorf("the interval of %d of %d begins at %.5f, want %.5f", c.k, c.n, got, c.want)
		}
	}
	if z, p := statistics.TwoProportions(30, 50, 15, 50); !near(z, 3.01511) || !near(p, 0.00257) {
		t.Errorf("two proportions: z %.5f, p %.5f", z, p)
	}
	if z, p := statistics.TwoProportions(0, 10, 0, 10); z != 0 || p != 1 {
		t.Errorf("equal proportions: z %v, p %v", z, p)
	}
	males, females := []float64{19, 22, 16, 29, 24}, []float64{20, 11, 17, 12}
	if superiority, p := statistics.MannWhitney(males, females); !near(superiority, 17./20) || !near(p, 0.11135) {
		t.Errorf("Mann-Whitney: superiority %.5f, p %.5f", superiority, p)
	}
	if superiority, p := statistics.MannWhitney(females, males); !near(superiority, 3./20) || !near(p, 0.11135) {
		t.Errorf("the other way round: superiority %.5f, p %.5f", superiority, p)
	}
	// Ties: U is 2.5, its variance 7.14286.
	superiority, p := statistics.MannWhitney([]float64{1, 1, 2}, []float64{1, 2, 3, 3})
	if !near(superiority, 2.5/12) || !near(p, 0.26165) {
		t.Errorf("with ties: superiority %.5f, p %.5f", superiority, p)
	}
	if _, p := statistics.MannWhitney([]float64{1, 1}, []float64{1, 1}); p != 1 {
		t.Errorf("of equal values: p %v", p)
	}
}

// The expected values are those of R: t.test and wilcox.test with conf.int, and qt.
func TestIntervals(t *testing.T) {
	mean, low, high := statistics.Mean([]float64{1, 2, 3, 4, 5})
	if !near(mean, 3) || !near(low, 1.03676) || !near(high, 4.96324) {
		t.Errorf("the mean is %.5f, from %.5f to %.5f", mean, low, high)
	}
	for freedom, want := range map[int]float64{1: 12.70620, 30: 2.04227, 31: 2.03951, 60: 2.00030, 1000: 1.96234} {
		// Of values whose mean has the standard error 1, the interval ends at the quantile.
		n := float64(freedom + 1)
		values := make([]float64, freedom+1)
		values[0] = n
		_, _, high := statistics.Mean(values)
		if got := high - 1; !near(got, want) {
			t.Errorf("the quantile with %d degrees of freedom is %.5f, want %.5f", freedom, got, want)
		}
	}
	if shift, _, _ := statistics.Shift([]float64{1, 2, 3, 4, 5}, []float64{11, 12, 13, 14, 15}); shift != -10 {
		t.Errorf("the shift is %v, want -10", shift)
	}
	if got := statistics.Median([]float64{4, 1, 3, 2}); got != 2.5 {
		t.Errorf("the median is %v, want 2.5", got)
	}
	got := statistics.Relative([]float64{2, 4, 6, 10, 0, 0}, []string{"a", "a", "a", "b", "c", "c"})
	if got[0] != 0.5 || got[2] != 1.5 || got[3] != 1 || !math.IsNaN(got[4]) {
		t.Errorf("relative: %v", got)
	}
}

// The shift of large samples is that of all pairs, also with ties.
func TestTheShiftIsThatOfAllPairs(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for run := range 200 {
		a, b := sample(random, 5+random.IntN(40), 3), sample(random, 5+random.IntN(40), 2)
		if run%2 > 0 {
			for _, values := range [][]float64{a, b} {
				for i := range values {
					values[i] = math.Round(4 * values[i])
				}
			}
		}
		var all []float64
		for _, x := range a {
			for _, y := range b {
				all = append(all, x-y)
			}
		}
		slices.Sort(all)
		want := (all[(len(all)-1)/2] + all[len(all)/2]) / 2
		got, low, high := statistics.Shift(a, b)
		if got != want || !slices.Contains(all, low) || !slices.Contains(all, high) {
			t.Fatalf("the shift is %v from %v to %v, want %v", got, low, high, want)
		}
	}
	a, b := sample(random, 20_000, 3), sample(random, 20_000, 2.9)
	if shift, low, high := statistics.Shift(a, b); low > 0.1 || high < 0.1 || shift < low || shift > high {
		t.Errorf("the shift is %v from %v to %v", shift, low, high)
	}
}

// sample returns values around a mean, as skewed as figures of posts are.
func sample(random *rand.Rand, n int, mean float64) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = mean + math.Exp(0.4*random.NormFloat64()) - math.Exp(0.08)
	}
	return all
}

// The intervals hold the truth in about 95 of 100 samples, and do not depend on the order and the unit of the values.
// The interval of a shift leaves out 0 exactly where the test is significant.
func TestPropertiesOfIntervals(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const runs = 2000
	held, shifted := 0, 0
	for range runs {
		a, b := sample(random, 5+random.IntN(30), 3), sample(random, 10+random.IntN(30), 3.5)
		mean, low, high := statistics.Mean(a)
		if low > mean || mean > high {
			t.Fatalf("the mean %v is not from %v to %v", mean, low, high)
		}
		if low <= 3 && 3 <= high {
			held++
		}
		shift, from, to := statistics.Shift(a, b)
		if from > shift || shift > to {
			t.Fatalf("the shift %v is not from %v to %v", shift, from, to)
		}
		if from <= -0.5 && -0.5 <= to {
			shifted++
		}
		back, other, one := statistics.Shift(b, a)
		if !near(back, -shift) || !near(other, -to) || !near(one, -from) {
			t.Fatalf("the other way round, the shift is %v from %v to %v, not %v from %v to %v", back, other, one,
				-shift, -to, -from)
		}
		superiority, p := statistics.MannWhitney(a, b)
		if without := from > 0 || to < 0; without != (p < statistics.Significance) {
			t.Fatalf("the interval is from %v to %v, and p is %v", from, to, p)
		}
		if superiority < 0 || superiority > 1 || p < 0 || p > 1 {
			t.Fatalf("superiority %v, p %v", superiority, p)
		}
		random.Shuffle(len(a), func(i, j int) { a[i], a[j] = a[j], a[i] })
		for i := range a {
			a[i] *= 1000
		}
		if m, l, h := statistics.Mean(a); math.Abs(m-1000*mean)+math.Abs(l-1000*low)+math.Abs(h-1000*high) > 1e-6 {
			t.Fatalf("in another unit, the mean is %v from %v to %v", m, l, h)
		}
	}
	for name, n := range map[string]int{"mean": held, "shift": shifted} {
		if share := float64(n) / runs; share < 0.92 || share > 0.98 {
			t.Errorf("the interval of the %s holds it in %.3f of the samples", name, share)
		}
	}
}

// Where nothing differs, the test finds a difference in about 5 of 100 samples at most.
func TestFalseAlarms(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	const runs = 4000
	alarms := 0
	for range runs {
		if _, p := statistics.MannWhitney(sample(random, 12, 1), sample(random, 15, 1)); p < statistics.Significance {
			alarms++
		}
	}
	if share := float64(alarms) / runs; share > 0.06 {
		t.Errorf("%.3f of the samples are significant", share)
	}
}
