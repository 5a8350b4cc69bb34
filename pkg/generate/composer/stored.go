// Package composer composes media of stored files: it downloads them, has the engine compose them, and passes on the
// results. Start with Composer.Compose.
package composer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sync/errgroup"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose"
	"github.com/content-automation/api/pkg/media/provenance"
)

// Objects opens stored files.
type Objects interface {
	// Open starts reading the object of a key. Its error has the code not_found if there is none.
	Open(ctx context.Context, key string) (io.ReadCloser, error)
}

// Engine composes local files.
type Engine interface {
	Compose(ctx context.Context, w compose.Work, out string, progress func(percent int)) (compose.Result, error)
	// Frame returns the first frame of a video as a JPEG that is not wider than a thumbnail, or nil if there is none.
	Frame(ctx context.Context, video string) ([]byte, error)
}

// Composer composes stored files.
type Composer struct {
	Engine  Engine
	Objects Objects
	// Dir is a folder for temporary files.
	Dir string
	// Credentials sign the finished files. If they are nil, files say their origin without a signature.
	Credentials provenance.Signer
}

var _ generate.Composer = (*Composer)(nil)

// The most bytes of all parts of one composition, and the number of parts that are fetched at a time.
const (
	maxBytes = 1 << 30
	atOnce   = 4
)

// Compose implements generate.Composer.
func (c *Composer) Compose(ctx context.Context, what generate.Composition, o generate.Origin, progress func(int),
	save generate.Save) error {
	dir, err := os.MkdirTemp(c.Dir, "parts-")
	if err != nil {
		return fmt.Errorf("stored: %w", err)
	}
	defer os.RemoveAll(dir)
	paths, err := c.fetch(ctx, what, dir)
	if err != nil {
		return err
	}
	if whole, ok := what.(generate.UnchangedFiles); ok {
		return c.keepWhole(ctx, whole, o, paths, save)
	}
	work, err := describe(what, o.Test, paths)
	if err != nil {
		return err
	}
	out := filepath.Join(dir, "out")
	if err := os.Mkdir(out, 0o700); err != nil {
		return fmt.Errorf("stored: %w", err)
	}
	made, err := c.Engine.Compose(ctx, work, out, progress)
	if err != nil {
		return failure(err)
	}
	from, err := originOf(ctx, what, o, paths)
	if err != nil {
		return err
	}
	for _, f := range made.Files {
		if err := c.keep(ctx, f, made.Files, from, save); err != nil {
			return err
		}
	}
	return nil
}

// keepWhole saves files as they are, each with its own origin.
func (c *Composer) keepWhole(ctx context.Context, all generate.UnchangedFiles, o generate.Origin, at paths,
	save generate.Save) error {
	for _, f := range all {
		from, err := originOf(ctx, generate.UnchangedFiles{f}, o, at)
		if err != nil {
			return err
		}
		if err := c.keep(ctx, compose.File{Path: at.of(&f)}, nil, from, save); err != nil {
			return err
		}
	}
	return nil
}

// paths maps the keys of files to their local paths.
type paths map[string]string

// of returns the path of a file, or an empty one for nil.
func (p paths) of(f *media.File) string {
	if f == nil {
		return ""
	}
	return p[f.Key]
}

// fetch downloads all files of a composition to a folder.
func (c *Composer) fetch(ctx context.Context, what generate.Composition, dir string) (paths, error) {
	all, bytes := paths{}, int64(0)
	what.Files(func(f *media.File) {
		if all[f.Key] == "" {
			all[f.Key] = filepath.Join(dir, fmt.Sprintf("part-%d", len(all)))
			bytes += f.Bytes
		}
	})
	if bytes > maxBytes {
		return nil, provider.FailureOf(provider.FailedInputTooLarge)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for key, path := range all {
		group.Go(func() error { return c.download(ctx, what, key, path) })
	}
	return all, group.Wait()
}

func (c *Composer) download(ctx context.Context, what generate.Composition, key, path string) error {
	if draw := drawn[key]; draw != nil {
		return writeSample(path, draw)
	}
	body, err := c.Objects.Open(ctx, key)
	if errs.CodeOf(err) == errs.NotFound {
		return &provider.Error{
			Kind: provider.BadInput, Code: string(provider.FailedInputUnreadable),
			Message: removed(what, key), Cause: err, Part: key,
		}
	}
	if err != nil {
		return err
	}
	defer body.Close()
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("stored: %w", err)
	}
	_, err = io.Copy(file, io.LimitReader(body, maxBytes))
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("stored: fetch %s: %w", key, err)
	}
	return nil
}

// removed describes a file of a composition that is gone.
func removed(what generate.Composition, key string) string {
	v, _ := what.(generate.Video)
	for name, f := range map[string]*media.File{"intro": v.Intro, "outro": v.Outro} {
		if f != nil && f.Key == key {
			return "The " + name + " that the factory had when the item was created was deleted. Set another one in " +
				"the settings of the factory, and create the item again."
		}
	}
	return "A file that is needed for the composition was removed."
}

// failure returns the error of a composition in the form in which work fails. A defect of the parts is final. Any other
// error may be retried.
func failure(err error) error {
	var e *compose.Error
	if !errors.As(err, &e) {
		return err
	}
	known := provider.FailureOf(provider.FailureCode(e.Code))
	if known == nil || e.Code == compose.CodeCanceled {
		return err
	}
	known.Message, known.Cause, known.Part = e.Message, err, e.About
	return known
}

const scratchPrefix = "composer-"

// Scratch returns a folder in dir for the temporary files of this process. It removes the folders of processes that
// were killed.
func Scratch(dir string) (string, error) {
	left, err := filepath.Glob(filepath.Join(dir, scratchPrefix+"*"))
	if err != nil {
		return "", fmt.Errorf("stored: %w", err)
	}
	for _, folder := range left {
		pid, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(folder), scratchPrefix))
		if err != nil || pid != os.Getpid() && !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			continue
		}
		if err := os.RemoveAll(folder); err != nil {
			return "", fmt.Errorf("stored: %w", err)
		}
	}
	own := filepath.Join(dir, scratchPrefix+strconv.Itoa(os.Getpid()))
	if err := os.Mkdir(own, 0o700); err != nil {
		return "", fmt.Errorf("stored: %w", err)
	}
	return own, nil
}
