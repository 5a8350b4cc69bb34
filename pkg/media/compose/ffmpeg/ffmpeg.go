// Package ffmpeg runs ffmpeg as a separate program: without a shell, with a list of arguments, and without any access
// to the network. It bounds the output that it keeps, measures the usage of a run, and classifies failures. Start with
// Tool.Run.
package ffmpeg

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Tool is an installed ffmpeg.
type Tool struct {
	// Path is the path of the program.
	Path string
	// Threads bounds the threads of each decoder, filter and encoder.
	Threads int
	// Nice is the niceness of the processes, from 0 to 19: a higher one is a lower priority. 0 leaves that of this
	// process.
	Nice int
}

// Input is a file to read.
type Input struct {
	Path string
	// Format is the name of the demuxer. ffmpeg must not guess it, because it would take a playlist for a movie.
	Format string
	// Options precede the input, such as "-loop", "1".
	Options []string
	// Feed writes the input in place of a file. Its writer fails when ffmpeg needs no more.
	Feed func(io.Writer) error
}

// Job is one run.
type Job struct {
	// Dir is the working directory. Names in Filter and Output are relative to it.
	Dir    string
	Inputs []Input
	// Filter is a filter graph. It may be empty.
	Filter string
	// Output has the options and the path of the output. If it is empty, nothing is written.
	Output []string
	// Stdout receives the output of "pipe:1". Nil discards it.
	Stdout io.Writer
	// Progress, if it is set, receives the number of completed frames.
	Progress func(frames int)
}

// Usage is the resources that runs have used.
type Usage struct {
	CPU time.Duration
	// Peak is the most resident memory of one run, in bytes.
	Peak int64
	Runs int
}

// Add adds the usage of another run.
func (u *Usage) Add(o Usage) {
	u.CPU += o.CPU
	u.Peak = max(u.Peak, o.Peak)
	u.Runs += o.Runs
}

// Report is the result of a run.
type Report struct {
	// Log is the end of ffmpeg's output.
	Log    string
	Frames int
	// Time is the length of the output.
	Time  time.Duration
	Usage Usage
}

// Kind is the kind of a failure.
type Kind string

// The kinds of failures.
const (
	// Unreadable reports an input that is broken, or of another format than the given one.
	Unreadable Kind = "unreadable"
	// Canceled reports that the context has ended.
	Canceled Kind = "canceled"
	// Internal reports any other failure, such as a full disk.
	Internal Kind = "internal"
)

// Error is a failed run.
type Error struct {
	Kind Kind
	// Log is the end of ffmpeg's output.
	Log string
	Err error
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("ffmpeg: %s: %v: %s", e.Kind, e.Err, lastLines(e.Log, 3))
}

// Unwrap returns the cause, for errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.Err }

const (
	// maxLog bounds the part of the log that is kept. Its end has the reason of a failure, and the summaries of
	// measuring filters.
	maxLog = 64 << 10
	// grace is the time for which a canceled run may close its files.
	grace = 2 * time.Second
)

// Run runs the job to its end. If the context ends first, it kills the process and its children. Errors are of type
// *Error.
func (t Tool) Run(ctx context.Context, job Job) (Report, error) {
	if err := ctx.Err(); err != nil {
		return Report{}, &Error{Kind: Canceled, Err: err}
	}
	pipes, err := open(job)
	defer pipes.close()
	if err != nil {
		return Report{}, &Error{Kind: Internal, Err: err}
	}
	log := &tail{max: maxLog}
	cmd := exec.CommandContext(ctx, t.Path, t.args(job)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = job.Dir, job.Stdout, log, pipes.theirs
	// Otherwise libass would look for fonts of the machine.
	cmd.Env = []string{"FONTCONFIG_FILE=" + os.DevNull, "HOME=" + job.Dir, "TMPDIR=" + job.Dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); !errors.Is(err, syscall.ESRCH) {
			return err
		}
		return os.ErrProcessDone
	}
	cmd.WaitDelay = grace
	if err := cmd.Start(); err != nil {
		return Report{}, &Error{Kind: Internal, Err: err}
	}
	if err := t.yield(cmd.Process.Pid); err != nil {
		_ = cmd.Cancel()
		_ = cmd.Wait()
		return Report{}, &Error{Kind: Internal, Err: err}
	}
	pipes.started(job)
	var report Report
	report.progress(pipes.ours[0], job.Progress)
	err = cmd.Wait()
	pipes.close() // ends a feed that still writes
	pipes.feeds.Wait()
	report.Log, report.Usage = log.String(), usage(cmd.ProcessState)
	switch {
	case ctx.Err() != nil:
		return report, &Error{Kind: Canceled, Log: report.Log, Err: context.Cause(ctx)}
	case err != nil:
		return report, &Error{Kind: kindOf(report.Log), Log: report.Log, Err: err}
	}
	return report, nil
}

