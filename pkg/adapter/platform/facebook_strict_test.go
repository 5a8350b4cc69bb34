package platform_test

import (
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	fake "github.com/content-automation/api/testdata/platforms/facebook"
)

// connect connects the pages of a login, or one that it chooses.
func connect(t *testing.T, f *platformtest.Fixture, choice string) ([]platform.Account, error) {
	t.Helper()
	grant, err := fixture.OAuthGrant(f)
	if err != nil {
		t.Fatal(err)
	}
	grant.Choice = choice
	return f.Adapter.Connect(t.Context(), grant)
}

// Every page of the login, of its portfolio and of the clients of its portfolio is listed once, whatever the task that
// lets the login publish there.
func TestHundredsOfPagesOnFacebook(t *testing.T) {
	f := newFacebookFixture()
	defer f.Close()
	of := f.Fake.(*fake.Fake)
	of.Pages, of.Owned, of.Client = 250, 250, 250
	accounts, err := connect(t, f, "")
	ids := map[string]bool{}
	for _, a := range accounts {
		ids[a.ID] = a.Token.Access != ""
	}
	if want := 1 + 3*250 - 2; err != nil || len(accounts) != want || len(ids) != want || ids[fake.ReadOnly] {
		t.Errorf("%d pages, %d of them different, %v; want %d", len(accounts), len(ids), err, want)
	}
	for _, id := range []string{"20010000000220", "20020000000220", "20030000000220", "20000000000099"} {
		if one, err := connect(t, f, id); err != nil || len(one) != 1 || one[0].ID != id {
			t.Errorf("%s: %d pages, %v", id, len(one), err)
		}
	}
}

// A chosen page on which the login may not publish is named, with what the login has there.
func TestAPageWithoutTheTask(t *testing.T) {
	f := newFacebookFixture()
	defer f.Close()
	f.Fake.(*fake.Fake).Client = 1
	for choice, want := range map[string]string{fake.ReadOnly: "On the page Read only it has ANALYZE, and lacks " +
		"CREATE_CONTENT.", "@reads": "Read only", "10000000000003": "On the page No role it has no role.",
		"123": "none of the chosen pages."} {
		_, err := connect(t, f, choice)
		if platform.KindOf(err) != platform.Reconnect || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", choice, err, want)
		}
	}
}

// A permission that only figures or comments need is told as such, and posts are published without it.
func TestWithoutAPermissionOnFacebook(t *testing.T) {
	post := platform.Post{Key: "pub_1", Kind: platform.KindPost, Caption: "A shoe",
		Options: platform.Options{FirstComment: "More at acme.example"}}
	for _, lacks := range []string{"read_insights", "pages_read_user_content", "pages_manage_engagement"} {
		f := newFacebookFixture()
		f.Fake.(*fake.Fake).Lacks = []string{lacks}
		done, err := platformtest.Publish(t.Context(), f, f.Account, post)
		if err != nil || (done.Warning != nil) != (lacks == "pages_manage_engagement") {
			t.Fatalf("%s: %+v, %v", lacks, done, err)
		}
		_, figures := f.Adapter.Metrics(t.Context(), f.Account, done.Post)
		_, comments := f.Adapter.(platform.CommentReader).Comments(t.Context(), f.Account, done.Post, "")
		if platform.Denied(figures) != (lacks == "read_insights") ||
			platform.Denied(comments) != (lacks == "pages_read_user_content") {
			t.Errorf("%s: %v, %v", lacks, figures, comments)
		}
		f.Close()
	}
	f := newFacebookFixture()
	defer f.Close()
	f.Fake.(*fake.Fake).Lacks = []string{"pages_manage_posts"}
	if _, err := platformtest.Publish(t.Context(), f, f.Account, post); platform.KindOf(err) != platform.Reconnect ||
		!platform.Denied(err) {
		t.Errorf("without the right to publish: %v", err)
	}
}

// What ends a page concerns its token or the right to publish, and is in this list.
func TestWhatEndsAPage(t *testing.T) {
	answers, _ := fake.Answers.Split()
	post := platform.Post{Key: "pub_1", Kind: platform.KindPost, Caption: "A shoe"}
	var lost []string
	for name, a := range answers {
		if strings.HasPrefix(name, "post ") && fixture.Try(t, newFacebookFixture, post, a, false).Lost {
			lost = append(lost, strings.TrimPrefix(name, "post "))
		}
	}
	want := " 10 200 283 102 190 190/458 190/459 190/460 190/463 190/464 190/467 190/490 190/492 100/1404078 100/4854002 "
	for _, name := range lost {
		if !strings.Contains(want, " "+name+" ") {
			t.Errorf("%s ends the page", name)
		}
	}
	if len(lost) != len(strings.Fields(want)) {
		t.Errorf("%q end the page, want %s", lost, want)
	}
}

// The server that takes files explains its refusals in a form of its own.
func TestTheWordsOfAnUpload(t *testing.T) {
	reel := platform.Post{Key: "pub_2", Kind: platform.KindVideo, Caption: "It runs",
		Media: []platform.Media{fixture.Video("b", 9000)}}
	for name, want := range map[string]string{"upload refused for a header": "Header Offset",
		"video too small": "minimum resolution of 540p", "video not read": "could not be downloaded"} {
		got := fixture.Try(t, newFacebookFixture, reel, fake.Answers[name].Answer, true)
		if !strings.Contains(got.Words, want) {
			t.Errorf("%s: %+v, want %s", name, got, want)
		}
	}
}
