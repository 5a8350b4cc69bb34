// Package analytics shows how much content a factory has made and published, how much failed, the cost of the content
// and its reception, by day, kind and platform. Service.Register has the operations, and Keeper keeps the sums that
// they read.
package analytics

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// The bounds of a period, in days.
const (
	mostDays    = 366
	defaultDays = 30
)

// The dimensions of a series.
const (
	byDay      = "day"
	byKind     = "kind"
	byPlatform = "platform"
)

// Amounts are sums of all metrics.
type Amounts struct {
	// Successful attempts at content items. An item that was generated again counts again.
	Made int64 `json:"made"`
	// Failed attempts at content items.
	Failed int64 `json:"failed"`
	// Publications. An item on two platforms counts twice.
	Published int64 `json:"published"`
	// Credits charged for content items and trainings. Always 0 in the sandbox.
	CostCredits int64 `json:"cost_credits"`
	// Views of the publications.
	Views int64 `json:"views"`
	// Likes of the publications.
	Likes int64 `json:"likes"`
	// Comments on the publications.
	Comments int64 `json:"comments"`
	// Shares of the publications.
	Shares int64 `json:"shares"`
	// Saves of the publications.
	Saves int64 `json:"saves"`
	// Impressions of the publications. Null: none of their platforms has it.
	//
	// The others are nil if no platform has them.
	Impressions *int64 `json:"impressions"`
	// Sum of the reach of the publications. A person whom two of them reach counts twice. Null: none of their platforms
	// has it.
	Reach *int64 `json:"reach"`
	// Seconds for which the publications were watched. Null: none of their platforms has it.
	WatchTime *int64 `json:"watch_time_seconds"`
	// Clicks on the publications. Null: none of their platforms has it.
	Clicks *int64 `json:"clicks"`
}

// sum is the sums of a group, with the platforms of its publications.
type sum struct {
	RollupAmounts
	platforms map[string]bool
}

func (s *sum) add(a RollupAmounts, platform string) {
	for i := range a {
		s.RollupAmounts[i] += a[i]
	}
	if a[Published] > 0 && platform != "" {
		if s.platforms == nil {
			s.platforms = map[string]bool{}
		}
		s.platforms[platform] = true
	}
}

// known returns the sum of a metric, or nil if it is 0 because no platform of the group has the metric.
func (s *sum) known(metric int, name string) *int64 {
	n := s.RollupAmounts[metric]
	if n != 0 {
		return &n
	}
	for p := range s.platforms {
		if row, ok := registry.Find(p); ok && slices.Contains(row.Capabilities.Metrics, name) {
			return &n
		}
	}
	return nil
}

func amounts(s sum) Amounts {
	a := s.RollupAmounts
	return Amounts{
		Made: a[Made], Failed: a[Failed], Published: a[Published], CostCredits: a[Spend],
		Views: a[Views], Likes: a[Likes], Comments: a[Comments], Shares: a[Shares],
		Saves: a[Saves], Impressions: s.known(Impressions, "impressions"),
		Reach: s.known(Reach, "reach"), WatchTime: s.known(WatchTime, "watch_time_seconds"),
		Clicks: s.known(Clicks, "clicks"),
	}
}

// Row has the sums of one group.
type Row struct {
	// Day, in the time zone. Null where the series is not by day.
	Day *string `json:"day" format:"date"`
	// Kind of content. Null where the series is not by kind, and for what is of none, such as a training.
	Kind *string `json:"kind" enum:"post,video,carousel,story,music_clip"`
	// Platform. Null where the series is not by platform, and for what happens on none, such as generation.
	Platform *string `json:"platform"`
	Amounts
}

// Analytics are the sums of a period.
type Analytics struct {
	// Id of the factory.
	FactoryID string `json:"factory_id"`
	// First day.
	From string `json:"from" format:"date"`
	// Last day.
	To string `json:"to" format:"date"`
	// Time zone of the days (IANA).
	Timezone string `json:"timezone" example:"Europe/Berlin"`
	// What the series is by.
	GroupBy []string `json:"group_by" nullable:"false" enum:"day,kind,platform"`
	// Sums of the whole period.
	Totals Amounts `json:"totals"`
	// Comparison of two sets of publications. Null without compare.
	//
	// Comparison is nil unless the caller asks for one.
	Comparison *Comparison `json:"comparison"`
	// Sums by group, ordered by day, kind and platform. By day it has all days of the period, for each kind and
	// platform that has something in the period.
	Series []Row `json:"series" nullable:"false"`
}

