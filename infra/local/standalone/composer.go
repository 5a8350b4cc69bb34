package standalone

import (
	"context"

	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/composition"
	"github.com/content-automation/api/pkg/media/objects"
)

// composer returns the composer of media.
func (s *Service) composer(files *objects.Store) generate.Composer {
	return turns{s.options.Compose(files), make(chan struct{}, max(1, s.processors/2))}
}

// turns composes a few works at a time. The messages of the others are held, so that short steps of finished works do
// not wait behind them.
type turns struct {
	generate.Composer
	free chan struct{}
}

// Compose implements generate.Composer.
func (t turns) Compose(ctx context.Context, what composition.Composition, draft bool, progress func(int),
	save generate.Save) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case t.free <- struct{}{}:
	}
	defer func() { <-t.free }()
	return t.Composer.Compose(ctx, what, draft, progress, save)
}
