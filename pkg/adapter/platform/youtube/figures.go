package youtube

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

var _ platform.AccountReader = (*Platform)(nil)

// Days implements platform.AccountReader. The number of subscribers is unknown if the owner hides it.
func (p *Platform) Days(ctx context.Context, a platform.Account, _ time.Time) ([]platform.Day, error) {
	var answer struct {
		Items []struct {
			Statistics struct {
				Subscribers string `json:"subscriberCount"`
				Hidden      bool   `json:"hiddenSubscriberCount"`
				Videos      string `json:"videoCount"`
			} `json:"statistics"`
		} `json:"items"`
	}
	call := wire.Call{Name: "channels", Method: http.MethodGet, URL: p.Client.Base(api) + "/youtube/v3/channels",
		Query: url.Values{"part": {"statistics"}, "id": {a.ID}}, Bearer: a.Token.Access}
	if err := p.Client.JSON(ctx, call, p.refused, &answer); err != nil {
		return nil, err
	}
	if len(answer.Items) != 1 {
		return nil, platform.Reject(platform.CodePostNotFound, "YouTube does not have the channel.")
	}
	s := answer.Items[0].Statistics
	day := platform.Day{Date: platform.Midnight(p.Client.Now()), Posts: number(s.Videos)}
	if !s.Hidden {
		day.Followers = number(s.Subscribers)
	}
	return []platform.Day{day}, nil
}
