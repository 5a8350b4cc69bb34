package control

import (
	"slices"
	"time"
)

// Comment is a comment on a post, or a first comment if it has no id.
type Comment struct {
	ID     string    `json:"id"`
	Post   string    `json:"post"`
	Parent string    `json:"parent,omitempty"`
	Handle string    `json:"handle,omitempty"` // of the author
	Name   string    `json:"name,omitempty"`   // of the author
	Text   string    `json:"text"`
	At     time.Time `json:"at"`
	Own    bool      `json:"own,omitempty"`
	Hidden bool      `json:"hidden,omitempty"`
}

// AddComment adds a comment to the newest post that has the content, or to the newest post at all if it is empty. It
// returns the comment.
func (c *Control) AddComment(content Comment) Comment {
	id := c.ID()
	c.mu.Lock()
	defer c.mu.Unlock()
	content.At = c.now()
	if content.ID == "" {
		content.ID = id
	}
	if content.Post == "" && len(c.posts) > 0 {
		content.Post = c.posts[len(c.posts)-1].ID
	}
	if content.Handle == "" && !content.Own {
		content.Handle, content.Name = "reader", "A reader"
	}
	c.comments = append(c.comments, content)
	return content
}

// CommentsOn returns the comments on a post, newest first.
func (c *Control) CommentsOn(post string) (all []Comment) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range slices.Backward(c.comments) {
		if one.Post == post && one.ID != "" {
			all = append(all, one)
		}
	}
	return all
}

// FindComment returns the comment with an id.
func (c *Control) FindComment(id string) (Comment, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.comments, func(one Comment) bool { return one.ID == id && id != "" })
	if i < 0 {
		return Comment{}, false
	}
	return c.comments[i], true
}

// HideComment hides a comment or shows it, and reports whether it exists.
func (c *Control) HideComment(id string, hidden bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.comments {
		if c.comments[i].ID == id && id != "" {
			c.comments[i].Hidden = hidden
			return true
		}
	}
	return false
}

// RemoveComment deletes a comment with the replies to it, and reports whether it existed.
func (c *Control) RemoveComment(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := len(c.comments)
	c.comments = slices.DeleteFunc(c.comments, func(one Comment) bool {
		return id != "" && (one.ID == id || one.Parent == id)
	})
	return len(c.comments) < before
}

// Comment records a visible first comment.
func (c *Control) Comment(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.comments = append(c.comments, Comment{Text: text, Own: true})
}

// Comments returns the texts of the comments of the account itself, oldest first.
func (c *Control) Comments() (all []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.comments {
		if one.Own {
			all = append(all, one.Text)
		}
	}
	return all
}
