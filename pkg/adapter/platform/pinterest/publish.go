package pinterest

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

const (
	// processing is the time between two looks at a video.
	processing = 15 * time.Second
	longest    = 64 // of an id
	// findPages bounds the pages of the newest pins among which a lost one is looked for.
	findPages = 4
)

// state is the adapter's part of a handle.
type state struct {
	Video string `json:"video,omitempty"` // id of the uploaded video
}

// Prepare implements platform.Steps. It uploads a video, or looks at it.
func (p *Platform) Prepare(ctx context.Context, w *platform.Work[state]) (ready bool, wait time.Duration, err error) {
	if !w.Post.Media[0].Video() {
		return true, 0, nil
	}
	if w.Own.Video == "" {
		w.Own.Video, err = p.upload(ctx, w.Account, w.Post.Media[0])
		return false, processing, err
	}
	var media struct {
		Status string `json:"status"`
	}
	if err := p.Get(ctx, w.Account.Token.Access, "/media/"+url.PathEscape(w.Own.Video), nil, &media); err != nil {
		return false, 0, err
	}
	if media.Status == "failed" {
		return false, 0, platform.Reject(platform.CodeMediaRefused, "Pinterest could not process the video.")
	}
	return media.Status == "succeeded", processing, nil
}

// upload uploads a video with the form that Pinterest states.
func (p *Platform) upload(ctx context.Context, a platform.Account, m platform.Media) (string, error) {
	var made struct {
		ID         string            `json:"media_id"`
		URL        string            `json:"upload_url"`
		Parameters map[string]string `json:"upload_parameters"`
	}
	call := p.Call(http.MethodPost, "/media", a.Token.Access)
	call.JSON = map[string]string{"media_type": "video"}
	if err := p.Send(ctx, call, &made); err != nil {
		return "", err
	}
	if made.ID == "" || len(made.ID) > longest || !p.Client.Trusts(made.URL, "amazonaws.com") {
		return "", p.Client.Garbled(call, errIncomplete)
	}
	fields := url.Values{}
	for name, value := range made.Parameters {
		fields.Set(name, value)
	}
	body, err := wire.Multipart(ctx, fields, wire.File{Field: "file", Name: wire.FileName(m), Media: m})
	if err != nil {
		return "", p.Client.Garbled(call, err)
	}
	put := wire.Call{Name: "upload", Method: http.MethodPost, URL: made.URL, Body: body, Timeout: wire.UploadTimeout}
	answer, err := p.Client.Do(ctx, put)
	if err != nil {
		return "", err
	}
	return made.ID, p.Client.Check(put, answer, nil)
}

// link returns the page that a pin leads to.
func link(post platform.Post) string {
	if own, ok := post.Options.Own.(Options); ok && own.Link != "" {
		return own.Link
	}
	for _, l := range platform.Links(post.Caption) {
		if l.Scheme {
			return post.Caption[l.Start:l.End]
		}
	}
	return ""
}

// Make implements platform.Steps.
func (p *Platform) Make(ctx context.Context, w *platform.Work[state]) (ref platform.Ref, err error) {
	pin := map[string]any{"board_id": w.Account.ID, "description": w.Text(), "media_source": source(w.Post, w.Own)}
	own, _ := w.Post.Options.Own.(Options)
	for name, value := range map[string]string{"title": w.Post.Title, "link": link(w.Post),
		"alt_text": w.Post.Media[0].Alt, "board_section_id": own.Section} {
		if value != "" {
			pin[name] = value
		}
	}
	call := p.Call(http.MethodPost, "/pins", w.Account.Token.Access)
	call.JSON, call.Posts = pin, true
	var made struct {
		ID string `json:"id"`
	}
	if err := p.Send(ctx, call, &made); err != nil {
		return ref, err
	}
	if made.ID == "" || len(made.ID) > longest {
		return ref, p.Client.Garbled(call, errIncomplete)
	}
	return refOf(made.ID), nil
}

