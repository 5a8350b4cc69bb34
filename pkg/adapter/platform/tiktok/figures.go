package tiktok

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// statsScope is the right to read the figures of an account. TikTok grants it to an application apart from the others,
// so that only operators whose application has it request it.
const statsScope = "user.info.stats"

// Days implements platform.AccountReader.
func (p *Platform) Days(ctx context.Context, a platform.Account, _ time.Time) ([]platform.Day, error) {
	if a.Token.Lacks([]string{statsScope}) {
		return nil, platform.Reject(platform.CodeMissingPermission, "The account has not granted "+statsScope+".")
	}
	var answer struct {
		User struct {
			Followers *int64 `json:"follower_count"`
			Videos    *int64 `json:"video_count"`
		} `json:"user"`
	}
	call := p.Call(http.MethodGet, "/v2/user/info/", a.Token.Access)
	call.Query = url.Values{"fields": {"follower_count,video_count"}}
	if err := p.do(ctx, call, &answer); err != nil {
		return nil, err
	}
	return []platform.Day{{Date: platform.Midnight(p.Client.Now()), Followers: answer.User.Followers,
		Posts: answer.User.Videos}}, nil
}
