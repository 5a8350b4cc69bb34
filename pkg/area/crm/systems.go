package crm

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/adapter/crm"
	"github.com/content-automation/api/pkg/adapter/crm/registry"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
	"github.com/content-automation/api/pkg/base/tenant"
)

// MaxAnswer is the number of bytes of an answer of a CRM that the client has to read.
const MaxAnswer = 1<<20 + 1

// Config has the dependencies of the adapters. HTTP is the client for the addresses of callers, because the hosts of
// CRMs are named by them. Endpoint is for tests and the local system, in which the fake of a CRM has its name as path
// below the endpoint.
type Config struct {
	Apps     func(ctx context.Context, name string) (platform.App, error)
	HTTP     wire.Doer
	Endpoint string
	Now      func() time.Time
}

// Systems has the adapters of all CRMs, and the sandbox for test keys.
type Systems struct {
	apps          func(ctx context.Context, name string) (platform.App, error)
	live, sandbox map[string]crm.Adapter
}

// NewSystems returns the adapters.
func NewSystems(c Config) *Systems {
	s := &Systems{c.Apps, map[string]crm.Adapter{}, map[string]crm.Adapter{}}
	if s.apps == nil {
		s.apps = func(context.Context, string) (app platform.App, err error) { return app, nil }
	}
	for _, name := range registry.Names() {
		cfg := wire.Config{HTTP: c.HTTP, Now: c.Now,
			App: func(ctx context.Context) (platform.App, error) { return s.apps(ctx, name) }}
		if c.Endpoint != "" {
			cfg.BaseURL = c.Endpoint + "/" + name
		}
		s.live[name], _ = registry.Live(name, cfg)
		s.sandbox[name], _ = registry.Sandbox(name, c.Now)
	}
	return s
}

// Of returns the adapter of a CRM for a mode, or nil if there is none.
func (s *Systems) Of(m tenant.Mode, name string) crm.Adapter {
	if m == tenant.Live {
		return s.live[name]
	}
	return s.sandbox[name]
}

// Configured reports whether integrations can be connected by OAuth in a mode: the operator has an application.
func (s *Systems) Configured(ctx context.Context, m tenant.Mode, name string) (bool, error) {
	if m == tenant.Test {
		return true, nil
	}
	app, err := s.apps(ctx, name)
	return app.ID != "", err
}
