package experiment

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/statistics"
	"github.com/content-automation/api/pkg/record/resource"
)

var began = time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC)

// running returns a running experiment with a factor.
func running(seed string, posts int, factors ...Factor) *Record {
	at := resource.Instant(began)
	return &Record{Seed: seed, Zone: "Europe/Berlin", Experiment: Experiment{Resource: resource.New("exp_1", began, nil),
		Factors: factors, Metric: Metric{"likes", "instagram", 24}, Budget: Budget{Posts: posts, Days: 90},
		Stopping: Stopping{Alpha: 0.05, MinEffect: 0.05}, State: Running, StartedAt: &at}}
}

var hook = Factor{FactorHook, []string{"claim", "question"}}

func every(Factor) bool { return true }

// run draws posts, one every six hours, whose figures depend on their arms, and looks each day.
func run(r *Record, seed uint64, value func(t *item.Trial, chance *rand.Rand) float64) (all []Outcome) {
	chance := rand.New(rand.NewPCG(seed, 1))
	for n := 0; r.State == Running; n++ {
		now := began.Add(time.Duration(n) * 6 * time.Hour)
		if r.Takes(now) {
			t := r.Draw(r.Stratum(now), every)
			all = append(all, Outcome{Trial: t, Kind: item.Post, Known: true, Value: value(t, chance),
				At: now.Add(24 * time.Hour)})
		}
		seen := slices.Clone(all)
		for i := range seen {
			seen[i].Open = now.Before(seen[i].At)
		}
		if n%4 == 0 {
			r.Look(seen, now)
		}
	}
	return all
}

// lognormal returns values of which those of an arm are greater by a part.
func lognormal(factor, arm string, lift float64) func(*item.Trial, *rand.Rand) float64 {
	return func(t *item.Trial, chance *rand.Rand) float64 {
		v := math.Exp(5 + chance.NormFloat64())
		if t.Arm(factor) == arm {
			v *= 1 + lift
		}
		return v
	}
}

// The figure of a post is that of its first reading at the age that has it. One that comes when nobody waits for it any
// more is none, and later readings change nothing, whether they are twice there or smaller.
func TestTheFigureOfAPost(t *testing.T) {
	due := began.Add(24 * time.Hour)
	reading := func(hours float64, likes, shown int64) item.Metrics {
		m := item.Metrics{ReadAt: resource.Instant(began.Add(time.Duration(hours * float64(time.Hour))))}
		if likes >= 0 {
			m.Likes = &likes
		}
		if shown >= 0 {
			m.Impressions = &shown
		}
		return m
	}
	for name, c := range map[string]struct {
		history []item.Metrics
		want    float64 // negative: not known
	}{
		"none":                {nil, -1},
		"too young":           {[]item.Metrics{reading(23.9, 5, 10)}, -1},
		"at the age":          {[]item.Metrics{reading(23, 1, 10), reading(24, 5, 10), reading(25, 9, 10)}, 0.5},
		"twice":               {[]item.Metrics{reading(24, 5, 10), reading(24, 5, 10)}, 0.5},
		"shrinks":             {[]item.Metrics{reading(24, 5, 10), reading(25, 0, 10)}, 0.5},
		"no likes yet":        {[]item.Metrics{reading(24, -1, 10), reading(30, 4, 10)}, 0.4},
		"nothing shown yet":   {[]item.Metrics{reading(24, 0, 0), reading(26, 3, 10)}, 0.3},
		"nothing ever shown":  {[]item.Metrics{reading(24, 0, 0), reading(60, 0, 0)}, -1},
		"zero likes":          {[]item.Metrics{reading(24, 0, 10)}, 0},
		"the last hour":       {[]item.Metrics{reading(71.9, 5, 10)}, 0.5},
		"too late":            {[]item.Metrics{reading(72, 5, 10)}, -1},
		"a month late":        {[]item.Metrics{reading(23, 1, 10), reading(30*24, 500, 1000)}, -1},
		"very large":          {[]item.Metrics{reading(24, math.MaxInt64, math.MaxInt64)}, 1},
		"likes without shown": {[]item.Metrics{reading(24, 7, -1)}, 7},
	} {
		got, known := Metric{"likes", "instagram", 24}.figure(c.history, due)
		if known != (c.want >= 0) || known && got != c.want {
			t.Errorf("%s: %v, %v, want %v", name, got, known, c.want)
		}
	}
}

