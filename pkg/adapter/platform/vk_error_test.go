package platform_test

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/testdata/platforms/control"
	fake "github.com/content-automation/api/testdata/platforms/vk"
)

// midnight is the time from the beginning of a test, 9:00 UTC, to midnight in Moscow.
const midnight = 12 * time.Hour

func TestAnswersOnVK(t *testing.T) {
	photo := platform.Post{Key: "pub_6", Kind: platform.KindPost, Media: []platform.Media{fixture.Image("f")}}
	film := platform.Post{Key: "pub_7", Kind: platform.KindVideo, Media: []platform.Media{fixture.Video("g", 9000)}}
	retry, quota, expired := platform.Retry, platform.Quota, platform.Expired
	account := func(code platform.Code, words string) fixture.Outcome {
		return fixture.Final(vkText, platform.Reconnect, code, words)
	}
	refused := func(post platform.Post, code platform.Code, words string) fixture.Outcome {
		return fixture.Final(post, platform.BadContent, code, words)
	}
	lost := fixture.Final(vkText, platform.Unknown, platform.CodeOutcomeUnknown, "")
	lost.Lasting = "" // VK tells nothing about the post while it fails
	content, right := platform.CodeContentRefused, platform.CodeMissingPermission
	fixture.Answers(t, newVKFixture, fake.Answers, map[string]fixture.Outcome{
		"1 unknown error":                    lost,
		"10 internal error":                  lost,
		"10 of photos.getWallUploadServer":   fixture.Again(photo, retry, platform.CodePlatformUnavailable, 0),
		"6 too many calls":                   fixture.Again(vkText, retry, platform.CodeRateLimited, time.Second),
		"9 flood control":                    fixture.Again(vkText, retry, platform.CodeRateLimited, 10*time.Minute),
		"29 rate limit of the method":        fixture.Again(vkText, retry, platform.CodeRateLimited, time.Hour),
		"43 section unavailable":             fixture.Again(vkText, retry, platform.CodePlatformUnavailable, 0),
		"22 upload error":                    fixture.Again(photo, retry, platform.CodePlatformUnavailable, 0),
		"121 invalid hash":                   fixture.Silent(photo, platform.CodeMediaRefused),
		"129 invalid photo":                  fixture.Silent(photo, platform.CodeMediaRefused),
		"the upload server fails":            fixture.Silent(photo, platform.CodeMediaRefused),
		"the upload server refuses":          refused(photo, platform.CodeMediaRefused, "photo min size 400x400"),
		"214 limit of the day":               fixture.Again(vkText, quota, platform.CodeQuotaReached, midnight),
		"214 already scheduled":              refused(vkText, content, "already scheduled for this time"),
		"214 denied":                         account(right, "Access to adding post denied"),
		"214 for a reason that is not known": refused(vkText, content, "the moon is full"),
		"219 advertisement":                  fixture.Again(vkText, quota, platform.CodeQuotaReached, time.Hour),
		"224 too many advertisements":        fixture.Again(vkText, quota, platform.CodeQuotaReached, midnight),
		"220 too many recipients":            refused(vkText, content, "Too many recipients"),
		"222 links forbidden":                refused(vkText, content, "Hyperlinks are forbidden"),
		"5 expired":                          fixture.Again(vkText, expired, platform.CodeTokenExpired, 0),
		"5 another address":                  fixture.Again(vkText, expired, platform.CodeTokenExpired, 0),
		"1117 expired":                       fixture.Again(vkText, expired, platform.CodeTokenExpired, 0),
		"17 validation required":             account(platform.CodeNeedsReconnect, "Validation required"),
		"27 token of a community":            account(right, "Group authorization failed"),
		"28 token of an application":         account(platform.CodeNeedsReconnect, "Application authorization failed"),
		"1051 token of VK ID":                account(right, "Method is unavailable"),
		"15 denied":                          account(right, "Access denied"),
		"15 not with these rights":           account(right, "current scopes"),
		"204 videos denied":                  refused(film, right, "Access denied"),
		"203 group denied":                   account(right, "Access to group denied"),
		"18 user deleted":                    account(platform.CodeNeedsReconnect, "User was deleted or banned"),
		"3610 user deactivated":              account(platform.CodeNeedsReconnect, "User is deactivated"),
		"14 captcha":                         refused(vkText, platform.CodeCaptchaRequired, "Captcha needed"),
		"3300 captcha":                       refused(vkText, platform.CodeCaptchaRequired, "Recaptcha needed"),
		"3301 telephone to be confirmed":     refused(vkText, right, "Phone validation needed"),
		"704 second factor":                  refused(film, right, "2FA"),
		"19 content blocked":                 refused(vkText, platform.CodeContentPolicy, "Content blocked"),
		"100 wrong parameter":                refused(vkText, content, "message is too long"),
		"3102 source not found":              refused(vkText, content, "can't find source"),
		"2 application disabled":             fixture.Again(vkText, retry, platform.CodeNotConfigured, 0),
		"an unknown error of a post":         refused(vkText, content, "Something new"),
		"an unknown error of a preparation":  fixture.Odd(photo, "Something new"),
	})
}

