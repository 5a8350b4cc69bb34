// Package registry returns providers by their names in the catalog. Test keys get the
// sandbox for every name; live keys get the provider itself, if the stack has it
// configured. Captions, which the service itself makes, are the same for both.
//
// Providers are built lazily, and building one makes no call: providers that a function does not use do not slow down
// its start. Start with Registry.For.
package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/bedrock"
	"github.com/content-automation/api/pkg/adapter/provider/elevenlabs"
	"github.com/content-automation/api/pkg/adapter/provider/fal"
	"github.com/content-automation/api/pkg/adapter/provider/heygen"
	"github.com/content-automation/api/pkg/adapter/provider/polly"
	"github.com/content-automation/api/pkg/adapter/provider/replicate"
	"github.com/content-automation/api/pkg/adapter/provider/sandbox"
	"github.com/content-automation/api/pkg/adapter/provider/wire"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/cloud/secret"
)

// Config has the dependencies of all providers.
type Config struct {
	// Configured are the providers that live keys may use.
	Configured provider.Configured
	// AWS configures the clients of AWS.
	AWS aws.Config
	// Secret reads the secret that holds the credentials. It may be nil if no provider with credentials is configured.
	Secret func(context.Context) (string, error)
	// Bucket is the bucket for the results of AWS's providers, and Objects reads from it.
	Bucket  string
	Objects provider.Objects
	// Endpoint, on the local system, is the URL of the fakes of all providers. Each answers below its name. If it is
	// empty, the providers themselves are called.
	Endpoint string
	// StandIns are the text models that take the place of those that a provider refuses to the account.
	StandIns provider.StandIns
	// HTTP is the transport of calls to providers. If it is nil, the registry makes one.
	HTTP http.RoundTripper
	// Now is the clock.
	Now func() time.Time
}

// Registry finds providers. It is safe for concurrent use.
type Registry struct {
	cfg     Config
	secrets *Credentials

	mu        sync.Mutex
	providers map[string]provider.Provider
}

// New makes a registry. It makes each provider when it is asked for first.
func New(cfg Config) *Registry {
	if cfg.HTTP == nil {
		cfg.HTTP = newTransport()
	}
	return &Registry{
		cfg:       cfg,
		secrets:   NewCredentials(cfg.Secret, cfg.Now),
		providers: map[string]provider.Provider{},
	}
}

// Configured reports whether live keys may use the provider of that name.
func (r *Registry) Configured(name string) bool { return r.cfg.Configured.Has(name) }

// For returns the provider of a name for work in a mode, test or live. Its error has the code provider_unavailable, and
// is final: this stack does not offer the provider.
func (r *Registry) For(name string, mode tenant.Mode) (provider.Provider, error) {
	if tenant.Mode(mode) == tenant.Test {
		return r.get(sandbox.Name, func(r *Registry) provider.Provider { return sandbox.New(r.cfg.Now) }), nil
	}
	build, known := builders[name]
	if tenant.Mode(mode) != tenant.Live || !known || !r.Configured(name) {
		return nil, errs.New(errs.ProviderUnavailable, "The provider %q is not set up here for %s keys.", name, mode)
	}
	return r.get(name, build), nil
}

func (r *Registry) get(name string, build func(*Registry) provider.Provider) provider.Provider {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.providers[name]
	if p == nil {
		p = build(r)
		r.providers[name] = p
	}
	return p
}

// builders make the providers, by the names that the catalog has for them.
var builders = map[string]func(*Registry) provider.Provider{
	bedrock.Name: func(r *Registry) provider.Provider {
		return bedrock.New(bedrock.Config{
			AWS: r.cfg.AWS, Endpoint: r.at(bedrock.Name), Bucket: r.cfg.Bucket,
			Objects:    r.cfg.Objects,
			Everywhere: r.cfg.Configured.Has(provider.BedrockEverywhere), StandIns: r.cfg.StandIns,
		})
	},
	elevenlabs.Name: func(r *Registry) provider.Provider { return elevenlabs.New(r.wire(elevenlabs.Name)) },
	fal.Name:        func(r *Registry) provider.Provider { return fal.New(r.wire(fal.Name)) },
	heygen.Name:     func(r *Registry) provider.Provider { return heygen.New(r.wire(heygen.Name)) },
	polly.Name: func(r *Registry) provider.Provider {
		return polly.New(polly.Config{
			AWS: r.cfg.AWS, Endpoint: r.at(polly.Name), Bucket: r.cfg.Bucket,
			Objects: r.cfg.Objects,
		})
	},
	replicate.Name: func(r *Registry) provider.Provider { return replicate.New(r.wire(replicate.Name)) },
}

// wire returns the configuration of a provider with a credential.
func (r *Registry) wire(name string) wire.Config {
	return wire.Config{
		HTTP: r.client(), BaseURL: r.at(name), Key: r.secrets.Key(name), Now: r.cfg.Now,
		// The fakes' files are on this machine. Those of providers never are.
		Files: wire.NewFiles(safehttp.Options{AllowLoopback: r.cfg.Endpoint != ""}),
	}
}

// client returns the HTTP client of a provider with a credential. If the provider refuses the credential, the secret is
// read again before the next call.
func (r *Registry) client() *http.Client {
	return &http.Client{Transport: forgetful{r}}
}

