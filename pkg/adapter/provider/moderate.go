package provider

import "context"

// Moderator moderates texts before they are published. It is safe for concurrent use.
type Moderator interface {
	// Moderate reports whether a text is flagged: it may not be published. Its error says nothing about the text: it is
	// to be moderated again.
	Moderate(ctx context.Context, text string) (flagged bool, err error)
}
