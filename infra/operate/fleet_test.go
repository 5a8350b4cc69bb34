// Package operate_test has the tests of the packages below that name none of their internals.
package operate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/infra/operate/fleet"
)

// fleetAccounts are the stacks of customers, with a clock.
type fleetAccounts struct {
	mu     sync.Mutex
	states map[string]fleet.State
	order  []string
	// during counts the running deployments, and most is the highest count.
	during, most int
	// deployed is called for each deployment. It may fail it.
	deployed func(ctx context.Context, name string) error
	// looked is called before each read of the state of a stack.
	looked func(name string)
	unread map[string]error
}

func (a *fleetAccounts) State(_ context.Context, of customer.Settings) (fleet.State, error) {
	if a.looked != nil {
		a.looked(of.Customer)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.states[of.Customer], a.unread[of.Customer]
}

func (a *fleetAccounts) Deploy(ctx context.Context, of customer.Settings, version string) error {
	a.mu.Lock()
	a.order = append(a.order, of.Customer)
	a.during++
	a.most = max(a.most, a.during)
	a.mu.Unlock()
	_ = wait(context.WithoutCancel(ctx), 10*time.Minute) // on the clock of the test
	defer func() { a.mu.Lock(); a.during--; a.mu.Unlock() }()
	if a.deployed != nil {
		if err := a.deployed(ctx, of.Customer); err != nil {
			return err
		}
	}
	_ = wait(context.WithoutCancel(ctx), 10*time.Minute)
	a.set(of.Customer, fleet.State{Version: version, Since: time.Now(), Whole: true})
	return nil
}

func (a *fleetAccounts) set(name string, s fleet.State) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.states == nil {
		a.states = map[string]fleet.State{}
	}
	a.states[name] = s
}

// burn raises the alarm of a stack.
func (a *fleetAccounts) burn(name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.states[name]
	s.Burned = []string{"FastBurn"}
	a.states[name] = s
}

// three are three waves of 1, 2 and 4 customers.
func three() (waves []customer.Wave) {
	n := 0
	for i, size := range []int{1, 2, 4} {
		w := customer.Wave{Name: fmt.Sprint("wave", i), Soak: []time.Duration{2 * time.Hour, 30 * time.Minute, 0}[i]}
		for range size {
			w.Cells = append(w.Cells, customer.Settings{Customer: fmt.Sprint("c", n), Stage: "prod",
				Region: "eu-central-1", Account: "111122223333"})
			n++
		}
		waves = append(waves, w)
	}
	return waves
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

func runOf(a *fleetAccounts) (*fleet.Run, *strings.Builder) {
	var out strings.Builder
	return &fleet.Run{Cloud: a, Waves: three(), Version: "v2", Now: time.Now, Wait: wait, Out: &out}, &out
}

func TestWavesGoInTheirOrderAndAreWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &fleetAccounts{}
		r, out := runOf(a)
		began := time.Now()
		if err := r.Deploy(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(a.order[:1], " "); got != "c0" || len(a.order) != 7 || a.most != 1 {
			t.Errorf("deployed %v, %d at a time", a.order, a.most)
		}
		// 20 minutes and two hours; twice 20, and 30; four times 20.
		if took := time.Since(began); took != 140*time.Minute+70*time.Minute+80*time.Minute {
			t.Errorf("it took %v", took)
		}
		if n := strings.Count(out.String(), "deployed\n"); n != 7 ||
			!strings.Contains(out.String(), "wave1       c2-prod-eu-central-1") {
			t.Errorf("%s", out)
		}
	})
}

