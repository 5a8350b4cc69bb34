// Command growth measures what a local system costs as its data grow: it makes posts through the API, up to each of
// some sizes, and prints the time of calls, the memory, the journal and the restart at each. Before that, it measures a
// burst of deliveries. The figures depend on the machine: compare two programs on one machine.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	if dir := os.Getenv(serving); dir != "" {
		err = serve(ctx, dir)
	} else {
		err = run(ctx, os.Args[1:], os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("growth", flag.ContinueOnError)
	list := flags.String("sizes", "1000,10000,50000", "numbers of posts")
	events := flags.Int("events", 2000, "deliveries of a burst, which is measured first, or 0")
	if err := flags.Parse(args); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "growth-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	p, err := start(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { p.stop() }()
	if *events > 0 {
		text, err := burst(ctx, p, *events)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, text+"\n")
	}
	if *list == "" {
		return nil
	}
	fmt.Fprintln(out, "| Posts | Created a second | First page, ms | Last page, ms | Walk, s | Calendar, ms | "+
		"Pending, ms | None, ms | Memory, MB | Journal, MB | Restart, s | Memory then, MB |\n|"+
		strings.Repeat("---|", 12))
	made := 0
	for _, text := range strings.Split(*list, ",") {
		size, err := strconv.Atoi(text)
		if err != nil || size <= made {
			return fmt.Errorf("the sizes must be numbers that rise: %q", text)
		}
		r := row{posts: size}
		if r.rate, err = create(ctx, p.system, made, size); err != nil {
			return err
		}
		made = size
		if err := r.read(ctx, p.system); err != nil {
			return err
		}
		pause(ctx, calm)
		if r.memory, err = p.memory(); err != nil {
			return err
		}
		p.stop()
		if r.journal, err = megabytes(filepath.Join(dir, "journal.db")); err != nil {
			return err
		}
		began := time.Now()
		if p, err = start(ctx, dir); err != nil {
			return err
		}
		r.restart = time.Since(began)
		pause(ctx, calm)
		if r.afterwards, err = p.memory(); err != nil {
			return err
		}
		fmt.Fprintln(out, r)
	}
	return nil
}

// row is the measurement of a size.
type row struct {
	posts             int
	rate              float64 // of creation, a second
	first, last, walk time.Duration
	// The fastest of some calls of the calendar: of all, of one state, and of a state that nothing has.
	calendar, pending, none     time.Duration
	memory, journal, afterwards int // MB
	restart                     time.Duration
}

func (r row) String() string {
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	return fmt.Sprintf("| %d | %.0f | %.1f | %.1f | %.2f | %.1f | %.1f | %.1f | %d | %d | %.2f | %d |", r.posts, r.rate,
		ms(r.first), ms(r.last), r.walk.Seconds(), ms(r.calendar), ms(r.pending), ms(r.none), r.memory, r.journal,
		r.restart.Seconds(), r.afterwards)
}

// program is a service in a process of its own.
type program struct {
	cmd    *exec.Cmd
	system system
}

// start starts a service with the data in a folder, and waits until it answers.
func start(ctx context.Context, dir string) (*program, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &program{cmd: exec.Command(self)}
	p.cmd.Env, p.cmd.Stderr = append(os.Environ(), serving+"="+dir), os.Stderr
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err == nil {
		p.system.base, p.system.key, _ = strings.Cut(strings.TrimSpace(line), " ")
		_, err = p.system.call(ctx, "GET", "/v1/me", nil)
	}
	if err != nil {
		p.stop()
		return nil, fmt.Errorf("the service does not start: %w", err)
	}
	return p, nil
}

// stop ends the service, and waits for its end.
func (p *program) stop() {
	if p == nil || p.cmd.ProcessState != nil {
		return
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	_ = p.cmd.Wait()
}

// memory returns the memory of the process in MB: its share of all pages.
func (p *program) memory() (int, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", p.cmd.Process.Pid))
	if errors.Is(err, os.ErrNotExist) {
		return 0, errors.New("only Linux tells the memory of a process")
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "Pss:" {
			kilobytes, err := strconv.Atoi(fields[1])
			return kilobytes >> 10, err
		}
	}
	return 0, err
}

func megabytes(file string) (int, error) {
	info, err := os.Stat(file)
	if err != nil {
		return 0, err
	}
	return int(info.Size() >> 20), nil
}
