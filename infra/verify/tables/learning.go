package main

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/area/content/experiment"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/statistics"
	"github.com/content-automation/api/pkg/record/resource"
)

// learning simulates experiments with known effects, and writes into a file how often they claim an effect that is
// none, and how many posts they need for one that is.
func learning(args []string) error {
	flags := flag.NewFlagSet("learning", flag.ContinueOnError)
	out := flags.String("o", "infra/verify/tables/testdata/learning.md", "file to write the tables into")
	factories := flags.Int("factories", 1000, "simulated factories without an effect")
	with := flags.Int("with", 200, "simulated factories with each effect")
	needs := flags.Bool("needs", false, "print the table of needed posts, for the package experiment, instead")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *needs {
		writeNeeds(os.Stdout, *with)
		return nil
	}
	var table bytes.Buffer
	writeTables(&table, *factories, *with)
	return replace(*out, table.Bytes())
}

// The marks around the tables in the document.
const (
	begin = "<!-- begin: make evaluate-learning -->\n"
	end   = "<!-- end: make evaluate-learning -->\n"
)

func replace(name string, table []byte) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	before, rest, ok := bytes.Cut(text, []byte(begin))
	_, after, ends := bytes.Cut(rest, []byte(end))
	if !ok || !ends {
		return fmt.Errorf("%s has no place for the tables", name)
	}
	return os.WriteFile(name, slices.Concat(before, []byte(begin), table, []byte(end), after), 0o644) //nolint:gosec
}

// design is a kind of simulated factories.
type design struct {
	name string
	// lift is the part by which figures of the second arm are greater.
	lift        float64
	arms, posts int
	// world changes the logarithm of a figure, which is normal otherwise, by the place of the post.
	world world
	// zeros is the part of the figures that is 0.
	zeros float64
	// dropped is the part of the posts of the second arm that a person drops, and judgement the correlation of what the
	// person thinks of a post with its figure.
	dropped, judgement float64
	// every is the number of posts between two looks, after which the assignment knows the scores so far. Equal gives
	// all arms equally often for good.
	every int
	equal bool
	test  string
	alpha float64
}

// world returns what the place of a post among all does to the logarithm of its figure.
type world func(chance *rand.Rand, posts int) func(n int) float64

// The worlds of factories whose figures change for other reasons than their arms.
var worlds = []struct {
	name string
	world
}{
	{"all figures grow twentyfold", func(_ *rand.Rand, posts int) func(int) float64 {
		return func(n int) float64 { return math.Log(20) * float64(n) / float64(posts) }
	}},
	{"figures swing every week", func(*rand.Rand, int) func(int) float64 {
		return func(n int) float64 { return 2 * math.Sin(2*math.Pi*float64(n)/28) }
	}},
	{"figures remember: AR(1) of 0.8", func(chance *rand.Rand, _ int) func(int) float64 {
		state := 0.0
		return func(int) float64 {
			state = 0.8*state + chance.NormFloat64()
			return state
		}
	}},
	{"figures walk at random", func(chance *rand.Rand, _ int) func(int) float64 {
		state := 0.0
		return func(int) float64 {
			state += 0.3 * chance.NormFloat64()
			return state
		}
	}},
}

// result is the result of one factory.
type result struct {
	decided, right bool
	posts          int
	// regret is the part of the lift that posts without the better arm have lost.
	regret float64
}

var began = time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC)

// run simulates a factory. Figures have a heavy tail: the standard deviation of their logarithm is 1.
func (d design) run(seed uint64) (r result) {
	chance := rand.New(rand.NewPCG(seed, uint64(1000*d.lift)+uint64(d.posts)))
	at := resource.Instant(began)
	e := &experiment.Record{Seed: fmt.Sprint(d.name, seed), Zone: "UTC"}
	e.Experiment = experiment.Experiment{State: experiment.Running, StartedAt: &at,
		Factors: []experiment.Factor{{Name: experiment.FactorHook,
			Arms: []string{"claim", "question", "number", "scene"}[:d.arms]}},
		Metric: experiment.Metric{Name: "likes", Platform: "instagram", AfterHours: 24},
		Budget: experiment.Budget{Posts: d.posts, Days: 100_000},
		Stopping: experiment.Stopping{Alpha: cmp.Or(d.alpha, 0.05), MinEffect: 0.01,
			Design: cmp.Or(d.test, experiment.AlwaysValid)}}
	place := func(int) float64 { return 0 }
	if d.world != nil {
		place = d.world(chance, d.posts)
	}
	var all []experiment.Outcome
	worse := 0
	for n := 1; e.State == experiment.Running; n++ {
		now := began.Add(time.Duration(n) * 6 * time.Hour)
		t := e.Draw(e.Stratum(now), func(experiment.Factor) bool { return true })
		quality := chance.NormFloat64()
		v := math.Exp(quality + place(n))
		if chance.Float64() < d.zeros {
			v = 0
		}
		out := experiment.Outcome{Trial: t, Kind: item.Post, Known: true, Value: v, At: now}
		if t.Arm(experiment.FactorHook) == "question" {
			out.Value *= 1 + d.lift
			opinion := d.judgement*quality + math.Sqrt(1-d.judgement*d.judgement)*chance.NormFloat64()
			if d.dropped > 0 && opinion < statistics.Quantile(d.dropped) {
				out.Known, out.Rejected = false, true
			}
		} else {
			worse++
		}
		all = append(all, out)
		if n%d.every == 0 || n == d.posts {
			e.Look(all, now)
			r.posts = n
		}
		if d.equal {
			e.Models = nil
		}
	}
	r.decided = e.State == experiment.Decided
	r.right = r.decided && e.Winners[0].Arm == "question"
	r.regret = float64(worse) / float64(r.posts)
	return r
}

