package system

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// process is a child in its own process group. Signals of the terminal to the foreground do not
// reach it, and ending the group ends all its descendants.
type process struct {
	cmd  *exec.Cmd
	log  *os.File
	done chan struct{}
	err  error
	stop sync.Once
}

// start runs a command with only the given environment. Both its outputs go to the log file.
func start(dir, logFile string, env []string, name string, args ...string) (*process, error) {
	log, err := os.Create(logFile)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, env, log, log
	cmd.SysProcAttr = ownGroup()
	if err := cmd.Start(); err != nil {
		_ = log.Close()
		return nil, err
	}
	p := &process{cmd: cmd, log: log, done: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		_ = log.Close()
		close(p.done)
	}()
	return p, nil
}

// run starts a command and waits for its end. It ends the command if the context ends.
func run(ctx context.Context, dir, logFile string, env []string, name string, args ...string) error {
	p, err := start(dir, logFile, env, name, args...)
	if err != nil {
		return err
	}
	select {
	case <-p.done:
		p.end(0)
		return p.err
	case <-ctx.Done():
		p.end(grace)
		return ctx.Err()
	}
}

// grace is the time that a process gets to end by itself.
const grace = 5 * time.Second

// end asks the group to end, and kills it after the given time.
func (p *process) end(within time.Duration) {
	p.stop.Do(func() {
		group := -p.cmd.Process.Pid
		if within > 0 {
			_ = syscall.Kill(group, syscall.SIGTERM)
			select {
			case <-p.done:
			case <-time.After(within):
			}
		}
		// The leader may have ended before the others.
		if err := syscall.Kill(group, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			_ = p.cmd.Process.Kill()
		}
		<-p.done
	})
}

// errEnded is returned when a process ends before it answers.
var errEnded = errors.New("it ended")

// direct sends requests to this machine, without the proxy of the environment.
var direct = &http.Client{Transport: &http.Transport{}, Timeout: 5 * time.Second}

// await waits until the process answers at an address, but no longer than within.
func (p *process) await(ctx context.Context, address string, within time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("it did not answer within %v", within))
	defer cancel()
	tick := time.NewTicker(30 * time.Millisecond)
	defer tick.Stop()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return err
		}
		if res, err := direct.Do(req); err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-p.done:
			return errEnded
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// lock takes an exclusive lock on a file until it is released or this process ends. Test
// packages run at the same time, and share the tools and the builds.
func lock(ctx context.Context, path string) (release func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = file.Close() }, nil
		}
		select {
		case <-ctx.Done():
			_ = file.Close()
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}
