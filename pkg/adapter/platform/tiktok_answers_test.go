package platform_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/tiktok"
	fake "github.com/content-automation/api/testdata/platforms/tiktok"
)

// Each answer of TikTok has its outcome: the post is made once, later or at once, or it ends with TikTok's words.
func TestTheAnswersOfTikTok(t *testing.T) {
	refused, barred, later := fixture.Refused, fixture.Barred, fixture.Later
	const day = 24 * time.Hour
	lost := fixture.Ending{Kind: platform.Unknown, Code: platform.CodeOutcomeUnknown}
	revoked := fixture.Ended("Refresh token is invalid").OfRefresh()
	doubt := lost.Of(photos)
	doubt.Words = "The moon is in the seventh house."
	fixture.Endings(t, newTikTokFixture, tiktokVideo, fake.Answers, fixture.WithRefreshes(map[string]fixture.Ending{
		"banned":              refused(platform.CodeContentPolicy, "banned from posting"),
		"spam":                refused(platform.CodeContentPolicy, "a risk"),
		"new spam":            refused(platform.CodeContentPolicy, "a new risk"),
		"too many posts":      later(platform.Quota, day, "daily post cap"),
		"too many drafts":     later(platform.Quota, day, "Five drafts"),
		"user cap":            later(platform.Quota, day, "active users"),
		"unaudited":           refused(platform.CodeInvalidOption, "Not audited."),
		"privacy":             refused(platform.CodeInvalidOption, "not an option"),
		"domain":              refused(platform.CodeMediaRefused, "not verified").Of(photos),
		"invalid":             refused(platform.CodeContentRefused, "The title is too long."),
		"invalid, E":          refused(platform.CodeContentRefused, "post_info").Of(photos),
		"old app":             refused(platform.CodeContentRefused, "too low").Of(photos),
		"invalid file":        refused(platform.CodeMediaRefused, "not valid"),
		"something new":       later(platform.Retry, 20*time.Second, "seventh house"),
		"new, of photos":      doubt,
		"unauthorized":        later(platform.Expired, 0, "invalid or not found"),
		"missing scope":       barred("did not authorize"),
		"scope missed":        barred("lacks the scope"),
		"limit":               later(platform.Retry, time.Minute, "rate limit"),
		"new limit":           later(platform.Retry, time.Minute, "Too many."),
		"outage":              later(platform.Retry, 0, "Something is wrong."),
		"outage, of photos":   lost.Of(photos),
		"state: unknown":      lost,
		"state: outage":       later(platform.Retry, 0, "Something is wrong."),
		"state: limit":        later(platform.Retry, time.Minute, "rate limit"),
		"upload: expired":     {},
		"upload: refused":     {Always: true, Kind: platform.BadContent, Code: platform.CodeMediaRefused},
		"figures: scope":      {},
		"token: revoked":      revoked,
		"token: revoked, 200": revoked,
		"token: application":  later(platform.Retry, 0, "Client key or secret").OfRefresh(),
		"token: our form":     later(platform.Retry, 0, "grant_type").OfRefresh(),
	}))
}

// A reason with which TikTok ends a publication makes it begin again, or ends it with TikTok's word. Nothing was
// posted.
func TestTheReasonsOfTikTok(t *testing.T) {
	type end struct {
		kind platform.ErrorKind
		code platform.Code
		wait time.Duration // before it is published
	}
	media, policy := end{platform.BadContent, platform.CodeMediaRefused, 0},
		end{platform.BadContent, platform.CodeContentPolicy, 0}
	wants := map[string]end{
		"file_format_check_failed": media, "duration_check_failed": media, "frame_rate_check_failed": media,
		"picture_size_check_failed": media, "url_ownership_unverified": media,
		"internal": {}, "video_pull_failed": {}, "photo_pull_failed": {}, "moon_in_seventh_house": {},
		"spam_risk_too_many_posts": {wait: 24 * time.Hour}, "reached_active_user_cap": {wait: 24 * time.Hour},
		"publish_cancelled":                  {platform.BadContent, platform.CodeCanceled, 0},
		"auth_removed":                       {platform.Reconnect, platform.CodeNeedsReconnect, 0},
		"spam_risk_user_banned_from_posting": policy, "spam_risk_text": policy, "spam_risk": policy,
		"unaudited_client_can_only_post_to_private_accounts": {platform.BadContent, platform.CodeInvalidOption, 0},
	}
	for _, reason := range fake.Reasons {
		want, ok := wants[reason]
		if !ok {
			t.Errorf("%s has no outcome", reason)
		}
		for _, post := range []platform.Post{tiktokVideo, photos} {
			f := newTikTokFixture()
			f.Fake.(*fake.Fake).Reason = reason
			began := f.Now()
			p, first, last := fixture.Follow(t.Context(), t, f, post)
			waited := f.Now().Sub(began)
			posts := f.Fake.Posts()
			switch {
			case want.kind == 0 && (last != nil || !p.Done() || len(posts) != 1 || waited < want.wait):
				t.Errorf("%s, %s: %+v, %v after %s with %q", reason, post.Kind, p, first, waited, posts)
			case want.kind != 0 && (last == nil || last.Kind != want.kind || last.Code != want.code ||
				len(posts) != 0 || !strings.Contains(last.Words, reason)):
				t.Errorf("%s, %s: %+v with %q", reason, post.Kind, last, posts)
			}
			f.Close()
		}
	}
}

