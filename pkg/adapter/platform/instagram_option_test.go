package platform_test

import (
	"testing"

	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/instagram"
)

func TestOptionsOnInstagram(t *testing.T) {
	no, half := false, 0.5
	tagged := func(slide int) instagram.Options {
		return instagram.Options{UserTags: []instagram.UserTag{{Username: "acme.shop", X: &half, Y: &half,
			Slide: slide}}}
	}
	video := reel
	video.Options = platform.Options{}
	place := instagram.Options{LocationOption: platform.LocationOption{LocationID: "106"}}
	fixture.Options(t, newInstagramFixture, []fixture.Option{
		{Name: "location_id", Post: instagramPhoto, Own: place, Shows: "location_id 106"},
		{Name: "location_id", Post: instagramCarousel, Own: place, Shows: "location_id 106"},
		{Name: "collaborators", Post: instagramCarousel, Own: instagram.Options{Collaborators: []string{"acme.shop", "b_c"}},
			Shows: `collaborators ["acme.shop","b_c"]`},
		{Name: "user_tags", Post: instagramPhoto, Own: tagged(0), Shows: `user_tags [{"username":"acme.shop","x":0.5,"y":0.5}]`},
		{Name: "user_tags", Post: instagramCarousel, Own: tagged(3),
			Shows: `user_tags [{"username":"acme.shop","x":0.5,"y":0.5}]`},
		{Name: "user_tags", Post: video, Own: instagram.Options{UserTags: []instagram.UserTag{{Username: "b"}}},
			Shows: `user_tags [{"username":"b"}]`},
		{Name: "share_to_feed", Post: video, Own: instagram.Options{ShareToFeed: &no}, Shows: "share_to_feed false"},
		{Name: "trial", Post: video, Own: instagram.Options{Trial: "performance"}, Shows: "SS_PERFORMANCE"},
		{Name: "trial", Post: video, Own: instagram.Options{Trial: "manual"}, Shows: "MANUAL"},
		{Name: "audio_name", Post: video, Own: instagram.Options{AudioName: "Steps"}, Shows: "audio_name Steps"},
	}, []fixture.Refusal{
		{Post: instagramPhoto, Own: instagram.Options{AudioName: "Steps"}, Param: "options.audio_name"},
		{Post: instagramPhoto, Own: instagram.Options{Trial: "manual"}, Param: "options.trial"},
		{Post: instagramCarousel, Own: instagram.Options{ShareToFeed: &no}, Param: "options.share_to_feed"},
		{Post: story, Own: place, Param: "options.location_id"},
		{Post: story, Own: instagram.Options{Collaborators: []string{"b"}}, Param: "options.collaborators"},
		{Post: video, Own: instagram.Options{Trial: "manual", ShareToFeed: &no}, Param: "options.trial"},
		{Post: instagramPhoto, Own: instagram.Options{UserTags: []instagram.UserTag{{Username: "b", X: &half}}},
			Param: "options.user_tags[0]"},
		{Post: video, Own: tagged(0), Param: "options.user_tags[0]"},
		{Post: instagramCarousel, Own: tagged(2), Param: "options.user_tags[0].slide"},
		{Post: instagramPhoto, Own: tagged(2), Param: "options.user_tags[0].slide"},
	}, "privacy", "alt_text", "cover_at", "first_comment", "is_aigc", "paid_partnership", "partners")
}
