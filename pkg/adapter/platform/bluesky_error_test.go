package platform_test

import (
	"errors"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	fake "github.com/content-automation/api/testdata/platforms/bluesky"
	"github.com/content-automation/api/testdata/platforms/control"
)

var film = platform.Post{Key: "pub_3", Kind: platform.KindVideo, Caption: "It runs",
	Media: []platform.Media{fixture.Video("b", 9000)}}

func TestAnswersOnBluesky(t *testing.T) {
	text := platform.Post{Key: "pub_1", Kind: platform.KindPost, Caption: "A shoe"}
	photo := platform.Post{Key: "pub_2", Kind: platform.KindPost, Media: []platform.Media{blueskyDescribed("a", "A red shoe")}}
	refused := func(post platform.Post, code platform.Code, words string) fixture.Outcome {
		return fixture.Final(post, platform.BadContent, code, words)
	}
	suspended := func(words string) fixture.Outcome {
		return fixture.Final(text, platform.Reconnect, platform.CodeNeedsReconnect, words)
	}
	fresh := fixture.Again(text, platform.Expired, platform.CodeTokenExpired, 0)
	limited := fixture.Again(text, platform.Retry, platform.CodeRateLimited, 2*time.Minute)
	media, content, right := platform.CodeMediaRefused, platform.CodeContentRefused, platform.CodeMissingPermission
	full, busy := platform.CodeQuotaReached, platform.CodePlatformUnavailable
	odd := fixture.Silent(text, content)
	fixture.Answers(t, newBlueskyFixture, fake.Answers, map[string]fixture.Outcome{
		"ExpiredToken": fresh, "InvalidToken": fresh, "AuthMissing": fresh,
		"AccountTakedown": suspended("taken down"), "AccountDeactivated": suspended("deactivated"),
		"RateLimitExceeded": limited, "429 of a proxy": limited,
		"UpstreamFailure": fixture.Silent(text, ""), "InternalServerError": fixture.Silent(text, ""),
		"InternalServerError of a blob":         fixture.Again(photo, platform.Retry, busy, 0),
		"InvalidSwap":                           fixture.Again(text, platform.Retry, busy, 0),
		"InvalidRequest":                        refused(text, content, "blob too big"),
		"BlobNotFound":                          fixture.Silent(photo, media),
		"BlobTooLarge":                          refused(photo, media, "This file is too large."),
		"413 of a blob":                         refused(photo, media, "request entity too large"),
		"an unknown error of a post":            odd,
		"an unknown error of a blob":            fixture.Odd(photo, "Something new"),
		"job: pds_upload_failure":               fixture.Silent(film, media),
		"job: generic_failure":                  fixture.Silent(film, media),
		"job: without a code":                   fixture.Silent(film, media),
		"job: validation_failure":               refused(film, media, "The video is too long"),
		"job: without a code, video_too_long":   refused(film, media, "video_too_long"),
		"job: encoding_failure":                 refused(film, media, "could not be encoded"),
		"job: pds_upload_unsupported_blob_size": refused(film, media, "Too large for the PDS"),
		"upload: 401 of the audience":           fixture.Odd(film, "invalid token audience"),
		"upload: 401 unconfirmed_email":         refused(film, right, "Confirm your email"),
		"limits: 401":                           fixture.Odd(film, "invalid token"),
		"limits: unconfirmed_email":             refused(film, right, "Confirm your email"),
		"limits: no more today":                 fixture.Again(film, platform.Quota, full, time.Hour),
		"upload: daily limit":                   fixture.Again(film, platform.Quota, full, 24*time.Hour),
		"upload: disabled":                      fixture.Again(film, platform.Retry, busy, 10*time.Minute),
		"upload: too large":                     refused(film, media, "larger than the maximum"),
		"upload: not allowed":                   refused(film, right, "not allowed to upload"),
		"upload: 503":                           fixture.Again(film, platform.Retry, busy, 0),
	})
}

// A video is uploaded at most three times, whether its processing or the service's token fails, and the refusal has the
// words of the service. The account stays.
func TestAVideoIsUploadedThreeTimesAtMost(t *testing.T) {
	for name, c := range map[string]struct {
		call, body, words string
		status, uploads   int
		code              platform.Code
	}{
		"a job fails": {"getJobStatus", `{"jobStatus":{"jobId":"j","state":"JOB_STATE_FAILED",` +
			`"failureCode":"pds_upload_failure","message":"The host is away"}}`, "The host is away", 200, 3,
			platform.CodeMediaRefused},
		"an upload fails": {"uploadVideo", `{"jobId":"j","state":"JOB_STATE_FAILED","error":"broken"}`, "broken", 200, 3,
			platform.CodeMediaRefused},
		"401": {"uploadVideo", `{"error":"invalid token: invalid token audience"}`, "invalid token audience", 401, 3,
			platform.CodeContentRefused},
		"401 in HTML": {"uploadVideo", `<html>`, "", 401, 3, platform.CodeContentRefused},
		"401 of a name of the account": {"uploadVideo", `{"error":"ExpiredToken","message":"jwt"}`, "jwt", 401, 3,
			platform.CodeContentRefused},
		"a job fails for good": {"getJobStatus", `{"jobStatus":{"jobId":"j","state":"JOB_STATE_FAILED",` +
			`"failureCode":"validation_failure","error":"unsupported_codec"}}`, "unsupported_codec", 200, 1,
			platform.CodeMediaRefused},
	} {
		f := newBlueskyFixture()
		of := f.Fake.(fixture.Fake)
		of.Say(control.Answer{Call: regexp.MustCompile(c.call), Times: -1, Status: c.status, Body: c.body})
		before := f.Fake.Calls()
		_, err := platformtest.Publish(t.Context(), f, f.Account, film)
		uploads := of.(*fake.Fake).Uploads()
		var e *platform.Error
		if !errors.As(err, &e) || e.Kind != platform.BadContent || e.Code != c.code ||
			!strings.Contains(e.Words, c.words) {
			t.Errorf("%s: %v", name, err)
		}
		if uploads != c.uploads {
			t.Errorf("%s: %d uploads after %d calls, want %d", name, uploads, f.Fake.Calls()-before, c.uploads)
		}
		f.Close()
	}
}

