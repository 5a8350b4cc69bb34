package compose

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/ffmpeg"
	"github.com/content-automation/api/pkg/media/picture"
	"github.com/content-automation/api/pkg/media/probe"
)

// The bounds of an input. Beyond them, decoding would take more memory or time than the function has.
const (
	maxClipPixels = 4096 * 2304
	maxClip       = 10 * time.Minute
	maxSound      = 15 * time.Minute
	maxBytes      = 1 << 30
)

// demuxers are ffmpeg's names for the formats of pkg/media/probe. ffmpeg reads an input only in the given format.
var demuxers = map[string]string{
	"video/mp4": "mov", "audio/mpeg": "mp3", "audio/wav": "wav",
}

// codecs are the permitted codecs of inputs.
var codecs = map[media.Type][]string{
	media.Video: {"h264", "hevc", "av1", "vp9", "mpeg4"},
	media.Audio: {"mp3", "mp3float", "pcm_u8", "pcm_s16le", "pcm_s24le", "pcm_s32le", "pcm_f32le"},
}

type input struct {
	ffmpeg.Input
	// about is the location of the part in the description.
	about string
	// width and height are those that are seen, and length is that of what is seen or heard.
	width, height int
	length        time.Duration
	movie         media.Movie // of a clip
	sound         bool        // of a clip
}

// openPicture reads the headers of a part that is a picture, and refuses one that takes too much to decode.
func openPicture(path, about string) (input, error) {
	in := input{about: about}
	content, err := readPicture(path, about)
	if err != nil {
		return in, err
	}
	p, err := picture.Open(content)
	if err == nil {
		in.width, in.height = p.Width, p.Height
		err = p.Check()
	}
	return in, ofPicture(about, err)
}

// open inspects a recording or a video, and refuses one of another type or one that is too large.
func (r *run) open(ctx context.Context, path, about string, want media.Type) (input, error) {
	in := input{about: about}
	abs, err := filepath.Abs(path)
	if err != nil {
		return in, internal(StageInputs, err)
	}
	info, err := probeFile(abs)
	switch {
	case errors.Is(err, errSize):
		return in, tooLarge(about)
	case errors.Is(err, probe.ErrUnsupported):
		return in, unreadable(StageInputs, about, err)
	case err != nil:
		e := internal(StageInputs, err)
		e.About = about
		return in, e
	case info.Type != want || demuxers[info.MIMEType] == "":
		return in, unreadable(StageInputs, about, errors.New("it is "+info.MIMEType))
	}
	in.Input = ffmpeg.Input{Path: abs, Format: demuxers[info.MIMEType]}
	in.width, in.height, in.length, in.movie = info.Width, info.Height, info.Duration, info.Movie
	if want == media.Video {
		in.Options = upright
	}
	if in.exceeds(want) {
		return in, tooLarge(about)
	}
	streams, usage, err := r.tool.Inspect(ctx, in.Input)
	r.usage.Add(usage)
	if err != nil {
		return in, ofRun(StageInputs, about, err)
	}
	codec := streams.VideoCodec
	if want == media.Audio {
		codec = streams.AudioCodec
	}
	if !slices.Contains(codecs[want], codec) {
		return in, unreadable(StageInputs, about, errors.New("its codec is "+codec))
	}
	in.sound = streams.AudioCodec != ""
	return in, nil
}

func probeFile(path string) (probe.Info, error) {
	f, err := os.Open(path)
	if err != nil {
		return probe.Info{}, err
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return probe.Info{}, err
	}
	if !stat.Mode().IsRegular() {
		return probe.Info{}, &fs.PathError{Op: "open", Path: path, Err: fs.ErrInvalid}
	}
	if stat.Size() > maxBytes {
		return probe.Info{}, errSize
	}
	return probe.Read(f, stat.Size())
}

var errSize = errors.New("the file is too large")

func tooLarge(about string) *Error {
	return &Error{Code: CodeTooLarge, Stage: StageInputs, About: about,
		Message: "The file has too many bytes or pixels, or plays too long. Use a smaller one."}
}

// exceeds reports whether the input is larger than can be worked on.
func (in input) exceeds(t media.Type) bool {
	if t == media.Video {
		return in.width*in.height > maxClipPixels || in.length > maxClip
	}
	return in.length > maxSound
}
