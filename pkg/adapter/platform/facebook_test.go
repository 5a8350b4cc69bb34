package platform_test

import (
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/facebook"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
	fake "github.com/content-automation/api/testdata/platforms/facebook"
)

func newFacebookFixture() *platformtest.Fixture {
	return fixture.New(
		func(now func() time.Time) fixture.Fake { return fake.New(now) },
		func(cfg wire.Config) platform.Adapter { return facebook.New(cfg) },
		func(f fixture.Fake) platform.Account {
			access, _ := f.(*fake.Fake).Grant(0)
			return platform.Account{ID: fake.Page, Token: platform.Token{Access: platform.Secret(access)}}
		},
	)
}

func facebookDescribed(name string) platform.Media {
	m := fixture.Image(name)
	m.Alt = "A red shoe"
	return m
}

// wide is a video that is no Reel.
func wide(name string) platform.Media {
	m := fixture.Video(name, 9000)
	m.Width, m.Height, m.Duration = 1920, 1080, 120*time.Second
	return m
}

var ofVideos = []string{"views", "likes", "comments"}

func TestConformanceOnFacebook(t *testing.T) {
	fixture.Run(t, "facebook", platformtest.Suite{
		New: newFacebookFixture,
		Posts: []platformtest.Named{
			{Name: "photo with a comment", Post: platform.Post{Key: "pub_1", Kind: platform.KindPost, Caption: "A shoe",
				Media: []platform.Media{facebookDescribed("a")}, Options: platform.Options{FirstComment: "More at acme.example"}}},
			{Name: "text", Post: platform.Post{Key: "pub_2", Kind: platform.KindPost, Caption: "A shoe"}},
			{Name: "carousel", Post: platform.Post{Key: "pub_3", Kind: platform.KindCarousel, Caption: "Shoes",
				Media: []platform.Media{fixture.Image("b"), facebookDescribed("c"), fixture.Image("d")}}},
			{Name: "Reel", Metrics: ofVideos, Post: platform.Post{Key: "pub_4", Kind: platform.KindVideo,
				Caption: "It runs", Media: []platform.Media{fixture.Video("e", 9000)}}},
			{Name: "video", Metrics: ofVideos, Post: platform.Post{Key: "pub_5", Kind: platform.KindMusicClip,
				Title: "A song", Caption: "It sings", Media: []platform.Media{wide("f")}}},
		},
		Grant: fixture.OAuthGrant, BadGrants: fixture.BadOAuthGrants(),
	})
}

func TestAPaidPartnershipNamesItsPartner(t *testing.T) {
	f := newFacebookFixture()
	defer f.Close()
	paid := platform.Options{Own: facebook.Options{PartnersOption: platform.PartnersOption{
		SponsorOption: platform.SponsorOption{Paid: true}, Partners: []string{"178"}}}}
	_, err := platformtest.Publish(t.Context(), f, f.Account, platform.Post{Key: "pub_1", Kind: platform.KindCarousel,
		Caption: "Shoes", Media: []platform.Media{fixture.Image("b"), fixture.Image("d")}, Options: paid})
	if posts := f.Fake.Posts(); err != nil || !strings.Contains(posts[0], "paid by 178") {
		t.Errorf("%q, %v", posts, err)
	}
	c := f.Adapter.Capabilities()
	if c.Supports(platform.KindVideo, platform.OptionPaid) || !c.Supports(platform.KindPost, platform.OptionPaid) {
		t.Error("it is not taken by posts and carousels alone")
	}
	if found :=
		c.Refuses(platform.Post{Options: platform.Options{Own: facebook.Options{PartnersOption: platform.PartnersOption{
			SponsorOption: platform.SponsorOption{Paid: true}}}}}); len(found) != 1 {
		t.Errorf("without a partner: %+v", found)
	}
}

// A post of text only shows the preview of its first link.
func TestALinkIsShown(t *testing.T) {
	f := newFacebookFixture()
	defer f.Close()
	done, err := platformtest.Publish(t.Context(), f, f.Account, platform.Post{Key: "pub_1", Kind: platform.KindPost,
		Caption: "Look: https://acme.example/shoes. Or https://acme.example/"})
	if got := f.Fake.(*fake.Fake).Link(done.Post.ID); err != nil || got != "https://acme.example/shoes" {
		t.Errorf("the link is %q, %v", got, err)
	}
}

// Facebook refuses its own pages as the link of a post, and has no page of an address with the words behind it.
func TestALinkThatFacebookRefusesIsLeftOut(t *testing.T) {
	for caption, want := range map[string]string{
		"Join https://www.facebook.com/groups/acme":                          "",
		"Join https://m.facebook.com/a, https://fb.me/a, https://fb.watch/a": "",
		"https://FB.com/a and https://notfacebook.com/a":                     "https://notfacebook.com/a",
		"Join https://facebook.com/acme. More: https://acme.example/shoes":   "https://acme.example/shoes",
		"詳しくはhttps://example.com/aをご覧ください。":                                  "https://example.com/a",
		"See https://example.org/wiki/Film_(2010)":                           "https://example.org/wiki/Film_(2010)",
		"“https://example.com/a” «https://example.com/b»":                    "https://example.com/a",
		"“https://example.com/a、次":                                           "https://example.com/a",
	} {
		f := newFacebookFixture()
		done, err := platformtest.Publish(t.Context(), f, f.Account, platform.Post{Key: "pub_1", Kind: platform.KindPost,
			Caption: caption})
		if got := f.Fake.(*fake.Fake).Link(done.Post.ID); err != nil || got != want {
			t.Errorf("%q has the link %q, %v", caption, got, err)
		}
		f.Close()
	}
}

// A page on which the login may only read is not offered, and the end of the owner's grant is known.
func TestConnect(t *testing.T) {
	f := newFacebookFixture()
	defer f.Close()
	grant, err := fixture.OAuthGrant(f)
	if err != nil {
		t.Fatal(err)
	}
	accounts, err := f.Adapter.Connect(t.Context(), grant)
	if err != nil || len(accounts) != 1 || accounts[0].ID != fake.Page || accounts[0].Handle != "@acme" ||
		!accounts[0].Token.EndsAt.Equal(f.Now().Add(80*24*time.Hour)) {
		t.Errorf("%+v, %v", accounts, err)
	}
}
