package platform_test

import (
	"testing"

	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/facebook"
)

func TestOptionsOnFacebook(t *testing.T) {
	place := facebook.Options{LocationOption: platform.LocationOption{LocationID: "106"}}
	post := platform.Post{Key: "pub_1", Kind: platform.KindPost, Caption: "A shoe"}
	reel := platform.Post{Key: "pub_2", Kind: platform.KindVideo, Caption: "It runs",
		Media: []platform.Media{fixture.Video("e", 9000)}}
	video := reel
	video.Media = []platform.Media{wide("f")}
	fixture.Options(t, newFacebookFixture, []fixture.Option{
		{Name: "location_id", Post: post, Own: place, Shows: " at 106"},
		{Name: "location_id", Post: reel, Own: place, Shows: " at 106"},
	}, []fixture.Refusal{{Post: video, Own: place, Param: "options.location_id"}},
		"alt_text", "first_comment", "paid_partnership", "partners")
}
