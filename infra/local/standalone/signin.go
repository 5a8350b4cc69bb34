package standalone

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"net/http"

	"github.com/aws/aws-lambda-go/events"

	provider "github.com/content-automation/api/infra/local/identity"
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/auth/signin"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/service/console"
)

const (
	// identityPath is the prefix of the paths of the identity provider.
	identityPath = "/_identity"
	// identityClient is the id of the account area at the provider.
	identityClient = "console"
)

// The names of the secrets of the identity provider.
const (
	identityKey      = "identity-key"
	identityPassword = "identity-password"
	identityState    = "identity-providers"
	identityPool     = "local-local"
)

// signInSettings describe the service's own identity provider.
func (s *Service) signInSettings() signin.Settings {
	issuer := s.BaseURL + identityPath
	// The service itself may not reach its own name, such as in a container.
	inside := s.internal + identityPath
	return signin.Settings{Issuer: issuer, Pool: identityPool, ClientID: identityClient, KeysURL: inside + "/jwks.json",
		AuthorizeURL: issuer + "/oauth2/authorize", TokenURL: inside + "/token", LogoutURL: issuer + "/logout"}
}

// Password returns the password of all users.
func (s *Service) Password() string {
	if password := s.Kept(identityPassword); password != "" {
		return password
	}
	password := rand.Text()[:12]
	s.Keep(identityPassword, password)
	return password
}

// outside calls the providers of customers. An empty list of ports means 443, or any on this machine.
type outside struct{ *safehttp.Client }

// RoundTrip implements http.RoundTripper.
func (o outside) RoundTrip(req *http.Request) (*http.Response, error) { return o.Do(req) }

// newIdentity returns the service's own identity provider. Its key outlives restarts, as sessions do.
func (s *Service) newIdentity() *provider.Provider {
	return provider.New(provider.Options{
		Issuer: s.BaseURL + identityPath, ClientID: identityClient,
		Redirects: []string{s.BaseURL + "/auth/callback"}, Logouts: []string{s.BaseURL + "/auth/signed-out"},
		Users: provider.Users(), Password: s.Password, Key: s.signingKey, Now: s.now,
		Outside: outside{safehttp.New(safehttp.Options{AllowLoopback: true, RootCAs: s.options.ProviderRoots,
			MaxBody: 1 << 20})},
		Load: func() string { return s.Kept(identityState) }, Save: func(text string) { s.Keep(identityState, text) },
	})
}

func (s *Service) signingKey() (*rsa.PrivateKey, error) {
	if kept, err := base64.StdEncoding.DecodeString(s.Kept(identityKey)); err == nil && len(kept) > 0 {
		return x509.ParsePKCS1PrivateKey(kept)
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err == nil {
		s.Keep(identityKey, base64.StdEncoding.EncodeToString(x509.MarshalPKCS1PrivateKey(key)))
	}
	return key, err
}

// newConsole returns the function of the account area. Parsing its pages is postponed to the first request.
func (s *Service) newConsole(e area.Env) function {
	documents := console.NewDocumentClient(true, s.options.ProviderRoots)
	handle := console.Lambda(func(string) (http.Handler, error) {
		return console.Open(console.Wiring{DB: e.DB, Seal: e.Seal, SignIn: s.options.SignIn, URL: s.BaseURL,
			API: cmp.Or(s.options.Inside.URL, s.internal), HTTP: s.options.Inside.HTTP, Now: s.now,
			Documents: documents,
			Audit:     s.tables.open(AuditTable, s.now), Region: s.options.Region,
			Pool: s.people, Resolver: s.options.Resolver, Mails: true})
	})
	return func(ctx context.Context, in events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
		return handle(ctx, in)
	}
}

// InviteUsers makes the users of the provider people of an account.
func (s *Service) InviteUsers(ctx context.Context, account tenant.Account) error {
	return provider.Invite(ctx, s.db, account, s.now)
}
