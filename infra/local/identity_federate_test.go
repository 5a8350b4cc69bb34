package main_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/local/identity"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/record/connection"
)

const metadata = `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://acme.example">
<IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
<SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://acme.example/sso"/>
</IDPSSODescriptor></EntityDescriptor>`

// started returns the provider of a run of the service. Kept is what outlives the run.
func started(kept *string) *identity.Provider {
	return identity.New(identity.Options{Issuer: "http://localhost:8080/_identity", ClientID: "console", Now: time.Now,
		Redirects: []string{"http://localhost:8080/auth/callback"}, Outside: http.DefaultTransport,
		Load: func() string { return *kept }, Save: func(text string) { *kept = text }})
}

func TestProvidersOfCustomersOutliveARestart(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(metadata))
	}))
	defer server.Close()
	var kept string
	p := started(&kept)
	for name, of := range map[string]connection.Provider{"one": {Kind: connection.SAML, Metadata: metadata},
		"two": {Kind: connection.SAML, MetadataURL: server.URL}} {
		if err := p.SetProvider(t.Context(), name, of); err != nil {
			t.Fatal(err)
		}
	}
	if got := p.Names(); len(got) != 0 {
		t.Errorf("people can choose %v before they are offered", got)
	}
	if err := p.OfferAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	again := started(&kept)
	if got := again.Names(); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("%v", got)
	}
	const request = "/_identity/oauth2/authorize?client_id=console&redirect_uri=http://localhost:8080/auth/callback" +
		"&response_type=code&code_challenge=x&code_challenge_method=S256&state=s&identity_provider="
	for name, want := range map[string]string{"one": "https://acme.example/sso?SAMLRequest=",
		"three": "http://localhost:8080/auth/callback?error=invalid_request"} {
		w := httptest.NewRecorder()
		again.ServeHTTP(w, httptest.NewRequest(http.MethodGet, request+name, nil))
		if to := w.Header().Get("Location"); w.Code != http.StatusFound || !strings.HasPrefix(to, want) {
			t.Errorf("%s: %d %s", name, w.Code, to)
		}
	}
	for range 2 {
		if err := again.RemoveProvider(t.Context(), "one"); err != nil {
			t.Error(err)
		}
	}
	if got := started(&kept).Names(); !slices.Equal(got, []string{"two"}) {
		t.Errorf("after the removal: %v", got)
	}
}

func TestAProviderThatCannotBeReadIsRefused(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	var kept string
	p := started(&kept)
	for name, of := range map[string]connection.Provider{
		"no XML": {Kind: connection.SAML, Metadata: "EntityDescriptor"},
		"no provider": {Kind: connection.SAML, Metadata: strings.ReplaceAll(metadata, "IDPSSODescriptor",
			"SPSSODescriptor")},
		"no metadata there": {Kind: connection.SAML, MetadataURL: server.URL},
		"no issuer there":   {Kind: connection.OIDC, Issuer: server.URL, ClientID: "x", ClientSecret: "y"},
	} {
		if err := p.SetProvider(t.Context(), "one", of); errs.CodeOf(err) != errs.ValidationFailed {
			t.Errorf("%s: %v", name, err)
		}
	}
	if kept != "" || len(p.Names()) != 0 {
		t.Errorf("a provider was kept: %s", kept)
	}
}
