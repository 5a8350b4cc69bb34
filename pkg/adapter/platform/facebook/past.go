package facebook

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/graph"
)

// PastPosts implements platform.PastReader. Posts of others that the page has only passed on are left out, as are
// changes of the page itself, such as a new cover, which have no text of their own.
func (p *Platform) PastPosts(ctx context.Context, a platform.Account, cursor string) (posts []platform.PastPost,
	next string, err error) {
	query := url.Values{"fields": {"id,message,created_time,status_type,attachments{media_type}"},
		"limit": {strconv.Itoa(graph.PastPage)}}
	if cursor != "" {
		query.Set("after", cursor)
	}
	var answer struct {
		Data []struct {
			ID          string `json:"id"`
			Message     string `json:"message"`
			At          string `json:"created_time"`
			Status      string `json:"status_type"`
			Attachments struct {
				Data []struct {
					Type string `json:"media_type"`
				} `json:"data"`
			} `json:"attachments"`
		} `json:"data"`
		Paging graph.Paging `json:"paging"`
	}
	if err := p.Get(ctx, a.Token.Access, "/"+a.ID+"/published_posts", query, &answer); err != nil {
		return nil, "", err
	}
	for _, d := range answer.Data {
		at, err := time.Parse(graph.TimeLayout, d.At)
		if err != nil || !isPost(d.ID) || d.Message == "" || d.Status == "shared_story" {
			continue
		}
		kind := platform.KindPost
		if media := d.Attachments.Data; len(media) > 0 {
			switch media[0].Type {
			case "video":
				kind = platform.KindVideo
			case "album":
				kind = platform.KindCarousel
			}
		}
		posts = append(posts, platform.PastPost{ID: d.ID, Kind: kind, Text: d.Message, At: at.UTC()})
	}
	return posts, answer.Paging.Cursor(), nil
}
