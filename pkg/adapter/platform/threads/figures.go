package threads

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/graph"
)

var _ platform.AccountReader = (*Platform)(nil)

// mostDays bounds the days of one call.
const mostDays = 89

// Days implements platform.AccountReader. Threads tells the views of each day, and the present number of followers.
func (p *Platform) Days(ctx context.Context, a platform.Account, from time.Time) ([]platform.Day, error) {
	days := platform.NewDays(from, p.Client.Now(), mostDays)
	for _, query := range []url.Values{
		{"metric": {"views"}, "since": {strconv.FormatInt(days[0].Date.Unix(), 10)},
			"until": {strconv.FormatInt(p.Client.Now().Unix(), 10)}},
		{"metric": {"followers_count"}},
	} {
		var insights graph.Insights
		if err := p.read(ctx, a.Token.Access, "/"+a.ID+"/threads_insights", query, &insights); err != nil {
			return nil, err
		}
		insights.Days(days, map[string]func(*platform.Day) **int64{
			"views":           func(d *platform.Day) **int64 { return &d.Views },
			"followers_count": func(d *platform.Day) **int64 { return &d.Followers },
		})
	}
	return days, nil
}
