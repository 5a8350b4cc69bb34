package platform_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/bluesky"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
	fake "github.com/content-automation/api/testdata/platforms/bluesky"
)

func newBlueskyFixture() *platformtest.Fixture {
	return fixture.New(
		func(now func() time.Time) fixture.Fake { return fake.New(now) },
		func(cfg wire.Config) platform.Adapter { return bluesky.New(cfg) },
		func(f fixture.Fake) platform.Account {
			access, refresh := f.(*fake.Fake).Grant(2 * time.Hour)
			return platform.Account{ID: fake.DID, Token: platform.Token{Access: platform.Secret(access),
				Refresh: platform.Secret(refresh)}}
		},
	)
}

func blueskyDescribed(name, alt string) platform.Media {
	m := fixture.Image(name)
	m.Alt = alt
	return m
}

// long is a caption of three posts.
var blueskyLong = strings.TrimSpace(strings.Repeat("A sentence about a shoe. ", 26))

func TestConformanceOnBluesky(t *testing.T) {
	var five []platform.Media
	for _, name := range strings.Split("abcde", "") {
		five = append(five, blueskyDescribed(name, "A shoe "+name))
	}
	fixture.Run(t, "bluesky", platformtest.Suite{
		New: newBlueskyFixture,
		Posts: []platformtest.Named{
			{Name: "text", Post: platform.Post{Key: "pub_1", Kind: platform.KindPost, Caption: "A shoe",
				Language: "en"}},
			{Name: "photo with a comment", Post: platform.Post{Key: "pub_2", Kind: platform.KindPost, Caption: "A shoe",
				Hashtags: []string{"shoes"}, Media: []platform.Media{blueskyDescribed("a", "A red shoe")},
				Options: platform.Options{FirstComment: "More at acme.example"}}},
			{Name: "video", Post: platform.Post{Key: "pub_3", Kind: platform.KindVideo, Caption: "It runs",
				Media: []platform.Media{fixture.Video("b", 9000)}}},
			{Name: "thread", Post: platform.Post{Key: "pub_4", Kind: platform.KindCarousel, Caption: blueskyLong,
				Media:   []platform.Media{fixture.Image("c"), fixture.Image("d")},
				Options: platform.Options{Thread: true}}},
			{Name: "gallery", Post: platform.Post{Key: "pub_5", Kind: platform.KindCarousel, Caption: "Shoes",
				Media: five}},
			{Name: "music clip", Post: platform.Post{Key: "pub_6", Kind: platform.KindMusicClip, Caption: "A song",
				Media: []platform.Media{fixture.Video("g", 9000)}}},
		},
		Grant: func(*platformtest.Fixture) (platform.Grant, error) {
			return platform.Grant{Username: "@" + fake.Handle, Password: fake.Password}, nil
		},
		BadGrants: []platform.Grant{{}, {Username: fake.Handle, Password: "correct horse"},
			{Username: fake.Handle, Password: "aaaa-bbbb-cccc-dddd"}},
	})
}

// The password of the account itself is sent nowhere.
func TestOnlyAppPasswordsAreSent(t *testing.T) {
	f := newBlueskyFixture()
	defer f.Close()
	_, err := f.Adapter.Connect(t.Context(), platform.Grant{Username: fake.Handle, Password: "correct horse"})
	if platform.KindOf(err) != platform.BadContent || f.Fake.Calls() != 0 {
		t.Errorf("%v after %d calls", err, f.Fake.Calls())
	}
}

// A record that was made is not made again, even if the whole step is repeated.
func TestARepeatedRecordIsTheSamePost(t *testing.T) {
	f := newBlueskyFixture()
	defer f.Close()
	post := platform.Post{Key: "pub_1", Kind: platform.KindPost, Caption: "A shoe"}
	step, err := f.Adapter.Start(t.Context(), f.Account, post)
	if err != nil {
		t.Fatal(err)
	}
	if step, err = f.Adapter.Check(t.Context(), f.Account, post, step.Handle); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		made, err := f.Adapter.Finalize(t.Context(), f.Account, post, step.Handle)
		if err != nil || made.Post.URL == "" {
			t.Fatal(made, err)
		}
	}
	found, err := f.Adapter.Reconcile(t.Context(), f.Account, post, step.Handle, f.Now())
	if posts := f.Fake.(*fake.Fake).Published(); err != nil || found.Next != platform.StageDone || len(posts) != 1 ||
		found.Post.ID != posts[0].ID {
		t.Errorf("%+v, %v with %v", found, err, posts)
	}
}

// Links, hashtags and mentions are counted in bytes, and point at what they name.
func TestFacets(t *testing.T) {
	f := newBlueskyFixture()
	defer f.Close()
	text := "Кроссовки 👟 @friend.bsky.social (see acme.example/a?b=1), https://acme.example/. @nobody.example"
	_, err := platformtest.Publish(t.Context(), f, f.Account, platform.Post{Key: "pub_1", Kind: platform.KindPost,
		Caption: text, Hashtags: []string{"бег"}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range f.Fake.(*fake.Fake).Records() {
		for _, facet := range r.Facets {
			target := slices.Sorted(maps.Values(facet.Features[0]))
			got = append(got, r.Text[facet.Index.Start:facet.Index.End]+" "+strings.Join(target, " "))
		}
	}
	want := []string{
		"acme.example/a?b=1 app.bsky.richtext.facet#link https://acme.example/a?b=1",
		"https://acme.example/ app.bsky.richtext.facet#link https://acme.example/",
		"#бег app.bsky.richtext.facet#tag бег",
		"@friend.bsky.social app.bsky.richtext.facet#mention did:plc:friend0000000000000000000",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// A hashtag is whole in every script. One that the server would refuse is no facet, and the post goes.
func TestHashtagsAreWholeOnBluesky(t *testing.T) {
	for caption, want := range map[string][]string{
		"#हिन्दी #ไทยแลนด์":                          {"हिन्दी", "ไทยแลนด์"},
		"#e-commerce #t-shirt, #🔥sale ＃東京":           {"e-commerce", "t-shirt", "🔥sale", "東京"},
		"#" + strings.Repeat("a", 64):                {strings.Repeat("a", 64)},
		"#" + strings.Repeat("a", 65) + " #b":        {"b"},
		"#a" + strings.Repeat("\u0301", 320) + " #b": {"b"}, // 641 bytes
		"#2026 Node.js done.Next 4.Quartal $acme":    {"$ACME"},
		"See https://example.org/wiki/Film_(2010) and https://example.com/a、次": {"https://example.org/wiki/Film_(2010)",
			"https://example.com/a"},
	} {
		f := newBlueskyFixture()
		_, err := platformtest.Publish(t.Context(), f, f.Account, platform.Post{Key: "pub_1", Kind: platform.KindPost,
			Caption: caption})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range f.Fake.(*fake.Fake).Records() {
			for _, facet := range r.Facets {
				got = append(got, facet.Features[0]["tag"]+facet.Features[0]["uri"])
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q has the facets %q, want %q", caption, got, want)
		}
		f.Close()
	}
}

func TestVideosNeedAConfirmedAddress(t *testing.T) {
	f := newBlueskyFixture()
	defer f.Close()
	f.Fake.(*fake.Fake).Unconfirmed = true
	_, err := platformtest.Publish(t.Context(), f, f.Account, platform.Post{Key: "pub_1", Kind: platform.KindVideo,
		Caption: "It runs", Media: []platform.Media{fixture.Video("b", 9000)}})
	if platform.KindOf(err) != platform.BadContent || len(f.Fake.Posts()) != 0 {
		t.Errorf("%v with %v", err, f.Fake.Posts())
	}
}
