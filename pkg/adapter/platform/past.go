package platform

import (
	"context"
	"time"
)

// Past describes how a platform lists the posts that an account has had before it was connected.
type Past struct {
	// Page is the most posts of a call, or 0 if the platform has no list.
	Page int
	// Figures reports whether the list has the figures of the posts. Otherwise, they are read as those of own posts.
	Figures bool
	// Price is what a call uses of Capabilities.Budget instead of Reads.Price, or 0.
	Price int
}

// PastPost is a post of an account, whoever has published it.
type PastPost struct {
	ID   string    `json:"id"`
	Kind Kind      `json:"kind"`
	Text string    `json:"text,omitempty"`
	At   time.Time `json:"at"`
	Metrics
}

// PastReader is a platform that lists earlier posts of accounts. Its Capabilities.Past is set.
type PastReader interface {
	// PastPosts lists the posts of an account, the latest first. The first cursor is empty, and next is empty after the
	// last page. The error is of any kind except Unknown and Restart.
	PastPosts(ctx context.Context, a Account, cursor string) (posts []PastPost, next string, err error)
}
