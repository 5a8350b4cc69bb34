// Package compose makes finished media of generated parts: videos with narration, burned-in captions and music, slides
// with headings, stories, pictures and music clips. A description (Video, Carousel, Picture, MusicClip) names the files
// and how to combine them. The engine makes the files that can be published.
//
// Of the packages below it, ffmpeg runs the program, text lays out text, canvas computes colors and contrast, timeline
// computes times, and fit has the limits of the platforms. Start with Engine.Compose.
package compose

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/ffmpeg"
	"github.com/content-automation/api/pkg/media/compose/script"
	"github.com/content-automation/api/pkg/media/compose/text"
	"github.com/content-automation/api/pkg/media/compose/theme"
	"github.com/content-automation/api/pkg/media/picture"
	"github.com/content-automation/api/pkg/media/probe"
)

// Engine composes. It is safe for concurrent use.
type Engine struct {
	tool    program
	fonts   *text.Fonts
	scratch string
}

// program runs ffmpeg: a Tool, or one of a test.
type program interface {
	Run(ctx context.Context, job ffmpeg.Job) (ffmpeg.Report, error)
}

// Settings are the locations of the engine's tools.
type Settings struct {
	FFmpeg  string // the program
	Fonts   string // the folder of the fonts
	Scratch string // a folder for temporary files; New removes those of a killed process
	Threads int    // of each decoder, filter and encoder
	// Nice is the niceness of ffmpeg, from 0 to 19: with a higher one, other work comes first. 0 leaves that of this
	// process.
	Nice int
}

// scratchPrefix begins the names of the folders for temporary files.
const scratchPrefix = "compose-"

// New makes an engine. Only one process may use the folder for temporary files.
func New(s Settings) (*Engine, error) {
	fonts, err := text.Open(s.Fonts)
	if err != nil {
		return nil, err
	}
	// The program runs in other working directories.
	program, err := filepath.Abs(s.FFmpeg)
	if err != nil {
		return nil, fmt.Errorf("compose: ffmpeg: %w", err)
	}
	if _, err := os.Stat(program); err != nil {
		return nil, fmt.Errorf("compose: ffmpeg: %w", err)
	}
	if s.Nice < 0 || s.Nice > 19 {
		return nil, fmt.Errorf("compose: Nice is %d; it must be from 0 to 19", s.Nice)
	}
	left, err := filepath.Glob(filepath.Join(s.Scratch, scratchPrefix+"*"))
	if err != nil {
		return nil, fmt.Errorf("compose: %w", err)
	}
	for _, dir := range left {
		if err := os.RemoveAll(dir); err != nil {
			return nil, fmt.Errorf("compose: %w", err)
		}
	}
	tool := ffmpeg.Tool{Path: program, Threads: s.Threads, Nice: s.Nice}
	return &Engine{tool: tool, fonts: fonts, scratch: s.Scratch}, nil
}

// Work describes a composition: a Video, Carousel, Picture or MusicClip.
type Work interface {
	// check returns an error for an invalid description.
	check() error
	compose(ctx context.Context, r *run) error
	// brand returns the brand, or nil.
	brand() *Brand
}

func (v Video) brand() *Brand     { return v.Brand }
func (c Carousel) brand() *Brand  { return c.Brand }
func (p Picture) brand() *Brand   { return p.Brand }
func (m MusicClip) brand() *Brand { return m.Brand }

// Brand is the appearance of a brand.
type Brand struct {
	Name string
	// Logo is the path of a picture. It may be empty.
	Logo string
	// Right puts the mark into the right upper corner instead of the left one.
	Right bool
	// Colors are the brand's colors, the main one first. There may be none.
	Colors []canvas.Color
	// Font is a family of script.Fonts, or empty for that of the theme.
	Font string
	// Call is the call to action with which videos end, and Address where the brand is found. They may be empty.
	Call, Address string
	// Theme is the name of a design of the service: one of theme.Names, of which the empty one is the first. Design is
	// a design of its own, and comes first. It may be nil.
	Theme  string
	Design *theme.Theme
}

// color returns the brand's main color, or ink if it has none.
func (b *Brand) color() canvas.Color {
	if b == nil || len(b.Colors) == 0 {
		return ink
	}
	return b.Colors[0]
}

// second returns the brand's second color, or its main one.
func (b *Brand) second() canvas.Color {
	if b == nil || len(b.Colors) < 2 {
		return b.color()
	}
	return b.Colors[1]
}

// accent returns the first color of the brand that has a contrast with a ground, or that of text on it. The colors
// after the main one come first.
func (b *Brand) accent(ground canvas.Color, least float64) canvas.Color {
	if b != nil && len(b.Colors) > 0 {
		for _, c := range append(slices.Clone(b.Colors[1:]), b.Colors[0]) {
			if canvas.Contrast(c.Luminance(), ground.Luminance()) >= least {
				return c
			}
		}
	}
	return canvas.On(ground)
}

