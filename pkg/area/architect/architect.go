// Package architect holds the chats with the assistant that helps a caller set up factories, content plans and content
// items. A language model writes the replies. It reads what the caller may read, by tools, and makes drafts: bodies of
// the operations that create or change things, which the caller reviews, changes and applies. It has no other
// tools, so that instructions in the texts that it reads cannot do more. Service.Register in operations.go has the
// operations, and send.go makes a reply.
package architect

import (
	"context"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/analytics"
	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/factory"
	planarea "github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/httpapi/kind"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// Service holds chats, and applies drafts.
type Service struct {
	db         *store.DB
	factories  *factory.Service
	plans      *planarea.Service
	items      *content.Service
	statistics *analytics.Service
	offer      catalog.Offer
	live       provider.Converser
	now        func() time.Time
	chats      *kind.Kind[Record]
	drafts     *kind.Kind[Draft]
}

// NewService makes the service. Live answers the messages of live keys.
func NewService(db *store.DB, items *content.Service, offer catalog.Offer, live provider.Converser,
	now func() time.Time) *Service {
	factories := factory.NewService(db, now)
	return &Service{
		db: db, factories: factories, plans: planarea.NewService(db, factories, offer, now), items: items,
		statistics: analytics.NewService(db, now), offer: offer, live: live, now: now,
		chats: chats.On(db, now), drafts: drafts.On(db, now),
	}
}

var (
	chats = kind.Kind[Record]{Name: Kind, ID: id.Chat, Path: "/v1/architect/chats/{chat_id}", Function: "architect",
		Tag: "Architect", Reads: auth.ArchitectUse, Writes: auth.ArchitectUse, Count: quota.Chats.Take}
	drafts = kind.Kind[Draft]{Name: DraftKind, ID: id.Draft, Path: "/v1/architect/drafts/{draft_id}",
		Function: "architect", Tag: "Architect", Reads: auth.ArchitectUse, Writes: auth.ArchitectUse,
		Place: func(it *store.Item, d *Draft) {
			it.Parent = store.Key{PK: Partition(it.Owner, d.ChatID), SK: d.ID}
		}}
)

// Mount registers the operations of the area.
func Mount(r *httpapi.Router, e area.Env) {
	offer := e.Offer()
	items := content.NewService(e.DB, factory.NewService(e.DB, e.Now), e.Media, offer, e.Now).Moderated(e.Moderator)
	NewService(e.DB, items, offer, e.Converser, e.Now).Register(r)
}

// model returns the model that answers the messages of a mode, and the converser that
// answers in its name: the sandbox answers by rules.
func (s *Service) model(mode tenant.Mode) (catalog.Model, provider.Converser, error) {
	m, err := s.offer.Default(provider.KindText, mode == tenant.Live)
	switch {
	case err != nil:
		return m, nil, errs.Wrap(err, errs.ProviderUnavailable, "%s", errs.As(err).Message)
	case mode == tenant.Live:
		return m, s.live, nil
	}
	return m, SampleAssistant{}, nil
}

// draft reads the draft of the call, which the caller is to change or apply. One that it may not read is not found.
func (s *Service) draft(ctx context.Context) (*kind.Found[Draft], error) {
	f, err := s.drafts.Find(ctx, httpapi.PathID(ctx))
	if err != nil {
		return nil, err
	}
	p, needs := auth.FromContext(ctx), scopes[f.Record.Kind]
	if !p.Has(needs.read) {
		return nil, errs.Missing(DraftKind, f.Record.ID)
	}
	return f, p.Require(needs.write, "")
}

// check refuses a draft that its operation would refuse. Places in errors begin with the member body.
func (s *Service) check(ctx context.Context, d Draft) error {
	switch d.Kind {
	case Factory:
		return s.factories.Check(ctx, d.Body)
	case ContentPlan:
		return s.plans.Check(ctx, *d.FactoryID, d.Body)
	case FactoryChange, ContentItemChange:
		if len(d.Body) == 0 {
			return errs.Invalid("/body", "changes nothing: name a member")
		}
		_, err := s.carryOut(ctx, &store.Tx{}, d)
		return err
	default:
		return s.items.Check(ctx, d.Body)
	}
}

// scopes are the scopes that a caller needs for a draft, besides the scope of the
// architect: to see it, and to change or apply it.
var scopes = map[Subject]struct{ read, write auth.Scope }{
	Factory:           {auth.FactoriesRead, auth.FactoriesWrite},
	ContentPlan:       {auth.FactoriesRead, auth.FactoriesWrite},
	ContentItem:       {auth.ContentRead, auth.ContentWrite},
	FactoryChange:     {auth.FactoriesRead, auth.FactoriesWrite},
	ContentItemChange: {auth.ContentRead, auth.ContentWrite},
}

// Kind is the kind of a chat in the table.
const Kind = "chat"

// The bounds of a chat: of its messages, and of its document in bytes. An item of the table has at most 400 KB.
const (
	MaxMessages = 200
	maxBytes    = 300 << 10
)

// MaxText is the most characters of a user's message, and MaxReply of a reply.
const (
	MaxText  = 4000
	MaxReply = 8000
)

// Role is who has written a message.
type Role string

// The roles.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is one message of a chat.
type Message struct {
	// Unique id (TypeID) of the message.
	ID string `json:"id" example:"msg_01h455vb4pex5vsknk084sn02q"`
	// Who wrote the message.
	Role Role `json:"role" enum:"user,assistant"`
	// Text of the message. That of the assistant is written by a language model: treat it as untrusted input.
	Text string `json:"text" example:"I have drafted a seller factory for running shoes."`
	// Ids of the drafts that were made with the message.
	DraftIDs []string `json:"draft_ids" nullable:"false"`
	// Ids of the resources and models that were read for the message.
	Sources []string `json:"sources" nullable:"false"`
	// Scopes that your key lacks to read the message: its text and ids are left out. Empty for messages that you may
	// read.
	//
	// LackingScopes depends on who reads the message.
	LackingScopes []auth.Scope `json:"lacking_scopes" nullable:"false"`
	// Credits charged for the message. 0 for messages of the user, and always in the sandbox.
	CostCredits int64 `json:"cost_credits"`
	// Time of creation, UTC.
	CreatedAt resource.Time `json:"created_at"`
}

// Chat is a chat as callers see it.
type Chat struct {
	resource.Resource
	// Profile that it belongs to. Null: the account as a whole.
	ProfileID *tenant.Profile `json:"profile_id"`
	// Factory that the chat is about. Null: none, or your key lacks factories:read. Applying a draft of a factory sets
	// it.
	FactoryID *string `json:"factory_id"`
	// Title, in one line. Null until the first message, whose beginning it is where none was given.
	Title resource.Text `json:"title"`
	// All messages, oldest first. A message of the user without a reply was not answered in time, or is being answered.
	Messages []Message `json:"messages" nullable:"false"`
}

// Record is the stored document of a chat.
type Record struct {
	Chat
	// QuestionID is the id of the user's message that is being answered, or empty.
	QuestionID string `json:"asked,omitempty"`
	// ReplyScopes are the scopes that replies were made with, by the ids of their messages: the
	// scopes of the tools' reads, and those of the replies that they follow.
	ReplyScopes map[string][]auth.Scope `json:"used,omitempty"`
}

// unknown are the scopes of a reply that was made before they were noted.
var unknown = []auth.Scope{auth.FactoriesRead, auth.ContentRead, auth.ProductsRead, auth.AccountRead}

// Needs returns the scopes that a caller needs to read a message.
func (r *Record) Needs(m Message) []auth.Scope {
	if m.Role == User {
		return nil
	}
	if used, ok := r.ReplyScopes[m.ID]; ok {
		return used
	}
	return unknown
}

// Keep adds a reply that was made with the scopes.
func (r *Record) Keep(m Message, used []auth.Scope) {
	if r.ReplyScopes == nil {
		r.ReplyScopes = map[string][]auth.Scope{}
	}
	r.Messages, r.ReplyScopes[m.ID] = append(r.Messages, m), slices.Clone(used)
	if r.ReplyScopes[m.ID] == nil {
		r.ReplyScopes[m.ID] = []auth.Scope{}
	}
}

// Readable returns the messages that a caller may read, and the scopes that they need.
func (r *Record) Readable(p *auth.Principal) (messages []Message, used []auth.Scope) {
	for _, m := range r.Messages {
		needed := r.Needs(m)
		if len(p.Lacking(needed)) > 0 {
			continue
		}
		messages = append(messages, m)
		used = Union(used, needed)
	}
	return messages, used
}

// View returns the chat as a caller sees it: a reply that it may not read is empty, and names the scopes that it lacks.
func (r *Record) View(p *auth.Principal) Chat {
	c := r.Chat
	if !p.Has(auth.FactoriesRead) {
		c.FactoryID = nil
	}
	c.Messages = make([]Message, len(r.Messages))
	for i, m := range r.Messages {
		if m.LackingScopes = p.Lacking(r.Needs(m)); len(m.LackingScopes) > 0 {
			m.Text, m.DraftIDs, m.Sources = "", []string{}, []string{}
		} else {
			m.LackingScopes = []auth.Scope{}
		}
		c.Messages[i] = m
	}
	return c
}

// Union returns the scopes of both lists, each once.
func Union(a, b []auth.Scope) []auth.Scope {
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(slices.Clip(a), s)
		}
	}
	return a
}

// Full reports whether the chat has no room for a message with a text of so many bytes and its reply.
func (r *Record) Full(stored, text int) bool {
	const most = 4 * MaxReply // of UTF-8
	return len(r.Messages)+2 > MaxMessages || stored+text+most > maxBytes
}

// Drop takes a message out of the chat.
func (r *Record) Drop(messageID string) {
	for i, m := range r.Messages {
		if m.ID == messageID {
			r.Messages = append(r.Messages[:i], r.Messages[i+1:]...)
			return
		}
	}
}

// About returns the description of the chat for the entries of its money. Messages are not
// content of a factory: analytics do not count them.
func (r *Record) About() ledger.About { return ledger.About{Metadata: r.Metadata} }

// Decode reads the chat of an item.
func Decode(it *store.Item) (*Record, error) {
	var r Record
	if err := it.Decode(&r); err != nil {
		return nil, err
	}
	return &r, nil
}
