package platform_test

import (
	"testing"

	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/x"
)

func TestOptionsOnX(t *testing.T) {
	text := platform.Post{Key: "pub_1", Kind: platform.KindPost, Caption: "Which one?"}
	photo := text
	photo.Media = []platform.Media{fixture.Image("a")}
	poll := func(question string, hours int, choices ...string) x.Options {
		return x.Options{PollOption: platform.PollOption{Poll: &platform.Poll{Question: question, Choices: choices,
			DurationHours: hours}}}
	}
	both := poll("", 24, "Red", "Blue")
	both.Quote = "1"
	fixture.Options(t, newXFixture, []fixture.Option{
		{Name: "poll", Post: text, Own: poll("", 24, "Red", "Blue"), Shows: `poll ["Red" "Blue"] 1440`},
		{Name: "quote_post_id", Post: text, Own: x.Options{Quote: "1850000000000000001"},
			Shows: "quotes 1850000000000000001"},
		{Name: "replies", Post: text, Own: x.Options{Replies: "mentioned"}, Shows: "replies of mentionedUsers"},
	}, []fixture.Refusal{
		{Post: photo, Own: poll("", 24, "Red", "Blue"), Param: "options.poll"},
		{Post: text, Own: poll("Which?", 24, "Red", "Blue"), Param: "options.poll.question"},
		{Post: text, Own: poll("", 169, "Red", "Blue"), Param: "options.poll.duration_hours"},
		{Post: text, Own: poll("", 24, "Red", "A blue that is too long for X"), Param: "options.poll.choices"},
		{Post: text, Own: both, Param: "options.quote_post_id"},
		{Post: photo, Own: x.Options{Quote: "1"}, Param: "options.quote_post_id"},
	}, "alt_text", "first_comment", "thread", "is_aigc", "paid_partnership")
}