// A publication that always fails ends with the word of TikTok.
func TestAReasonThatStays(t *testing.T) {
	f := newTikTokFixture()
	defer f.Close()
	of := f.Fake.(*fake.Fake)
	_, _, last := fixture.Follow(t.Context(), t, &platformtest.Fixture{Adapter: f.Adapter, Account: f.Account, Fake: of,
		HTTP: f.HTTP, Now: f.Now, Advance: func(d time.Duration) {
			of.Reason = "photo_pull_failed"
			f.Advance(d)
		}}, photos)
	if last == nil || last.Code != platform.CodeMediaRefused || last.Words != "photo_pull_failed" || len(of.Posts()) > 1 {
		t.Errorf("%+v with %q", last, of.Posts())
	}
}

// A publication that TikTok has forgotten may have been posted, unless its last byte was not sent.
func TestAForgottenPublication(t *testing.T) {
	f := newTikTokFixture()
	defer f.Close()
	f.Fake.(*fake.Fake).Say(fake.Answers["state: unknown"])
	_, _, last := fixture.Follow(t.Context(), t, f, photos)
	if last == nil || last.Kind != platform.Unknown || !strings.Contains(last.Words, "does not exist") {
		t.Errorf("%+v", last)
	}
	g := newTikTokFixture()
	defer g.Close()
	long := tiktokVideo
	long.Media = []platform.Media{fixture.Video("e", 3*chunk+100)}
	g.Fake.(*fake.Fake).Say(fake.Answers["state: unknown"])
	if p, _, last := fixture.Follow(t.Context(), t, g, long); last != nil || !p.Done() || len(g.Fake.Posts()) != 1 {
		t.Errorf("%+v, %v", p, last)
	}
}

// An upload that is open while a new version is deployed keeps the chunks with which it was opened.
func TestAnUploadKeepsItsChunks(t *testing.T) {
	f := newTikTokFixture()
	defer f.Close()
	p, made := f.Adapter.(*tiktok.Platform), 0
	long := tiktokVideo
	long.Media = []platform.Media{fixture.Video("e", 5*chunk+100)}
	done, _, last := fixture.Follow(t.Context(), t, &platformtest.Fixture{Adapter: f.Adapter, Account: f.Account,
		Fake: f.Fake, HTTP: f.HTTP, Now: f.Now, Advance: func(d time.Duration) {
			made++
			p.Chunk = 2 * chunk
			f.Advance(d)
		}}, long)
	if last != nil || !done.Done() || len(f.Fake.Posts()) != 1 || made == 0 {
		t.Errorf("%+v, %v, after %d waits", done, last, made)
	}
}

// TikTok refuses sizes of pictures after it has read them. A figure without its scope says nothing about the account.
func TestWhatTikTokTakes(t *testing.T) {
	for size, taken := range map[[2]int]bool{{1080, 1350}: true, {1080, 1920}: true, {1920, 1080}: true,
		{1254, 1254}: false, {1086, 1448}: false} {
		f := newTikTokFixture()
		f.Fake.(*fake.Fake).PhotoSizes = map[string][2]int{photos.Media[1].URL: size}
		_, _, last := fixture.Follow(t.Context(), t, f, photos)
		if (last == nil) != taken || !taken && last.Words != "picture_size_check_failed" {
			t.Errorf("photos of %v: %v", size, last)
		}
		f.Close()
	}
	for size, taken := range map[[2]int]bool{{360, 640}: true, {4096, 2160}: true, {320, 240}: false,
		{4097, 720}: false} {
		f := newTikTokFixture()
		f.Fake.(*fake.Fake).VideoSize = size
		if _, _, last := fixture.Follow(t.Context(), t, f, tiktokVideo); (last == nil) != taken {
			t.Errorf("a video of %v: %v", size, last)
		}
		f.Close()
	}
	f := newTikTokFixture()
	defer f.Close()
	of := f.Fake.(*fake.Fake)
	of.Say(fake.Answers["figures: scope"])
	if _, err := f.Adapter.Metrics(t.Context(), f.Account, platform.PublishedPost{ID: "1"}); !platform.Denied(err) ||
		platform.KindOf(err) == platform.Reconnect {
		t.Errorf("figures without the scope: %v", err)
	}
	of.Extra = nil
	if _, err := f.Adapter.(platform.AccountReader).Days(t.Context(), f.Account, f.Now()); !platform.Denied(err) {
		t.Errorf("days without the scope: %v", err)
	}
	of.OAuth.Scopes = slices.DeleteFunc(slices.Clone(of.OAuth.Scopes), func(s string) bool { return s == "video.publish" })
	if _, _, last := fixture.Follow(t.Context(), t, f, tiktokVideo); last == nil || last.Kind != platform.Reconnect {
		t.Errorf("a post without the scope: %v", last)
	}
}
