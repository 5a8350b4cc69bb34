package analytics

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/clock"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/statistics"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

var _ = format.Define("metric", format.Format{
	Values: format.Words("engagement impressions reach views watch_time_seconds likes comments shares saves " +
		"clicks")})

const (
	// bestDays is the period of best times, and bestNeeds the number of publications below which no hours are compared.
	bestDays  = 180
	bestNeeds = 30
	// minHour is the number of publications below which an hour has no interval, and minTested that of an hour and of
	// the others below which they are not compared.
	minHour   = 3
	minTested = 10
)

// BestTimes are the hours of the week with the effect of publishing in them.
type BestTimes struct {
	// Factory. Null if a social account was named.
	FactoryID *string `json:"factory_id"`
	// Social account. Null if a factory was named.
	SocialAccountID *string `json:"social_account_id"`
	// Time zone of the hours (IANA).
	Timezone string `json:"timezone" example:"Europe/Berlin"`
	// Metric that is compared.
	Metric string `json:"metric"`
	// First day of the period.
	From string `json:"from" format:"date"`
	// Last day of the period.
	To string `json:"to" format:"date"`
	// Number of publications whose metric is known.
	Posts int `json:"posts"`
	// Number of publications that are needed.
	Needed int `json:"needed"`
	// Whether there are enough publications. If not, there are no hours.
	Enough bool `json:"enough"`
	// Whether all publications of the period were read. If not, they were too many for the time of a call, and the
	// latest ones are compared.
	Complete bool `json:"complete"`
	// Number of publications that the sandbox has simulated for accounts that a test key has connected. 0 with a live
	// key.
	Simulated int `json:"simulated_count"`
	// Number of publications of them that were imported: earlier posts of the accounts, which the service has not
	// published.
	Imported int `json:"imported_count"`
	// Hours of the week with at least 3 publications. The first has the highest lower end of its interval: it is the
	// safest choice.
	Hours []BestHour `json:"hours" nullable:"false"`
}

// BestHour is an hour of the week.
type BestHour struct {
	// Day of the week.
	Weekday string `json:"weekday" enum:"monday,tuesday,wednesday,thursday,friday,saturday,sunday"`
	// Hour: 18 is from 18:00 to 18:59.
	Hour int `json:"hour" minimum:"0" maximum:"23"`
	// Number of publications of the hour.
	Posts int `json:"posts"`
	// How much better than the mean of all publications those of the hour are: 0.25 is 25% better. Each publication is
	// compared with those of its platform.
	MeanEffect float64 `json:"mean_effect" example:"0.25"`
	// Lower end of the interval of 95% of the effect.
	Low float64 `json:"low"`
	// Upper end of the interval.
	High float64 `json:"high"`
	// Probability that a publication of the hour does better than one of the others, with ties counted half, as in
	// experiments and diagnoses. Null where p_value is null.
	Superiority *float64 `json:"superiority" example:"0.64"`
	// Probability of such a difference to the other hours by chance (Mann-Whitney test, two-sided). Null with fewer
	// than 10 publications of the hour or of the others.
	P *float64 `json:"p_value"`
	// Whether p is below 0.05, divided by the number of hours that are tested.
	Significant bool `json:"significant"`
}

type bestInput struct {
	// Factory whose publications are compared. Either it or social_account_id.
	FactoryID string `query:"factory_id" example:"fac_01h455vb4pex5vsknk084sn02q"`
	// Social account whose publications are compared.
	AccountID string `query:"social_account_id" example:"soc_01h455vb4pex5vsknk084sn02q"`
	// What is compared. engagement: likes, comments, shares and saves for each view, of publications with at least 100
	// views.
	Metric string `query:"metric" format:"metric" default:"engagement"`
	// Time zone of the hours (IANA), as Europe/Berlin. Absent: that of the schedule of the factory, or of the first
	// factory of the social account, or else UTC.
	Timezone string `query:"timezone"`
}

// bestTimes compares the hours of the week.
func (s *Service) bestTimes(ctx context.Context, in *bestInput) (out BestTimes, err error) {
	zone := (*time.Location)(nil)
	if in.Timezone != "" {
		if zone, err = clock.Zone(in.Timezone); err != nil {
			return out, errZone()
		}
	}
	switch {
	case in.FactoryID == "" && in.AccountID == "":
		return out, errs.Invalid("factory_id", "is required, unless social_account_id is given")
	case in.FactoryID != "" && in.AccountID != "":
		return out, errs.Invalid("social_account_id", "cannot be given with factory_id. Name one of them")
	}
	now := s.now()
	from := now.Add(-bestDays * oneDay)
	var read *posts
	if in.FactoryID != "" {
		it, err := s.factory(ctx, in.FactoryID)
		if err != nil {
			return out, err
		}
		if zone == nil {
			if zone, err = ZoneOf(it); err != nil {
				return out, err
			}
		}
		if read, err = s.ofFactory(ctx, it, from, now); err != nil {
			return out, err
		}
	} else {
		it, acct, _, err := s.account(ctx, in.AccountID)
		if err != nil {
			return out, err
		}
		if zone == nil {
			if zone, err = s.zoneOf(ctx, it, acct); err != nil {
				return out, err
			}
		}
		if read, err = s.ofAccount(ctx, it, acct, from, now); err != nil {
			return out, err
		}
	}
	known := sampleOf(read.all, in.Metric, false)
	out = BestTimes{FactoryID: resource.OrNil(in.FactoryID), SocialAccountID: resource.OrNil(in.AccountID),
		Timezone: zone.String(), Metric: in.Metric, From: from.In(zone).Format(time.DateOnly),
		To:    now.In(zone).Format(time.DateOnly),
		Posts: len(known.posts), Needed: bestNeeds, Enough: len(known.posts) >= bestNeeds, Simulated: read.past,
		Imported: read.imported,
		Complete: read.complete, Hours: []BestHour{}}
	if out.Enough {
		out.Hours = hoursOf(known, zone)
	}
	return out, nil
}