func TestAnArmThatDoesBetterWins(t *testing.T) {
	r := running("a", 400, hook)
	if run(r, 1, lognormal(FactorHook, "question", 2)); r.State != Decided || len(r.Winners) != 1 ||
		r.Winners[0] != (Winner{FactorHook, "question"}) || r.EndedAt == nil || r.Posts >= 400 {
		t.Errorf("%s with %v after %d posts", r.State, r.Winners, r.Posts)
	}
	res := r.Results[1]
	// A value of one arm exceeds one of the other with the probability 0.78.
	if res.Arm != "question" || res.Estimate == nil || *res.Lower <= 0 || *res.Lower > 0.281 || *res.Upper < 0.281 {
		t.Errorf("%+v", res)
	}
	if r.Results[0].Estimate != nil || r.Results[0].N+res.N > r.Posts || res.Median == nil {
		t.Errorf("%+v", r.Results)
	}
	first := running("a", 400, hook)
	if run(first, 2, lognormal(FactorHook, "claim", 2)); len(first.Winners) != 1 || first.Winners[0].Arm != "claim" {
		t.Errorf("the first arm does better, and %v wins", first.Winners)
	}
}

func TestWithoutAnEffectNothingWins(t *testing.T) {
	false := 0
	for seed := range uint64(40) {
		r := running(fmt.Sprint("n", seed), 60, hook)
		if run(r, seed, lognormal("", "", 0)); r.State == Decided {
			false++
		} else if r.State != Inconclusive || r.EndedAt == nil || len(r.Winners) > 0 {
			t.Errorf("%s with %v", r.State, r.Winners)
		}
	}
	if false > 3 {
		t.Errorf("%d of 40 experiments without an effect have a winner", false)
	}
}

// A sequence that left out what is not known yet would depend on how late figures are.
func TestResultsWaitForEarlierItems(t *testing.T) {
	r := running("b", 100, hook)
	var all []Outcome
	for n := range 40 {
		all = append(all, Outcome{Trial: r.Draw("0", every), Kind: item.Post, Known: true, Value: float64(n),
			At: began.Add(time.Duration(n) * time.Hour)})
	}
	all[20].Open, all[20].Known = true, false
	all[5].Known = false // it is never published
	r.Look(all, began)
	if n := r.Results[0].N + r.Results[1].N; n != 19 || r.Results[0].Assigned+r.Results[1].Assigned != 40 {
		t.Errorf("%d posts count", n)
	}
}

// A day of the history has all figures of the day.
func TestTheHistoryIsThatOfTheEndsOfDays(t *testing.T) {
	r := running("h", 100, hook)
	var all []Outcome
	for n := range 10 {
		all = append(all, Outcome{Trial: r.Draw("0", every), Kind: item.Post, Known: true, Value: float64(n),
			At: began.Add(time.Duration(n) * 6 * time.Hour)})
	}
	var shown []string
	for _, l := range r.Look(all, began) {
		shown = append(shown, fmt.Sprint(l.At.Format("02 15:04"), " ", l.Results[0].N+l.Results[1].N))
	}
	// The first post was due at 9:00.
	if want := []string{"01 21:00 3", "02 21:00 7", "03 15:00 10"}; !slices.Equal(shown, want) {
		t.Errorf("%q, want %q", shown, want)
	}
}

func TestAStoppedExperimentHasNoWinner(t *testing.T) {
	r := running("a", 400, hook)
	all := run(r, 1, lognormal(FactorHook, "question", 2))
	if r.stop(began); r.Look(all, began) == nil || len(r.Winners) > 0 || r.Results[1].Estimate == nil {
		t.Errorf("%+v with %+v", r.Winners, r.Results)
	}
}

func TestTheRecordProvesTheAssignment(t *testing.T) {
	factors := []Factor{hook, {FactorLength, []string{"15", "30", "60"}}}
	r := running("seed", 120, factors...)
	all := run(r, 3, lognormal(FactorHook, "question", 1))
	again, models := running("seed", 120, factors...), r.Models
	for n, was := range all {
		for len(models) > 0 && models[0].After <= n {
			again.Models, models = append(again.Models, models[0]), models[1:]
		}
		if got := again.Draw(r.Stratum(was.At.Add(-24*time.Hour)), every); !reflect.DeepEqual(got, was.Trial) {
			t.Fatalf("item %d has %+v, and the record gives %+v", n+1, was.Trial, got)
		}
	}
	other := running("other", 120, factors...)
	differs := false
	for n := range 20 {
		differs = differs || other.Draw("0", every).Arm(FactorHook) != all[n].Trial.Arm(FactorHook)
	}
	if !differs {
		t.Error("another seed gives the same arms")
	}
}

