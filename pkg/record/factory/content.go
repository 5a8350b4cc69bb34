package factory

import "slices"

// The content types that name a format of videos. A factory with video makes both formats.
const (
	video      = "video"
	ShortVideo = "short_video"
	LongVideo  = "long_video"
)

// ContentTypes are the content types that factories and plans have.
var ContentTypes = []string{"post", video, "carousel", "story", "music_clip", ShortVideo, LongVideo}

// KindOf returns the kind of the items of a content type.
func KindOf(contentType string) string {
	if contentType == ShortVideo || contentType == LongVideo {
		return video
	}
	return contentType
}

// Makes reports whether content types have one for items of a kind and, for videos, of a format. An empty format is
// any.
func Makes(types []string, kind, format string) bool {
	return slices.ContainsFunc(types, func(t string) bool {
		return t == kind || KindOf(t) == kind && (format == "" || t == format+"_"+video)
	})
}
