package base_test

import (
	"testing"

	hidden "github.com/content-automation/api/pkg/base/text"
)

func TestRemove(t *testing.T) {
	for text, want := range map[string]string{
		"Acme\U000e0041\U000e007f": "Acme", "a\u202ecba\u202c": "acba", "\u2066x\u2069": "x",
		"Ünï 🙂\u200d👍\u200e\u200f": "Ünï 🙂\u200d👍\u200e\u200f", "": "",
		"Come on \U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f!":                                                              "Come on \U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f!",
		"\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f\U0001f3f4\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f": "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f\U0001f3f4\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f",
		// Of no country, not ended, and with more behind it.
		"\U0001f3f4\U000e0075\U000e0073\U000e0063\U000e0061\U000e007f": "\U0001f3f4", "\U0001f3f4\U000e0067\U000e0062": "\U0001f3f4",
		"\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f\U000e0041": "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
	} {
		if got := hidden.RemoveHidden(text); got != want {
			t.Errorf("%q becomes %q", text, got)
		}
		if got := hidden.HasHidden(text); got != (text != want) {
			t.Errorf("%q has hidden characters: %t", text, got)
		}
	}
}