// many simulates factories, on all processors.
func (d design) many(n int) []result {
	all := make([]result, n)
	var wait sync.WaitGroup
	for first := range runtime.NumCPU() {
		wait.Go(func() {
			for seed := first; seed < n; seed += runtime.NumCPU() {
				all[seed] = d.run(uint64(seed))
			}
		})
	}
	wait.Wait()
	return all
}

// of returns the part of results.
func of(all []result, is func(result) bool) float64 {
	n := 0
	for _, r := range all {
		if is(r) {
			n++
		}
	}
	return float64(n) / float64(len(all))
}

// tests are the designs of experiments.
var tests = []string{experiment.AlwaysValid, experiment.PlannedLooks}

func writeTables(w io.Writer, factories, with int) {
	writeFalse(w, factories)
	fmt.Fprintf(w, "\n%d factories for each row, two arms:\n\n", with)
	fmt.Fprintln(w, "| The second arm has more by | Posts | Design | Right winner | Wrong winner | "+
		"Posts until decided, median | Posts of the worse arm |")
	fmt.Fprintln(w, "|--:|--:|---|--:|--:|--:|--:|")
	for _, row := range []struct {
		lift  float64
		posts int
	}{{0.2, 1000}, {0.5, 200}, {0.5, 1000}, {1, 200}, {1, 1000}} {
		for _, test := range tests {
			all := design{lift: row.lift, arms: 2, posts: row.posts, every: row.posts / 20, test: test}.many(with)
			var posts []int
			regret := 0.0
			for _, r := range all {
				regret += r.regret / float64(len(all))
				if r.decided {
					posts = append(posts, r.posts)
				}
			}
			slices.Sort(posts)
			median := "–"
			if 2*len(posts) > len(all) {
				median = fmt.Sprint(posts[len(all)/2])
			}
			fmt.Fprintf(w, "| %.0f %% | %d | `%s` | %.0f %% | %.1f %% | %s | %.0f %% |\n", 100*row.lift, row.posts, test,
				100*of(all, func(r result) bool { return r.right }),
				100*of(all, func(r result) bool { return r.decided && !r.right }), median, 100*regret)
		}
	}
	fmt.Fprintf(w, "\nExperiments of `needed_posts`, %d factories for each row:\n\n", with)
	fmt.Fprintln(w, "| Arms | Effect | Design | `needed_posts` | Right winner |")
	fmt.Fprintln(w, "|--:|--:|---|--:|--:|")
	for _, arms := range []int{2, 3} {
		for _, test := range tests {
			const effect = 0.15
			lift := math.Exp(math.Sqrt2*statistics.Quantile(0.5+effect)) - 1
			posts := experiment.Needed(experiment.Stopping{Alpha: 0.05, MinEffect: effect, Design: test},
				[]experiment.Factor{{Arms: make([]string, arms)}})
			all := design{lift: lift, arms: arms, posts: posts, every: max(1, posts/20), test: test}.many(with)
			fmt.Fprintf(w, "| %d | %.2f | `%s` | %d | %.0f %% |\n", arms, effect, test, posts,
				100*of(all, func(r result) bool { return r.right }))
		}
	}
}

// writeFalse writes how often experiments without an effect have a winner.
func writeFalse(w io.Writer, factories int) {
	const posts = 200
	rows := []design{
		{name: "nothing but chance", arms: 2},
		{name: "three arms", arms: 3},
		{name: "95 % of the figures are 0", arms: 2, zeros: 0.95},
		{name: "a person drops the weakest third of one arm", arms: 2, dropped: 1.0 / 3, judgement: 1},
		{name: "the same, judgement correlates with the figure by 0.6", arms: 2, dropped: 1.0 / 3, judgement: 0.6},
		{name: "the same, by 0.3", arms: 2, dropped: 1.0 / 3, judgement: 0.3},
		{name: "the same, by 0", arms: 2, dropped: 1.0 / 3},
	}
	for _, one := range worlds {
		rows = append(rows, design{name: one.name, arms: 2, world: one.world})
	}
	fmt.Fprintf(w, "%d factories for each row, without an effect, %d posts, a look after each tenth post:\n\n", factories,
		posts)
	fmt.Fprintln(w, "| World | Winners of `always_valid`, all false | Winners of `planned_looks`, all false |")
	fmt.Fprintln(w, "|---|--:|--:|")
	for _, d := range rows {
		d.posts, d.every = posts, 10
		fmt.Fprintf(w, "| %s |", d.name)
		for _, d.test = range tests {
			fmt.Fprintf(w, " %.1f %% |", 100*of(d.many(factories), func(r result) bool { return r.decided }))
		}
		fmt.Fprintln(w)
	}
}

// writeNeeds writes the posts that four of five experiments need to find an effect, times its square, for each design,
// number of arms and level.
func writeNeeds(w io.Writer, with int) {
	const effect = 0.15
	lift := math.Exp(math.Sqrt2*statistics.Quantile(0.5+effect)) - 1
	for _, test := range tests {
		for arms := 2; arms <= 4; arms++ {
			fmt.Fprintf(w, "%s, %d arms:", test, arms)
			for _, alpha := range experiment.Levels {
				low, high := 20, 4000
				for high-low > low/25 {
					posts := (low + high) / 2
					d := design{lift: lift, arms: arms, posts: posts, every: max(1, posts/20), test: test, alpha: alpha}
					if of(d.many(with), func(r result) bool { return r.right }) < 0.8 {
						low = posts
					} else {
						high = posts
					}
				}
				fmt.Fprintf(w, " %.1f", float64(high)*effect*effect)
			}
			fmt.Fprintln(w)
		}
	}
}
