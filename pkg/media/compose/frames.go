package compose

import (
	"context"
	"fmt"
	"image"
	"strings"

	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/timeline"
)

// frameScene is the number of frames that a scene would have in a video of which only pictures are drawn.
const frameScene = 2 * timeline.FPS

// drawFrames delivers pictures in place of a video: its cover, its scenes that show a product, each with a caption, and
// its end card. All texts have appeared in them.
func drawFrames(ctx context.Context, f *videoRun) error {
	brand, still := *f.Brand.orEmpty(), *f.Brand.look()
	still.Motion, brand.Design = "none", &still
	f.Brand, f.card = &brand, frameScene
	var texts []string
	for _, s := range f.Scenes {
		texts = append(texts, s.Text)
	}
	said, count := strings.Join(texts, " "), frameScene*len(texts)
	if err := f.caption(said, timeline.NewClock(said, nil, timeline.Time(count)-lead-tail), count); err != nil {
		return err
	}
	if _, err := f.cover(ctx); err != nil {
		return err
	}
	var frames album
	size := image.Pt(f.width, f.height)
	for n := range f.scenes {
		if !f.bare(n) {
			continue
		}
		img, err := f.shown(ctx, n, size)
		if err != nil {
			return err
		}
		s, err := textsOf(ctx, f, n, frameScene*n+frameScene/2, 1)
		if err == nil {
			err = frames.add(f.run, fmt.Sprintf("scene%02d", n+1), img, s)
		}
		if err != nil {
			return err
		}
	}
	img, s, err := f.drawEnd(ctx)
	if err != nil {
		return err
	}
	if err := frames.add(f.run, "end", img, s); err != nil {
		return err
	}
	return frames.deliver(ctx, f.run, media.Final)
}
