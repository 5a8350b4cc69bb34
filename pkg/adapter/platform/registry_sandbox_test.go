package platform_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
)

var registryCapabilities = platform.Capabilities{
	Label:   "Instagram",
	Connect: platform.ConnectOAuth, Scopes: []string{"publish"},
	Kinds: map[platform.Kind]platform.Rule{
		platform.KindPost: {Caption: platform.Text{Max: 100}, MaxMedia: 1, Image: &platform.File{}},
	},
	Privacies: []platform.Privacy{platform.Public},
	Metrics:   []string{"views", "likes", "shares"},
	Past:      platform.Past{Page: 100, Figures: true},
	Account:   platform.AccountFigures{Names: []string{"followers", "followers_gained", "views"}, History: true},
	Edits:     true, Deletes: true,
}

// recorded is the sandbox with a record of its posts: the sandbox itself keeps none.
type recorded struct {
	*registry.SandboxPlatform
	mu    sync.Mutex
	posts []string          // ids
	texts map[string]string // of the changed posts, by their ids
}

func (r *recorded) Finalize(ctx context.Context, a platform.Account, post platform.Post,
	h platform.Handle) (platform.Step, error) {
	step, err := r.SandboxPlatform.Finalize(ctx, a, post, h)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil && !slices.Contains(r.posts, step.Post.ID) {
		r.posts = append(r.posts, step.Post.ID)
	}
	return step, err
}

func (r *recorded) Edit(ctx context.Context, a platform.Account, post platform.PlacedPost, text string) error {
	err := r.SandboxPlatform.Edit(ctx, a, post, text)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		r.texts[post.ID] = text
	}
	return err
}

func (r *recorded) Delete(ctx context.Context, a platform.Account, post platform.PlacedPost) error {
	err := r.SandboxPlatform.Delete(ctx, a, post)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		r.posts = slices.DeleteFunc(r.posts, func(id string) bool { return id == post.ID })
	}
	return err
}

// Posts implements platformtest.Fake: one text for each id, which only one publication has.
func (r *recorded) Posts() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []string
	for _, id := range r.posts {
		all = append(all, cmp.Or(r.texts[id], "a post"))
	}
	return all
}

func (*recorded) Calls() int                   { return 0 }
func (*recorded) Fail(int, platformtest.Fault) {}
func (*recorded) Waiting() <-chan struct{}     { return nil }
func (*recorded) Calm()                        {}
func (*recorded) Expire()                      {}

func newRegistryFixture() *platformtest.Fixture {
	clock := fixture.NewClock()
	r := &recorded{SandboxPlatform: registry.NewSandbox("instagram", registryCapabilities, clock.Now),
		texts: map[string]string{}}
	return &platformtest.Fixture{
		Adapter: r, Fake: r, Now: clock.Now, Advance: clock.Advance, Close: func() {},
		Account: platform.Account{ID: "sandbox-instagram-1", Token: platform.Token{Access: "sandbox-token"}},
	}
}

func TestConformanceOnRegistry(t *testing.T) {
	fixture.Run(t, "sandbox", platformtest.Suite{
		New: newRegistryFixture,
		Posts: []platformtest.Named{
			{Name: "text", Post: platform.Post{Key: "pub_1", Kind: platform.KindPost, Caption: "Hello"}},
			{Name: "slow photo", Post: platform.Post{Key: "pub_2", Kind: platform.KindPost,
				Media: []platform.Media{fixture.Image("a")}, Rehearsal: platform.Rehearsal{Delay: time.Minute}}},
		},
		Grant: func(f *platformtest.Fixture) (platform.Grant, error) {
			address, err := f.Adapter.Authorization(context.Background(),
				platform.Authorization{RedirectURL: fixture.RedirectURL, State: "s", Verifier: "v"})
			if err != nil {
				return platform.Grant{}, err
			}
			u, err := url.Parse(address)
			return platform.Grant{Code: u.Query().Get("code"), RedirectURL: fixture.RedirectURL, Verifier: "v"}, err
		},
		BadGrants: []platform.Grant{{}, {Code: "sandbox-other", Verifier: "v"}},
	})
}

// The sandbox of a platform changes and deletes no more than the platform.
func TestPlatformsWithoutChangesRefuseThem(t *testing.T) {
	p := registry.NewSandbox("instagram", platform.Capabilities{Label: "Instagram"}, time.Now)
	var a platform.Account
	post := platform.PlacedPost{PublishedPost: platform.PublishedPost{ID: "1"}, Parts: 1}
	for name, err := range map[string]error{"edit": p.Edit(t.Context(), a, post, "Hello"),
		"delete": p.Delete(t.Context(), a, post)} {
		if platform.KindOf(err) != platform.BadContent {
			t.Errorf("%s: %v, want %s", name, err, platform.BadContent)
		}
	}
}

