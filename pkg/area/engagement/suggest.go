package engagement

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/craft/guard"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/generate/ask"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// SuggestKind is the kind of the task that has a model write a reply.
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

// Suggester writes suggestions of replies to comments.
type Suggester struct {
	DB        *store.DB
	Providers ask.Models
	Now       func() time.Time
}

// work is the payload of a task.
type work struct {
	Number int         `json:"number"`
	Model  string      `json:"model"`
	Hold   ledger.Hold `json:"hold,omitzero"`
}

// suggestion is what the answers of a model have told: a text that can be used, or why the last one cannot.
type suggestion struct {
	Text     string `json:"text,omitempty"`
	Code     string `json:"code,omitempty"`
	Problems string `json:"problems,omitempty"`
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

// Suggest asks a model for a reply to a comment, and once more if the guards refuse its answer. Then it stores the
// reply or the reason for its failure, and charges or releases the price.
func (w *Suggester) Suggest(ctx context.Context, r *task.Run) error {
	var p work
	if err := r.Decode(&p); err != nil {
		return err
	}
	var c *Record
	var of *item.Record
	answer, err := ask.Talk[suggestion]{Models: w.Providers, Name: "reply", Questions: mostAsked,
		Failures: mostFailures,
		NextQuestion: func(ctx context.Context, known suggestion) (q ask.Question, err error) {
			if _, c, of, err = w.read(ctx, r, p); err != nil {
				return q, task.Again(err)
			}
			if c == nil || of == nil {
				return q, task.Permanent(errors.New("engagement: the comment or its content item is gone"))
			}
			return question(p.Model, c, of, known.Problems), nil
		},
		Take: func(known *suggestion, answer json.RawMessage) (bool, error) {
			var form struct{ Reply string }
			if err := json.Unmarshal(answer, &form); err != nil || text.IsBlank(form.Reply) {
				return false, &provider.Error{Kind: provider.Transient, Code: string(provider.FailedResultInvalid),
					Message: "The text model wrote no reply.", Cause: err}
			}
			known.Text = Clean(form.Reply, 2*longest)
			if found := w.check(r.Mode, known.Text, c, of); len(found) > 0 {
				*known = suggestion{Code: string(found[0].Code), Problems: guard.Reasons(found)}
			}
			return known.Text != "", nil
		}}.In(ctx, r)
	if task.Waits(err) {
		return err
	}
	return r.End(func(ctx context.Context, tx *store.Tx) error {
		now, charged := w.Now(), int64(0)
		if answer.Text != "" {
			charged = p.Hold.Credits
		}
		if err := ledger.Release(tx, now, r.Account, p.Hold, charged); err != nil {
			return err
		}
		it, c, of, failed := w.read(ctx, r, p)
		if failed != nil || c == nil {
			return failed // if the comment is gone, only its price is left
		}
		done := *c.Suggestion
		if done.State = Done; answer.Text != "" {
			c.SuggestedReply = &answer.Text
		} else {
			done.State, done.CostCredits, done.Failure = Failed, 0, noSuggestion(answer, of, err)
		}
		c.Suggestion = &done
		c.Touch(now)
		return c.Replace(tx, it)
	})
}

// noSuggestion returns why there is no suggestion.
func noSuggestion(answer suggestion, of *item.Record, err error) *Failure {
	refused := provider.RefusalOf(err)
	switch {
	case of == nil:
		return &Failure{Code: string(provider.FailedGeneration), Message: "The content item was deleted."}
	case err == nil:
		return &Failure{Code: answer.Code, Retryable: true, Message: "The text was refused twice: " + answer.Problems +
			". Write the reply yourself."}
	case refused != nil:
		return &Failure{Code: refused.Code, Message: refused.Message, Retryable: refused.Kind == provider.Rejected}
	}
	return &Failure{Code: string(provider.FailedProviderUnavailable), Retryable: true,
		Message: "The text model could not be reached after several attempts. Ask for another suggestion later."}
}

// read reads the comment of a task and its content item. The comment is nil if nothing waits for the task, and the item
// if it is gone.
func (w *Suggester) read(ctx context.Context, r *task.Run, p work) (it store.Item, c *Record, of *item.Record,
	err error) {
	if it, err = w.DB.Lookup(ctx, store.IDKey(r.Subject)); err != nil || it.Kind != Kind || it.Owner != r.Owner {
		return it, nil, nil, err
	}
	if c, err = Decode(&it); err != nil || c.Suggestion == nil || c.Suggestion.State != Pending ||
		c.Suggestions != p.Number {
		return it, nil, nil, err
	}
	_, of, _, err = item.Lookup(ctx, w.DB, r.Owner, c.ContentItemID)
	return it, c, of, err
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

// question asks for a reply without the problems of the last one.
func question(model string, c *Record, of *item.Record, problems string) ask.Question {
	row, _ := registry.Find(c.Platform)
	asked := prompt.Replying{Channel: of.Brief.Voice, Language: of.Item.Language, Platform: row.Capabilities.Label,
		Limit: limit(c).Max, Post: posted(of, c), Author: string(c.Author.Name), Comment: Clean(c.Text, 2000)}
	if problems != "" {
		asked.Problems = []string{problems}
	}
	return ask.Question{Model: model, Prompt: asked.Prompt(), Language: of.Item.Language, Tokens: prompt.ReplyTokens,
		Sample: map[string]string{"reply": "Thank you for your comment! [sandbox]"}}
}

// posted returns the text of the post that has the comment.
func posted(of *item.Record, r *Record) string {
	if pub := of.Item.Publication(r.PublicationID); pub != nil && pub.Posted != nil && pub.Posted.Text != "" {
		return string(pub.Posted.Text)
	}
	return string(of.Item.Title + "\n" + of.Item.Caption)
}

// check returns what the guards find. What a stranger claims in a comment is no fact. The texts of the sandbox are not
// checked.
func (w *Suggester) check(mode tenant.Mode, text string, r *Record, of *item.Record) []guard.Finding {
	if mode == tenant.Test {
		return nil
	}
	return guard.Check([]guard.Field{{Path: "/suggested_reply", Text: text}}, guard.Rules{
		Language: "und", Now: w.Now(), Forbidden: of.Brief.Forbidden,
		Facts:  []string{of.Brief.Name, of.Brief.Voice, of.Item.Prompt, posted(of, r)},
		Limits: []guard.Limit{{Path: "/suggested_reply", Text: limit(r), Target: r.Platform}},
	})
}
