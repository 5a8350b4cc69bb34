package platform

import (
	"context"
	"io"
	"time"
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

// Topic is what a post is about, as far as platforms have a category for it. The zero
// value is anything.
type Topic string

// The topics.
const (
	TopicMusic Topic = "music"
	TopicNews  Topic = "news"
)

// Post is what to publish.
type Post struct {
	// Key is the id of the publication: the same at every attempt, and of no other post.
	Key      string
	Kind     Kind
	Topic    Topic
	Title    string
	Caption  string
	Hashtags []string // without the #
	Language string   // BCP 47
	Media    []Media  // in order
	Cover    *Media   // an image of a video, to be shown before it plays
	Options  Options

	// Rehearsal is the outcome for the sandbox to simulate. Others ignore it.
	Rehearsal Rehearsal
}

// Media is a finished file.
type Media struct {
	MIME          string
	Bytes         int64
	Width, Height int
	Duration      time.Duration
	Alt           string // describes an image to those who cannot see it

	// URL is where a platform that pulls reads the file. It stays good for as long as
	// the publication can take.
	URL string
	// Open reads a range of the file. No adapter reads a whole file into memory.
	Open func(ctx context.Context, offset, length int64) (io.ReadCloser, error)
}

// Video reports whether the file is a video.
func (m Media) Video() bool { return len(m.MIME) > 6 && m.MIME[:6] == "video/" }

// Privacy is who can see a post.
type Privacy string

// The privacies. Not every platform has all of them.
const (
	Public   Privacy = "public"
	Unlisted Privacy = "unlisted"
	Friends  Privacy = "friends"
	Private  Privacy = "private"
)

// Rehearsal is a wanted outcome. The zero value succeeds.
type Rehearsal struct {
	Code  Code          // of the failure; empty: none
	Delay time.Duration // how long the platform processes the post
}