func TestRehearsedFailures(t *testing.T) {
	for code, want := range map[platform.Code]platform.ErrorKind{
		platform.CodeOutcomeUnknown: platform.Unknown, platform.CodeNeedsReconnect: platform.Reconnect,
		platform.CodeContentRefused: platform.BadContent, platform.CodeMediaRefused: platform.BadContent,
	} {
		f := newRegistryFixture()
		_, err := platformtest.Publish(t.Context(), f, f.Account,
			platform.Post{Kind: platform.KindPost, Caption: "Hello", Rehearsal: platform.Rehearsal{Code: code}})
		if platform.KindOf(err) != want || len(f.Fake.Posts()) != 0 {
			t.Errorf("%s: %v with %d posts, want %s and none", code, err, len(f.Fake.Posts()), want)
		}
	}
}

func TestMetricsGrowWithThePost(t *testing.T) {
	f := newRegistryFixture()
	done, err := platformtest.Publish(t.Context(), f, f.Account, platform.Post{Key: "pub_1", Kind: platform.KindPost,
		Caption: "Hello"})
	if err != nil {
		t.Fatal(err)
	}
	var last int64 = -1
	for _, wait := range []time.Duration{time.Hour, 23 * time.Hour, 6 * 24 * time.Hour, 23 * 24 * time.Hour} {
		f.Advance(wait)
		m, err := f.Adapter.Metrics(t.Context(), f.Account, done.Post)
		if err != nil {
			t.Fatal(err)
		}
		again, err := f.Adapter.Metrics(t.Context(), f.Account, done.Post)
		if err != nil || *again.Views != *m.Views || *again.Likes != *m.Likes {
			t.Errorf("read again: %v, %v", again, err)
		}
		if *m.Views <= last || *m.Likes < *m.Views*3/100 || *m.Likes > *m.Views*12/100 || m.Comments != nil {
			t.Errorf("after %s: %d views, %d before", wait, *m.Views, last)
		}
		last = *m.Views
	}
	done.Post.Ahead = 365 * 24 * time.Hour
	if m, err := f.Adapter.Metrics(t.Context(), f.Account, done.Post); err != nil || *m.Views <= last {
		t.Errorf("a year ahead: %d views, %d before, %v", *m.Views, last, err)
	}
	if last < 450 || last > 9_999 {
		t.Errorf("%d views after 30 days", last)
	}
}

// The figures of posts follow the truth that the guide tells: videos and questions get more reactions for each view.
func TestTheSandboxHasATruth(t *testing.T) {
	row, _ := registry.Find("vk")
	now := time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC)
	p := registry.NewSandbox("vk", row.Capabilities, func() time.Time { return now })
	rate := func(kind platform.Kind, hook string) float64 {
		likes, views := int64(0), int64(0)
		for n := range 300 {
			post := platform.Post{Key: fmt.Sprint("pub_", n), Kind: kind, Rehearsal: platform.Rehearsal{Hook: hook}}
			h, err := platform.Encode(map[string]int64{"ready": now.UnixMilli()})
			if err != nil {
				t.Fatal(err)
			}
			done, err := p.Finalize(t.Context(), platform.Account{ID: "a"}, post, h)
			if err != nil {
				t.Fatal(err)
			}
			done.Post.Ahead = 90 * 24 * time.Hour
			m, err := p.Metrics(t.Context(), platform.Account{}, done.Post)
			if err != nil {
				t.Fatal(err)
			}
			likes, views = likes+*m.Likes, views+*m.Views
		}
		return float64(likes) / float64(views)
	}
	base := rate(platform.KindPost, "claim")
	for _, c := range []struct {
		kind platform.Kind
		hook string
		want float64
	}{{platform.KindCarousel, "scene", 1}, {platform.KindVideo, "", registry.FavorVideo},
		{platform.KindPost, "question", registry.FavorQuestion},
		{platform.KindVideo, "question", registry.FavorVideo * registry.FavorQuestion}} {
		if got := rate(c.kind, c.hook) / base; math.Abs(got-c.want) > 0.12*c.want {
			t.Errorf("a %s with the hook %q has %.2f times the reactions, want %.2f", c.kind, c.hook, got, c.want)
		}
	}
}