// Habits are what the accounts of a factory have told about its audience: the platforms of its accounts, and the hours
// of each day of the week, from Sunday on, in which posts did better than the mean with 95% confidence, the best first.
type Habits struct {
	Platforms []string
	Better    [7][]int
}

// HabitsOf returns the habits of the audience of a factory, whose item was read, in a time zone.
func (s *Service) HabitsOf(ctx context.Context, it store.Item, zone *time.Location) (h Habits, err error) {
	accounts, err := s.accountsOf(ctx, it)
	if err != nil {
		return h, err
	}
	for _, a := range accounts {
		if !slices.Contains(h.Platforms, a.Platform) {
			h.Platforms = append(h.Platforms, a.Platform)
		}
	}
	if len(accounts) == 0 {
		return h, nil
	}
	now := s.now()
	read, err := s.ofFactory(ctx, it, now.Add(-bestDays*oneDay), now)
	if err != nil {
		return h, err
	}
	known := sampleOf(read.all, item.Engagement, false)
	if len(known.posts) < bestNeeds {
		return h, nil
	}
	for _, hour := range hoursOf(known, zone) {
		if hour.Low > 0 {
			h.Better[weekdays[hour.Weekday]] = append(h.Better[weekdays[hour.Weekday]], hour.Hour)
		}
	}
	return h, nil
}

// weekdays are the numbers of the days of the week, as time.Weekday has them.
var weekdays = map[string]time.Weekday{"sunday": 0, "monday": 1, "tuesday": 2, "wednesday": 3, "thursday": 4,
	"friday": 5, "saturday": 6}

// factory reads a factory of the caller.
func (s *Service) factory(ctx context.Context, factoryID string) (it store.Item, err error) {
	found, _, err := resource.FindAll(ctx, s.db, id.Factory, []string{factoryID})
	if err != nil {
		return it, err
	}
	if it = found[factoryID]; !factoryrecord.Usable(it, auth.FromContext(ctx).Owner) {
		return it, errs.Missing(factoryrecord.Kind, factoryID)
	}
	return it, nil
}

// zoneOf returns the time zone of the first factory of an account, or UTC.
func (s *Service) zoneOf(ctx context.Context, it store.Item, a social.Record) (*time.Location, error) {
	if len(a.FactoryIDs) == 0 {
		return time.UTC, nil
	}
	found, err := s.db.Lookup(ctx, factoryrecord.Key(a.FactoryIDs[0]))
	if err != nil {
		return nil, err
	}
	if found.Kind != factoryrecord.Kind || !found.Owner.Same(it.Owner) {
		return time.UTC, nil
	}
	return ZoneOf(found)
}

// hoursOf compares the hours of the week of a sample.
func hoursOf(known sample, zone *time.Location) []BestHour {
	mean, _, _ := statistics.Mean(known.relative)
	effects := make([]float64, len(known.relative))
	of := map[[2]int][]int{}
	for i, r := range known.relative {
		effects[i] = r/mean - 1
		at := known.posts[i].at.In(zone)
		key := [2]int{int(at.Weekday()), at.Hour()}
		of[key] = append(of[key], i)
	}
	all, tested := []BestHour{}, 0
	for key, members := range of {
		if len(members) < minHour {
			continue
		}
		var group, others []float64
		in := map[int]bool{}
		for _, i := range members {
			group, in[i] = append(group, effects[i]), true
		}
		h := BestHour{Weekday: strings.ToLower(time.Weekday(key[0]).String()), Hour: key[1], Posts: len(members)}
		effect, low, high := statistics.Mean(group)
		h.MeanEffect, h.Low, h.High = rounded(effect), rounded(low), rounded(high)
		if len(members) >= minTested && len(effects)-len(members) >= minTested {
			for i, e := range effects {
				if !in[i] {
					others = append(others, e)
				}
			}
			superiority, p := statistics.MannWhitney(group, others)
			superiority = rounded(superiority)
			h.Superiority, h.P = &superiority, &p
			tested++
		}
		all = append(all, h)
	}
	for i, h := range all {
		if h.P != nil {
			all[i].Significant = *h.P < statistics.Significance/float64(tested)
			*h.P = rounded(*h.P)
		}
	}
	slices.SortFunc(all, func(a, b BestHour) int {
		return cmp.Or(cmp.Compare(b.Low, a.Low), cmp.Compare(b.MeanEffect, a.MeanEffect),
			cmp.Compare(a.Weekday, b.Weekday), cmp.Compare(a.Hour, b.Hour))
	})
	return all
}
