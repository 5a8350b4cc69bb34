package generatetest

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider/sandbox"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/composer"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/timeline"
)

// Composer replaces the engine of compositions. It makes valid files with the roles, sizes and lengths of the engine's,
// which do not show the parts.
type Composer struct {
	Objects composer.Objects // of the files that stay as they are
}

var _ generate.Composer = Composer{}

// made is a composed file. For a picture, plays is 0.
type made struct {
	role          media.Role
	width, height int
	plays         time.Duration
}

// Compose implements generate.Composer.
func (c Composer) Compose(ctx context.Context, what generate.Composition, _ generate.Origin, progress func(int),
	save generate.Save) error {
	whole, _ := what.(generate.UnchangedFiles)
	for _, f := range whole {
		body, err := c.Objects.Open(ctx, f.Key)
		if err == nil {
			err = errors.Join(save(media.File{Provenance: f.Provenance}, body, nil), body.Close())
		}
		if err != nil {
			return err
		}
	}
	for _, m := range describe(what) {
		content, err := m.content()
		if err == nil {
			err = m.save(content, save)
		}
		if err != nil {
			return err
		}
	}
	progress(100)
	return nil
}

// save saves the file, with a thumbnail of what is seen.
func (m made) save(content []byte, to generate.Save) (err error) {
	var small []byte
	if m.role != media.Subtitles {
		small, err = made{"", media.ThumbnailWidth, media.ThumbnailWidth * m.height / m.width, 0}.content()
	}
	return errors.Join(err, to(media.File{Role: m.role}, bytes.NewReader(content), small))
}

// contents caches the files that were made before: drawing them takes time.
var contents sync.Map

func (m made) content() (content []byte, err error) {
	if m.role == media.Subtitles {
		return []byte("WEBVTT\n\n00:00.000 --> 00:01.000\nWords.\n"), nil
	}
	m.role = ""
	if known, ok := contents.Load(m); ok {
		return known.([]byte), nil
	}
	scene := sandbox.Scene{Width: m.width, Height: m.height}
	if m.plays > 0 {
		content, err = sandbox.MP4(scene, m.plays, true)
	} else {
		content, err = sandbox.JPEG(scene)
	}
	contents.Store(m, content)
	return content, err
}

// seconds returns the length of a file.
func seconds(f *media.File) time.Duration {
	return time.Duration(f.DurationSeconds * float64(time.Second))
}

// bumper returns the length of an intro or outro, which may be nil.
func bumper(f *media.File) time.Duration {
	switch {
	case f == nil:
		return 0
	case f.Type == media.Image:
		return timeline.Still
	}
	return seconds(f)
}

func describe(what generate.Composition) []made {
	switch w := what.(type) {
	case generate.Picture:
		height := 1350
		if w.Use == generate.Story {
			height = 1920
		}
		return []made{{media.Final, 1080, height, 0}}
	case generate.Carousel:
		all := make([]made, len(w.Slides))
		for i := range all {
			all[i] = made{media.Final, 1080, 1350, 0}
		}
		return all
	case generate.MusicClip:
		if w.Frames {
			return []made{{media.Final, 1080, 1920, 0}}
		}
		return []made{{media.Final, 1080, 1920, w.Length}, {media.Poster, 1080, 1920, 0}}
	case generate.Video:
		width, height := 1080, 1920
		if w.Format == generate.Landscape {
			width, height = height, width
		}
		if w.Frames {
			one := made{media.Final, width, height, 0}
			return []made{one, one, one}
		}
		plays := bumper(w.Intro) + bumper(w.Outro)
		for _, s := range w.Scenes {
			plays += s.Length
		}
		if w.Narration == nil {
			return []made{{media.Final, width, height, plays}, {media.Poster, width, height, 0}}
		}
		plays += max(seconds(w.Narration), w.Length) // as the engine waits after a fast voice
		return []made{{media.Final, width, height, plays}, {media.Poster, width, height, 0}, {role: media.Subtitles}}
	}
	return nil
}
