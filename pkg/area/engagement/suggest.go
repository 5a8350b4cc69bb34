package engagement

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/craft/guard"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// SuggestKind is the kind of the task.
const SuggestKind task.Kind = "comments.suggest"

const (
	// mostAsked is the number of times that a model is asked for a reply that passes the guards, and mostFailures the
	// number of times in a row that it may fail to answer.
	mostAsked     = 2
	mostFailures  = 4
	suggestWithin = 10 * time.Minute
	// longest is the most characters of a suggestion. Platforms take more.
	longest = 500
)

// Models finds the provider of a name for work in a mode.
type Models interface {
	For(name string, mode tenant.Mode) (provider.Provider, error)
}

// Suggester is the handler of the task.
type Suggester struct {
	DB        *store.DB
	Providers Models
	Offer     catalog.Offer
	Now       func() time.Time
}

var _ task.Handler = (*Suggester)(nil)

// work is the payload of a task.
type work struct {
	Number int         `json:"number"`
	Model  string      `json:"model"`
	Hold   ledger.Hold `json:"hold,omitzero"`
	// Asked counts the questions, and Problems are those of the last answer.
	Asked    int      `json:"asked,omitempty"`
	Problems []string `json:"problems,omitempty"`
	// Text is the suggestion once it is written.
	Text string `json:"text,omitempty"`
}

// SuggestionPrice returns the credits of a suggestion: the price of the most that a model may read and write for it.
func SuggestionPrice(m catalog.Model) (int64, error) {
	return m.Cost(catalog.Quantity{InputTokens: prompt.ReplyRead, OutputTokens: prompt.ReplyTokens})
}

// StartSuggestion adds to the transaction that a model suggests a reply to a comment. The caller has reserved the
// price, and writes the comment.
func StartSuggestion(tx *store.Tx, now time.Time, o tenant.Owner, r *Record, model string, hold ledger.Hold) error {
	r.Suggestions++
	r.Suggestion = &Suggestion{State: Pending, CostCredits: hold.Credits, At: resource.Instant(now)}
	r.Touch(now)
	return task.Create(tx, now, task.Task{
		Message: task.Message{ID: task.ID(SuggestKind, r.ID, r.Suggestions), Kind: SuggestKind,
			Queue:   topology.Diagnose,
			Subject: r.ID, Owner: o},
		Deadline: now.Add(suggestWithin),
	}, work{Number: r.Suggestions, Model: model, Hold: hold})
}

// read reads the comment of a task and its content item. The comment is nil if nothing waits for the task, and the item
// if it is gone.
func (w *Suggester) read(ctx context.Context, s *task.Step, p work) (it store.Item, r *Record, of *item.Record,
	err error) {
	found, err := w.DB.Lookup(ctx, store.IDKey(s.Subject))
	if err != nil || found.Kind != Kind || found.Owner != s.Owner {
		return it, nil, nil, err
	}
	if r, err = Decode(&found); err != nil || r.Suggestion == nil ||
		r.Suggestion.State != Pending || r.Suggestions != p.Number {
		return it, nil, nil, err
	}
	of, err = w.item(ctx, s.Owner, r.ContentItemID)
	return found, r, of, err
}

// item reads a content item, or returns nil if it is gone.
func (w *Suggester) item(ctx context.Context, o tenant.Owner, itemID string) (*item.Record, error) {
	found, r, _, err := item.Lookup(ctx, w.DB, itemID)
	if err != nil || r == nil || found.Owner != o {
		return nil, err
	}
	return r, nil
}

// gone is the failure of a comment whose content item was deleted.
var gone = &Failure{Code: string(provider.FailedGeneration), Message: "The content item was deleted."}

// Step asks the model once.
func (w *Suggester) Step(ctx context.Context, s *task.Step) (o task.Outcome, err error) {
	var p work
	if err := s.Decode(&p); err != nil {
		return o, err
	}
	if p.Text != "" {
		return w.end(s, p, nil), nil
	}
	_, r, of, err := w.read(ctx, s, p)
	switch {
	case err != nil:
		return o, task.Again(err)
	case r == nil:
		return w.end(s, p, nil), nil // the comment is gone: only its price is left
	case of == nil:
		return w.end(s, p, gone), nil
	}
	p.Asked++
	if err := s.Lease(ctx, p); err != nil {
		return o, err
	}
	text, err := w.ask(ctx, s, p, r, of)
	if err != nil {
		p.Asked-- // that is counted by the task
		var e *provider.Error
		if errors.As(err, &e) && (e.Kind == provider.BadInput || e.Kind == provider.Rejected) {
			return task.Outcome{Payload: p}, task.Permanent(err)
		}
		retry := &task.RetryError{Err: err, Most: mostFailures}
		if e != nil {
			retry.After = e.RetryAfter
		}
		return task.Outcome{Payload: p}, retry
	}
	if found := w.check(s.Mode, text, r, of); len(found) > 0 {
		p.Problems = []string{guard.Reasons(found)}
		if p.Asked < mostAsked {
			return task.Outcome{Payload: p}, nil
		}
		return w.end(s, p, &Failure{Code: string(found[0].Code), Retryable: true, Message: "The text was " +
			"refused twice: " + guard.Reasons(found) + ". Write the reply yourself."}), nil
	}
	p.Text = text
	return task.Outcome{Payload: p}, nil // the text is safe before it is charged
}

