package content

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/content-automation/api/pkg/errs"
	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/job"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/provider"
	"github.com/content-automation/api/pkg/store"
)

// Objects stores files.
type Objects interface {
	// Save stores the n-th file of a place and describes it as it was read. The
	// same place and number replace the same object. It gives unsupported_media
	// for what is no file that we serve.
	Save(ctx context.Context, place media.Place, n int, body io.Reader) (media.File, error)
}

// Worker generates content items. It may get a job twice, late, or side by side
// with itself: what it does follows from the item, and each write of the item
// holds only if nobody else has written it since.
type Worker struct {
	db       *store.DB
	provider provider.Provider
	objects  Objects
	now      func() time.Time
}

// NewWorker makes a worker that generates by the given provider.
func NewWorker(db *store.DB, p provider.Provider, objects Objects, now func() time.Time) *Worker {
	return &Worker{db, p, objects, now}
}

// shortestWait is how long a job is put off where the provider does not tell.
const shortestWait = 2 * time.Second

// Do takes the item of a job as far as it goes now. A wait above zero tells when
// to come back; an error, that the job must be tried again.
func (w *Worker) Do(ctx context.Context, j job.Job) (wait time.Duration, err error) {
	it, err := w.db.Get(ctx, store.IDKey(j.Subject))
	if errors.Is(err, store.ErrNotFound) {
		return 0, nil // deleted since: nothing to do
	}
	if err != nil {
		return 0, err
	}
	r, err := decode(&it)
	if err != nil {
		return 0, err
	}
	if r.Attempt != j.Attempt || (r.State != Queued && r.State != Generating) {
		return 0, nil // done by an earlier delivery of this job, canceled, or begun anew
	}
	if r.State == Queued {
		if err := r.move(Generating); err != nil {
			return 0, err
		}
		r.Parts = make([]part, len(pipelines[r.Kind]))
		if err := w.submit(ctx, it, r); err != nil {
			return w.failOn(ctx, it, r, err)
		}
		r.Touch(w.now())
		if it, err = w.save(ctx, it, r); err != nil {
			return 0, err
		}
	}
	done := r.done()
	wait, err = w.follow(ctx, it, r)
	if err != nil {
		return w.failOn(ctx, it, r, err)
	}
	if wait == 0 {
		return 0, w.finish(ctx, it, r)
	}
	if r.done() > done {
		r.Touch(w.now())
		_, err = w.save(ctx, it, r)
	}
	return wait, err
}

// done counts the parts that are done.
func (r *record) done() (n int) {
	for _, p := range r.Parts {
		if p.Done {
			n++
		}
	}
	return n
}

// submit starts all parts. What they give is saved before anything else is done.
func (w *Worker) submit(ctx context.Context, it store.Item, r *record) error {
	for n := range r.Parts {
		req := r.request(n)
		if r.Sandbox != nil {
			req.Rehearsal = provider.Rehearsal{
				Fail:  r.Sandbox.Outcome == string(Failed),
				Start: r.Accepted, Delay: time.Duration(r.Sandbox.DelaySeconds) * time.Second,
			}
		}
		sub, err := w.provider.Submit(ctx, req)
		if err != nil {
			return err
		}
		r.Parts[n].Handle = sub.Handle
		if sub.Result != nil {
			if err := w.take(ctx, it, r, n, *sub.Result); err != nil {
				return err
			}
		}
	}
	return nil
}

// follow asks after the parts that are not done, and stores what is. It gives
// how long to wait for the others.
func (w *Worker) follow(ctx context.Context, it store.Item, r *record) (wait time.Duration, err error) {
	for n := range r.Parts {
		if r.Parts[n].Done {
			continue
		}
		status, err := w.provider.Poll(ctx, r.Parts[n].Handle)
		if err != nil {
			return 0, err
		}
		switch {
		case status.State == provider.Succeeded:
			result, err := w.provider.Fetch(ctx, r.Parts[n].Handle)
			if err != nil {
				return 0, err
			}
			if err := w.take(ctx, it, r, n, result); err != nil {
				return 0, err
			}
		case status.State.Final():
			if status.Failure != nil {
				return 0, status.Failure
			}
			return 0, &provider.Error{Kind: provider.Rejected, Code: "generation_failed", Message: "The provider ended the generation without a result."}
		default:
			wait = max(wait, status.Wait, shortestWait)
		}
	}
	return wait, nil
}

// take keeps the result of a part: texts in the item, files in the object store.
func (w *Worker) take(ctx context.Context, it store.Item, r *record, n int, result provider.Result) error {
	p := &r.Parts[n]
	p.Text = result.Text
	p.Files = nil
	place := media.Place{Account: it.Account, Mode: it.Mode, Resource: r.ID, Attempt: r.Attempt}
	first := r.firstFile(n)
	for i, f := range result.Media {
		saved, err := w.store(ctx, place, first+i, f)
		if err != nil {
			return err
		}
		p.Files = append(p.Files, saved)
	}
	p.Done = true
	return nil
}

