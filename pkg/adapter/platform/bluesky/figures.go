package bluesky

import (
	"context"
	"net/url"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// Days implements platform.AccountReader.
func (p *Platform) Days(ctx context.Context, a platform.Account, _ time.Time) ([]platform.Day, error) {
	var profile struct {
		Followers *int64 `json:"followersCount"`
		Posts     *int64 `json:"postsCount"`
	}
	err := p.Get(ctx, a.Token.Access, "app.bsky.actor.getProfile", url.Values{"actor": {a.ID}}, &profile)
	if err != nil {
		return nil, err
	}
	return []platform.Day{{Date: platform.Midnight(p.Client.Now()), Followers: profile.Followers,
		Posts: profile.Posts}}, nil
}
