package youtube_test

import (
	"testing"
	"time"

	"github.com/content-automation/api/pkg/platform"
	"github.com/content-automation/api/pkg/platform/platformtest"
	"github.com/content-automation/api/pkg/platform/wire"
	"github.com/content-automation/api/pkg/platform/youtube"
	"github.com/content-automation/api/testdata/platforms/fixture"
	fake "github.com/content-automation/api/testdata/platforms/youtube"
)

func newFixture() *platformtest.Fixture {
	return fixture.New(
		func(now func() time.Time) fixture.Fake { return fake.New(now) },
		func(cfg wire.Config) platform.Adapter { return youtube.NewInParts(cfg, 256<<10) },
		func(f fixture.Fake) platform.Account {
			access, refresh := f.(*fake.Fake).Grant(time.Hour)
			return platform.Account{ID: fake.Channel, Token: platform.Token{Access: platform.Secret(access), Refresh: platform.Secret(refresh), ExpiresAt: time.Now()}}
		},
	)
}

var (
	cover = fixture.Image("cover")
	short = platform.Post{
		Key: "pub_1", Kind: platform.KindVideo, Title: "A shoe", Caption: "Made of nets", Hashtags: []string{"shoes", "running"}, Language: "en",
		Media: []platform.Media{fixture.Video("a", 9000)}, Cover: &cover, Options: platform.Options{Privacy: platform.Unlisted, Generated: true},
	}
	parts = platform.Post{Key: "pub_2", Kind: platform.KindMusicClip, Title: "A song", Media: []platform.Media{fixture.Video("b", 600<<10)}}
)

func TestConformance(t *testing.T) {
	fixture.Run(t, platformtest.Suite{
		New:   newFixture,
		Posts: []platformtest.Named{{Name: "video with a cover", Post: short}, {Name: "three parts", Post: parts}},
		Grant: fixture.OAuthGrant, BadGrants: fixture.BadOAuthGrants(),
	})
}

func TestTheCoverIsSetAndNeverFailsTheVideo(t *testing.T) {
	f := newFixture()
	defer f.Close()
	done, err := platformtest.Publish(t.Context(), f, f.Account, short)
	if err != nil {
		t.Fatal(err)
	}
	covers := f.Fake.(*fake.Fake).Covers
	if covers[done.Post.ID] == "" {
		t.Errorf("the video %+v has no cover: %v", done.Post, covers)
	}
	bad := short
	wrong := fixture.Video("not an image", 100)
	bad.Cover = &wrong
	done, err = platformtest.Publish(t.Context(), f, f.Account, bad)
	if err != nil || !done.Done() || len(covers) != 1 {
		t.Errorf("with a cover that is refused: %+v, %v", done, err)
	}
}

func TestASessionThatIsGoneBeginsAgain(t *testing.T) {
	f := newFixture()
	defer f.Close()
	step, err := f.Adapter.Start(t.Context(), f.Account, short)
	if err != nil {
		t.Fatal(err)
	}
	f.Fake.(*fake.Fake).Forget()
	_, err = f.Adapter.Finalize(t.Context(), f.Account, short, step.Handle)
	if platform.KindOf(err) != platform.Restart {
		t.Errorf("finalize: %v, want %s", err, platform.Restart)
	}
	// After a lost answer the session may be gone because the video was made.
	_, err = f.Adapter.Reconcile(t.Context(), f.Account, short, step.Handle, f.Now())
	if platform.KindOf(err) != platform.Unknown {
		t.Errorf("reconcile: %v, want %s", err, platform.Unknown)
	}
}

func TestTheTokenGoesToThePlatformAlone(t *testing.T) {
	f := newFixture()
	defer f.Close()
	for _, address := range []string{"https://example.test/upload", "http://www.googleapis.com/upload", "https://googleapis.com.example.test/", "https://user@www.googleapis.com/", "//x"} {
		_, err := f.Adapter.Finalize(t.Context(), f.Account, short, platform.Handle(`{"session":"`+address+`"}`))
		if platform.KindOf(err) != platform.BadContent || f.Fake.Calls() != 0 {
			t.Errorf("%s: %v after %d calls", address, err, f.Fake.Calls())
		}
	}
}
