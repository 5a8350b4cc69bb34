package platform_test

import (
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/youtube"
	fake "github.com/content-automation/api/testdata/platforms/youtube"
)

func TestAnswersOnYouTube(t *testing.T) {
	film := platform.Post{Key: "pub_3", Kind: platform.KindVideo, Title: "A shoe",
		Media: []platform.Media{fixture.Video("c", 9000)}}
	account := func(code platform.Code, words string) fixture.Outcome {
		return fixture.Final(film, platform.Reconnect, code, words)
	}
	refused := func(code platform.Code, words string) fixture.Outcome {
		return fixture.Final(film, platform.BadContent, code, words)
	}
	wait := func(code platform.Code, after time.Duration) fixture.Outcome {
		return fixture.Again(film, platform.Retry, code, after)
	}
	full := func(after time.Duration) fixture.Outcome {
		return fixture.Again(film, platform.Quota, platform.CodeQuotaReached, after)
	}
	busy, limited, content := platform.CodePlatformUnavailable, platform.CodeRateLimited, platform.CodeContentRefused
	quota := full(23 * time.Hour)
	quota.Words = "You have exceeded your quota."
	fixture.Answers(t, newYouTubeFixture, fake.Answers, map[string]fixture.Outcome{
		"uploadLimitExceeded": full(24 * time.Hour), "quotaExceeded": quota,
		"rateLimitExceeded": wait(limited, 0), "429 with a time": wait(limited, 45*time.Second),
		"503 with a time": wait(busy, 45*time.Second), "500 backendError": wait(busy, 0),
		"401 authError":                      fixture.Again(film, platform.Expired, platform.CodeTokenExpired, 0),
		"401 youtubeSignupRequired":          account(platform.CodeNeedsReconnect, "Unauthorized"),
		"403 insufficientPermissions":        account(platform.CodeMissingPermission, "Insufficient Permission"),
		"403 of the new form":                account(platform.CodeMissingPermission, "insufficient authentication scopes"),
		"403 channelSuspended":               account(platform.CodeNeedsReconnect, "suspended"),
		"403 authenticatedUserAccountClosed": account(platform.CodeNeedsReconnect, "closed"),
		"403 forbidden":                      fixture.Odd(film, "Access forbidden."),
		"403 forbiddenPrivacySetting":        refused(platform.CodeInvalidOption, "Invalid privacy setting."),
		"400 invalidTags":                    refused(content, "invalid video keywords"),
		"400 mediaBodyRequired":              refused(content, "does not include the video content"),
		"403 accessNotConfigured":            wait(platform.CodeNotConfigured, 0),
		"an unknown reason":                  fixture.Odd(film, "Something new"),
		"404 of the session":                 fixture.Silent(film, ""),
		"410 of the session":                 fixture.Silent(film, ""),
		"503 of the session":                 fixture.Silent(film, ""),
		"403 quotaExceeded of the session":   full(23 * time.Hour),
		"an unknown reason of the session":   fixture.Silent(film, ""),
	})
}

// All channels and playlists are listed.
func TestListsAreReadToTheirEnd(t *testing.T) {
	open := func() *platformtest.Fixture {
		f := newYouTubeFixture()
		f.Fake.(*fake.Fake).More = 250
		return f
	}
	listed(t, map[string]int{"": 251, "@acme249": 1, "@none": 0}, open)
	f := open()
	defer f.Close()
	found, err := f.Adapter.(platform.Finder).Lookup(t.Context(), f.Account, platform.LookupPlaylist, "")
	if err != nil || len(found) != 252 {
		t.Errorf("%d playlists, %v", len(found), err)
	}
}

// A right that only a part needs does not end the account: the video is published without the part.
func TestRightsOfCalls(t *testing.T) {
	for withheld, want := range map[string]platform.ErrorKind{
		"https://www.googleapis.com/auth/yt-analytics.readonly": 0,
		"https://www.googleapis.com/auth/youtube.force-ssl":     0,
		"https://www.googleapis.com/auth/youtube.upload":        0, // the right to all of YouTube has it, too
	} {
		f := newYouTubeFixture()
		f.Fake.(*fake.Fake).Withheld = withheld
		post := short
		post.Options.Own = youtube.Options{Playlist: fake.Playlist}
		step, err := f.Adapter.Start(t.Context(), f.Account, post)
		if (err == nil) != (want == 0) || err != nil && platform.KindOf(err) != want {
			t.Errorf("without %s: %+v, %v", withheld, step, err)
		}
		_, read := f.Adapter.Metrics(t.Context(), f.Account, platform.PublishedPost{ID: "none"})
		if platform.KindOf(read) == platform.Reconnect {
			t.Errorf("without %s, figures: %v", withheld, read)
		}
		f.Close()
	}
}