func TestTheFirstBurnedBudgetStopsAll(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(a *fleetAccounts)
		says    string
		// want are the expected deployments.
		want string
	}{
		"while the canary is watched": {func(a *fleetAccounts) {
			at := time.Now().Add(90 * time.Minute)
			a.looked = func(string) {
				if time.Now().After(at) {
					a.burn("c0")
				}
			}
		}, "c0-prod-eu-central-1: an alarm that stops the wave is raised: FastBurn", "c0"},
		"of an earlier wave, while a later one is watched": {func(a *fleetAccounts) {
			at := time.Now().Add(185 * time.Minute)
			a.looked = func(string) {
				if time.Now().After(at) {
					a.burn("c0")
				}
			}
		}, "c0-prod", "c0 c1 c2"},
		"by the deployment itself": {func(a *fleetAccounts) {
			a.looked = func(name string) {
				if a.states[name].Version == "v2" && name == "c0" {
					a.burn(name)
				}
			}
		}, "c0-prod", "c0"},
		"before the deployment": {func(a *fleetAccounts) {
			a.set("c0",
				fleet.State{Version: "v1", Whole: true, Burned: []string{"SlowBurn"}})
		}, "SlowBurn", ""},
		"a deployment fails": {func(a *fleetAccounts) {
			a.deployed = func(_ context.Context, name string) error {
				if name == "c3" {
					return errors.New("UPDATE_ROLLBACK_COMPLETE")
				}
				return nil
			}
		}, "c3-prod-eu-central-1: UPDATE_ROLLBACK_COMPLETE", "c0 c1 c2 c3"},
		"alarms cannot be read": {func(a *fleetAccounts) { a.unread = map[string]error{"c1": errors.New("AccessDenied")} },
			"c1-prod-eu-central-1: AccessDenied", "c0"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := &fleetAccounts{states: map[string]fleet.State{}}
				c.prepare(a)
				r, _ := runOf(a)
				err := r.Deploy(t.Context())
				if !errors.Is(err, fleet.ErrStopped) || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%v", err)
				}
				deployed := map[string]bool{}
				for _, name := range a.order {
					deployed[name] = true
				}
				for _, name := range strings.Fields(c.want) {
					if !deployed[name] {
						t.Errorf("%s was not deployed", name)
					}
					delete(deployed, name)
				}
				if len(deployed) > 0 {
					t.Errorf("deployed were also %v", deployed)
				}
			})
		})
	}
}

// The next run skips stacks with the version, and watches only for the rest of the time.
func TestARunGoesOnWhereItWas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &fleetAccounts{}
		r, _ := runOf(a)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Minute) // The canary was watched.
		defer cancel()
		if err := r.Deploy(ctx); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, fleet.ErrStopped) ||
			!strings.Contains(err.Error(), "run the same command again") {
			t.Fatalf("interrupted: %v", err)
		}
		// A stack whose deployment failed has the version, but is not whole.
		a.set("c2", fleet.State{Version: "v2"})
		a.order = nil
		began := time.Now()
		r, out := runOf(a)
		if err := r.Deploy(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 90*time.Minute+70*time.Minute+80*time.Minute {
			t.Errorf("it took %v", took)
		}
		if len(a.order) != 6 || !strings.Contains(out.String(), "skipped") {
			t.Errorf("deployed %v\n%s", a.order, out)
		}
		a.order = nil
		if err := r.Deploy(t.Context()); err != nil || a.order != nil {
			t.Errorf("a third run: %v, %v", a.order, err)
		}
	})
}

func TestAPlanChangesNothing(t *testing.T) {
	a := &fleetAccounts{states: map[string]fleet.State{"c0": {Version: "v2", Whole: true},
		"c1": {Version: "v1", Whole: true, Burned: []string{"FastBurn"}}}}
	r, out := runOf(a)
	if err := r.Plan(t.Context()); err != nil || len(a.order) > 0 {
		t.Fatalf("%v, %v", err, a.order)
	}
	for _, want := range []string{"wave0       c0-prod-eu-central-1", "skip\n", "v1                    burned        " +
		"        stop: FastBurn is raised\n", "-                     holds                 deploy\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("there is no %q in\n%s", want, out)
		}
	}
	a.unread = map[string]error{"c5": errors.New("AccessDenied")}
	if err := r.Plan(t.Context()); err == nil || !strings.Contains(err.Error(), "c5-prod-eu-central-1: AccessDenied") {
		t.Errorf("%v", err)
	}
}
