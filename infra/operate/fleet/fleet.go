// Package fleet deploys the stacks of many customers in waves. It watches each wave before it
// begins the next, and stops at the first stack whose budget of errors is burned. It reads the
// running versions from the stacks themselves, so that a repeated run continues an interrupted
// one.
package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/content-automation/api/infra/app/customer"
)

// State is the known state of the stacks of a customer in a region.
type State struct {
	// Version is the version that they run. It is empty if there is none, or if it is not
	// known.
	Version string
	// Since is the time from which the version had all calls.
	Since time.Time
	// Whole reports that the last deployment succeeded.
	Whole bool
	// Burned are the raised alarms that stop a wave: of the budget of errors, the probes and the background work.
	Burned []string
}

// Cloud reads and deploys the stacks in the accounts of the customers.
type Cloud interface {
	// State reads the running version. It returns an error if the alarms cannot be read: no
	// stack is deployed that could not be watched.
	State(ctx context.Context, of customer.Settings) (State, error)
	// Deploy deploys the version, and returns when it has all calls.
	Deploy(ctx context.Context, of customer.Settings, version string) error
}

// Run is one run through the waves.
type Run struct {
	Cloud   Cloud
	Waves   []customer.Wave
	Version string
	Now     func() time.Time
	// Wait waits, or returns the error of the context.
	Wait func(ctx context.Context, d time.Duration) error
	Out  io.Writer

	print error
}

// ErrStopped is returned when a budget of errors is burned, or a deployment has failed.
var ErrStopped = errors.New("the waves are stopped: no further stack is deployed")

// lookEvery is the time between two reads of the stacks while a wave is watched.
const lookEvery = time.Minute

// Plan prints the steps of Deploy, and changes nothing.
func (r *Run) Plan(ctx context.Context) error {
	r.row("Wave", "Stacks", "Account", "Runs", "Budget", "Then")
	var failed []error
	for _, w := range r.Waves {
		states, errs := r.states(ctx, w.Cells)
		for i, c := range w.Cells {
			s, then := states[i], "deploy"
			switch {
			case errs[i] != nil:
				then = "cannot be read: " + errs[i].Error()
				failed = append(failed, fmt.Errorf("%s: %w", c.Name(), errs[i]))
			case len(s.Burned) > 0:
				then = "stop: " + strings.Join(s.Burned, ", ") + " is raised"
			case r.done(s):
				then = "skip"
			}
			r.row(w.Name, c.Name(), c.Account, orNone(s.Version), budget(s), then)
		}
	}
	return errors.Join(append(failed, r.print)...)
}

// Deploy deploys all waves in their order.
func (r *Run) Deploy(ctx context.Context) error {
	var watched []customer.Settings
	r.row("Wave", "Stacks", "Account", "Was", "Now", "")
	for _, w := range r.Waves {
		newest, err := r.deployWave(ctx, w)
		watched = append(watched, w.Cells...)
		if err == nil {
			err = r.watch(ctx, w, watched, newest)
		}
		if err != nil {
			return errors.Join(err, r.print)
		}
	}
	return r.print
}

// deployWave deploys the stacks of a wave one after another, and returns the time at which the last of them was
// deployed. The first failure ends it.
func (r *Run) deployWave(ctx context.Context, w customer.Wave) (newest time.Time, err error) {
	for _, c := range w.Cells {
		at, err := r.deployCell(ctx, w, c)
		if ctx.Err() != nil {
			return newest, errors.Join(err, fmt.Errorf("interrupted in the wave %s; run the same command again: %w",
				w.Name, ctx.Err()))
		}
		if err != nil {
			return newest, errors.Join(ErrStopped, fmt.Errorf("%s: %w", c.Name(), err))
		}
		if at.After(newest) {
			newest = at
		}
	}
	return newest, nil
}

// deployCell deploys the stacks of a customer in a region, unless they run the version.
func (r *Run) deployCell(ctx context.Context, w customer.Wave, c customer.Settings) (time.Time, error) {
	before, err := r.Cloud.State(ctx, c)
	if err == nil {
		err = burned(before)
	}
	if err != nil {
		r.row(w.Name, c.Name(), c.Account, orNone(before.Version), orNone(before.Version), "not deployed")
		return time.Time{}, err
	}
	if r.done(before) {
		r.row(w.Name, c.Name(), c.Account, before.Version, before.Version, "skipped")
		return before.Since, nil
	}
	after := before
	if err = r.Cloud.Deploy(ctx, c, r.Version); err == nil {
		if after, err = r.Cloud.State(ctx, c); err == nil {
			err = burned(after)
		}
	}
	if err == nil && !r.done(after) {
		err = fmt.Errorf("after the deployment they run %s, not %s", orNone(after.Version), r.Version)
	}
	result := "deployed"
	if err != nil {
		result = "failed"
	}
	r.row(w.Name, c.Name(), c.Account, orNone(before.Version), orNone(after.Version), result)
	return r.Now(), err
}

// watch reads the states of all deployed stacks until the soak time of the wave has passed.
// After an interruption, it watches for the rest of that time.
func (r *Run) watch(ctx context.Context, w customer.Wave, cells []customer.Settings, since time.Time) error {
	until := since.Add(w.Soak)
	for {
		states, errs := r.states(ctx, cells)
		var failed []error
		for i, c := range cells {
			err := errs[i]
			if err == nil {
				err = burned(states[i])
			}
			if err != nil {
				failed = append(failed, fmt.Errorf("%s: %w", c.Name(), err))
			}
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("interrupted while the wave %s was watched; run the same command again: %w", w.Name, err)
		}
		if len(failed) > 0 {
			return errors.Join(append([]error{ErrStopped}, failed...)...)
		}
		left := until.Sub(r.Now())
		if left <= 0 {
			return nil
		}
		if err := r.Wait(ctx, min(left, lookEvery)); err != nil {
			return fmt.Errorf("interrupted while the wave %s was watched; run the same command again: %w", w.Name, err)
		}
	}
}

// states reads the states of stacks.
func (r *Run) states(ctx context.Context, cells []customer.Settings) ([]State, []error) {
	states, errs := make([]State, len(cells)), make([]error, len(cells))
	for i, c := range cells {
		states[i], errs[i] = r.Cloud.State(ctx, c)
	}
	return states, errs
}

// done reports whether stacks run the new version.
func (r *Run) done(s State) bool { return s.Whole && s.Version == r.Version }

func burned(s State) error {
	if len(s.Burned) == 0 {
		return nil
	}
	return fmt.Errorf("an alarm that stops the wave is raised: %s", strings.Join(s.Burned, ", "))
}

func budget(s State) string {
	if len(s.Burned) > 0 {
		return "burned"
	}
	return "holds"
}

func orNone(version string) string {
	if version == "" {
		return "-"
	}
	return version
}

// row prints a row of the table.
func (r *Run) row(columns ...any) {
	_, err := fmt.Fprintf(r.Out, "%-10s  %-36s  %-12s  %-20s  %-20s  %s\n", columns...)
	r.print = errors.Join(r.print, err)
}
