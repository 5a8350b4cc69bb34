package social

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
	"github.com/content-automation/api/pkg/base/tenant"
)

// Apps returns the application that the operator has registered with a platform, or the zero value if there is none.
type Apps func(ctx context.Context, platform string) (platform.App, error)

// PlatformsConfig has the dependencies of the adapters. HTTP and Endpoint are for tests and the
// local system, in which the fake of a platform has its name as path below the endpoint.
type PlatformsConfig struct {
	Apps     Apps
	HTTP     wire.Doer
	Endpoint string
	Now      func() time.Time
	// Only has the names of the platforms that the stack has, or is nil if it has all.
	Only []string
}

// Adapters finds the adapters of platforms.
type Adapters interface {
	// Of returns the adapter of a platform for a mode, and reports whether there is one.
	Of(m tenant.Mode, name string) (platform.Adapter, bool)
}

var _ Adapters = (*Platforms)(nil)

// Platforms has the adapters of all real platforms, and the sandbox for test keys.
type Platforms struct {
	apps          Apps
	names         []string
	live, sandbox map[string]platform.Adapter
}

// NewPlatforms returns the adapters.
func NewPlatforms(c PlatformsConfig) *Platforms {
	if c.Only == nil {
		c.Only = registry.Names()
	}
	p := &Platforms{c.Apps, c.Only, map[string]platform.Adapter{}, map[string]platform.Adapter{}}
	if p.apps == nil {
		p.apps = func(context.Context, string) (app platform.App, err error) { return app, nil }
	}
	for _, name := range c.Only {
		cfg := wire.Config{HTTP: c.HTTP, Now: c.Now,
			App: func(ctx context.Context) (platform.App, error) {
				if own, ok := platform.AppOf(ctx); ok {
					return own, nil
				}
				return p.apps(ctx, name)
			}}
		if c.Endpoint != "" {
			cfg.BaseURL = c.Endpoint + "/" + name
		}
		p.live[name], _ = registry.Live(name, cfg)
		p.sandbox[name], _ = registry.Sandbox(name, c.Now)
	}
	return p
}

// Names returns the ids of the platforms that the stack has, in the order in which they are listed.
func (p *Platforms) Names() []string { return p.names }

// Of returns the adapter of a platform for a mode, and reports whether there is one.
func (p *Platforms) Of(m tenant.Mode, name string) (a platform.Adapter, ok bool) {
	if m == tenant.Live {
		a, ok = p.live[name]
	} else {
		a, ok = p.sandbox[name]
	}
	return a, ok
}

// Configured reports whether accounts of a platform can be connected in a mode. Platforms with
// OAuth need an application of the operator.
func (p *Platforms) Configured(ctx context.Context, m tenant.Mode, name string) (bool, error) {
	a, ok := p.Of(m, name)
	if !ok || m == tenant.Test || a.Capabilities().Connect != platform.ConnectOAuth {
		return ok, nil
	}
	app, err := p.apps(ctx, name)
	return app.ID != "", err
}
