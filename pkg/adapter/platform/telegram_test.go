package platform_test

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/png"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/telegram"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
	fake "github.com/content-automation/api/testdata/platforms/telegram"
)

func newTelegramFixture() *platformtest.Fixture {
	return fixture.New(
		func(now func() time.Time) fixture.Fake {
			f := fake.New(now)
			f.Allow("message_reaction_count") // as connecting does
			return f
		},
		func(cfg wire.Config) platform.Adapter { return telegram.New(cfg) },
		func(fixture.Fake) platform.Account { return account(fake.Chat) },
	)
}

func account(chat int64) platform.Account {
	return platform.Account{ID: strconv.FormatInt(chat, 10), Token: platform.Token{Access: fake.Token}}
}

var telegramCover = fixture.Image("cover")

var telegramLong = platform.Post{
	Key: "pub_4", Kind: platform.KindVideo, Caption: strings.Repeat("A sentence that is long. ", 100),
	Hashtags: []string{"running", "shoes"},
	Media:    []platform.Media{fixture.Video("d", 9000)},
}

func TestConformanceOnTelegram(t *testing.T) {
	fixture.Run(t, "telegram", platformtest.Suite{
		New: newTelegramFixture,
		Posts: []platformtest.Named{
			{Name: "text", Post: platform.Post{Key: "pub_1", Kind: platform.KindPost, Caption: "Hello",
				Hashtags: []string{"shoes"}}},
			{Name: "photo", Post: platform.Post{Key: "pub_2", Kind: platform.KindPost, Caption: "A shoe",
				Media:   []platform.Media{fixture.Image("a")},
				Options: platform.Options{Own: telegram.Options{Quiet: platform.Quiet{Silent: true}}}}},
			{Name: "album", Post: platform.Post{Key: "pub_3", Kind: platform.KindCarousel, Caption: "Shoes",
				Media: []platform.Media{fixture.Image("b"), fixture.Video("c", 5000)}}},
			{Name: "long video", Post: telegramLong},
			{Name: "music clip", Post: platform.Post{Key: "pub_5", Kind: platform.KindMusicClip,
				Media: []platform.Media{fixture.Video("e", 4000)}, Cover: &telegramCover}},
		},
		Grant: func(*platformtest.Fixture) (platform.Grant, error) {
			return platform.Grant{Token: fake.Token, Choice: fake.Channel}, nil
		},
		BadGrants: []platform.Grant{{}, {Token: fake.Token}, {Token: "7:no", Choice: fake.Channel},
			{Token: fake.Token, Choice: "@others"}},
	})
}

func TestALongCaptionIsMediaThenText(t *testing.T) {
	f := newTelegramFixture()
	defer f.Close()
	done := publish(t, f, f.Account, telegramLong)
	posts := f.Fake.(*fake.Fake).Published()
	if len(posts) != 2 {
		t.Fatalf("%d messages, want the video and the rest of its caption", len(posts))
	}
	first, rest := posts[0].Content, posts[1].Content
	if !strings.HasPrefix(first, "A sentence that is long.") || !strings.HasSuffix(rest, "#running #shoes") ||
		!strings.HasPrefix(rest, "A sentence") {
		t.Errorf("divided into %q and %q", first, rest)
	}
	if done.Post.ID != posts[0].ID || done.Post.URL != "https://t.me/acme_news/"+posts[0].ID {
		t.Errorf("the post is %+v, want the video's message %s", done.Post, posts[0].ID)
	}
}

func TestAGroupThatHasMovedIsFollowed(t *testing.T) {
	f := newTelegramFixture()
	defer f.Close()
	publish(t, f, account(fake.Group), platform.Post{Kind: platform.KindPost, Caption: "Hello"})
	if n := len(f.Fake.Posts()); n != 1 {
		t.Errorf("%d posts, want 1", n)
	}
}

