package architect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/backoff"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// replyTime bounds a reply. The gateway waits 29 seconds at most.
const replyTime = 22 * time.Second

// maxTitle is the most characters of a title that is made of a message.
const maxTitle = 60

// The outcomes that a test key can request, besides those of generate.RehearsedError.
const (
	outcomeReplied     = "replied"
	outcomeTimeout     = "timeout"
	outcomeUnavailable = "provider_unavailable"
)

// rehearsal is the result that a test key requests.
type rehearsal struct {
	// Result of the message. All but replied refuse the call with that error, as with a live key.
	Outcome string `json:"outcome,omitempty" format:"chat-outcome" default:"replied"`
}

type messageBody struct {
	// What you ask or want, in any language.
	Text string `json:"text" format:"chat-text"`
	// Simulated result. For test keys only.
	Sandbox *rehearsal `json:"sandbox,omitempty"`
}

func (b messageBody) check(mode tenant.Mode) error {
	return httpapi.CheckSandbox(b.Sandbox != nil, mode)
}

type sendInput struct {
	Body messageBody
}

// question is a message to answer, with the state that its answer needs.
type question struct {
	ChatID    string          `json:"chat_id"`
	MessageID string          `json:"message_id"`
	FactoryID string          `json:"factory_id,omitempty"` // of the chat
	Model     string          `json:"model"`
	Turns     []provider.Turn `json:"turns"`
	// ReplyScopes are the scopes that the replies in Turns were made with.
	ReplyScopes []auth.Scope `json:"used,omitempty"`
	Outcome     string       `json:"outcome,omitempty"`
	Hold        ledger.Hold  `json:"hold,omitzero"`
}

// reply is the model's answer.
type reply struct {
	text    string
	drafts  []Draft
	sources []string
	scopes  []auth.Scope
}

func (s *Service) registerSend(r *httpapi.Router) {
	send := httpapi.Op{ID: "sendMessage", Method: http.MethodPost, Path: s.chats.Path + "/messages",
		Scope: auth.ArchitectUse, Function: "architect", Tag: "Architect", Summary: "Send a message",
		Description: "Adds your message to the chat, and returns the reply of the assistant, in the language of the " +
			"message. It reads what your key may read, and `sources` names that. It makes drafts where you ask for " +
			"something: `draft_ids` names them. Nothing is created before you apply one. " +
			"Each message costs the same, whatever the reply: the credits are reserved first, and charged with the " +
			"reply. A reply that takes longer than about 22 seconds is refused with `timeout`: your message stays in " +
			"the chat, and nothing is charged. One message of a chat is answered at a time. With a test key nothing " +
			"is spent, the assistant answers by fixed rules, and `sandbox` selects the result.",
		Status: http.StatusCreated, Opens: httpapi.Spending,
		Errors: []errs.Code{errs.InvalidState, errs.InsufficientBalance, errs.SpendLimitReached}}
	httpapi.Act(r, send, httpapi.Action[sendInput, question, reply, Message]{
		Within: replyTime, Queue: topology.Settle, Prepare: s.ask, Do: s.answer, Settle: s.keep, Release: s.giveUp,
	})
}

// price returns the credits of a message: the price of the most that a reply may read and write.
func price(m catalog.Model) (int64, error) {
	return m.Cost(catalog.Quantity{InputTokens: maxRead, OutputTokens: maxRounds * maxWritten})
}

// Estimate returns the price of a body of sendMessage with a live key. The offer must be known.
func Estimate(ctx context.Context, offer catalog.Offer, body any) ([]int64, error) {
	b, err := httpapi.Member[messageBody]("body", body)
	if err != nil {
		return nil, err
	}
	if err := b.check(auth.FromContext(ctx).Mode); err != nil {
		return nil, errs.Below("/body", err)
	}
	m, err := offer.Default(provider.KindText, true)
	if err != nil {
		return nil, err
	}
	credits, err := price(m)
	return []int64{credits}, err
}

