// Package ask has tasks ask text models.
package ask

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/task"
)

// Models finds the provider of a name for work in a mode.
type Models interface {
	For(name string, mode tenant.Mode) (provider.Provider, error)
}

// Question is one question to a text model, which answers with a JSON object.
type Question struct {
	// Model is its id in the catalog.
	Model    string
	Prompt   prompt.Prompt
	Language string
	// Tokens is the size of the longest answer, and Sample the answer of the sandbox.
	Tokens    int
	Sample    any
	Rehearsal provider.Rehearsal
}

// Talk is what a task asks a model until it knows enough.
type Talk[T any] struct {
	Models Models
	// Name is the name of what is known in the memory of the task.
	Name string
	// Questions is the number of times that the model is asked. An attempt whose function has died counts. Failures is
	// the number of times in a row that it may fail to answer.
	Questions, Failures int
	// NextQuestion returns the next question from what is known of earlier answers.
	NextQuestion func(ctx context.Context, known T) (Question, error)
	// Take adds an answer to what is known, unless it returns an error. It reports whether that is enough.
	Take func(known *T, answer json.RawMessage) (enough bool, err error)
}

// state is what a task remembers of a talk.
type state[T any] struct {
	Questions int  `json:"asked"`
	Ended     bool `json:"ended,omitempty"`
	Answers   T    `json:"known"`
}

var errUnanswered = errors.New("ask: the functions that have asked the model died")

// In asks the model in a step each, and returns what is known in the end: that is enough, or the last question was
// answered. What is known is safe then. A permanent error says why the model is asked no more: it has refused a
// question (see provider.RefusalOf), it has failed too often, or the task has failed. Then, too, In returns what is
// known.
func (t Talk[T]) In(ctx context.Context, r *task.Run) (T, error) {
	var s state[T]
	if err := r.Recall(t.Name, &s); err != nil {
		return s.Answers, err
	}
	switch {
	case s.Ended:
		return s.Answers, nil
	case r.Cause() != nil:
		return s.Answers, task.Permanent(r.Cause())
	case s.Questions >= t.Questions:
		return s.Answers, task.Permanent(errUnanswered)
	}
	q, err := t.NextQuestion(ctx, s.Answers)
	if err != nil {
		return s.Answers, err
	}
	// Two deliveries of a message must not ask at the same time.
	s.Questions++
	if err := errors.Join(r.Keep(t.Name, s), r.Remember(ctx)); err != nil {
		return s.Answers, err
	}
	answer, err := q.ask(ctx, t.Models, r.Mode, fmt.Sprintf("%s/%d/%d", r.ID, r.Task.Step, s.Questions))
	enough := false
	if err == nil {
		enough, err = t.Take(&s.Answers, answer)
	}
	if err != nil {
		s.Questions-- // the task counts failures
		return s.Answers, errors.Join(r.Keep(t.Name, s), t.failed(ctx, r, err))
	}
	s.Ended = enough || s.Questions == t.Questions
	if err := r.Keep(t.Name, s); err != nil || !s.Ended {
		return s.Answers, errors.Join(err, r.Sleep(0))
	}
	return s.Answers, r.Remember(ctx)
}

// failed returns the error of a question as one that decides whether the model is asked again.
func (t Talk[T]) failed(ctx context.Context, r *task.Run, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if provider.RefusalOf(err) != nil || r.Failures+1 >= t.Failures && !task.Throttled(err) {
		slog.Warn("model asked no more", "task", r.ID, "request_id", r.Request, "account_id", r.Account, "error", err)
		return task.Permanent(err)
	}
	retry := &task.RetryError{Err: err, MaxFailures: t.Failures}
	var e *provider.Error
	if errors.As(err, &e) {
		retry.After = e.RetryAfter
	}
	return retry
}

// ask asks the model once.
func (q Question) ask(ctx context.Context, models Models, mode tenant.Mode, token string) (json.RawMessage, error) {
	gone := &provider.Error{Kind: provider.BadInput, Code: string(provider.FailedModel),
		Message: "The text model is not offered any more."}
	m, ok := catalog.Find(q.Model)
	if !ok {
		return nil, gone
	}
	writer, err := models.For(m.Provider, mode)
	if err != nil {
		gone.Cause = err
		return nil, gone
	}
	sample, err := json.Marshal(q.Sample)
	if err != nil {
		return nil, err
	}
	return provider.Ask(ctx, writer, provider.Request{Kind: provider.KindText, Model: m.ProviderModel,
		Options: m.ProviderOptions, ClientToken: token, Prompt: q.Prompt.User, Language: q.Language,
		PromptVersion: q.Prompt.Version, Rehearsal: q.Rehearsal,
		Form: &provider.Form{System: q.Prompt.System, Tokens: q.Tokens, Sample: sample}})
}
