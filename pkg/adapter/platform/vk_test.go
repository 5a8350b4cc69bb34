package platform_test

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/vk"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
	fake "github.com/content-automation/api/testdata/platforms/vk"
)

func newVKFixture() *platformtest.Fixture {
	return fixture.New(
		func(now func() time.Time) fixture.Fake { return fake.New(now) },
		func(cfg wire.Config) platform.Adapter { return vk.New(cfg) },
		func(f fixture.Fake) platform.Account {
			access, refresh := f.(*fake.Fake).Grant(time.Hour)
			return platform.Account{ID: strconv.Itoa(-fake.Group),
				Token: platform.Token{Access: platform.Secret(access), Refresh: platform.Secret(refresh),
					Device: fake.Device}}
		},
	)
}

var (
	vkText  = platform.Post{Key: "pub_1", Kind: platform.KindPost, Caption: "Hello", Hashtags: []string{"shoes"}}
	vkVideo = platform.Post{Key: "pub_2", Kind: platform.KindVideo, Title: "A shoe", Caption: "It runs",
		Media:   []platform.Media{fixture.Video("a", 9000)},
		Options: platform.Options{FirstComment: "More at acme.example"}}
	vkCarousel = platform.Post{Key: "pub_3", Kind: platform.KindCarousel, Caption: "Shoes",
		Media: []platform.Media{fixture.Image("b"), fixture.Video("c", 9000)}}
)

func TestConformanceOnVK(t *testing.T) {
	fixture.Run(t, "vk", platformtest.Suite{
		New: newVKFixture,
		Posts: []platformtest.Named{
			{Name: "text", Post: vkText}, {Name: "video with a comment", Post: vkVideo}, {Name: "carousel", Post: vkCarousel},
			{Name: "photo", Post: platform.Post{Key: "pub_4", Kind: platform.KindPost,
				Media: []platform.Media{fixture.Image("d")}}},
			{Name: "music clip", Post: platform.Post{Key: "pub_5", Kind: platform.KindMusicClip,
				Media: []platform.Media{fixture.Video("e", 9000)}}},
		},
		Grant: fixture.OAuthGrant, BadGrants: append(fixture.BadOAuthGrants(), platform.Grant{Token: "vk1.a.none"},
			platform.Grant{Token: fake.CommunityToken, Choice: "@others"}),
	})
}

// The statistics of a community need an administrator. Without one they are unknown, and are no error.
func TestFiguresNeedAnAdministrator(t *testing.T) {
	for editor, want := range map[bool]struct {
		metrics []string
		days    int
	}{
		false: {[]string{"reach", "views", "likes", "comments", "shares", "clicks"}, 4},
		true:  {[]string{"views", "likes", "comments", "shares"}, 1},
	} {
		f := newVKFixture()
		f.Fake.(*fake.Fake).Editor = editor
		done, err := platformtest.Publish(t.Context(), f, f.Account, vkText)
		if err != nil {
			t.Fatal(err)
		}
		m, err := f.Adapter.Metrics(t.Context(), f.Account, done.Post)
		if err != nil || !slices.Equal(m.Names(), want.metrics) || !editor && (*m.Reach != 55 || *m.Clicks != 4) {
			t.Errorf("an editor %v: %v, %v", editor, m.Names(), err)
		}
		today := platform.Midnight(f.Now())
		days, err := f.Adapter.(platform.AccountReader).Days(t.Context(), f.Account, today.AddDate(0, 0, -3))
		if err != nil || len(days) != 4 || *days[3].Followers != 2300 {
			t.Fatalf("an editor %v: %+v, %v", editor, days, err)
		}
		days = slices.DeleteFunc(days, func(d platform.Day) bool { return len(d.Names()) == 0 })
		if len(days) != want.days {
			t.Errorf("an editor %v: %d days have figures", editor, len(days))
		}
		// The fake's day of Moscow begins on the evening before.
		for _, d := range days[:len(days)-1] {
			if d.Reach == nil || *d.Reach != int64(500+d.Date.AddDate(0, 0, -1).Day()) || *d.Visitors != 20 {
				t.Errorf("the day %+v", d)
			}
		}
		f.Fake.Fail(f.Fake.Calls()+2, platformtest.ServerError)
		if _, err := f.Adapter.Metrics(t.Context(), f.Account, done.Post); platform.KindOf(err) != platform.Retry {
			t.Errorf("with a fault in the reach: %v", err)
		}
		f.Close()
	}
}

