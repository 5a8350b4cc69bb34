package script

import (
	"slices"
	"unicode"
)

// The selectors by which a text says how a character is drawn (UTS 51): in lines of one color, or as a picture.
const (
	textStyle  = '\ufe0e'
	emojiStyle = '\ufe0f'
)

// Pictorial reports whether a cluster is an emoji (UTS 51): it is one by itself, or a selector, a skin tone or another
// emoji that is joined with it makes it one.
func Pictorial(cluster []rune) bool {
	first, rest := cluster[0], cluster[1:]
	switch {
	case !unicode.Is(emojis, first) || len(rest) > 0 && rest[0] == textStyle:
		return false
	case unicode.Is(presented, first):
		return true
	}
	return slices.ContainsFunc(rest, func(r rune) bool { return r == emojiStyle || modifier(r) }) ||
		slices.Contains(rest, '\u200d') && unicode.Is(emojis, cluster[len(cluster)-1])
}

// Plain reports whether a cluster asks for letters of one color instead of a picture.
func Plain(cluster []rune) bool { return len(cluster) > 1 && cluster[1] == textStyle }

// modifier reports whether a character is a skin tone.
func modifier(r rune) bool { return r >= 0x1f3fb && r <= 0x1f3ff }

// flag is the black flag, with which tags are the flag of a part of a country.
const flag = '\U0001f3f4'

func tag(r rune) bool { return r >= 0xe0000 && r <= 0xe007f }
