package vk

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
)

var _ platform.AccountReader = (*Platform)(nil)

// Days implements platform.AccountReader.
func (p *Platform) Days(ctx context.Context, a platform.Account, _ time.Time) ([]platform.Day, error) {
	var answer struct {
		Groups []struct {
			Members *int64 `json:"members_count"`
		} `json:"groups"`
	}
	err := p.call(ctx, a, "groups.getById", url.Values{"group_id": {strings.TrimPrefix(a.ID, "-")},
		"fields": {"members_count"}}, false, &answer)
	if err != nil {
		return nil, err
	}
	day := platform.Day{Date: platform.Midnight(p.Client.Now())}
	if len(answer.Groups) > 0 {
		day.Followers = answer.Groups[0].Members
	}
	return []platform.Day{day}, nil
}
