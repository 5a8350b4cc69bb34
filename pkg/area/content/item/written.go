package item

import (
	"slices"

	"github.com/content-automation/api/pkg/adapter/provider"
)

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

// Written returns the request to the text model for the item, and the texts that the item
// has now, with the changes of the caller. It returns false if the item has no texts.
func (r prompter) Written() (asked provider.Request, text provider.Text, ok bool) {
	i := slices.IndexFunc(r.Parts, func(p part) bool { return p.Role == roleText || p.Role == roleScript })
	if i < 0 || !slices.Contains(writtenStates, r.State) || r.Title == "" || r.Caption == "" {
		return asked, text, false
	}
	for _, s := range r.Slides {
		if s.Text == "" {
			return asked, text, false
		}
	}
	if text = *r.texts(); r.Given.Has(Script) {
		text.Scenes = nil // they were not requested
	}
	r.memory = &memory{} // what the writer was told of the channel then is not known any more
	return r.foreseen(r.Parts[i]), text, true
}
