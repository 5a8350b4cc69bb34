package telegram

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// reactionCount is the update with the reactions to a message of a channel. Telegram keeps it only
// for a bot that has requested it.
const reactionCount = "message_reaction_count"

// usual lists the updates that Telegram keeps for a bot that has requested none.
var usual = []string{
	"message", "edited_message", "channel_post", "edited_channel_post", "business_connection", "business_message",
	"edited_business_message", "deleted_business_messages", "inline_query", "chosen_inline_result", "callback_query",
	"shipping_query",
	"pre_checkout_query", "purchased_paid_media", "poll", "poll_answer", "my_chat_member", "chat_join_request",
	"chat_boost", "removed_chat_boost",
}

// mostUpdates is how many updates Telegram returns at once.
const mostUpdates = 100

// update is an update of a bot, as far as it counts reactions.
type update struct {
	Count *struct {
		Chat      chat  `json:"chat"`
		Message   int64 `json:"message_id"`
		Reactions []struct {
			Total int64 `json:"total_count"`
		} `json:"reactions"`
	} `json:"message_reaction_count"`
}

// updates returns the updates of the last 24 hours that no program of the bot's owner has read,
// oldest first. It also makes Telegram keep the counts of reactions from now on. It requests the
// same kinds of updates as before, and confirms none, so that other programs of the bot's owner
// still receive all of their updates. A bot with a webhook has no such list.
func (p *Platform) updates(ctx context.Context, token platform.Secret, most int) (all []update, err error) {
	var hook struct {
		URL     string   `json:"url"`
		Allowed []string `json:"allowed_updates"`
	}
	if err := p.call(ctx, token, "getWebhookInfo", nil, &hook); err != nil {
		return nil, err
	}
	if hook.URL != "" {
		return nil, platform.Unsupported("counts of reactions while the bot has a webhook")
	}
	if len(hook.Allowed) == 0 {
		hook.Allowed = usual
	}
	wanted := hook.Allowed
	if !slices.Contains(wanted, reactionCount) {
		wanted = append(slices.Clone(wanted), reactionCount)
	}
	return all, p.call(ctx, token, "getUpdates", map[string]any{"limit": most, "timeout": 0,
		"allowed_updates": wanted}, &all)
}

// Metrics implements platform.Publisher. It returns the reactions to a message from Telegram's last
// count for the bot. They are unknown if that count is older than 24 hours.
func (p *Platform) Metrics(ctx context.Context, a platform.Account,
	post platform.Published) (m platform.Metrics, err error) {
	id, err := strconv.ParseInt(post.ID, 10, 64)
	if err != nil {
		return m, platform.Reject(platform.CodePostNotFound, "Telegram does not have the message.")
	}
	all, err := p.updates(ctx, a.Token.Access, mostUpdates)
	if err != nil {
		return m, err
	}
	for _, u := range all {
		c := u.Count
		if c == nil || c.Message != id || strconv.FormatInt(c.Chat.ID, 10) != a.ID && "@"+c.Chat.Username != a.ID {
			continue
		}
		n := int64(0)
		for _, r := range c.Reactions {
			n += r.Total
		}
		m.Likes = &n
	}
	return m, nil
}

// Days implements platform.AccountReader.
func (p *Platform) Days(ctx context.Context, a platform.Account, _ time.Time) ([]platform.Day, error) {
	var members int64
	if err := p.call(ctx, a.Token.Access, "getChatMemberCount", map[string]any{"chat_id": a.ID}, &members); err != nil {
		return nil, err
	}
	return []platform.Day{{Date: platform.Midnight(p.Client.Now()), Followers: &members}}, nil
}
