package architect

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
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
	ChatPath
	Body messageBody
}

// question is a message to answer, with the state that its answer needs.
type question struct {
	ChatID    string          `json:"chat_id"`
	MessageID string          `json:"message_id"`
	FactoryID string          `json:"factory_id,omitempty"` // of the chat
	Model     string          `json:"model"`
	Turns     []provider.Turn `json:"turns"`
	// Used are the scopes that the replies in Turns were made with.
	Used    []auth.Scope `json:"used,omitempty"`
	Outcome string       `json:"outcome,omitempty"`
	Hold    ledger.Hold  `json:"hold,omitzero"`
}

// reply is the model's answer.
type reply struct {
	text    string
	drafts  []Draft
	sources []string
	used    []auth.Scope
}

func (s *Service) registerSend(r *httpapi.Router) {
	send := op("sendMessage", http.MethodPost, "chats/{chat_id}/messages", "Send a message",
		"Adds your message to the chat, and returns the reply of the assistant, in the language of the message. It "+
			"reads what your key may read, and `sources` names that. It makes drafts where you ask for something: "+
			"`draft_ids` names them. Nothing is created before you apply one. "+
			"Each message costs the same, whatever the reply: the credits are reserved first, and charged with the "+
			"reply. A reply that takes longer than about 22 seconds is refused with `timeout`: your message stays in "+
			"the chat, and nothing is charged. One message of a chat is answered at a time. With a test key nothing "+
			"is spent, the assistant answers by fixed rules, and `sandbox` selects the result.").
		Opening(httpapi.Spending)
	send.Status = http.StatusCreated
	send.Errors = []errs.Code{errs.InvalidState, errs.InsufficientBalance, errs.SpendLimitReached}
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
	r, it, beside, err := s.chat(ctx, in.ID, funds...)
	if err != nil {
		return q, err
	}
	if err := ready(r, len(it.Doc), len(b.Text)); err != nil {
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
			Account: p.Account, Profile: it.Profile, Subject: message.ID, About: r.About(), Credits: credits,
			Payer: ledger.PayerOf(now, p),
		}, ledger.FundsOf(beside))
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
	r.Messages, r.Asked = append(r.Messages, message), message.ID
	messages, used := r.Readable(p)
	q.Turns, q.Used = turns(messages), used
	return q, s.put(tx, it, r)
}

// ready refuses a message to a chat that cannot take it.
func ready(r *Record, stored, text int) error {
	switch {
	case r.Asked != "":
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

// put adds the changed chat to the transaction.
func (s *Service) put(tx *store.Tx, it store.Item, r *Record) error {
	r.Touch(s.now())
	if err := it.Encode(r); err != nil {
		return err
	}
	tx.Replace(it)
	return nil
}

// keep adds the answer to the chat, with its drafts, and charges its price.
func (s *Service) keep(ctx context.Context, tx *store.Tx, q question, answer reply) (out Message, err error) {
	now := s.now()
	r, it, _, err := s.chat(ctx, q.ChatID)
	if err != nil {
		return out, err
	}
	o := it.Owner
	out = Message{
		ID: id.New(id.Message, now), Role: Assistant, Text: answer.text, DraftIDs: []string{},
		Sources:       answer.sources,
		LackingScopes: []auth.Scope{}, CostCredits: q.Hold.Credits, CreatedAt: resource.Instant(now),
	}
	for _, d := range answer.drafts {
		out.DraftIDs = append(out.DraftIDs, d.ID)
		made, err := d.Entry(o)
		if err != nil {
			return out, err
		}
		tx.Create(made, nil)
	}
	ledger.Charge(tx, now, o.Account, q.Hold)
	r.Keep(out, answer.used)
	r.Asked = ""
	return out, s.put(tx, it, r)
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
	r, it, _, err := s.chat(ctx, q.ChatID)
	switch {
	case errs.CodeOf(err) == errs.NotFound: // the sandbox was reset in between
		return nil
	case err != nil:
		return err
	}
	if errs.CodeOf(cause) == errs.ValidationFailed {
		r.Drop(q.MessageID)
	}
	r.Asked = ""
	return s.put(tx, it, r)
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
