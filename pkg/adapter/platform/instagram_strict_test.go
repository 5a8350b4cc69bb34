package platform_test

import (
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	fake "github.com/content-automation/api/testdata/platforms/instagram"
	"github.com/content-automation/api/testdata/platforms/meta"
)

// Every page of the login, of its portfolio and of the clients of its portfolio is listed once.
func TestHundredsOfPagesOnInstagram(t *testing.T) {
	f := newInstagramFixture()
	defer f.Close()
	of := f.Fake.(*fake.Fake)
	of.Pages, of.Owned, of.Client, of.Portfolio = 250, 250, 250, true
	grant, err := fixture.OAuthGrant(f)
	if err != nil {
		t.Fatal(err)
	}
	accounts, err := f.Adapter.Connect(t.Context(), grant)
	ids := map[string]bool{}
	for _, a := range accounts {
		ids[a.ID] = true
	}
	if want := 2 + 3*250 - 2; err != nil || len(accounts) != want || len(ids) != want {
		t.Errorf("%d accounts, %d of them different, %v; want %d", len(accounts), len(ids), err, want)
	}
	for _, username := range []string{"acme_3_221", "acme_4_221", "acme_5_221"} {
		if grant, err = fixture.OAuthGrant(f); err != nil {
			t.Fatal(err)
		}
		grant.Choice = "@" + username
		if accounts, err = f.Adapter.Connect(t.Context(), grant); err != nil || len(accounts) != 1 ||
			accounts[0].Handle != "@"+username {
			t.Errorf("%s: %+v, %v", username, accounts, err)
		}
	}
}

// A login whose portfolios do not show the pages of clients has its own pages and theirs.
func TestPortfoliosWithoutClients(t *testing.T) {
	f := newInstagramFixture()
	defer f.Close()
	of := f.Fake.(*fake.Fake)
	of.Portfolio = true
	refused := meta.Cases{}
	refused.Add("businesses", "^GET /v26.0/me/businesses$", meta.Refusal{Status: 403, Code: 200}, "")
	of.Say(refused["businesses 200"].Answer)
	grant, err := fixture.OAuthGrant(f)
	if err != nil {
		t.Fatal(err)
	}
	if accounts, err := f.Adapter.Connect(t.Context(), grant); err != nil || len(accounts) != 2 {
		t.Errorf("%+v, %v", accounts, err)
	}
}

// The quota of the account counts: 50 or 100 posts in 24 hours.
func TestTheQuotaOfTheAccount(t *testing.T) {
	for _, c := range []struct {
		used, total int
		full        bool
	}{{50, 50, true}, {50, 100, false}, {99, 100, false}, {100, 100, true}} {
		f := newInstagramFixture()
		of := f.Fake.(*fake.Fake)
		of.Used, of.Total = c.used, c.total
		_, err := f.Adapter.Start(t.Context(), f.Account, instagramPhoto)
		if (platform.KindOf(err) == platform.Quota) != c.full || err != nil && !c.full {
			t.Errorf("%+v: %v", c, err)
		}
		f.Close()
	}
	if most := newInstagramFixture().Adapter.Capabilities().DailyPosts; most != 100 {
		t.Errorf("the planner permits %d posts a day", most)
	}
}

// A permission that only figures or comments need is told as such, and posts are published without it.
func TestWithoutAPermissionOnInstagram(t *testing.T) {
	for _, lacks := range []string{"instagram_manage_insights", "instagram_manage_comments"} {
		f := newInstagramFixture()
		f.Fake.(*fake.Fake).Lacks = []string{lacks}
		done, err := platformtest.Publish(t.Context(), f, f.Account, instagramPhoto)
		if err != nil {
			t.Fatal(err)
		}
		_, figures := f.Adapter.Metrics(t.Context(), f.Account, done.Post)
		_, days := f.Adapter.(platform.AccountReader).Days(t.Context(), f.Account, f.Now().Add(-72*time.Hour))
		_, comments := f.Adapter.(platform.CommentReader).Comments(t.Context(), f.Account, done.Post, "")
		of := lacks == "instagram_manage_insights"
		if platform.Denied(figures) != of || platform.Denied(days) != of || platform.Denied(comments) == of {
			t.Errorf("%s: %v, %v, %v", lacks, figures, days, comments)
		}
		post := instagramPhoto
		post.Options.FirstComment = "More at acme.example"
		done, err = platformtest.Publish(t.Context(), f, f.Account, post)
		if err != nil || (done.Warning == nil) != of {
			t.Errorf("%s: the first comment: %+v, %v", lacks, done.Warning, err)
		}
		f.Close()
	}
}

