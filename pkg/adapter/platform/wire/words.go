package wire

import (
	"encoding/json"
	"strings"
)

// spoken are the members in which platforms explain a refusal to a person, the best first. An error that is an object
// has them, too.
var spoken = []string{"error_user_msg", "error_msg", "detail", "error_description", "description", "message"}

// said returns the platform's explanation of a refusal without the secrets of the call, or an empty text.
func said(a Answer, secrets []string) string {
	var body map[string]any
	if json.Unmarshal(a.Body, &body) != nil {
		return ""
	}
	text := explanation(body)
	for _, s := range secrets {
		if s != "" {
			text = strings.ReplaceAll(text, s, "[removed]")
		}
	}
	return text
}

// explanation returns the explanation in an object, in its error, or in the first of its errors.
func explanation(body map[string]any) string {
	if inner, ok := body["error"].(map[string]any); ok {
		if text := explanation(inner); text != "" {
			return text
		}
	}
	for _, member := range spoken {
		if text, ok := body[member].(string); ok && text != "" {
			return text
		}
	}
	if all, ok := body["errors"].([]any); ok && len(all) > 0 {
		if first, ok := all[0].(map[string]any); ok {
			return explanation(first)
		}
	}
	return ""
}
