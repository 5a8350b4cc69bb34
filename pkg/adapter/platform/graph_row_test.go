package platform_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/graph"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

var boxed = graph.Refusals{Label: "Instagram", Rows: graph.ContainerAnswers}

// Each row has a source and a sentence where its outcome has none, and no answer has two rows.
func TestRows(t *testing.T) {
	seen := map[string]bool{}
	for _, row := range slices.Concat(graph.Common, graph.ContainerAnswers) {
		key := fmt.Sprint(row.Code, row.To, row.Subcode)
		if seen[key] {
			t.Errorf("two rows for %s", key)
		}
		seen[key] = true
		if row.Source == "" || row.Outcome == 0 || row.Code == 0 && row.Subcode == 0 || row.Outcome.String() == "" {
			t.Errorf("%+v is not complete", row)
		}
		if (row.Outcome == graph.Refused || row.Outcome == graph.Unclear) && !strings.HasSuffix(row.Message, ".") {
			t.Errorf("%+v has no sentence", row)
		}
		if row.Outcome == graph.Ended && row.As == "" || row.Outcome == graph.Spent && row.After == 0 {
			t.Errorf("%+v lacks a code or a time", row)
		}
	}
}

// What ends an account concerns its token or the right to publish, and is in this list.
func TestWhatEndsAnAccount(t *testing.T) {
	var got []string
	for _, row := range boxed.Ending() {
		name := fmt.Sprintf("%d/%d", row.Code, row.Subcode)
		if row.Bare {
			name = fmt.Sprintf("%d..%d without a subcode", row.Code, max(row.Code, row.To))
		}
		got = append(got, name+" "+string(row.As))
	}
	slices.Sort(got)
	want := []string{"10..10 without a subcode missing_permission", "102/0 needs_reconnect", "190/0 needs_reconnect",
		"190/458 needs_reconnect", "190/459 needs_reconnect", "190/460 needs_reconnect", "190/464 needs_reconnect",
		"190/490 needs_reconnect", "190/492 needs_reconnect", "200..299 without a subcode missing_permission",
		"25/2207050 needs_reconnect"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// The row of the subcode counts more than that of the code, and one code more than a range.
func TestTheRowOfAnAnswer(t *testing.T) {
	for _, c := range []struct {
		code, subcode int
		want          graph.Outcome
	}{{4, 0, graph.Limited}, {4, 2207051, graph.Unclear}, {4, 1504022, graph.Limited}, {1, 2207057, graph.Refused},
		{1, 99, graph.Passing},
		{368, 0, graph.Spent}, {368, 1346003, graph.Refused}, {999, 1346003, 0}, {299, 0, graph.Ended}, {299, 5, 0},
		{300, 0, 0},
		{80008, 0, graph.Limited}, {80015, 0, 0}, {24, 4279009, graph.Renew}, {100, 4279009, 0}, {24, 0, 0}, {25, 0, 0},
		{190, 12345, graph.Ended}} {
		var got graph.Outcome
		if row := boxed.Find(c.code, c.subcode); row != nil {
			got = row.Outcome
		}
		if got != c.want {
			t.Errorf("%d/%d: %q, want %q", c.code, c.subcode, got, c.want)
		}
	}
}

// The time to wait is the one that the platform names.
func TestTheTimeToWait(t *testing.T) {
	const body = `{"error":{"code":80002,"message":"a"}}`
	for name, c := range map[string]struct {
		header http.Header
		want   time.Duration
	}{
		"no header": {nil, 5 * time.Minute},
		"minutes until access": {http.Header{"X-Business-Use-Case-Usage": {
			`{"1":[{"type":"instagram","estimated_time_to_regain_access":3}],` +
				`"2":[{"estimated_time_to_regain_access":0},{"estimated_time_to_regain_access":28}]}`}}, 28 * time.Minute},
		"seconds":              {http.Header{"Retry-After": {"45"}}, 45 * time.Second},
		"both":                 {http.Header{"Retry-After": {"45"}, "X-Business-Use-Case-Usage": {`{"1":[{"estimated_time_to_regain_access":1}]}`}}, time.Minute},
		"the use of an hour":   {http.Header{"X-App-Usage": {`{"call_count":10,"total_time":150,"total_cputime":3}`}}, 20 * time.Minute},
		"less than the limit":  {http.Header{"X-App-Usage": {`{"call_count":10}`}}, 5 * time.Minute},
		"a header of nonsense": {http.Header{"X-App-Usage": {"x"}, "X-Business-Use-Case-Usage": {"[]"}}, 5 * time.Minute},
		"too long a time": {http.Header{"X-Business-Use-Case-Usage": {
			`{"1":[{"estimated_time_to_regain_access":1e300}]}`}}, 24 * time.Hour},
	} {
		a := wire.Answer{Status: http.StatusBadRequest, Header: c.header, Body: []byte(body)}
		if e := boxed.Classify(true)(a); e == nil || e.Kind != platform.Retry || e.RetryAfter != c.want {
			t.Errorf("%s: %v after %v, want %v", name, e, e.RetryAfter, c.want)
		}
	}
}

// A token endpoint ends a connection with status 400 or 401 and a code of the token alone.
func TestTokenEndpoint(t *testing.T) {
	of := func(code, subcode int) string {
		return fmt.Sprintf(`{"error":{"code":%d,"error_subcode":%d,"type":"OAuthException"}}`, code, subcode)
	}
	const old = `{"error_type":"OAuthException","code":400,"error_message":"Matching code was not found"}`
	for _, c := range []struct {
		status      int
		body        string
		token, code platform.ErrorKind
	}{
		{400, of(190, 463), platform.Reconnect, platform.Reconnect},
		{401, of(190, 0), platform.Reconnect, platform.Reconnect},
		{401, of(102, 0), platform.Reconnect, platform.Reconnect},
		{400, of(100, 36009), platform.Retry, platform.Reconnect},
		{400, of(100, 0), platform.Retry, platform.Reconnect},
		{400, old, platform.Retry, platform.Reconnect},
		{500, of(190, 463), platform.Retry, platform.Retry}, {503, of(190, 0), platform.Retry, platform.Retry},
		{429, of(190, 0), platform.Retry, platform.Retry}, {403, of(190, 0), platform.Retry, platform.Retry},
		{500, old, platform.Retry, platform.Retry}, {500, of(100, 36009), platform.Retry, platform.Retry},
		{400, of(1, 0), platform.Retry, platform.Retry}, {400, of(4, 0), platform.Retry, platform.Retry},
		{400, of(10, 0), platform.Retry, platform.Retry}, {400, of(200, 0), platform.Retry, platform.Retry},
		{400, of(101, 0), platform.Retry, platform.Retry}, {400, of(452, 4279019), platform.Retry, platform.Retry},
		{400, `<html>`, platform.Retry, platform.Retry}, {401, ``, platform.Retry, platform.Retry},
		{400, `{"error":"invalid_grant"}`, platform.Retry, platform.Retry}, {503, `{}`, platform.Retry, platform.Retry},
	} {
		a := wire.Answer{Status: c.status, Body: []byte(c.body)}
		for name, got := range map[string]*platform.Error{"token": boxed.Token(a), "code": boxed.Code(a)} {
			want := c.token
			if name == "code" {
				want = c.code
			}
			if got == nil || got.Kind != want {
				t.Errorf("%d %s: the %s is %v, want %s", c.status, c.body, name, got, want)
			}
		}
	}
	if e := boxed.Token(wire.Answer{Status: 200, Body: []byte(`{"access_token":"a"}`)}); e != nil {
		t.Errorf("a token: %v", e)
	}
}

// A list goes on at the cursor, or at that of the address of the next page, and ends without one.
func TestCursor(t *testing.T) {
	var p graph.Paging
	p.Cursors.After = "a"
	if p.Cursor() != "" {
		t.Errorf("the last page has the cursor %q", p.Cursor())
	}
	if p.Next = "https://graph.facebook.com/1?after=b&access_token=c"; p.Cursor() != "a" {
		t.Errorf("the cursor is %q", p.Cursor())
	}
	if p.Cursors.After = ""; p.Cursor() != "b" {
		t.Errorf("the cursor of the address is %q", p.Cursor())
	}
}
