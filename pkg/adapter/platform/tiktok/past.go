package tiktok

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// pastPage is the number of videos on a page of earlier posts, the most that TikTok lists.
const pastPage = 20

// PastPosts implements platform.PastReader. TikTok lists videos alone.
func (p *Platform) PastPosts(ctx context.Context, a platform.Account, cursor string) (posts []platform.PastPost,
	next string, err error) {
	body := map[string]any{"max_count": pastPage}
	if at, err := strconv.ParseInt(cursor, 10, 64); err == nil {
		body["cursor"] = at
	}
	var answer struct {
		Videos []struct {
			ID       string `json:"id"`
			Text     string `json:"video_description"`
			At       int64  `json:"create_time"`
			Views    *int64 `json:"view_count"`
			Likes    *int64 `json:"like_count"`
			Comments *int64 `json:"comment_count"`
			Shares   *int64 `json:"share_count"`
		} `json:"videos"`
		Cursor int64 `json:"cursor"`
		More   bool  `json:"has_more"`
	}
	call := p.Call(http.MethodPost, "/v2/video/list/?fields=id,video_description,create_time,view_count,like_count,"+
		"comment_count,share_count", a.Token.Access)
	call.JSON = body
	if err = p.read(ctx, call, &answer); err != nil {
		return nil, "", err
	}
	for _, v := range answer.Videos {
		posts = append(posts, platform.PastPost{ID: v.ID, Kind: platform.KindVideo, Text: v.Text,
			At: time.Unix(v.At, 0).UTC(), Metrics: platform.Metrics{Views: v.Views, Likes: v.Likes,
				Comments: v.Comments, Shares: v.Shares}})
	}
	if answer.More {
		next = strconv.FormatInt(answer.Cursor, 10)
	}
	return posts, next, nil
}
