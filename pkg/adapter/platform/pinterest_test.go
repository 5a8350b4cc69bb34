package platform_test

import (
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/pinterest"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
	fake "github.com/content-automation/api/testdata/platforms/pinterest"
)

func newPinterestFixture() *platformtest.Fixture {
	return fixture.New(
		func(now func() time.Time) fixture.Fake { return fake.New(now) },
		func(cfg wire.Config) platform.Adapter { return pinterest.New(cfg) },
		func(f fixture.Fake) platform.Account {
			access, refresh := f.(*fake.Fake).Grant(30 * 24 * time.Hour)
			return platform.Account{ID: fake.Board, Token: platform.Token{Access: platform.Secret(access),
				Refresh: platform.Secret(refresh)}}
		},
	)
}

func pinterestDescribed(name string) platform.Media {
	m := fixture.Image(name)
	m.Alt = "A red shoe"
	return m
}

var (
	pinterestCover = fixture.Image("cover")
	pinterestPhoto = platform.Post{Key: "pub_1", Kind: platform.KindPost, Title: "A shoe", Caption: "It runs",
		Hashtags: []string{"shoes"}, Media: []platform.Media{pinterestDescribed("a")}}
)

func TestConformanceOnPinterest(t *testing.T) {
	fixture.Run(t, "pinterest", platformtest.Suite{
		New: newPinterestFixture,
		Posts: []platformtest.Named{
			{Name: "photo", Post: pinterestPhoto},
			{Name: "video", Post: platform.Post{Key: "pub_2", Kind: platform.KindVideo, Caption: "It runs",
				Media: []platform.Media{fixture.Video("b", 9000)}, Cover: &pinterestCover}},
			{Name: "carousel", Post: platform.Post{Key: "pub_3", Kind: platform.KindCarousel, Caption: "Shoes",
				Media: []platform.Media{fixture.Image("c"), fixture.Image("d")}}},
			{Name: "music clip", Post: platform.Post{Key: "pub_4", Kind: platform.KindMusicClip, Caption: "A song",
				Media:   []platform.Media{fixture.Video("e", 9000)},
				Options: platform.Options{CoverAt: 1500 * time.Millisecond}}},
		},
		Grant: fixture.OAuthGrant, BadGrants: fixture.BadOAuthGrants(),
	})
}

// A pin leads to the page of its option, or else to the first link of the caption.
func TestThePageOfAPin(t *testing.T) {
	for want, post := range map[string]platform.Post{
		"https://acme.example/a": {Caption: "See https://acme.example/a and https://acme.example/b"},
		"https://acme.example/c": {Caption: "See https://acme.example/a",
			Options: platform.Options{Own: pinterest.Options{Link: "https://acme.example/c"}}},
	} {
		f := newPinterestFixture()
		post.Key, post.Kind, post.Media = "pub_1", platform.KindPost, pinterestPhoto.Media
		_, err := platformtest.Publish(t.Context(), f, f.Account, post)
		posts := f.Fake.Posts()
		if err != nil || len(posts) != 1 || !strings.Contains(posts[0], post.Caption+" "+want+" ") {
			t.Errorf("%s: %v, %v", want, posts, err)
		}
		f.Close()
	}
}

// Pinterest says that it cannot reach an image, and reaches it later.
func TestAnImageOutOfReachIsTriedAgain(t *testing.T) {
	f := newPinterestFixture()
	defer f.Close()
	f.Fake.(*fake.Fake).Unreachable = true
	_, err := platformtest.Publish(t.Context(), f, f.Account, pinterestPhoto)
	if n := len(f.Fake.Posts()); err != nil || n != 1 {
		t.Errorf("%v with %d posts", err, n)
	}
}
