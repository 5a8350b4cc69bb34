package platform_test

import (
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/tiktok"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

func TestRefusalsOnTikTok(t *testing.T) {
	for code, want := range map[string]struct {
		kind  platform.ErrorKind
		code  platform.Code
		after time.Duration
	}{
		"access_token_invalid":    {platform.Expired, platform.CodeTokenExpired, 0},
		"scope_not_authorized":    {platform.Reconnect, platform.CodeMissingPermission, 0},
		"scope_permission_missed": {platform.Reconnect, platform.CodeMissingPermission, 0},
		"rate_limit_exceeded":     {platform.Retry, platform.CodeRateLimited, time.Minute},
		"internal_error":          {platform.Retry, platform.CodePlatformUnavailable, 0},
		"spam_risk_too_many_posts": {platform.Quota, platform.CodeQuotaReached,
			24 * time.Hour},
		"spam_risk_user_banned_from_posting":                 {platform.BadContent, platform.CodeContentPolicy, 0},
		"privacy_level_option_mismatch":                      {platform.BadContent, platform.CodeInvalidOption, 0},
		"url_ownership_unverified":                           {platform.BadContent, platform.CodeMediaRefused, 0},
		"unaudited_client_can_only_post_to_private_accounts": {platform.BadContent, platform.CodeInvalidOption, 0},
		"invalid_params":                                     {platform.BadContent, platform.CodeContentRefused, 0},
	} {
		answer := wire.Answer{Status: 400,
			Body: []byte(`{"data":{},"error":{"code":"` + code + `","message":"access_token_invalid"}}`)}
		if e := tiktok.New(wire.Config{}).Classify(false)(answer); e == nil || e.Kind != want.kind ||
			e.Code != want.code ||
			e.RetryAfter != want.after {
			t.Errorf("%s: %v, want %s %s", code, e, want.kind, want.code)
		}
		posting := want.kind
		if code == "internal_error" {
			posting = platform.Unknown
		}
		if e := tiktok.New(wire.Config{}).Classify(true)(answer); e == nil || e.Kind != posting {
			t.Errorf("%s of a post: %v, want %s", code, e, posting)
		}
	}
	for _, body := range []string{`{"data":{},"error":{"code":"ok"}}`, `<html>`, ``} {
		if e := tiktok.New(wire.Config{}).Classify(true)(wire.Answer{Status: 200, Body: []byte(body)}); e != nil {
			t.Errorf("%s: %v, which is no refusal of TikTok", body, e)
		}
	}
}

func TestChunks(t *testing.T) {
	p := tiktok.New(wire.Config{})
	for bytes, want := range map[int64][2]int64{
		1: {1, 1}, 5 << 20: {5 << 20, 1}, 64e6: {64e6, 1}, 64e6 + 1: {32e6, 2}, 64 << 20: {32e6, 2},
		100 << 20: {32e6, 3}, 4 << 30: {32e6, 134},
	} {
		length, count := p.Chunks(bytes)
		if length != want[0] || count != want[1] {
			t.Errorf("%d bytes: %d chunks of %d, want %d of %d", bytes, count, length, want[1], want[0])
		}
		if last := bytes - (count-1)*length; last < 1 || last > 64e6 || count > 1 &&
			(length < 5<<20 || last < length) {
			t.Errorf("%d bytes: the last chunk has %d", bytes, last)
		}
	}
}
