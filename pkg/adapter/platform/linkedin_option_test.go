package platform_test

import (
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/linkedin"
	fake "github.com/content-automation/api/testdata/platforms/linkedin"
)

func TestOptionsOnLinkedIn(t *testing.T) {
	post := platform.Post{Key: "pub_1", Kind: platform.KindPost, Caption: "With @Acme and @Acme Shop, #shoes for @all"}
	photo := post
	photo.Media = []platform.Media{fixture.Image("a")}
	poll := func(question string, hours int) linkedin.Options {
		return linkedin.Options{PollOption: platform.PollOption{Poll: &platform.Poll{Question: question,
			Choices: []string{"Red", "Blue"}, DurationHours: hours}}}
	}
	share := linkedin.Options{Reshare: "urn:li:share:7000000000000000001"}
	both := poll("Which?", 24)
	both.Reshare = share.Reshare
	named := func(names ...string) linkedin.Options {
		o := linkedin.Options{}
		for _, name := range names {
			o.Mentions = append(o.Mentions, linkedin.Mention{Name: name, ID: "urn:li:organization:" +
				strings.ReplaceAll(name, " ", "-")})
		}
		return o
	}
	fixture.Options(t, fixtureOf(fake.Organization), []fixture.Option{
		{Name: "poll", Post: post, Own: poll("Which?", 72), Shows: "poll Which? [{Red} {Blue}] THREE_DAYS"},
		{Name: "reshare_of", Post: post, Own: share, Shows: "shares urn:li:share:7000000000000000001"},
		{Name: "mentions", Post: post, Own: named("Acme", "Acme Shop"),
			Shows: `With @[Acme](urn:li:organization:Acme) and @[Acme Shop](urn:li:organization:Acme-Shop), ` +
				`{hashtag|\#|shoes} for \@all`},
		{Name: "mentions", Post: photo, Own: named("Acme Shop"), Shows: "@[Acme Shop](urn:li:organization:Acme-Shop)"},
		{Name: "document", Post: platform.Post{Key: "pub_2", Kind: platform.KindCarousel, Caption: "Shoes",
			Media: []platform.Media{fixture.Image("a"), fixture.Image("b")}}, Own: linkedin.Options{Document: true},
			Shows: " document"},
	}, []fixture.Refusal{
		{Post: photo, Own: poll("Which?", 24), Param: "options.poll"},
		{Post: post, Own: poll("", 24), Param: "options.poll.question"},
		{Post: post, Own: poll("Which?", 25), Param: "options.poll.duration_hours"},
		{Post: post, Own: both, Param: "options.reshare_of"},
		{Post: photo, Own: share, Param: "options.reshare_of"},
		{Post: post, Own: named("Others"), Param: "options.mentions[0].name"},
	}, "privacy", "alt_text", "first_comment")
}

// A text that is changed keeps the mentions of its post, and a lost answer is found with them.
func TestMentionsAreKept(t *testing.T) {
	f := fixtureOf(fake.Organization)()
	defer f.Close()
	post := platform.Post{Key: "pub_1", Kind: platform.KindPost, Caption: "With @Acme", Options: platform.Options{
		Own: linkedin.Options{Mentions: []linkedin.Mention{{Name: "Acme", ID: fake.Organization}}}}}
	f.Fake.Fail(1, platformtest.AnswerLost)
	done, err := platformtest.Publish(t.Context(), f, f.Account, post)
	if posts := f.Fake.Posts(); err != nil || len(posts) != 1 {
		t.Fatalf("%q, %v", posts, err)
	}
	past, _, err := f.Adapter.(platform.PastReader).PastPosts(t.Context(), f.Account, "")
	if err != nil || len(past) == 0 || past[0].Text != "With @Acme" {
		t.Errorf("%+v, %v", past, err)
	}
	err = f.Adapter.(platform.Editor).Edit(t.Context(), f.Account,
		platform.PlacedPost{PublishedPost: done.Post, Parts: 1, Options: post.Options}, "By @Acme")
	if posts := f.Fake.Posts(); err != nil || !strings.HasSuffix(posts[0], "By @[Acme]("+fake.Organization+")") {
		t.Errorf("%q, %v", posts, err)
	}
}
