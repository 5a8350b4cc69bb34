package vk

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// taken is the answer to a webhook that VK does not send again.
const taken = "ok"

// Announced implements platform.Announcer. Each community has a confirmation of its own.
func (p *Platform) Announced(ctx context.Context, h platform.Hook) (all []platform.Announced, answer string,
	err error) {
	app, err := p.Client.App(ctx)
	if err != nil {
		return nil, "", err
	}
	var body struct {
		Type   string `json:"type"`
		Group  int64  `json:"group_id"`
		Secret string `json:"secret"`
		Object struct {
			Post int64 `json:"post_id"`
		} `json:"object"`
	}
	if h.Method != http.MethodPost || json.Unmarshal(h.Body, &body) != nil ||
		!platform.SameSecret(body.Secret, app.HookToken) {
		return nil, "", platform.ErrForged
	}
	switch body.Type {
	case "confirmation":
		for _, c := range strings.Fields(app.Confirmations) {
			if group, text, ok := strings.Cut(c, "="); ok && group == strconv.FormatInt(body.Group, 10) {
				return nil, text, nil
			}
		}
		return nil, "", platform.ErrForged
	case "wall_reply_new", "wall_reply_edit", "wall_reply_delete", "wall_reply_restore":
		return []platform.Announced{{Account: strconv.FormatInt(-body.Group, 10),
			Post: strconv.FormatInt(body.Object.Post, 10)}}, taken, nil
	}
	return nil, taken, nil
}