func TestArmsAreBalancedInTheirStratum(t *testing.T) {
	r := running("c", 1000, Factor{FactorHook, []string{"claim", "question", "number"}})
	for _, stratum := range []string{"1-2", "5-3"} {
		given := map[string]int{}
		for range 60 {
			trial := r.Draw(stratum, every)
			given[trial.Arms[0].Arm]++
			sum := 0.0
			for _, p := range trial.Arms[0].All {
				sum += p
				if p < exploration/3-1e-9 {
					t.Errorf("an arm has the probability %v", p)
				}
			}
			if math.Abs(sum-1) > 1e-9 {
				t.Errorf("the probabilities are %v", trial.Arms[0].All)
			}
		}
		for arm, n := range given {
			if n < 15 || n > 25 {
				t.Errorf("%s has %d of 60 posts of %s", arm, n, stratum)
			}
		}
	}
}

// The floor is the last step: an arm that does worst, and that posts of the stratum have had most often, still has its
// part of the exploration, and the rest is not shrunk by a second floor.
func TestTheFloorHoldsAfterTheBalance(t *testing.T) {
	r := running("f", 1000, hook)
	r.Models = []Model{{Arms: map[string][]statistics.Arm{FactorHook: {{N: 400, Score: 40}, {N: 400, Score: 360}}}}}
	r.PostCounts = map[string]int{given(FactorHook, hook.Arms[0], "1-2"): 50}
	p := r.propensities(hook, "1-2")
	if math.Abs(p[0]-exploration/2) > 1e-9 || math.Abs(p[1]-(1-exploration/2)) > 1e-9 {
		t.Errorf("the probabilities are %v", p)
	}
	for n := range 200 {
		for i, given := range r.Draw("2-1", every).Arms[0].All {
			if given < exploration/2-1e-9 {
				t.Fatalf("arm %d of draw %d has the probability %v", i, n, given)
			}
		}
	}
}

func TestFactorsThatDoNotApplyAreNotDrawn(t *testing.T) {
	r := running("d", 20, hook, Factor{FactorLength, []string{"15", "30"}})
	trial := r.Draw("0", func(f Factor) bool { return f.Name == FactorHook })
	if len(trial.Arms) != 1 || trial.Arm(FactorLength) != "" || trial.Number != 1 {
		t.Errorf("%+v", trial)
	}
	if got := r.Draw("0", func(Factor) bool { return false }); got != nil || r.Posts != 1 {
		t.Errorf("%+v after %d posts", got, r.Posts)
	}
}

func TestABudgetEndsTheDraws(t *testing.T) {
	r := running("e", 20, hook)
	credits := int64(100)
	for name, change := range map[string]func(*Record){
		"posts": func(r *Record) { r.Posts = 20 }, "days": func(r *Record) { r.Budget.Days = 0 },
		"credits": func(r *Record) { r.Budget.Credits, r.SpentCredits = &credits, 100 },
		"state":   func(r *Record) { r.State = Stopped },
	} {
		one := *r
		if change(&one); one.Takes(began.Add(time.Hour)) || !r.Takes(began.Add(time.Hour)) {
			t.Errorf("%s: it takes items", name)
		}
	}
}

// A budget of the needed posts finds the effect in four of five experiments: here at least in 24 of 40.
func TestNeededPosts(t *testing.T) {
	for _, design := range []string{AlwaysValid, PlannedLooks} {
		const effect = 0.25
		needed := Needed(Stopping{0.05, effect, design}, []Factor{hook})
		lift := math.Exp(math.Sqrt2*statistics.Quantile(0.5+effect)) - 1
		right := 0
		for seed := range uint64(40) {
			r := running(fmt.Sprint("needed", seed), needed, hook)
			r.Stopping.Design = design
			if run(r, seed, lognormal(FactorHook, "question", lift)); len(r.Winners) == 1 {
				right++
			}
		}
		if right < 24 || right == 40 {
			t.Errorf("%s: %d of 40 experiments with %d posts find the effect", design, right, needed)
		}
	}
	// More arms, more factors, a stricter level and a smaller effect need more posts.
	least := Needed(Stopping{0.05, 0.1, PlannedLooks}, []Factor{hook})
	for _, more := range []int{
		Needed(Stopping{0.05, 0.1, AlwaysValid}, []Factor{hook}),
		Needed(Stopping{0.05, 0.1, PlannedLooks}, []Factor{hook, hook}),
		Needed(Stopping{0.05, 0.1, PlannedLooks}, []Factor{{FactorHook, []string{"claim", "question", "scene"}}}),
		Needed(Stopping{0.01, 0.1, PlannedLooks}, []Factor{hook}),
		Needed(Stopping{0.05, 0.09, PlannedLooks}, []Factor{hook}),
	} {
		if more <= least {
			t.Errorf("%d posts are needed, and %d where it is easier", more, least)
		}
	}
}