func (w *Worker) store(ctx context.Context, place media.Place, n int, f provider.File) (media.File, error) {
	body, err := f.Open(ctx)
	if err != nil {
		return media.File{}, err
	}
	defer body.Close()
	return w.objects.Save(ctx, place, n, body)
}

// save writes the record back. store.ErrConflict tells that another delivery of
// the job was faster: the queue brings this one again, and it finds that out.
func (w *Worker) save(ctx context.Context, it store.Item, r *record, events ...store.Item) (store.Item, error) {
	if err := it.Encode(r); err != nil {
		return it, err
	}
	it.Filters = r.filters()
	tx := &store.Tx{}
	tx.Replace(it)
	for _, e := range events {
		tx.Create(e, nil)
	}
	if err := w.db.Commit(ctx, tx); err != nil {
		return it, fmt.Errorf("content: save %s: %w", r.ID, err)
	}
	it.Version++
	return it, nil
}

// finish puts the parts together. The event is committed with the item.
func (w *Worker) finish(ctx context.Context, it store.Item, r *record) error {
	r.assemble()
	r.Touch(w.now())
	at := r.UpdatedAt
	r.GeneratedAt = &at
	if err := r.move(Generated); err != nil {
		return err
	}
	generated, err := w.event(it, r, event.ContentGenerated)
	if err != nil {
		return err
	}
	events := []store.Item{generated}
	if r.Sandbox != nil && r.Sandbox.Outcome == string(Published) {
		if err := errors.Join(r.move(Publishing), r.move(Published)); err != nil {
			return err
		}
		r.PublishedAt = &at
		published, err := w.event(it, r, event.ContentPublished)
		if err != nil {
			return err
		}
		events = append(events, published)
	}
	_, err = w.save(ctx, it, r, events...)
	return err
}

// assemble fills the item from its parts. What the caller has given stays.
func (r *record) assemble() {
	r.Files = nil
	for _, p := range r.Parts {
		if t := p.Text; t != nil {
			if r.Title == "" {
				r.Title = t.Title
			}
			if r.Caption == "" {
				r.Caption = t.Caption
			}
			if len(r.Hashtags) == 0 && t.Hashtags != nil {
				r.Hashtags = t.Hashtags
			}
			for i := range r.Slides {
				if r.Slides[i].Text == "" && i < len(t.Slides) {
					r.Slides[i].Text = t.Slides[i]
				}
			}
		}
		r.Files = append(r.Files, p.Files...)
	}
	for i := range r.Slides {
		if i < len(r.Files) {
			r.Slides[i].MediaID = &r.Files[i].ID
		}
	}
	r.Parts = nil
}

func (w *Worker) event(it store.Item, r *record, t event.Type) (store.Item, error) {
	// The event shows the item as it will be once the transaction is through.
	shown := r.Item
	shown.Media = []media.View{}
	return event.New(r.UpdatedAt, it.Account, it.Mode, t, shown, r.Files)
}

// failOn ends the item where the error says that trying again is no use, and
// hands the error on where it is.
func (w *Worker) failOn(ctx context.Context, it store.Item, r *record, cause error) (time.Duration, error) {
	f := Failure{Stage: "generate", Code: "generation_failed", Message: "The generation failed. Regenerate the item to try again.", Retryable: true}
	var refused *provider.Error
	switch {
	case errors.As(cause, &refused) && (refused.Kind == provider.Rejected || refused.Kind == provider.BadInput):
		f.Code, f.Message, f.Retryable = refused.Code, refused.Message, refused.Kind == provider.Rejected
	case errs.CodeOf(cause) == errs.UnsupportedMedia:
		f.Code, f.Message = string(errs.UnsupportedMedia), "The provider's file could not be read. Regenerate the item to try again."
	default:
		return 0, cause
	}
	return 0, w.fail(ctx, it, r, f, cause)
}

// GiveUp ends the item of a job that was tried as often as it may be.
func (w *Worker) GiveUp(ctx context.Context, j job.Job, cause error) error {
	it, err := w.db.Get(ctx, store.IDKey(j.Subject))
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	r, err := decode(&it)
	if err != nil {
		return err
	}
	if r.Attempt != j.Attempt || (r.State != Queued && r.State != Generating) {
		return nil
	}
	r.State = Generating
	return w.fail(ctx, it, r, Failure{
		Stage: "generate", Code: string(errs.Internal), Retryable: true,
		Message: "The generation failed on our side, also after several tries. Regenerate the item to try again.",
	}, cause)
}

func (w *Worker) fail(ctx context.Context, it store.Item, r *record, f Failure, cause error) error {
	slog.Warn("generation failed", "content_item_id", r.ID, "attempt", r.Attempt, "code", f.Code, "error", cause)
	if err := r.move(Failed); err != nil {
		return err
	}
	r.Failure, r.Parts = &f, nil
	r.Touch(w.now())
	failed, err := w.event(it, r, event.ContentFailed)
	if err != nil {
		return err
	}
	_, err = w.save(ctx, it, r, failed)
	return err
}
