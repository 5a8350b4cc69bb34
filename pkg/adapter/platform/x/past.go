package x

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// pastPage is the number of posts on a page of earlier posts. X asks money for each, so that pages are small.
const pastPage = 20

// PastPosts implements platform.PastReader. Answers and posts that the account has only passed on are left out.
func (p *Platform) PastPosts(ctx context.Context, a platform.Account, cursor string) (posts []platform.PastPost,
	next string, err error) {
	query := url.Values{"max_results": {strconv.Itoa(pastPage)}, "exclude": {"replies,retweets"},
		"expansions": {"attachments.media_keys"}, "media.fields": {"type"},
		"tweet.fields": {"created_at,public_metrics,attachments"}}
	if cursor != "" {
		query.Set("pagination_token", cursor)
	}
	var answer struct {
		Data []struct {
			ID          string    `json:"id"`
			Text        string    `json:"text"`
			At          time.Time `json:"created_at"`
			Attachments struct {
				Media []string `json:"media_keys"`
			} `json:"attachments"`
			Counts struct {
				Views     int64 `json:"impression_count"`
				Likes     int64 `json:"like_count"`
				Replies   int64 `json:"reply_count"`
				Reposts   int64 `json:"retweet_count"`
				Quotes    int64 `json:"quote_count"`
				Bookmarks int64 `json:"bookmark_count"`
			} `json:"public_metrics"`
		} `json:"data"`
		Includes struct {
			Media []struct {
				Key  string `json:"media_key"`
				Type string `json:"type"`
			} `json:"media"`
		} `json:"includes"`
		Meta struct {
			Next string `json:"next_token"`
		} `json:"meta"`
	}
	if err := p.Get(ctx, a.Token.Access, "/2/users/"+a.ID+"/tweets", query, &answer); err != nil {
		return nil, "", err
	}
	videos := map[string]bool{}
	for _, m := range answer.Includes.Media {
		videos[m.Key] = m.Type == "video"
	}
	for _, t := range answer.Data {
		kind, n := platform.KindPost, t.Counts
		switch keys := t.Attachments.Media; {
		case len(keys) > 1:
			kind = platform.KindCarousel
		case len(keys) == 1 && videos[keys[0]]:
			kind = platform.KindVideo
		}
		posts = append(posts, platform.PastPost{ID: t.ID, Kind: kind, Text: t.Text, At: t.At.UTC(),
			Metrics: platform.Metrics{Impressions: platform.Count(n.Views), Views: platform.Count(n.Views),
				Likes: platform.Count(n.Likes), Comments: platform.Count(n.Replies),
				Shares: platform.Count(n.Reposts + n.Quotes), Saves: platform.Count(n.Bookmarks)}})
	}
	return posts, answer.Meta.Next, nil
}
