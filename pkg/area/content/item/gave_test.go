package item

import (
	"testing"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
)

// A composition fails at the caller's cost if the caller provided the faulty part.
func TestWhatTheCallerGave(t *testing.T) {
	const silent, long, unreadable, font = provider.FailedInputSilent, provider.FailedTextTooLong,
		provider.FailedInputUnreadable, provider.FailedScript
	own, generated := "med_1", MusicGenerated
	video := &Record{Item: Item{Kind: Video, Content: Content{Music: &own}}, Track: &media.File{Key: "media/track"}}
	made := &Record{Item: Item{Kind: Video, Content: Content{Music: &generated}}, Track: &media.File{Key: "media/earlier"}}
	titled, untitled := &Record{CallerTexts: CallerTexts{Texts: []Text{Title}}}, &Record{}
	slides := &Record{Item: Item{Slides: []Slide{{}, {}, {}}}, CallerTexts: CallerTexts{Slides: []int{1}},
		Attempt: Attempt{ProductPhotos: []shownPhoto{{3, media.File{Key: "media/photo"}}}}}
	brand := &Record{Brief: Brief{Brand: &generate.Brand{Logo: &media.File{Key: "media/logo"}}}}
	for _, c := range []struct {
		of   *Record
		code provider.FailureCode
		part string
		want bool
	}{
		{video, silent, "/music", true}, {made, silent, "/music", false}, {video, silent, "/narration", false},
		{video, unreadable, "media/track", true}, {video, unreadable, "media/other", false},
		{titled, long, "/title", true}, {untitled, long, "/title", false}, {titled, font, "/path", true},
		{titled, unreadable, "/path", false}, {untitled, font, "/path", false},
		{slides, long, "/slides/1", true}, {slides, long, "/slides/0", false}, {slides, unreadable, "/slides/1", false},
		{slides, unreadable, "/slides/2", true},
		{slides, unreadable, "/scenes/2/picture", true}, {slides, unreadable, "/scenes/2/clip", false},
		{slides, unreadable, "media/photo", true},
		{brand, unreadable, "/brand/logo", true}, {brand, long, "/brand/name", true},
		{brand, unreadable, "media/logo", true}, {brand, provider.FailedComposition, "", false},
	} {
		if got := (&work{record: c.of}).Gave(&provider.Error{Code: string(c.code), Part: c.part}); got != c.want {
			t.Errorf("%s of %s: %v", c.code, c.part, got)
		}
	}
}
