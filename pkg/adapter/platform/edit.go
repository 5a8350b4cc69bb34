package platform

import (
	"context"
	"slices"
	"strings"
)

// Placed is a published post, with what changes of it depend on.
type Placed struct {
	Published
	// Media is the number of its media, and Parts the number of its messages, where the platform has several.
	Media, Parts int
	// Options are those of the post, of which some platforms need the form of its text.
	Options Options
}

// Editor is a platform that changes the text of published posts. Its Capabilities.Edits is set.
type Editor interface {
	// Edit replaces the text of a post. It may be repeated: the post then has the same text. An error is of any kind
	// but Restart; Unknown means that the text may have been changed.
	Edit(ctx context.Context, a Account, p Placed, text string) error
}

// Posts returns the ids of all its posts, the last first: a thread of which some were deleted is still one.
func (p Placed) Posts() []string {
	ids := []string{p.ID}
	if p.More != "" {
		ids = append(ids, strings.Split(p.More, ",")...)
	}
	slices.Reverse(ids)
	return ids
}

// Deleter is a platform that deletes published posts. Its Capabilities.Deletes is set.
type Deleter interface {
	// Delete removes a post. It may be repeated: a post that does not exist any more is no error. An error is of any
	// kind but Restart; Unknown means that the post may have been removed.
	Delete(ctx context.Context, a Account, p Placed) error
}
