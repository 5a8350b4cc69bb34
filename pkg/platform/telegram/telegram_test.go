package telegram_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/platform"
	"github.com/content-automation/api/pkg/platform/platformtest"
	"github.com/content-automation/api/pkg/platform/telegram"
	"github.com/content-automation/api/pkg/platform/wire"
	"github.com/content-automation/api/testdata/platforms/fixture"
	fake "github.com/content-automation/api/testdata/platforms/telegram"
)

func newFixture() *platformtest.Fixture {
	return fixture.New(
		func(now func() time.Time) fixture.Fake { return fake.New(now) },
		func(cfg wire.Config) platform.Adapter { return telegram.New(cfg) },
		func(fixture.Fake) platform.Account { return account(fake.Chat) },
	)
}

func account(chat int64) platform.Account {
	return platform.Account{ID: strconv.FormatInt(chat, 10), Token: platform.Token{Access: fake.Token}}
}

var long = platform.Post{
	Key: "pub_4", Kind: platform.KindVideo, Caption: strings.Repeat("A sentence that is long. ", 100), Hashtags: []string{"running", "shoes"},
	Media: []platform.Media{fixture.Video("d", 9000)},
}

func TestConformance(t *testing.T) {
	fixture.Run(t, platformtest.Suite{
		New: newFixture,
		Posts: []platformtest.Named{
			{Name: "text", Post: platform.Post{Key: "pub_1", Kind: platform.KindPost, Caption: "Hello", Hashtags: []string{"shoes"}}},
			{Name: "photo", Post: platform.Post{Key: "pub_2", Kind: platform.KindPost, Caption: "A shoe", Media: []platform.Media{fixture.Image("a")}, Options: platform.Options{Silent: true}}},
			{Name: "album", Post: platform.Post{Key: "pub_3", Kind: platform.KindCarousel, Caption: "Shoes", Media: []platform.Media{fixture.Image("b"), fixture.Video("c", 5000)}}},
			{Name: "long video", Post: long},
			{Name: "music clip", Post: platform.Post{Key: "pub_5", Kind: platform.KindMusicClip, Media: []platform.Media{fixture.Video("e", 4000)}}},
		},
		Grant: func(*platformtest.Fixture) (platform.Grant, error) {
			return platform.Grant{Token: fake.Token, Choice: fake.Channel}, nil
		},
		BadGrants: []platform.Grant{{}, {Token: fake.Token}, {Token: "7:no", Choice: fake.Channel}, {Token: fake.Token, Choice: "@others"}},
	})
}

func TestALongCaptionIsMediaThenText(t *testing.T) {
	f := newFixture()
	defer f.Close()
	done := publish(t, f, f.Account, long)
	posts := f.Fake.(*fake.Fake).Published()
	if len(posts) != 2 {
		t.Fatalf("%d messages, want the video and the rest of its caption", len(posts))
	}
	first, rest := posts[0].Content, posts[1].Content
	if !strings.HasPrefix(first, "A sentence that is long.") || !strings.HasSuffix(rest, "#running #shoes") || !strings.HasPrefix(rest, "A sentence") {
		t.Errorf("divided into %q and %q", first, rest)
	}
	if done.Post.ID != posts[0].ID || done.Post.URL != "https://t.me/acme_news/"+posts[0].ID {
		t.Errorf("the post is %+v, want the video's message %s", done.Post, posts[0].ID)
	}
}

func TestAGroupThatHasMovedIsFollowed(t *testing.T) {
	f := newFixture()
	defer f.Close()
	publish(t, f, account(fake.Group), platform.Post{Kind: platform.KindPost, Caption: "Hello"})
	if n := len(f.Fake.Posts()); n != 1 {
		t.Errorf("%d posts, want 1", n)
	}
}

func TestABotThatWasRemovedNeedsAReconnect(t *testing.T) {
	f := newFixture()
	defer f.Close()
	f.Fake.(*fake.Fake).Kick()
	step, err := f.Adapter.Start(t.Context(), f.Account, platform.Post{Kind: platform.KindPost, Caption: "Hello"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Adapter.Finalize(t.Context(), f.Account, platform.Post{Kind: platform.KindPost, Caption: "Hello"}, step.Handle)
	if platform.KindOf(err) != platform.Reconnect {
		t.Errorf("got %v, want %s", err, platform.Reconnect)
	}
}

func publish(t *testing.T, f *platformtest.Fixture, a platform.Account, post platform.Post) platform.Progress {
	t.Helper()
	progress, err := platformtest.Publish(t.Context(), f, a, post)
	if err != nil {
		t.Fatal(err)
	}
	return progress
}
