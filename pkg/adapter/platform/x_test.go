package platform_test

import (
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
	"github.com/content-automation/api/pkg/adapter/platform/x"
	fake "github.com/content-automation/api/testdata/platforms/x"
)

const xComment = "More at acme.example"

func newXFixture() *platformtest.Fixture {
	return fixture.New(
		func(now func() time.Time) fixture.Fake {
			f := fake.New(now)
			f.Comment = xComment
			return f
		},
		func(cfg wire.Config) platform.Adapter { return x.New(cfg) },
		func(f fixture.Fake) platform.Account {
			access, refresh := f.(*fake.Fake).Grant(2 * time.Hour)
			return platform.Account{ID: fake.User, Token: platform.Token{Access: platform.Secret(access),
				Refresh: platform.Secret(refresh)}}
		},
	)
}

// long is a caption of two posts. Its parts differ: X refuses a text twice.
var xLong = strings.TrimSpace(strings.Repeat("One sentence of a shoe. ", 11) + strings.Repeat("Another sentence. ", 10))

func TestConformanceOnX(t *testing.T) {
	described := fixture.Image("a")
	described.Alt = "A red shoe"
	fixture.Run(t, "x", platformtest.Suite{
		New: newXFixture,
		Posts: []platformtest.Named{
			{Name: "text with a comment", Post: platform.Post{Key: "pub_1", Kind: platform.KindPost,
				Caption: "A shoe & more: https://acme.example/a?b=1&c=2", Options: platform.Options{FirstComment: xComment}}},
			{Name: "photo", Post: platform.Post{Key: "pub_2", Kind: platform.KindPost, Caption: "A shoe",
				Media: []platform.Media{described}}},
			{Name: "video", Post: platform.Post{Key: "pub_3", Kind: platform.KindVideo, Caption: "It runs",
				Media: []platform.Media{fixture.Video("b", 3<<19)}, Options: platform.Options{Generated: true}}},
			{Name: "thread", Post: platform.Post{Key: "pub_4", Kind: platform.KindCarousel, Caption: xLong,
				Media:   []platform.Media{fixture.Image("c"), fixture.Image("d")},
				Options: platform.Options{Thread: true}}},
			{Name: "music clip", Post: platform.Post{Key: "pub_5", Kind: platform.KindMusicClip, Caption: "A song",
				Media: []platform.Media{fixture.Video("e", 9000)}}},
		},
		Grant: fixture.OAuthGrant, BadGrants: fixture.BadOAuthGrants(),
	})
}

// X tells the clicks of the first 30 days, and refuses a post whose clicks are asked for later.
func TestClicksOfTheFirstDays(t *testing.T) {
	f := newXFixture()
	defer f.Close()
	done, err := platformtest.Publish(t.Context(), f, f.Account, platform.Post{Key: "pub_1", Kind: platform.KindPost,
		Caption: "A shoe"})
	if err != nil {
		t.Fatal(err)
	}
	access, refresh := f.Fake.(*fake.Fake).Grant(100 * 24 * time.Hour)
	f.Account.Token = platform.Token{Access: platform.Secret(access), Refresh: platform.Secret(refresh)}
	published := f.Now()
	for _, c := range []struct {
		age   time.Duration
		known bool
	}{{time.Hour, true}, {28 * 24 * time.Hour, true}, {29*24*time.Hour + time.Hour, false},
		{31 * 24 * time.Hour, false}, {90 * 24 * time.Hour, false}} {
		f.Advance(published.Add(c.age).Sub(f.Now()))
		calls := f.Fake.Calls()
		m, err := f.Adapter.Metrics(t.Context(), f.Account, done.Post)
		if err != nil || m.Likes == nil || (m.Clicks != nil) != c.known || c.known && *m.Clicks != 6 ||
			f.Fake.Calls() != calls+1 {
			t.Errorf("after %v: %v, %v with %d calls", c.age, m.Names(), err, f.Fake.Calls()-calls)
		}
	}
}

// The budget has what a publication and a reading of its metrics cost.
func TestTheCostOfAPublication(t *testing.T) {
	for name, post := range map[string]platform.Post{
		"text":    {Caption: "A shoe"},
		"link":    {Caption: "See https://acme.com/shoes"},
		"comment": {Caption: "A shoe", Options: platform.Options{FirstComment: "https://acme.com"}},
		"thread":  {Caption: xLong, Options: platform.Options{Thread: true}},
	} {
		f := newXFixture()
		post.Key, post.Kind = "pub_1", platform.KindPost
		done, err := platformtest.Publish(t.Context(), f, f.Account, post)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Adapter.Metrics(t.Context(), f.Account, done.Post); err != nil {
			t.Fatal(err)
		}
		limits := f.Adapter.Capabilities()
		budget, got := limits.Budget.Uses(post)+limits.Reads.Price, f.Fake.(*fake.Fake).Cost
		if budget != got {
			t.Errorf("%s costs %d, and takes %d out of the budget", name, got, budget)
		}
		f.Close()
	}
}

// The declarations of a post are those of its options, on each post of a thread.
func TestDeclarations(t *testing.T) {
	f := newXFixture()
	defer f.Close()
	_, err := platformtest.Publish(t.Context(), f, f.Account, platform.Post{Key: "pub_1", Kind: platform.KindPost,
		Caption: xLong, Options: platform.Options{Generated: true, Thread: true,
			Own: x.Options{SponsorOption: platform.SponsorOption{Paid: true}, Replies: "mentioned"}}})
	posts := f.Fake.(*fake.Fake).Published()
	if err != nil || len(posts) != 2 {
		t.Fatalf("%v with %d posts", err, len(posts))
	}
	for i, p := range posts {
		b := f.Fake.(*fake.Fake).Body(p.ID)
		if !b.AI || !b.Paid || (b.Settings == "mentionedUsers") != (i == 0) || (b.Reply.To == "") != (i == 0) {
			t.Errorf("post %d: %+v", i, b)
		}
	}
}

func TestAnApplicationWithoutCreditsWaits(t *testing.T) {
	f := newXFixture()
	defer f.Close()
	f.Fake.(*fake.Fake).Empty = true
	post := platform.Post{Key: "pub_1", Kind: platform.KindPost, Caption: "A shoe"}
	step, err := f.Adapter.Start(t.Context(), f.Account, post)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = f.Adapter.Finalize(t.Context(), f.Account, post, step.Handle); platform.KindOf(err) != platform.Quota {
		t.Errorf("got %v, want %s", err, platform.Quota)
	}
}

// A text that X refuses as a duplicate is looked up: the post of this publication is found, and an
// older one is not taken for it.
func TestADuplicateIsLookedUp(t *testing.T) {
	f := newXFixture()
	defer f.Close()
	post := platform.Post{Key: "pub_1", Kind: platform.KindPost, Caption: "A shoe"}
	if _, err := platformtest.Publish(t.Context(), f, f.Account, post); err != nil {
		t.Fatal(err)
	}
	f.Advance(time.Hour)
	_, err := platformtest.Publish(t.Context(), f, f.Account, post)
	if n := len(f.Fake.Posts()); platform.CodeOf(err) != platform.CodeContentRefused || n != 1 ||
		platform.KindOf(err) != platform.BadContent {
		t.Errorf("%v with %d posts", err, n)
	}
}
