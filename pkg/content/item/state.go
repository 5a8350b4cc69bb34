package item

import (
	"cmp"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/errs"
)

// State is the state of a content item.
type State string

// The states. An item moves from queued over generating to generated, and from
// there over scheduled and publishing to published; it may fail in generating
// and publishing, and be canceled before publishing begins.
const (
	Queued     State = "queued"
	Generating State = "generating"
	Generated  State = "generated"
	Scheduled  State = "scheduled"
	Publishing State = "publishing"
	Published  State = "published"
	Failed     State = "failed"
	Canceled   State = "canceled"
)

// moves are the states from which each state can be reached.
var moves = map[State][]State{
	Generating: {Queued},
	Generated:  {Generating},
	Scheduled:  {Generated},
	Publishing: {Generated, Scheduled},
	Published:  {Publishing},
	Failed:     {Generating, Publishing},
	Canceled:   {Queued, Generating, Generated, Scheduled},
	Queued:     {Failed, Generated, Canceled},
}

// Move changes the state. It returns an invalid_state error if the state machine does
// not have the move.
func (r *Record) Move(to State) error {
	if !slices.Contains(moves[to], r.State) {
		return errs.New(errs.InvalidState, "The content item is %s. It can %s only while it is %s.", r.State, cmp.Or(verbs[to], "become "+string(to)), oneOf(moves[to]))
	}
	r.State = to
	return nil
}

// verbs say what a caller does to move an item to a state.
var verbs = map[State]string{Canceled: "be canceled", Queued: "be regenerated"}

// oneOf lists states in words.
func oneOf(states []State) string {
	words := make([]string, len(states))
	for i, s := range states {
		words[i] = string(s)
	}
	if last := len(words) - 1; last > 0 {
		words = []string{strings.Join(words[:last], ", "), words[last]}
	}
	return strings.Join(words, " or ")
}
