package graph

import (
	"cmp"
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// PastPage is the number of posts on a page of earlier posts.
const PastPage = 25

// TimeLayout is the format of times.
const TimeLayout = "2006-01-02T15:04:05-0700"

// PastPosts implements platform.PastReader. Stories that have ended and posts that the account has only passed on are
// left out.
func (c *Containers) PastPosts(ctx context.Context, a platform.Account, cursor string) (posts []platform.PastPost,
	next string, err error) {
	query := url.Values{"fields": {"id," + c.Caption + ",media_type,timestamp"}, "limit": {strconv.Itoa(PastPage)}}
	if cursor != "" {
		query.Set("after", cursor)
	}
	var answer struct {
		Data []struct {
			ID      string `json:"id"`
			Caption string `json:"caption"`
			Text    string `json:"text"`
			Type    string `json:"media_type"`
			At      string `json:"timestamp"`
		} `json:"data"`
		Paging Paging `json:"paging"`
	}
	if err := c.Graph.Get(ctx, a.Token.Access, "/"+a.ID+c.Edge, query, &answer); err != nil {
		return nil, "", err
	}
	for _, m := range answer.Data {
		at, err := time.Parse(TimeLayout, m.At)
		if err != nil || m.Type == "REPOST_FACADE" {
			continue
		}
		kind := platform.KindPost
		switch m.Type {
		case "VIDEO":
			kind = platform.KindVideo
		case "CAROUSEL_ALBUM":
			kind = platform.KindCarousel
		}
		posts = append(posts, platform.PastPost{ID: m.ID, Kind: kind, Text: cmp.Or(m.Caption, m.Text), At: at.UTC()})
	}
	return posts, answer.Paging.Cursor(), nil
}
