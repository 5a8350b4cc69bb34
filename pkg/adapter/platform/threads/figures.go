package threads

import (
	"context"
	"net/url"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/graph"
)

// mostDays bounds the days of one call.
const mostDays = 89

// Days implements platform.AccountReader. Threads tells the views of each day, and the present number of followers.
func (p *Platform) Days(ctx context.Context, a platform.Account, from time.Time) ([]platform.Day, error) {
	days := platform.NewDays(from, p.Client.Now(), mostDays)
	views := graph.Query(days, p.Client.Now(), "views")
	views.Del("period") // Threads has no parameter of that name
	for _, query := range []url.Values{views, {"metric": {"followers_count"}}} {
		var insights graph.Insights
		if err := p.Get(ctx, a.Token.Access, "/"+a.ID+"/threads_insights", query, &insights); err != nil {
			return nil, err
		}
		insights.Days(days, map[string]string{"views": "views", "followers_count": "followers"})
	}
	return days, nil
}
