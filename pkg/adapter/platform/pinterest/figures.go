package pinterest

import (
	"context"
	"net/url"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// Metrics implements platform.Publisher. Pinterest counts the last 90 days. An impression counts as a view, too,
// because a pin has no other views.
func (p *Platform) Metrics(ctx context.Context, a platform.Account, post platform.Published) (m platform.Metrics,
	err error) {
	now := p.Client.Now().UTC()
	var answer struct {
		All struct {
			Summary counts `json:"summary_metrics"`
		} `json:"all"`
	}
	err = p.read(ctx, a.Token.Access, "/pins/"+url.PathEscape(post.ID)+"/analytics", url.Values{
		"start_date": {now.AddDate(0, 0, -mostDays).Format(time.DateOnly)}, "end_date": {now.Format(time.DateOnly)},
		"metric_types": {"IMPRESSION,SAVE,PIN_CLICK,OUTBOUND_CLICK"}}, &answer)
	if err != nil {
		return m, err
	}
	return answer.All.Summary.metrics(), nil
}

// mostDays is how many days before the present one Pinterest counts.
const mostDays = 89

// counts are the figures of a pin or an account by their names.
type counts map[string]float64

func (c counts) metrics() (m platform.Metrics) {
	count := func(names ...string) *int64 {
		n := 0.0
		for _, name := range names {
			n += c[name]
		}
		return platform.Count(int64(n))
	}
	return platform.Metrics{Impressions: count("IMPRESSION"), Views: count("IMPRESSION"), Saves: count("SAVE"),
		Clicks: count("PIN_CLICK", "OUTBOUND_CLICK")}
}

// Days implements platform.AccountReader.
func (p *Platform) Days(ctx context.Context, a platform.Account, from time.Time) ([]platform.Day, error) {
	var me struct {
		Followers *int64 `json:"follower_count"`
		Pins      *int64 `json:"pin_count"`
	}
	told := p.read(ctx, a.Token.Access, "/user_account", nil, &me)
	if told != nil && !platform.Untold(told) {
		return nil, told
	}
	days := platform.NewDays(from, p.Client.Now(), mostDays)
	var answer struct {
		All struct {
			Daily []struct {
				Date    string `json:"date"`
				Metrics counts `json:"metrics"`
			} `json:"daily_metrics"`
		} `json:"all"`
	}
	err := p.read(ctx, a.Token.Access, "/user_account/analytics", url.Values{
		"start_date":   {days[0].Date.Format(time.DateOnly)},
		"end_date":     {days.Last().Date.Format(time.DateOnly)},
		"metric_types": {"IMPRESSION,SAVE,PIN_CLICK,OUTBOUND_CLICK"}}, &answer)
	if err != nil && (told != nil || !platform.Untold(err)) {
		return nil, err // else the other figures are known
	}
	for _, d := range answer.All.Daily {
		at, err := time.Parse(time.DateOnly, d.Date)
		if day := days.At(at); err == nil && day != nil && len(d.Metrics) > 0 {
			day.Metrics = d.Metrics.metrics()
		}
	}
	days.Last().Followers, days.Last().Posts = me.Followers, me.Pins
	return days, nil
}
