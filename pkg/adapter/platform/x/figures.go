package x

import (
	"context"
	"net/url"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
)

var _ platform.AccountReader = (*Platform)(nil)

// Days implements platform.AccountReader.
func (p *Platform) Days(ctx context.Context, a platform.Account, _ time.Time) ([]platform.Day, error) {
	var me struct {
		Data *struct {
			Counts struct {
				Followers *int64 `json:"followers_count"`
				Posts     *int64 `json:"tweet_count"`
			} `json:"public_metrics"`
		} `json:"data"`
	}
	err := p.read(ctx, a.Token.Access, "/2/users/me", url.Values{"user.fields": {"public_metrics"}}, &me)
	if err != nil {
		return nil, err
	}
	day := platform.Day{Date: platform.Midnight(p.Client.Now())}
	if me.Data != nil {
		day.Followers, day.Posts = me.Data.Counts.Followers, me.Data.Counts.Posts
	}
	return []platform.Day{day}, nil
}
