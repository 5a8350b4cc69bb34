package platform

import (
	"strings"
	"unicode"

	"github.com/content-automation/api/pkg/adapter/platform/texts"
)

// Arranged is the text of a post in the arrangement of its platform.
type Arranged struct {
	Title string
	Body  string   // caption, with the hashtags if they belong to it
	Rest  string   // separate message that follows the media
	Tags  []string // hashtags that are separate from the caption
	// Replies are the texts of the posts that follow the first one in a thread.
	Replies []string
}

// Posts returns the texts of the messages or posts that have the text.
func (a Arranged) Posts() []string {
	all := append([]string{a.Body}, a.Replies...)
	if a.Rest != "" {
		all = append(all, a.Rest)
	}
	return all
}

// Parts returns the number of messages or posts that have the text.
func (a Arranged) Parts() int { return len(a.Posts()) }

// Arrange places the caption and hashtags as the platform requires. If the caption is too long for the media and the
// platform allows a separate message, Arrange divides it at the end of a paragraph, else of a sentence, else of a word.
func Arrange(p Post, c Capabilities) Arranged {
	rule := c.Rule(p)
	a := Arranged{Title: strings.TrimSpace(p.Title), Body: strings.TrimSpace(p.Caption)}
	if c.Hashtags.Tags {
		a.Tags = p.Hashtags
	} else if len(p.Hashtags) > 0 {
		a.Body = strings.TrimSpace(a.Body + "\n\n#" + strings.Join(p.Hashtags, " #"))
	}
	if len(p.Media) == 0 && rule.Rest.Max > 0 {
		return a // a message without media, which may be as long as the rest
	}
	if rule.Rest.Max > 0 && rule.Caption.Length(a.Body) > rule.Caption.Max {
		a.Body, a.Rest = divide(a.Body, rule.Caption)
	}
	if p.Options.Thread && rule.Thread > 0 {
		var parts []string
		for rest := a.Body; rest != "" || len(parts) == 0; {
			first := rest
			if !rule.Caption.holds(rest) {
				first, rest = divide(rest, rule.Caption)
			} else {
				rest = ""
			}
			parts = append(parts, first)
		}
		a.Body, a.Replies = parts[0], parts[1:]
	}
	return a
}

// Length returns the length of a text in the unit of the limit, as a reader sees the text.
func (t Text) Length(s string) int { return t.Unit.Length(t.plain(s)) }

// plain returns what a reader sees of a text.
func (t Text) plain(s string) string {
	if t.Markup == HTML {
		return texts.Plain(s)
	}
	return s
}

// holds reports whether a text is within the limit.
func (t Text) holds(s string) bool {
	return t.Length(s) <= t.Max && (t.MaxBytes == 0 || len(s) <= t.MaxBytes)
}

// divide divides a text into a beginning within the limit and the rest. It cuts no tag, no link and, if there is a
// choice, no word.
func divide(s string, limit Text) (first, rest string) {
	plain := limit.plain(s)
	first = limit.Unit.cut(plain, limit.Max)
	if limit.MaxBytes > 0 {
		first = Bytes.cut(first, limit.MaxBytes)
	}
	if first == "" {
		return s, "" // a character or a link alone exceeds the limit, which Fit refuses
	}
	// An earlier end would leave the media with hardly any text.
	at := pause(plain, len(first), len(first)/3, "\n\n", "\n")
	if limit.Markup == "" {
		return strings.TrimSpace(plain[:at]), strings.TrimSpace(plain[at:])
	}
	return texts.Divide(s, len(strings.TrimRightFunc(plain[:at], unicode.IsSpace)),
		len(plain)-len(strings.TrimLeftFunc(plain[at:], unicode.IsSpace)))
}
