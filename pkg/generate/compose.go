package generate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/generate/composition"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Composed is the Provider of the parts that the service itself composes of the parts
// before them. It is the last part of its work.
const Composed = "compose"

// Composing is work with parts of the kind compose.
type Composing interface {
	Work
	// Composition returns what part n composes of what the parts before it have made.
	Composition(n int, made []Made) (composition.Composition, error)
	// Gave reports whether the caller has given what an error of a composition is about.
	// Work that fails for that is charged as far as it was completed.
	Gave(e *provider.Error) bool
}

// Looking is Composing whose composition depends on other resources as they are when its
// parts are ready. The function generate reads them, since the function compose may not.
type Looking interface {
	Composing
	// Look reads them, and reports whether the composition is to show no brand.
	Look(ctx context.Context, db *store.DB) (plain bool, err error)
	// Plain leaves the brand out of the composition.
	Plain()
}

// Composer composes media. Only the function compose has one.
type Composer interface {
	// Compose composes media of stored files, and passes each file with its role to save.
	// A draft is made in a fraction of the time. Meanwhile progress receives the percentage
	// that is done. An error of type *provider.Error is final unless it is Transient; it
	// has a code of provider.FailureCodes and a message that says what to do.
	Compose(ctx context.Context, c composition.Composition, draft bool, progress func(percent int), save Save) error
}

// Save stores a file that was composed.
type Save func(role media.Role, body io.Reader) error

// How often a composition may fail in a row, and how often a function may die of it:
// what it dies of would end every attempt.
const (
	maxCompositions = 3
	maxCrashes      = 3
)

// compositionProgress is the least progress of a composition, in percent, at which the
// resource is looked at.
const compositionProgress = 10

// reportTimeout bounds a look at the resource: the composition waits for it.
const reportTimeout = 900 * time.Millisecond

// compose makes a part of those before it, under a lease: a message that arrives twice
// composes once. Where the function dies, the part begins anew, and replaces what was
// stored of it. It ends early where the task was canceled.
func (w *Worker) compose(ctx context.Context, a *attempt) (o task.Outcome, err error) {
	part := &a.Parts[a.n]
	if w.Composer == nil && part.Looked {
		return o, nil // the next step is on the queue of the function that has one
	}
	work, err := w.work(ctx, a.Step, a.Attempt)
	if err != nil {
		return o, err
	}
	composing, ok := work.(Composing)
	switch {
	case work == nil:
		return o, task.ErrOrphaned
	case !ok:
		return o, task.Permanent(fmt.Errorf("generate: %s has a part to compose, and no composition", a.ID))
	}
	looking, ok := work.(Looking)
	switch {
	case !part.Looked:
		if part.Looked = true; ok {
			part.Plain, err = looking.Look(ctx, w.DB)
		}
		return o, err
	case ok && part.Plain:
		looking.Plain()
	}
	if a.Interrupted {
		part.Crashes++
		metric.Count("InterruptedCompositions", "task", string(a.Kind))
	}
	if part.Crashes >= maxCrashes {
		return o, fmt.Errorf("generate: %d functions have died of a composition", part.Crashes)
	}
	what, err := composing.Composition(a.n, a.made())
	if err != nil {
		return o, err
	}
	if err := a.Lease(ctx, a.run); err != nil {
		return o, err
	}
	held, end := a.WhileHeld(ctx)
	defer end(nil)
	var made Made
	save := func(role media.Role, body io.Reader) error {
		f, err := w.Objects.Save(held, placeOf(a.Owner, a.Subject, a.Attempt), a.firstFile(a.n)+len(made.Files), body)
		f.Role = role
		made.Files = append(made.Files, f)
		return err
	}
	reported := 0
	progress := func(percent int) {
		if percent >= reported+compositionProgress {
			reported = percent
			w.report(held, a, percent, end)
		}
	}
	err = w.Composer.Compose(held, what, a.Mode == tenant.Test, progress, save)
	switch {
	case errors.Is(context.Cause(held), task.ErrMoved):
		return o, task.ErrMoved
	case err != nil:
		return o, blamed(composing, err)
	case len(made.Files) == 0:
		return o, errs.New(errs.UnsupportedMedia, "The composition has no file.")
	}
	made.Branded = composition.Branded(what)
	part.Made, part.Done = made, true
	return o, nil
}

// given is the error of a composition of what the caller has given.
type given struct{ err *provider.Error }

func (g *given) Error() string { return g.err.Error() }
func (g *given) Unwrap() error { return g.err }

// blamed returns the error of a composition, as given where the caller has given what it is
// about.
func blamed(w Composing, err error) error {
	var e *provider.Error
	if errors.As(err, &e) && w.Gave(e) {
		return &given{e}
	}
	return err
}

// ofCaller reports whether a composition has failed for what the caller has given.
func ofCaller(cause error) bool {
	var g *given
	return errors.As(cause, &g)
}

// report lets the resource show how far a composition is, and ends it where the resource no
// longer waits for it. What fails here is shown later.
func (w *Worker) report(ctx context.Context, a *attempt, percent int, end context.CancelCauseFunc) {
	a.Parts[a.n].Progress = percent
	ctx, cancel := context.WithTimeout(ctx, reportTimeout)
	defer cancel()
	work, err := w.work(ctx, a.Step, a.Attempt)
	switch {
	case err != nil:
		return
	case work == nil:
		end(task.ErrMoved)
		return
	case !work.Progress(w.Now(), a.percent()):
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
func classifyComposition(crashes int, cause error) error {
	var e *provider.Error
	if errors.As(cause, &e) && (e.Kind == provider.BadInput || e.Kind == provider.Rejected) {
		message := e.Message + " Nothing was charged."
		if ofCaller(cause) {
			message = e.Message // what it costs follows
		}
		return task.Permanent(&failed{Failure{Code: provider.FailureCode(e.Code), Message: message, Retryable: e.Kind == provider.Rejected}, cause})
	}
	anew := &failed{Failure{
		Code: provider.FailedComposition, Message: provider.FailureOf(provider.FailedComposition).Message + " Nothing was charged. Try again.", Retryable: true,
	}, cause}
	if crashes >= maxCrashes {
		return task.Permanent(anew)
	}
	return &task.RetryError{Err: anew, Most: maxCompositions}
}
