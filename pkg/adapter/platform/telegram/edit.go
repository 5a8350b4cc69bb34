package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// The causes of refusals that mean that nothing is left to do.
var (
	errUnchanged = errors.New("message is not modified")
	errGone      = errors.New("message to delete not found")
)

// causeOf returns the cause of a refusal. Telegram has no codes for it, only descriptions.
func causeOf(description string) error {
	for _, known := range []error{errUnchanged, errGone} {
		if strings.HasPrefix(description, "Bad Request: "+known.Error()) {
			return known
		}
	}
	return nil
}

// Edit implements platform.Editor. A repeat is refused as unchanged, which is success.
func (p *Platform) Edit(ctx context.Context, a platform.Account, post platform.Placed, text string) error {
	if post.Parts > 1 {
		return platform.Reject(platform.CodeInvalidOption, "The text of the post is in several messages. Change it in "+
			"Telegram.")
	}
	call := wire.Call{Name: "editMessageText", JSON: map[string]any{"chat_id": a.ID, "message_id": post.ID, "text": text}}
	if post.Media > 0 {
		call = wire.Call{Name: "editMessageCaption",
			JSON: map[string]any{"chat_id": a.ID, "message_id": post.ID, "caption": text}}
	}
	return p.alter(ctx, a, call, errUnchanged)
}

// Delete implements platform.Deleter. A repeat finds no message, which is success.
func (p *Platform) Delete(ctx context.Context, a platform.Account, post platform.Placed) error {
	if post.Media > 1 || post.Parts > 1 {
		return platform.Reject(platform.CodeInvalidOption, "The post is several messages, of which Telegram has reported "+
			"the first alone. Delete them in Telegram.")
	}
	return p.alter(ctx, a, wire.Call{Name: "deleteMessage", JSON: map[string]any{"chat_id": a.ID, "message_id": post.ID}},
		errGone)
}

// alter makes a call that changes a message. The refusal done means that it was changed before.
func (p *Platform) alter(ctx context.Context, a platform.Account, call wire.Call, done error) error {
	var out json.RawMessage
	err := p.do(ctx, a.Token.Access, call, &out)
	var moved *migration
	switch {
	case errors.Is(err, done):
		return nil
	case errors.As(err, &moved):
		return platform.Reject(platform.CodePostNotFound, "The group has become a supergroup since, which has its own "+
			"messages.")
	}
	return err
}
