package adapter_test

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/crm"
	"github.com/content-automation/api/pkg/adapter/crm/registry"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
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
