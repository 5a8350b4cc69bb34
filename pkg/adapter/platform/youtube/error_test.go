package youtube

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

func TestRefusals(t *testing.T) {
	p := New(wire.Config{})
	for _, c := range []struct {
		status int
		reason string
		want   platform.ErrorKind
		after  time.Duration
	}{
		{400, "uploadLimitExceeded", platform.Quota, 24 * time.Hour},
		{403, "quotaExceeded", platform.Quota, 6 * time.Hour},
		{403, "rateLimitExceeded", platform.Retry, 0},
		{429, "", platform.Retry, 0},
		{401, "authError", platform.Expired, 0},
		{401, "", platform.Expired, 0},
		{403, "insufficientPermissions", platform.Reconnect, 0},
		{403, "forbidden", platform.Reconnect, 0},
		{401, "youtubeSignupRequired", platform.Reconnect, 0},
		{400, "invalidTitle", platform.BadContent, 0},
		{400, "invalidCategoryId", platform.BadContent, 0},
		{400, "mediaBodyRequired", platform.BadContent, 0},
		{404, "videoNotFound", platform.BadContent, 0},
		{404, "", platform.Restart, 0},
		{410, "", platform.Restart, 0},
		{500, "backendError", platform.Retry, 0},
		{503, "", platform.Retry, 0},
		{400, "", platform.BadContent, 0},
	} {
		body := "<html>quotaExceeded</html>"
		if c.reason != "" {
			body = fmt.Sprintf(`{"error":{"code":%d,"message":"quotaExceeded","errors":[{"reason":%q}]}}`,
				c.status, c.reason)
		}
		err := p.Client.Check(wire.Call{}, wire.Answer{Status: c.status, Body: []byte(body)}, p.refused)
		var e *platform.Error
		if !errors.As(err, &e) || e.Kind != c.want || e.RetryAfter != c.after {
			t.Errorf("%d %s: %v, want %s", c.status, c.reason, err, c.want)
		}
	}
	// A refusal of the last part that Google does not explain may be of a proxy.
	err := p.Client.Check(wire.Call{Posts: true}, wire.Answer{Status: 502}, p.refused)
	if platform.KindOf(err) != platform.Unknown {
		t.Errorf("502 of the last part: %v, want %s", err, platform.Unknown)
	}
}

func TestRefusalsOfComments(t *testing.T) {
	p := New(wire.Config{})
	for _, c := range []struct {
		status int
		reason string
		posts  bool
		want   platform.ErrorKind
		code   platform.Code
	}{
		{404, "parentCommentNotFound", true, platform.BadContent, platform.CodeCommentNotFound},
		{403, "commentsDisabled", true, platform.BadContent, platform.CodeUnsupported},
		{403, "forbidden", false, platform.BadContent, codeForeign},
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
			p.ofComments(c.posts))
		var e *platform.Error
		if !errors.As(err, &e) || e.Kind != c.want || e.Code != c.code {
			t.Errorf("%d %s: %v, want %s %s", c.status, c.reason, err, c.want, c.code)
		}
	}
}

// A token that was granted without the right makes no call.
func TestCommentsNeedTheirRight(t *testing.T) {
	p := New(wire.Config{})
	a := platform.Account{Token: platform.Token{Scopes: []string{"https://www.googleapis.com/auth/youtube.upload"}}}
	_, read := p.Comments(t.Context(), a, platform.Published{ID: "v"}, "")
	_, written := p.Reply(t.Context(), a, platform.Reply{})
	for _, err := range []error{read, written, p.HideComment(t.Context(), a, platform.Published{}, "c", true),
		p.DeleteComment(t.Context(), a, platform.Published{}, "c")} {
		var e *platform.Error
		if !errors.As(err, &e) || e.Kind != platform.Reconnect || e.Code != platform.CodeMissingPermission {
			t.Errorf("got %v", err)
		}
	}
}

func TestHowMuchASessionHas(t *testing.T) {
	for value, want := range map[string]int64{"": 0, "bytes=0-0": 1, "bytes=0-262143": 262144, "bytes=1-5": -1,
		"bytes=0-": -1, "0-5": -1, "bytes=0--7": -1} {
		a := wire.Answer{Header: map[string][]string{"Range": {value}}}
		n, err := offset(a)
		if want < 0 {
			if err == nil {
				t.Errorf("%q: %d, want an error", value, n)
			}
		} else if err != nil || n != want {
			t.Errorf("%q: %d, %v, want %d", value, n, err, want)
		}
	}
}
