package platform_test

import (
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/threads"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
	fake "github.com/content-automation/api/testdata/platforms/threads"
)

const threadsComment = "More at acme.example"

func newThreadsFixture() *platformtest.Fixture {
	return fixture.New(
		func(now func() time.Time) fixture.Fake {
			f := fake.New(now)
			f.Comment = threadsComment
			return f
		},
		func(cfg wire.Config) platform.Adapter { return threads.New(cfg) },
		func(f fixture.Fake) platform.Account {
			access, _ := f.(*fake.Fake).Grant(60 * 24 * time.Hour)
			return platform.Account{ID: fake.User, Token: platform.Token{Access: platform.Secret(access),
				Refresh: platform.Secret(access)}}
		},
	)
}

// long is a caption of two posts.
var threadsLong = strings.TrimSpace(strings.Repeat("A sentence about a shoe. ", 30))

func TestConformanceOnThreads(t *testing.T) {
	described := fixture.Image("a")
	described.Alt = "A red shoe"
	fixture.Run(t, "threads", platformtest.Suite{
		New: newThreadsFixture,
		Posts: []platformtest.Named{
			{Name: "text with a comment", Post: platform.Post{Key: "pub_1", Kind: platform.KindPost, Caption: "A shoe",
				Options: platform.Options{FirstComment: threadsComment}}},
			{Name: "photo", Post: platform.Post{Key: "pub_2", Kind: platform.KindPost, Caption: "A shoe",
				Media: []platform.Media{described}}},
			{Name: "thread", Post: platform.Post{Key: "pub_3", Kind: platform.KindVideo, Caption: threadsLong,
				Media: []platform.Media{fixture.Video("b", 9000)}, Options: platform.Options{Thread: true}}},
			{Name: "carousel", Post: platform.Post{Key: "pub_4", Kind: platform.KindCarousel, Caption: "Shoes",
				Media: []platform.Media{fixture.Image("c"), fixture.Video("d", 9000)}}},
			{Name: "music clip", Post: platform.Post{Key: "pub_5", Kind: platform.KindMusicClip, Caption: "A song",
				Media: []platform.Media{fixture.Video("e", 9000)}}},
		},
		Grant: fixture.OAuthGrant, BadGrants: fixture.BadOAuthGrants(),
	})
}

// Each post of a thread answers the one before, and the first one has the topic.
func TestAThread(t *testing.T) {
	f := newThreadsFixture()
	defer f.Close()
	post := platform.Post{Key: "pub_1", Kind: platform.KindPost, Caption: strings.Repeat(threadsLong+"\n\n", 2),
		Options: platform.Options{Thread: true, Own: threads.Options{TopicTag: "running shoes"}}}
	done, err := platformtest.Publish(t.Context(), f, f.Account, post)
	posts := f.Fake.(*fake.Fake).Published()
	if err != nil || len(posts) < 3 || done.Post.ID != posts[0].ID || done.Post.URL == "" {
		t.Fatalf("%+v, %v with %d posts", done, err, len(posts))
	}
	before := ""
	for i, p := range posts {
		to, topic := f.Fake.(*fake.Fake).Reply(p.ID)
		if to != before || (topic == "running shoes") != (i == 0) {
			t.Errorf("post %d answers %q with the topic %q, want %q", i, to, topic, before)
		}
		before = p.ID
	}
}

// Reposts, quotes and shares are the shares of a post.
func TestTheSharesOfAPost(t *testing.T) {
	f := newThreadsFixture()
	defer f.Close()
	done, err := platformtest.Publish(t.Context(), f, f.Account, platform.Post{Key: "pub_1", Kind: platform.KindPost,
		Caption: "Hello"})
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.Adapter.Metrics(t.Context(), f.Account, done.Post)
	if err != nil || *m.Views != 100 || *m.Shares != 97+96+95 {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestAFullAccountWaitsOnThreads(t *testing.T) {
	f := newThreadsFixture()
	defer f.Close()
	f.Fake.(*fake.Fake).Used = 250
	_, err := f.Adapter.Start(t.Context(), f.Account, platform.Post{Kind: platform.KindPost, Caption: "A shoe"})
	if platform.KindOf(err) != platform.Quota {
		t.Errorf("got %v, want %s", err, platform.Quota)
	}
}
