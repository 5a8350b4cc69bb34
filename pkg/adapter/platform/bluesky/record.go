package bluesky

import (
	"net/url"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/texts"
)

// content returns the record of the next post.
func content(w *platform.Work[state]) map[string]any {
	text := w.Text()
	r := map[string]any{"$type": collection, "text": text,
		"createdAt": time.UnixMicro(w.Own.At).Add(time.Duration(w.Made) * time.Millisecond).UTC().
			Format("2006-01-02T15:04:05.000Z")}
	if w.Post.Language != "" {
		r["langs"] = []string{w.Post.Language}
	}
	if facets := w.Own.facets(text); len(facets) > 0 {
		r["facets"] = facets
	}
	if w.Made > 0 {
		parent := w.Last
		if w.IsComment() {
			parent = w.First
		}
		r["reply"] = map[string]any{"root": strong(w.First), "parent": strong(parent)}
	} else if len(w.Post.Media) > 0 {
		r["embed"] = embed(w.Post, w.Own.Files)
	}
	return r
}

func strong(r platform.Ref) map[string]string { return map[string]string{"uri": r.ID, "cid": r.Hash} }

// embed returns the media of a post.
func embed(post platform.Post, files []blob) map[string]any {
	if m := post.Media[0]; m.Video() {
		return map[string]any{"$type": "app.bsky.embed.video", "video": files[0].wire(), "alt": m.Alt,
			"aspectRatio": ratio(m)}
	}
	list, kind := "images", "app.bsky.embed.images"
	if len(post.Media) > gallery {
		list, kind = "items", "app.bsky.embed.gallery"
	}
	var all []map[string]any
	for i, m := range post.Media {
		item := map[string]any{"image": files[i].wire(), "alt": m.Alt, "aspectRatio": ratio(m)}
		if list == "items" {
			item["$type"] = kind + "#image"
		}
		all = append(all, item)
	}
	return map[string]any{"$type": kind, list: all}
}

func ratio(m platform.Media) map[string]int {
	return map[string]int{"width": max(m.Width, 1), "height": max(m.Height, 1)}
}

// facets returns the links, hashtags and mentions of a text. Their positions are counted in bytes.
func (s state) facets(text string) (all []map[string]any) {
	add := func(start, end int, feature map[string]string) {
		all = append(all, map[string]any{"index": map[string]int{"byteStart": start, "byteEnd": end},
			"features": []map[string]string{feature}})
	}
	for _, l := range texts.Bluesky.Links(text) {
		// Bluesky refuses a post for an address that is none, and shows it as plain text without a facet.
		if u, err := url.Parse(l.Address(text)); err == nil && u.Host != "" {
			add(l.Start, l.End, map[string]string{"$type": "app.bsky.richtext.facet#link", "uri": l.Address(text)})
		}
	}
	for _, t := range texts.Bluesky.Hashtags(text) {
		add(t.Start, t.End, map[string]string{"$type": "app.bsky.richtext.facet#tag", "tag": t.Text})
	}
	for _, t := range texts.Bluesky.Cashtags(text) {
		add(t.Start, t.End, map[string]string{"$type": "app.bsky.richtext.facet#tag",
			"tag": "$" + strings.ToUpper(t.Text)})
	}
	for _, m := range texts.Bluesky.Mentions(text) {
		if did := s.Names[strings.ToLower(m.Text)]; did != "" {
			add(m.Start, m.End, map[string]string{"$type": "app.bsky.richtext.facet#mention", "did": did})
		}
	}
	return all
}
