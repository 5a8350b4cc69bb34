package platform_test

import (
	"fmt"
	"testing"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/instagram"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		code, subcode int
		transient     bool
		read, post    platform.ErrorKind // of a call that makes no post, and of one that may
	}{
		{190, 463, false, platform.Reconnect, platform.Reconnect},
		{102, 0, false, platform.Reconnect, platform.Reconnect},
		{10, 0, false, platform.Reconnect, platform.Reconnect},
		{200, 0, false, platform.Reconnect, platform.Reconnect},
		{4, 0, false, platform.Retry, platform.Retry},
		{17, 0, false, platform.Retry, platform.Retry},
		{4, 2207051, false, platform.Unclear, platform.Unclear},
		{-1, 2207001, false, platform.Retry, platform.Unknown},
		{-2, 2207003, false, platform.Retry, platform.Unknown},
		{-1, 2207032, false, platform.Retry, platform.Unknown},
		{1, 0, false, platform.Retry, platform.Unknown},
		{2, 0, true, platform.Retry, platform.Unknown},
		{100, 0, true, platform.Retry, platform.Unknown},
		{24, 2207008, false, platform.Restart, platform.Restart},
		{-1, 2207020, false, platform.Restart, platform.Restart},
		{-1, 2207053, false, platform.Restart, platform.Restart},
		{9, 2207042, false, platform.Quota, platform.Quota},
		{9007, 2207027, false, platform.Retry, platform.Retry},
		{36000, 2207004, false, platform.BadContent, platform.BadContent},
		{36001, 2207005, false, platform.BadContent, platform.BadContent},
		{36003, 2207009, false, platform.BadContent, platform.BadContent},
		{36004, 2207010, false, platform.BadContent, platform.BadContent},
		{352, 2207026, false, platform.BadContent, platform.BadContent},
		{100, 2207028, false, platform.BadContent, platform.BadContent},
		{100, 2207057, false, platform.BadContent, platform.BadContent},
		{100, 36001, false, platform.BadContent, platform.BadContent},
		{100, 36003, false, platform.BadContent, platform.BadContent},
		{368, 0, false, platform.Quota, platform.Quota},
		{100, 33, false, platform.Unclear, platform.Unclear},
		{4, 0, true, platform.Retry, platform.Retry},
		{25, 2207050, false, platform.Reconnect, platform.Reconnect},
		{9004, 2207052, false, platform.Unclear, platform.Unclear},
		{10, 1, false, platform.Unclear, platform.Unclear}, // a subcode may concern one post
		{200, 1, false, platform.Unclear, platform.Unclear},
		{200, 0, true, platform.Retry, platform.Unknown},
		{80002, 0, false, platform.Retry, platform.Retry},
		{98765, 0, false, platform.Unclear, platform.Unclear},
	} {
		body := fmt.Sprintf(`{"error":{"message":"code 190","code":%d,"error_subcode":%d,"is_transient":%v}}`, c.code,
			c.subcode, c.transient)
		for posts, want := range map[bool]platform.ErrorKind{false: c.read, true: c.post} {
			if e := instagram.Refusals.Classify(posts)(wire.Answer{Status: 400, Body: []byte(body)}); e == nil ||
				e.Kind != want {
				t.Errorf("%d/%d, posting %v: %v, want %s", c.code, c.subcode, posts, e, want)
			}
		}
	}
	for _, body := range []string{`{"id":"1"}`, `<html>`, ``, `{"error":"text"}`} {
		if e := instagram.Refusals.Classify(true)(wire.Answer{Status: 200, Body: []byte(body)}); e != nil {
			t.Errorf("%s: %v, which is no refusal of Instagram", body, e)
		}
	}
}
