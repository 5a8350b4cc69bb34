package platform_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/tiktok"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
	fake "github.com/content-automation/api/testdata/platforms/tiktok"
)

const chunk = 64 << 10

func newTikTokFixture() *platformtest.Fixture {
	return fixture.New(
		func(now func() time.Time) fixture.Fake {
			f := fake.New(now)
			f.MinChunk = chunk
			return f
		},
		func(cfg wire.Config) platform.Adapter {
			p := tiktok.New(cfg)
			p.Chunk = chunk
			return p
		},
		func(f fixture.Fake) platform.Account {
			access, refresh := f.(*fake.Fake).Grant(24 * time.Hour)
			return platform.Account{ID: fake.User, Token: platform.Token{Access: platform.Secret(access),
				Refresh: platform.Secret(refresh)}}
		},
	)
}

var (
	tiktokVideo = platform.Post{Key: "pub_1", Kind: platform.KindVideo, Caption: "A shoe runs", Hashtags: []string{"shoes"},
		Media: []platform.Media{fixture.Video("a", 9000)}, Options: platform.Options{Generated: true,
			CoverAt: time.Second}}
	photos = platform.Post{Key: "pub_2", Kind: platform.KindCarousel, Title: "Shoes", Caption: "Three",
		Media: []platform.Media{fixture.Image("b"), fixture.Image("c"), fixture.Image("d")}}
)

func TestConformanceOnTikTok(t *testing.T) {
	fixture.Run(t, "tiktok", platformtest.Suite{
		New: newTikTokFixture,
		Posts: []platformtest.Named{
			{Name: "video", Post: tiktokVideo},
			{Name: "three chunks", Post: platform.Post{Key: "pub_3", Kind: platform.KindMusicClip, Caption: "A song",
				Media: []platform.Media{fixture.Video("e", 3*chunk+100)}}},
			{Name: "photos", Post: photos},
			{Name: "photo", Post: platform.Post{Key: "pub_4", Kind: platform.KindPost, Caption: "One",
				Media: []platform.Media{fixture.Image("f")}}},
		},
		Grant: fixture.OAuthGrant, BadGrants: fixture.BadOAuthGrants(),
	})
}

func TestTheAccountDecidesOnPrivacy(t *testing.T) {
	for _, c := range []struct {
		allowed []string
		wanted  platform.Privacy
		want    string // in the post; empty: refused
	}{
		{[]string{"PUBLIC_TO_EVERYONE", "SELF_ONLY"}, "", "PUBLIC_TO_EVERYONE"},
		{[]string{"FOLLOWER_OF_CREATOR", "SELF_ONLY"}, "", "FOLLOWER_OF_CREATOR"},
		{[]string{"SELF_ONLY"}, platform.Private, "SELF_ONLY"},
		{[]string{"SELF_ONLY"}, platform.Public, ""},
	} {
		f := newTikTokFixture()
		f.Fake.(*fake.Fake).Levels = c.allowed
		post := photos
		post.Options.Privacy = c.wanted
		_, err := platformtest.Publish(t.Context(), f, f.Account, post)
		posts := f.Fake.Posts()
		if c.want == "" {
			if platform.KindOf(err) != platform.BadContent || len(posts) > 0 {
				t.Errorf("%+v: %v, %q", c, err, posts)
			}
		} else if err != nil || len(posts) != 1 || !strings.Contains(posts[0], c.want) {
			t.Errorf("%+v: %v, %q", c, err, posts)
		}
		f.Close()
	}
}

func TestPhotosAreNoVideos(t *testing.T) {
	for name, post := range map[string]platform.Post{"photos": photos, "video": tiktokVideo} {
		for _, silent := range []bool{false, true} {
			f := newTikTokFixture()
			of := f.Fake.(*fake.Fake)
			of.NoComments, post.Options.Generated = silent, true
			done, err := platformtest.Publish(t.Context(), f, f.Account, post)
			if err != nil || done.Post.URL == "" || done.Post.URL != of.Address(done.Post.ID) {
				t.Fatalf("%s: %+v, %v, want the address %s", name, done.Post, err, of.Address(done.Post.ID))
			}
			want := fmt.Sprintf("%v true", silent)
			if name == "photos" {
				want = fmt.Sprintf("%v not declared", silent)
			}
			if posts := f.Fake.Posts(); !strings.Contains(posts[0], want) {
				t.Errorf("%s, without comments %v: %q, want %q", name, silent, posts, want)
			}
			f.Close()
		}
	}
}

func TestPhotosTakeTheSettingOfCommentsAlone(t *testing.T) {
	c := newTikTokFixture().Adapter.Capabilities()
	for _, option := range []platform.Option{platform.OptionDisableComments, "disable_duet", "disable_stitch",
		platform.OptionGenerated, platform.OptionCoverAt} {
		if got := c.Supports(platform.KindCarousel, option); got != (option == platform.OptionDisableComments) ||
			!c.Supports(platform.KindVideo, option) {
			t.Errorf("%s: with photos %v", option, got)
		}
	}
	post := photos
	post.Options.Own = tiktok.Options{DisableDuet: true}
	if problems := platform.Fit(tiktok.Name, post, c); len(problems) != 1 ||
		problems[0].Param != "options.disable_duet" {
		t.Errorf("with a duet: %+v", problems)
	}
}

func TestFailuresOfAPublication(t *testing.T) {
	for reason, want := range map[string]struct {
		kind platform.ErrorKind
		code platform.Code
	}{
		"auth_removed":             {platform.Reconnect, platform.CodeNeedsReconnect},
		"duration_check_failed":    {platform.BadContent, platform.CodeMediaRefused},
		"spam_risk_text":           {platform.BadContent, platform.CodeContentPolicy},
		"internal":                 {0, ""},
		"spam_risk_too_many_posts": {0, ""},
	} {
		f := newTikTokFixture()
		f.Fake.(*fake.Fake).Reason = reason
		began := f.Now()
		done, err := platformtest.Publish(t.Context(), f, f.Account, tiktokVideo)
		if want.kind == 0 {
			// It begins again, and succeeds.
			if err != nil || !done.Done() || len(f.Fake.Posts()) != 1 || done.Post.ID == "" {
				t.Errorf("%s: %+v, %v", reason, done, err)
			}
			if waited := f.Now().Sub(began); strings.HasPrefix(reason, "spam") != (waited >= 24*time.Hour) {
				t.Errorf("%s: waited %s", reason, waited)
			}
		} else if e := classified(err); e.Kind != want.kind || e.Code != want.code || len(f.Fake.Posts()) != 0 {
			t.Errorf("%s: %v", reason, err)
		}
		f.Close()
	}
}

func classified(err error) *platform.Error {
	if e, ok := err.(*platform.Error); ok {
		return e
	}
	return &platform.Error{}
}
