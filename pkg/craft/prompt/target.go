package prompt

import (
	"cmp"
	"slices"

	"golang.org/x/text/language"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// Target is a platform as a writer needs to know it.
type Target struct {
	Label string
	// Caption is the greatest length of a caption in Unit, 0 if none is shown. It includes hashtags.
	Caption int
	// Unit is the unit in which the platform counts, and so do the guards.
	Unit platform.Unit
	// Title is the greatest length of a title in characters, 0 if the platform has none.
	Title int
	// Tags is the number of hashtags that posts have there, 0 if it takes none.
	Tags int
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

// WordOfTag is the greatest length of a hashtag that prompts ask for, in characters.
const WordOfTag = 20

// spareForEmojis is the part of a length that prompts leave out for emojis, on platforms that count them as several
// characters. For example, 10 means a tenth.
const spareForEmojis = 10

// TargetOf returns a platform for posts of a kind. It returns false if the platform does not take the kind.
func TargetOf(c platform.Capabilities, kind platform.Kind) (Target, bool) {
	rule, ok := c.Kinds[kind]
	if !ok {
		return Target{}, false
	}
	t := Target{Label: c.Label, Caption: rule.Caption.Max, Unit: cmp.Or(rule.Caption.Unit, platform.Runes),
		Title: rule.Title.Max, Tags: min(c.Hashtags.Max, cmp.Or(c.Habits.Hashtags, mostHashtags)),
		Apart: c.Hashtags.Tags, Habits: c.Habits}
	if kind == platform.KindStory {
		t.Habits = platform.Habits{}
	}
	return t, true
}

// Length says in words how long a caption may be, in the unit of the platform.
func (t Target) Length() string {
	text := t.Unit.Name()
	if rule := t.Unit.Rule(); rule != "" {
		text += " (" + rule + ")"
	}
	return text
}

// Room returns the number of characters of a language that a caption may have beside a number of hashtags, 0 if the
// platform shows no caption. A text of letters of the language that keeps it has no more units than the platform takes.
func (t Target) Room(tag string, hashtags int) int {
	if t.Caption == 0 {
		return 0
	}
	each := t.Unit.PerCharacter(scriptOf(tag))
	units := t.Caption
	if !t.Apart && hashtags > 0 {
		units -= 2 + hashtags*(WordOfTag*each+2) // an empty line, and a space and a # for each
	}
	if each == 1 && (t.Unit == platform.Weighted || t.Unit == platform.EmojiBytes) {
		units -= units / spareForEmojis
	}
	return max(units/each, 1)
}

// scriptOf returns the script in which a language is written. Vietnamese has one of its own: its letters with two marks
// are beyond the Latin letters that X counts as one.
func scriptOf(tag string) string {
	t := language.Make(tag)
	if base, _ := t.Base(); base.String() == "vi" {
		return "Viet"
	}
	script, _ := t.Script()
	if s := script.String(); s != "Zzzz" {
		return s
	}
	return "Latn" // nothing is known of the language, such as of a private one
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

// Strictest returns the limits of a text in a language that all targets take.
func Strictest(targets []Target, tag string) Limits {
	l := Limits{Caption: usualCaption, Title: usualTitle, Hashtags: mostHashtags}
	for _, t := range targets {
		if t.Title > 0 {
			l.Title = min(l.Title, t.Title)
		}
		if t.FirstLine > 0 && (l.FirstLine == 0 || t.FirstLine < l.FirstLine) {
			l.FirstLine = t.FirstLine
		}
		l.Hashtags = min(l.Hashtags, t.Tags)
	}
	for _, t := range targets {
		if room := t.Room(tag, l.Hashtags); room > 0 {
			l.Caption = min(l.Caption, room)
		}
	}
	l.LeastHashtags = (l.Hashtags + 1) / 2
	return l
}

// Divide divides platforms into those that a text is written for, and the short ones, whose texts are derived from it:
// those whose captions have less than two thirds of the text that is usual on the roomiest one.
func Divide(targets []Named, tag string) (main []Target, short []Named) {
	if len(targets) == 0 {
		return nil, nil
	}
	for _, t := range targets {
		main = append(main, t.Target)
	}
	most := roomiest(main, tag).usual(tag)
	main = main[:0]
	for _, t := range targets {
		if room := t.Room(tag, t.Tags); room > 0 && 3*room < 2*most {
			short = append(short, t)
		} else {
			main = append(main, t.Target)
		}
	}
	return main, short
}

// roomiest returns the platform on which the longest captions are usual.
func roomiest(targets []Target, tag string) Target {
	return slices.MaxFunc(targets, func(a, b Target) int { return cmp.Compare(a.usual(tag), b.usual(tag)) })
}

// usual returns the length of a caption that is usual, as far as there is room for it.
func (t Target) usual(tag string) int { return min(t.Most, t.Room(tag, t.Tags)) }
