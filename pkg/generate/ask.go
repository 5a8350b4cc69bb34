package generate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Writing is Work with texts.
type Writing interface {
	Work
	// Write writes the text of part n. It runs from the top at each step of the part: the questions that were answered
	// before are answered from memory, and at most one is asked. The error of ask then ends the step, and Write returns
	// it together with the best text that there is until now. The item keeps that text if the work is canceled.
	Write(ctx context.Context, n int, made []PartResult, ask Asker) (PartResult, error)
	// LeavesOut reports whether part n, a copy, is not needed for what was written.
	LeavesOut(n int, made []PartResult) bool
}

// Asker asks models the questions of a text, and remembers their answers.
type Asker interface {
	// Ask returns the answer to the question of a name. Names are stored. The answer is empty if the part has no such
	// question, or if the text can do without the answer and there is none. A question of the part that is left out is
	// charged as if it was asked.
	Ask(ctx context.Context, name string, q Question) (PartResult, error)
	// Read reads what the text draws on, and stores it with the resource by the change that read returns. A question
	// that is repeated later is so the same. It ends the step. If others wrote what is read, a function may die of it.
	Read(ctx context.Context, others bool, read func(context.Context, *store.DB, time.Time) (func(Work), error)) error
}

// Question is a question to a model. Its functions are called when it is asked, or when its answer is there.
type Question struct {
	// Request returns what the model is asked. It may read other resources.
	Request func(context.Context, *store.DB) (provider.Request, error)
	// Check returns nil if an answer can be used, or why it cannot. It may read other resources. Without Check every
	// answer can be used.
	Check func(context.Context, *store.DB, time.Time, PartResult) (*Refusal, error)
	// Publishes returns the text of an answer that readers see. It is moderated. Without Publishes they see none.
	Publishes func(PartResult) string
	// Optional reports that the text can do without an answer.
	Optional bool
}

// Refusal is why an answer cannot be used. The model is told the problems once. If its next answer is refused, too, the
// work fails with the code of that refusal, or uses the answer.
type Refusal struct {
	Code     provider.FailureCode
	Problems []string // in words for the model
	// Message says to the caller what to do about it.
	Message string
	// HeldForApproval reports that the work uses the answer if it is refused again: a person decides about it then, for
	// example.
	HeldForApproval bool
}

// errAsked ends a step that has asked a question: its outcome is committed before the next question.
var errAsked = errors.New("generate: the next step goes on")

// write takes a step of a text.
func (h handler) write(ctx context.Context, t *turn) (o task.Outcome, err error) {
	work, begun, err := h.begin(ctx, t, &o)
	if err != nil || !begun {
		return o, err
	}
	writing, ok := work.(Writing)
	if !ok {
		return o, task.Permanent(fmt.Errorf("generate: %s has a text, and does not write", t.ID))
	}
	made, err := writing.Write(ctx, t.n, t.results(), &asker{Worker: h.Worker, turn: t, work: work, outcome: &o})
	if err != nil && !errors.Is(err, errAsked) {
		return o, err
	}
	part := &t.Parts[t.n]
	if part.Result = made; err == nil {
		part.end()
	}
	return o, nil
}

// asker is the Asker of one step of a text.
type asker struct {
	*Worker
	turn    *turn
	work    Work
	outcome *task.Outcome
	// hasAsked reports whether the step has made its call.
	hasAsked bool
}

func (a *asker) Ask(ctx context.Context, name string, q Question) (made PartResult, err error) {
	calls := a.turn.Parts[a.turn.n].Calls
	i := slices.IndexFunc(calls, func(c call) bool { return c.Name == name })
	if i < 0 {
		return made, nil
	}
	c := &calls[i]
	switch {
	case c.ended():
		return c.answer(), nil
	case a.hasAsked:
		return made, errAsked
	}
	a.hasAsked = true
	a.turn.moveTo(a.turn.n, i)
	switch {
	case c.is(held):
		err = a.moderate(ctx, a.turn, q)
	case c.is(ready):
		err = a.fetch(ctx, a.turn, q)
	default:
		err = a.submit(ctx, a.turn, a.work, q, a.outcome)
	}
	switch {
	case err != nil:
		return made, err
	case !c.ended():
		return made, errAsked
	default:
		return c.answer(), nil
	}
}

func (a *asker) Read(ctx context.Context, others bool,
	read func(context.Context, *store.DB, time.Time) (func(Work), error)) error {
	if others {
		if err := a.turn.GuardShared(ctx); err != nil {
			return err
		}
	}
	change, err := read(ctx, a.DB, a.Now())
	if err != nil {
		return err
	}
	a.outcome.Join = a.join(a.turn.Step, a.turn.Attempt, func(_ *store.Tx, work Work) error {
		change(work)
		return nil
	})
	return errAsked
}

// unreadable has the model mend an answer that cannot be read, and reports whether it does: once for each question.
func (c *call) unreadable(err error) bool {
	var u *provider.Unreadable
	if !errors.As(err, &u) || c.MendTried {
		return false
	}
	c.MendTried = true
	c.repair("unreadable", u.Answer, u.Reason.Error())
	return true
}

// flagged has the model write anew what the guard of its provider has flagged, and reports whether it does: once for
// each question.
func (t *turn) flagged(err error) bool {
	var e *provider.Error
	c := t.call()
	if !errors.As(err, &e) || e.Code != string(provider.FailedFlagged) || c.Refused ||
		t.Parts[t.n].Kind != provider.KindText {
		return false
	}
	c.Refused = true
	c.repair(e.Code, "", "the guard of the model has flagged the text: write it without what may offend or harm")
	return true
}

// spares reports whether the text can do without the answer to a question whose error will not pass.
func (q Question) spares(err error) bool {
	var u *provider.Unreadable
	var final *stepError
	return err != nil && q.Optional && (refused(err) || errors.As(err, &u) || errors.As(err, &final))
}

// repair has the question asked again.
func (c *call) repair(why, answer string, problems ...string) {
	c.Repair, c.Handle = &provider.Repair{Answer: answer, Problems: problems}, ""
	_ = c.move(prepared) // what has an answer can be asked for another
	metric.Count("RepairedTexts", "reason", why)
}

// accept stores a result that can be used. It reports false if the result is refused, and its model asked again.
func (w *Worker) accept(ctx context.Context, t *turn, q Question, result provider.Result) (ok bool, err error) {
	made := PartResult{Text: result.Text, Object: result.Object}
	if q.Check == nil || result.Text == nil && result.Object == nil {
		return true, w.storeFiles(ctx, t, q, result)
	}
	c := t.call()
	refusal, err := q.Check(ctx, w.DB, w.Now(), made)
	switch {
	case err != nil:
		return false, err
	case refusal == nil, c.Refused && refusal.HeldForApproval:
		return true, w.storeFiles(ctx, t, q, result)
	case c.Refused:
		return false, task.Permanent(&stepError{Failure{Code: refusal.Code, Message: refusal.Message +
			" Nothing was charged.", Retryable: true}, errors.New("generate: the text is refused again")})
	}
	answer := result.Object
	if made.Text != nil {
		if answer, err = json.Marshal(made.Text); err != nil {
			return false, err
		}
	}
	c.Refused = true
	c.repair(string(refusal.Code), string(answer), refusal.Problems...)
	return false, nil
}

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
