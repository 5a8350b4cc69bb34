package generate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Composed is the Provider of the parts that the service itself composes of the parts before them, or signs. Such a
// part is the last of its work.
const Composed = "compose"

// Composing is work with a part of the kind compose or sign.
type Composing interface {
	Work
	// Composition returns the composition of part n, of the results of the parts before it.
	Composition(n int, made []PartResult) (Composition, error)
	// Gave reports whether an error of a composition is caused by input of the caller. Work that fails for that reason
	// is charged as far as it was completed.
	Gave(e *provider.Error) bool
}

// Looking is Composing whose composition depends on the state of other resources at the time when its parts are ready.
// The function generate reads them, since the function compose may not.
type Looking interface {
	Composing
	// Look reads the other resources, and returns the look of the
	Look(ctx context.Context, db *store.DB) (Look, error)
	// Show sets the look of the
	Show(Look)
}

// Composer composes media. Only the function compose has one.
type Composer interface {
	// Compose composes media of stored files, and passes each file to save. Each file says its origin. A draft, of a
	// test key, takes a fraction of the time. During the composition progress receives the completed percentage. An
	// error of type *provider.Error is final unless it is Transient. It has a code of provider.FailureCodes and a
	// message that says how to correct the problem.
	Compose(ctx context.Context, c Composition, o Origin, progress func(percent int), save Save) error
}

// Save stores a composed file, of which f has the role, the provenance and the likeness. The thumbnail is a JPEG, or
// nil if the file has none.
type Save func(f media.File, body io.Reader, thumbnail []byte) error

// maxCompositions is the number of times in a row that a composition may fail.
const maxCompositions = 3

// compositionProgress is the least progress of a composition, in percent, at which the resource is read and updated.
const compositionProgress = 10

// reportTimeout bounds such an update: the composition waits for it.
const reportTimeout = 900 * time.Millisecond

// compose makes a part of those before it, under a lease, so that a message that arrives twice composes once. If the
// function dies, the part is composed again, and replaces the files that were stored. The composition ends early if the
// task was canceled.
func (w *Worker) compose(ctx context.Context, t *turn) (o task.Outcome, err error) {
	part := &t.Parts[t.n]
	switch {
	case part.Kind == provider.KindCompose && !t.call().is(looked):
		return w.look(ctx, t)
	case w.Composer == nil:
		return o, nil // the next step is on the queue of the function that composes
	}
	work, err := w.work(ctx, t.Step, t.Attempt)
	if err != nil {
		return o, err
	}
	composing, ok := work.(Composing)
	switch {
	case work == nil:
		return o, task.ErrOrphaned
	case !ok:
		return o, task.Permanent(fmt.Errorf("generate: %s has a part to compose, and no composition", t.ID))
	}
	if looking, ok := work.(Looking); ok {
		looking.Show(part.Look)
	}
	if t.Interrupted {
		metric.Count("InterruptedCompositions", "task", string(t.Kind))
	}
	what, err := composing.Composition(t.n, t.results())
	if err != nil {
		return o, err
	}
	if err := t.Guard(ctx, t.run); err != nil {
		return o, err
	}
	held, end := t.WhileHeld(ctx)
	defer end(nil)
	var made PartResult
	save := func(as media.File, body io.Reader, thumbnail []byte) error {
		f, err := w.Objects.Save(held, placeOf(t.Owner, t.Subject, t.Attempt), t.firstFile(t.n)+len(made.Files), body,
			nil)
		if f.Thumb = thumbnail != nil; f.Thumb && err == nil {
			err = putThumbnail(held, w.Objects, f, thumbnail)
		}
		f.Role, f.Provenance, f.Likeness = as.Role, as.Provenance, as.Likeness
		made.Files = append(made.Files, f)
		return err
	}
	reported := 0
	progress := func(percent int) {
		if percent >= reported+compositionProgress {
			reported = percent
			w.report(held, t, percent, end)
		}
	}
	err = w.Composer.Compose(held, what, t.origin(work), progress, save)
	switch {
	case errors.Is(context.Cause(held), task.ErrMoved):
		return o, task.ErrMoved
	case err != nil:
		return o, blameCaller(composing, err)
	case len(made.Files) == 0:
		return o, errs.New(errs.UnsupportedMedia, "The composition has no file.")
	}
	made.Branded = Branded(what)
	part.Result = made
	return o, t.call().move(done)
}

// putThumbnail stores the thumbnail of a file.
func putThumbnail(ctx context.Context, to Objects, f media.File, content []byte) error {
	if err := to.Put(ctx, f.Thumbnail(content), bytes.NewReader(content)); err != nil {
		return errs.Wrap(err, errs.ProviderUnavailable, "The thumbnail could not be stored.")
	}
	return nil
}

// look reads the resources that a composition depends on. If all other parts are reused, the work begins with it.
func (w *Worker) look(ctx context.Context, t *turn) (o task.Outcome, err error) {
	work, begun, err := w.begin(ctx, t, &o)
	if err != nil || !begun {
		return o, err
	}
	part := &t.Parts[t.n]
	if err := t.call().move(looked); err != nil {
		return o, err
	}
	if t.n == t.first() {
		o.Join = w.showProgress(t, work, true)
	}
	if looking, ok := work.(Looking); ok {
		part.Look, err = looking.Look(ctx, w.DB)
	}
	return o, err
}

// callerError is the error of a composition that was caused by input of the caller.
type callerError struct{ err *provider.Error }

func (g *callerError) Error() string { return g.err.Error() }
func (g *callerError) Unwrap() error { return g.err }

// blameCaller returns the error of a composition, as a callerError if input of the caller caused it.
func blameCaller(w Composing, err error) error {
	var e *provider.Error
	if errors.As(err, &e) && w.Gave(e) {
		return &callerError{e}
	}
	return err
}

// isCallerError reports whether a composition has failed because of input of the caller.
func isCallerError(cause error) bool {
	var g *callerError
	return errors.As(cause, &g)
}

// report updates the progress of a composition in the resource. It ends the composition if the resource no longer waits
// for it. After a failure, a later report shows the progress.
func (w *Worker) report(ctx context.Context, t *turn, percent int, end context.CancelCauseFunc) {
	t.call().Progress = percent
	ctx, cancel := context.WithTimeout(ctx, reportTimeout)
	defer cancel()
	work, err := w.work(ctx, t.Step, t.Attempt)
	switch {
	case err != nil:
		return
	case work == nil:
		end(task.ErrMoved)
		return
	case !work.Progress(w.Now(), t.percent()):
		return
	}
	it, err := work.Item()
	if err != nil {
		return
	}
	tx := &store.Tx{}
	tx.Replace(it)
	_ = w.DB.Commit(ctx, tx)
}

// classifyComposition is classify for a part that is composed.
func classifyComposition(cause error) error {
	var e *provider.Error
	if errors.As(cause, &e) && (e.Kind == provider.BadInput || e.Kind == provider.Rejected) {
		message := e.Message + " Nothing was charged."
		if isCallerError(cause) {
			message = e.Message // the cost is appended later
		}
		return task.Permanent(&stepError{Failure{Code: provider.FailureCode(e.Code), Message: message,
			Retryable: e.Kind == provider.Rejected}, cause})
	}
	anew := &stepError{Failure{
		Code: provider.FailedComposition, Message: provider.FailureOf(provider.FailedComposition).Message +
			" Nothing was charged. Try again.", Retryable: true,
	}, cause}
	if errors.Is(cause, task.ErrDeaths) {
		return task.Permanent(anew)
	}
	return &task.RetryError{Err: anew, MaxFailures: maxCompositions}
}
