package bedrock

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/testdata/providers/control"
)

// conversation is one with a model of the catalog and a tool.
func conversation(t *testing.T, turns ...provider.Turn) provider.Conversation {
	t.Helper()
	req := of(t, "nova-lite", "x")
	return provider.Conversation{
		Model: req.Model, Options: req.Options, System: "You help.", Turns: turns, Tokens: 500,
		Tools: []provider.Tool{{Name: "look", Description: "Looks at something.",
			Input: json.RawMessage(`{"type":"object","properties":{"at":{"type":"string"}},"required":["at"]}`)}},
	}
}

func TestAModelCallsTools(t *testing.T) {
	w := newWorld(t, "eu-central-1")
	user := provider.Turn{Text: "Please\n!look {\"at\": \"shoes\", \"n\": 2}"}
	turn, err := w.Converse(t.Context(), conversation(t, user))
	if err != nil || !turn.Model || len(turn.Calls) != 1 || turn.Calls[0].Name != "look" || turn.Calls[0].ID == "" {
		t.Fatalf("%+v, %v", turn, err)
	}
	var input map[string]any
	if err := json.Unmarshal(turn.Calls[0].Input, &input); err != nil ||
		!reflect.DeepEqual(input, map[string]any{"at": "shoes", "n": 2.}) {
		t.Errorf("the input is %s, %v", turn.Calls[0].Input, err)
	}
	results := provider.Turn{Results: []provider.ToolResult{{ID: turn.Calls[0].ID,
		Content: json.RawMessage(`{"seen":[1,"a shoe",null]}`), Failed: true}}}
	last, err := w.Converse(t.Context(), conversation(t, user, turn, results))
	if err != nil || last.Text != "I have done 0 things, and 1 failed." || len(last.Calls) != 0 {
		t.Errorf("%+v, %v", last, err)
	}
	sent, err := json.Marshal(w.control.Accepted()[1].Input)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		`"maxTokens":500`, `"system":[{"text":"You help."}]`,
		`"inputSchema":{"json":{"properties":{"at":{"type":"string"}},"required":["at"],"type":"object"}}`,
		`{"toolResult":{"content":[{"json":{"seen":[1,"a shoe",null]}}],"status":"error","toolUseId":"tooluse_1_0"}}`,
		`{"toolUse":{"input":{"at":"shoes","n":2},"name":"look","toolUseId":"tooluse_1_0"}}`,
	} {
		if !strings.Contains(string(sent), part) {
			t.Errorf("%s is not in %s", part, sent)
		}
	}
}

func TestHowAConversationFails(t *testing.T) {
	hello := provider.Turn{Text: "Hello"}
	for name, c := range map[string]struct {
		fault control.Kind
		turns []provider.Turn
		kind  provider.ErrorKind
		code  string
	}{
		"content that is forbidden": {control.JobFailed, []provider.Turn{hello}, provider.Rejected,
			provider.CodeContentPolicy},
		"too many calls": {control.RateLimited, []provider.Turn{hello}, provider.Transient, "provider_busy"},
		"an answer that is lost": {control.DropAfterAccept, []provider.Turn{hello}, provider.UnknownOutcome,
			"answer_lost"},
		"an answer that is garbled": {control.Garbage, []provider.Turn{hello}, provider.UnknownOutcome, "answer_lost"},
		"turns in no order":         {"", []provider.Turn{hello, hello}, provider.BadInput, "provider_refused"},
		"a call without its result": {"",
			[]provider.Turn{hello, {Model: true,
				Calls: []provider.ToolCall{{ID: "a", Name: "look", Input: json.RawMessage("{}")}}}, hello},
			provider.BadInput, "provider_refused"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "eu-central-1")
			if c.fault != "" {
				w.control.Queue(Name, control.Submit, control.Fault{Kind: c.fault})
			}
			_, err := w.Converse(t.Context(), conversation(t, c.turns...))
			var e *provider.Error
			if !errors.As(err, &e) || e.Kind != c.kind || e.Code != c.code {
				t.Errorf("%v", err)
			}
		})
	}
	t.Run("an answer that takes too long", func(t *testing.T) {
		w := newWorld(t, "eu-central-1")
		w.control.Queue(Name, control.Submit, control.Fault{Kind: control.Slow, Seconds: 60})
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := w.Converse(ctx, conversation(t, hello)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
	})
}
