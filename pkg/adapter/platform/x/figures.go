package x

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// The ids of X have the milliseconds since idEpoch above their lowest 22 bits.
const (
	idEpoch = 1_288_834_974_657
	idBits  = 22
)

// clicksFor is the age of a post up to which X tells the clicks. It is less than the 30 days of X, because X refuses
// the whole post after them.
const clicksFor = 29 * 24 * time.Hour

// Metrics implements platform.Publisher. A reading is one call, with or without the clicks.
func (p *Platform) Metrics(ctx context.Context, a platform.Account, post platform.Published) (m platform.Metrics,
	err error) {
	id, err := strconv.ParseUint(post.ID, 10, 63)
	if err != nil {
		return m, platform.Reject(platform.CodePostNotFound, "X does not have the post.")
	}
	fields := "public_metrics"
	if p.Client.Now().Sub(time.UnixMilli(int64(id>>idBits)+idEpoch)) < clicksFor {
		fields += ",non_public_metrics"
	}
	var answer struct {
		Data *struct {
			Counts struct {
				Views     int64 `json:"impression_count"`
				Likes     int64 `json:"like_count"`
				Replies   int64 `json:"reply_count"`
				Reposts   int64 `json:"retweet_count"`
				Quotes    int64 `json:"quote_count"`
				Bookmarks int64 `json:"bookmark_count"`
			} `json:"public_metrics"`
			Own struct {
				Clicks *int64 `json:"url_link_clicks"`
			} `json:"non_public_metrics"`
		} `json:"data"`
	}
	if err := p.Get(ctx, a.Token.Access, "/2/tweets/"+post.ID, url.Values{"tweet.fields": {fields}},
		&answer); err != nil {
		return m, err
	}
	if answer.Data == nil {
		return m, platform.Reject(platform.CodePostNotFound, "X does not have the post.")
	}
	n := answer.Data.Counts
	return platform.Metrics{Impressions: platform.Count(n.Views), Views: platform.Count(n.Views),
		Likes:    platform.Count(n.Likes),
		Comments: platform.Count(n.Replies), Shares: platform.Count(n.Reposts + n.Quotes),
		Saves: platform.Count(n.Bookmarks), Clicks: answer.Data.Own.Clicks}, nil
}

// Days implements platform.AccountReader.
func (p *Platform) Days(ctx context.Context, a platform.Account, _ time.Time) ([]platform.Day, error) {
	var me struct {
		Data *struct {
			Counts struct {
				Followers *int64 `json:"followers_count"`
				Posts     *int64 `json:"tweet_count"`
			} `json:"public_metrics"`
		} `json:"data"`
	}
	err := p.Get(ctx, a.Token.Access, "/2/users/me", url.Values{"user.fields": {"public_metrics"}}, &me)
	if err != nil {
		return nil, err
	}
	day := platform.Day{Date: platform.Midnight(p.Client.Now())}
	if me.Data != nil {
		day.Followers, day.Posts = me.Data.Counts.Followers, me.Data.Counts.Posts
	}
	return []platform.Day{day}, nil
}
