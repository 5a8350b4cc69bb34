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

var _ platform.AccountReader = (*Platform)(nil)

// Days implements platform.AccountReader. The number of subscribers is unknown if the owner hides it.
func (p *Platform) Days(ctx context.Context, a platform.Account, _ time.Time) ([]platform.Day, error) {
	var answer struct {
		Items []struct {
			Statistics struct {
				Subscribers string `json:"subscriberCount"`
				Hidden      bool   `json:"hiddenSubscriberCount"`
				Videos      string `json:"videoCount"`
			} `json:"statistics"`
		} `json:"items"`
	}
	call := wire.Call{Name: "channels", Method: http.MethodGet, URL: p.Client.Base(api) + "/youtube/v3/channels",
		Query: url.Values{"part": {"statistics"}, "id": {a.ID}}, Bearer: a.Token.Access}
	if err := p.Client.JSON(ctx, call, p.refused, &answer); err != nil {
		return nil, err
	}
	if len(answer.Items) != 1 {
		return nil, platform.Reject(platform.CodePostNotFound, "YouTube does not have the channel.")
	}
	s := answer.Items[0].Statistics
	day := platform.Day{Date: platform.Midnight(p.Client.Now()), Posts: number(s.Videos)}
	if !s.Hidden {
		day.Followers = number(s.Subscribers)
	}
	return []platform.Day{day}, nil
}

// reports is the address of the reports about channels.
const reports = "https://youtubeanalytics.googleapis.com"

// reportScope is the right to read reports. It is not among the usual ones, because Google reviews it apart.
const reportScope = "https://www.googleapis.com/auth/yt-analytics.readonly"

// reported is how many days before the present one a report counts: those in which posts are read.
const reported = 91

// watched returns the seconds for which a video was watched. It returns nil if the owner of the account has not granted
// the right, or YouTube has no report yet.
func (p *Platform) watched(ctx context.Context, a platform.Account, video string) (*int64, error) {
	if !slices.Contains(a.Token.Scopes, reportScope) {
		return nil, nil
	}
	now := p.Client.Now().UTC()
	var answer struct {
		Rows [][]float64 `json:"rows"`
	}
	call := wire.Call{Name: "reports", Method: http.MethodGet, URL: p.Client.Base(reports) + "/v2/reports",
		Query: url.Values{"ids": {"channel==MINE"}, "metrics": {"estimatedMinutesWatched"},
			"filters":   {"video==" + video},
			"startDate": {now.AddDate(0, 0, -reported).Format(time.DateOnly)}, "endDate": {now.Format(time.DateOnly)}},
		Bearer: a.Token.Access}
	err := p.Client.JSON(ctx, call, p.refused, &answer)
	if platform.KindOf(err) == platform.BadContent && err != nil {
		return nil, nil
	}
	if err != nil || len(answer.Rows) == 0 || len(answer.Rows[0]) == 0 {
		return nil, err
	}
	return platform.Count(int64(answer.Rows[0][0] * 60)), nil
}