// orEmpty returns the brand, or one without a name and a logo.
func (b *Brand) orEmpty() *Brand {
	if b == nil {
		return &Brand{}
	}
	return b
}

// File is a composed file.
type File struct {
	Path     string
	Role     media.Role
	Type     media.Type
	MIMEType string
	Width    int // 0 for captions
	Height   int
	Duration time.Duration // of a video
	Bytes    int64
}

// Result has the composed files, final files first.
type Result struct {
	Files []File
	Usage ffmpeg.Usage
}

// Compose composes the work, and writes its files into the folder out, which must exist. It reports the progress from 0
// to 100. The function progress may be nil. If it fails, it leaves no file. Errors are of type *Error.
func (e *Engine) Compose(ctx context.Context, w Work, out string, progress func(percent int)) (Result, error) {
	if err := w.check(); err != nil {
		return Result{}, err
	}
	if _, ok := w.brand().design(); !ok {
		return Result{}, invalid("/brand/theme", "The theme must be one of %s.", strings.Join(theme.Names, ", "))
	}
	fonts, ok := e.fonts.In(w.brand().font())
	if !ok {
		return Result{}, invalid("/brand/font", "The font must be one of %s.", strings.Join(script.Fonts, ", "))
	}
	dir, err := os.MkdirTemp(e.scratch, scratchPrefix)
	if err != nil {
		return Result{}, internal(StageInputs, err)
	}
	defer os.RemoveAll(dir)
	// ffmpeg runs in this folder, so that filters name files without a path.
	if dir, err = filepath.Abs(dir); err != nil {
		return Result{}, internal(StageInputs, err)
	}
	r := &run{Engine: e, fonts: fonts, dir: dir, out: out, progress: progress}
	r.report(0)
	if err := w.compose(ctx, r); err != nil {
		for _, f := range r.files {
			os.Remove(f.Path)
		}
		return Result{Usage: r.usage}, err
	}
	r.report(100)
	return Result{Files: r.files, Usage: r.usage}, nil
}

type run struct {
	*Engine
	fonts    *text.Fonts // of the brand
	mark     image.Image // the logo of the brand, once it was read
	dir, out string
	mu       sync.Mutex // of usage
	usage    ffmpeg.Usage
	files    []File
	progress func(int)
	reported int
}

// report reports the progress, if it has changed.
func (r *run) report(percent int) {
	if r.progress != nil && (percent > r.reported || percent == 0) {
		r.reported = percent
		r.progress(percent)
	}
}

// ffmpeg runs a job, and adds its usage.
func (r *run) ffmpeg(ctx context.Context, stage Stage, about string, job ffmpeg.Job) (ffmpeg.Report, error) {
	job.Dir = r.dir
	report, err := r.tool.Run(ctx, job)
	r.mu.Lock()
	r.usage.Add(report.Usage)
	r.mu.Unlock()
	if err != nil {
		return report, ofRun(stage, about, err)
	}
	return report, nil
}

// path returns the path of a temporary file.
func (r *run) path(name string) string { return filepath.Join(r.dir, name) }

func (r *run) write(stage Stage, name string, content []byte) error {
	if err := os.WriteFile(r.path(name), content, 0o600); err != nil {
		return internal(stage, err)
	}
	return nil
}

// deliver moves a temporary file to the composed files.
func (r *run) deliver(name string, f File) error {
	f.Path = filepath.Join(r.out, name)
	if err := move(r.path(name), f.Path); err != nil {
		return internal(StageJoin, err)
	}
	info, err := os.Stat(f.Path)
	if err != nil {
		return internal(StageJoin, err)
	}
	f.Bytes = info.Size()
	r.files = append(r.files, f)
	return nil
}

// deliverPicture delivers a JPEG.
func deliverPicture(r *run, name string, role media.Role, size image.Point) error {
	return r.deliver(name+".jpg", File{Role: role, Type: media.Image, MIMEType: "image/jpeg", Width: size.X,
		Height: size.Y})
}

// move renames a file, or copies it if the folders are on different disks.
func move(from, to string) error {
	if err := os.Rename(from, to); err == nil {
		return nil
	}
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, content, 0o600); err != nil {
		os.Remove(to)
		return err
	}
	return nil
}

// subtitles writes a script, and returns the filter that draws it, or "null" if it draws nothing.
func (r *run) subtitles(stage Stage, name string, s *text.Script) (string, error) {
	if s.Empty() {
		return "null", nil
	}
	// Each font costs the filter time: it gets only those that it needs.
	if err := ffmpeg.LinkAll(r.path(name+".fonts"), s.Fonts()); err != nil {
		return "", internal(stage, err)
	}
	if err := r.write(stage, name+".ass", []byte(s.String())); err != nil {
		return "", err
	}
	return fmt.Sprintf("ass=filename=%s.ass:fontsdir=%s.fonts", name, name), nil
}

