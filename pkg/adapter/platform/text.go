package platform

import "strings"

// Arranged is the text of a post as its platform takes it.
type Arranged struct {
	Title string
	Body  string   // the caption, with the hashtags where they belong to it
	Rest  string   // what follows as a message of its own, after the media
	Tags  []string // hashtags beside the caption
}

// Arrange places caption and hashtags as the platform wants them. A caption that is
// too long for the media, where the platform allows a message of its own, is divided:
// at the end of a paragraph, else of a sentence, else of a word.
func Arrange(p Post, c Capabilities) Arranged {
	rule := c.Kinds[p.Kind]
	a := Arranged{Title: strings.TrimSpace(p.Title), Body: strings.TrimSpace(p.Caption)}
	if c.Hashtags.Tags {
		a.Tags = p.Hashtags
	} else if len(p.Hashtags) > 0 {
		a.Body = strings.TrimSpace(a.Body + "\n\n#" + strings.Join(p.Hashtags, " #"))
	}
	if len(p.Media) == 0 && rule.Rest.Max > 0 {
		return a // a message, which may have the length of the rest
	}
	if rule.Rest.Max > 0 && rule.Caption.Unit.Length(a.Body) > rule.Caption.Max {
		a.Body, a.Rest = divide(a.Body, rule.Caption)
	}
	return a
}

// divide divides a text into a beginning that the limit takes, and the rest.
func divide(s string, limit Text) (first, rest string) {
	first = limit.Unit.cut(s, limit.Max)
	for _, end := range []string{"\n\n", "\n", ". ", "! ", "? ", "… ", " "} {
		// Not so early that the media would stand almost without a text.
		if i := strings.LastIndex(first, end); i > len(first)/3 {
			first = first[:i+len(strings.TrimSpace(end))]
			break
		}
	}
	return strings.TrimSpace(first), strings.TrimSpace(s[len(first):])
}
