package platform

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/media"
)

// Kind is a kind of content.
type Kind string

// The kinds of content.
const (
	KindPost      Kind = "post"
	KindVideo     Kind = "video"
	KindCarousel  Kind = "carousel"
	KindStory     Kind = "story"
	KindMusicClip Kind = "music_clip"
)

// Kinds lists the kinds of content.
func Kinds() []Kind { return []Kind{KindPost, KindVideo, KindCarousel, KindStory, KindMusicClip} }

// Topic is the subject of a post, for platforms that have a category for it. The zero value stands for any subject.
type Topic string

// The topics.
const (
	TopicMusic Topic = "music"
	TopicNews  Topic = "news"
)

// Post is the content to publish.
type Post struct {
	// Key is the id of the publication. It is unique to the post, and the same at every attempt.
	Key      string
	Kind     Kind
	Topic    Topic
	Title    string
	Caption  string
	Hashtags []string // without the leading #
	Language string   // BCP 47
	Media    []Media  // in order
	Cover    *Media   // image of a video, shown before it plays
	Captions *Media   // spoken words of a video in WebVTT, or nil
	Options  Options

	// Rehearsal is the outcome for the sandbox to simulate. Other platforms ignore it.
	Rehearsal Rehearsal
}

// Media is a finished file.
type Media struct {
	MIME          string
	Bytes         int64
	Width, Height int
	Duration      time.Duration
	Alt           string // describes an image to those who cannot see it
	// Movie describes a video. The zero value is not known.
	Movie media.Movie

	// URL is the address at which a platform that pulls reads the file. It stays valid for as
	// long as the publication can take.
	URL string
	// Open reads a range of the file. No adapter reads a whole file into memory.
	Open func(ctx context.Context, offset, length int64) (io.ReadCloser, error)
}

// Video reports whether the file is a video.
func (m Media) Video() bool { return len(m.MIME) > 6 && m.MIME[:6] == "video/" }

// Privacy is the audience of a post.
type Privacy string

// The privacies. Not every platform has all of them.
const (
	Public   Privacy = "public"
	Unlisted Privacy = "unlisted"
	Friends  Privacy = "friends"
	Private  Privacy = "private"
)

// Rehearsal is a simulated outcome. The zero value succeeds.
type Rehearsal struct {
	Code  Code          // code of the failure, or empty for success
	Delay time.Duration // how long the platform processes the post
	Hook  string        // how the text begins, such as question, or empty if nobody knows
}

// Options are the options of a post. The zero value sets none, so that the platform's own defaults apply.
type Options struct {
	Privacy      Privacy
	CoverAt      time.Duration // frame of the video to show before it plays
	FirstComment string        // written under the post
	Generated    bool          // the content was made by AI, which is declared if the platform demands it
	Undeclared   bool          // the caller wants no such declaration, which Fit refuses
	Thread       bool          // a caption that is too long for one post is published as several
	// Own has all options as callers send them. Its type is that of the platform's
	// Capabilities.Shape. It is nil if there are no options.
	Own any
}

// Option names an option.
type Option string

// The options that the kernel or several platforms know. An option of a single platform is a member of its shape.
const (
	OptionPrivacy         Option = "privacy"
	OptionCoverAt         Option = "cover_at"
	OptionCover           Option = "cover"
	OptionAlt             Option = "alt_text"
	OptionFirstComment    Option = "first_comment"
	OptionGenerated       Option = "is_aigc"
	OptionDisableComments Option = "disable_comments"
	OptionSilent          Option = "silent"
	OptionThread          Option = "thread"
	OptionPaid            Option = "paid_partnership"
	OptionPartners        Option = "partners"
	OptionLocation        Option = "location_id"
	OptionPoll            Option = "poll"
	OptionCategory        Option = "category_id"
	OptionCaptions        Option = "captions"
)

// Visible is the part of a shape with the option privacy. Its values are those of the platform's
// Capabilities.Privacies.
type Visible struct {
	// Who can see the post. Absent: the platform's default.
	Privacy Privacy `json:"privacy,omitempty"`
}

// AltTextOption is the part of a shape with the option alt_text.
type AltTextOption struct {
	// Descriptions of the images for people who cannot see them, in the order of the images. The platform may take only
	// shorter ones.
	AltText []string `json:"alt_text,omitempty" maxItems:"10" maxLength:"5000" nullable:"false"`
}

// CoverAtOption is the part of a shape with the option cover_at.
type CoverAtOption struct {
	// Time of the frame of a video to show before it plays. Absent: the poster, or the platform's choice.
	CoverAtSeconds float64 `json:"cover_at_seconds,omitempty" minimum:"0" maximum:"600" multipleOf:"0.001"`
}

// FirstCommentOption is the part of a shape with the option first_comment.
type FirstCommentOption struct {
	// Comment to write below the post.
	FirstComment string `json:"first_comment,omitempty" minLength:"1" maxLength:"5000"`
}

// AIOption is the part of a shape with the option is_aigc.
type AIOption struct {
	// Declares that the content was made by AI. It is always declared where the platform asks: false is refused.
	Generated *bool `json:"is_aigc,omitempty"`
}

// SponsorOption is the part of a shape with the option paid_partnership.
type SponsorOption struct {
	// Declares that a partner paid for the post.
	Paid bool `json:"paid_partnership,omitempty"`
}

