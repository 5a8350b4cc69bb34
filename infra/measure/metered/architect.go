package metered

import (
	"context"
	"encoding/json"
	"fmt"
)

// drafted has the architect create a draft in a chat of its own.
func (w *World) drafted(ctx context.Context) (chatID, draftID string, err error) {
	if chatID, err = w.make(ctx, "createChat"); err != nil {
		return "", "", err
	}
	replied, err := w.Call(ctx, Request{Operation: "sendMessage", ID: chatID, Body: w.Examples()["sendMessage"].Body})
	if err != nil {
		return "", "", err
	}
	var reply struct {
		DraftIDs []string `json:"draft_ids"`
	}
	if err := json.Unmarshal(replied.Data, &reply); err != nil || len(reply.DraftIDs) != 1 {
		return "", "", fmt.Errorf("no draft: %s: %w", replied.Data, err)
	}
	return chatID, reply.DraftIDs[0], nil
}
