package platform_test

import (
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/tiktok"
)

func TestOptionsOnTikTok(t *testing.T) {
	clip := tiktokVideo
	clip.Options = platform.Options{}
	fixture.Options(t, newTikTokFixture, []fixture.Option{
		{Name: "cover_slide", Post: photos, Own: tiktok.Options{CoverSlide: 3}, Shows: " first 2"},
		{Name: "auto_music", Post: photos, Own: tiktok.Options{AutoMusic: true}, Shows: " with music"},
	}, []fixture.Refusal{
		{Post: photos, Own: tiktok.Options{CoverSlide: 4}, Param: "options.cover_slide"},
		{Post: photos, Own: tiktok.Options{AutoMusic: true, Mode: "inbox"}, Param: "options.auto_music"},
		{Post: clip, Own: tiktok.Options{CoverSlide: 1}, Param: "options.cover_slide"},
		{Post: clip, Own: tiktok.Options{AutoMusic: true}, Param: "options.auto_music"},
	}, "privacy", "cover_at", "is_aigc", "comments", "duet", "stitch", "disclosure", "mode", "consent",
		"disable_comments", "disable_duet", "disable_stitch")
}

// Each choice of the person is asked for where it is missing, and what was chosen is sent.
func TestTheChoicesOfThePersonAreSent(t *testing.T) {
	yes, no := true, false
	all := tiktok.Options{Comments: &yes, Duet: &yes, Stitch: &yes, Disclosure: "none", Consent: true}
	for param, c := range map[string]struct {
		change func(*tiktok.Options)
		shows  string // what the chosen option makes of the post
		choice func(*tiktok.Options)
	}{
		"comments": {func(o *tiktok.Options) { o.Comments = nil }, "PUBLIC_TO_EVERYONE true",
			func(o *tiktok.Options) { o.Comments = &no }},
		"duet":   {func(o *tiktok.Options) { o.Duet = nil }, "no duet", func(o *tiktok.Options) { o.Duet = &no }},
		"stitch": {func(o *tiktok.Options) { o.Stitch = nil }, "", func(o *tiktok.Options) { o.Stitch = &no }},
		"disclosure": {func(o *tiktok.Options) { o.Disclosure = "" }, "own brand",
			func(o *tiktok.Options) { o.Disclosure = "own_brand" }},
		"consent": {func(o *tiktok.Options) { o.Consent = false }, "", func(*tiktok.Options) {}},
	} {
		f, post := newTikTokFixture(), tiktokVideo
		asks := f.Adapter.Capabilities().RequiredChoices
		post.Options.Privacy = platform.Public
		without, chosen := all, all
		c.change(&without)
		post.Options.Own = without
		if found := asks(post); len(found) != 1 || found[0].Param != "options."+param {
			t.Errorf("without %s: %+v", param, found)
		}
		c.choice(&chosen)
		post.Options.Own = chosen
		_, err := platformtest.Publish(t.Context(), f, f.Account, post)
		if posts := f.Fake.Posts(); err != nil || len(asks(post)) > 0 || !strings.Contains(posts[0], c.shows) {
			t.Errorf("%s: %q, %+v, %v", param, posts, asks(post), err)
		}
		f.Close()
	}
	f := newTikTokFixture()
	defer f.Close()
	post := tiktokVideo
	post.Options.Own = tiktok.Options{CommentsOption: platform.CommentsOption{DisableComments: true}, DisableDuet: true,
		DisableStitch: true}
	_, err := platformtest.Publish(t.Context(), f, f.Account, post)
	if posts := f.Fake.Posts(); err != nil || !strings.Contains(posts[0], "PUBLIC_TO_EVERYONE true") ||
		!strings.Contains(posts[0], "no duet") {
		t.Errorf("%q, %v", posts, err)
	}
}
