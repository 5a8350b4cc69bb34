package item

// prompter asks models for the parts of an attempt at an item.
type prompter struct {
	*Record
	// memory is what the prompt says about the channel. It is read when the texts are written.
	memory *memory
}

// maker makes an item of the results of its parts.
type maker struct{ prompter }

// Attempt is the current attempt at an item: it plans the parts, asks models for them, and makes the item of their
// results.
type Attempt struct{ maker }

// AttemptAt returns the current attempt at an item.
func AttemptAt(r *Record) Attempt { return Attempt{maker{prompter{Record: r}}} }
