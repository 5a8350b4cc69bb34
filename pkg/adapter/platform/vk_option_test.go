package platform_test

import (
	"testing"

	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/vk"
)

func TestOptionsOnVK(t *testing.T) {
	closed := vk.Options{CommentsOption: platform.CommentsOption{DisableComments: true}}
	fixture.Options(t, newVKFixture, []fixture.Option{
		{Name: "disable_comments", Post: vkText, Own: closed, Shows: "close_comments 1"},
		{Name: "silent", Post: vkCarousel, Own: vk.Options{Quiet: platform.Quiet{Silent: true}},
			Shows: "mute_notifications 1"},
		{Name: "paid_partnership", Post: vkText, Own: vk.Options{SponsorOption: platform.SponsorOption{Paid: true}},
			Shows: "mark_as_ads 1"},
		{Name: "signed", Post: vkText, Own: vk.Options{Signed: true}, Shows: "signed 1"},
		{Name: "source_url", Post: vkText, Own: vk.Options{Source: "https://acme.example/a"},
			Shows: "copyright https://acme.example/a"},
	}, []fixture.Refusal{{Post: vkVideo, Own: closed, Param: "options.first_comment"}}, "privacy", "first_comment")
}
