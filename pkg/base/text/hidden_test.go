package text_test

import (
	"testing"

	hidden "github.com/content-automation/api/pkg/base/text"
)

func TestRemove(t *testing.T) {
	for text, want := range map[string]string{
		"Acme\U000e0041\U000e007f": "Acme", "a\u202ecba\u202c": "acba", "\u2066x\u2069": "x",
		"Ünï 🙂\u200d👍\u200e\u200f": "Ünï 🙂\u200d👍\u200e\u200f", "": "",
	} {
		if got := hidden.RemoveHidden(text); got != want {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}
