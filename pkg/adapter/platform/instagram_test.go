package platform_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/instagram"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
	fake "github.com/content-automation/api/testdata/platforms/instagram"
)

func newInstagramFixture() *platformtest.Fixture {
	return fixture.New(
		func(now func() time.Time) fixture.Fake { return fake.New(now) },
		func(cfg wire.Config) platform.Adapter { return instagram.New(cfg) },
		func(f fixture.Fake) platform.Account {
			access, _ := f.(*fake.Fake).Grant(60 * 24 * time.Hour)
			return platform.Account{ID: fake.User, Token: platform.Token{Access: platform.Secret(access),
				Refresh: platform.Secret(access)}}
		},
	)
}

var (
	instagramCover = fixture.Image("cover")
	instagramPhoto = platform.Post{Key: "pub_1", Kind: platform.KindPost, Caption: "A shoe", Hashtags: []string{"shoes"},
		Media: []platform.Media{instagramDescribed()}}
	reel = platform.Post{
		Key: "pub_2", Kind: platform.KindVideo, Caption: "A shoe runs",
		Media: []platform.Media{fixture.Video("b", 9000)}, Cover: &instagramCover,
		Options: platform.Options{FirstComment: "More at acme.example", Generated: true},
	}
	instagramCarousel = platform.Post{
		Key: "pub_3", Kind: platform.KindCarousel, Caption: "Shoes", Media: []platform.Media{fixture.Image("c"),
			fixture.Video("d", 9000), fixture.Image("e")},
		Options: platform.Options{Generated: true},
	}
	story = platform.Post{Key: "pub_4", Kind: platform.KindStory, Media: []platform.Media{instagramDescribed()},
		Options: platform.Options{Generated: true}}
)

func instagramDescribed() platform.Media {
	m := fixture.Image("a")
	m.Alt = "A red shoe on grass"
	return m
}

func TestConformanceOnInstagram(t *testing.T) {
	fixture.Run(t, "instagram", platformtest.Suite{
		New: newInstagramFixture,
		Posts: []platformtest.Named{
			{Name: "photo", Post: instagramPhoto}, {Name: "reel with a comment", Post: reel}, {Name: "carousel", Post: instagramCarousel},
			{Name: "story", Post: platform.Post{Key: "pub_4", Kind: platform.KindStory,
				Media: []platform.Media{fixture.Video("f", 9000)}}, Metrics: []string{"reach", "views", "shares"}},
			{Name: "music clip", Post: platform.Post{Key: "pub_5", Kind: platform.KindMusicClip, Caption: "A song",
				Media:   []platform.Media{fixture.Video("g", 9000)},
				Options: platform.Options{CoverAt: 1500 * time.Millisecond}}},
		},
		Grant: fixture.OAuthGrant, BadGrants: fixture.BadOAuthGrants(),
	})
}

func TestARefusalThatPublishedIsFound(t *testing.T) {
	f := newInstagramFixture()
	defer f.Close()
	f.Fake.(*fake.Fake).Breaks = true
	done, err := platformtest.Publish(t.Context(), f, f.Account, instagramPhoto)
	posts := f.Fake.(*fake.Fake).Published()
	if err != nil || len(posts) != 1 || done.Post.ID != posts[0].ID || done.Post.URL == "" {
		t.Errorf("ended as %+v, %v with %d posts", done, err, len(posts))
	}
}

func TestTheFirstCommentIsWrittenOnceOnInstagram(t *testing.T) {
	for name, fault := range map[string]platformtest.Fault{"without trouble": "",
		"answer lost": platformtest.AnswerLost, "rate limited": platformtest.RateLimited} {
		f := newInstagramFixture()
		clean, err := calls(t, reel)
		if err != nil {
			t.Fatal(err)
		}
		f.Fake.Fail(clean, fault) // the comment is the last call
		_, err = platformtest.Publish(t.Context(), f, f.Account, reel)
		if comments := f.Fake.(*fake.Fake).Comments(); err != nil || len(comments) != 1 ||
			comments[0] != reel.Options.FirstComment {
			t.Errorf("%s: comments %q, %v", name, comments, err)
		}
		f.Close()
	}
}

// calls returns how many calls a publication without trouble makes.
func calls(t *testing.T, post platform.Post) (int, error) {
	t.Helper()
	f := newInstagramFixture()
	defer f.Close()
	_, err := platformtest.Publish(t.Context(), f, f.Account, post)
	return f.Fake.Calls(), err
}

