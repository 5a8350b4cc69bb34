package architect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/backoff"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/generate/catalog"
)

// The bounds of a reply, which fix its price: how often the model is asked, and the
// tokens that it reads in all and writes each time.
const (
	maxRounds  = 6
	maxRead    = 144_000
	maxWritten = 1500
)

// maxHistory is the most tokens of a chat that the model reads. Older messages are left out.
const maxHistory = 8000

// maxTries is the number of times that the model is asked for one turn while it is busy.
const maxTries = 3

// maxSources is the most resources that a reply names.
const maxSources = 50

// system returns the system prompt of a question. Only the service's own words are in it, and ids that it has made.
func system(q question, now time.Time) string {
	about := "The chat is " + NoFactory + "."
	if q.FactoryID != "" {
		about = "The chat is about the factory " + q.FactoryID + ", which tools use where no other one is named."
	}
	return prompt.Conversing{Today: now.UTC().Format(time.DateOnly), About: about}.System()
}

// turns returns the end of a chat as a conversation. It begins and ends with the user;
// messages without a reply are put together.
func turns(messages []Message) (all []provider.Turn) {
	room := maxHistory
	for i, m := range slices.Backward(messages) {
		text := m.Text
		if len(m.DraftIDs) > 0 {
			text += "\n\n(Drafts that were made: " + strings.Join(m.DraftIDs, ", ") + ")"
		}
		if room -= provider.TokensOf(len(text)); room < 0 && i < len(messages)-1 {
			break
		}
		model := m.Role == Assistant
		if len(all) > 0 && all[0].Model == model {
			all[0].Text = text + "\n\n" + all[0].Text
			continue
		}
		all = slices.Insert(all, 0, provider.Turn{Model: model, Text: text})
	}
	if all[0].Model {
		all = all[1:]
	}
	return all
}

// answer has the model answer a question.
func (s *Service) answer(ctx context.Context, q question) (reply, error) {
	switch q.Outcome {
	case outcomeTimeout:
		return reply{}, errs.New(errs.Timeout, "The request took too long or was interrupted, and has failed. Repeat "+
			"it with a new Idempotency-Key.")
	case outcomeUnavailable:
		return reply{}, callerError(&provider.Error{Kind: provider.Transient,
			Code: string(provider.FailedProviderUnavailable), Message: "Rehearsed."})
	}
	p := auth.FromContext(ctx)
	_, model, err := s.model(p.Mode)
	if err != nil {
		return reply{}, err
	}
	m, _ := catalog.Find(q.Model) // it was chosen from there
	session := &session{Service: s, caller: p, chatID: q.ChatID, factoryID: q.FactoryID, used: q.Used}
	c := provider.Conversation{Model: m.ProviderModel, Options: m.ProviderOptions, System: system(q, s.now()),
		Turns: q.Turns, Tokens: maxWritten}
	if c.Tools, err = described(); err != nil {
		return reply{}, err
	}
	for read, round := 0, 0; round < maxRounds; round++ {
		if read += size(c); read > maxRead {
			break
		}
		turn, err := next(ctx, model, c)
		if err != nil {
			return reply{}, callerError(err)
		}
		if len(turn.Calls) == 0 {
			text := provider.Clip(provider.Paragraphs(turn.Text), MaxReply)
			if text == "" {
				break
			}
			return reply{text: text, drafts: session.drafts, sources: session.cited(), used: session.used}, nil
		}
		results := provider.Turn{}
		for _, call := range turn.Calls {
			result, err := session.run(ctx, call)
			if err != nil {
				return reply{}, err
			}
			results.Results = append(results.Results, result)
		}
		c.Turns = append(slices.Clip(c.Turns), turn, results)
	}
	return reply{}, callerError(&provider.Error{Kind: provider.Rejected, Code: "text_unreadable",
		Message: "The model came to no reply."})
}

// next asks the model for its next turn, and again if it is busy.
func next(ctx context.Context, model provider.Converser, c provider.Conversation) (turn provider.Turn, err error) {
	for try := range maxTries {
		if err := backoff.Wait(ctx, try, 200*time.Millisecond, time.Second); err != nil {
			return turn, err
		}
		turn, err = model.Converse(ctx, c)
		var e *provider.Error
		if !errors.As(err, &e) || e.Kind != provider.Transient {
			return turn, err
		}
	}
	return turn, err
}

// size returns the most tokens that a model reads of a conversation.
func size(c provider.Conversation) int {
	bytes := len(c.System)
	for _, t := range c.Tools {
		bytes += len(t.Name) + len(t.Description) + len(t.Input)
	}
	for _, t := range c.Turns {
		bytes += len(t.Text)
		for _, call := range t.Calls {
			bytes += len(call.Name) + len(call.Input)
		}
		for _, r := range t.Results {
			bytes += len(r.Content)
		}
	}
	return provider.TokensOf(bytes)
}

// session is the state of the tools of one reply.
type session struct {
	*Service
	caller    *auth.Principal
	chatID    string
	factoryID string // the default of the tools
	drafts    []Draft
	sources   []string
	used      []auth.Scope // of the resources that were read for the reply
}

// read notes that resources were read for the reply.
func (d *session) read(ids ...string) {
	for _, id := range ids {
		if !slices.Contains(d.sources, id) {
			d.sources = append(d.sources, id)
		}
	}
}

// cited returns the ids that the reply names as its sources.
func (d *session) cited() []string {
	if d.sources == nil {
		return []string{}
	}
	return d.sources[:min(len(d.sources), maxSources)]
}

// run runs a tool for the model. A refusal of the tool is a result, too: the model may try another input.
func (d *session) run(ctx context.Context, call provider.ToolCall) (provider.ToolResult, error) {
	data, err := d.call(ctx, call)
	var refused *errs.Error
	switch {
	case errors.As(err, &refused) && refused.Code != errs.Internal && refused.Code != errs.ProviderUnavailable &&
		refused.Code != errs.Timeout:
		data = map[string]any{"error": map[string]any{"code": refused.Code, "message": refused.Message,
			"details": refused.Details}}
	case err != nil:
		return provider.ToolResult{}, fmt.Errorf("architect: tool %.40q: %w", call.Name, err)
	}
	content, err := json.Marshal(data)
	if err == nil && len(content) > maxResult {
		content, err = json.Marshal(map[string]any{"error": map[string]any{"code": "too_large",
			"message": "There is too much of it. Ask for less."}})
	}
	return provider.ToolResult{ID: call.ID, Content: content, Failed: refused != nil}, err
}

func (d *session) call(ctx context.Context, call provider.ToolCall) (any, error) {
	i := slices.IndexFunc(tools, func(t tool) bool { return t.name == call.Name })
	if i < 0 {
		return nil, errs.New(errs.NotFound, "There is no tool %.40q.", call.Name)
	}
	if lacking := d.caller.Lacking(tools[i].scopes); len(lacking) > 0 {
		return nil, errs.New(errs.InsufficientScope, "The user's API key lacks the scope %s.", lacking[0])
	}
	d.used = Union(d.used, tools[i].scopes)
	return tools[i].run(ctx, d, call.Input)
}
