package youtube

import (
	"strings"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// These options are members of the shape of YouTube alone.
const (
	optionKids     platform.Option = "made_for_kids"
	optionPlaylist platform.Option = "playlist_id"
	optionTags     platform.Option = "tags"
)

// Options are the options of posts on YouTube, as callers send them.
type Options struct {
	platform.Visible
	platform.Declared
	// Declares that the content is made for children.
	MadeForKids bool `json:"made_for_kids,omitempty"`
	platform.Sponsored
	platform.Quiet
	platform.Categorized
	// Playlist of the channel to which the video is added. `GET /v1/publishing/lookups` with `kind=playlist` lists
	// them.
	Playlist string `json:"playlist_id,omitempty" pattern:"^[A-Za-z0-9_-]{2,64}$"`
	// Tags of the video, with up to 500 characters in all. Absent: the hashtags.
	Tags []string `json:"tags,omitempty" maxItems:"60" minLength:"1" maxLength:"100" nullable:"false"`
	// Adds the captions of the item as a track that viewers can turn on. An item without captions has none.
	Captions bool `json:"captions,omitempty"`
}

// optionsOf returns the options of a post.
func optionsOf(p platform.Post) Options {
	own, _ := p.Options.Own.(Options)
	return own
}

// mostTags is the length of all tags of a video, with the commas between them and quotes around those with a space.
const mostTags = 500

// refuses returns what is wrong with the options of a post.
func refuses(p platform.Post) (found []platform.Problem) {
	length := 0
	for i, tag := range optionsOf(p).Tags {
		length += platform.Runes.Length(tag) + min(i, 1)
		if strings.Contains(tag, " ") {
			length += 2
		}
		if strings.ContainsAny(tag, "<>,\"") {
			found = append(found, platform.Wrong(Name, optionTags, "may not have the characters < > , and \"; %q does.",
				tag))
		}
	}
	if length > mostTags {
		found = append(found, platform.Wrong(Name, optionTags, "may have %d characters in all, with the commas "+
			"between "+
			"them; there are %d.", mostTags, length))
	}
	return found
}
