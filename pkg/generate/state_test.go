package generate

import "testing"

// A part that has ended stays so, and its provider makes it once.
func TestPartsMoveOn(t *testing.T) {
	for from, to := range map[state]state{done: prepared, reused: submitted, submitted: looked, held: ready} {
		if p := (part{State: from}); p.move(to) == nil || p.State != from {
			t.Errorf("a part moves from %q to %q", from, to)
		}
	}
	p := part{}
	for _, to := range []state{prepared, submitted, ready, held, prepared, submitted, ready, done} {
		if err := p.move(to); err != nil {
			t.Error(err)
		}
	}
}