// Code is the reason for which a composition failed.
type Code string

// The codes.
const (
	// CodeInvalid reports an invalid description.
	CodeInvalid Code = "invalid_input"
	// CodeUnreadable reports an input that is broken or of the wrong type.
	CodeUnreadable Code = "input_unreadable"
	// CodeTooLarge reports an input with too many pixels, or one that plays too long.
	CodeTooLarge Code = "input_too_large"
	// CodeTooShort reports a clip or track that is too short.
	CodeTooShort Code = "input_too_short"
	// CodeSilent reports a narration or track without sound.
	CodeSilent Code = "input_silent"
	// CodeTextTooLong reports a text that does not fit even in the smallest letters.
	CodeTextTooLong Code = "text_too_long"
	// CodeScript reports a text whose script the fonts lack.
	CodeScript Code = "unsupported_script"
	// CodeCanceled reports that the context has ended.
	CodeCanceled Code = "canceled"
	// CodeInternal reports any other error. A retry may succeed.
	CodeInternal Code = "internal"
)

// Stage is the part of the work that failed.
type Stage string

// The stages.
const (
	StageInputs  Stage = "inputs"  // reading the parts
	StageSound   Stage = "sound"   // mixing and normalizing
	StagePicture Stage = "picture" // drawing and encoding
	StageJoin    Stage = "join"    // joining scenes and sound
)

// Error is the error of a failed composition.
type Error struct {
	Code  Code
	Stage Stage
	// About names the part of the description, as a JSON pointer such as /scenes/2/clip. It is empty if the error
	// concerns none of them.
	About string
	// Message describes the problem and its solution, for callers.
	Message string
	Err     error
}

