package linkedin

import (
	"fmt"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/base/format"
)

var (
	_ = format.Define("linkedin-post", format.Format{Pattern: "^urn:li:(share|ugcPost):[0-9]{1,20}$",
		Wanted: "the URN of a post, such as urn:li:share:7000000000000000001"})
	_ = format.Define("linkedin-author", format.Format{Pattern: "^urn:li:(person|organization):[A-Za-z0-9_-]{1,64}$",
		Wanted: "the URN of a member or an organisation", Example: "urn:li:organization:5515715"})
)

// Options are the options of posts on LinkedIn, as callers send them.
type Options struct {
	platform.Visible
	platform.Described
	platform.Commented
	platform.Polled
	// Publishes the images of a carousel as the pages of a document, which readers turn. Its title is that of the
	// content.
	Document bool `json:"document,omitempty"`
	// URN of the post that the post shares again, in place of media.
	Reshare string `json:"reshare_of,omitempty" format:"linkedin-post"`
	// Members and organisations that the caption names. Write each as @ and its name in the caption.
	Mentions []Mention `json:"mentions,omitempty" maxItems:"20" nullable:"false"`
}

// Mention is a member or an organisation that a text names.
type Mention struct {
	// Name as it stands after the @ in the caption. For an organisation, it is the name that LinkedIn shows; for a
	// member, the whole name or a part of it.
	Name string `json:"name" minLength:"1" maxLength:"100" example:"Acme"`
	// URN of the member or the organisation. `GET /v1/publishing/lookups` with `kind=member` or `kind=organization`
	// finds it.
	ID string `json:"id" format:"linkedin-author"`
}

// optionsOf returns the options of a post.
func optionsOf(o platform.Options) Options {
	own, _ := o.Own.(Options)
	return own
}

// durations maps the hours of a poll to the values of LinkedIn.
var durations = map[int]string{24: "ONE_DAY", 72: "THREE_DAYS", 168: "SEVEN_DAYS", 336: "FOURTEEN_DAYS"}

// refuses returns what is wrong with the options of a post.
func refuses(p platform.Post) (found []platform.Problem) {
	own := optionsOf(p.Options)
	wrong := func(option platform.Option, format string, args ...any) {
		found = append(found, platform.Wrong(Name, option, format, args...))
	}
	if own.Reshare != "" && (len(p.Media) > 0 || own.Poll != nil) {
		wrong(OptionReshare, "is taken without media and without a poll.")
	}
	if poll := own.Poll; poll != nil {
		if len(p.Media) > 0 {
			wrong(platform.OptionPoll, "is taken without media.")
		}
		if poll.Question == "" {
			wrong(platform.OptionPoll+".question", "is required on LinkedIn.")
		}
		if durations[poll.DurationHours] == "" {
			wrong(platform.OptionPoll+".duration_hours", "is 24, 72, 168 or 336 on LinkedIn.")
		}
	}
	for i, m := range own.Mentions {
		if !strings.Contains(p.Caption, "@"+m.Name) {
			wrong(platform.Option(fmt.Sprintf("%s[%d].name", OptionMentions, i)), "is not in the caption: write @%s "+
				"where "+
				"the mention belongs.", m.Name)
		}
	}
	return found
}

// commentary returns the text of a post. A hashtag stays one, and each @ with a name becomes a mention.
func commentary(text string, mentions []Mention) string {
	longest := slices.Clone(mentions) // of two names that begin alike, the longer one is meant
	slices.SortStableFunc(longest, func(a, b Mention) int { return len(b.Name) - len(a.Name) })
	tags := platform.WrittenTags(text)
	var b strings.Builder
	from := 0
	element := func(start, end int, format string, args ...any) {
		b.WriteString(escape.Replace(text[from:start]))
		fmt.Fprintf(&b, format, args...)
		from = end
	}
	for at := range text {
		for len(tags) > 0 && tags[0].Start < from {
			tags = tags[1:] // it is a part of a mention
		}
		switch {
		case at < from:
		case len(tags) > 0 && tags[0].Start == at:
			element(at, tags[0].End, `{hashtag|\#|%s}`, escape.Replace(tags[0].Text))
		case text[at] == '@':
			i := slices.IndexFunc(longest, func(m Mention) bool { return strings.HasPrefix(text[at+1:], m.Name) })
			if i >= 0 {
				element(at, at+1+len(longest[i].Name), "@[%s](%s)", escape.Replace(longest[i].Name), longest[i].ID)
			}
		}
	}
	b.WriteString(escape.Replace(text[from:]))
	return b.String()
}

// content adds what a post shows in place of media.
func (o Options) content(body map[string]any) {
	if o.Reshare != "" {
		body["reshareContext"] = map[string]string{"parent": o.Reshare}
	}
	if o.Poll == nil {
		return
	}
	var choices []map[string]string
	for _, c := range o.Poll.Choices {
		choices = append(choices, map[string]string{"text": c})
	}
	body["content"] = map[string]any{"poll": map[string]any{"question": o.Poll.Question, "options": choices,
		"settings": map[string]string{"duration": durations[o.Poll.DurationHours]}}}
}
