package webhooktest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/content-automation/api/testdata/breadth"
)

// Fuse ends the process after a number of steps: from then on, nothing that it
// does has an effect, until the test starts a new one.
type Fuse struct {
	mu sync.Mutex
	// left are the steps to go while it is lit.
	left int
	lit  bool
	// after says that the last step has its effect and only its answer is lost.
	after bool
	dead  bool
	// deaths counts how often it went off.
	deaths int
	kill   context.CancelFunc
}

var errDead = errors.New("the process is dead")

// Step does one step of the process.
func (f *Fuse) Step(do func() error) error {
	f.mu.Lock()
	if f.dead {
		f.mu.Unlock()
		return errDead
	}
	if f.lit {
		if f.left == 0 {
			f.dead = true
			f.deaths++
			f.kill()
			after := f.after
			f.mu.Unlock()
			if after {
				_ = do() // its answer is lost
			}
			return errDead
		}
		f.left--
	}
	f.mu.Unlock()
	return do()
}

// Light makes the process die at the given step from now.
func (f *Fuse) Light(steps int, after bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lit, f.left, f.after = true, steps, after
}

// Douse ends the danger, and reports whether the process has died since it was lit.
func (f *Fuse) Douse() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	died := f.deaths > 0
	f.lit, f.deaths = false, 0
	return died
}

// Pause keeps the fuse from burning while the test itself does something.
func (f *Fuse) Pause(do func()) {
	f.mu.Lock()
	lit := f.lit
	f.lit = false
	f.mu.Unlock()
	do()
	f.mu.Lock()
	// A death has ended it.
	f.lit = lit && f.deaths == 0
	f.mu.Unlock()
}

// Process returns the context of a new process; blown reports whether it died.
func (f *Fuse) Process(ctx context.Context) (process context.Context, blown func() bool) {
	process, cancel := context.WithCancel(ctx)
	f.mu.Lock()
	f.kill = cancel
	f.mu.Unlock()
	return process, func() bool {
		cancel()
		f.mu.Lock()
		defer f.mu.Unlock()
		died := f.dead
		if died {
			f.dead, f.lit = false, false
		}
		return died
	}
}

// fusedHTTP is a client whose calls are steps of the process.
type fusedHTTP struct {
	client interface {
		Do(*http.Request) (*http.Response, error)
	}
	fuse *Fuse
}

// Do implements webhook.Caller.
func (c *fusedHTTP) Do(req *http.Request) (resp *http.Response, err error) {
	// The dead can send, and the effect of the last step must not be canceled.
	req = req.WithContext(context.WithoutCancel(req.Context()))
	failed := c.fuse.Step(func() error {
		resp, err = c.client.Do(req)
		return err
	})
	if failed != nil {
		if resp != nil {
			_ = resp.Body.Close()
		}
		return nil, failed
	}
	return resp, nil
}

// EachDeath runs a scenario again and again, with a death one step later each time, once
// before that step has its effect and once after it, until a run ends without one. The
// scenario must hold whatever dies. A sample takes every sixth step: others before their effects than after them.
func EachDeath(t *testing.T, w *World, scenario func(t *testing.T)) {
	t.Helper()
	stride := breadth.Of(6, 1)
	for first, after := range []bool{false, true} {
		for steps := first * (stride / 2); ; steps += stride {
			died := false
			t.Run(fmt.Sprintf("step %d after %v", steps, after), func(t *testing.T) {
				w.T = t
				w.Fuse.Light(steps, after)
				scenario(t)
				died = w.Fuse.Douse()
			})
			if t.Failed() {
				return
			}
			if !died {
				if steps < 8 {
					t.Errorf("the whole scenario has %d steps only", steps)
				}
				break
			}
		}
	}
}
