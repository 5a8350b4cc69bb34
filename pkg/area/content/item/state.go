package item

import (
	"fmt"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/base/errs"
)

// moves are the states from which each state can be reached.
var moves = map[State][]State{
	Generating: {Queued},
	Generated:  {Generating, Scheduled},
	Scheduled:  {Generated},
	Publishing: {Generated, Scheduled, Published, Failed},
	Published:  {Publishing},
	Failed:     {Generating, Publishing},
	Canceled:   {Queued, Generating},
	Queued:     {Failed, Generated, Canceled},
}

// Move changes the state. It returns an error if the state machine does not have the move.
func (r *Item) Move(to State) error {
	if !slices.Contains(moves[to], r.State) {
		return fmt.Errorf("item: %s cannot move from %s to %s", r.ID, r.State, to)
	}
	r.State = to
	return nil
}

// Action is a change that a caller can make to an item.
type Action string

// The actions.
const (
	Update     Action = "update"
	Cancel     Action = "cancel"
	Regenerate Action = "regenerate"
	Delete     Action = "delete"
	Schedule   Action = "schedule"
	Publish    Action = "publish"
)

// The actions of an approval.
const (
	Approve        Action = "approve"
	RequestChanges Action = "request_changes"
)

// actions are the states that permit each action.
var actions = []struct {
	action Action
	done   string // as in "it can be canceled"
	states []State
}{
	{Update, "changed", []State{Queued, Generating, Generated, Scheduled, Failed, Canceled}},
	{Cancel, "canceled", []State{Queued, Generating}},
	{Regenerate, "regenerated", []State{Generated, Failed, Canceled}},
	{Delete, "deleted", []State{Queued, Generating, Generated, Scheduled, Published, Failed, Canceled}},
	{Schedule, "scheduled", []State{Generated, Scheduled}},
	{Publish, "published", []State{Generated, Scheduled, Published, Failed}},
	{Approve, "approved", []State{Generated, Scheduled}},
	{RequestChanges, "sent back", []State{Generated, Scheduled}},
}

// Permit returns an invalid_state error unless the item's state permits the action.
func (r *Item) Permit(a Action) error {
	allowed, message := []string{}, ""
	for _, known := range actions {
		switch {
		case known.action == Publish && r.State == Failed && r.Failure != nil && r.Failure.Stage != "publish":
			if a == Publish {
				message = "The content item was not generated: regenerate it first."
			}
		case slices.Contains(known.states, r.State):
			allowed = append(allowed, string(known.action))
		case known.action == a:
			message = fmt.Sprintf("The content item is %s. It can be %s only while it is %s.", r.State, known.done,
				oneOf(known.states))
		}
	}
	if message == "" {
		return nil
	}
	return errs.New(errs.InvalidState, "%s", message).In(string(r.State), allowed...)
}

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

// writtenStates are the states of items whose texts are finished.
var writtenStates = []State{Generated, Scheduled, Publishing, Published}

// WrittenStates returns the states of items whose texts are finished.
func WrittenStates() []string {
	all := make([]string, len(writtenStates))
	for i, s := range writtenStates {
		all[i] = string(s)
	}
	return all
}
