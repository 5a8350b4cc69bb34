package webhook

import (
	"context"
	"errors"
	"net/http"
	"sync"
)

// fuse ends the process after a number of steps: from then on, nothing that it
// does has an effect, until the test starts a new one.
type fuse struct {
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

// step does one step of the process.
func (f *fuse) step(do func() error) error {
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
				_ = do() // whatever came of it, nobody hears of it
			}
			return errDead
		}
		f.left--
	}
	f.mu.Unlock()
	return do()
}

// light makes the process die at the given step from now.
func (f *fuse) light(steps int, after bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lit, f.left, f.after = true, steps, after
}

// douse ends the danger, and tells whether the process has died since it was lit.
func (f *fuse) douse() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	died := f.deaths > 0
	f.lit, f.deaths = false, 0
	return died
}

// pause keeps the fuse from burning while the test itself does something.
func (f *fuse) pause(do func()) {
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

// process gives the context of a new process; blown tells whether it died.
func (f *fuse) process(ctx context.Context) (process context.Context, blown func() bool) {
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
	fuse *fuse
}

func (c *fusedHTTP) Do(req *http.Request) (resp *http.Response, err error) {
	// The dead can send, and the effect of the last step must not be canceled.
	req = req.WithContext(context.WithoutCancel(req.Context()))
	failed := c.fuse.step(func() error {
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
