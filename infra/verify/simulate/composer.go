package simulate

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
)

// composer is a double of the engine of compositions. It takes time, fails, or hangs until its function is killed.
type composer struct{}

var _ generate.Composer = composer{}

var errComposition = errors.New("simulate: the engine failed")

// ofCaller is the share of failures that the caller's input causes.
const ofCaller = 0.5

// cut is the course of one composition.
type cut struct {
	err   error
	hangs bool
	takes time.Duration
}

// Compose implements generate.Composer.
func (composer) Compose(ctx context.Context, what generate.Composition, _ generate.Origin, progress func(int),
	save generate.Save) error {
	w := invocationOf(ctx).world
	var c cut
	err := pass(ctx, &call{kind: toObjects, key: "compose", refused: errComposition, lost: errComposition,
		do: func() error {
			read := 0
			what.Files(func(f *media.File) {
				if w.files[f.Key] {
					read++
				}
			})
			if read == 0 {
				return errComposition
			}
			c.takes = time.Second + between(w.random, 0, time.Minute)
			if w.calm {
				return nil
			}
			if chance(w.random, w.faults.Provider) {
				short := provider.FailureOf(provider.FailedInputTooShort)
				if chance(w.random, ofCaller) {
					short.Part = "/brand/logo" // which the caller provides
				}
				c.err = short
			}
			c.hangs = chance(w.random, w.faults.Crash)
			return nil
		}})
	if err != nil {
		return err
	}
	if c.hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	const looks = 10
	for n := range looks {
		if err := sleep(ctx, c.takes/looks); err != nil {
			return err
		}
		progress(100 * (n + 1) / looks)
	}
	if c.err != nil {
		return c.err
	}
	if whole, ok := what.(generate.UnchangedFiles); ok {
		for _, f := range whole {
			kind := provider.Kind(f.Type)
			if f.Type == media.Audio {
				kind = provider.KindMusic
			}
			if err := save(media.File{}, strings.NewReader(string(kind)), nil); err != nil {
				return err
			}
		}
		return nil
	}
	final := provider.KindImage
	switch what.(type) {
	case generate.Video, generate.MusicClip:
		final = provider.KindVideo
	}
	for _, f := range []struct {
		role media.Role
		kind provider.Kind
	}{{media.Final, final}, {media.Poster, provider.KindImage}} {
		if err := save(media.File{Role: f.role}, strings.NewReader(string(f.kind)), []byte("thumbnail")); err != nil {
			return err
		}
	}
	return nil
}
