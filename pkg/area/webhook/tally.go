package webhook

import (
	"sync"
	"time"
)

// maxTallied bounds the webhooks in a tally.
const maxTallied = 10_000

// tally counts the answers of each webhook since it was last written. They are not worth a write of their own: the next
// write of the webhook's health carries them, and some are lost when the function ends.
type tally struct {
	mu sync.Mutex
	of map[Ref]answers
}

// answers are the answers of one webhook.
type answers struct {
	since  time.Time
	sketch Sketch
}

// add counts an attempt that was answered.
func (t *tally) add(ref Ref, a Attempt, now time.Time) {
	if a.Status != nil {
		t.put(ref, answers{now, Sketch{Bucket(a.LatencyMS): 1}}, now)
	}
}

// put adds answers to those of a webhook. It drops answers older than an hour, since a write would count them as new.
func (t *tally) put(ref Ref, more answers, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil || len(t.of) >= maxTallied {
		t.of = map[Ref]answers{}
	}
	fresh := func(a answers) bool { return now.Sub(a.since) < time.Hour }
	had := t.of[ref]
	switch {
	case fresh(had):
		for n, count := range more.sketch {
			had.sketch[n] += count
		}
	case fresh(more):
		t.of[ref] = more
	}
}

// take returns the answers of a webhook and resets their count.
func (t *tally) take(ref Ref) answers {
	t.mu.Lock()
	defer t.mu.Unlock()
	taken := t.of[ref]
	delete(t.of, ref)
	return taken
}
