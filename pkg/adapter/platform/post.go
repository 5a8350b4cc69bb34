package platform

import (
	"context"
	"io"
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
