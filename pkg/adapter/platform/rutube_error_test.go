package platform_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/testdata/platforms/control"
	fake "github.com/content-automation/api/testdata/platforms/rutube"
)

func TestAnswersOnRuTube(t *testing.T) {
	refused := func(code platform.Code, words string) fixture.Outcome {
		return fixture.Final(rutubeVideo, platform.BadContent, code, words)
	}
	ended := func(words string) fixture.Outcome {
		return fixture.Final(rutubeVideo, platform.Reconnect, platform.CodeNeedsReconnect, words)
	}
	content, media := platform.CodeContentRefused, platform.CodeMediaRefused
	wait := func(code platform.Code, after time.Duration) fixture.Outcome {
		return fixture.Again(rutubeVideo, platform.Retry, code, after)
	}
	fixture.Answers(t, newRuTubeFixture, fake.Answers, map[string]fixture.Outcome{
		"400 of members":                       refused(content, "title: Ensure this field has no more than 100 characters."),
		"401":                                  ended("Invalid token."),
		"403 of the token":                     ended("User inactive or deleted."),
		"403 of one video":                     fixture.Odd(rutubeVideo, "You do not have permission"),
		"403 of a proxy":                       fixture.Odd(rutubeVideo, ""),
		"401 of a proxy":                       fixture.Odd(rutubeVideo, ""),
		"404":                                  refused(platform.CodePostNotFound, "Not found."),
		"413":                                  refused(media, ""),
		"429":                                  wait(platform.CodeRateLimited, 30*time.Second),
		"500":                                  wait(platform.CodePlatformUnavailable, 0),
		"503 of the call that shows the video": fixture.Silent(rutubeVideo, ""),
		"409 of the call that shows the video": fixture.Silent(rutubeVideo, content),
		"error":                                refused(media, "bad file"),
		"deleted":                              refused(media, "copyright"),
		"downloading":                          fixture.Silent(rutubeVideo, ""),
		"moderation":                           fixture.Silent(rutubeVideo, ""),
	})
}

// Only Rutube's own answer about the name and the password refuses a login.
func TestRefusalsOfTheLogin(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		want   platform.ErrorKind
	}{
		{400, `{"non_field_errors":["Unable to log in with provided credentials."]}`, platform.Reconnect},
		{401, `{"detail":"Wrong."}`, platform.Reconnect},
		{403, `{"detail":"Wrong."}`, platform.Reconnect},
		{403, `<html>Forbidden</html>`, platform.Retry},
		{400, `<html>`, platform.Retry},
		{429, `{"detail":"Request was throttled."}`, platform.Retry},
		{500, `{"detail":"Wrong."}`, platform.Retry},
		{502, ``, platform.Retry},
	} {
		f := newRuTubeFixture()
		f.Fake.(fixture.Fake).Say(control.Answer{Call: regexp.MustCompile("token_auth"), Status: c.status,
			Body: c.body})
		_, err := f.Adapter.Connect(t.Context(), platform.Grant{Username: fake.Username, Password: fake.Password})
		if err == nil || platform.KindOf(err) != c.want {
			t.Errorf("%d %s: %v, want %s", c.status, c.body, err, c.want)
		}
		f.Close()
	}
}
