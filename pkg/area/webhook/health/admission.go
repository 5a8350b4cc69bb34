package health

import (
	"context"
	"errors"
	"time"

	"github.com/content-automation/api/pkg/store"
)

// shareWithin is the time within which attempts of a batch that are not admitted are put
// off to the same time, so that one message requests all of them.
const shareWithin = time.Second

// Admission is the decision on an attempt.
type Admission struct {
	// Until is the time to ask again. It is zero if the attempt may be made.
	Until time.Time
	// Held is set if the circuit breaker holds the event back until then; otherwise the
	// receiver has too many slow attempts in flight.
	Held bool
	// Probe is set if the attempt probes a receiver that is down.
	Probe bool
}

// sharedAdmission is an admission that attempts share, and when the first of them asked.
type sharedAdmission struct {
	at time.Time
	Admission
}

// Admit decides whether an attempt may be made now. While the receiver is down, one attempt
// at a time may be made, as its probe. An urgent attempt may always be made, as one more
// probe if the receiver is down.
func (r *Receiver) Admit(ctx context.Context, urgent bool) (Admission, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
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
			return r.postpone(now, false), nil
		case now.Before(*r.breaker.ProbeAt):
			return r.postpone(now, true), nil
		}
		if err = r.saveBreaker(ctx, r.breaker.probed(now, r.chance())); err == nil {
			return Admission{Probe: true}, nil
		}
		if !errors.Is(err, store.ErrConflict) {
			break
		}
	}
	return Admission{}, err
}

// postpone returns when to ask again. The caller holds r.mu.
func (r *Receiver) postpone(now time.Time, held bool) Admission {
	if r.postponed.Held != held || now.Sub(r.postponed.at) >= shareWithin {
		until := r.Pause()
		if held {
			until = r.hold(now)
		}
		r.postponed = sharedAdmission{now, Admission{Until: until, Held: held}}
	}
	return r.postponed.Admission
}