// limit returns the limit of a reply.
func limit(r *Record) platform.Text {
	row, _ := registry.Find(r.Platform)
	text := row.Capabilities.Comments.Text
	text.Max = min(text.Max, longest)
	if text.Max == 0 {
		text.Max = longest // to be sent by hand
	}
	return text
}

// ask has the model write a reply.
func (w *Suggester) ask(ctx context.Context, s *task.Step, p work, r *Record, of *item.Record) (string, error) {
	m, ok := catalog.Find(p.Model)
	if !ok {
		return "", &provider.Error{Kind: provider.BadInput, Code: string(provider.FailedModel),
			Message: "The text model is not offered any more."}
	}
	writer, err := w.Providers.For(m.Provider, s.Mode)
	if err != nil {
		return "", &provider.Error{Kind: provider.BadInput, Code: string(provider.FailedModel),
			Message: "The text model is not offered any more.", Cause: err}
	}
	row, _ := registry.Find(r.Platform)
	asked := prompt.Replying{Channel: of.Brief.Voice, Language: of.Language, Platform: row.Capabilities.Label,
		Limit: limit(r).Max, Post: posted(of, r), Author: string(r.Author.Name), Comment: Clean(r.Text, 2000),
		Problems: p.Problems}.Prompt()
	sample, err := json.Marshal(map[string]string{"reply": "Thank you for your comment! [sandbox]"})
	if err != nil {
		return "", err
	}
	raw, err := provider.Ask(ctx, writer, provider.Request{
		Kind: provider.KindText, Model: m.ProviderModel, Options: m.ProviderOptions,
		ClientToken: fmt.Sprint(s.ID, "/", p.Asked), Prompt: asked.User, Language: of.Language,
		PromptVersion: asked.Version,
		Form:          &provider.Form{System: asked.System, Tokens: prompt.ReplyTokens, Sample: sample},
	})
	if err != nil {
		return "", err
	}
	var answer struct {
		Reply string `json:"reply"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil || resource.IsBlank(answer.Reply) {
		return "", &provider.Error{Kind: provider.Transient, Code: string(provider.FailedResultInvalid),
			Message: "The text model wrote no reply.", Cause: err}
	}
	return Clean(answer.Reply, 2*longest), nil
}

// posted returns the text of the post that has the comment.
func posted(of *item.Record, r *Record) string {
	if pub := of.Publication(r.PublicationID); pub != nil && pub.Posted != nil && pub.Posted.Text != "" {
		return string(pub.Posted.Text)
	}
	return string(of.Title + "\n" + of.Caption)
}

// check returns what the guards find. What a stranger claims in a comment is no fact. The texts of the sandbox are not
// checked.
func (w *Suggester) check(mode tenant.Mode, text string, r *Record, of *item.Record) []guard.Finding {
	if mode == tenant.Test {
		return nil
	}
	return guard.Check([]guard.Field{{Path: "/suggested_reply", Text: text}}, guard.Rules{
		Language: "und", Now: w.Now(), Forbidden: of.Brief.Forbidden,
		Facts:  []string{of.Brief.Name, of.Brief.Voice, of.Prompt, posted(of, r)},
		Limits: []guard.Limit{{Path: "/suggested_reply", Text: limit(r), Target: r.Platform}},
	})
}

// end returns the outcome of a suggestion that is written, or has failed. It charges or releases its price.
func (w *Suggester) end(s *task.Step, p work, f *Failure) task.Outcome {
	return task.Outcome{Done: true, Join: func(ctx context.Context, tx *store.Tx) error {
		now := w.Now()
		if p.Hold.Credits > 0 {
			if p.Text != "" {
				ledger.Charge(tx, now, s.Account, p.Hold)
			} else if err := ledger.Release(tx, now, s.Account, p.Hold, 0); err != nil {
				return err
			}
		}
		it, r, _, err := w.read(ctx, s, p)
		if err != nil || r == nil {
			return err
		}
		done := *r.Suggestion
		done.State, done.Failure = Done, f
		if f != nil {
			done.State, done.CostCredits = Failed, 0
		} else {
			r.SuggestedReply = &p.Text
		}
		r.Suggestion = &done
		r.Touch(now)
		return r.Replace(tx, it)
	}}
}

// Fail ends a suggestion that was not written.
func (w *Suggester) Fail(_ context.Context, s *task.Step, cause error) (o task.Outcome, err error) {
	var p work
	if err := s.Decode(&p); err != nil {
		return o, err
	}
	if p.Text != "" {
		return w.end(s, p, nil), nil
	}
	f := &Failure{Code: string(provider.FailedProviderUnavailable), Retryable: true,
		Message: "The text model could not be reached after several attempts. Ask for another suggestion later."}
	var e *provider.Error
	if errors.As(cause, &e) && (e.Kind == provider.BadInput || e.Kind == provider.Rejected) {
		f = &Failure{Code: e.Code, Message: e.Message, Retryable: e.Kind == provider.Rejected}
	}
	return w.end(s, p, f), nil
}
