package diagnosis

import (
	"math"
	"testing"
)

func near(a, b float64) bool { return math.Abs(a-b) < 5e-5 }

// The expected values are those of R and SciPy.
func TestStatistics(t *testing.T) {
	for _, c := range []struct {
		k, n int
		want float64
	}{{10, 100, 0.05523}, {0, 20, 0}, {20, 20, 0.83887}, {3, 10, 0.10779}, {0, 0, 0}} {
		if got := wilsonLower(c.k, c.n); !near(got, c.want) {
			t.Errorf("the interval of %d of %d begins at %.5f, want %.5f", c.k, c.n, got, c.want)
		}
	}
	if z, p := twoProportions(30, 50, 15, 50); !near(z, 3.01511) || !near(p, 0.00257) {
		t.Errorf("two proportions: z %.5f, p %.5f", z, p)
	}
	if z, p := twoProportions(0, 10, 0, 10); z != 0 || p != 1 {
		t.Errorf("equal proportions: z %v, p %v", z, p)
	}
	males, females := []float64{19, 22, 16, 29, 24}, []float64{20, 11, 17, 12}
	if superiority, p := mannWhitney(males, females); !near(superiority, 17./20) || !near(p, 0.11135) {
		t.Errorf("Mann-Whitney: superiority %.5f, p %.5f", superiority, p)
	}
	if superiority, p := mannWhitney(females, males); !near(superiority, 3./20) || !near(p, 0.11135) {
		t.Errorf("the other way round: superiority %.5f, p %.5f", superiority, p)
	}
	// Ties: U is 2.5, its variance 7.14286.
	if superiority, p := mannWhitney([]float64{1, 1, 2}, []float64{1, 2, 3, 3}); !near(superiority, 2.5/12) ||
		!near(p, 0.26165) {
		t.Errorf("with ties: superiority %.5f, p %.5f", superiority, p)
	}
	if _, p := mannWhitney([]float64{1, 1}, []float64{1, 1}); p != 1 {
		t.Errorf("of equal values: p %v", p)
	}
}
