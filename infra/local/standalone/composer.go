package standalone

import (
	"context"

	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media/objects"
)

// composer returns the composer of media.
func (s *Service) composer(files *objects.Store) generate.Composer {
	return turns{s.options.Compose(files), make(chan struct{}, max(1, s.processors/2)),
		make(chan struct{}, s.processors)}
}

// turns composes a few works at a time. The messages of the others are held, so that short steps of finished works do
// not wait behind them. Pictures take a moment and do not wait for videos.
type turns struct {
	generate.Composer
	videos, pictures chan struct{}
}

// Compose implements generate.Composer.
func (t turns) Compose(ctx context.Context, what generate.Composition, o generate.Origin, progress func(int),
	save generate.Save) error {
	turn := t.pictures
	switch what.(type) {
	case generate.Video, generate.MusicClip:
		turn = t.videos
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case turn <- struct{}{}:
	}
	defer func() { <-turn }()
	return t.Composer.Compose(ctx, what, o, progress, save)
}
