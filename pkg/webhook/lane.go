package webhook

import (
	"context"
	"time"
)

// passOn sends the messages for slow receivers on to the deliverers that are for
// them, as they came, and gives the tasks of the others. A slow receiver keeps a call
// of the function for as long as it takes to answer: so it is a call of its own,
// whose instance no event of another receiver waits for. What is passed on twice is
// attempted once, as every message is.
func (d *Deliverer) passOn(ctx context.Context, messages []message, tasks []*task) (others []*task) {
	if d.slow == nil {
		return tasks // this is one of those deliverers
	}
	var slow []message
	var of [][]*task
	for _, t := range tasks {
		if t.err != nil || !t.hook.mayHang(d.now()) {
			others = append(others, t)
			continue
		}
		// All that a message asks for goes to one receiver.
		if last := len(of) - 1; last < 0 || of[last][0].place != t.place {
			slow, of = append(slow, messages[t.place]), append(of, nil)
		}
		of[len(of)-1] = append(of[len(of)-1], t)
	}
	for i, err := range sendTo(ctx, d.slow, d.now(), slow...) {
		for _, t := range of[i] {
			t.err = err
		}
	}
	return others
}

// mayHang tells whether an attempt at the receiver would be made now and may take
// long, as far as the functions have told each other: some have taken long and are under
// way still, or it does not answer at all and the next probe is due. What is only put
// off, because no more attempts may be made, is so at once. Queues and buses in AWS do
// not hang.
func (h *hook) mayHang(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.record.Destination != nil || h.record.State != stateEnabled:
		return false
	case h.outage.down(&h.record):
		return !now.Before(*h.outage.ProbeAt)
	default:
		return h.strain.isFelt() && !h.strain.isHigh()
	}
}
