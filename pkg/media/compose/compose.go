// Package compose makes finished media of generated parts: videos with narration, burned-in captions and music, slides
// with headings, stories, pictures and music clips. A description (Video, Carousel, Picture, MusicClip) names the files
// and how to combine them. The engine makes the files that can be published.
//
// Of the packages below it, ffmpeg runs the program, text lays out text, canvas computes colors and contrast, timeline
// computes times, and fit has the limits of the platforms. Start with Engine.Compose.
package compose

import (
	"context"
	"fmt"
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
)

// Engine composes. It is safe for concurrent use.
type Engine struct {
	tool    ffmpeg.Tool
	fonts   *text.Fonts
	scratch string
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
	// Call is the call to action with which videos end. It may be empty.
	Call string
	// Theme is the manner of texts. The empty one is Calm.
	Theme Theme
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
	if theme := w.brand().theme(); !slices.Contains(Themes, theme) {
		return Result{}, invalid("/brand/theme", "The theme must be calm, bold or editorial.")
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
