package platform_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/testdata/platforms/control"
	fake "github.com/content-automation/api/testdata/platforms/x"
)

// Each answer of X has its outcome: the post is made once, later or at once, or it ends with X's own words.
func TestTheAnswersOfX(t *testing.T) {
	text := platform.Post{Key: "pub_1", Kind: platform.KindPost, Caption: "A shoe"}
	video := platform.Post{Key: "pub_2", Kind: platform.KindVideo, Caption: "It runs",
		Media: []platform.Media{fixture.Video("a", 9000)}}
	refused, barred, ended, later := fixture.Refused, fixture.Barred, fixture.Ended, fixture.Later
	content := func(words string) fixture.Ending { return refused(platform.CodeContentRefused, words) }
	always := func(o fixture.Ending) fixture.Ending {
		o.Always = true
		return o
	}
	fixture.Endings(t, newXFixture, text, fake.Answers, fixture.WithRefreshes(map[string]fixture.Ending{
		"not permitted":         content("You are not permitted to perform this action."),
		"two cashtags":          content("maximum of one cashtag"),
		"long video":            refused(platform.CodeMediaRefused, "longer than 2 minutes"),
		"five items":            content("maximum of 4 items"),
		"invalid URL":           content("invalid URL"),
		"feature":               content("not permitted to access this feature"),
		"too long":              content("too long"),
		"malware":               refused(platform.CodeContentPolicy, "malware"),
		"reply":                 content("Reply to this conversation"),
		"quote":                 content("Quoting this post"),
		"deleted":               content("deleted or not visible"),
		"duplicate":             content("duplicate content"),
		"something new":         content("seventh house"),
		"private post":          content("not authorized to see"),
		"invalid request":       content("The text of the poll is too long."),
		"no such post":          content("Could not find tweet"),
		"automated":             later(platform.Retry, time.Hour, "might be automated"),
		"daily limit":           later(platform.Retry, time.Hour, "over daily status update limit"),
		"locked":                ended("temporarily locked"),
		"suspended":             ended("suspended"),
		"client forbidden":      barred("not enrolled"),
		"read only":             barred("oauth1 app permissions"),
		"other authentication":  barred("not supported"),
		"application suspended": later(platform.Retry, 0, "This app is suspended."),
		"upload gone":           fixture.Ending{}.Of(video), // is uploaded again

		"no credits":     later(platform.Quota, time.Hour, "credits"),
		"daily cap":      later(platform.Quota, 15*time.Hour, "Daily"),
		"monthly cap":    later(platform.Quota, 24*time.Hour, "Monthly"),
		"limit":          later(platform.Retry, 15*time.Minute, "Too Many Requests"),
		"limit of a day": later(platform.Quota, 7*time.Hour, ""),
		"limit of the application": later(platform.Quota, 7*time.Hour,
			""),
		"limit, retry after":           later(platform.Retry, 90*time.Second, ""),
		"unauthorized":                 later(platform.Expired, 0, "Unauthorized"),
		"upload: long video":           refused(platform.CodeMediaRefused, "longer than 2 minutes").Of(video),
		"upload: too large":            refused(platform.CodeMediaRefused, "too large").Of(video),
		"upload: invalid":              refused(platform.CodeMediaRefused, "unrecognized").Of(video),
		"upload: unavailable":          later(platform.Retry, 0, "Service Unavailable").Of(video),
		"upload: something new":        later(platform.Retry, 20*time.Second, "The media is busy.").Of(video),
		"upload: expired":              fixture.Ending{}.Of(video),
		"media: invalid":               refused(platform.CodeMediaRefused, "invalid frame rate").Of(video),
		"media: internal":              fixture.Ending{}.Of(video),
		"figures: forbidden":           {},
		"figures: bare":                {},
		"token: spent":                 ended("Value passed for the token was invalid.").OfRefresh(),
		"token: spent, 401":            ended("Value passed for the token was invalid.").OfRefresh(),
		"token: grant":                 ended("").OfRefresh(),
		"token: application":           later(platform.Retry, 0, "Missing valid authorization header").OfRefresh(),
		"token: our form":              later(platform.Retry, 0, "Missing required parameter").OfRefresh(),
		"token: outage with the words": later(platform.Retry, 0, "Value passed for the token").OfRefresh(),
	}))
	t.Run("always", func(t *testing.T) {
		// What stays as it is ends, with the words of X.
		fixture.Endings(t, newXFixture, video, map[string]control.Answer{
			"upload gone": fake.Answers["upload gone"], "upload: something new": fake.Answers["upload: something new"],
			"media: internal": fake.Answers["media: internal"],
		}, map[string]fixture.Ending{
			"upload gone":     always(refused(platform.CodeMediaRefused, "Your media IDs are invalid.")),
			"media: internal": always(refused(platform.CodeMediaRefused, "Internal error.")),
			"upload: something new": {Always: true, First: platform.Retry, After: 20 * time.Second,
				Kind: platform.BadContent, Code: platform.CodeContentRefused, Words: "The media is busy."},
		})
	})
}

