package generate

import (
	"fmt"
	"slices"
)

// state is the state of a call.
type state string

const (
	planned   state = ""          // nothing has begun
	prepared  state = "prepared"  // the question is to be asked again
	looked    state = "looked"    // generate has read what a composition depends on: compose may not read it
	submitted state = "submitted" // the provider works on it
	ready     state = "ready"     // the provider has a result
	held      state = "held"      // its text waits to be moderated
	done      state = "done"      // its result is stored
	skipped   state = "skipped"   // the work goes on without a result
	reused    state = "reused"    // its result is that of an earlier attempt
)

// moves are the states that can be reached from each state.
var moves = map[state][]state{
	planned:   {prepared, looked, submitted, held, done, skipped},
	prepared:  {prepared, submitted, held, done, skipped},
	looked:    {done},
	submitted: {ready, prepared},
	ready:     {held, done, prepared},
	held:      {done, prepared},
}

// move changes the state. It returns an error if there is no such move.
func (c *call) move(to state) error {
	if !slices.Contains(moves[c.State], to) {
		return fmt.Errorf("generate: a call cannot move from %q to %q", c.State, to)
	}
	c.State = to
	return nil
}

// is reports whether the call is in one of some states.
func (c *call) is(states ...state) bool { return slices.Contains(states, c.State) }

// ended reports whether nothing is left to do for the call.
func (c *call) ended() bool { return c.is(done, skipped, reused) }
