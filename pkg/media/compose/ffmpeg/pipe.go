package ffmpeg

import (
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// firstPipe is the number of the first file that a process inherits, its progress. It is followed by the feeds of the
// inputs.
const firstPipe = 3

// pipes connect this process with ffmpeg.
type pipes struct {
	ours, theirs []*os.File
	feeds        sync.WaitGroup
}

// open makes the pipes of a job.
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
