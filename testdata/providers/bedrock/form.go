package bedrock

import (
	"encoding/json"
	"strconv"
)

// forms are the objects other than posts, by what the system prompt says of them.
var forms = []struct {
	asked  string
	answer func(system, prompt string) any
}{
	{`"proposals": an array`, proposals},
}

// proposals are changes of a factory. The first time one of them does not fit, as it
// happens with models.
func proposals(_, prompt string) any {
	var data struct {
		Findings []struct{ Code string }
		Refused  []any
	}
	if err := json.Unmarshal([]byte(prompt), &data); err != nil {
		return map[string]string{"proposals": "The prompt is not JSON: " + err.Error()}
	}
	proposal := func(title string, patch map[string]any) map[string]any {
		return map[string]any{
			"title": title, "rationale": strconv.Itoa(len(data.Findings)) + " findings.", "patch": patch, "expected_effect": "Fewer findings",
		}
	}
	all := []any{proposal("Speak to runners", map[string]any{"audience": "People who run in any weather"})}
	if len(data.Refused) == 0 {
		all = append(all, proposal("Make nothing", map[string]any{"state": "paused"}))
	}
	return map[string]any{"proposals": all}
}
