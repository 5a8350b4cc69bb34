package threads

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// pastPage is the number of posts on a page of earlier posts.
const pastPage = 25

// PastPosts implements platform.PastReader. Posts that the account has only passed on are left out.
func (p *Platform) PastPosts(ctx context.Context, a platform.Account, cursor string) (posts []platform.PastPost,
	next string, err error) {
	query := url.Values{"fields": {"id,text,media_type,timestamp"}, "limit": {strconv.Itoa(pastPage)}}
	if cursor != "" {
		query.Set("after", cursor)
	}
	var answer struct {
		Data []struct {
			ID   string `json:"id"`
			Text string `json:"text"`
			Type string `json:"media_type"`
			At   string `json:"timestamp"`
		} `json:"data"`
		Paging struct {
			Next    string `json:"next"`
			Cursors struct {
				After string `json:"after"`
			} `json:"cursors"`
		} `json:"paging"`
	}
	if err := p.Get(ctx, a.Token.Access, "/"+a.ID+"/threads", query, &answer); err != nil {
		return nil, "", err
	}
	for _, m := range answer.Data {
		at, err := time.Parse("2006-01-02T15:04:05-0700", m.At)
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
		posts = append(posts, platform.PastPost{ID: m.ID, Kind: kind, Text: m.Text, At: at.UTC()})
	}
	if answer.Paging.Next != "" {
		next = answer.Paging.Cursors.After
	}
	return posts, next, nil
}
