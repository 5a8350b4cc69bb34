package telegram

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// React sends the bot an update with the number of reactions to a message, if it has requested
// such updates.
func (f *Fake) React(message int64, total int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.Contains(f.allowed, "message_reaction_count") {
		return
	}
	f.updates = append(f.updates, map[string]any{"update_id": len(f.updates) + 1,
		"message_reaction_count": map[string]any{
			"chat": map[string]any{"id": Chat, "type": "channel", "username": Channel[1:]}, "message_id": message,
			"date": f.Now().Unix(),
			"reactions": []any{
				map[string]any{"type": map[string]string{"type": "emoji", "emoji": "👍"}, "total_count": total - 1},
				map[string]any{"type": map[string]string{"type": "emoji", "emoji": "🔥"}, "total_count": 1},
			},
		}})
}

// Allow sets the updates that the bot has requested.
func (f *Fake) Allow(names ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.allowed = names
}

// Allowed returns the updates that the bot has requested.
func (f *Fake) Allowed() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.allowed)
}

// listen answers the methods about updates.
func (f *Fake) listen(method string, in input) (any, *refusal) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if method == "getWebhookInfo" {
		info := map[string]any{"url": "", "has_custom_certificate": false, "pending_update_count": len(f.updates)}
		if f.Webhook {
			info["url"] = "https://bot.example.test/"
		}
		if len(f.allowed) > 0 {
			info["allowed_updates"] = f.allowed
		}
		return info, nil
	}
	if f.Webhook {
		return nil, &refusal{code: http.StatusConflict, description: "Conflict: can't use getUpdates method while " +
			"webhook is active"}
	}
	if names, ok := in.params["allowed_updates"]; ok {
		if err := json.Unmarshal([]byte(names), &f.allowed); err != nil {
			return nil, bad("can't parse allowed updates")
		}
	}
	most, err := strconv.Atoi(in.params["limit"])
	if err != nil || most < 1 || most > 100 {
		return nil, bad("wrong limit")
	}
	if in.params["offset"] != "" {
		f.Confirmed = true
	}
	kept := slices.DeleteFunc(slices.Clone(f.updates), func(u map[string]any) bool {
		at, ok := u["message_reaction_count"].(map[string]any)["date"].(int64)
		return !ok || f.Now().Sub(time.Unix(at, 0)) > 24*time.Hour // Telegram keeps updates for that long.
	})
	return kept[:min(most, len(kept))], nil
}
