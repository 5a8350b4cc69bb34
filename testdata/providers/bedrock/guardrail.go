package bedrock

import (
	"net/http"
	"strings"
)

// Guardrail is the name of the guardrail that the fake has: its id, a colon, and its version.
const Guardrail = "gr4d7k2m9xq1:1"

// Flagged is in texts that the guardrail flags.
const Flagged = "something harmful"

// Insisted is a subject that the model keeps when it writes a refused text anew.
const Insisted = "nothing but " + Flagged

// guard serves POST /guardrail/{id}/version/{version}/apply.
func (f *fake) guard(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Source  string `json:"source"`
		Content []struct {
			Text *struct {
				Text string `json:"text"`
			} `json:"text"`
		} `json:"content"`
	}
	if r.PathValue("id")+":"+r.PathValue("version") != Guardrail {
		refuse(w, http.StatusNotFound, "ResourceNotFoundException", "The guardrail does not exist.")
		return
	}
	if _, ok := read(w, r, &body); !ok {
		return
	}
	if body.Source != "OUTPUT" || len(body.Content) != 1 || body.Content[0].Text == nil ||
		strings.TrimSpace(body.Content[0].Text.Text) == "" {
		invalid(w, "The content to guard is not a text of a model.")
		return
	}
	action, outputs := "NONE", []any{}
	if strings.Contains(body.Content[0].Text.Text, Flagged) {
		action, outputs = "GUARDRAIL_INTERVENED", append(outputs, map[string]string{"text": "Blocked."})
	}
	write(w, http.StatusOK, map[string]any{"action": action, "outputs": outputs, "assessments": []any{},
		"usage": map[string]int{"topicPolicyUnits": 0, "contentPolicyUnits": 1, "wordPolicyUnits": 0,
			"sensitiveInformationPolicyUnits": 0, "sensitiveInformationPolicyFreeUnits": 0,
			"contextualGroundingPolicyUnits": 0}})
}
