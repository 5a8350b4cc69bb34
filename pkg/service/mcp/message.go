package mcp

import (
	"encoding/json"
	"log/slog"
	"mime"
	"net/http"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// message is what the server reads of a message of JSON-RPC before the library does.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params params          `json:"params"`
}

// params are those of a call of a tool. Others are left to the library.
type params struct {
	Name      string
	Arguments struct {
		OperationID string
	}
}

// UnmarshalJSON implements json.Unmarshaler. What has another form is a fault that the tool describes.
func (p *params) UnmarshalJSON(raw []byte) error {
	var in struct {
		Name      string `json:"name"`
		Arguments struct {
			OperationID string `json:"operation_id"`
		} `json:"arguments"`
	}
	_ = json.Unmarshal(raw, &in)
	p.Name, p.Arguments.OperationID = in.Name, in.Arguments.OperationID
	return nil
}

// The codes of errors of JSON-RPC 2.0, 5.1.
const (
	codeParse          = -32700
	codeMethodNotFound = -32601
)

// methods are those that the server has. The library refuses others with plain text and the status 400, which agents
// take for a broken server.
var methods = []string{"initialize", "ping", "tools/list", "tools/call", "server/discover", "logging/setLevel",
	"subscriptions/listen"}

// notifications are those that the library knows.
var notifications = []string{"notifications/initialized", "notifications/cancelled",
	"notifications/roots/list_changed", "notifications/progress"}

// answered answers a message that needs no tool, and reports whether it did so: a request with an unknown method gets
// an error with its id, and an unknown notification is taken and ignored (JSON-RPC 2.0, 4.1).
func answered(w http.ResponseWriter, m message) bool {
	switch {
	case m.Method == "": // such as an answer, of which the library knows what to do
		return false
	case m.ID == nil && !slices.Contains(notifications, m.Method):
		w.WriteHeader(http.StatusAccepted)
		return true
	case m.ID != nil && !slices.Contains(methods, m.Method):
		complain(w, http.StatusOK, m.ID, codeMethodNotFound, "This server has no such method. Its methods are "+
			strings.Join(methods, ", ")+".")
		return true
	}
	return false
}

// complain answers with an error of JSON-RPC.
func complain(w http.ResponseWriter, status int, id json.RawMessage, code int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	err := json.NewEncoder(w).Encode(object{"jsonrpc": "2.0", "id": id, "error": object{"code": code, "message": text}})
	if err != nil {
		slog.Warn("answer not written", "error", err)
	}
}

// reply answers a call of a tool with its result. A refusal is a result as well, which the agent reads.
func reply(w http.ResponseWriter, m message, result *sdk.CallToolResult) {
	w.Header().Set("Content-Type", "application/json")
	err := json.NewEncoder(w).Encode(object{"jsonrpc": "2.0", "id": m.ID, "result": result})
	if err != nil {
		slog.Warn("answer not written", "error", err)
	}
}

// onlyEvents reports whether a request takes events and no JSON. Whatever else it takes, it gets JSON.
func onlyEvents(r *http.Request) bool {
	events := false
	for _, part := range strings.Split(strings.Join(r.Header.Values("Accept"), ","), ",") {
		kind, _, err := mime.ParseMediaType(part)
		switch {
		case err != nil:
		case slices.Contains([]string{"application/json", "application/*", "*/*"}, kind):
			return false
		case slices.Contains([]string{"text/event-stream", "text/*"}, kind):
			events = true
		}
	}
	return events
}
