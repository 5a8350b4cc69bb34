package simulate

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/architect"
	"github.com/content-automation/api/pkg/record/ledger"
)

// talker is the language model of the architect. It answers most messages with a draft.
type talker struct{}

var _ provider.Converser = talker{}

// Converse implements provider.Converser.
func (talker) Converse(ctx context.Context, c provider.Conversation) (turn provider.Turn, err error) {
	w := invocationOf(ctx).world
	err = pass(ctx, &call{kind: toProvider, key: "Converse", refused: problem(provider.Transient),
		lost: problem(provider.UnknownOutcome), do: func() error {
			turn = provider.Turn{Model: true, Text: "Done."}
			if last := c.Turns[len(c.Turns)-1]; len(last.Results) == 0 && w.random.IntN(4) > 0 {
				turn = provider.Turn{Model: true, Calls: []provider.ToolCall{
					{ID: "call", Name: "draft_content_item",
						Input: json.RawMessage(`{"body":{"kind":"post","prompt":"A new shoe"}}`)},
				}}
			}
			return nil
		}})
	return turn, err
}

// patient is the number of tries of a call whose failure may be its correct answer.
const patient = 4

// talk sends a message to the architect, or applies a draft.
func (c *caller) talk() {
	if c.chat == "" {
		var made struct{ ID string }
		c.call(http.MethodPost, "/v1/architect/chats", object{"factory_id": c.factory}, &made)
		c.chat = made.ID
		return
	}
	var open []struct{ ID string }
	c.call(http.MethodGet, "/v1/architect/drafts?state=open", nil, &open)
	if len(open) == 0 || c.random.IntN(2) == 0 {
		c.repeat(patient, http.MethodPost, "/v1/architect/chats/"+c.chat+"/messages",
			object{"text": "A post about a shoe"}, nil)
		return
	}
	var applied struct {
		ResultID string `json:"result_id"`
	}
	if c.call(http.MethodPost, "/v1/architect/drafts/"+open[c.random.IntN(len(open))].ID+"/apply", nil,
		&applied) == http.StatusCreated {
		c.items = append(c.items, "/v1/content-items/"+applied.ResultID)
	}
}

// checkChats checks that each message was charged if it has a reply, and released if it has none, and that there
// are exactly the drafts that the replies announce.
func (w *world) checkChats(fail func(format string, args ...any)) {
	charged, drafts := map[string]int{}, map[string]bool{}
	for _, it := range w.items() {
		switch textOf(it, "kind") {
		case ledger.Kind:
			var e struct{ Kind, Subject string }
			must(json.Unmarshal([]byte(textOf(it, "doc")), &e))
			if e.Kind == "reserve" && textOf(it, "x_state") == "charged" {
				charged[e.Subject]++
			}
		case architect.DraftKind:
			drafts[textOf(it, "pk")] = true
		}
	}
	for _, it := range w.items() {
		if textOf(it, "kind") != architect.Kind {
			continue
		}
		var r architect.Record
		must(json.Unmarshal([]byte(textOf(it, "doc")), &r))
		if r.QuestionID != "" {
			fail("the chat %s waits for the reply to %s", r.ID, r.QuestionID)
		}
		for i, m := range r.Messages {
			replied := 0
			if i+1 < len(r.Messages) && r.Messages[i+1].Role == architect.Assistant {
				replied = 1
			}
			if m.Role == architect.User && charged[m.ID] != replied {
				fail("%s has %d replies, and was charged %d times", m.ID, replied, charged[m.ID])
			}
			for _, id := range m.DraftIDs {
				if !drafts[id] {
					fail("%s names the draft %s, which there is not", m.ID, id)
				}
				delete(drafts, id)
			}
		}
	}
	for id := range drafts {
		fail("no message names the draft %s", id)
	}
}
