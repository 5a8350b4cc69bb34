package pinterest

import (
	"cmp"
	"context"
	"net/url"
	"strconv"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// pastPage is the number of pins on a page of earlier pins.
const pastPage = 100

// PastPosts implements platform.PastReader. It lists the pins of the board, but for those of others that the owner has
// saved there.
func (p *Platform) PastPosts(ctx context.Context, a platform.Account, cursor string) (posts []platform.PastPost,
	next string, err error) {
	query := url.Values{"page_size": {strconv.Itoa(pastPage)}}
	if cursor != "" {
		query.Set("bookmark", cursor)
	}
	var answer struct {
		Items []struct {
			ID          string `json:"id"`
			Title       string `json:"title"`
			Description string `json:"description"`
			At          string `json:"created_at"`
			Own         bool   `json:"is_owner"`
			Media       struct {
				Type string `json:"media_type"`
			} `json:"media"`
		} `json:"items"`
		Bookmark string `json:"bookmark"`
	}
	if err := p.read(ctx, a.Token.Access, "/boards/"+url.PathEscape(a.ID)+"/pins", query, &answer); err != nil {
		return nil, "", err
	}
	for _, i := range answer.Items {
		at, err := timeOf(i.At)
		if err != nil || !i.Own || i.ID == "" || len(i.ID) > longest {
			continue
		}
		kind := platform.KindPost
		switch i.Media.Type {
		case "video":
			kind = platform.KindVideo
		case "multiple_images":
			kind = platform.KindCarousel
		}
		posts = append(posts, platform.PastPost{ID: i.ID, Kind: kind, Text: cmp.Or(i.Description, i.Title), At: at})
	}
	return posts, answer.Bookmark, nil
}
