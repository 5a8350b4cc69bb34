// Command learning simulates experiments with known effects, and writes into docs/learning.md how often they claim an
// effect that is none, and how many posts they need for one that is.
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
	"slices"
	"time"

	"github.com/content-automation/api/pkg/area/content/experiment"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/record/resource"
)

func main() {
	out := flag.String("o", "docs/learning.md", "document to write the tables into")
	factories := flag.Int("factories", 10_000, "simulated factories without an effect")
	with := flag.Int("with", 60, "simulated factories with each effect")
	flag.Parse()
	var table bytes.Buffer
	write(&table, *factories, *with, 1000)
	if err := replace(*out, table.Bytes()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
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
	// lift is the part by which figures of the second arm are greater, and drift how many times greater all figures are
	// at the end than at the beginning.
	lift, drift float64
	arms, posts int
	// every is the number of posts between two looks, after which the assignment knows the scores so far. Equal gives
	// all arms equally often for good.
	every int
	equal bool
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
	chance := rand.New(rand.NewPCG(seed, uint64(1000*d.lift)+uint64(10*d.drift)))
	at := resource.Instant(began)
	e := &experiment.Record{Seed: fmt.Sprint(d.name, seed), Zone: "UTC"}
	e.Experiment = experiment.Experiment{State: experiment.Running, StartedAt: &at,
		Factors: []experiment.Factor{{Name: experiment.FactorHook,
			Arms: []string{"claim", "question", "number"}[:d.arms]}},
		Metric:   experiment.Metric{Name: "likes", Platform: "instagram", AfterHours: 24},
		Budget:   experiment.Budget{Posts: d.posts, Days: 100_000},
		Stopping: experiment.Stopping{Alpha: 0.05, MinEffect: 0.01}}
	var all []experiment.Outcome
	worse := 0
	for n := 1; e.State == experiment.Running; n++ {
		now := began.Add(time.Duration(n) * 6 * time.Hour)
		t := e.Draw(e.Stratum(now), func(experiment.Factor) bool { return true })
		v := math.Exp(chance.NormFloat64() + math.Log(cmp.Or(d.drift, 1))*float64(n)/float64(d.posts))
		if t.Arm(experiment.FactorHook) == "question" {
			v *= 1 + d.lift
		} else {
			worse++
		}
		all = append(all, experiment.Outcome{Trial: t, Kind: item.Post, Known: true, Value: v, At: now})
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

// many simulates factories.
func (d design) many(n int) (all []result) {
	for seed := range n {
		all = append(all, d.run(uint64(seed)))
	}
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

func write(w io.Writer, factories, with, most int) {
	fmt.Fprintf(w, "%d factories for each row, without an effect:\n\n", factories)
	fmt.Fprintln(w, "| Experiment | Winners, which are all false |")
	fmt.Fprintln(w, "|---|--:|")
	for _, d := range []design{
		{name: "two arms, 80 posts", arms: 2, posts: 80, every: 20},
		{name: "two arms, 80 posts, all figures grow tenfold", arms: 2, posts: 80, every: 20, drift: 10},
		{name: "three arms, 80 posts", arms: 3, posts: 80, every: 20},
	} {
		false := of(d.many(factories), func(r result) bool { return r.decided })
		fmt.Fprintf(w, "| %s | %.2f %% |\n", d.name, 100*false)
	}
	fmt.Fprintf(w, "\n%d factories for each row, two arms, at most %d posts:\n\n", with, most)
	fmt.Fprintln(w, "| The second arm has more by | Assignment | Right winner | Wrong winner | "+
		"Posts until decided, median | Posts of the worse arm |")
	fmt.Fprintln(w, "|--:|---|--:|--:|--:|--:|")
	for _, lift := range []float64{0.1, 0.2, 0.5, 1} {
		for _, equal := range []bool{false, true} {
			name := "Thompson, a tenth equally"
			if equal {
				name = "equally"
			}
			all := design{name: name, lift: lift, arms: 2, posts: most, every: 50, equal: equal}.many(with)
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
			fmt.Fprintf(w, "| %.0f %% | %s | %.0f %% | %.0f %% | %s | %.0f %% |\n", 100*lift, name,
				100*of(all, func(r result) bool { return r.right }),
				100*of(all, func(r result) bool { return r.decided && !r.right }), median, 100*regret)
		}
	}
}