const (
	// keepIdle is the time for which an idle connection is kept. A function may be frozen at any time, and an older
	// connection is more likely to be dead when it continues.
	keepIdle = 30 * time.Second
	// pingAfter detects HTTP/2 connections that have died.
	pingAfter = 5 * time.Second
)

// newTransport makes the transport of calls to providers.
func newTransport() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.IdleConnTimeout = keepIdle
	t.HTTP2 = &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingAfter}
	return t
}

// forgetful is a transport that reports refused credentials.
type forgetful struct{ r *Registry }

func (t forgetful) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.r.cfg.HTTP.RoundTrip(req)
	if err == nil && resp.StatusCode == http.StatusUnauthorized {
		t.r.secrets.Forget(req.Context())
	}
	return resp, err
}

// at returns the URL of a provider's fake, or an empty one if there is none.
func (r *Registry) at(name string) string {
	if r.cfg.Endpoint == "" {
		return ""
	}
	return r.cfg.Endpoint + "/" + name
}

// member returns the name of the one member that the credential of each provider has.
// Providers without one use the function's own role.
func member() map[string]string {
	all := map[string]string{}
	for _, r := range provider.AllRows() {
		if r.Credential != "" {
			all[r.Name] = r.Credential
		}
	}
	return all
}

// ExampleCredentials is a document with a placeholder for each credential.
func ExampleCredentials() string {
	var parts []string
	for _, name := range CredentialProviders() {
		parts = append(parts, fmt.Sprintf(`%q: {%q: "…"}`, name, member()[name]))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// CredentialProviders are the names of the providers that need a credential.
func CredentialProviders() []string { return slices.Sorted(maps.Keys(member())) }

// errUnreadable has no cause, because the unreadable text may be a credential.
var errUnreadable = errors.New(`the secret is not a JSON object of the form {"<provider>": {"<member>": "…"}}`)

// ParseCredentials returns the credentials in a secret's value, by provider. It ignores invalid members, so that one
// mistake does not disable all providers.
func ParseCredentials(value string) (map[string]Secret, error) {
	var document map[string]json.RawMessage
	if err := json.Unmarshal([]byte(value), &document); err != nil {
		return nil, errUnreadable
	}
	found := map[string]Secret{}
	for name, key := range member() {
		var members map[string]any
		if json.Unmarshal(document[name], &members) != nil {
			continue
		}
		if text, ok := members[key].(string); ok && strings.TrimSpace(text) != "" {
			found[name] = Secret{strings.TrimSpace(text)}
		}
	}
	return found, nil
}

// CheckCredentials refuses a value that is not exactly in the expected form, for the operator who is about to store it.
// Its errors do not reveal the credentials.
func CheckCredentials(value string) error {
	var document map[string]map[string]string
	if err := json.Unmarshal([]byte(value), &document); err != nil {
		return errUnreadable
	}
	if len(document) == 0 {
		return errors.New("the secret names no provider")
	}
	known := member()
	for name, members := range document {
		key, ok := known[name]
		switch {
		case !ok:
			return fmt.Errorf("%q is none of the providers that need a credential: %s", name,
				strings.Join(CredentialProviders(), ", "))
		case len(members) != 1 || members[key] == "":
			return fmt.Errorf("%s has the one member %q, and it is not empty", name, key)
		case members[key] != strings.TrimSpace(members[key]):
			return fmt.Errorf("the %s of %s has white space around it", key, name)
		}
	}
	return nil
}

// redacted replaces a secret wherever it is printed.
const redacted = "[redacted]"

// Secret is a credential. It does not reveal itself when it is printed, logged or encoded: only Reveal returns it.
type Secret struct{ value string }

var (
	_ fmt.Formatter  = Secret{}
	_ slog.LogValuer = Secret{}
	_ json.Marshaler = Secret{}
)

// Reveal returns the credential itself. It must only be sent to its provider.
func (s Secret) Reveal() string { return s.value }

// IsZero reports whether there is no credential.
func (s Secret) IsZero() bool { return s.value == "" }

// String implements fmt.Stringer.
func (Secret) String() string { return redacted }

// Format implements fmt.Formatter, for all verbs.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue implements slog.LogValuer.
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalJSON implements json.Marshaler.
func (Secret) MarshalJSON() ([]byte, error) { return json.Marshal(redacted) }

// MarshalText implements encoding.TextMarshaler, for other encodings and for keys of maps.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// Credentials reads the credentials of one secret. It is safe for concurrent use.
type Credentials struct {
	cache *secret.Cache[map[string]Secret]
}

// NewCredentials makes a store of the secret whose value read returns; see manager.Secret.
func NewCredentials(read func(context.Context) (string, error), now func() time.Time) *Credentials {
	return &Credentials{secret.NewCache(read, ParseCredentials, now)}
}

// Get returns the credential of a provider, or the zero value if the secret has none
// for it. An error means that the secret could not be read; it is transient.
func (s *Credentials) Get(ctx context.Context, provider string) (Secret, error) {
	secrets, err := s.cache.Get(ctx)
	return secrets[provider], err
}

// Key returns a function that returns the credential of one provider.
func (s *Credentials) Key(provider string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		secret, err := s.Get(ctx, provider)
		return secret.Reveal(), err
	}
}

// Forget makes the next Get read the secret again. It is called when a provider has
// refused its credential, which may have been replaced since it was read.
func (s *Credentials) Forget(ctx context.Context) { s.cache.Forget(ctx) }
