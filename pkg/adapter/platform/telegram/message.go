package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// item is one file of an album.
type item struct {
	Type      string `json:"type"`
	Media     string `json:"media"`
	Caption   string `json:"caption,omitempty"`
	Mode      any    `json:"parse_mode,omitempty"`
	Streaming bool   `json:"supports_streaming,omitempty"`
	Width     int    `json:"width,omitempty"`
	Height    int    `json:"height,omitempty"`
	Duration  int    `json:"duration,omitempty"`
}

// next returns the call that sends the next part of a post: the media or the text, then the rest of a long caption.
func next(ctx context.Context, w *platform.Work[state]) (wire.Call, error) {
	post, text := w.Post, w.Text()
	own := optionsOf(post.Options)
	if w.Made > 0 || len(post.Media) == 0 {
		body := own.params(true, true)
		body["chat_id"], body["text"] = w.Own.Chat, text
		return wire.Call{Name: "sendMessage", JSON: body, Posts: true}, nil
	}
	fields, options := url.Values{"chat_id": {w.Own.Chat}}, own.params(true, false)
	mode := options["parse_mode"]
	if len(post.Media) > 1 {
		delete(options, "parse_mode") // it belongs to the caption of the first file
	}
	for name, value := range options {
		fields.Set(name, fmt.Sprint(value))
	}
	call := wire.Call{Posts: true, Timeout: wire.UploadTimeout}
	var files []wire.File
	switch m := post.Media[0]; {
	case len(post.Media) > 1:
		call.Name = "sendMediaGroup"
		var items []item
		for i, m := range post.Media {
			name := "file" + strconv.Itoa(i)
			it := item{Type: "photo", Media: "attach://" + name}
			if m.Video() {
				it = item{Type: "video", Media: it.Media, Streaming: true, Width: m.Width, Height: m.Height,
					Duration: int(m.Duration.Seconds())}
			}
			if i == 0 {
				it.Caption, it.Mode = text, mode
			}
			items = append(items, it)
			files = append(files, wire.File{Field: name, Name: wire.FileName(m), Media: m})
		}
		raw, err := json.Marshal(items)
		if err != nil {
			return wire.Call{}, fmt.Errorf("telegram: album: %w", err)
		}
		fields.Set("media", string(raw))
	case m.Video():
		call.Name = "sendVideo"
		fields.Set("supports_streaming", "true")
		for name, n := range map[string]int{"width": m.Width, "height": m.Height,
			"duration": int(m.Duration.Seconds())} {
			if n > 0 {
				fields.Set(name, strconv.Itoa(n))
			}
		}
		files = []wire.File{{Field: "video", Name: wire.FileName(m), Media: m}}
		if c := post.Cover; c != nil {
			fields.Set("cover", "attach://cover")
			files = append(files, wire.File{Field: "cover", Name: wire.FileName(*c), Media: *c})
		}
	default:
		call.Name = "sendPhoto"
		files = []wire.File{{Field: "photo", Name: wire.FileName(m), Media: m}}
	}
	if len(post.Media) == 1 && text != "" {
		fields.Set("caption", text)
	}
	body, err := wire.Multipart(ctx, fields, files...)
	call.Body = body
	return call, err
}

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
	own := optionsOf(post.Options)
	if wrong := malformed(text); own.Format == formatHTML && wrong != "" {
		return platform.Reject(platform.CodeInvalidOption, "The post is in HTML, and the new text "+wrong)
	}
	body := own.params(false, post.Media == 0)
	body["chat_id"], body["message_id"] = a.ID, post.ID
	if post.Media > 0 {
		body["caption"] = text
		return p.alter(ctx, a, wire.Call{Name: "editMessageCaption", JSON: body}, errUnchanged)
	}
	body["text"] = text
	return p.alter(ctx, a, wire.Call{Name: "editMessageText", JSON: body}, errUnchanged)
}

// Delete implements platform.Deleter. A repeat finds no message, which is success.
func (p *Platform) Delete(ctx context.Context, a platform.Account, post platform.Placed) error {
	if post.Media > 1 || post.Parts > 1 {
		return platform.Reject(platform.CodeInvalidOption, "The post is several messages, of which Telegram has "+
			"reported the first alone. Delete them in Telegram.")
	}
	return p.alter(ctx, a, wire.Call{Name: "deleteMessage",
		JSON: map[string]any{"chat_id": a.ID, "message_id": post.ID}},
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
