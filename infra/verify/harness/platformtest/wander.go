package platformtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
)

// wanderSteps bounds how many steps of a publication meet trouble.
const wanderSteps = 60

// Wander publishes a post while any step may meet any trouble repeatedly. It connects the account
// again and retries a publication that has failed. The seed determines all decisions. Wander
// returns how the publication ended, and an error if a post exists twice.
func (s Suite) Wander(ctx context.Context, seed uint64) (string, error) {
	random := rand.New(rand.NewPCG(seed, 1))
	post := s.Posts[random.IntN(len(s.Posts))]
	w, err := s.walked(ctx, post.Post)
	if err != nil {
		return "", fmt.Errorf("%s: %w", post.Name, err)
	}
	f := s.New()
	defer f.Close()
	d := newDriver(f, post.Post)
	troubles := Troubles()
	var met []string
	for n := 0; n < wanderSteps && !d.progress.Done(); n++ {
		if d.failure != nil {
			if random.IntN(4) == 0 {
				break
			}
			met = append(met, "tried again")
			d.failure, d.progress = nil, d.progress.Retry()
			s.reconnect(ctx, d)
		}
		t := troubles[random.IntN(len(troubles))]
		switch {
		case random.IntN(2) == 0:
			err = d.commit(ctx, d.work(ctx, nothing))
		case slices.Contains(Faults(), Fault(t)):
			met = append(met, string(t))
			d.Fake.Fail(d.Fake.Calls()+1+random.IntN(2), Fault(t))
			err = d.impatient(ctx)
		default:
			met = append(met, string(t))
			err = d.suffer(ctx, t)
		}
		if err != nil {
			return "", fmt.Errorf("%s after %q: %w", post.Name, met, err)
		}
	}
	if err := d.run(ctx); err != nil {
		return "", fmt.Errorf("%s after %q: %w", post.Name, met, err)
	}
	result, err := d.result(w.posts)
	if err != nil {
		return "", fmt.Errorf("%s after %q: %w", post.Name, met, err)
	}
	return result, nil
}

// reconnect connects the account again. If that fails, the account does not change.
func (s Suite) reconnect(ctx context.Context, d *driver) {
	grant, err := s.Grant(d.Fixture)
	if err != nil {
		return
	}
	if accounts, err := d.Adapter.Connect(ctx, grant); err == nil && len(accounts) > 0 {
		d.account = accounts[0]
	}
}
