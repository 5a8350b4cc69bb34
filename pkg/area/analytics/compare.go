package analytics

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/base/clock"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/statistics"
	"github.com/content-automation/api/pkg/store"
)

// What two sets of publications differ in.
const (
	byHour         = "hour"
	byPeriod       = "period"
	byPublications = "publications"
)

// The decisions of a comparison.
const (
	decideA    = "a"
	decideB    = "b"
	decideNone = "no_difference"
	undecided  = "no_decision"
)

// mostNamed is the greatest number of publications in a list.
const mostNamed = 200

// ComparisonRequest is a comparison that a caller asks for.
type ComparisonRequest struct {
	// Compares two sets of publications, compare_a and compare_b, by this. Absent: no comparison.
	Compare string `query:"compare" enum:"kind,platform,hour,period,publications" example:"kind"`
	// First set. Kinds, platforms, hours (0 to 23, in the time zone) or ids of publications, separated by commas; or a
	// period, as 2026-11-01..2026-11-15.
	A string `query:"compare_a" maxLength:"8000" example:"video"`
	// Second set, which has no member of the first.
	B string `query:"compare_b" maxLength:"8000" example:"carousel"`
	// What is compared. engagement: likes, comments, shares and saves for each view, of publications with at least 100
	// views.
	Metric string `query:"metric" format:"metric" default:"engagement"`
}

// Comparison is the result of a comparison.
type Comparison struct {
	// What the sets differ in.
	By string `json:"by" enum:"kind,platform,hour,period,publications"`
	// Metric that is compared.
	Metric string `json:"metric"`
	// First set.
	A Compared `json:"a"`
	// Second set.
	B Compared `json:"b"`
	// Number of publications that each set needs.
	Needed int `json:"needed"`
	// How much greater the metric is in the first set (Hodges-Lehmann estimate), in medians of both sets together: 0.25
	// is a fourth of the median. Each publication is compared with those of its platform, unless platforms are
	// compared. Null if there are too few publications.
	Difference *float64 `json:"difference" example:"0.25"`
	// Lower end of the interval of 95% of the difference. Null if there are too few publications.
	Low *float64 `json:"low"`
	// Upper end of the interval. Null if there are too few publications.
	High *float64 `json:"high"`
	// Probability that a publication of the first set beats one of the second. Null if there are too few publications.
	Superiority *float64 `json:"superiority"`
	// Probability of such a difference by chance (Mann-Whitney test, two-sided). Null if there are too few
	// publications.
	P *float64 `json:"p_value"`
	// The better set, if p_value is below 0.05. no_difference: chance explains it. no_decision: there are too few
	// publications.
	Decision string `json:"decision" enum:"a,b,no_difference,no_decision"`
	// Whether all publications of the period were read. If not, they were too many for the time of a call, and the
	// latest ones are compared.
	Complete bool `json:"complete"`
	// Number of publications that the sandbox has simulated for accounts that a test key has connected, in the period.
	// 0 with a live key.
	Simulated int `json:"simulated_count"`
	// Number of publications in the period that were imported: earlier posts of the accounts, which the service has not
	// published.
	Imported int `json:"imported_count"`
}

// Compared is a set of publications.
type Compared struct {
	// What the set has, as it was asked for.
	Value string `json:"value"`
	// Number of its publications whose metric is known.
	Posts int `json:"posts"`
	// Median of the metric. Null without publications.
	Median *float64 `json:"median"`
}

// check refuses a comparison that lacks a set, and sets without a comparison.
func (a ComparisonRequest) check() error {
	var first, second error
	if (a.A == "") != (a.Compare == "") {
		first = errs.Invalid("compare_a", "is required with compare, and only with it")
	}
	if (a.B == "") != (a.Compare == "") {
		second = errs.Invalid("compare_b", "is required with compare, and only with it")
	}
	return errs.All(first, second)
}

// set is a set of publications, and the bounds of the time in which they are.
type set struct {
	members []string
	period  *period
}

func (a ComparisonRequest) parse(param, text string) (s set, err error) {
	if a.Compare == byPeriod {
		first, last, ok := strings.Cut(text, "..")
		if !ok {
			return s, errs.Invalid(param, "is not a period; write it as 2026-11-01..2026-11-15")
		}
		from, wrong := day(param, first)
		to, other := day(param, last)
		if err := errs.All(wrong, other); err != nil {
			return s, err
		}
		s.period = &period{from, to}
		if n := s.period.days(); n < 1 || n > mostDays {
			return s, errs.Invalid(param, "must be a period of 1 to %d days", mostDays)
		}
		return s, nil
	}
	for _, member := range strings.Split(text, ",") {
		if member = strings.TrimSpace(member); !a.valid(member) {
			return s, errs.Invalid(param, "%q is not %s", member, map[string]string{byKind: "a kind of content",
				byPlatform: "a platform", byHour: "an hour from 0 to 23",
				byPublications: "the id of a publication"}[a.Compare])
		}
		if a.Compare == byHour {
			n, _ := strconv.Atoi(member)
			member = strconv.Itoa(n)
		}
		if !slices.Contains(s.members, member) {
			s.members = append(s.members, member)
		}
	}
	if len(s.members) > mostNamed {
		return s, errs.Invalid(param, "has %d publications. Name at most %d", len(s.members), mostNamed)
	}
	return s, nil
}

