package generate

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/tenant"
)

// moderates reports whether an answer is to be moderated before it is used.
func (w *Worker) moderates(t *turn, q Question) bool {
	return w.Moderator != nil && t.Mode == tenant.Live && q.Publishes != nil
}

// moderate moderates an answer, in a step of its own: while the moderator cannot be reached, the step is taken again,
// and nothing is written anew. A text that is flagged is written anew once, and fails the work the second time. A form
// that is flagged counts as empty: the work goes on without it.
func (w *Worker) moderate(ctx context.Context, t *turn, q Question) (err error) {
	c, flagged := t.call(), false
	if text := q.Publishes(c.answer()); text != "" {
		if flagged, err = w.Moderator.Moderate(ctx, text); err != nil {
			return moderationError(err)
		}
	}
	switch {
	case flagged && c.Answer.Text == nil:
		c.Answer.Object = json.RawMessage("{}")
	case flagged && !t.flagged(provider.FailureOf(provider.FailedFlagged)):
		return provider.FailureOf(provider.FailedFlagged)
	case flagged:
		c.Answer = nil
		return nil
	}
	return c.move(done)
}

// moderationError returns the error of a moderation without a result. No error of the moderator is about the text, so
// each may pass.
func moderationError(cause error) error {
	e := &provider.Error{Kind: provider.Transient, Code: string(provider.FailedProviderUnavailable),
		Message: "The text could not be moderated.", Cause: cause}
	var of *provider.Error
	if errors.As(cause, &of) {
		e.RetryAfter = of.RetryAfter
	}
	return e
}
