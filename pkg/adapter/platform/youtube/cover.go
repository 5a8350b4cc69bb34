package youtube

import (
	"context"
	"errors"
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

// cover sets the cover of the video. It waits until a Short is processed. It may be repeated. A
// cover that YouTube refuses does not fail the publication.
func (p *Platform) cover(ctx context.Context, a platform.Account, post platform.Post, w work) (platform.Step, error) {
	done := platform.Step{Next: platform.StageDone}
	if post.Cover == nil {
		return done, nil
	}
	if isShort(post.Media[0]) {
		ready, err := p.processed(ctx, a, w.Video)
		if platform.KindOf(err) == platform.Expired || ctx.Err() != nil {
			return platform.Step{}, err
		}
		if err == nil && !ready {
			err = errors.New("youtube: the video is being processed")
		}
		if platform.KindOf(err) == platform.Retry && err != nil {
			if w.Looks++; w.Looks < maxLooks {
				return platform.Go(platform.StageCheck, w, processing)
			}
			done.Warning = platform.Warn(platform.CoverNotSet, "YouTube has not processed the video in time to set "+
				"its cover.", nil)
			return done, nil
		}
		if err != nil {
			done.Warning = notSet(err)
			return done, nil
		}
	}
	err := p.Client.JSON(ctx, wire.Call{
		Name: "thumbnails.set", Method: http.MethodPost, URL: p.Client.Base(api) + "/upload/youtube/v3/thumbnails/set",
		Query: url.Values{"videoId": {w.Video}, "uploadType": {"media"}}, Bearer: a.Token.Access,
		Body: wire.Range(ctx, *post.Cover, 0, post.Cover.Bytes),
	}, p.refused, nil)
	if err == nil {
		return done, nil
	}
	if platform.KindOf(err) == platform.Expired || ctx.Err() != nil {
		return platform.Step{}, err
	}
	if w.Tries++; platform.KindOf(err) == platform.Retry && w.Tries < maxTries {
		return platform.Go(platform.StageCheck, w, processing)
	}
	done.Warning = notSet(err)
	return done, nil
}

// notSet returns the warning about a cover that YouTube refuses.
func notSet(err error) *platform.Warning {
	return platform.Warn(platform.CoverNotSet,
		"YouTube has not taken the cover of the video. Set it in YouTube Studio.", err)
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
	call := wire.Call{Name: "videos", Method: http.MethodGet, URL: p.Client.Base(api) + "/youtube/v3/videos",
		Query: url.Values{"part": {"processingDetails"}, "id": {video}}, Bearer: a.Token.Access}
	if err := p.Client.JSON(ctx, call, p.refused, &answer); err != nil {
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
