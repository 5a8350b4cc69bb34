package instagram_test

import (
	"testing"
	"time"

	"github.com/content-automation/api/pkg/platform"
	"github.com/content-automation/api/pkg/platform/instagram"
	"github.com/content-automation/api/pkg/platform/platformtest"
	"github.com/content-automation/api/pkg/platform/wire"
	"github.com/content-automation/api/testdata/platforms/fixture"
	fake "github.com/content-automation/api/testdata/platforms/instagram"
)

func newFixture() *platformtest.Fixture {
	return fixture.New(
		func(now func() time.Time) fixture.Fake { return fake.New(now) },
		func(cfg wire.Config) platform.Adapter { return instagram.New(cfg) },
		func(f fixture.Fake) platform.Account {
			access, _ := f.(*fake.Fake).Grant(60 * 24 * time.Hour)
			return platform.Account{ID: fake.User, Token: platform.Token{Access: platform.Secret(access), Refresh: platform.Secret(access)}}
		},
	)
}

var (
	cover = fixture.Image("cover")
	photo = platform.Post{Key: "pub_1", Kind: platform.KindPost, Caption: "A shoe", Hashtags: []string{"shoes"}, Media: []platform.Media{described()}}
	reel  = platform.Post{
		Key: "pub_2", Kind: platform.KindVideo, Caption: "A shoe runs", Media: []platform.Media{fixture.Video("b", 9000)}, Cover: &cover,
		Options: platform.Options{FirstComment: "More at acme.example"},
	}
	carousel = platform.Post{Key: "pub_3", Kind: platform.KindCarousel, Caption: "Shoes", Media: []platform.Media{fixture.Image("c"), fixture.Video("d", 9000), fixture.Image("e")}}
)

func described() platform.Media {
	m := fixture.Image("a")
	m.Alt = "A red shoe on grass"
	return m
}

func TestConformance(t *testing.T) {
	fixture.Run(t, platformtest.Suite{
		New: newFixture,
		Posts: []platformtest.Named{
			{Name: "photo", Post: photo}, {Name: "reel with a comment", Post: reel}, {Name: "carousel", Post: carousel},
			{Name: "story", Post: platform.Post{Key: "pub_4", Kind: platform.KindStory, Media: []platform.Media{fixture.Video("f", 9000)}}, Metrics: []string{"views", "shares"}},
			{Name: "music clip", Post: platform.Post{Key: "pub_5", Kind: platform.KindMusicClip, Caption: "A song", Media: []platform.Media{fixture.Video("g", 9000)}, Options: platform.Options{CoverAt: 1500 * time.Millisecond}}},
		},
		Grant: fixture.OAuthGrant, BadGrants: fixture.BadOAuthGrants(),
	})
}

func TestARefusalThatPublishedIsFound(t *testing.T) {
	f := newFixture()
	defer f.Close()
	f.Fake.(*fake.Fake).Breaks = true
	done, err := platformtest.Publish(t.Context(), f, f.Account, photo)
	posts := f.Fake.(*fake.Fake).Published()
	if err != nil || len(posts) != 1 || done.Post.ID != posts[0].ID || done.Post.URL == "" {
		t.Errorf("ended as %+v, %v with %d posts", done, err, len(posts))
	}
}

func TestTheFirstCommentIsWrittenOnce(t *testing.T) {
	for name, fault := range map[string]platformtest.Fault{"without trouble": "", "answer lost": platformtest.AnswerLost, "rate limited": platformtest.RateLimited} {
		f := newFixture()
		clean, err := calls(t, reel)
		if err != nil {
			t.Fatal(err)
		}
		f.Fake.Fail(clean, fault) // the comment is the last call
		_, err = platformtest.Publish(t.Context(), f, f.Account, reel)
		if comments := f.Fake.(*fake.Fake).Comments(); err != nil || len(comments) != 1 || comments[0] != reel.Options.FirstComment {
			t.Errorf("%s: comments %q, %v", name, comments, err)
		}
		f.Close()
	}
}

// calls returns how many calls a publication without trouble makes.
func calls(t *testing.T, post platform.Post) (int, error) {
	t.Helper()
	f := newFixture()
	defer f.Close()
	_, err := platformtest.Publish(t.Context(), f, f.Account, post)
	return f.Fake.Calls(), err
}

func TestAFullAccountWaits(t *testing.T) {
	f := newFixture()
	defer f.Close()
	f.Fake.(*fake.Fake).Used = 50
	_, err := f.Adapter.Start(t.Context(), f.Account, photo)
	if platform.KindOf(err) != platform.Quota || f.Fake.Calls() != 1 {
		t.Errorf("got %v after %d calls, want %s after one", err, f.Fake.Calls(), platform.Quota)
	}
}

func TestAnExpiredContainerBeginsAgain(t *testing.T) {
	f := newFixture()
	defer f.Close()
	step, err := f.Adapter.Start(t.Context(), f.Account, photo)
	if err != nil {
		t.Fatal(err)
	}
	f.Advance(25 * time.Hour)
	if _, err = f.Adapter.Check(t.Context(), f.Account, photo, step.Handle); platform.KindOf(err) != platform.Restart {
		t.Errorf("check: %v, want %s", err, platform.Restart)
	}
	if _, err = f.Adapter.Finalize(t.Context(), f.Account, photo, step.Handle); platform.KindOf(err) != platform.Restart {
		t.Errorf("finalize: %v, want %s", err, platform.Restart)
	}
}