// One container of a carousel that the platform could not fill is made again with the others.
func TestACarouselWithAFailedContainer(t *testing.T) {
	f := newInstagramFixture()
	defer f.Close()
	answer := fake.Answers["container ERROR 2207053"].Answer
	f.Fake.(*fake.Fake).Say(answer)
	done, err := platformtest.Publish(t.Context(), f, f.Account, instagramCarousel)
	if posts := f.Fake.Posts(); err != nil || !done.Done() || len(posts) != 1 || f.Fake.Calls() < 15 {
		t.Errorf("%+v, %v with %q", done, err, posts)
	}
}

// A container that is published although the platform says that it is gone is not made again.
func TestAContainerThatIsGoneButPublished(t *testing.T) {
	f := newInstagramFixture()
	defer f.Close()
	of := f.Fake.(*fake.Fake)
	states := meta.Cases{}
	states.State("before", `^GET /v26.0/\d+$`, `{"status_code":"FINISHED","status":"FINISHED"}`, "")
	states.State("after", `^GET /v26.0/\d+$`, `{"status_code":"PUBLISHED","status":"PUBLISHED"}`, "")
	after := states["after"].Answer
	after.Times = -1
	of.Say(fake.Answers["post 24/2207008"].Answer)
	of.Say(states["before"].Answer)
	of.Say(after)
	done, err := platformtest.Publish(t.Context(), f, f.Account, instagramPhoto)
	if err != nil || !done.Done() || done.Post.ID != "" || len(of.Posts()) != 0 {
		t.Errorf("%+v, %v: published again as %q", done, err, of.Posts())
	}
}

// A post whose answer was lost is found among the newest ones, even if its container is gone. It is not made again.
func TestALostAnswerWithoutAContainer(t *testing.T) {
	f := newInstagramFixture()
	defer f.Close()
	of := f.Fake.(*fake.Fake)
	step, err := f.Adapter.Start(t.Context(), f.Account, instagramPhoto)
	if err != nil {
		t.Fatal(err)
	}
	begun := f.Now()
	f.Advance(time.Minute)
	ready, err := f.Adapter.Check(t.Context(), f.Account, instagramPhoto, step.Handle)
	if err != nil || ready.Next != platform.StageFinalize {
		t.Fatalf("%+v, %v", ready, err)
	}
	gone := fake.Answers["container 100/33"].Answer
	gone.Times = -1
	of.Say(gone)
	if step, err := f.Adapter.Reconcile(t.Context(), f.Account, instagramPhoto, ready.Handle, begun); err != nil ||
		step.Next != platform.StageReconcile {
		t.Errorf("before the post exists: %+v, %v", step, err)
	}
	if _, err := f.Adapter.Finalize(t.Context(), f.Account, instagramPhoto, ready.Handle); err != nil {
		t.Fatal(err)
	}
	if step, err := f.Adapter.Reconcile(t.Context(), f.Account, instagramPhoto, ready.Handle, begun); err != nil ||
		step.Next != platform.StageCheck || step.Post.ID == "" {
		t.Errorf("once the post exists: %+v, %v", step, err)
	}
}

// The double counts mentions and hashtags.
func TestTheDoubleIsStrictOnInstagram(t *testing.T) {
	for caption, ok := range map[string]bool{strings.Repeat("@acme ", 20): true, strings.Repeat("@acme ", 21): false,
		"mail@acme.example": true, "#a #b #c #d #e": true, "#a #b #c #d #e #f": false, "C# and F#": true} {
		f := newInstagramFixture()
		post := instagramPhoto
		post.Caption, post.Hashtags = caption, nil
		_, err := f.Adapter.Start(t.Context(), f.Account, post)
		if (err == nil) != ok {
			t.Errorf("%q: %v", caption, err)
		}
		f.Close()
	}
}
