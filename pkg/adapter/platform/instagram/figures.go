package instagram

import (
	"context"
	"net/url"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/graph"
)

// Metrics implements platform.Publisher.
func (p *Platform) Metrics(ctx context.Context, a platform.Account, post platform.Published) (m platform.Metrics,
	err error) {
	if !graph.Number(post.ID) {
		return m, p.Graph.NoPost()
	}
	var insights graph.Insights
	read := func(metrics string) error {
		return p.Graph.OfPost(ctx, a.Token.Access, "/"+post.ID+"/insights", url.Values{"metric": {metrics}}, &insights)
	}
	err = read("reach,views,likes,comments,shares,saved")
	if uncounted(err) {
		// Instagram refuses to count the other metrics of a story.
		err = read("reach,views,shares")
	}
	if err != nil {
		return m, err
	}
	insights.Lifetime(map[string]**int64{"reach": &m.Reach, "views": &m.Views, "likes": &m.Likes,
		"comments": &m.Comments, "shares": &m.Shares, "saved": &m.Saves})
	return m, nil
}

// uncounted reports whether an error says that Instagram does not count one of several figures.
func uncounted(err error) bool {
	return platform.Untold(err) && !platform.Denied(err)
}

// mostDays bounds the days of one call.
const mostDays = 29

// Days implements platform.AccountReader.
func (p *Platform) Days(ctx context.Context, a platform.Account, from time.Time) ([]platform.Day, error) {
	var account struct {
		Followers *int64 `json:"followers_count"`
		Posts     *int64 `json:"media_count"`
	}
	err := p.Get(ctx, a.Token.Access, "/"+a.ID, url.Values{"fields": {"followers_count,media_count"}}, &account)
	if err != nil {
		return nil, err
	}
	days := platform.NewDays(from, p.Client.Now(), mostDays)
	var insights graph.Insights
	read := func(metrics string) error {
		return p.Get(ctx, a.Token.Access, "/"+a.ID+"/insights", graph.Query(days, p.Client.Now(), metrics), &insights)
	}
	err = read("reach,follower_count")
	if uncounted(err) {
		err = read("reach") // accounts with fewer than 100 followers have no follower_count
	}
	if err != nil {
		return nil, err
	}
	insights.Days(days, map[string]string{"reach": "reach", "follower_count": "followers_gained"})
	days.Last().Followers, days.Last().Posts = account.Followers, account.Posts
	return days, nil
}
