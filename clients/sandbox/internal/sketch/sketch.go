// Package sketch composes media without ffmpeg, fonts or an assets folder: files of the right types, sizes and lengths,
// whose content is simple. Pictures are cropped and scaled to their size. Videos pan over a drawn scene, in silence.
// Texts and logos are left out; captions are in a file only.
package sketch

import (
	"bytes"
	"context"
	"hash/fnv"
	"image"
	"image/jpeg"
	_ "image/png" // the formats of pictures
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	_ "golang.org/x/image/webp"

	"github.com/content-automation/api/pkg/adapter/provider/sandbox"
	"github.com/content-automation/api/pkg/generate/composer"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose"
	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/timeline"
)

// Engine composes sketches.
type Engine struct{}

var _ composer.Engine = Engine{}

// The sizes of finished media, as the engine with ffmpeg has them.
var (
	portrait  = image.Pt(1080, 1920)
	landscape = image.Pt(1920, 1080)
	post      = image.Pt(1080, 1350)
)

// The bounds of music clips and videos.
const (
	minMusic = 15 * time.Second
	maxVideo = 10 * time.Minute
	// slack is the part of a track's length that only its header may claim.
	slack = 200 * time.Millisecond
)

// sketch is one composition.
type sketch struct {
	out   string
	files []compose.File
}

// Frame implements composer.Engine. There is no decoder of videos: it has no frame.
func (Engine) Frame(context.Context, string) ([]byte, error) { return nil, nil }

// Compose implements composer.Engine. If it fails, it leaves files that belong to no result: the composer removes them
// with the folder.
func (Engine) Compose(ctx context.Context, w compose.Work, out string, progress func(int)) (compose.Result, error) {
	s := &sketch{out: out}
	progress(0)
	var err error
	switch w := w.(type) {
	case compose.Video:
		err = s.video(w)
	case compose.MusicClip:
		err = s.musicClip(w)
	case compose.Picture:
		size := post
		if w.Use == compose.Story {
			size = portrait
		}
		err = s.picture("final.jpg", w.Path, "/path", size, w.Whole)
	case compose.Carousel:
		for i, slide := range w.Slides {
			name := "slide" + strconv.Itoa(i) + ".jpg"
			if err = s.picture(name, slide.Path, about("slides", i, ""), post, slide.Whole); err != nil {
				break
			}
		}
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return compose.Result{}, err
	}
	progress(100)
	return compose.Result{Files: s.files}, nil
}

// about names a part of a description.
func about(list string, i int, member string) string {
	return strings.TrimSuffix("/"+list+"/"+strconv.Itoa(i)+"/"+member, "/")
}

// add writes a file of the result.
func (s *sketch) add(name string, content []byte, f compose.File) error {
	f.Path, f.Bytes = filepath.Join(s.out, name), int64(len(content))
	s.files = append(s.files, f)
	return os.WriteFile(f.Path, content, 0o600)
}

// picture adds a picture of a size: cropped to it, or whole on a ground.
func (s *sketch) picture(name, path, about string, size image.Point, whole bool) error {
	if _, err := open(path, about, media.Image); err != nil {
		return err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	src, _, err := image.Decode(bytes.NewReader(content))
	if err != nil {
		return unreadable(about, err)
	}
	img := image.NewRGBA(image.Rectangle{Max: size})
	at := covering(src.Bounds().Size(), size)
	if whole {
		canvas.Fill(img, img.Rect, canvas.White)
		at = canvas.Within(src.Bounds().Size(), img.Rect, false)
	}
	canvas.Place(img, at, src)
	var out bytes.Buffer
	if err := jpeg.Encode(&out, img, &jpeg.Options{Quality: 88}); err != nil {
		return err
	}
	return s.add(name, out.Bytes(), jpegFile(media.Final, size))
}

func jpegFile(role media.Role, size image.Point) compose.File {
	return compose.File{Role: role, Type: media.Image, MIMEType: "image/jpeg", Width: size.X, Height: size.Y}
}

// covering returns the smallest rectangle of a picture's proportions that covers a size. Both have the same center.
func covering(of, size image.Point) image.Rectangle {
	to := image.Pt(size.X, (of.Y*size.X+of.X-1)/of.X)
	if to.Y < size.Y {
		to = image.Pt((of.X*size.Y+of.Y-1)/of.Y, size.Y)
	}
	at := size.Sub(to).Div(2)
	return image.Rectangle{Min: at, Max: at.Add(to)}
}

// clip adds a video of a number of frames and its poster. The content of the parts chooses its colors.
func (s *sketch) clip(size image.Point, frames int, parts ...string) error {
	seed := fnv.New32a()
	for _, path := range parts {
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		_, _ = seed.Write(content) // a hash does not fail
	}
	scene := sandbox.Scene{Width: size.X, Height: size.Y, Seed: seed.Sum32(), Mood: seed.Sum32()}
	length := timeline.Time(frames)
	video, err := sandbox.MP4(scene, length, true)
	if err != nil {
		return err
	}
	if err := s.add("final.mp4", video, compose.File{Role: media.Final, Type: media.Video, MIMEType: "video/mp4",
		Width: size.X, Height: size.Y, Duration: length}); err != nil {
		return err
	}
	frame, err := sandbox.JPEG(scene)
	if err != nil {
		return err
	}
	return s.add("poster.jpg", frame, jpegFile(media.Poster, size))
}

func (s *sketch) musicClip(m compose.MusicClip) error {
	track, err := open(m.Track, "/track", media.Audio)
	if err != nil {
		return err
	}
	if _, err := open(m.Cover, "/cover", media.Image); err != nil {
		return err
	}
	if track.Duration < minMusic-slack {
		return fault(compose.CodeTooShort, "/track", "The track is too short for a music clip. Use a longer one.")
	}
	frames := timeline.Frames(min(m.Length, max(track.Duration, minMusic)))
	return s.clip(portrait, even(m.Quality, frames), m.Track, m.Cover)
}
