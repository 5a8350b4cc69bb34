package vk

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// pastPage is the number of posts on a page of earlier posts.
const pastPage = 100

// PastPosts implements platform.PastReader. The cursor is the number of posts that were listed before. Posts that the
// community has only passed on are left out. The reach and the clicks are known of posts of the service alone.
func (p *Platform) PastPosts(ctx context.Context, a platform.Account, cursor string) (posts []platform.PastPost,
	next string, err error) {
	if a.Token.Refresh == "" {
		return nil, "", platform.Unsupported("earlier posts with the token of a community")
	}
	offset, _ := strconv.Atoi(cursor)
	type count struct {
		Count *int64 `json:"count"`
	}
	var answer struct {
		Count int `json:"count"`
		Items []struct {
			ID          int64      `json:"id"`
			At          int64      `json:"date"`
			Text        string     `json:"text"`
			Copied      []struct{} `json:"copy_history"`
			Attachments []struct {
				Type string `json:"type"`
			} `json:"attachments"`
			Views    count `json:"views"`
			Likes    count `json:"likes"`
			Comments count `json:"comments"`
			Reposts  count `json:"reposts"`
		} `json:"items"`
	}
	err = p.call(ctx, a, "wall.get", url.Values{"owner_id": {a.ID}, "filter": {"owner"},
		"count": {strconv.Itoa(pastPage)}, "offset": {strconv.Itoa(offset)}}, false, &answer)
	if err != nil {
		return nil, "", err
	}
	for _, i := range answer.Items {
		if len(i.Copied) > 0 {
			continue
		}
		kind := platform.KindPost
		switch {
		case len(i.Attachments) > 1:
			kind = platform.KindCarousel
		case len(i.Attachments) == 1 && i.Attachments[0].Type == "video":
			kind = platform.KindVideo
		}
		posts = append(posts, platform.PastPost{ID: strconv.FormatInt(i.ID, 10), Kind: kind, Text: i.Text,
			At: time.Unix(i.At, 0).UTC(), Metrics: platform.Metrics{Views: i.Views.Count, Likes: i.Likes.Count,
				Comments: i.Comments.Count, Shares: i.Reposts.Count}})
	}
	if offset += len(answer.Items); len(answer.Items) > 0 && offset < answer.Count {
		next = strconv.Itoa(offset)
	}
	return posts, next, nil
}
