package x

import (
	"unicode/utf8"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/base/format"
)

var _ = format.Define("x-post", format.Format{Pattern: "^[0-9]{1,19}$",
	Wanted: "the id of a post: the digits at the end of its address"})

// Options are the options of posts on X, as callers send them.
type Options struct {
	platform.Described
	platform.Commented
	platform.Threaded
	platform.Declared
	platform.Sponsored
	platform.Polled
	// Who may reply. Absent: everyone.
	Replies string `json:"replies,omitempty" enum:"following,mentioned,subscribers,verified"`
	// Id of the post of X that the post quotes, in place of media.
	Quote string `json:"quote_post_id,omitempty" format:"x-post"`
}

const (
	// longestVote is how long a poll of X is open, in hours, and longestChoice the length of an answer.
	longestVote, longestChoice = 168, 25
)

// refuses returns what is wrong with the options of a post.
func refuses(p platform.Post) (found []platform.Problem) {
	own, _ := p.Options.Own.(Options)
	wrong := func(option platform.Option, format string, args ...any) {
		found = append(found, platform.Wrong(Name, option, format, args...))
	}
	if own.Quote != "" && (len(p.Media) > 0 || own.Poll != nil) {
		wrong(OptionQuote, "is taken without media and without a poll.")
	}
	if own.Poll == nil {
		return found
	}
	if len(p.Media) > 0 {
		wrong(platform.OptionPoll, "is taken without media.")
	}
	if own.Poll.Question != "" {
		wrong(platform.OptionPoll+".question", "is the text of the post on X: leave it out, and put it into the "+
			"caption.")
	}
	if own.Poll.DurationHours > longestVote {
		wrong(platform.OptionPoll+".duration_hours", "is up to %d on X.", longestVote)
	}
	for _, choice := range own.Poll.Choices {
		if n := utf8.RuneCountInString(choice); n > longestChoice {
			wrong(platform.OptionPoll+".choices", "may have %d characters each on X; %q has %d.", longestChoice,
				choice, n)
		}
	}
	return found
}

// settings maps the option replies to the values of X.
var settings = map[string]string{"following": "following", "mentioned": "mentionedUsers", "subscribers": "subscribers",
	"verified": "verified"}

// describe adds the options of a post to its first post.
func (o Options) describe(body map[string]any) {
	if o.Replies != "" {
		body["reply_settings"] = settings[o.Replies]
	}
	if o.Quote != "" {
		body["quote_tweet_id"] = o.Quote
	}
	if o.Poll != nil {
		body["poll"] = map[string]any{"options": o.Poll.Choices, "duration_minutes": o.Poll.DurationHours * 60}
	}
}