func TestABotThatWasRemovedNeedsAReconnect(t *testing.T) {
	f := newTelegramFixture()
	defer f.Close()
	f.Fake.(*fake.Fake).Kick()
	step, err := f.Adapter.Start(t.Context(), f.Account, platform.Post{Kind: platform.KindPost, Caption: "Hello"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Adapter.Finalize(t.Context(), f.Account,
		platform.Post{Kind: platform.KindPost, Caption: "Hello"}, step.Handle)
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

func TestAVideoHasItsCover(t *testing.T) {
	f := newTelegramFixture()
	defer f.Close()
	with := platform.Post{Key: "pub_6", Kind: platform.KindVideo, Caption: "It runs",
		Media: []platform.Media{fixture.Video("a", 5000)}, Cover: &telegramCover}
	without := with
	without.Cover = nil
	publish(t, f, f.Account, without)
	publish(t, f, f.Account, with)
	// The fake adds the sum of a cover to the content.
	if posts := f.Fake.Posts(); len(posts) != 2 || len(strings.Fields(posts[1])) != len(strings.Fields(posts[0]))+1 {
		t.Errorf("posted %q, want one with a cover", posts)
	}
}

func TestTheSidesOfPhotos(t *testing.T) {
	f := newTelegramFixture()
	defer f.Close()
	for _, c := range []struct {
		width, height int
		fits          bool
	}{{9000, 1000, true}, {9000, 1001, false}, {40, 800, true}, {40, 820, false}} {
		var picture bytes.Buffer
		if err := png.Encode(&picture, image.NewPaletted(image.Rect(0, 0, c.width, c.height),
			color.Palette{color.Black})); err != nil {
			t.Fatal(err)
		}
		m := platform.Media{MIME: "image/png", Bytes: int64(picture.Len()), Width: c.width, Height: c.height,
			Open: func(_ context.Context, offset, length int64) (io.ReadCloser, error) {
				return io.NopCloser(bytes.NewReader(picture.Bytes()[offset : offset+length])), nil
			}}
		post := platform.Post{Key: "pub_7", Kind: platform.KindPost, Media: []platform.Media{m}}
		if problems := platform.Fit(telegram.Name, post, f.Adapter.Capabilities()); (len(problems) == 0) != c.fits ||
			!c.fits && problems[0].Param != "media[0]" {
			t.Errorf("%d × %d: %+v", c.width, c.height, problems)
		}
		if c.width+c.height > 10_000 || c.fits { // Telegram itself refuses the others by their ratio
			if _, err := platformtest.Publish(t.Context(), f, f.Account, post); (err == nil) != c.fits {
				t.Errorf("%d × %d: Telegram answers %v", c.width, c.height, err)
			}
		}
	}
}

func TestReactionsAreCounted(t *testing.T) {
	f := newTelegramFixture()
	defer f.Close()
	of := f.Fake.(*fake.Fake)
	of.Allow()
	if _, err := f.Adapter.Connect(t.Context(), platform.Grant{Token: fake.Token, Choice: fake.Channel}); err != nil {
		t.Fatal(err)
	}
	// The bot still receives the updates that it received before.
	if got := of.Allowed(); !slices.Contains(got, "message_reaction_count") || !slices.Contains(got, "message") ||
		!slices.Contains(got, "callback_query") {
		t.Errorf("connecting asks for the updates %q", got)
	}
	done := publish(t, f, f.Account, platform.Post{Kind: platform.KindPost, Caption: "Hello"})
	id, err := strconv.ParseInt(done.Post.ID, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	of.React(id+1, 90)
	of.React(id, 12)
	for _, a := range []platform.Account{f.Account, {ID: fake.Channel, Token: f.Account.Token}} {
		if m, err := f.Adapter.Metrics(t.Context(), a, done.Post); err != nil || m.Likes == nil || *m.Likes != 12 {
			t.Errorf("%s: %+v, %v, want the last count of 12", a.ID, m, err)
		}
	}
	if m, err := f.Adapter.Metrics(t.Context(), f.Account, platform.PublishedPost{ID: "1"}); err != nil ||
		m != (platform.Metrics{}) {
		t.Errorf("of a message without reactions: %+v, %v", m, err)
	}
	if of.Confirmed {
		t.Error("updates that another program waits for were confirmed")
	}
	of.Webhook = true
	if _, err := f.Adapter.Metrics(t.Context(), f.Account, done.Post); platform.KindOf(err) != platform.BadContent {
		t.Errorf("with a webhook: %v, want %s", err, platform.BadContent)
	}
	if _, err := f.Adapter.Connect(t.Context(), platform.Grant{Token: fake.Token, Choice: fake.Channel}); err != nil {
		t.Errorf("a bot with a webhook is not connected: %v", err)
	}
}