// Error implements error.
func (e *Error) Error() string {
	s := fmt.Sprintf("compose: %s: %s: %s", e.Stage, e.Code, e.Message)
	if e.About != "" {
		s = fmt.Sprintf("compose: %s: %s of %s: %s", e.Stage, e.Code, e.About, e.Message)
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause, for errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.Err }

func internal(stage Stage, err error) *Error {
	return &Error{Code: CodeInternal, Stage: stage, Message: "The media could not be composed. Try again.", Err: err}
}

func invalid(about, format string, args ...any) *Error {
	return &Error{Code: CodeInvalid, Stage: StageInputs, About: about, Message: fmt.Sprintf(format, args...)}
}

func unreadable(stage Stage, about string, err error) *Error {
	return &Error{Code: CodeUnreadable, Stage: stage, About: about, Message: "The file is broken, or not of the type " +
		"that is needed here. Replace it.", Err: err}
}

// ofRun returns the error of a run of ffmpeg.
func ofRun(stage Stage, about string, err error) *Error {
	switch {
	case ffmpeg.IsKind(err, ffmpeg.Canceled):
		return &Error{Code: CodeCanceled, Stage: stage, Message: "The composition was canceled.", Err: err}
	case ffmpeg.IsKind(err, ffmpeg.Unreadable):
		return unreadable(stage, about, err)
	}
	e := internal(stage, err)
	e.About = about
	return e
}

// ofText returns the error of laying out a text.
func ofText(about string, err error) *Error {
	e := &Error{Stage: StagePicture, About: about, Err: err}
	switch {
	case errors.Is(err, text.ErrTooLong):
		e.Code, e.Message = CodeTextTooLong, "The text is too long for its place. Shorten it."
	case errors.Is(err, text.ErrScript):
		e.Code, e.Message = CodeScript, "There is no font for the script of the text. Write it in another script, or "+
			"turn it off."
	case errors.Is(err, text.ErrEmpty):
		e.Code, e.Message = CodeInvalid, "The text has no character that can be shown. Change it."
	default:
		return internal(StagePicture, err)
	}
	return e
}

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

// clipCodecs and soundCodecs are the permitted codecs of inputs: those of sound by the names of ffmpeg.
var (
	clipCodecs  = []media.Codec{media.H264, media.HEVC, media.AV1, media.VP9, media.MPEG4}
	soundCodecs = []string{"mp3", "mp3float", "pcm_u8", "pcm_s16le", "pcm_s24le", "pcm_s32le", "pcm_f32le"}
)

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
func open(path, about string, want media.Type) (input, error) {
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
	if in.exceeds(want) {
		return in, tooLarge(about)
	}
	if want == media.Video {
		in.Options, in.sound = upright, info.Movie.Sound.Codec != "" && info.Movie.Sound.Codec != "unknown"
		if codec := info.Movie.Picture.Codec; !slices.Contains(clipCodecs, codec) {
			return in, unreadable(StageInputs, about, errors.New("its codec is "+string(codec)))
		}
	}
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

// muxedFile is the file that mux writes.
const muxedFile = "final.mp4"

// mux joins an encoded picture with the sound. The index comes first, so that players can begin before they have the
// whole file. There is no edit list: Instagram refuses one.
func (r *run) mux(ctx context.Context, format, picture string) error {
	in := ffmpeg.Input{Path: r.path(picture), Format: format}
	if format == "concat" {
		in.Options = []string{"-safe", "0"}
	}
	_, err := r.ffmpeg(ctx, StageJoin, "", ffmpeg.Job{
		Inputs: []ffmpeg.Input{in, {Path: r.path(soundFile), Format: "aac"}},
		Output: []string{"-map", "0:v", "-map", "1:a", "-c", "copy", "-movflags", "+faststart+negative_cts_offsets",
			"-use_editlist", "0", "-map_metadata", "-1", "-f", "mp4", muxedFile},
	})
	return err
}

// poster delivers a frame of a video as a picture.
func (r *run) poster(ctx context.Context, video string, at time.Duration, width, height int) error {
	const name = "poster.jpg"
	_, err := r.ffmpeg(ctx, StageJoin, "", ffmpeg.Job{
		Inputs: []ffmpeg.Input{{Path: video, Format: "mov",
			Options: []string{"-ss", fmt.Sprintf("%.3f", at.Seconds())}}},
		Output: []string{"-map", "0:v", "-frames:v", "1", "-vf", toJPEG, "-q:v", "2", "-update", "1", "-f", "image2",
			name},
	})
	if err != nil {
		return err
	}
	return deliverPicture(r, "poster", media.Poster, image.Pt(width, height))
}

// Frame returns the first frame of a video as a JPEG, which is at most as wide as a thumbnail. A failure is an *Error.
func (e *Engine) Frame(ctx context.Context, video string) ([]byte, error) {
	path, err := filepath.Abs(video)
	if err != nil {
		return nil, internal(StageInputs, err)
	}
	info, err := probeFile(path)
	if err != nil {
		return nil, unreadable(StageInputs, "", err)
	}
	in := input{Input: ffmpeg.Input{Path: path, Format: "mov", Options: upright}, width: info.Width,
		height: info.Height, movie: info.Movie}
	width := min(in.width, media.ThumbnailWidth)
	height := max(in.height*width/max(in.width, 1), 2)
	var out bytes.Buffer
	_, err = e.tool.Run(ctx, ffmpeg.Job{Dir: e.scratch, Stdout: &out, Inputs: []ffmpeg.Input{in.Input},
		Filter: in.pictures(0) + in.inside(width, height) + "," + toJPEG + "[out]",
		Output: []string{"-map", "[out]", "-frames:v", "1", "-q:v", "4", "-f", "mjpeg", "pipe:1"}})
	if err != nil {
		return nil, ofRun(StageInputs, "", err)
	}
	return out.Bytes(), nil
}

// encoder returns the options that encode a picture in a form that all platforms accept: H.264 High, with a key frame
// every two seconds, and no frame that refers beyond it.
//
// The frames of a draft are hardly analyzed: those of its stills have one quality, as nothing in them moves that could
// exceed the rate.
func encoder(q Quality, still bool, rate int) []string {
	preset, quality := "veryfast", []string{"-crf", "21"}
	switch {
	case q == Draft && still:
		preset, quality = "ultrafast", []string{"-qp", "24"}
	case q == Draft:
		preset, quality = "ultrafast", []string{"-crf", "25"}
	}
	fps := q.fps()
	options := []string{
		"-r", fmt.Sprint(fps), "-c:v", "libx264", "-preset", preset, quality[0], quality[1], "-profile:v", "high",
		"-level:v", "4.1", "-pix_fmt", "yuv420p", "-maxrate", fmt.Sprint(rate), "-bufsize", fmt.Sprint(rate),
		"-g", fmt.Sprint(2 * fps), "-keyint_min", fmt.Sprint(2 * fps), "-sc_threshold", "0", "-flags", "+cgop",
		"-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709", "-color_range", "tv",
		"-video_track_timescale", "15360",
	}
	// The search for motion of the preset superfast takes a third less time than that of veryfast, and frames are as
	// near to their source.
	params := "me=dia:subme=1"
	if q == Draft {
		// 8x8dct is the minimum of the profile High. Several threads would wait for each other more than they encode.
		params = "8x8dct=1:psy=0:threads=1:lookahead-threads=1"
	}
	return append(options, "-x264-params", params)
}