func refOf(id string) platform.Ref {
	return platform.Ref{ID: id, URL: site + "/pin/" + url.PathEscape(id) + "/"}
}

// source returns the media of a pin.
func source(post platform.Post, s state) map[string]any {
	switch {
	case s.Video != "":
		m := map[string]any{"source_type": "video_id", "media_id": s.Video}
		if post.Cover != nil && post.Cover.URL != "" {
			m["cover_image_url"] = post.Cover.URL
		} else {
			m["cover_image_key_frame_time"] = int64(post.Options.CoverAt.Seconds()) // Pinterest counts seconds
		}
		return m
	case len(post.Media) > 1:
		var items []map[string]string
		for _, m := range post.Media {
			items = append(items, map[string]string{"url": m.URL})
		}
		return map[string]any{"source_type": "multiple_image_urls", "items": items}
	default:
		return map[string]any{"source_type": "image_url", "url": post.Media[0].URL}
	}
}

// Find implements platform.Steps. It looks at the newest pins of the board.
func (p *Platform) Find(ctx context.Context, w *platform.Work[state]) (ref platform.Ref, next platform.Stage,
	err error) {
	since := w.SentAt.Add(-time.Minute).UTC().Truncate(time.Second)
	query := url.Values{"page_size": {"50"}}
	for range findPages {
		var list struct {
			Items []struct {
				ID          string `json:"id"`
				Title       string `json:"title"`
				Description string `json:"description"`
				Link        string `json:"link"`
				At          string `json:"created_at"`
			} `json:"items"`
			Bookmark string `json:"bookmark"`
		}
		err = p.read(ctx, w.Account.Token.Access, "/boards/"+url.PathEscape(w.Account.ID)+"/pins", query, &list)
		if platform.KindOf(err) == platform.BadContent {
			return ref, "", platform.Lost(err) // the pin may exist although Pinterest does not show it
		}
		if err != nil {
			return ref, "", err
		}
		older := false
		for _, i := range list.Items {
			at, err := timeOf(i.At)
			older = older || err == nil && at.Before(since)
			if err == nil && i.Title == w.Post.Title && i.Link == link(w.Post) &&
				strings.TrimSpace(i.Description) == w.Text() && i.ID != "" && len(i.ID) <= longest &&
				!at.Before(since) {
				return refOf(i.ID), platform.StageDone, nil
			}
		}
		if older || list.Bookmark == "" {
			break
		}
		query.Set("bookmark", list.Bookmark)
	}
	return ref, platform.StageReconcile, nil
}

// timeOf reads a time of Pinterest, which is in UTC and may say so.
func timeOf(s string) (time.Time, error) {
	return time.Parse("2006-01-02T15:04:05", strings.TrimSuffix(s, "Z"))
}

// Lookup implements platform.Finder. It lists the sections of the board.
func (p *Platform) Lookup(ctx context.Context, a platform.Account, _ platform.LookupKind,
	_ string) (all []platform.Found, err error) {
	err = p.pages(ctx, a.Token.Access, "/boards/"+url.PathEscape(a.ID)+"/sections", func(page []platform.Found) bool {
		all = append(all, page...)
		return true
	})
	return all, err
}

// Edit implements platform.Editor. It replaces the description of a pin.
func (p *Platform) Edit(ctx context.Context, a platform.Account, post platform.Placed, text string) error {
	call := p.Call(http.MethodPatch, "/pins/"+url.PathEscape(post.ID), a.Token.Access)
	call.JSON = map[string]string{"description": text}
	return p.Client.JSON(ctx, call, refused(makes), nil)
}

// Delete implements platform.Deleter.
func (p *Platform) Delete(ctx context.Context, a platform.Account, post platform.Placed) error {
	call := p.Call(http.MethodDelete, "/pins/"+url.PathEscape(post.ID), a.Token.Access)
	err := p.Client.JSON(ctx, call, refused(reads), nil)
	return platform.Except(platform.CodePostNotFound, err)
}
