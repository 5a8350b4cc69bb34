package generate

import (
	"fmt"
	"slices"
)

// state is the state of a part.
type state string

const (
	planned   state = ""          // nothing has begun
	prepared  state = "prepared"  // what its text draws on is read, or the text is to be written again
	looked    state = "looked"    // generate has read what a composition depends on: compose may not read it
	submitted state = "submitted" // its provider makes it
	ready     state = "ready"     // its provider has made it
	held      state = "held"      // its text waits to be moderated
	done      state = "done"      // its result is stored
	reused    state = "reused"    // its result is that of an earlier attempt
)

// moves are the states that can be reached from each state.
var moves = map[state][]state{
	planned:   {prepared, looked, submitted, held, done},
	prepared:  {prepared, submitted, held, done},
	looked:    {done},
	submitted: {ready, prepared},
	ready:     {held, done, prepared},
	held:      {done, prepared},
}

// move changes the state. It returns an error if there is no such move.
func (p *part) move(to state) error {
	if !slices.Contains(moves[p.State], to) {
		return fmt.Errorf("generate: a part cannot move from %q to %q", p.State, to)
	}
	p.State = to
	return nil
}

// is reports whether the part is in one of some states.
func (p *part) is(states ...state) bool { return slices.Contains(states, p.State) }

// ended reports whether nothing is left to do for the part.
func (p *part) ended() bool { return p.is(done, reused) }
