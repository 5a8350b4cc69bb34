package compose

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"image/color"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Eyevinn/mp4ff/mp4"

	"github.com/content-automation/api/infra/verify/harness/sample"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/ffmpeg"
)

// tools is where `make media-tools` installs.
var tools = filepath.Join("..", "..", "..", ".tools", "media")

// bench composes for a test.
type bench struct {
	*Engine
	t       *testing.T
	dir     string // of parts
	scratch string
	// fontsDir is the folder of the fonts.
	fontsDir string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	return benchOf(t, filepath.Join(tools, "fonts"))
}

// benchOf returns a bench that composes with the fonts of a folder.
func benchOf(t *testing.T, fonts string) *bench {
	t.Helper()
	scratch := t.TempDir()
	e, err := New(Settings{FFmpeg: filepath.Join(tools, "ffmpeg"), Fonts: fonts, Scratch: scratch, Threads: 2})
	if err != nil {
		t.Fatalf("%v (make media-tools installs what is missing)", err)
	}
	e.tool = studio{e.tool}
	return &bench{e, t, t.TempDir(), scratch, fonts}
}

// studio is ffmpeg that makes a sound or a bumper of the same inputs once for all tests.
type studio struct{ program }

// made are functions that return recordings, by the keys of their jobs.
var made sync.Map

type recording struct {
	report  ffmpeg.Report
	content []byte
}

// Run runs a job, or returns what the same job has made before.
func (s studio) Run(ctx context.Context, job ffmpeg.Job) (ffmpeg.Report, error) {
	key, ok := keyOf(job)
	if !ok {
		return s.program.Run(ctx, job)
	}
	to := filepath.Join(job.Dir, job.Output[len(job.Output)-1])
	measured := strings.HasSuffix(to, "-")
	first, _ := made.LoadOrStore(key, sync.OnceValues(func() (r recording, err error) {
		if r.report, err = s.program.Run(ctx, job); err == nil && !measured {
			r.content, err = os.ReadFile(to)
		}
		return r, err
	}))
	r, err := first.(func() (recording, error))()
	if err == nil && !measured {
		err = os.WriteFile(to, r.content, 0o600)
	}
	if err != nil {
		return s.program.Run(ctx, job) // the error is that of this job
	}
	return r.report, nil
}

// keyOf returns all that a recording depends on: the job, and the content of its inputs. It reports whether the job
// makes or measures a sound, or makes a bumper.
func keyOf(job ffmpeg.Job) (key [sha256.Size]byte, ok bool) {
	last := len(job.Output) - 1
	if last < 0 || strings.Contains(job.Filter, "ass=") || !strings.Contains(job.Filter, "ebur128") &&
		!slices.Contains([]string{soundFile, "intro.mp4", "outro.mp4"}, job.Output[last]) {
		return key, false
	}
	all := sha256.New()
	fmt.Fprintf(all, "%q %q", job.Filter, job.Output[:last])
	for _, in := range job.Inputs {
		content, err := os.ReadFile(in.Path)
		if err != nil {
			return key, false
		}
		fmt.Fprintf(all, "%q %q %d", in.Format, in.Options, len(content))
		all.Write(content)
	}
	return [sha256.Size]byte(all.Sum(nil)), true
}

// part writes a part, and returns its path.
func (b *bench) part(name string, content []byte) string {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		b.t.Fatal(err)
	}
	return path
}

// pictures are made once for all tests.
var pictures = sync.OnceValue(func() [3][]byte {
	return [3][]byte{sample.Picture(540, 960, 1), sample.Picture(960, 540, 2), sample.Picture(600, 600, 3)}
})

func (b *bench) picture(n int) string {
	return b.part(fmt.Sprintf("picture%d.jpg", n), pictures()[n])
}

func (b *bench) brand() *Brand {
	return &Brand{Name: "Acme", Logo: b.part("logo.png", sample.Logo(color.RGBA{255, 255, 255, 255}))}
}

// compose composes the work. Nothing of it may be left but its files.
func (b *bench) compose(w Work) Result {
	b.t.Helper()
	res, err := b.try(w)
	if err != nil {
		b.t.Fatal(err)
	}
	return res
}

