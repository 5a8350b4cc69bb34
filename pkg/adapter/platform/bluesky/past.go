package bluesky

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// pastPage is the number of posts on a page of earlier posts.
const pastPage = 100

// PastPosts implements platform.PastReader. Posts that the account has only passed on are left out.
func (p *Platform) PastPosts(ctx context.Context, a platform.Account, cursor string) (posts []platform.PastPost,
	next string, err error) {
	query := url.Values{"actor": {a.ID}, "filter": {"posts_no_replies"}, "limit": {strconv.Itoa(pastPage)}}
	if cursor != "" {
		query.Set("cursor", cursor)
	}
	var answer struct {
		Cursor string `json:"cursor"`
		Feed   []struct {
			Reason *struct{} `json:"reason"` // of a post that was passed on
			Post   struct {
				URI    string `json:"uri"`
				Record struct {
					Text string    `json:"text"`
					At   time.Time `json:"createdAt"`
				} `json:"record"`
				Embed struct {
					Type   string     `json:"$type"`
					Images []struct{} `json:"images"`
				} `json:"embed"`
				Likes     int64 `json:"likeCount"`
				Reposts   int64 `json:"repostCount"`
				Quotes    int64 `json:"quoteCount"`
				Replies   int64 `json:"replyCount"`
				Bookmarks int64 `json:"bookmarkCount"`
			} `json:"post"`
		} `json:"feed"`
	}
	if err := p.Get(ctx, a.Token.Access, "app.bsky.feed.getAuthorFeed", query, &answer); err != nil {
		return nil, "", err
	}
	for _, f := range answer.Feed {
		if f.Reason != nil {
			continue
		}
		n, kind := f.Post, platform.KindPost
		switch {
		case n.Embed.Type == "app.bsky.embed.video#view":
			kind = platform.KindVideo
		case len(n.Embed.Images) > 1:
			kind = platform.KindCarousel
		}
		posts = append(posts, platform.PastPost{ID: n.URI, Kind: kind, Text: n.Record.Text, At: n.Record.At,
			Metrics: platform.Metrics{Likes: platform.Count(n.Likes), Comments: platform.Count(n.Replies),
				Shares: platform.Count(n.Reposts + n.Quotes), Saves: platform.Count(n.Bookmarks)}})
	}
	return posts, answer.Cursor, nil
}
