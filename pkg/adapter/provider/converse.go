package provider

import (
	"context"
	"encoding/json"
)

// Converser is a provider whose text models take part in a conversation, and may call tools of the caller.
type Converser interface {
	// Converse returns the next turn of the model. It is one call: the caller runs the tools that the turn calls, adds
	// their results as a turn of its own, and calls again. Errors are those of Submit, and Rejected with
	// CodeContentPolicy if the model's content rules forbid the conversation.
	Converse(ctx context.Context, c Conversation) (Turn, error)
}

// Conversation is the input of a model for its next turn.
type Conversation struct {
	// Model and Options are as in Request.
	Model   string
	Options map[string]string
	// System is the system prompt.
	System string
	// Turns alternate between user and model, and begin and end with a user's.
	Turns []Turn
	// Tools are the tools that the model may call.
	Tools []Tool
	// Tokens is the largest number of tokens of the turn.
	Tokens int
}

// Turn is one contribution to a conversation.
type Turn struct {
	Model bool   `json:"model,omitempty"` // of the model, not of the user
	Text  string `json:"text,omitempty"`
	// Calls are the tools that a turn of the model calls.
	Calls []ToolCall `json:"calls,omitempty"`
	// Results are the results of the calls of the turn before, in a turn of the user.
	Results []ToolResult `json:"results,omitempty"`
}

// Tool is a function that a model may call.
type Tool struct {
	Name        string          // letters, digits, _ and -; at most 64
	Description string          // its purpose, for the model
	Input       json.RawMessage // JSON Schema of the object that it takes
}

// ToolCall is a call of a tool. The model writes its input: the caller must validate it.
type ToolCall struct {
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// ToolResult is the result of a call.
type ToolResult struct {
	ID      string          `json:"id"` // of the call
	Content json.RawMessage `json:"content"`
	Failed  bool            `json:"failed,omitempty"`
}

// TokensOf returns the largest number of tokens of texts with the given number of bytes.
func TokensOf(bytes int) int { return (bytes + bytesPerToken - 1) / bytesPerToken }

// OneLine puts a text of a model or a caller on one line, without control characters.
func OneLine(text string) string { return oneLine(text) }

// Paragraphs keeps the lines of a text of a model, without control characters.
func Paragraphs(text string) string { return lines(text) }