// The blob of a video counts, whatever the state of its processing is.
func TestTheBlobCounts(t *testing.T) {
	const blob = `"blob":{"$type":"blob","ref":{"$link":"bafkrei1"},"mimeType":"video/mp4","size":9000}`
	for name, a := range map[string]control.Answer{
		"a failed job with a blob": {Call: regexp.MustCompile("getJobStatus"), Status: 200,
			Body: `{"jobStatus":{"jobId":"j","state":"JOB_STATE_FAILED","error":"already_exists",` + blob + `}}`},
		"409 with a blob": {Call: regexp.MustCompile("uploadVideo"), Status: 409,
			Body: `{"error":"already_exists","jobId":"j","state":"JOB_STATE_FAILED",` + blob + `}`},
		"409 with the status of a job": {Call: regexp.MustCompile("uploadVideo"), Status: 409,
			Body: `{"jobStatus":{"jobId":"j","error":"already_exists","state":"JOB_STATE_COMPLETED",` + blob + `}}`},
	} {
		f := newBlueskyFixture()
		f.Fake.(*fake.Fake).AddBlob("bafkrei1", "video/mp4", 9000)
		f.Fake.(fixture.Fake).Say(a)
		done, err := platformtest.Publish(t.Context(), f, f.Account, film)
		if n := f.Fake.(*fake.Fake).Uploads(); err != nil || !done.Done() || len(f.Fake.Posts()) != 1 || n != 1 {
			t.Errorf("%s: %+v, %v after %d uploads", name, done, err, n)
		}
		f.Close()
	}
}

// Only an answer of the account's own server about its token ends a session.
func TestWhatEndsASession(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		want   platform.ErrorKind
	}{
		{400, `{"error":"ExpiredToken","message":"Token has been revoked"}`, platform.Reconnect},
		{400, `{"error":"InvalidToken","message":"Token could not be verified"}`, platform.Reconnect},
		{401, `{"error":"AuthMissing"}`, platform.Reconnect},
		{401, `{"error":"AuthenticationRequired","message":"Invalid identifier or password"}`, platform.Reconnect},
		{401, `{"error":"AuthFactorTokenRequired"}`, platform.Reconnect},
		{401, `{"error":"AccountTakedown"}`, platform.Reconnect},
		{429, `{"error":"RateLimitExceeded"}`, platform.Retry},
		{429, `{"error":"ExpiredToken"}`, platform.Retry},
		{500, `{"error":"ExpiredToken"}`, platform.Retry},
		{502, `{"error":"UpstreamFailure"}`, platform.Retry},
		{503, `<html>`, platform.Retry},
		{403, `{"error":"InvalidToken"}`, platform.Retry},
		{403, `<html>Forbidden</html>`, platform.Retry},
		{401, `<html>`, platform.Retry},
		{400, `{"error":"InvalidRequest","message":"Bad Request"}`, platform.Retry},
		{404, `{"error":"NotFound"}`, platform.Retry},
	} {
		f := newBlueskyFixture()
		f.Fake.(fixture.Fake).Say(control.Answer{Call: regexp.MustCompile("Session"), Times: -1, Status: c.status,
			Body: c.body})
		_, renewed := f.Adapter.Refresh(t.Context(), f.Account)
		_, opened := f.Adapter.Connect(t.Context(), platform.Grant{Username: fake.Handle, Password: fake.Password})
		for _, err := range []error{renewed, opened} {
			if platform.KindOf(err) != c.want || err == nil {
				t.Errorf("%d %s: %v, want %s", c.status, c.body, err, c.want)
			}
		}
		ended := f.Adapter.Revoke(t.Context(), f.Account)
		if (ended == nil) != (c.want == platform.Reconnect) {
			t.Errorf("%d %s: the end of the session: %v", c.status, c.body, ended)
		}
		f.Close()
	}
}

// The double holds the bounds of the lexicons.
func TestTheDoubleBoundsTags(t *testing.T) {
	for tag, want := range map[string]bool{
		strings.Repeat("a", 64): true, strings.Repeat("a", 65): false,
		strings.Repeat("👩‍🚀", 58): true, strings.Repeat("👩‍🚀", 59): false, // 11 bytes each
		"": false,
	} {
		f := newBlueskyFixture()
		body := `{"repo":"` + fake.DID + `","collection":"app.bsky.feed.post","rkey":"3abcdefghij23","record":{` +
			`"$type":"app.bsky.feed.post","text":"A shoe","createdAt":"2026-11-22T09:00:00Z","facets":[{"index":` +
			`{"byteStart":0,"byteEnd":1},"features":[{"$type":"app.bsky.richtext.facet#tag","tag":"` + tag + `"}]}]}}`
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
			"http://platform.test/xrpc/com.atproto.repo.createRecord", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+f.Account.Token.Access.Reveal())
		answer, err := control.Doer{Handler: f.Fake.(fixture.Fake).Handler()}.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if (answer.StatusCode == http.StatusOK) != want {
			t.Errorf("a tag of %d bytes: %d, want %v", len(tag), answer.StatusCode, want)
		}
		f.Close()
	}
}
