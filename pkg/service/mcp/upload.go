package mcp

import (
	"context"
	"net/http"
	"time"

	"github.com/content-automation/api/pkg/base/backoff"
)

type uploadIn struct {
	orderIn
	waitIn
	SourceURL string `json:"source_url,omitempty"`
	MediaID   string `json:"media_id,omitempty"`
	MimeType  string `json:"mime_type,omitempty"`
	Bytes     int64  `json:"bytes,omitempty"`
	SHA256    string `json:"sha256,omitempty"`
}

var uploadTexts = map[string]string{
	"source_url": "public https URL of the file", "media_id": "med_… of an earlier call: is it ready",
	"mime_type": "of a file to send yourself, with bytes and sha256",
}

// upload brings in a file by its address, or makes the address to which the caller sends it.
func upload(ctx context.Context, c call, in uploadIn) (said, error) {
	wait, err := in.wait()
	body := pick(in, "source_url", "mime_type", "bytes", "sha256")
	switch {
	case err != nil:
		return said{}, err
	case in.MediaID != "" && len(body) > 0:
		return said{}, invalid("media_id", "media_id looks at an earlier file: send nothing else with it.")
	case in.MediaID == "" && in.SourceURL == "" && (in.MimeType == "" || in.Bytes == 0 || in.SHA256 == ""):
		return said{}, invalid("source_url", "Send source_url, or mime_type, bytes and sha256 of a file that you "+
			"send yourself.")
	}
	began := c.now()
	if in.MediaID != "" {
		a, err := c.get(ctx, pathOf("media", in.MediaID), nil)
		return c.awaitMedia(ctx, a, err, began, wait)
	}
	switch ask, err := c.asks(in.Confirmation); {
	case err != nil:
		return said{}, err
	case ask && in.SourceURL != "":
		return c.asked("This fetches a file from the address, which sees the whole address. It costs no credits.",
			body), nil
	case ask:
		return c.asked("This brings in a file. It costs no credits.", body), nil
	}
	a, err := c.caller.call(ctx, http.MethodPost, "/v1/media", body, c.key)
	if in.SourceURL == "" {
		wait = 0 // the caller has to send the file first
	}
	return c.awaitMedia(ctx, a, err, began, wait)
}

// awaitMedia reads a media until it is ready or rejected, or until the wait since a time is over.
func (c call) awaitMedia(ctx context.Context, a *answer, err error, began time.Time, wait time.Duration) (said, error) {
	note := a.note()
	media, err := into[object](a, err)
	if err != nil {
		return said{}, err
	}
	id, _ := media["id"].(string)
	for pause := time.Second; media["state"] == "pending"; pause += time.Second {
		left := wait - c.now().Sub(began)
		if left <= 0 || backoff.Sleep(ctx, min(pause, left)) != nil {
			break
		}
		next, err := into[object](c.get(ctx, pathOf("media", id), nil))
		if err != nil {
			break // the caller gets what was read before
		}
		media = next
	}
	text := note + id + " is pending: call upload_media with this media_id in a while."
	switch {
	case media["state"] == "ready":
		text = note + id + " is ready: it is an element of media in create_content, or image_url in studio_generate."
	case media["state"] == "rejected":
		text = note + id + " is rejected: the reason says why."
	case media["upload"] != nil:
		text = note + "Send the file within 15 minutes by the request in upload, with its headers as they are. Then " +
			"call upload_media with media_id: " + id + "."
	}
	return said{text: text, data: pick(media, "id", "state", "type", "mime_type", "bytes", "width", "height",
		"duration_seconds", "reason", "upload", "url", "expires_at"), all: media["upload"] != nil}, nil
}
