package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/composer"
	"github.com/content-automation/api/pkg/media/compose"
	"github.com/content-automation/api/pkg/media/compose/ffmpeg"
	"github.com/content-automation/api/pkg/media/objects"
	"github.com/content-automation/api/pkg/media/provenance"
	"github.com/content-automation/api/pkg/media/provenance/c2pa"
)

// lateComposer composes once its tools are there. Compositions wait for them.
type lateComposer struct {
	files   *objects.Store
	tools   *tools
	scratch string
	threads int
	// manifests has the credentials that sign.
	manifests *lateManifests

	once     sync.Once
	composer generate.Composer
	err      error
}

// Compose implements generate.Composer.
func (c *lateComposer) Compose(ctx context.Context, what generate.Composition, o generate.Origin, progress func(int),
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
	return c.composer.Compose(ctx, what, o, progress, save)
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
	if err != nil {
		c.err = err
		return
	}
	credentials, err := c.manifests.open()
	c.composer, c.err = &composer.Composer{Engine: engine, Objects: c.files, Dir: dir, Credentials: credentials}, err
}

// lateFFmpeg runs ffmpeg once it is there.
type lateFFmpeg struct{ tools *tools }

// Run implements heif.Program.
func (f lateFFmpeg) Run(ctx context.Context, job ffmpeg.Job) (ffmpeg.Report, error) {
	select {
	case <-ctx.Done():
		return ffmpeg.Report{}, ctx.Err()
	case <-f.tools.media:
	}
	path, err := filepath.Abs(filepath.Join(".tools", "media", "ffmpeg"))
	if err != nil {
		return ffmpeg.Report{}, err
	}
	return ffmpeg.Tool{Path: path, Threads: 1}.Run(ctx, job)
}

// lateManifests reads manifests, and signs, once the library is there.
type lateManifests struct {
	tools *tools
	// key is the file of the key and its test certificate, which outlives the service.
	key string

	once  sync.Once
	ready *c2pa.Credentials
	err   error
}

func (m *lateManifests) open() (*c2pa.Credentials, error) {
	m.once.Do(func() {
		var signer c2pa.Signer
		if signer, m.err = c2pa.Kept(m.key, time.Now()); m.err == nil {
			library := filepath.Join(".tools", "media", "c2pa", "libs", "libc2pa_c.so")
			m.ready, m.err = c2pa.OpenCredentials(library, signer, nil)
		}
	})
	return m.ready, m.err
}

// wait returns the library once it is there.
func (m *lateManifests) wait(ctx context.Context) (*c2pa.Credentials, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-m.tools.media:
	}
	return m.open()
}

// Read implements provenance.Reader.
func (m *lateManifests) Read(ctx context.Context, mimeType string, file io.ReadSeeker) (provenance.Report, error) {
	c, err := m.wait(ctx)
	if err != nil {
		return provenance.Report{}, err
	}
	return c.Read(ctx, mimeType, file)
}

// Sign implements provenance.Signer.
func (m *lateManifests) Sign(ctx context.Context, test bool, claim provenance.Claim, mimeType string,
	from io.ReadSeeker, to io.ReadWriteSeeker) (string, error) {
	c, err := m.wait(ctx)
	if err != nil {
		return "", err
	}
	return c.Sign(ctx, test, claim, mimeType, from, to)
}