func TestTheTextOfAVideoIsItsDescription(t *testing.T) {
	f := newVKFixture()
	defer f.Close()
	longest := vkVideo
	longest.Hashtags, longest.Caption = nil, strings.Repeat("ж", 5000)
	for _, post := range []platform.Post{vkVideo, longest} {
		if _, err := platformtest.Publish(t.Context(), f, f.Account, post); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := platformtest.Publish(t.Context(), f, f.Account, vkCarousel); err != nil {
		t.Fatal(err)
	}
	found := slices.Sorted(maps.Values(f.Fake.(*fake.Fake).Descriptions))
	if want := []string{"", vkVideo.Caption, longest.Caption}; !slices.Equal(found, want) {
		t.Errorf("the videos are described as %q, want %q", found, want)
	}
	longest.Caption += "ж"
	if problems := platform.Fit(vk.Name, longest, f.Adapter.Capabilities()); len(problems) != 1 ||
		problems[0].Param != "caption" {
		t.Errorf("with one character more: %+v", problems)
	}
	longest.Kind, longest.Media = platform.KindPost, nil
	if problems := platform.Fit(vk.Name, longest, f.Adapter.Capabilities()); len(problems) > 0 {
		t.Errorf("as a message of the wall: %+v", problems)
	}
}

func TestTheTokenOfACommunityPostsTextOnly(t *testing.T) {
	f := newVKFixture()
	defer f.Close()
	accounts, err := f.Adapter.Connect(t.Context(), platform.Grant{Token: fake.CommunityToken, Choice: "@acme"})
	if err != nil || len(accounts) != 1 || accounts[0].ID != strconv.Itoa(-fake.Group) {
		t.Fatalf("connected as %+v, %v", accounts, err)
	}
	done, err := platformtest.Publish(t.Context(), f, accounts[0], vkText)
	if err != nil || len(f.Fake.Posts()) != 1 {
		t.Fatalf("text: %+v, %v", done, err)
	}
	if _, err := f.Adapter.Metrics(t.Context(), accounts[0], done.Post); platform.KindOf(err) != platform.BadContent {
		t.Errorf("metrics: %v, want %s", err, platform.BadContent)
	}
	_, err = platformtest.Publish(t.Context(), f, accounts[0], vkCarousel)
	var e *platform.Error
	if !errors.As(err, &e) || e.Kind != platform.Reconnect || e.Code != platform.CodeMissingPermission ||
		len(f.Fake.Posts()) != 1 {
		t.Errorf("with media: %v", err)
	}
}

func TestTheFirstCommentIsWrittenOnceOnVK(t *testing.T) {
	f := newVKFixture()
	defer f.Close()
	f.Fake.(*fake.Fake).Refuse["wall.createComment"] = 10
	done, err := platformtest.Publish(t.Context(), f, f.Account, vkVideo)
	if comments := f.Fake.(*fake.Fake).Comments(); err != nil || !done.Done() || len(comments) != 0 ||
		done.Warning == nil {
		t.Errorf("after a lost answer: %+v, %v, %q", done, err, comments)
	}
	f.Fake.(*fake.Fake).Refuse["wall.createComment"] = 213
	done, err = platformtest.Publish(t.Context(), f, f.Account, vkVideo)
	if err != nil || !done.Done() || done.Warning == nil || done.Warning.Code != platform.CommentNotWritten {
		t.Errorf("after a refusal: %+v, %v", done, err)
	}
	done, err = platformtest.Publish(t.Context(), f, f.Account, vkVideo)
	if comments := f.Fake.(*fake.Fake).Comments(); err != nil || !done.Done() || len(comments) != 1 ||
		done.Warning != nil {
		t.Errorf("without trouble: %+v, %v, %q", done, err, comments)
	}
}