// Ranks among posts of one kind cannot show which kind does better.
func TestTheFormatIsRankedAmongAllKinds(t *testing.T) {
	r := running("f", 300, Factor{FactorFormat, []string{"post", "short_video"}}, hook)
	chance := rand.New(rand.NewPCG(4, 4))
	var all []Outcome
	for n := range 300 {
		now := began.Add(time.Duration(n) * 6 * time.Hour)
		out := Outcome{Trial: r.Draw(r.Stratum(now), every), Kind: item.Post, Known: true,
			Value: math.Exp(chance.NormFloat64()), At: now}
		if out.Trial.Arm(FactorFormat) == "short_video" {
			out.Kind, out.Value = item.Video, 5*out.Value
		}
		all = append(all, out)
	}
	r.Look(all, began.Add(300*6*time.Hour))
	if r.State != Decided || len(r.Winners) != 1 || r.Winners[0] != (Winner{FactorFormat, "short_video"}) {
		t.Errorf("%s with %v", r.State, r.Winners)
	}
}

// A person who drops the weakest third of one arm makes the rest of it look better.
func TestRejectedPostsMakeNoWinner(t *testing.T) {
	for _, judgement := range []float64{1, 0.6, 0} {
		for _, design := range []string{AlwaysValid, PlannedLooks} {
			decided, rejected := 0, 0
			for seed := range uint64(20) {
				r := running(fmt.Sprint("j", seed), 200, hook)
				r.Stopping.Design = design
				chance := rand.New(rand.NewPCG(seed, 5))
				var all []Outcome
				for n := range 200 {
					now := began.Add(time.Duration(n) * 6 * time.Hour)
					quality := chance.NormFloat64()
					out := Outcome{Trial: r.Draw(r.Stratum(now), every), Kind: item.Post, Known: true,
						Value: math.Exp(quality), At: now}
					opinion := judgement*quality + math.Sqrt(1-judgement*judgement)*chance.NormFloat64()
					if out.Trial.Arm(FactorHook) == "question" && opinion < statistics.Quantile(1.0/3) {
						out.Known, out.Rejected = false, true
					}
					all = append(all, out)
				}
				if r.Look(all, began.Add(200*6*time.Hour)); r.State == Decided {
					decided++
				}
				rejected += r.Results[1].Rejected
				if res := r.Results[1]; res.N+res.Rejected != res.Assigned || r.Results[0].Rejected != 0 {
					t.Fatalf("%+v", r.Results)
				}
			}
			if decided > 3 || rejected < 500 {
				t.Errorf("%s, judgement %v: %d of 20 have a winner, with %d posts rejected", design, judgement, decided,
					rejected)
			}
		}
	}
}

// Until half of the budget, each arm is as likely, though one does better already.
func TestArmsAreEqualUntilHalfOfTheBudget(t *testing.T) {
	for _, design := range []string{AlwaysValid, PlannedLooks} {
		r := running("half", 400, hook)
		r.Stopping.Design = design
		r.Models = []Model{{Arms: map[string][]statistics.Arm{FactorHook: {{N: 50, Score: 5}, {N: 50, Score: 45}}}}}
		for n := 1; n <= 400; n++ {
			trial := r.Draw(fmt.Sprint(n), every)
			equal := trial.Arms[0].All[0] == 0.5
			if want := n <= 200 || design == PlannedLooks; equal != want {
				t.Fatalf("%s, post %d of 400: %v", design, n, trial.Arms[0].All)
			}
		}
	}
}

// Between its looks, the planned design shows what the last one has found.
func TestPlannedLooksAreFive(t *testing.T) {
	r := running("p", 100, hook)
	r.Stopping.Design = PlannedLooks
	var all []Outcome
	seen := map[float64]bool{}
	for n := range 100 {
		at := began.Add(time.Duration(n) * 24 * time.Hour)
		all = append(all, Outcome{Trial: r.Draw("0", every), Kind: item.Post, Known: true, Value: float64(n % 7),
			At: at})
		if r.Look(all, at); r.Results[1].Upper != nil {
			seen[*r.Results[1].Upper] = true
		}
	}
	if len(seen) != 6 || r.State != Inconclusive { // before the first look, too
		t.Errorf("%d intervals are shown, %s", len(seen), r.State)
	}
}
