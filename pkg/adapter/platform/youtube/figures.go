package youtube

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// mostDays bounds the days of a report.
const mostDays = 89

// Days implements platform.AccountReader. The number of subscribers is unknown if the owner hides it. Without a report,
// only the present day has figures.
func (p *Platform) Days(ctx context.Context, a platform.Account, from time.Time) ([]platform.Day, error) {
	var answer struct {
		Items []struct {
			Statistics struct {
				Subscribers string `json:"subscriberCount"`
				Hidden      bool   `json:"hiddenSubscriberCount"`
				Videos      string `json:"videoCount"`
			} `json:"statistics"`
		} `json:"items"`
	}
	err := p.Get(ctx, a.Token.Access, "/youtube/v3/channels", url.Values{"part": {"statistics"}, "id": {a.ID}},
		&answer)
	if err != nil {
		return nil, err
	}
	if len(answer.Items) != 1 {
		return nil, platform.Reject(platform.CodePostNotFound, "YouTube does not have the channel.")
	}
	s := answer.Items[0].Statistics
	days := platform.NewDays(from, p.Client.Now(), mostDays)
	rows, err := p.report(ctx, a, days[0].Date, url.Values{"dimensions": {"day"}, "sort": {"day"},
		"metrics": {"views,estimatedMinutesWatched,subscribersGained,subscribersLost"}})
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if len(row) == 0 {
			continue
		}
		date, _ := row[0].(string)
		at, err := time.Parse(time.DateOnly, date)
		if day := days.At(at); err == nil && day != nil {
			day.Views, day.WatchTime = value(row, 1, 1), value(row, 2, 60)
			day.Gained, day.Lost = value(row, 3, 1), value(row, 4, 1)
		}
	}
	days.Last().Posts = number(s.Videos)
	if !s.Hidden {
		days.Last().Followers = number(s.Subscribers)
	}
	return days, nil
}

// reports is the address of the reports about channels.
const reports = "https://youtubeanalytics.googleapis.com"

// reportScope is the right to read reports. The owner of a channel may refuse it.
const reportScope = "https://www.googleapis.com/auth/yt-analytics.readonly"

// reported is how many days before the present one a report counts: those in which posts are read.
const reported = 91

// report reads a report about the channel since a day. It has no rows if the owner of the account has not granted the
// right, or YouTube has no report yet.
func (p *Platform) report(ctx context.Context, a platform.Account, from time.Time, query url.Values) ([][]any, error) {
	if !slices.Contains(a.Token.Scopes, reportScope) {
		return nil, nil
	}
	query.Set("ids", "channel==MINE")
	query.Set("startDate", from.UTC().Format(time.DateOnly))
	query.Set("endDate", p.Client.Now().UTC().Format(time.DateOnly))
	var answer struct {
		Rows [][]any `json:"rows"`
	}
	call := wire.Call{Name: "reports", Method: http.MethodGet, URL: p.Client.Base(reports) + "/v2/reports",
		Query: query, Bearer: a.Token.Access}
	err := p.Client.JSON(ctx, call, p.refused, &answer)
	if platform.Untold(err) {
		return nil, nil
	}
	return answer.Rows, err
}

// value returns a number of a row, in the given unit. It returns nil if the row has none there.
func value(row []any, i int, unit float64) *int64 {
	if i >= len(row) {
		return nil
	}
	n, ok := row[i].(float64)
	if !ok {
		return nil
	}
	return platform.Count(int64(n * unit))
}

// watched returns the seconds for which a video was watched, or nil without a report.
func (p *Platform) watched(ctx context.Context, a platform.Account, video string) (*int64, error) {
	rows, err := p.report(ctx, a, p.Client.Now().AddDate(0, 0, -reported),
		url.Values{"metrics": {"estimatedMinutesWatched"}, "filters": {"video==" + video}})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return value(rows[0], 0, 60), nil
}