func TestAFullAccountWaitsOnInstagram(t *testing.T) {
	f := newInstagramFixture()
	defer f.Close()
	f.Fake.(*fake.Fake).Used = 50
	_, err := f.Adapter.Start(t.Context(), f.Account, instagramPhoto)
	if platform.KindOf(err) != platform.Quota || f.Fake.Calls() != 1 {
		t.Errorf("got %v after %d calls, want %s after one", err, f.Fake.Calls(), platform.Quota)
	}
}

func TestAnExpiredContainerBeginsAgain(t *testing.T) {
	f := newInstagramFixture()
	defer f.Close()
	step, err := f.Adapter.Start(t.Context(), f.Account, instagramPhoto)
	if err != nil {
		t.Fatal(err)
	}
	f.Advance(25 * time.Hour)
	if _, err = f.Adapter.Check(t.Context(), f.Account, instagramPhoto,
		step.Handle); platform.KindOf(err) != platform.Restart {
		t.Errorf("check: %v, want %s", err, platform.Restart)
	}
	if _, err = f.Adapter.Finalize(t.Context(), f.Account, instagramPhoto,
		step.Handle); platform.KindOf(err) != platform.Restart {
		t.Errorf("finalize: %v, want %s", err, platform.Restart)
	}
}

func TestWhatWasMadeByAIIsDeclared(t *testing.T) {
	for name, post := range map[string]platform.Post{"photo": instagramPhoto, "reel": reel, "carousel": instagramCarousel,
		"story": story} {
		for _, made := range []bool{true, false} {
			f := newInstagramFixture()
			post.Options.Generated = made
			_, err := platformtest.Publish(t.Context(), f, f.Account, post)
			if posts := f.Fake.Posts(); err != nil || strings.Contains(posts[0], "made by AI") != made {
				t.Errorf("%s, made by AI %v: %q, %v", name, made, posts, err)
			}
			f.Close()
		}
	}
	if !newInstagramFixture().Adapter.Capabilities().Supports(platform.KindCarousel, platform.OptionGenerated) {
		t.Error("the declaration is not among the options")
	}
}

func TestAPaidPartnershipNamesItsPartners(t *testing.T) {
	for _, partners := range [][]string{nil, {"178", "179"}} {
		for name, post := range map[string]platform.Post{"photo": instagramPhoto, "reel": reel, "carousel": instagramCarousel} {
			f := newInstagramFixture()
			post.Options.Own = instagram.Options{PartnersOption: platform.PartnersOption{
				SponsorOption: platform.SponsorOption{Paid: true}, Partners: partners}}
			_, err := platformtest.Publish(t.Context(), f, f.Account, post)
			if posts := f.Fake.Posts(); err != nil || !strings.Contains(posts[0], "paid by "+strings.Join(partners, ",")) {
				t.Errorf("%s by %v: %q, %v", name, partners, posts, err)
			}
			f.Close()
		}
	}
	if newInstagramFixture().Adapter.Capabilities().Supports(platform.KindStory, platform.OptionPaid) {
		t.Error("a story takes it")
	}
}

func TestAStoryHasNoAlternativeText(t *testing.T) {
	f := newInstagramFixture()
	defer f.Close()
	if _, err := platformtest.Publish(t.Context(), f, f.Account, story); err != nil ||
		strings.Contains(f.Fake.Posts()[0], story.Media[0].Alt) {
		t.Errorf("%q, %v", f.Fake.Posts(), err)
	}
	if _, err := platformtest.Publish(t.Context(), f, f.Account, platform.Post{Key: "pub_6", Kind: platform.KindPost,
		Caption: "A shoe", Media: []platform.Media{instagramDescribed()}}); err != nil ||
		!strings.Contains(strings.Join(f.Fake.Posts(), " "), "A red shoe on grass") {
		t.Errorf("the alternative text of a post is lost: %q, %v", f.Fake.Posts(), err)
	}
	c := f.Adapter.Capabilities()
	if c.Supports(platform.KindStory, platform.OptionAlt) || !c.Supports(platform.KindPost, platform.OptionAlt) {
		t.Error("a story has an alternative text, or a post has none")
	}
}

func TestFiveHashtags(t *testing.T) {
	f := newInstagramFixture()
	defer f.Close()
	five := []string{"a", "b", "c", "d", "e"}
	for _, c := range []struct {
		caption string
		tags    []string
		fits    bool
	}{
		{"A shoe", five, true}, {"A shoe", append(slices.Clone(five), "f"), false}, {"A #red shoe", five, false},
		{"A #red shoe", five[1:], true},
		{"Number # 5, C#, &#39; and a#b", five, true}, {"#a #b #c #d #e #f", nil, false}, {"(#один)", five, false},
	} {
		post := instagramPhoto
		post.Caption, post.Hashtags = c.caption, c.tags
		problems := platform.Fit(instagram.Name, post, f.Adapter.Capabilities())
		if (len(problems) == 0) != c.fits || !c.fits &&
			(problems[0].Param != "hashtags" || !strings.Contains(problems[0].Message, "up to 5 hashtags")) {
			t.Errorf("%q with %q: %+v", c.caption, c.tags, problems)
		}
	}
	post := instagramPhoto
	post.Hashtags = append(slices.Clone(five), "f")
	if _, err := platformtest.Publish(t.Context(), f, f.Account, post); platform.KindOf(err) != platform.BadContent {
		t.Errorf("six hashtags at Instagram: %v", err)
	}
}

