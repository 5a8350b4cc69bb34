package facebook

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

// Days implements platform.AccountReader.
func (p *Platform) Days(ctx context.Context, a platform.Account, from time.Time) ([]platform.Day, error) {
	days := platform.NewDays(from, p.Client.Now(), mostDays)
	var insights graph.Insights
	err := p.read(ctx, a.Token.Access, "/"+a.ID+"/insights", url.Values{
		"metric": {"page_follows,page_daily_follows,page_media_view"}, "period": {"day"},
		"since": {strconv.FormatInt(days[0].Date.Unix(), 10)},
		"until": {strconv.FormatInt(p.Client.Now().Unix(), 10)}}, &insights)
	if err != nil {
		return nil, err
	}
	insights.Days(days, map[string]func(*platform.Day) **int64{
		"page_follows":       func(d *platform.Day) **int64 { return &d.Followers },
		"page_daily_follows": func(d *platform.Day) **int64 { return &d.Gained },
		"page_media_view":    func(d *platform.Day) **int64 { return &d.Views },
	})
	return days, nil
}
