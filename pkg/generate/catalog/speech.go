package catalog

import (
	"strings"
	"time"
	"unicode"

	"github.com/content-automation/api/pkg/adapter/provider"
)

// billedCharacters returns how many characters of a text the model's provider bills. All count spaces and punctuation.
//
//   - Amazon Polly bills the characters of the text without tags. Those outside the
//     basic plane count twice, as in UTF-16: the most that it may count.
//     https://docs.aws.amazon.com/polly/latest/dg/limits.html
//   - ElevenLabs and its models at fal bill characters.
//   - MiniMax counts a Chinese character as two.
func (m Model) billedCharacters(text string) (n int) {
	twice := func(rune) bool { return false }
	switch {
	case m.Provider == "polly":
		twice = func(r rune) bool { return r > 0xffff }
	case strings.Contains(m.ProviderModel, "minimax"):
		twice = func(r rune) bool { return unicode.Is(unicode.Han, r) }
	}
	for _, r := range text {
		if n++; twice(r) {
			n++
		}
	}
	return n
}

// speechLength returns the length of an avatar's speech: the length of the recording, or an estimate for the text.
func speechLength(req provider.Request) time.Duration {
	if req.SpeechLength > 0 {
		return req.SpeechLength
	}
	return provider.SpokenLength(req.Prompt)
}
