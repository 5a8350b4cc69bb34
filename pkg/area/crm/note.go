package crm

import (
	"context"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/text"

	"github.com/content-automation/api/pkg/adapter/crm"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Note is the kind of the task that waits for the end of a content item, and writes a note with the result to its deal.
const Note task.Kind = "crm.note"

const (
	// The shortest and longest wait between two looks at an item.
	firstLook, longestLook = 5 * time.Second, time.Minute
	// lostPause is the wait after a note whose answer was lost, until the CRM shows it.
	lostPause = 30 * time.Second
	// noteWithin bounds the wait for an item and the attempts at its note.
	noteWithin = 7 * 24 * time.Hour
	// maxExcerpt is the number of characters of a caption in a note.
	maxExcerpt = 500
)

// noting is the payload of a Note task.
type noting struct {
	Deal  string    `json:"deal"`
	Item  string    `json:"item"`
	Since time.Time `json:"since"`
	// Tried reports whether a note may exist: an attempt to write it has begun.
	Tried bool `json:"tried,omitempty"`
}

// noter is the handler of Note. The note contains the id of the item. An attempt that follows another looks for the
// id among the notes first, so that a deal has one note whatever was lost.
type noter struct{ *Worker }

// Step looks whether the item has ended, and writes the note.
func (w noter) Step(ctx context.Context, s *task.Step) (o task.Outcome, err error) {
	var p noting
	if err := s.Decode(&p); err != nil {
		return o, err
	}
	it, err := w.DB.Lookup(ctx, store.IDKey(p.Item))
	if err != nil {
		return o, social.Again(err, 0)
	}
	if it.Kind != item.ItemKind {
		return task.Outcome{Done: true}, nil // it was deleted
	}
	r, err := item.Decode(&it)
	if err != nil {
		return o, err
	}
	switch {
	case r.Runs():
		o.Wait = task.Jitter(min(max(firstLook, w.Now().Sub(p.Since)/8), longestLook))
		return o, nil
	case r.State == item.Canceled:
		return task.Outcome{Done: true}, nil
	}
	c, err := w.open(ctx, s.Owner, s.Subject)
	if err != nil {
		return o, social.Again(err, 0)
	}
	if c == nil {
		_, r, err := w.read(ctx, s.Subject)
		if err == nil && r.State == NeedsReconnect {
			return o, social.Again(platform.Disconnected(), refusedPause)
		}
		return task.Outcome{Done: err == nil}, err
	}
	return w.write(ctx, s, c, p, r)
}

// write writes the note, unless it exists.
func (w noter) write(ctx context.Context, s *task.Step, c *connection, p noting, r *item.Record) (o task.Outcome,
	err error) {
	tried := p.Tried
	p.Tried = true
	if err := s.Lease(ctx, p); err != nil {
		return o, err
	}
	exists := false
	if tried {
		exists, err = c.HasNote(ctx, c.account(), p.Deal, p.Item)
	}
	if err == nil && !exists {
		err = c.AddNote(ctx, c.account(), p.Deal, noteText(c.r.Base, r))
	}
	switch {
	case err == nil:
		return task.Outcome{Done: true, Join: func(_ context.Context, tx *store.Tx) error {
			count(tx, c.r.ID, countNotes)
			return nil
		}}, nil
	case platform.KindOf(err) == platform.Unknown:
		return o, social.Again(err, lostPause)
	case crm.Gone(err):
		return task.Outcome{Done: true}, nil
	}
	if platform.Refuses(err) {
		w.note(ctx, c.r.ID, err)
		return task.Outcome{Done: true}, nil
	}
	return o, w.trouble(ctx, c, err)
}

// Fail ends the task without a note.
func (w noter) Fail(ctx context.Context, s *task.Step, cause error) (task.Outcome, error) {
	w.note(ctx, s.Subject, cause)
	return task.Outcome{}, nil
}

// noteText returns the note about an item that has ended, in Russian if the item is.
func noteText(base string, r *item.Record) string {
	ready, failed := "The content for this deal is ready", "The content for this deal could not be made"
	if strings.HasPrefix(r.Language, "ru") {
		ready, failed = "Контент по этой сделке готов", "Контент по этой сделке не создан"
	}
	text := ready + ": " + text.ClipLine(string(r.Title), maxName) + "\n" +
		text.ClipLetters(strings.TrimSpace(string(r.Caption)),
			maxExcerpt)
	if r.State == item.Failed {
		text = failed
		if r.Failure != nil {
			text += ": " + r.Failure.Message
		}
	}
	return strings.TrimSpace(text) + "\n" + base + "/v1/content-items/" + r.ID
}
