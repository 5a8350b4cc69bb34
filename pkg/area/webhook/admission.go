package webhook

import (
	"context"
	"errors"
	"time"

	"github.com/content-automation/api/pkg/store"
)

// Admission is the decision on an attempt.
type Admission struct {
	// Held is set if the circuit breaker holds the event back.
	Held bool
	// Until is the time to ask again if the receiver has too many slow attempts in flight; otherwise it is zero.
	Until time.Time
	// Probe is set if the attempt probes a receiver that is down.
	Probe bool
}

// Admit decides whether an attempt may be made now. While the receiver is down, one attempt at a time may be made, as
// its probe. An urgent attempt may always be made, as one more probe if the receiver is down.
func (r *Receiver) Admit(ctx context.Context, urgent bool) (Admission, error) {
	var err error
	for range maxConflicts {
		now := r.now()
		open := r.breaker.open(&r.record)
		switch {
		case urgent:
			return Admission{Probe: open}, nil
		case !open && !r.inFlight.full():
			return Admission{}, nil
		case !open:
			return Admission{Until: r.pause()}, nil
		case r.breaker.holds(&r.record, now):
			return Admission{Held: true}, nil
		}
		next := r.breaker.probed(now, r.chance())
		if now.Sub(*r.breaker.ProbeAt) > timerLost {
			next.Timer = "" // a new one is made
		}
		if err = r.saveBreaker(ctx, next); err == nil {
			return Admission{Probe: true}, nil
		}
		if !errors.Is(err, store.ErrConflict) {
			break
		}
	}
	return Admission{}, err
}