// ask adds the message of the user to the chat, and reserves the price of its answer.
func (s *Service) ask(ctx context.Context, tx *store.Tx, in *sendInput) (q question, err error) {
	p, now, b := auth.FromContext(ctx), s.now(), in.Body
	if err := b.check(p.Mode); err != nil {
		return q, err
	}
	m, _, err := s.model(p.Mode)
	if err != nil {
		return q, err
	}
	credits, err := price(m)
	if err != nil {
		return q, err
	}
	var funds []store.Key
	if p.Mode == tenant.Live {
		funds = ledger.FundsKeys(p.Account, now)
	}
	f, err := s.chats.FindWith(ctx, httpapi.PathID(ctx), nil, funds...)
	if err != nil {
		return q, err
	}
	r := f.Record
	if err := ready(r, len(f.Item.Doc), len(b.Text)); err != nil {
		return q, err
	}
	message := Message{ID: id.New(id.Message, now), Role: User, Text: b.Text, DraftIDs: []string{},
		Sources: []string{}, LackingScopes: []auth.Scope{}, CreatedAt: resource.Instant(now)}
	q = question{ChatID: r.ID, MessageID: message.ID, Model: m.ID}
	if b.Sandbox != nil {
		q.Outcome = b.Sandbox.Outcome
		if err := generate.RehearsedError(q.Outcome, credits, p); err != nil {
			return q, err
		}
	}
	if p.Mode == tenant.Live {
		q.Hold, err = ledger.Reserve(tx, now, ledger.Reservation{
			Account: p.Account, Profile: f.Item.Profile, Subject: message.ID, About: r.About(), Credits: credits,
			Payer: ledger.PayerOf(now, p),
		}, ledger.FundsOf(f.Beside))
		if err != nil {
			return q, err
		}
	}
	if r.FactoryID != nil && p.Has(auth.FactoriesRead) {
		q.FactoryID = *r.FactoryID
	}
	if r.Title == "" {
		r.Title = resource.Text(provider.Clip(provider.OneLine(b.Text), maxTitle))
	}
	r.Messages, r.QuestionID = append(r.Messages, message), message.ID
	messages, used := r.Readable(p)
	q.Turns, q.ReplyScopes = turns(messages), used
	return q, s.chats.Replace(tx, f)
}

// ready refuses a message to a chat that cannot take it.
func ready(r *Record, stored, text int) error {
	switch {
	case r.QuestionID != "":
		e := errs.New(errs.InvalidState, "The message before is being answered. Wait for its end, at most a minute.").
			In("replying")
		e.RetryAfter = time.Second
		return e
	case r.Full(stored, text):
		return errs.New(errs.InvalidState, "The chat is full. Begin another one with POST /v1/architect/chats.").
			In("full")
	}
	return nil
}

// keep adds the answer to the chat, with its drafts, and charges its price.
func (s *Service) keep(ctx context.Context, tx *store.Tx, q question, answer reply) (out Message, err error) {
	now := s.now()
	f, err := s.chats.Find(ctx, q.ChatID)
	if err != nil {
		return out, err
	}
	r, o := f.Record, f.Item.Owner
	out = Message{
		ID: id.New(id.Message, now), Role: Assistant, Text: answer.text, DraftIDs: []string{},
		Sources:       answer.sources,
		LackingScopes: []auth.Scope{}, CostCredits: q.Hold.Credits, CreatedAt: resource.Instant(now),
	}
	for _, d := range answer.drafts {
		out.DraftIDs = append(out.DraftIDs, d.ID)
		if _, err := s.drafts.Add(tx, now, o, &d); err != nil {
			return out, err
		}
	}
	ledger.Charge(tx, now, o.Account, q.Hold)
	r.Keep(out, answer.scopes)
	r.QuestionID = ""
	return out, s.chats.Replace(tx, f)
}

// giveUp releases the price of an answer that did not come. The message of the user stays
// in the chat, unless the model's rules forbid it: they would forbid all later ones, too.
func (s *Service) giveUp(ctx context.Context, tx *store.Tx, q question, cause error) error {
	now, o := s.now(), auth.FromContext(ctx).Owner
	if err := ledger.Release(tx, now, o.Account, q.Hold, 0); err != nil {
		return err
	}
	if errs.CodeOf(cause) == errs.Timeout {
		ledger.Lose(tx, now, o.Account, q.Hold.Credits) // the model may have written
	}
	f, err := s.chats.Find(ctx, q.ChatID)
	switch {
	case errs.CodeOf(err) == errs.NotFound: // the sandbox was reset in between
		return nil
	case err != nil:
		return err
	}
	if errs.CodeOf(cause) == errs.ValidationFailed {
		f.Record.Drop(q.MessageID)
	}
	f.Record.QuestionID = ""
	return s.chats.Replace(tx, f)
}

// callerError returns the error for a caller whose message the model has not answered.
func callerError(err error) error {
	var e *provider.Error
	switch {
	case !errors.As(err, &e):
		return err
	case e.Code == provider.CodeContentPolicy:
		refused := errs.Invalid("/text", "is not allowed by the model's content policy, or leads to what is not. Ask "+
			"otherwise. Nothing was charged, and the message is not kept")
		refused.Cause = err
		return refused
	}
	return errs.Wrap(err, errs.ProviderUnavailable, "The model did not answer. Nothing was charged, and the message "+
		"stays in the chat. Send it again, with a new Idempotency-Key.")
}

// The bounds of a reply, which fix its price: how often the model is asked, and the
// tokens that it reads in all and writes each time.
const (
	maxRounds  = 6
	maxRead    = 156_000
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
	session := &session{Service: s, caller: p, chatID: q.ChatID, factoryID: q.FactoryID, scopes: q.ReplyScopes}
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
			return reply{text: text, drafts: session.drafts, sources: session.cited(), scopes: session.scopes}, nil
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
	scopes    []auth.Scope // of the resources that were read for the reply
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
	d.scopes = Union(d.scopes, tools[i].scopes)
	return tools[i].run(ctx, d, call.Input)
}
