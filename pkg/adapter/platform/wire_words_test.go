package platform_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// The words of a refusal, in the form of each platform.
func TestThePlatformsOwnWords(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"Meta": {`{"error":{"message":"(#100) x","code":100,"error_user_title":"T","error_user_msg":"The page is gone."}}`,
			"The page is gone."},
		"Meta without words for users": {`{"error":{"message":"Invalid parameter","code":100}}`, "Invalid parameter"},
		"X":                            {`{"detail":"You are not permitted.","title":"Forbidden","status":403}`, "You are not permitted."},
		"X, a wrong parameter": {`{"errors":[{"parameters":{"text":["x"]},"message":"The text is too long"}],` +
			`"title":"Invalid Request","detail":"One or more parameters was invalid."}`,
			"One or more parameters was invalid. The text is too long"},
		"LinkedIn":             {`{"status":403,"code":"ACCESS_DENIED","message":"Not enough permissions"}`, "Not enough permissions"},
		"TikTok":               {`{"error":{"code":"spam_risk","message":"Posted too much","log_id":"1"}}`, "Posted too much"},
		"TikTok, a code alone": {`{"error":{"code":"spam_risk_too_many_posts","message":""}}`, "spam_risk_too_many_posts"},
		"Pinterest":            {`{"code":40,"message":"Board not found."}`, "Board not found."},
		"YouTube": {`{"error":{"code":403,"message":"You have exceeded your <a href=\"/youtube/v3/x#quota\">quota</a>.",` +
			`"errors":[{"message":"You have exceeded your quota.","reason":"quotaExceeded"}]}}`,
			"You have exceeded your quota."},
		"VK": {`{"error":{"error_code":214,"error_msg":"Access to adding post denied: you can only add 50 posts a day",` +
			`"request_params":[{"key":"access_token","value":"secret"}]}}`,
			"Access to adding post denied: you can only add 50 posts a day"},
		"VK ID": {`{"error":"invalid_grant","error_description":"refresh token is expired"}`, "refresh token is expired"},
		"Telegram": {`{"ok":false,"error_code":400,"description":"Bad Request: expected \"</b>\", found \"</i>\""}`,
			`Bad Request: expected "</b>", found "</i>"`},
		"Bluesky":            {`{"error":"InvalidRequest","message":"blob too big"}`, "blob too big"},
		"Rutube":             {`{"detail":"Invalid token."}`, "Invalid token."},
		"Rutube, members":    {`{"title":["Too long.","Empty."],"category_id":["Unknown."]}`, "category_id: Unknown. title: Too long. title: Empty."},
		"Rutube, a login":    {`{"non_field_errors":["Unable to log in."]}`, "Unable to log in."},
		"a list":             {`["One.","Two.","One."]`, "One. Two."},
		"a name alone":       {`{"error":"invalid_grant"}`, "invalid_grant"},
		"HTML":               {`<html><h1>403 Forbidden</h1></html>`, ""},
		"nothing":            {``, ""},
		"no object":          {`7`, ""},
		"control characters": {`{"message":"a\u0000b\r\nc\u202e\u2066d\u200b"}`, "a b cd"},
		"tags":               {`{"message":"See <b>this</b> &amp; <script src=x>that</script>, 5 < 6"}`, "See this & that, 5 < 6"},
		"the token of the call": {`{"message":"The token token-0001-secret is wrong"}`,
			"The token [removed] is wrong"},
		"the token of the call in an address": {`{"message":"GET /x?y=pass%26word is wrong"}`, "GET /x?y=[removed] is wrong"},
		"a token in a parameter":              {`{"message":"Bad access_token=abc123 given"}`, "Bad [removed] given"},
		"a long token":                        {`{"message":"Malformed eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.e30.abc"}`, "Malformed [removed]"},
	} {
		client, address := serve(t, status(http.StatusBadRequest, c.body))
		err := client.JSON(t.Context(), wire.Call{Method: http.MethodGet, URL: address, Bearer: token,
			Secrets: []platform.Secret{"pass&word"}}, nil, nil)
		var e *platform.Error
		if !errors.As(err, &e) || e.Words != c.want {
			t.Errorf("%s: %q, want %q", name, e.Words, c.want)
		}
	}
}

func TestWordsAreBounded(t *testing.T) {
	for _, body := range []string{`{"message":"` + strings.Repeat("очень ", 9000) + `"}`,
		`{"errors":[` + strings.Repeat(`{"message":"Once."},`, 900) + `{"message":"Twice."}]}`,
		`{"title":["` + strings.Repeat(`x","y","`, 900) + `"]}`} {
		client, address := serve(t, status(http.StatusBadRequest, body))
		err := client.JSON(t.Context(), wire.Call{Method: http.MethodGet, URL: address}, nil, nil)
		var e *platform.Error
		if !errors.As(err, &e) || e.Words == "" || utf8.RuneCountInString(e.Words) > platform.MaxWords {
			t.Errorf("%d characters: %q", utf8.RuneCountInString(e.Words), e.Words)
		}
	}
}