func (b *bench) try(w Work) (Result, error) {
	b.t.Helper()
	out := b.t.TempDir()
	last := -1
	res, err := b.Compose(b.t.Context(), w, out, func(percent int) {
		if percent < last {
			b.t.Errorf("progress went from %d to %d", last, percent)
		}
		last = percent
	})
	if left, _ := os.ReadDir(b.scratch); len(left) > 0 {
		b.t.Errorf("%v is left in the folder for temporary files", left)
	}
	if files, _ := os.ReadDir(out); len(files) != len(res.Files) || err != nil && len(files) > 0 {
		b.t.Errorf("%d files were written, %d told, with the error %v", len(files), len(res.Files), err)
	}
	if err == nil && last != 100 {
		b.t.Errorf("progress ended at %d", last)
	}
	return res, err
}

// fails composes an invalid work, and returns the error.
func (b *bench) fails(w Work) *Error {
	b.t.Helper()
	_, err := b.try(w)
	var e *Error
	if !errors.As(err, &e) {
		b.t.Fatalf("the error is %v", err)
	}
	return e
}

// find returns the file of a role.
func (b *bench) find(res Result, role media.Role) File {
	b.t.Helper()
	for _, f := range res.Files {
		if f.Role == role {
			return f
		}
	}
	b.t.Fatalf("there is no %s in %+v", role, res.Files)
	return File{}
}

