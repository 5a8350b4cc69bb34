package youtube

import (
	"context"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// pastPage is the number of videos on a page of earlier posts.
const pastPage = 50

// PastPosts implements platform.PastReader. The list is the playlist of all uploads of the channel; the watch time is
// known of videos of the service alone. The cursor is the playlist and the token of the page.
func (p *Platform) PastPosts(ctx context.Context, a platform.Account, cursor string) (posts []platform.PastPost,
	next string, err error) {
	uploads, token, _ := strings.Cut(cursor, " ")
	if uploads == "" {
		if uploads, err = p.uploads(ctx, a); err != nil || uploads == "" {
			return nil, "", err
		}
	}
	query := url.Values{"part": {"contentDetails"}, "playlistId": {uploads}, "maxResults": {strconv.Itoa(pastPage)}}
	if token != "" {
		query.Set("pageToken", token)
	}
	var list struct {
		Next  string `json:"nextPageToken"`
		Items []struct {
			Details struct {
				ID string `json:"videoId"`
			} `json:"contentDetails"`
		} `json:"items"`
	}
	if err := p.Get(ctx, a.Token.Access, "/youtube/v3/playlistItems", query, &list); err != nil {
		return nil, "", err
	}
	var ids []string
	for _, i := range list.Items {
		ids = append(ids, i.Details.ID)
	}
	if posts, err = p.videos(ctx, a, ids); err != nil {
		return nil, "", err
	}
	if list.Next != "" {
		next = uploads + " " + list.Next
	}
	return posts, next, nil
}

// uploads returns the playlist of all uploads of a channel, or none if the channel has no video.
func (p *Platform) uploads(ctx context.Context, a platform.Account) (string, error) {
	var answer struct {
		Items []struct {
			Details struct {
				Related struct {
					Uploads string `json:"uploads"`
				} `json:"relatedPlaylists"`
			} `json:"contentDetails"`
		} `json:"items"`
	}
	err := p.Get(ctx, a.Token.Access, "/youtube/v3/channels", url.Values{"part": {"contentDetails"}, "id": {a.ID}},
		&answer)
	if err != nil || len(answer.Items) == 0 {
		return "", err
	}
	return answer.Items[0].Details.Related.Uploads, nil
}

// videos reads videos by their ids, with their figures.
func (p *Platform) videos(ctx context.Context, a platform.Account, ids []string) (posts []platform.PastPost,
	err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var answer struct {
		Items []struct {
			ID      string `json:"id"`
			Snippet struct {
				Title string    `json:"title"`
				At    time.Time `json:"publishedAt"`
			} `json:"snippet"`
			Statistics struct {
				Views    string `json:"viewCount"`
				Likes    string `json:"likeCount"`
				Comments string `json:"commentCount"`
			} `json:"statistics"`
		} `json:"items"`
	}
	err = p.Get(ctx, a.Token.Access, "/youtube/v3/videos", url.Values{"part": {"snippet,statistics"},
		"id": {strings.Join(ids, ",")}}, &answer)
	for _, v := range answer.Items {
		posts = append(posts, platform.PastPost{ID: v.ID, Kind: platform.KindVideo, Text: v.Snippet.Title,
			At: v.Snippet.At.UTC(), Metrics: platform.Metrics{Views: number(v.Statistics.Views),
				Likes: number(v.Statistics.Likes), Comments: number(v.Statistics.Comments)}})
	}
	return posts, err
}
