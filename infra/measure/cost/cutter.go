package main

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/composition"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/service/generatetest"
)

// How long a composition takes on three processors, for a second of a video and for a
// picture: make bench-media measures the processor time.
const (
	cutWait  = 500 * time.Millisecond
	cardWait = time.Second
)

// cutter stands for the engine of compositions, and counts what it is given.
type cutter struct {
	generatetest.Composer
	used *usage
}

// Compose implements generate.Composer. It fetches each part by one request.
func (c cutter) Compose(ctx context.Context, what composition.Composition, draft bool, progress func(int), save generate.Save) error {
	var longest time.Duration
	fetched := map[string]bool{}
	what.Files(func(f *media.File) {
		if fetched[f.Key] {
			return
		}
		fetched[f.Key] = true
		c.used.gets++
		c.used.waited += objectWait + time.Duration(float64(sizes[f.Type])/bytesPerSecond*float64(time.Second))
		if f.Type == media.Audio {
			longest = max(longest, time.Duration(f.DurationSeconds*float64(time.Second)))
		}
	})
	switch w := what.(type) {
	case composition.Carousel:
		longest = time.Duration(len(w.Slides)) * cardWait
	case composition.Picture:
		longest = cardWait
	case composition.MusicClip:
		longest = w.Length / time.Second * cutWait
	case composition.Video:
		for _, s := range w.Scenes {
			longest = max(longest, s.Length)
		}
		longest = time.Duration(longest.Seconds() * float64(cutWait))
	}
	c.used.waited += longest
	return c.Composer.Compose(ctx, what, draft, progress, save)
}