func TestAContainerIsLookedAtOnceAMinute(t *testing.T) {
	for _, took := range []time.Duration{0, 20 * time.Second, 45 * time.Second, 4 * time.Minute} {
		for _, post := range []platform.Post{instagramPhoto, reel, instagramCarousel} {
			f := newInstagramFixture()
			of := f.Fake.(*fake.Fake)
			of.Took = took
			began := f.Now()
			done, err := platformtest.Publish(t.Context(), f, f.Account, post)
			if err != nil || !done.Done() || of.Hasty > 0 || f.Now().Sub(began) > took+2*time.Minute {
				t.Errorf("%s, filled after %v: %v, looked at %d times too often, took %v", post.Kind, took, err,
					of.Hasty, f.Now().Sub(began))
			}
			f.Close()
		}
	}
}

func TestTheContainersOfADay(t *testing.T) {
	f := newInstagramFixture()
	defer f.Close()
	of := f.Fake.(*fake.Fake)
	of.Most = 8 // a carousel of three takes four
	b := f.Adapter.Capabilities().Budget
	if b == nil || b.Max != 400 || b.Uses(instagramCarousel) != 4 || b.Uses(instagramPhoto) != 1 {
		t.Fatalf("the budget is %+v", b)
	}
	for range 2 {
		if _, err := platformtest.Publish(t.Context(), f, f.Account, instagramCarousel); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.Adapter.Start(t.Context(), f.Account, instagramPhoto); platform.KindOf(err) != platform.Quota {
		t.Errorf("the ninth container: %v, want %s", err, platform.Quota)
	}
	f.Advance(24 * time.Hour)
	if _, err := platformtest.Publish(t.Context(), f, f.Account, instagramPhoto); err != nil {
		t.Errorf("a day later: %v", err)
	}
}

func TestPagesOfPortfolios(t *testing.T) {
	for _, c := range []struct {
		portfolio, none bool
		want            int
	}{{true, false, 2}, {false, false, 1}, {true, true, 1}} {
		f := newInstagramFixture()
		of := f.Fake.(*fake.Fake)
		of.Portfolio, of.NoPortfolios = c.portfolio, c.none
		grant, err := fixture.OAuthGrant(f)
		if err != nil {
			t.Fatal(err)
		}
		accounts, err := f.Adapter.Connect(t.Context(), grant)
		if err != nil || len(accounts) != c.want || accounts[0].ID != fake.User || c.want == 2 &&
			(accounts[1].ID != fake.Second || accounts[1].Name != "acme_shop") {
			t.Errorf("%+v: %+v, %v", c, accounts, err)
		}
		f.Close()
	}
}

func TestAccessEndsAfterNinetyDays(t *testing.T) {
	for _, fixed := range []bool{false, true} {
		f := newInstagramFixture()
		f.Fake.(*fake.Fake).Fixed = fixed
		grant, err := fixture.OAuthGrant(f)
		if err != nil {
			t.Fatal(err)
		}
		accounts, err := f.Adapter.Connect(t.Context(), grant)
		if err != nil {
			t.Fatal(err)
		}
		a, granted := accounts[0], f.Now()
		if !a.Token.EndsAt.Equal(granted.Add(90*24*time.Hour)) ||
			!a.Token.ExpiresAt.Equal(granted.Add(60*24*time.Hour)) {
			t.Errorf("the token ends at %v, and access at %v", a.Token.ExpiresAt, a.Token.EndsAt)
		}
		f.Advance(53 * 24 * time.Hour)
		want := granted.Add(90 * 24 * time.Hour)
		if fixed {
			want = granted.Add(60 * 24 * time.Hour) // it is not prolonged
		}
		token, err := f.Adapter.Refresh(t.Context(), a)
		if err != nil || !token.EndsAt.Equal(want) || token.ExpiresAt.After(want) {
			t.Errorf("not prolonged %v: the token ends at %v, and access at %v, %v", fixed, token.ExpiresAt,
				token.EndsAt, err)
		}
		f.Close()
	}
}
