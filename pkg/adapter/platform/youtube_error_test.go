package platform_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
	"github.com/content-automation/api/pkg/adapter/platform/youtube"
)

// The outcomes of the reasons: of the call that opens an upload, of a session, and of other calls.
func TestRefusalsOnYouTube(t *testing.T) {
	now := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC) // 1:00 in California
	p := youtube.New(wire.Config{Now: func() time.Time { return now }})
	same := func(k platform.ErrorKind) [3]platform.ErrorKind { return [3]platform.ErrorKind{k, k, k} }
	account := [3]platform.ErrorKind{platform.Reconnect, platform.Reconnect, platform.BadContent}
	gone := [3]platform.ErrorKind{platform.Unclear, platform.Restart, platform.Unclear}
	for _, c := range []struct {
		status int
		reason string
		want   [3]platform.ErrorKind
		after  time.Duration
	}{
		{400, "uploadLimitExceeded", same(platform.Quota), 24 * time.Hour},
		{403, "quotaExceeded", same(platform.Quota), 23 * time.Hour},
		{403, "dailyLimitExceeded", same(platform.Quota), 23 * time.Hour},
		{403, "rateLimitExceeded", same(platform.Retry), 0},
		{403, "userRateLimitExceeded", same(platform.Retry), 0},
		{429, "", same(platform.Retry), 0},
		{401, "authError", same(platform.Expired), 0},
		{401, "required", same(platform.Expired), 0},
		{401, "", same(platform.Expired), 0},
		{403, "insufficientPermissions", account, 0},
		{403, "ACCESS_TOKEN_SCOPE_INSUFFICIENT", account, 0},
		{403, "forbidden", same(platform.Unclear), 0},
		{401, "youtubeSignupRequired", account, 0},
		{403, "authenticatedUserAccountSuspended", account, 0},
		{403, "channelClosed", account, 0},
		{403, "accessNotConfigured", same(platform.Retry), 0},
		{400, "invalidTitle", same(platform.BadContent), 0},
		{400, "invalidCategoryId", same(platform.BadContent), 0},
		{403, "forbiddenPrivacySetting", same(platform.BadContent), 0},
		{400, "mediaBodyRequired", same(platform.BadContent), 0},
		{404, "videoNotFound", same(platform.BadContent), 0},
		{404, "", gone, 0},
		{410, "", gone, 0},
		{404, "somethingNew", gone, 0},
		{500, "backendError", same(platform.Retry), 0},
		{503, "", same(platform.Retry), 0},
		{500, "forbidden", same(platform.Retry), 0},
		{400, "", same(platform.Unclear), 0},
		{400, "required", same(platform.Unclear), 0}, // of a parameter, and not of a token
		{400, "somethingNew", same(platform.Unclear), 0},
	} {
		bodies := []string{"<html>quotaExceeded</html>"}
		if c.reason != "" {
			bodies = []string{fmt.Sprintf(`{"error":{"code":%d,"message":"quotaExceeded","errors":[{"reason":%q}]}}`, c.status,
				c.reason), fmt.Sprintf(`{"error":{"status":"X","details":[{"@type":"x"},{"reason":%q}]}}`, c.reason)}
		}
		for _, body := range bodies {
			answer := wire.Answer{Status: c.status, Body: []byte(body)}
			for i, refused := range []wire.Classifier{p.ClassifyUpload, p.ClassifySession, p.Classify(false)} {
				err := p.Client.Check(wire.Call{}, answer, refused)
				var e *platform.Error
				if !errors.As(err, &e) || e.Kind != c.want[i] || e.RetryAfter != c.after {
					t.Errorf("%d %s of call %d: %v, want %s", c.status, c.reason, i, err, c.want[i])
				}
			}
		}
	}
	// A refusal of the last part that Google does not explain may be of a proxy.
	for _, a := range []wire.Answer{{Status: 502}, {Status: 500,
		Body: []byte(`{"error":{"errors":[{"reason":"quotaExceeded"}]}}`)}} {
		err := p.Client.Check(wire.Call{Posts: true}, a, p.ClassifySession)
		if platform.KindOf(err) != platform.Unknown {
			t.Errorf("%d of the last part: %v, want %s", a.Status, err, platform.Unknown)
		}
	}
}

