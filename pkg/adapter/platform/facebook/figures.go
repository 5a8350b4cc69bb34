package facebook

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/graph"
)

// mostDays bounds the days of one call.
const mostDays = 89

// Days implements platform.AccountReader.
func (p *Platform) Days(ctx context.Context, a platform.Account, from time.Time) ([]platform.Day, error) {
	days := platform.NewDays(from, p.Client.Now(), mostDays)
	var insights graph.Insights
	err := p.Get(ctx, a.Token.Access, "/"+a.ID+"/insights",
		graph.Query(days, p.Client.Now(), "page_follows,page_daily_follows,page_media_view"), &insights)
	if err != nil {
		return nil, err
	}
	insights.Days(days, map[string]string{"page_follows": "followers", "page_daily_follows": "followers_gained",
		"page_media_view": "views"})
	return days, nil
}
