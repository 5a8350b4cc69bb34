package adapter_test

import (
	"context"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/crm"
	"github.com/content-automation/api/pkg/adapter/crm/registry"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
	"github.com/content-automation/api/testdata/platforms/control"
)

// portals answers for the authorization server with a token of one portal, and notes the hosts that are called.
type portals struct {
	endpoint string
	called   []string
}

func (p *portals) Do(r *http.Request) (*http.Response, error) {
	p.called = append(p.called, r.URL.Hostname())
	answer := `{"result":[{"CURRENCY":"EUR","BASE":"Y"}]}`
	if r.URL.Hostname() == "oauth.bitrix24.tech" {
		answer = `{"access_token":"A","refresh_token":"R","expires_in":3600,"member_id":"m1","client_endpoint":"` +
			p.endpoint + `"}`
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(answer)), Request: r}, nil
}

// The token of a portal goes to that portal alone: whoever begins an authorization names its host.
func TestATokenGoesToItsPortalAlone(t *testing.T) {
	now := func() time.Time { return time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC) }
	for _, c := range []struct {
		named, endpoint string
		good            bool
	}{
		{"acme.bitrix24.ru", "https://acme.bitrix24.ru/rest/", true},
		{"crm.acme.example", "https://crm.acme.example/rest/", true},
		{"acme.bitrix24.ru", "https://ACME.bitrix24.ru/rest/", true},
		{"portal.evil.example", "https://acme.bitrix24.ru/rest/", false},
		{"acme.bitrix24.ru", "https://other.bitrix24.ru/rest/", false},
		{"acme.bitrix24.ru", "http://acme.bitrix24.ru/rest/", false},
		{"acme.bitrix24.ru", "https://acme.bitrix24.ru:8443/rest/", false},
		{"acme.bitrix24.ru", "https://acme.bitrix24.ru@evil.example/rest/", false},
		{"portal.evil.example", "", false},
	} {
		at := &portals{endpoint: c.endpoint}
		a, _ := registry.Live("bitrix24", wire.Config{HTTP: at, Now: now, App: func(context.Context) (platform.App, error) {
			return platform.App{ID: "app", Secret: "secret"}, nil
		}})
		account, err := a.Connect(t.Context(), crm.Grant{Code: "code", Query: map[string][]string{"portal": {c.named}}})
		if (err == nil) != c.good || !c.good && platform.KindOf(err) != platform.Reconnect {
			t.Errorf("%s with %q: %v", c.named, c.endpoint, err)
		}
		if !c.good && !slices.Equal(at.called, []string{"oauth.bitrix24.tech"}) {
			t.Errorf("%s with %q: the hosts %v were called", c.named, c.endpoint, at.called)
		}
		if !c.good {
			continue
		}
		at.endpoint = "https://portal.evil.example/rest/"
		if _, err := a.Refresh(t.Context(), account); platform.KindOf(err) != platform.Reconnect {
			t.Errorf("%s moves to another host: %v", c.named, err)
		}
	}
}

// Only an answer about the token ends an integration. What an outage, a proxy or a refusal of the application answers
// is tried again.
func TestWhatEndsAnIntegration(t *testing.T) {
	type answer struct {
		status int
		body   string
	}
	for name, own := range map[string]struct{ ends, passes []answer }{
		"hubspot": {[]answer{
			{400, `{"error":"invalid_grant","error_description":"refresh token is invalid, expired or revoked"}`},
			{400, `{"status":"BAD_REFRESH_TOKEN","message":"missing or unknown refresh token"}`},
			{400, `{"status":"BAD_AUTH_CODE","message":"missing or unknown auth code"}`},
		}, []answer{
			{400, `{"status":"BAD_CLIENT_ID","message":"missing or unknown client id"}`},
			{400, `{"status":"BAD_CLIENT_SECRET","error":"invalid_grant"}`},
			{401, `{"error":"invalid_client","error_description":"client secret does not match the refresh token"}`},
			{400, `{"error":"invalid_request","error_description":"missing refresh token"}`},
			{400, `{"status":"error","message":"Any of the listed authentication credentials are missing"}`},
		}},
		"amocrm": {[]answer{
			{401, `{"hint":"Token has been revoked","title":"Некорректный запрос","status":401}`},
			{400, `{"hint":"Cannot decrypt the refresh token","title":"Некорректный запрос"}`},
			{400, `{"hint":"Authorization code has expired"}`},
		}, []answer{
			{401, `{"hint":"Token is not linked to client","title":"Некорректный запрос","status":401}`},
			{400, "{\"hint\":\"Check the `refresh_token` parameter\"}"},
			{400, "{\"hint\":\"Check the `code` parameter\"}"},
			// amocrm-api-php #235, #563: the application, and the address of the service.
			{401, `{"title":"Некорректный клиент","status":401,"detail":"Авторизация клиента не прошла"}`},
			{403, `{"title":"Forbidden","status":403,"detail":"IP blocked"}`},
			{402, `{"title":"Payment Required","status":402}`},
		}},
		"bitrix24": {[]answer{
			{400, `{"error":"invalid_grant","error_description":"Invalid refresh token"}`},
			{401, `{"error":"invalid_grant"}`},
		}, []answer{{400, `{"error":"invalid_client"}`}, {400, `{"error":"invalid_request"}`}}},
	} {
		for _, status := range []int{403, 404, 429, 500, 503} {
			own.passes = append(own.passes, answer{status, own.ends[0].body})
		}
		own.passes = append(own.passes, answer{400, `{}`}, answer{400, "<html>"}, answer{401, `{}`}, answer{408, `{}`})
		for i, c := range slices.Concat(own.ends, own.passes) {
			f := open(t, name)
			account, err := f.Connect(t.Context(), f.grant())
			if err != nil {
				t.Fatal(err)
			}
			f.fake.Say(control.Answer{Call: regexp.MustCompile("oauth"), Times: -1, Status: c.status, Body: c.body})
			_, err = f.Refresh(t.Context(), account)
			if want := i < len(own.ends); err == nil || platform.Ended(err) != want {
				t.Errorf("%s: %d %s: %v", name, c.status, c.body, err)
			}
		}
	}
}

// HubSpot has ended a token only where its refusal names the token. After others, the token has to be revoked again.
func TestWhatEndsATokenOfHubSpot(t *testing.T) {
	for _, c := range []struct {
		status  int
		body    string
		revoked bool
	}{
		{200, "", true}, {400, `{"status":"BAD_REFRESH_TOKEN","message":"missing or unknown refresh token"}`, true},
		{400, `{"status":"BAD_CLIENT_ID","message":"missing or unknown client id"}`, false},
		{400, `{"status":"error","message":"token_type_hint is not known"}`, false},
		{401, `{"error":"invalid_client"}`, false}, {401, `{}`, false}, {403, `{}`, false}, {404, `{}`, false},
	} {
		f := open(t, "hubspot")
		account, err := f.Connect(t.Context(), f.grant())
		if err != nil {
			t.Fatal(err)
		}
		f.fake.Say(control.Answer{Call: regexp.MustCompile("/revoke$"), Status: c.status, Body: c.body})
		if err := f.Revoke(t.Context(), account); (err == nil) != c.revoked {
			t.Errorf("%d %s: %v", c.status, c.body, err)
		}
	}
}
