package youtube

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

const (
	// processing is the time between two looks at the processing of a Short, and maxLooks is
	// the number of looks.
	processing = time.Minute
	maxLooks   = 30
	// maxTries bounds the attempts to set a cover that YouTube temporarily refuses.
	maxTries = 3

	longestShort = 3 * time.Minute
)

// isShort reports whether YouTube shows a video as a Short.
func isShort(m platform.Media) bool { return m.Width <= m.Height && m.Duration <= longestShort }

// End implements chain.Ender. It sets the cover of the video, and waits until a Short is processed. A cover that
// YouTube refuses does not fail the publication.
func (p *Platform) End(ctx context.Context, w *platform.Work[state]) (ended bool, wait time.Duration, err error) {
	if w.Post.Cover == nil {
		return true, 0, nil
	}
	ready := true
	if isShort(w.Post.Media[0]) {
		ready, err = p.processed(ctx, w.Account, w.First.ID)
	}
	looks, most := &w.Own.Looks, maxLooks
	if ready && err == nil {
		looks, most = &w.Own.Tries, maxTries
		if err = p.cover(ctx, w); err == nil {
			return true, 0, nil
		}
	}
	kind := platform.KindOf(err)
	if kind == platform.Expired || ctx.Err() != nil {
		return false, 0, err
	}
	w.Warning = platform.Warn(platform.CoverNotSet,
		"YouTube has not taken the cover of the video. Set it in YouTube Studio.", err)
	if kind == platform.Retry {
		if *looks++; *looks < most {
			return false, processing, nil
		}
		if most == maxLooks {
			w.Warning.Message = "YouTube has not processed the video in time to set its cover."
		}
	}
	return true, 0, nil
}

// cover sets the cover of the video.
func (p *Platform) cover(ctx context.Context, w *platform.Work[state]) error {
	call := p.Call(http.MethodPost, "/upload/youtube/v3/thumbnails/set", w.Account.Token.Access)
	call.Query = url.Values{"videoId": {w.First.ID}, "uploadType": {"media"}}
	call.Body = wire.Range(ctx, *w.Post.Cover, 0, w.Post.Cover.Bytes)
	return p.Send(ctx, call, nil)
}

// processed reports whether the processing of a video has ended.
func (p *Platform) processed(ctx context.Context, a platform.Account, video string) (bool, error) {
	var answer struct {
		Items []struct {
			Processing struct {
				Status string `json:"processingStatus"`
			} `json:"processingDetails"`
		} `json:"items"`
	}
	if err := p.Get(ctx, a.Token.Access, "/youtube/v3/videos",
		url.Values{"part": {"processingDetails"}, "id": {video}}, &answer); err != nil {
		return false, err
	}
	if len(answer.Items) != 1 {
		return false, platform.Reject(platform.CodePostNotFound, "YouTube does not have the video.")
	}
	switch answer.Items[0].Processing.Status {
	case "processing":
		return false, nil
	case "failed", "terminated":
		return false, platform.Reject(platform.CodeMediaRefused, "YouTube could not process the video.")
	default:
		return true, nil
	}
}
