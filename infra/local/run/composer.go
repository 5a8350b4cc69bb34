package main

import (
	"context"
	"os"
	"path/filepath"
	"sync"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/composer"
	"github.com/content-automation/api/pkg/media/compose"
	"github.com/content-automation/api/pkg/media/objects"
)

// lateComposer composes once its tools are there. Compositions wait for them.
type lateComposer struct {
	files   *objects.Store
	tools   *tools
	scratch string
	threads int

	once     sync.Once
	composer generate.Composer
	err      error
}

// Compose implements generate.Composer.
func (c *lateComposer) Compose(ctx context.Context, what generate.Composition, draft bool, progress func(int),
	save generate.Save) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-c.tools.media:
	}
	if c.tools.failed != nil {
		return errs.Wrap(c.tools.failed, errs.ProviderUnavailable, "ffmpeg could not be fetched: see the terminal.")
	}
	c.once.Do(c.open)
	if c.err != nil {
		return c.err
	}
	return c.composer.Compose(ctx, what, draft, progress, save)
}

func (c *lateComposer) open() {
	if c.err = os.MkdirAll(c.scratch, 0o700); c.err != nil {
		return
	}
	dir, err := composer.Scratch(c.scratch)
	if err != nil {
		c.err = err
		return
	}
	media := filepath.Join(".tools", "media")
	engine, err := compose.New(compose.Settings{
		FFmpeg: filepath.Join(media, "ffmpeg"), Fonts: filepath.Join(media, "fonts"), Scratch: dir, Threads: c.threads, Nice: 19,
	})
	c.composer, c.err = &composer.Composer{Engine: engine, Objects: c.files, Dir: dir}, err
}
