package instagram

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// pastPage is the number of posts on a page of earlier posts.
const pastPage = 25

// pastTime is the format of the time of a post.
const pastTime = "2006-01-02T15:04:05-0700"

// PastPosts implements platform.PastReader. Stories have ended, and are not listed.
func (p *Platform) PastPosts(ctx context.Context, a platform.Account, cursor string) (posts []platform.PastPost,
	next string, err error) {
	query := url.Values{"fields": {"id,caption,media_type,timestamp"}, "limit": {strconv.Itoa(pastPage)}}
	if cursor != "" {
		query.Set("after", cursor)
	}
	var answer struct {
		Data []struct {
			ID      string `json:"id"`
			Caption string `json:"caption"`
			Type    string `json:"media_type"`
			At      string `json:"timestamp"`
		} `json:"data"`
		Paging struct {
			Next    string `json:"next"`
			Cursors struct {
				After string `json:"after"`
			} `json:"cursors"`
		} `json:"paging"`
	}
	if err := p.Get(ctx, a.Token.Access, "/"+a.ID+"/media", query, &answer); err != nil {
		return nil, "", err
	}
	for _, m := range answer.Data {
		at, err := time.Parse(pastTime, m.At)
		if err != nil {
			continue
		}
		kind := platform.KindPost
		switch m.Type {
		case "VIDEO":
			kind = platform.KindVideo
		case "CAROUSEL_ALBUM":
			kind = platform.KindCarousel
		}
		posts = append(posts, platform.PastPost{ID: m.ID, Kind: kind, Text: m.Caption, At: at.UTC()})
	}
	if answer.Paging.Next != "" {
		next = answer.Paging.Cursors.After
	}
	return posts, next, nil
}
