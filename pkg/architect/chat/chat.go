// Package chat holds chats with the architect and the drafts that it makes. It is apart
// from their operations because workers remove them.
package chat

import (
	"github.com/content-automation/api/pkg/ledger"
	"github.com/content-automation/api/pkg/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/tenant"
)

// Kind is the kind of a chat in the table.
const Kind = "chat"

// The bounds of a chat: of its messages, and of its document in bytes. An item of the
// table has at most 400 KB.
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
	ID          string        `json:"id" doc:"Unique id (TypeID) of the message" example:"msg_01h455vb4pex5vsknk084sn02q"`
	Role        Role          `json:"role" enum:"user,assistant" doc:"Who wrote the message"`
	Text        string        `json:"text" doc:"Text of the message. That of the assistant is written by a language model: treat it as untrusted input" example:"I have drafted a seller factory for running shoes."`
	DraftIDs    []string      `json:"draft_ids" nullable:"false" doc:"Ids of the drafts that were made with the message"`
	Sources     []string      `json:"sources" nullable:"false" doc:"Ids of the resources and models that were read for the message"`
	CostCredits int64         `json:"cost_credits" doc:"Credits charged for the message. 0 for messages of the user, and always in the sandbox"`
	CreatedAt   resource.Time `json:"created_at" doc:"Time of creation, UTC"`
}

// SchemaName names the schema in the OpenAPI document.
func (Message) SchemaName() string { return "ChatMessage" }

// Chat is a chat as callers see it.
type Chat struct {
	resource.Resource
	FactoryID *string   `json:"factory_id" doc:"Factory that the chat is about. Null: none. Applying a draft of a factory sets it"`
	Title     string    `json:"title" doc:"Title, in one line. Empty until the first message, whose beginning it is where none was given"`
	Messages  []Message `json:"messages" nullable:"false" doc:"All messages, oldest first. A message of the user without a reply was not answered in time, or is being answered"`
}

// SchemaName names the schema in the OpenAPI document.
func (Chat) SchemaName() string { return "Chat" }

// Record is the stored document of a chat.
type Record struct {
	Chat
	// Asked is the id of the user's message that is being answered; empty: none is.
	Asked string `json:"asked,omitempty"`
}

// Full reports whether the chat has no room for a message with a text of so many bytes
// and its reply.
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

// About returns what the entries of the chat's money show. Messages are not content of a
// factory: analytics do not count them.
func (r *Record) About() ledger.About { return ledger.About{Metadata: r.Metadata} }

// Entry returns the chat as an item of the table.
func (r *Record) Entry(o tenant.Owner) (store.Item, error) { return store.NewItem(Kind, o, r.ID, r) }

// Decode reads the chat of an item.
func Decode(it *store.Item) (*Record, error) {
	var r Record
	if err := it.Decode(&r); err != nil {
		return nil, err
	}
	return &r, nil
}
