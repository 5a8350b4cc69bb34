package telegram

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"

	"github.com/content-automation/api/pkg/adapter/platform/chain"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// item is one file of an album.
type item struct {
	Type      string `json:"type"`
	Media     string `json:"media"`
	Caption   string `json:"caption,omitempty"`
	Streaming bool   `json:"supports_streaming,omitempty"`
	Width     int    `json:"width,omitempty"`
	Height    int    `json:"height,omitempty"`
	Duration  int    `json:"duration,omitempty"`
}

// next returns the call that sends the next part of a post: the media or the text, then the rest of a long caption.
func next(ctx context.Context, w *chain.Work[state]) (wire.Call, error) {
	post, text := w.Post, w.Text()
	own, _ := post.Options.Own.(Options)
	if w.Made > 0 || len(post.Media) == 0 {
		body := map[string]any{"chat_id": w.Own.Chat, "text": text}
		if own.Silent {
			body["disable_notification"] = true
		}
		return wire.Call{Name: "sendMessage", JSON: body, Posts: true}, nil
	}
	fields := url.Values{"chat_id": {w.Own.Chat}}
	if own.Silent {
		fields.Set("disable_notification", "true")
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
				it.Caption = text // caption of the album
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