// A reading of figures that X refuses says nothing about the account.
func TestFiguresThatXDoesNotShow(t *testing.T) {
	for _, name := range []string{"figures: forbidden", "figures: bare"} {
		f := newXFixture()
		done, err := platformtest.Publish(t.Context(), f, f.Account, platform.Post{Key: "pub_1",
			Kind: platform.KindPost, Caption: "A shoe"})
		if err != nil {
			t.Fatal(err)
		}
		f.Fake.(*fake.Fake).Say(fake.Answers[name])
		_, err = f.Adapter.Metrics(t.Context(), f.Account, done.Post)
		if !platform.Denied(err) || !platform.Untold(err) || platform.KindOf(err) == platform.Reconnect {
			t.Errorf("%s: %v", name, err)
		}
		f.Close()
	}
}

// A suspended account is no reason to say that an answer was lost, and a refused reply no reason to end an account.
func TestRepliesThatXRefuses(t *testing.T) {
	for name, want := range map[string]struct {
		kind platform.ErrorKind
		code platform.Code
	}{
		"reply":            {platform.BadContent, platform.CodeUnsupported},
		"something new":    {platform.BadContent, platform.CodeUnsupported},
		"client forbidden": {platform.BadContent, platform.CodeUnsupported},
		"two cashtags":     {platform.BadContent, platform.CodeContentRefused},
		"too long":         {platform.BadContent, platform.CodeContentRefused},
		"invalid request":  {platform.BadContent, platform.CodeContentRefused},
		"deleted":          {platform.BadContent, platform.CodeCommentNotFound},
		"duplicate":        {platform.Unknown, platform.CodeOutcomeUnknown},
		"suspended":        {platform.Reconnect, platform.CodeNeedsReconnect},
		"unauthorized":     {platform.Expired, platform.CodeTokenExpired},
	} {
		f := newXFixture()
		f.Fake.(*fake.Fake).Say(fake.Answers[name])
		_, err := f.Adapter.(platform.Replier).Reply(t.Context(), f.Account, platform.Reply{Key: "rep_1",
			Post: platform.PublishedPost{ID: "1"}, To: platform.Comment{ID: "2"}, Text: "Thanks"})
		var e *platform.Error
		if !errors.As(err, &e) || e.Kind != want.kind || e.Code != want.code {
			t.Errorf("%s: %v, want %s %s", name, err, want.kind, want.code)
		}
		f.Close()
	}
}

// A first comment that X refuses as a duplicate is looked for, because another worker may have written it.
func TestAFirstCommentThatExists(t *testing.T) {
	post := platform.Post{Key: "pub_1", Kind: platform.KindPost, Caption: "A shoe",
		Options: platform.Options{FirstComment: xComment}}
	f := newXFixture()
	defer f.Close()
	refusal := fake.Answers["duplicate"]
	if step, err := f.Adapter.Start(t.Context(), f.Account, post); err != nil {
		t.Fatal(err)
	} else if step, err = f.Adapter.Finalize(t.Context(), f.Account, post, step.Handle); err != nil {
		t.Fatal(err)
	} else if step, err = f.Adapter.Check(t.Context(), f.Account, post, step.Handle); err != nil {
		t.Fatal(err)
	} else {
		f.Fake.(*fake.Fake).Say(refusal)
		_, err = f.Adapter.Finalize(t.Context(), f.Account, post, step.Handle)
		if platform.KindOf(err) != platform.Unknown {
			t.Errorf("%v, want %s", err, platform.Unknown)
		}
	}
}

// The fake of X counts as X does, with no help from the adapter.
func TestWhatXCounts(t *testing.T) {
	for text, taken := range map[string]bool{
		strings.Repeat("a", 280):                         true,
		strings.Repeat("a", 281):                         false,
		strings.Repeat("я", 281):                         false,
		strings.Repeat("の", 140):                         true,
		strings.Repeat("の", 141):                         false,
		strings.Repeat("e\u0301", 280):                   true, // NFC
		strings.Repeat("👩‍🚀", 140):                       true,
		"https://acme.com/" + strings.Repeat("a", 400):   true,
		"https://acme.com " + strings.Repeat("a", 257):   false,
		"詳しくはhttps://acme.com/aをご覧ください。":                 true,
		"https://acme.com/a" + strings.Repeat("新しい", 42): true,
		"https://acme.com/a" + strings.Repeat("新しい", 43): false,
		"$ACME and $SHOE":                                false,
		"$ACME for 20 $ and $30":                         true,
	} {
		f := newXFixture()
		done, err := platformtest.Publish(t.Context(), f, f.Account, platform.Post{Key: "pub_1",
			Kind: platform.KindPost, Caption: "A shoe"})
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.Adapter.(platform.Replier).Reply(t.Context(), f.Account, platform.Reply{
			To: platform.Comment{ID: done.Post.ID}, Text: text})
		if (err == nil) != taken {
			t.Errorf("%.30q with %d letters: %v", text, len([]rune(text)), err)
		}
		f.Close()
	}
}

// What X has said stays with a post whose outcome is looked for in vain.
func TestTheWordsOfALostAnswerStay(t *testing.T) {
	f := newXFixture()
	defer f.Close()
	f.Fake.(fixture.Fake).Say(control.Answer{Call: regexp.MustCompile("^POST /2/tweets$"), Times: -1, Status: 503,
		Body: `{"title":"Service Unavailable","detail":"X is over capacity."}`})
	post := platform.Post{Key: "pub_1", Kind: platform.KindPost, Caption: "A shoe"}
	_, _, last := fixture.Follow(t.Context(), t, f, post)
	if last == nil || last.Kind != platform.Unknown || last.Words != "X is over capacity." {
		t.Errorf("it ends with %+v", last)
	}
}
