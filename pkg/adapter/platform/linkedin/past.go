package linkedin

import (
	"context"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// pastPage is the number of posts on a page of earlier posts.
const pastPage = 50

// PastPosts implements platform.PastReader. It lists the posts of an organisation: LinkedIn lets nobody read those of
// members. Posts that the organisation has only passed on are left out.
func (p *Platform) PastPosts(ctx context.Context, a platform.Account, cursor string) (posts []platform.PastPost,
	next string, err error) {
	if !strings.HasPrefix(a.ID, organization) {
		return nil, "", platform.Unsupported("earlier posts of members")
	}
	query := url.Values{"q": {"author"}, "author": {a.ID}, "count": {strconv.Itoa(pastPage)}, "sortBy": {"CREATED"}}
	if cursor != "" {
		query.Set("start", cursor)
	}
	var answer struct {
		Elements []struct {
			ID         string    `json:"id"`
			Commentary string    `json:"commentary"`
			At         int64     `json:"createdAt"`
			Reshared   *struct{} `json:"reshareContext"`
			Content    struct {
				Media struct {
					ID string `json:"id"`
				} `json:"media"`
				Several *struct{} `json:"multiImage"`
			} `json:"content"`
		} `json:"elements"`
		Paging paging `json:"paging"`
	}
	if err := p.read(ctx, a.Token.Access, "/rest/posts", query, &answer); err != nil {
		return nil, "", err
	}
	for _, e := range answer.Elements {
		if e.Reshared != nil || e.ID == "" || len(e.ID) > most {
			continue
		}
		kind := platform.KindPost
		switch {
		case strings.HasPrefix(e.Content.Media.ID, "urn:li:video:"):
			kind = platform.KindVideo
		case e.Content.Several != nil || strings.HasPrefix(e.Content.Media.ID, "urn:li:document:"):
			kind = platform.KindCarousel
		}
		posts = append(posts, platform.PastPost{ID: e.ID, Kind: kind, Text: textOf(e.Commentary),
			At: time.UnixMilli(e.At).UTC()})
	}
	if start := answer.Paging.Start; answer.Paging.more(start, len(answer.Elements), pastPage) {
		next = strconv.Itoa(start + len(answer.Elements))
	}
	return posts, next, nil
}

// elements are the hashtags, mentions and escaped characters of a commentary.
var elements = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\{hashtag\|\\?#\|([^}]*)\}|@\[((?:\\.|[^\]\\])*)\]\([^)]*\)|\\(.)`)
})

// textOf returns the text of a commentary as people read it, which is the inverse of commentary.
func textOf(s string) string {
	return elements().ReplaceAllStringFunc(s, func(found string) string {
		of := elements().FindStringSubmatch(found)
		switch {
		case of[3] != "":
			return of[3]
		case found[0] == '{':
			return "#" + of[1]
		}
		return "@" + textOf(of[2])
	})
}
