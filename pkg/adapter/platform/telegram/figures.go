package telegram

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// Days implements platform.AccountReader.
func (p *Platform) Days(ctx context.Context, a platform.Account, _ time.Time) ([]platform.Day, error) {
	var members int64
	if err := p.call(ctx, a.Token.Access, "getChatMemberCount", map[string]any{"chat_id": a.ID}, &members); err != nil {
		return nil, err
	}
	return []platform.Day{{Date: platform.Midnight(p.Client.Now()), Followers: &members}}, nil
}
