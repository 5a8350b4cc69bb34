package generate

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/task"
)

// Moderated is Work whose texts are moderated before they are used.
type Moderated interface {
	Work
	// Publishes returns the text that the work would publish of the result of part n, empty if it would publish none.
	Publishes(n int, made Made) string
}

// moderates reports whether the result of the current part is to be moderated before it is used.
func (w *Worker) moderates(a *attempt, made Made) bool {
	return w.Moderator != nil && a.Mode == tenant.Live && (made.Text != nil || made.Object != nil)
}

// moderate moderates the text of a part, in a step of its own: while the moderator cannot be reached, the step is taken
// again, and nothing is written anew. A text that is flagged is written anew once, and fails the work the second time.
// A form that is flagged counts as empty: the work goes on without it.
func (w *Worker) moderate(ctx context.Context, a *attempt) (o task.Outcome, err error) {
	part := &a.Parts[a.n]
	work, err := w.work(ctx, a.Step, a.Attempt)
	if err != nil {
		return o, err
	}
	if work == nil {
		return o, task.ErrOrphaned
	}
	text := ""
	if moderated, ok := work.(Moderated); ok {
		text = moderated.Publishes(a.n, part.Made)
	}
	flagged := false
	if text != "" {
		if flagged, err = w.Moderator.Moderate(ctx, text); err != nil {
			return o, unmoderated(err)
		}
	}
	switch {
	case flagged && part.Made.Text == nil:
		part.Made.Object = json.RawMessage("{}")
	case flagged && !part.flagged(provider.FailureOf(provider.FailedFlagged)):
		return o, provider.FailureOf(provider.FailedFlagged)
	case flagged:
		part.Made = Made{}
		return o, nil
	}
	return o, part.move(done)
}

// unmoderated returns the error of a moderation without a result. No error of the moderator is about the text, so each
// may pass.
func unmoderated(cause error) error {
	e := &provider.Error{Kind: provider.Transient, Code: string(provider.FailedProviderUnavailable),
		Message: "The text could not be moderated.", Cause: cause}
	var of *provider.Error
	if errors.As(cause, &of) {
		e.RetryAfter = of.RetryAfter
	}
	return e
}
