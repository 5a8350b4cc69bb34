// Package registry returns providers by their names in the catalog. Test keys get the
// sandbox for every name; live keys get the provider itself, if the stack has it
// configured. Captions, which the service itself makes, are the same for both.
//
// Providers are built lazily, and building one makes no call: providers that a function does not use do not slow down
// its start. Start with Registry.For.
package registry

import (
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/sandbox"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/secret"
)

// Config has the dependencies of all providers.
type Config struct {
	// Configured are the providers that live keys may use.
	Configured provider.Configured
	// AWS configures the clients of AWS.
	AWS aws.Config
	// Secret is the ARN or name of the secret that holds the credentials.
	Secret string
	// Bucket is the bucket for the results of AWS's providers.
	Bucket string
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

	mu    sync.Mutex
	built map[string]provider.Provider
}

// New makes a registry.
func New(cfg Config) *Registry {
	if cfg.HTTP == nil {
		cfg.HTTP = newTransport()
	}
	return &Registry{
		cfg:     cfg,
		secrets: NewCredentials(secret.Manager(cfg.AWS, cfg.Secret), cfg.Now),
		built:   map[string]provider.Provider{},
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
	p := r.built[name]
	if p == nil {
		p = build(r)
		r.built[name] = p
	}
	return p
}