// Service reads analytics.
type Service struct {
	db  *store.DB
	now func() time.Time
}

// NewService returns the service.
func NewService(db *store.DB, now func() time.Time) *Service { return &Service{db, now} }

func (s *Service) get(ctx context.Context, in *input) (out Analytics, err error) {
	asked, err := in.parse()
	if err != nil {
		return out, err
	}
	if err := in.Asked.check(); err != nil {
		return out, err
	}
	if !id.Valid(id.Factory, in.ID) {
		return out, errs.Missing(factoryrecord.Kind, in.ID)
	}
	// The time zone, and with it the present day, is known after the factory is read.
	likely := asked.in(s.now().UTC())
	if days := likely.days(); days < 0 || days > mostDays+1 {
		return out, likely.check()
	}
	found, sums, err := resource.FindAll(ctx, s.db, id.Factory, []string{in.ID},
		DayKeys(in.ID, likely.from, likely.to)...)
	if err != nil {
		return out, err
	}
	it := found[in.ID]
	if !factoryrecord.Usable(it, auth.FromContext(ctx).Owner) {
		return out, errs.Missing(factoryrecord.Kind, in.ID)
	}
	zone := asked.zone
	if zone == nil {
		if zone, err = ZoneOf(it); err != nil {
			return out, err
		}
	}
	p := asked.in(s.now().In(zone))
	if err := p.check(); err != nil {
		return out, err
	}
	days, err := Days(ctx, s.db, in.ID, p.from, p.to, zone, sums)
	if err != nil {
		return out, err
	}
	total, series := group(days, p, in.GroupBy)
	compared, err := s.compare(ctx, in, it, zone, p)
	if err != nil {
		return out, err
	}
	return Analytics{
		Comparison: compared,
		FactoryID:  in.ID, From: p.from.Format(time.DateOnly), To: p.to.Format(time.DateOnly), Timezone: zone.String(),
		GroupBy: in.GroupBy,
		Totals:  amounts(total), Series: series,
	}, nil
}

// ByKind returns the analytics of a factory of the caller for the last 30 days, by kind of content.
func (s *Service) ByKind(ctx context.Context, factoryID string) (Analytics, error) {
	return s.get(ctx, &input{FactoryPath: factory.FactoryPath{ID: factoryID}, GroupBy: []string{byKind}})
}

// group adds up sums, and returns them in the order of the series.
func group(days map[Group]RollupAmounts, p period, by []string) (total sum, series []Row) {
	sums := map[Group]*sum{}
	for g, a := range days {
		on := g.Platform
		total.add(a, on)
		if !slices.Contains(by, byDay) {
			g.Day = ""
		}
		if !slices.Contains(by, byKind) {
			g.Kind = ""
		}
		if !slices.Contains(by, byPlatform) {
			g.Platform = ""
		}
		if sums[g] == nil {
			sums[g] = &sum{}
		}
		sums[g].add(a, on)
	}
	if slices.Contains(by, byDay) {
		fill(sums, p, len(by) == 1)
	}
	order := slices.SortedFunc(maps.Keys(sums), func(a, b Group) int {
		return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Platform, b.Platform))
	})
	series = make([]Row, len(order))
	for i, g := range order {
		series[i] = Row{resource.OrNil(g.Day), resource.OrNil(g.Kind), resource.OrNil(g.Platform), amounts(*sums[g])}
	}
	return total, series
}

// fill adds the days without data to each series. If only is true, the sums are one series, which
// exists even without data.
func fill(sums map[Group]*sum, p period, only bool) {
	lines := map[Group]bool{}
	if only {
		lines[Group{}] = true
	}
	for g := range sums {
		lines[Group{Kind: g.Kind, Platform: g.Platform}] = true
	}
	for day := p.from; !day.After(p.to); day = day.AddDate(0, 0, 1) {
		for g := range lines {
			g.Day = day.Format(time.DateOnly)
			if _, ok := sums[g]; !ok {
				sums[g] = &sum{}
			}
		}
	}
}
