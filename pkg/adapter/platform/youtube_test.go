package platform_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
	"github.com/content-automation/api/pkg/adapter/platform/youtube"
	fake "github.com/content-automation/api/testdata/platforms/youtube"
)

func newYouTubeFixture() *platformtest.Fixture {
	return fixture.New(
		func(now func() time.Time) fixture.Fake { return fake.New(now) },
		func(cfg wire.Config) platform.Adapter {
			p := youtube.New(cfg)
			p.Part = 256 << 10
			return p
		},
		func(f fixture.Fake) platform.Account {
			access, refresh := f.(*fake.Fake).Grant(time.Hour)
			return platform.Account{ID: fake.Channel, Token: platform.Token{Access: platform.Secret(access),
				Refresh: platform.Secret(refresh), ExpiresAt: time.Now()}}
		},
	)
}

var (
	youtubeCover = fixture.Image("cover")
	short        = platform.Post{
		Key: "pub_1", Kind: platform.KindVideo, Title: "A shoe", Caption: "Made of nets",
		Hashtags: []string{"shoes", "running"}, Language: "en",
		Media: []platform.Media{fixture.Video("a", 9000)}, Cover: &youtubeCover,
		Options: platform.Options{Privacy: platform.Unlisted, Generated: true},
	}
	parts = platform.Post{Key: "pub_2", Kind: platform.KindMusicClip, Title: "A song",
		Media: []platform.Media{fixture.Video("b", 600<<10)}}
)

// usual are the metrics without the right to read reports.
var youtubeUsual = []string{"views", "likes", "comments"}

// reports is the right to read reports.
const reports = "https://www.googleapis.com/auth/yt-analytics.readonly"

// youtubeMeasured returns a fixture whose account has the right to read reports.
func youtubeMeasured() *platformtest.Fixture {
	f := newYouTubeFixture()
	f.Account.Token.Scopes = append(f.Account.Token.Scopes, reports)
	return f
}

// The right to read reports is asked for, and the owner of the channel may refuse it. Then the figures are those of the
// moment.
func TestTheDaysOfAChannel(t *testing.T) {
	for withheld, want := range map[string]int{"": 7, reports: 1} {
		f := newYouTubeFixture()
		f.Fake.(*fake.Fake).Withheld = withheld
		grant, err := fixture.OAuthGrant(f)
		if err != nil {
			t.Fatal(err)
		}
		accounts, err := f.Adapter.Connect(t.Context(), grant)
		if err != nil || slices.Contains(accounts[0].Token.Scopes, reports) == (withheld != "") {
			t.Fatalf("%+v, %v", accounts, err)
		}
		today := platform.Midnight(f.Now())
		for _, scopes := range [][]string{accounts[0].Token.Scopes, {reports}} { // in the end, the right is withdrawn
			accounts[0].Token.Scopes = scopes
			days, err := f.Adapter.(platform.AccountReader).Days(t.Context(), accounts[0], today.AddDate(0, 0, -8))
			known := slices.DeleteFunc(slices.Clone(days), func(d platform.Day) bool { return len(d.Names()) == 0 })
			last := days[len(days)-1]
			if err != nil || len(known) != want+min(want-1, 1) || last.Followers == nil || *last.Followers != 1200 {
				t.Errorf("without %q: %d days, %+v, %v", withheld, len(known), last, err)
			}
			if first := days[0]; want > 1 && (*first.Views != int64(90+first.Date.Day()) || *first.WatchTime != 30*60 ||
				*first.Gained != 4 || *first.Lost != 1) {
				t.Errorf("the first day is %+v", first)
			}
		}
		f.Close()
	}
	f := newYouTubeFixture()
	defer f.Close()
	f.Fake.(*fake.Fake).Withheld = "https://www.googleapis.com/auth/youtube.readonly"
	grant, err := fixture.OAuthGrant(f)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Adapter.Connect(t.Context(), grant); platform.KindOf(err) != platform.Reconnect {
		t.Errorf("without a right that is needed: %v", err)
	}
}

