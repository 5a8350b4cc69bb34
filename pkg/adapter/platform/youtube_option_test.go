package platform_test

import (
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/youtube"
	fake "github.com/content-automation/api/testdata/platforms/youtube"
)

// captioned returns a post of a video that has captions.
func captioned() platform.Post {
	post, captions := parts, fixture.Video("words", 900)
	captions.MIME = "text/vtt"
	post.Captions, post.Language = &captions, "de"
	return post
}

// open returns a fixture whose account has all rights.
func open() *platformtest.Fixture {
	f := newYouTubeFixture()
	f.Account.Token.Scopes = f.Adapter.Capabilities().Scopes
	return f
}

func TestOptionsOnYouTube(t *testing.T) {
	post, clip := captioned(), captioned()
	clip.Cover = &youtubeCover
	fixture.Options(t, open, []fixture.Option{
		{Name: "category_id", Post: post, Own: youtube.Options{CategoryOption: platform.CategoryOption{CategoryID: "20"}},
			Shows: "category 20"},
		{Name: "playlist_id", Post: clip, Own: youtube.Options{Playlist: fake.Playlist}, Shows: "listed in " +
			fake.Playlist},
		{Name: "tags", Post: post, Own: youtube.Options{Tags: []string{"red shoes", "nets"}}, Shows: "[red shoes " +
			"nets]"},
		{Name: "captions", Post: clip, Own: youtube.Options{Captions: true}, Shows: "captions de "},
		{Name: "made_for_kids", Post: post, Own: youtube.Options{MadeForKids: true}, Shows: "public true"},
		{Name: "silent", Post: post, Own: youtube.Options{Quiet: platform.Quiet{Silent: true}}, Shows: "notifies " +
			"false"},
	}, []fixture.Refusal{
		{Post: post, Own: youtube.Options{Tags: []string{"a<b"}}, Param: "options.tags"},
		{Post: post, Own: youtube.Options{Tags: []string{strings.Repeat("a", 99), strings.Repeat("b", 99),
			strings.Repeat("c", 99), strings.Repeat("d", 99), strings.Repeat("e", 98) + " f"}}, Param: "options.tags"},
	}, "privacy", "is_aigc", "paid_partnership")
}

// A part that is lost or refused does not fail the publication, and no part is added twice.
func TestPartsOfAVideo(t *testing.T) {
	post := captioned()
	post.Options.Own = youtube.Options{Playlist: fake.Playlist, Captions: true}
	clean := open()
	if _, err := platformtest.Publish(t.Context(), clean, clean.Account, post); err != nil {
		t.Fatal(err)
	}
	calls := clean.Fake.Calls()
	clean.Close()
	for _, fault := range platformtest.Faults() {
		if fault == platformtest.CutOff {
			continue
		}
		for call := calls - 3; call <= calls; call++ {
			f := open()
			f.Fake.Fail(call, fault)
			done, err := platformtest.Publish(t.Context(), f, f.Account, post)
			posts := f.Fake.Posts()
			if err != nil || len(posts) != 1 || done.Warning != nil || strings.Count(posts[0], "listed in") != 1 ||
				strings.Count(posts[0], "captions de") != 1 {
				t.Errorf("%s at call %d: %q, %+v, %v", fault, call, posts, done.Warning, err)
			}
			f.Close()
		}
	}
	f := newYouTubeFixture()
	defer f.Close()
	f.Account.Token.Scopes = []string{"https://www.googleapis.com/auth/youtube.upload"}
	done, err := platformtest.Publish(t.Context(), f, f.Account, post)
	if w := done.Warning; err != nil || w == nil || w.Code != platform.CaptionsNotSet ||
		!strings.Contains(w.Message, "playlist") || !strings.Contains(w.Message, "captions") {
		t.Errorf("%+v, %v", w, err)
	}
}
