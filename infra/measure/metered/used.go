package metered

import (
	"context"
	"fmt"
)

// Use makes the account a used one: it generates an item of each kind, an item that retells a video, and what was
// published and commented on. Its lists then have members that new resources do not have yet.
func (w *World) Use(ctx context.Context) error {
	for _, body := range []Object{
		{"kind": "post", "prompt": "A shoe made of nets"},
		{"kind": "carousel", "prompt": "Five ways to lace a shoe"},
		{"kind": "video", "format": "short", "prompt": "How the shoe is made"},
		{"kind": "video", "format": "long", "prompt": "A year of the shoe", "visuals": "stills"},
		{"kind": "story", "prompt": "Back in stock"},
		{"kind": "music_clip", "prompt": "Rain on a trail"},
		{"kind": "post", "source": "provided", "caption": "A shoe made of recycled nets."},
		{"kind": "post", "prompt": "A shoe that fails", "sandbox": Object{"outcome": "failed",
			"failure_code": "content_policy"}},
	} {
		body["factory_id"] = w.factory
		a, err := w.Call(ctx, Request{Operation: "createContentItem", Body: body})
		if err != nil {
			return err
		}
		made, err := a.ID()
		if err != nil {
			return err
		}
		if body["source"] == nil {
			if err := w.generate(ctx, made); err != nil {
				return fmt.Errorf("metered: generate %v: %w", body, err)
			}
		}
	}
	if _, err := w.posted(ctx); err != nil {
		return err
	}
	_, err := w.commented(ctx)
	return err
}