// PartnersOption is the part of a shape with the options paid_partnership and partners.
type PartnersOption struct {
	SponsorOption
	// Ids on the platform of the accounts of the partners that paid. They need paid_partnership.
	Partners []string `json:"partners,omitempty" format:"digits" maxItems:"2" uniqueItems:"true" nullable:"false"`
}

// Refused returns what is wrong with the partners of a post, of which the platform with the name takes a number.
func (o PartnersOption) Refused(name string, least, most int) []Problem {
	refuse := func(option, message string) []Problem {
		return []Problem{{Platform: name, Param: "options." + option, Message: message}}
	}
	switch n := len(o.Partners); {
	case !o.Paid && n > 0:
		return refuse("partners", "needs paid_partnership: true, which tells readers that these partners paid.")
	case o.Paid && n < least:
		return refuse("partners", "is required with paid_partnership: send the id of the account of the partner.")
	case n > most:
		return refuse("partners", fmt.Sprintf("has %d ids, more than %d.", n, most))
	}
	return nil
}

// Quiet is the part of a shape with the option silent.
type Quiet struct {
	// Notifies no followers.
	Silent bool `json:"silent,omitempty"`
}

// CommentsOption is the part of a shape with the option disable_comments.
type CommentsOption struct {
	// Permits no comments.
	DisableComments bool `json:"disable_comments,omitempty"`
}

// ThreadOption is the part of a shape with the option thread.
type ThreadOption struct {
	// Publishes a caption that is too long for one post as several, each a reply to the one before. Absent: a long
	// caption is refused.
	Thread bool `json:"thread,omitempty"`
}

// LocationOption is the part of a shape with the option location_id.
type LocationOption struct {
	// Id of the page of a place, which the post names. `GET /v1/publishing/lookups` with `kind=location` finds it.
	LocationID string `json:"location_id,omitempty" format:"digits"`
}

// PollOption is the part of a shape with the option poll.
type PollOption struct {
	// Poll below the text, in place of media.
	Poll *Poll `json:"poll,omitempty"`
}

// Poll asks the readers of a post.
type Poll struct {
	// Question. LinkedIn requires it; on X the text of the post is the question.
	Question string `json:"question,omitempty" minLength:"1" maxLength:"140"`
	// Answers to choose from, in order: up to 25 characters on X, and 30 on LinkedIn.
	Choices []string `json:"choices" format:"poll-choice" nullable:"false"`
	// How long readers may vote: up to 168 hours on X; 24, 72, 168 or 336 on LinkedIn.
	DurationHours int `json:"duration_hours" minimum:"1" maximum:"336" example:"24"`
}

// CategoryOption is the part of a shape with the option category_id.
type CategoryOption struct {
	// Number of the category of the video on the platform. Absent: music or news by the type of the factory, or else
	// the platform's most general one.
	CategoryID string `json:"category_id,omitempty" pattern:"^[0-9]{1,4}$" patternDescription:"one to four digits"`
}

// Wrong returns the problem of an option of a platform.
func Wrong(platform string, option Option, format string, args ...any) Problem {
	return Problem{Platform: platform, Param: "options." + string(option), Message: fmt.Sprintf(format, args...)}
}

// Wishes reads options in the platform's shape, and returns them with the descriptions of the
// images. If raw is empty, there are no options.
func (c Capabilities) Wishes(raw []byte) (o Options, alt []string, err error) {
	if len(raw) == 0 || c.Shape == nil {
		return o, nil, nil
	}
	own := reflect.New(reflect.TypeOf(c.Shape))
	var shared struct {
		Visible
		AltTextOption
		CoverAtOption
		FirstCommentOption
		AIOption
		ThreadOption
	}
	if err := errors.Join(json.Unmarshal(raw, own.Interface()), json.Unmarshal(raw, &shared)); err != nil {
		return o, nil, fmt.Errorf("platform: read the options of %s: %w", c.Label, err)
	}
	o = Options{
		Privacy: shared.Privacy, CoverAt: time.Duration(shared.CoverAtSeconds*1000+0.5) * time.Millisecond,
		FirstComment: shared.FirstComment, Own: own.Elem().Interface(), Thread: shared.Thread,
	}
	if declared := shared.Generated; declared != nil {
		o.Generated, o.Undeclared = *declared, !*declared
	}
	return o, shared.AltText, nil
}

// names returns the names of the options that are set. It leaves out privacy, which Fit checks by its values.
func (o Options) names() (all []Option) {
	if o.CoverAt != 0 {
		all = append(all, OptionCoverAt)
	}
	if o.FirstComment != "" {
		all = append(all, OptionFirstComment)
	}
	if o.Own == nil {
		return all
	}
	own := reflect.ValueOf(o.Own)
	for _, f := range reflect.VisibleFields(own.Type()) {
		name := optionOf(f)
		if name != "" && name != OptionPrivacy && !own.FieldByIndex(f.Index).IsZero() && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// ShapeOptions returns the options that are members of the platform's shape.
func (c Capabilities) ShapeOptions() (all []Option) {
	if c.Shape == nil {
		return nil
	}
	for _, f := range reflect.VisibleFields(reflect.TypeOf(c.Shape)) {
		if name := optionOf(f); name != "" {
			all = append(all, name)
		}
	}
	return all
}

// optionOf returns the option that a member of a shape sets.
func optionOf(f reflect.StructField) Option {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return Option(strings.TrimSuffix(name, "_seconds"))
}