// valid reports whether a text names a member of a set.
func (a ComparisonRequest) valid(member string) bool {
	switch a.Compare {
	case byKind:
		return slices.Contains(platform.Kinds(), platform.Kind(member))
	case byPlatform:
		return slices.Contains(registry.Names(), member)
	case byHour:
		n, err := strconv.ParseUint(member, 10, 8)
		return err == nil && n < 24
	default:
		return id.Valid(id.Publication, member)
	}
}

func (a ComparisonRequest) sets() (first, second set, err error) {
	first, wrong := a.parse("compare_a", a.A)
	second, other := a.parse("compare_b", a.B)
	if err := errs.All(wrong, other); err != nil {
		return first, second, err
	}
	for _, member := range second.members {
		if slices.Contains(first.members, member) {
			return first, second, errs.Invalid("compare_b", "has %s in common with compare_a", member)
		}
	}
	if p, q := first.period, second.period; p != nil && !p.from.After(q.to) && !q.from.After(p.to) {
		return first, second, errs.Invalid("compare_b", "has days in common with compare_a")
	}
	return first, second, nil
}

// has reports whether a post belongs to the set.
func (s set) has(by string, p post, zone *time.Location) bool {
	at := p.at.In(zone)
	switch by {
	case byKind:
		return slices.Contains(s.members, string(p.kind))
	case byPlatform:
		return slices.Contains(s.members, p.platform)
	case byHour:
		return slices.Contains(s.members, strconv.Itoa(at.Hour()))
	case byPeriod:
		day := clock.Day(at)
		return !day.Before(s.period.from) && !day.After(s.period.to)
	default:
		return slices.Contains(s.members, p.id)
	}
}

// compare compares two sets of publications of a factory. It returns nil if the caller asks for no comparison.
func (s *Service) compare(ctx context.Context, in *input, factory store.Item, zone *time.Location, p period) (
	out *Comparison, err error) {
	if in.Compare == "" {
		return nil, nil
	}
	a, b, err := in.sets()
	if err != nil {
		return nil, err
	}
	first, last := p.from, p.to
	switch in.Compare {
	case byPeriod:
		first, last = earliest(a.period.from, b.period.from), latest(a.period.to, b.period.to)
		if (period{first, last}).days() > mostDays {
			return nil, errs.Invalid("compare_b", "makes a time of more than %d days with compare_a", mostDays)
		}
	case byPublications:
		for _, member := range slices.Concat(a.members, b.members) {
			if at, ok := id.Time(member); ok {
				day := clock.Day(at.In(zone))
				first, last = earliest(first, day), latest(last, day)
			}
		}
		last = latest(last, clock.Day(s.now().In(zone)))
	}
	from, to := clock.Instant(first, zone), clock.Instant(last.AddDate(0, 0, 1), zone)
	read, err := s.ofFactory(ctx, factory, from, to)
	if err != nil {
		return nil, err
	}
	if in.Compare == byPublications {
		if err := unknown(read.all, a, b); err != nil {
			return nil, err
		}
	}
	all := slices.DeleteFunc(read.all,
		func(p post) bool { return !a.has(in.Compare, p, zone) && !b.has(in.Compare, p, zone) })
	known := sampleOf(all, in.Metric, in.Compare == byPlatform)
	out = &Comparison{By: in.Compare, Metric: in.Metric, A: Compared{Value: in.A}, B: Compared{Value: in.B},
		Needed: minTested, Decision: undecided, Simulated: read.past, Imported: read.imported,
		Complete: read.complete}
	var values, relative [2][]float64
	for i, p := range known.posts {
		side := 1
		if a.has(in.Compare, p, zone) {
			side = 0
		}
		values[side] = append(values[side], known.values[i])
		relative[side] = append(relative[side], known.relative[i])
	}
	for side, of := range []*Compared{&out.A, &out.B} {
		if of.Posts = len(values[side]); of.Posts > 0 {
			median := rounded(statistics.Median(values[side]))
			of.Median = &median
		}
	}
	if min(out.A.Posts, out.B.Posts) >= minTested {
		out.decide(relative[0], relative[1])
	}
	return out, nil
}

// decide compares the values of both sets.
func (c *Comparison) decide(a, b []float64) {
	difference, low, high := statistics.Shift(a, b)
	superiority, p := statistics.MannWhitney(a, b)
	switch {
	case p >= statistics.Significance:
		c.Decision = decideNone
	case superiority > 0.5:
		c.Decision = decideA
	default:
		c.Decision = decideB
	}
	for _, f := range []struct {
		into **float64
		x    float64
	}{{&c.Difference, difference}, {&c.Low, low}, {&c.High, high}, {&c.Superiority, superiority}, {&c.P, p}} {
		x := rounded(f.x)
		*f.into = &x
	}
}

// unknown refuses publications that are not among those of the factory.
func unknown(all []post, a, b set) error {
	known := map[string]bool{}
	for _, p := range all {
		known[p.id] = true
	}
	for _, side := range []struct {
		param string
		set
	}{{"compare_a", a}, {"compare_b", b}} {
		for _, member := range side.members {
			if !known[member] {
				return errs.Invalid(side.param, "%s is not a publication of the factory whose figures are known, or "+
					"not one of its latest", member)
			}
		}
	}
	return nil
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