// The refusal of a reading, a comment, a change or a deletion says nothing about the right to publish.
func TestOtherRefusalsLeaveTheAccountOnVK(t *testing.T) {
	for _, code := range []int{7, 15, 18, 30, 37, 200, 203, 204, 210, 212, 213, 4077} {
		f := newVKFixture()
		f.Fake.(fixture.Fake).Say(control.Answer{Call: regexp.MustCompile("/(wall.(get|edit|createComment)|stats)"),
			Times: -1, Status: http.StatusOK,
			Body: fmt.Sprintf(`{"error":{"error_code":%d,"error_msg":"Access denied"}}`, code)})
		post := platform.PublishedPost{ID: "1"}
		_, read := f.Adapter.Metrics(t.Context(), f.Account, post)
		_, listed := f.Adapter.(platform.CommentReader).Comments(t.Context(), f.Account, post, "")
		_, replied := f.Adapter.(platform.Replier).Reply(t.Context(), f.Account, platform.Reply{Post: post})
		changed := f.Adapter.(platform.Editor).Edit(t.Context(), f.Account, platform.PlacedPost{PublishedPost: post},
			"x")
		for _, err := range []error{read, listed, replied, changed} {
			if kind := platform.KindOf(err); err == nil || kind != platform.BadContent && kind != platform.Unclear {
				t.Errorf("%d: %v", code, err)
			}
		}
		f.Close()
	}
}

// The token of a community cannot be refreshed.
func TestTheTokenOfACommunityEnds(t *testing.T) {
	f := newVKFixture()
	defer f.Close()
	f.Account.Token.Refresh = ""
	f.Fake.(fixture.Fake).Say(control.Answer{Call: regexp.MustCompile("wall.post"), Status: http.StatusOK,
		Body: `{"error":{"error_code":5,"error_msg":"User authorization failed: invalid access_token (4)."}}`})
	step, err := f.Adapter.Start(t.Context(), f.Account, vkText)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Adapter.Finalize(t.Context(), f.Account, vkText, step.Handle)
	var e *platform.Error
	if !errors.As(err, &e) || e.Kind != platform.Reconnect || e.Words == "" {
		t.Errorf("%v", err)
	}
}

// All communities are listed, however few VK gives at once, and one of a later page can be chosen.
func TestAllCommunitiesAreListed(t *testing.T) {
	listed(t, map[string]int{"": 251, "@shop249": 1, "none": 0}, func() *platformtest.Fixture {
		f := newVKFixture()
		f.Fake.(*fake.Fake).More = 250
		return f
	})
}

// listed connects an account with each choice, and compares how many accounts there are.
func listed(t *testing.T, choices map[string]int, open func() *platformtest.Fixture) {
	t.Helper()
	for choice, want := range choices {
		f := open()
		grant, err := fixture.OAuthGrant(f)
		if err != nil {
			t.Fatal(err)
		}
		grant.Choice = choice
		accounts, err := f.Adapter.Connect(t.Context(), grant)
		if len(accounts) != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %d accounts, %v", choice, len(accounts), err)
		}
		f.Close()
	}
}

// A token without the right to walls posts nothing, and the account has to be connected again.
func TestPostsNeedTheRightToWalls(t *testing.T) {
	f := newVKFixture()
	defer f.Close()
	f.Fake.(*fake.Fake).Withheld = "wall"
	step, err := f.Adapter.Start(t.Context(), f.Account, vkText)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Adapter.Finalize(t.Context(), f.Account, vkText, step.Handle)
	if platform.KindOf(err) != platform.Reconnect || !platform.Denied(err) || len(f.Fake.Posts()) != 0 {
		t.Errorf("%v", err)
	}
}

func TestCommentsAreListedInPages(t *testing.T) {
	f := newVKFixture()
	defer f.Close()
	of := f.Fake.(*fake.Fake)
	for n := range 250 {
		of.AddComment(control.Comment{ID: fmt.Sprint(n + 1), Post: "7", Text: fmt.Sprint("Comment ", n)})
	}
	seen, after := map[string]bool{}, ""
	for range 10 {
		page, err := f.Adapter.(platform.CommentReader).Comments(t.Context(), f.Account,
			platform.PublishedPost{ID: "7"}, after)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range page.Comments {
			seen[c.ID] = true
		}
		if after = page.Next; after == "" {
			break
		}
	}
	if len(seen) != 250 {
		t.Errorf("%d of 250 comments", len(seen))
	}
}
