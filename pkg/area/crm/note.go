package crm

import (
	"context"
	"errors"
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
}

// writeNote waits for the end of an item, and writes a note with the id of the item to its deal. If the answer is lost,
// it looks for the id among the notes first, so that a deal has one note whatever was lost.
func (w *Worker) writeNote(ctx context.Context, r *task.Run) error {
	var p noting
	if err := r.Decode(&p); err != nil {
		return err
	}
	if r.Cause() != nil {
		w.note(ctx, r.Subject, r.Cause())
		return nil
	}
	it, err := w.DB.Lookup(ctx, store.IDKey(p.Item))
	if err != nil {
		return social.Again(err, 0)
	}
	if it.Kind != item.ItemKind {
		return nil // it was deleted
	}
	of, err := item.Decode(&it)
	if err != nil {
		return err
	}
	switch {
	case of.Runs():
		return r.Sleep(task.Jitter(min(max(firstLook, w.Now().Sub(p.Since)/8), longestLook)))
	case of.State == item.Canceled:
		return nil
	}
	c, err := w.connected(ctx, r)
	if c == nil {
		return err
	}
	exists := false
	if err = r.Kept("note", &exists); errors.Is(err, task.ErrLost) {
		if exists, err = c.HasNote(ctx, c.account(), p.Deal, p.Item); err == nil {
			r.Forget("note")
		}
	}
	if err == nil && !exists {
		exists, err = task.Once(ctx, r, "note", func(ctx context.Context) (bool, error) {
			return true, c.AddNote(ctx, c.account(), p.Deal, noteText(c.r.Base, of))
		})
	}
	switch {
	case err == nil:
		return r.End(func(_ context.Context, tx *store.Tx) error {
			count(tx, c.r.ID, countNotes)
			return nil
		})
	case errors.Is(err, task.ErrLost):
		return r.Sleep(lostPause)
	case crm.Gone(err):
		return nil
	case platform.Refuses(err):
		w.note(ctx, c.r.ID, err)
		return nil
	}
	return c.answer(ctx, err)
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
