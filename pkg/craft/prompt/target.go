package prompt

import (
	"cmp"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// Target is a platform as a writer needs to know it.
type Target struct {
	Label string
	// Caption is the greatest length of a caption in a unit, 0 if none is shown. It includes hashtags.
	Caption int
	Unit    string
	// Title is the greatest length of a title in characters, 0 if the platform has none.
	Title    int
	Hashtags int
	// Apart reports whether hashtags are apart from the caption.
	Apart bool
	platform.Habits
}

// The usual numbers of a text whose platforms are unknown, and the most hashtags of any text.
const (
	usualCaption = 1500
	usualTitle   = 80
	mostHashtags = 5
)

// bytesPerCharacter is the size of a character in UTF-8 in most languages that are not written in Latin letters.
const bytesPerCharacter = 3

// wordOfTag is the length that is set aside for a hashtag.
const wordOfTag = 20

// units are the names of the units of lengths.
var units = map[platform.Unit]string{platform.UTF16: "characters, of which an emoji is two", platform.Bytes: "bytes",
	platform.Runes: "characters"}

// TargetOf returns a platform for posts of a kind. It returns false if the platform does not take the kind.
func TargetOf(c platform.Capabilities, kind platform.Kind) (Target, bool) {
	rule, ok := c.Kinds[kind]
	if !ok {
		return Target{}, false
	}
	t := Target{Label: c.Label, Caption: rule.Caption.Max, Unit: units[cmp.Or(rule.Caption.Unit, platform.Runes)],
		Title: rule.Title.Max, Hashtags: min(c.Hashtags.Max, mostHashtags), Apart: c.Hashtags.Tags, Habits: c.Habits}
	if kind == platform.KindStory {
		t.Habits = platform.Habits{}
	}
	return t, true
}

// Limits are lengths in characters, which every platform takes.
type Limits struct {
	Caption, Title int
	// FirstLine is the number of characters that all platforms show before a reader opens a caption, 0 if there is no
	// such number.
	FirstLine int
	// Hashtags is the most hashtags, and LeastHashtags what is worth their while.
	Hashtags, LeastHashtags int
}

// Strictest returns the limits of all targets: of each, the strictest way of counting.
func Strictest(targets []Target) Limits {
	l := Limits{Caption: usualCaption, Title: usualTitle, Hashtags: mostHashtags}
	for _, t := range targets {
		if t.Title > 0 {
			l.Title = min(l.Title, t.Title)
		}
		if t.FirstLine > 0 && (l.FirstLine == 0 || t.FirstLine < l.FirstLine) {
			l.FirstLine = t.FirstLine
		}
		l.Hashtags = min(l.Hashtags, t.Hashtags)
	}
	for _, t := range targets {
		most := t.Caption
		if t.Unit == units[platform.Bytes] {
			most /= bytesPerCharacter
		}
		if !t.Apart {
			most -= l.Hashtags * wordOfTag
		}
		if t.Caption > 0 {
			l.Caption = min(l.Caption, most)
		}
	}
	l.LeastHashtags = min(3, l.Hashtags)
	return l
}
