package mcp

import (
	"context"
	_ "embed"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	nearest "github.com/content-automation/api/pkg/base/text"
)

// operation is an operation of the API, as the document describes it.
type operation struct {
	ID      string `json:"operation_id"`
	Method  string `json:"method"`
	Path    string `json:"path"`
	Summary string `json:"summary"`
	Text    string `json:"description,omitempty"`
	Scope   string `json:"scope"`
	// Opens is what it opens to others, or what nobody takes back.
	Opens []string    `json:"opens,omitempty"`
	Query []parameter `json:"query,omitempty"`
	Body  []parameter `json:"body,omitempty"`
}

type parameter struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Required bool   `json:"required,omitempty"`
	Doc      string `json:"doc,omitempty"`
}

//go:embed operations.json
var operationsJSON []byte

// operations are all operations that agents may call. They are read when they are needed first.
var operations = sync.OnceValue(func() []operation {
	var all []operation
	if err := json.Unmarshal(operationsJSON, &all); err != nil {
		panic("mcp: " + err.Error()) // a test reads them
	}
	return slices.DeleteFunc(all, func(o operation) bool { return o.Scope == "person" || forPeople[o.ID] })
})

// forPeople are the operations that give keys rights. An agent that was deceived could pass them on. They are those
// that open a right: a test compares them.
var forPeople = map[string]bool{"createApiKey": true, "rotateApiKey": true, "updateApiKey": true}

// free are the operations that are no GET and change nothing.
var free = map[string]bool{"createEstimate": true, "estimateGeneration": true}

// callOperationTool is the tool whose scope is that of the operation that it calls.
const callOperationTool = "call_operation"

type operationIn struct {
	orderIn
	OperationID string            `json:"operation_id"`
	Path        map[string]string `json:"path,omitempty"`
	Query       map[string]string `json:"query,omitempty"`
	Body        map[string]any    `json:"body,omitempty"`
	Full        bool              `json:"full,omitempty"`
}

var operationTexts = map[string]string{
	"operation_id": "from search_operations",
	"full":         wholeText,
}

func (s *server) addOperations() {
	add(s, tool[searchIn]{name: "search_operations",
		doc:   "Find any operation by plain words in English, German, Spanish, French or Russian.",
		texts: map[string]string{"query": "words, or an operation id for its parameters"},
		out:   []string{"operations[]"}, run: search})
	add(s, tool[operationIn]{name: callOperationTool, effect: publishes,
		doc:   "Call an operation that search_operations found.",
		texts: operationTexts, out: []string{"next_cursor"}, run: callOperation})
}

// coerced returns a body whose texts, numbers and booleans have the types of their members, where no other can be
// meant.
func (o operation) coerced(body object) object {
	out := maps.Clone(body)
	for _, p := range o.Body {
		kind := p.Type
		if !slices.Contains([]string{"string", "integer", "boolean"}, kind) {
			continue
		}
		if value, sent := out[p.Name]; sent {
			out[p.Name] = coerced(&jsonschema.Schema{Type: kind}, value)
		}
	}
	return out
}

// callOperation calls an operation by its id.
func callOperation(ctx context.Context, c call, in operationIn) (said, error) {
	all := operations()
	at := slices.IndexFunc(all, func(o operation) bool { return o.ID == in.OperationID })
	if at < 0 {
		var known []string
		for _, o := range all {
			known = append(known, o.ID)
		}
		if forPeople[in.OperationID] {
			return said{}, invalid("operation_id", "Agents make and change no API keys: a person does this in the "+
				"account area.")
		}
		return said{}, invalid("operation_id", "There is no operation %q%s. Use search_operations.", in.OperationID,
			nearest.NearestHint(in.OperationID, known))
	}
	o := all[at]
	path, used := o.Path, 0
	for name, value := range in.Path {
		if !strings.Contains(path, "{"+name+"}") {
			return said{}, invalid("path."+name, "The path %s has no parameter %s.", o.Path, name)
		}
		if strings.Trim(value, ".") == "" {
			return said{}, invalid("path."+name, "%s is empty.", name)
		}
		path = strings.Replace(path, "{"+name+"}", segment(value), 1)
		used++
	}
	if used < strings.Count(o.Path, "{") {
		return said{}, invalid("path", "Give all parameters of the path %s.", o.Path)
	}
	query := url.Values{}
	for name, value := range in.Query {
		query.Set(name, value)
	}
	if o.Method == http.MethodGet && in.Body != nil {
		return said{}, invalid("body", "%s takes no body.", o.ID)
	}
	if o.Method != http.MethodGet && !free[o.ID] || len(o.Opens) > 0 {
		switch ask, err := c.asks(in.Confirmation); {
		case err != nil:
			return said{}, err
		case ask:
			return c.askFor(ctx, o, path, in)
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	key := ""
	if o.Method != http.MethodGet {
		key = c.key
	}
	var body any
	if in.Body != nil {
		body = o.coerced(in.Body)
	}
	a, err := c.caller.call(ctx, o.Method, path, body, key)
	if err != nil {
		return said{}, err
	}
	data, err := into[any](a, nil)
	return said{text: a.note() + o.ID + " succeeded.", data: object{"data": data, "next_cursor": a.NextCursor},
		all: in.Full}, err
}

// askFor asks for a confirmation of an operation, with its price if it has one.
func (c call) askFor(ctx context.Context, o operation, path string, in operationIn) (said, error) {
	text := "This is a change with a live key: " + o.Summary + "."
	if len(o.Opens) > 0 {
		text += " What it opens: " + strings.Join(o.Opens, ", ") + "."
	}
	order := object{"body": in.Body}
	for name, value := range in.Path {
		order[name] = value
	}
	if priced[o.ID] || o.ID == "updateComment" && in.Body["suggest_reply"] == true {
		return c.price(ctx, o.ID, order, text)
	}
	return c.asked(text, object{"method": o.Method, "path": path, "body": in.Body}), nil
}

// priced are the operations with an estimate.
var priced = map[string]bool{"createAvatar": true, "createContentItem": true, "createContentItems": true,
	"createContentPlan": true, "createImage": true, "createMusic": true, "createVideo": true, "createVoice": true,
	"regenerateContentItem": true, "sendMessage": true, "startTraining": true}