func TestWatchTimeNeedsItsRight(t *testing.T) {
	f := newYouTubeFixture()
	defer f.Close()
	done, err := platformtest.Publish(t.Context(), f, f.Account, parts)
	if err != nil {
		t.Fatal(err)
	}
	f.Account.Token.Scopes = append(f.Account.Token.Scopes, reports)
	m, err := f.Adapter.Metrics(t.Context(), f.Account, done.Post)
	if err != nil || m.WatchTime == nil || *m.WatchTime != 75*60 {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestConformanceOnYouTube(t *testing.T) {
	fixture.Run(t, "youtube", platformtest.Suite{
		New: newYouTubeFixture, Measured: youtubeMeasured,
		Posts: []platformtest.Named{{Name: "video with a cover", Post: short, Metrics: youtubeUsual},
			{Name: "three parts", Post: parts, Metrics: youtubeUsual}},
		Grant: fixture.OAuthGrant, BadGrants: fixture.BadOAuthGrants(),
	})
}

func TestTheCoverIsSetAndNeverFailsTheVideo(t *testing.T) {
	wide := short
	wide.Media = []platform.Media{fixture.Video("wide", 9000)}
	wide.Media[0].Width, wide.Media[0].Height = 1920, 1080
	bad := short
	wrong := fixture.Video("not an image", 100)
	bad.Cover = &wrong
	for name, c := range map[string]struct {
		post   platform.Post
		set    func(*fake.Fake)
		covers int
		within time.Duration
	}{
		"a Short": {short, func(*fake.Fake) {}, 1, 5 * time.Minute},
		"another video": {wide, func(f *fake.Fake) { f.Landscape, f.Stuck = true, true }, 1,
			5 * time.Minute},
		"a cover that is none":             {bad, func(*fake.Fake) {}, 0, 5 * time.Minute},
		"a channel without covers":         {short, func(f *fake.Fake) { f.NoCovers = true }, 0, 5 * time.Minute},
		"a Short that is not processed":    {short, func(f *fake.Fake) { f.Stuck = true }, 0, time.Hour},
		"a Short that is processed slowly": {short, func(f *fake.Fake) { f.Took = 20 * time.Minute }, 1, time.Hour},
	} {
		f := newYouTubeFixture()
		of := f.Fake.(*fake.Fake)
		c.set(of)
		began := f.Now()
		done, err := platformtest.Publish(t.Context(), f, f.Account, c.post)
		if err != nil || !done.Done() || len(f.Fake.Posts()) != 1 || len(of.Covers) != c.covers ||
			f.Now().Sub(began) > c.within {
			t.Errorf("%s: %+v, %v with the covers %v, after %v", name, done, err, of.Covers, f.Now().Sub(began))
		}
		if warned := done.Warning != nil && done.Warning.Code == platform.CoverNotSet &&
			done.Warning.Message != ""; warned != (c.covers == 0) {
			t.Errorf("%s: the warning %+v", name, done.Warning)
		}
		f.Close()
	}
}

// A video that YouTube has received and does not show is not published.
func TestAVideoThatYouTubeDoesNotShow(t *testing.T) {
	for name, set := range map[string]func(*fake.Fake){
		"length": func(f *fake.Fake) { f.Rejected = "length" }, "codec": func(f *fake.Fake) { f.Failed = "codec" }} {
		for _, post := range []platform.Post{short, parts} {
			f := newYouTubeFixture()
			set(f.Fake.(*fake.Fake))
			_, err := platformtest.Publish(t.Context(), f, f.Account, post)
			if platform.CodeOf(err) != platform.CodeMediaRefused || platform.WordsOf(err) != name {
				t.Errorf("%s: %v", name, err)
			}
			f.Close()
		}
	}
}

func TestTheCategoryAndTheSubscribers(t *testing.T) {
	for _, c := range []struct {
		topic  platform.Topic
		silent bool
		want   string
	}{{platform.TopicMusic, false, "category 10, notifies true"},
		{platform.TopicNews, true, "category 25, notifies false"}, {"", false, "category 22, notifies true"}} {
		f := newYouTubeFixture()
		post := short
		post.Topic, post.Options.Own = c.topic, youtube.Options{Quiet: platform.Quiet{Silent: c.silent}}
		if problems := platform.Fit(youtube.Name, post, f.Adapter.Capabilities()); len(problems) > 0 {
			t.Errorf("%+v: %+v", c, problems)
		}
		_, err := platformtest.Publish(t.Context(), f, f.Account, post)
		if posts := f.Fake.Posts(); err != nil || !strings.Contains(posts[0], c.want) ||
			!strings.Contains(posts[0], "unlisted false true") {
			t.Errorf("%+v: %q, %v", c, posts, err)
		}
		f.Close()
	}
}

func TestASessionThatIsGoneBeginsAgain(t *testing.T) {
	f := newYouTubeFixture()
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
	f := newYouTubeFixture()
	defer f.Close()
	for _, address := range []string{"https://example.test/upload", "http://www.googleapis.com/upload",
		"https://googleapis.com.example.test/", "https://user@www.googleapis.com/", "//x"} {
		_, err := f.Adapter.Finalize(t.Context(), f.Account, short, platform.Handle(
			`{"begun":true,"own":{"session":"`+address+`"}}`))
		if platform.KindOf(err) != platform.BadContent || f.Fake.Calls() != 0 {
			t.Errorf("%s: %v after %d calls", address, err, f.Fake.Calls())
		}
	}
}

func TestAPaidPlacementIsDeclared(t *testing.T) {
	for _, paid := range []bool{true, false} {
		f := newYouTubeFixture()
		post := parts
		post.Options.Own = youtube.Options{SponsorOption: platform.SponsorOption{Paid: paid}}
		_, err := platformtest.Publish(t.Context(), f, f.Account, post)
		if posts := f.Fake.Posts(); err != nil || !strings.Contains(posts[0], fmt.Sprintf("false %v | category", paid)) {
			t.Errorf("paid %v: %q, %v", paid, posts, err)
		}
		f.Close()
	}
}