// yield lowers the priority of a process group: of the threads that its process has by now, which those started later
// inherit.
func (t Tool) yield(group int) error {
	if t.Nice == 0 {
		return nil
	}
	err := syscall.Setpriority(syscall.PRIO_PGRP, group, t.Nice)
	if errors.Is(err, syscall.ESRCH) || errors.Is(err, syscall.EACCES) {
		return nil // it has ended, or its priority is lower already
	}
	return err
}

// args returns the arguments of a run.
func (t Tool) args(job Job) []string {
	threads := strconv.Itoa(max(t.Threads, 1))
	args := []string{
		"-hide_banner", "-nostdin", "-nostats", "-y", "-loglevel", "level+info",
		"-filter_threads", threads, "-filter_complex_threads", threads, "-progress", "pipe:" + strconv.Itoa(firstPipe),
	}
	next := firstPipe + 1
	for _, in := range job.Inputs {
		args = append(args, "-protocol_whitelist", "file,pipe", "-threads", threads)
		args = append(args, in.Options...)
		if in.Feed != nil {
			args = append(args, "-f", in.Format, "-i", "pipe:"+strconv.Itoa(next))
			next++
			continue
		}
		args = append(args, "-f", in.Format, "-i", "file:"+in.Path)
	}
	if job.Filter != "" {
		args = append(args, "-filter_complex", job.Filter)
	}
	if len(job.Output) == 0 {
		return append(args, "-f", "null", "-")
	}
	last := len(job.Output) - 1
	args = append(append(args, job.Output[:last]...), "-threads", threads)
	if out := job.Output[last]; strings.HasPrefix(out, "pipe:") {
		return append(args, out)
	}
	return append(args, "file:"+job.Output[last])
}

// unreadable are ffmpeg's messages for inputs that it cannot read.
var unreadable = []string{
	"Invalid data found when processing input", "moov atom not found", "Error opening input",
	"could not find codec parameters",
	"Could not find codec parameters", "does not contain any stream", "matches no streams", "Decoder not found",
	"Cannot determine format of input",
	"No such filter input", "Error while decoding", "no decoder", "not on whitelist",
}

func kindOf(log string) Kind {
	for _, s := range unreadable {
		if strings.Contains(log, s) {
			return Unreadable
		}
	}
	return Internal
}

// usage returns the usage of an ended process.
func usage(state *os.ProcessState) Usage {
	if state == nil {
		return Usage{}
	}
	u := Usage{CPU: state.UserTime() + state.SystemTime(), Runs: 1}
	if r, ok := state.SysUsage().(*syscall.Rusage); ok {
		u.Peak = r.Maxrss << 10 // Linux counts in KiB
	}
	return u
}

// IsKind reports whether the error is a failed run of the kind.
func IsKind(err error, kind Kind) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == kind
}

// LinkAll makes symbolic links to files in a folder, which it creates, such as a folder of fonts for one run.
func LinkAll(dir string, files []string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, f := range files {
		abs, err := filepath.Abs(f)
		if err != nil {
			return err
		}
		if err := os.Symlink(abs, filepath.Join(dir, filepath.Base(f))); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	return nil
}

var audioStream = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`Stream #0:\d+[^:]*: Audio: (\w+)`)
})

// SoundOf reads the codec of the sound of the first input from a log. It is empty if there is none.
func SoundOf(log string) string {
	log, _, _ = strings.Cut(log, "Output #0")
	if m := audioStream().FindStringSubmatch(log); m != nil {
		return m[1]
	}
	return ""
}