// The quota starts again at midnight, Pacific time, in summer and in winter.
func TestTheQuotaStartsAtMidnight(t *testing.T) {
	for now, want := range map[string]time.Duration{
		"2026-11-22T07:59:00Z": time.Minute, "2026-11-22T08:00:00Z": 24 * time.Hour,
		"2026-07-01T06:59:00Z": time.Minute, "2026-07-01T07:00:00Z": 24 * time.Hour,
		"2027-03-14T08:00:00Z": 23 * time.Hour, // the clock is changed on that day
	} {
		at, err := time.Parse(time.RFC3339, now)
		if err != nil {
			t.Fatal(err)
		}
		p := youtube.New(wire.Config{Now: func() time.Time { return at }})
		a := wire.Answer{Status: 403, Body: []byte(`{"error":{"errors":[{"reason":"quotaExceeded"}]}}`)}
		if e := p.Classify(false)(a); e.RetryAfter != want {
			t.Errorf("%s: %s, want %s", now, e.RetryAfter, want)
		}
	}
}

func TestRefusalsOfComments(t *testing.T) {
	p := youtube.New(wire.Config{})
	for _, c := range []struct {
		status int
		reason string
		posts  bool
		want   platform.ErrorKind
		code   platform.Code
	}{
		{404, "parentCommentNotFound", true, platform.BadContent, platform.CodeCommentNotFound},
		{403, "commentsDisabled", true, platform.BadContent, platform.CodeUnsupported},
		{403, "forbidden", false, platform.BadContent, "foreign_comment"},
		{403, "insufficientPermissions", false, platform.Reconnect, platform.CodeMissingPermission},
		{400, "commentTextTooLong", true, platform.BadContent, platform.CodeContentRefused},
		{400, "processingFailure", true, platform.Unknown, platform.CodeOutcomeUnknown},
		{400, "processingFailure", false, platform.Retry, platform.CodePlatformUnavailable},
		{404, "", false, platform.Retry, platform.CodePlatformUnavailable},
		{404, "", true, platform.Unknown, platform.CodeOutcomeUnknown},
		{404, "videoNotFound", false, platform.BadContent, platform.CodePostNotFound},
		{403, "quotaExceeded", true, platform.Quota, platform.CodeQuotaReached},
		{503, "", true, platform.Unknown, platform.CodeOutcomeUnknown},
	} {
		body := fmt.Sprintf(`{"error":{"errors":[{"reason":%q}]}}`, c.reason)
		err := p.Client.Check(wire.Call{Posts: c.posts}, wire.Answer{Status: c.status, Body: []byte(body)},
			p.OfComments(c.posts))
		var e *platform.Error
		if !errors.As(err, &e) || e.Kind != c.want || e.Code != c.code {
			t.Errorf("%d %s: %v, want %s %s", c.status, c.reason, err, c.want, c.code)
		}
	}
}

func TestHowMuchASessionHas(t *testing.T) {
	for value, want := range map[string]int64{"": 0, "bytes=0-0": 1, "bytes=0-262143": 262144, "bytes=1-5": -1,
		"bytes=0-": -1, "0-5": -1, "bytes=0--7": -1} {
		a := wire.Answer{Header: map[string][]string{"Range": {value}}}
		n, err := youtube.Offset(a)
		if want < 0 {
			if err == nil {
				t.Errorf("%q: %d, want an error", value, n)
			}
		} else if err != nil || n != want {
			t.Errorf("%q: %d, %v, want %d", value, n, err, want)
		}
	}
}
