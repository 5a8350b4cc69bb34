package catalog

import (
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/adapter/provider"
)

func TestAnAvatarIsPricedByWhatIsSpoken(t *testing.T) {
	m := model(t, "heygen-avatar-4") // 10 credits a second
	for text, want := range map[string]int64{
		"Hi":                       10, // a second at least
		strings.Repeat("字", 12):    30,
		strings.Repeat("7", 12):    60,
		strings.Repeat("x", 12):    10,
		strings.Repeat("FBI ", 12): 118,
	} {
		if got, err := m.PriceOf(provider.Request{Kind: m.Kind, Prompt: text}); err != nil || got != want {
			t.Errorf("%q costs %d, %v; want %d", text, got, err, want)
		}
	}
}

func TestCharactersAreCountedAsTheProviderBillsThem(t *testing.T) {
	for name, c := range map[string]struct {
		model, text string
		want        int
	}{
		"spaces and line breaks":             {"eleven-multilingual-2", " a\n b. ", 7},
		"accents":                            {"eleven-multilingual-2", "äöü", 3},
		"Chinese at ElevenLabs":              {"eleven-3", "你好。", 3},
		"Chinese at MiniMax":                 {"minimax-speech-2.8-hd", "你好, Bob。", 10},
		"Chinese at Polly":                   {"polly-neural", "你好。", 3},
		"an emoji at Polly":                  {"polly-neural", "a😀", 3},
		"an emoji at ElevenLabs":             {"eleven-3", "a😀", 2},
		"a dialogue of ElevenLabs, from fal": {"eleven-dialogue-3", "Hi.\nHi.", 7},
	} {
		if got := model(t, c.model).billedCharacters(c.text); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
