package bedrock

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// content is one block of a message: a text, a call of a tool, or the result of a call.
type content struct {
	Text    *string `json:"text"`
	ToolUse *struct {
		ID    string          `json:"toolUseId"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	} `json:"toolUse"`
	ToolResult *struct {
		ID      string `json:"toolUseId"`
		Content []struct {
			JSON json.RawMessage `json:"json"`
			Text *string         `json:"text"`
		} `json:"content"`
		Status string `json:"status"`
	} `json:"toolResult"`
}

// toolConfig has the tools of a conversation.
type toolConfig struct {
	Tools []struct {
		Spec struct {
			Name        string `json:"name"`
			Description string `json:"description"`
			InputSchema struct {
				JSON map[string]any `json:"json"`
			} `json:"inputSchema"`
		} `json:"toolSpec"`
	} `json:"tools"`
}

var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// check returns a problem if the service would not accept the tools.
func (c *toolConfig) check(model string) (problem string) {
	if slices.ContainsFunc(families, func(f family) bool { return f.toolless && strings.HasPrefix(model, f.prefix) }) {
		return "This model doesn't support tool use."
	}
	if len(c.Tools) == 0 {
		return "The number of tools in toolConfig must be at least 1."
	}
	var names []string
	for _, t := range c.Tools {
		switch s := t.Spec; {
		case !toolName.MatchString(s.Name) || slices.Contains(names, s.Name):
			return fmt.Sprintf("The tool name %q is not valid, or not unique.", s.Name)
		case s.Description == "":
			return fmt.Sprintf("The description of the tool %s is blank.", s.Name)
		case s.InputSchema.JSON["type"] != "object":
			return fmt.Sprintf("The value at toolConfig.tools.%s.inputSchema.json.type must be object.", s.Name)
		}
		names = append(names, t.Spec.Name)
	}
	return ""
}

// read returns the last text of a conversation, or a problem if the service would not accept
// the conversation.
func (c *toolConfig) read(model string, messages []message) (prompt, problem string) {
	if c != nil {
		if problem := c.check(model); problem != "" {
			return "", problem
		}
	}
	var called []string // by the previous message
	for i, m := range messages {
		if want := []string{"user", "assistant"}[i%2]; m.Role != want || len(m.Content) == 0 {
			return "", "A conversation must alternate between user and assistant roles, beginning with a user's."
		}
		var calls, returned []string
		for _, b := range m.Content {
			switch {
			case b.Text != nil && b.ToolUse == nil && b.ToolResult == nil:
				if strings.TrimSpace(*b.Text) == "" {
					return "", "The text field in the ContentBlock object is blank."
				}
				prompt = *b.Text
			case c == nil:
				return "", "The toolConfig field must be defined when using toolUse and toolResult content blocks."
			case b.Text == nil && b.ToolUse != nil && b.ToolResult == nil:
				if m.Role != "assistant" || b.ToolUse.ID == "" || slices.Contains(calls, b.ToolUse.ID) ||
					!isObject(b.ToolUse.Input) {
					return "", "The toolUse block is not valid."
				}
				calls = append(calls, b.ToolUse.ID)
			case b.Text == nil && b.ToolUse == nil && b.ToolResult != nil:
				r := b.ToolResult
				if m.Role != "user" || len(r.Content) == 0 || r.Status != "" && r.Status != "success" &&
					r.Status != "error" {
					return "", "The toolResult block is not valid."
				}
				for _, part := range r.Content {
					if part.Text == nil && !isObject(part.JSON) {
						return "", fmt.Sprintf("The format of the value at "+
							"messages.%d.content.0.toolResult.content.0.json is invalid. Provide a json object for "+
							"the field and try again.", i)
					}
				}
				returned = append(returned, r.ID)
			default:
				return "", "A ContentBlock must have one member."
			}
		}
		slices.Sort(called)
		slices.Sort(returned)
		if !slices.Equal(called, returned) {
			return "", fmt.Sprintf("Expected toolResult blocks at messages.%d.content for the following Ids: %s", i,
				strings.Join(called, ", "))
		}
		called = calls
	}
	if len(messages)%2 != 1 {
		return "", "A conversation must end with a user message."
	}
	return prompt, ""
}

func isObject(raw json.RawMessage) bool {
	var object map[string]any
	return json.Unmarshal(raw, &object) == nil && object != nil
}

// order matches a line of a text that makes the model call a tool: !name {"a": 1}. The model
// obeys such a line in any message.
var order = regexp.MustCompile(`^!([a-zA-Z0-9_-]{1,64}) (\{.*\})$`)

// talk answers a conversation with tools. It calls the tools that the last message orders;
// otherwise it answers with the results of earlier calls.
func talk(w http.ResponseWriter, messages []message) {
	last := messages[len(messages)-1]
	var said []string
	failed := 0
	for _, b := range last.Content {
		if b.Text != nil {
			said = append(said, *b.Text)
			continue
		}
		for _, part := range b.ToolResult.Content {
			said = append(said, texts(part.JSON)...)
		}
		if b.ToolResult.Status == "error" {
			failed++
		}
	}
	var blocks []any
	for _, text := range said {
		for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
			if match := order.FindStringSubmatch(strings.TrimSpace(lines.Text())); match != nil &&
				isObject(json.RawMessage(match[2])) {
				blocks = append(blocks, map[string]any{"toolUse": map[string]any{
					"toolUseId": fmt.Sprintf("tooluse_%d_%d", len(messages), len(blocks)), "name": match[1],
					"input": json.RawMessage(match[2]),
				}})
			}
		}
	}
	stop := "tool_use"
	if len(blocks) == 0 {
		stop = "end_turn"
		text := fmt.Sprintf("I have done %d things, and %d failed.", len(last.Content)-failed, failed)
		if last.Content[0].ToolResult == nil {
			text = "You said: " + said[0]
		}
		blocks = append(blocks, map[string]string{"text": text})
	}
	read := 0
	for _, text := range said {
		read += utf8.RuneCountInString(text)/charactersPerToken + 1
	}
	write(w, http.StatusOK, map[string]any{
		"output":     map[string]any{"message": map[string]any{"role": "assistant", "content": blocks}},
		"stopReason": stop,
		"usage":      map[string]int{"inputTokens": read, "outputTokens": 20, "totalTokens": read + 20},
		"metrics":    map[string]int{"latencyMs": 1},
	})
}

// texts returns the texts in a JSON value.
func texts(raw json.RawMessage) (all []string) {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return nil
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			all = append(all, v)
		case []any:
			for _, member := range v {
				walk(member)
			}
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				walk(v[name])
			}
		}
	}
	walk(v)
	return all
}