// Loudness is the result of the measuring filter ebur128 (EBU R 128).
type Loudness struct {
	// Integrated is in LUFS. Silence has Silent or less.
	Integrated float64
	// Peak is the true peak, in dBTP. It is not a number if it was not measured.
	Peak float64
}

// Silent is the loudness of silence, in LUFS.
const Silent = -69.9

var (
	integrated = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`I:\s+(-?[\d.]+|-?inf|nan) LUFS`)
	})
	truePeak = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(
			`Peak:\s+(-?[\d.]+|-?inf|nan) dBFS`)
	})
)

// LoudnessOf reads the summary of ebur128 from a log, and reports whether there is one.
func LoudnessOf(log string) (Loudness, bool) {
	at := strings.LastIndex(log, "Summary:")
	if at < 0 {
		return Loudness{}, false
	}
	i, p := integrated().FindStringSubmatch(log[at:]), truePeak().FindStringSubmatch(log[at:])
	if i == nil {
		return Loudness{}, false
	}
	l := Loudness{Integrated: decibels(i[1]), Peak: math.NaN()}
	if p != nil {
		l.Peak = decibels(p[1])
	}
	return l, true
}

func decibels(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || v != v || v < -200 {
		return -200
	}
	return v
}

// lines yields the lines of a text.
func lines(r io.Reader) iter.Seq[string] {
	return func(yield func(string) bool) {
		for s := bufio.NewScanner(r); s.Scan(); {
			if !yield(s.Text()) {
				return
			}
		}
	}
}

// firstPipe is the number of the first file that a process inherits, its progress. It is followed by the feeds of the
// inputs.
const firstPipe = 3

// pipes connect this process with ffmpeg.
type pipes struct {
	ours, theirs []*os.File
	feeds        sync.WaitGroup
}

func open(job Job) (*pipes, error) {
	p := &pipes{}
	read, write, err := os.Pipe()
	if err != nil {
		return p, err
	}
	p.ours, p.theirs = append(p.ours, read), append(p.theirs, write)
	for _, in := range job.Inputs {
		if in.Feed == nil {
			continue
		}
		read, write, err := os.Pipe()
		if err != nil {
			return p, err
		}
		p.ours, p.theirs = append(p.ours, write), append(p.theirs, read)
		widen(write)
	}
	return p, nil
}

// widen enlarges a pipe beyond its usual 64 KiB, so that a frame passes in a few steps. If it fails, a feed is only
// slower.
func widen(pipe *os.File) {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return
	}
	const setPipeSize = 1031 // F_SETPIPE_SZ of Linux
	_ = raw.Control(func(fd uintptr) { _, _, _ = syscall.Syscall(syscall.SYS_FCNTL, fd, setPipeSize, 1<<20) })
}

// started closes the ends of the process, which has its own copies by now, and begins to feed.
func (p *pipes) started(job Job) {
	for _, f := range p.theirs {
		f.Close()
	}
	next := 1
	for _, in := range job.Inputs {
		if in.Feed == nil {
			continue
		}
		to := p.ours[next]
		next++
		p.feeds.Go(func() {
			// An error means that ffmpeg needs no more, or has ended. Its own error has the reason.
			_ = in.Feed(to)
			to.Close()
		})
	}
}

// close closes all ends. It may be called again.
func (p *pipes) close() {
	for _, f := range append(p.ours, p.theirs...) {
		f.Close()
	}
}

// progress reads the reports of progress until the run ends.
func (r *Report) progress(from io.Reader, tell func(int)) {
	for line := range lines(from) {
		key, value, _ := strings.Cut(line, "=")
		n, err := strconv.Atoi(strings.TrimSpace(value))
		if err != nil {
			continue
		}
		switch key {
		case "frame":
			r.Frames = n
			if tell != nil {
				tell(n)
			}
		case "out_time_us":
			r.Time = time.Duration(n) * time.Microsecond
		}
	}
}

// tail keeps the end of its input.
type tail struct {
	max  int
	mu   sync.Mutex
	kept []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - t.max; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(t.kept), "")
}

func lastLines(s string, n int) string {
	all := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(all[max(0, len(all)-n):], " | ")
}
