package webhook

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/store"
)

// slowAfter is after what time an attempt counts as slow. Those that are quicker cost
// the strain nothing.
const slowAfter = 500 * time.Millisecond

// slowLimit is how many slow attempts all functions together have under way at one
// receiver, as far as they know: what comes on top is put off. So one that hangs
// holds few of them up, long before it is known to be down.
const slowLimit = 20

// hangLimit is the same for a receiver that does not usually take long: where it does,
// it hangs, as a rule. These attempts suffice to show that it is down.
const hangLimit = tripAfter

// keepStrains is how long the item of a strain is kept that nobody changes.
const keepStrains = time.Hour

// strainKind is the kind of the item in which the functions tell each other of the
// slow attempts that they have under way at one receiver: each by a value of its own.
const strainKind = "strain"

// strain are the slow attempts at one receiver.
type strain struct {
	key store.Key
	// usual is how fast the receiver has answered of late.
	usual latencies
	// others are those of other functions, as they were read, and ended are the names
	// of functions that must have died.
	others int
	ended  []string

	mu sync.Mutex
	// ours are those of this batch, and told is how many of them the table knows of.
	ours, told int
	telling    bool
}

// strainKey is the key of the item of a webhook's strain.
func (o owner) strainKey(webhookID string) store.Key {
	return store.Key{PK: "strain#" + o.String(), SK: webhookID}
}

// read takes over the item; one without a kind is not there.
func (s *strain) read(it store.Item, now time.Time) {
	for name, value := range it.Attributes {
		count, until, _ := strings.Cut(value, " ")
		n, err := strconv.Atoi(count)
		if at, failed := time.Parse(instantPattern, until); err != nil || failed != nil || !now.Before(at) {
			s.ended = append(s.ended, name)
			continue
		}
		s.others += n
	}
}

// isHigh tells whether the receiver has as many slow attempts as it may have.
func (s *strain) isHigh() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.others + s.ours
	return n >= slowLimit || n >= hangLimit && !s.usual.areSlow()
}

// isFelt tells whether other functions have slow attempts at the receiver under way.
func (s *strain) isFelt() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.others > 0
}

// watch tells the others of an attempt that becomes slow. Whoever makes the attempt
// calls what it gives when that has an end.
func (w *worker) watch(ctx context.Context, s *strain) (ended func()) {
	var mu sync.Mutex
	var slow, over bool
	t := time.AfterFunc(slowAfter, func() {
		mu.Lock()
		defer mu.Unlock()
		if slow = !over; slow {
			w.strain(ctx, s, 1)
		}
	})
	return func() {
		if t.Stop() {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if over = true; slow {
			w.strain(ctx, s, -1)
		}
	}
}

// strain changes the number of our slow attempts, and has it told. What changes while
// that is under way is told after it, all at once.
func (w *worker) strain(ctx context.Context, s *strain, by int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ours += by
	if s.telling {
		return
	}
	s.telling = true
	w.background.Go(func() {
		for {
			s.mu.Lock()
			n, ended := s.ours, s.ended
			if n == s.told {
				s.telling = false
				s.mu.Unlock()
				return
			}
			s.told, s.ended = n, nil
			s.mu.Unlock()
			// Not worth a repeat: the next change tells it, and its end comes by itself.
			if err := w.db.Note(ctx, w.strained(s.key, n, ended)); err != nil && ctx.Err() == nil {
				slog.Warn("strain of a webhook not told", "webhook", s.key.SK, "error", err)
			}
		}
	})
}

// strained gives the item that tells of our slow attempts, and no more of those of
// functions that have ended.
func (w *worker) strained(key store.Key, n int, ended []string) store.Item {
	now := w.now()
	it := store.Item{Key: key, Kind: strainKind, ExpireAt: now.Add(keepStrains), Attributes: map[string]string{w.by: ""}}
	for _, name := range ended {
		it.Attributes[name] = ""
	}
	if n > 0 {
		// No attempt takes longer.
		it.Attributes[w.by] = strconv.Itoa(n) + " " + now.Add(attemptTimeout+time.Second).UTC().Format(instantPattern)
	}
	return it
}
