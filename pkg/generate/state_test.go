package generate

import "testing"

// A call that has ended stays so, and its provider makes it once.
func TestPartsMoveOn(t *testing.T) {
	for from, to := range map[state]state{done: prepared, reused: submitted, submitted: looked, held: ready} {
		if p := (call{State: from}); p.move(to) == nil || p.State != from {
			t.Errorf("a call moves from %q to %q", from, to)
		}
	}
	p := call{}
	for _, to := range []state{prepared, submitted, ready, held, prepared, submitted, ready, done} {
		if err := p.move(to); err != nil {
			t.Error(err)
		}
	}
}
