package simulate

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"
)

// usualSeeds is the number of seeds that go test simulates if SEEDS is not set.
const usualSeeds = 20

// number reads a number from the environment.
func number(t *testing.T, name string) (n uint64, set bool) {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return 0, false
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n, true
}

// went has the hash of the way that each simulated seed went.
var went = map[uint64]uint64{}

// TestSeeds simulates the seeds that SEEDS and FROM name.
func TestSeeds(t *testing.T) {
	from, _ := number(t, "FROM")
	seeds, asked := number(t, "SEEDS")
	var c Config
	switch {
	case !asked:
		seeds = usualSeeds
	case seeds == 1:
		c.Trace = os.Stdout
	}
	begun, simulated, tasks, steps, posts, replies, held := time.Now(), 0, 0, 0, 0, 0, 0
	for seed := from; seed < from+seeds; seed++ {
		r := Run(t, seed, c)
		went[seed] = r.Hash
		simulated, tasks, steps = simulated+1, tasks+r.Tasks, steps+r.Steps
		posts, replies, held = posts+r.Posts, replies+r.Replies, held+r.Held
		for _, broken := range r.Broken {
			t.Errorf("seed %d: %s", seed, broken)
		}
		if len(r.Broken) > 0 {
			t.Fatalf("replay it in this folder with: SEEDS=1 FROM=%d go test -run TestSeeds", seed)
		}
		if simulated%100 == 0 || seed == from+seeds-1 {
			fmt.Printf("%d seeds from %d: %d tasks in %d steps, %.0f tasks a second; %d posts, %d replies, %d held\n",
				simulated, from, tasks, steps, float64(tasks)/time.Since(begun).Seconds(), posts, replies, held)
		}
	}
	// Otherwise, the invariants about posts, replies and held deliveries hold of nothing.
	if simulated >= 10 && (posts == 0 || replies == 0 || held == 0) {
		t.Errorf("%d seeds have %d posts, %d replies and %d held deliveries", simulated, posts, replies, held)
	}
}

func TestASeedAlwaysGoesTheSameWay(t *testing.T) {
	const seeds = 2
	for seed := range uint64(seeds) {
		first, ok := went[seed]
		if !ok { // TestSeeds has not run
			first = Run(t, seed, Config{}).Hash
		}
		if r := Run(t, seed, Config{}); r.Hash != first {
			t.Errorf("seed %d went another way", seed)
		}
	}
}

func TestDefectsAreFound(t *testing.T) {
	const most = 1000
	// The seeds from which the search begins have found the defect, as long as the code takes the same steps.
	for name, d := range map[string]struct {
		defect Defect
		from   uint64
	}{"a lease that is not checked": {LeaseIgnored, 17}, "an outcome that is not fenced": {StepUnfenced, 3}} {
		t.Run(name, func(t *testing.T) {
			for seed := d.from; seed < d.from+most; seed++ {
				if r := Run(t, seed, Config{Defect: d.defect}); len(r.Broken) > 0 {
					t.Logf("found by seed %d: %s", seed, r.Broken[0])
					return
				}
			}
			t.Errorf("%d seeds have not found it", most)
		})
	}
}