// ffmpeg runs ffmpeg beside the engine, and returns its output.
func (b *bench) ffmpeg(args ...string) string {
	b.t.Helper()
	cmd := exec.CommandContext(b.t.Context(), filepath.Join(tools, "ffmpeg"),
		append([]string{"-hide_banner", "-nostdin", "-nostats", "-y"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("ffmpeg %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// pixels decodes one frame of a file to RGB.
func (b *bench) pixels(path string, frame, width, height int) []byte {
	b.t.Helper()
	return b.framesOf(path, width, height, frame)[frame]
}

// framesOf returns frames of a file in RGB, by their numbers.
func (b *bench) framesOf(path string, width, height int, numbers ...int) map[int][]byte {
	b.t.Helper()
	numbers = slices.Compact(slices.Sorted(slices.Values(numbers)))
	var of []string
	for _, n := range numbers {
		of = append(of, fmt.Sprintf("eq(n\\,%d)", n))
	}
	to := filepath.Join(b.dir, "pixels.raw")
	b.ffmpeg("-i", path, "-vf", "select="+strings.Join(of, "+"), "-fps_mode", "passthrough", "-frames:v",
		fmt.Sprint(len(numbers)), "-f", "rawvideo", "-pix_fmt", "rgb24", to)
	raw, err := os.ReadFile(to)
	each := width * height * 3
	if err != nil || len(raw) != each*len(numbers) {
		b.t.Fatalf("the frames %v have %d bytes, %v", numbers, len(raw), err)
	}
	all := map[int][]byte{}
	for i, n := range numbers {
		all[n] = raw[i*each:][:each]
	}
	return all
}

// probed is the output of ffprobe.
type probed struct {
	Streams []struct {
		CodecType  string `json:"codec_type"`
		CodecName  string `json:"codec_name"`
		Profile    string
		PixFmt     string `json:"pix_fmt"`
		ColorSpace string `json:"color_space"`
		Aspect     string `json:"sample_aspect_ratio"`
		Width      int
		Height     int
		FrameRate  string `json:"avg_frame_rate"`
		SampleRate string `json:"sample_rate"`
		Channels   int
		Duration   string
		StartTime  string `json:"start_time"`
		BitRate    string `json:"bit_rate"`
		Frames     string `json:"nb_read_frames"`
	}
	Packets []struct {
		Stream int `json:"stream_index"`
		Pts    int64
		Flags  string
	}
}

// probe asks ffprobe, which decodes every frame.
func (b *bench) probe(path string) probed {
	b.t.Helper()
	cmd := exec.CommandContext(b.t.Context(), filepath.Join(tools, "ffprobe"), "-v", "error", "-err_detect", "explode",
		"-count_frames", "-show_streams", "-show_packets", "-of", "json", path)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil || said.Len() > 0 {
		b.t.Fatalf("ffprobe of %s: %v: %s", path, err, said.String())
	}
	var p probed
	if err := json.Unmarshal(out.Bytes(), &p); err != nil {
		b.t.Fatal(err)
	}
	return p
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	over, under, isRatio := strings.Cut(s, "/")
	v, err := strconv.ParseFloat(over, 64)
	if err != nil {
		t.Fatalf("%q is no number", s)
	}
	if isRatio {
		return v / number(t, under)
	}
	return v
}

// facts are the properties of a file that platforms limit.
type facts struct {
	Width, Height    int
	Bytes            int64
	Codec, Pixels    string // of the picture
	FPS              float64
	Length           time.Duration
	Rate             int64 // bits a second of the picture
	Audio            string
	Sample, Channels int
	Faststart        bool // the index precedes the content
	EditList         bool
	Loudness, Peak   float64 // LUFS, dBTP
}

// facts returns the properties of a file.
func (b *bench) facts(f File, p probed) facts {
	b.t.Helper()
	facts := facts{Bytes: f.Bytes}
	for _, s := range p.Streams {
		switch s.CodecType {
		case "video":
			facts.Width, facts.Height, facts.Codec, facts.Pixels = s.Width, s.Height, s.CodecName, s.PixFmt
			if f.Type == media.Video {
				facts.FPS, facts.Rate = number(b.t, s.FrameRate), int64(number(b.t, s.BitRate))
				facts.Length = time.Duration(number(b.t, s.Duration) * float64(time.Second))
			}
		case "audio":
			facts.Audio, facts.Sample, facts.Channels = s.CodecName, int(number(b.t, s.SampleRate)), s.Channels
		}
	}
	if f.Type == media.Video {
		facts.Faststart, facts.EditList = b.boxes(f.Path)
		facts.Loudness, facts.Peak = b.loudness(f.Path)
	}
	return facts
}

// boxes reports whether a movie begins with its description, and has an edit list.
func (b *bench) boxes(path string) (faststart, editList bool) {
	b.t.Helper()
	f, err := os.Open(path)
	if err != nil {
		b.t.Fatal(err)
	}
	defer f.Close()
	movie, err := mp4.DecodeFile(f)
	if err != nil {
		b.t.Fatal(err)
	}
	var order []string
	for _, box := range movie.Children {
		order = append(order, box.Type())
	}
	for _, track := range movie.Moov.Traks {
		editList = editList || track.Edts != nil
	}
	all := strings.Join(order, " ")
	return strings.Index(all, "moov") < strings.Index(all, "mdat"), editList
}

// loudness measures by another filter than the engine.
func (b *bench) loudness(path string) (integrated, peak float64) {
	b.t.Helper()
	out := b.ffmpeg("-i", path, "-vn", "-af", "loudnorm=print_format=json", "-f", "null", "-")
	var found struct {
		I  string `json:"input_i"`
		TP string `json:"input_tp"`
	}
	if err := json.Unmarshal([]byte(out[strings.LastIndex(out, "{"):strings.LastIndex(out, "}")+1]),
		&found); err != nil {
		b.t.Fatalf("%v in %s", err, out)
	}
	return number(b.t, strings.Replace(found.I, "-inf", "-200", 1)),
		number(b.t, strings.Replace(found.TP, "-inf", "-200", 1))
}

// clip makes a clip of moving colors, with a tone where it has sound.
func (b *bench) clip(length time.Duration, width, height int, sound bool) string {
	b.t.Helper()
	to := filepath.Join(b.dir, fmt.Sprintf("clip%dx%d-%v.mp4", width, height, length))
	args := []string{"-f", "lavfi", "-i", fmt.Sprintf("testsrc2=s=%dx%d:r=24:d=%.3f", width, height, length.Seconds())}
	if sound {
		args = append(args, "-f", "lavfi", "-i", fmt.Sprintf("sine=f=440:d=%.3f", length.Seconds()))
	}
	b.ffmpeg(append(args, "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-movflags",
		"+faststart", to)...)
	return to
}
