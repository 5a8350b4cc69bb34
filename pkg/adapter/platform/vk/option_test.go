package vk_test

import (
	"testing"

	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/vk"
)

func TestOptions(t *testing.T) {
	closed := vk.Options{CommentsOption: platform.CommentsOption{DisableComments: true}}
	fixture.Options(t, newFixture, []fixture.Option{
		{Name: "disable_comments", Post: text, Own: closed, Shows: "close_comments 1"},
		{Name: "silent", Post: carousel, Own: vk.Options{Quiet: platform.Quiet{Silent: true}},
			Shows: "mute_notifications 1"},
		{Name: "paid_partnership", Post: text, Own: vk.Options{SponsorOption: platform.SponsorOption{Paid: true}},
			Shows: "mark_as_ads 1"},
		{Name: "signed", Post: text, Own: vk.Options{Signed: true}, Shows: "signed 1"},
		{Name: "source_url", Post: text, Own: vk.Options{Source: "https://acme.example/a"},
			Shows: "copyright https://acme.example/a"},
	}, []fixture.Refusal{{Post: video, Own: closed, Param: "options.first_comment"}}, "privacy", "first_comment")
}
