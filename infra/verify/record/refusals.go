package main

import (
	"context"
	"crypto/rand"
	"maps"
	"strings"
	"time"

	"github.com/content-automation/api/infra/measure/metered"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/store/storetest"
)

// spoiler turns a call that succeeds into one that is refused.
type spoiler func(ctx context.Context, s *scene, r *metered.Request) error

// brief is the time of a function that runs out of it: its margin, and a moment.
const brief = 510 * time.Millisecond

// often is more than the SDK repeats a call.
const often = 100

// general are the refusals that operations have in common.
var general = map[errs.Code]spoiler{
	errs.MissingAPIKey: header("Authorization", ""),
	errs.InvalidAPIKey: header("Authorization", "Bearer svc_test_mistyped"),
	errs.InvalidHeader: header("Idempotency-Key", strings.Repeat("8", 256)),

	errs.PlanNotAllowed: func(ctx context.Context, s *scene, r *metered.Request) error {
		plan := "starter"
		return s.callAs(ctx, r, account.Settings{Plan: &plan}, apikey.Settings{Scopes: auth.AllScopes()})
	},
	errs.IPNotAllowed: func(ctx context.Context, s *scene, r *metered.Request) error {
		return s.callAs(ctx, r, account.Settings{}, apikey.Settings{Scopes: auth.AllScopes(), IPAllowList: []string{"198.51.100.0/24"}})
	},
	errs.InsufficientScope: func(ctx context.Context, s *scene, r *metered.Request) error {
		return s.callAs(ctx, r, account.Settings{}, apikey.Settings{Scopes: s.otherScopes(s.route.Scope)})
	},
	errs.RateLimited: func(ctx context.Context, s *scene, r *metered.Request) error {
		err := s.callAs(ctx, r, account.Settings{}, apikey.Settings{Scopes: auth.AllScopes()})
		most := account.DefaultRateLimits.Test
		if r.Live {
			most = account.DefaultRateLimits.Live
		}
		for range most {
			if err == nil { // the authorizer counts calls
				_, err = s.w.Send(ctx, metered.Request{Operation: "getMe", Key: r.Key, Own: "API_CONFIGURATION_ERROR"})
			}
		}
		return err
	},

	errs.ValidationFailed: func(_ context.Context, s *scene, r *metered.Request) error {
		if body, ok := r.Body.(metered.Object); ok {
			r.Body = changed(body, "colour", "red")
			return nil
		}
		r.Query = map[string]string{"colour": "red"}
		return nil
	},
	errs.NotFound: func(_ context.Context, s *scene, r *metered.Request) error {
		at := &r.ID
		if r.Part != "" {
			at = &r.Part
		}
		prefix, _, _ := strings.Cut(*at, "_")
		*at = id.New(prefix, s.w.Now())
		return nil
	},
	errs.InvalidCursor: func(_ context.Context, _ *scene, r *metered.Request) error {
		r.Query = map[string]string{"cursor": "of-another-list"}
		return nil
	},
	errs.MalformedJSON: func(_ context.Context, _ *scene, r *metered.Request) error {
		r.Body, r.Raw = nil, `{"name": "Acme",}`
		return nil
	},
	errs.BodyTooLarge: func(_ context.Context, _ *scene, r *metered.Request) error {
		r.Body, r.Raw = nil, strings.Repeat(" ", httpapi.MaxBody+1)
		return nil
	},
	errs.UnsupportedMediaType: func(_ context.Context, _ *scene, r *metered.Request) error {
		r.Body, r.Raw, r.Header = nil, "name=Acme", map[string]string{"Content-Type": "application/x-www-form-urlencoded"}
		return nil
	},
	errs.VersionMismatch: header("If-Match", `"99"`),
	errs.IdempotencyKeyReused: func(ctx context.Context, s *scene, r *metered.Request) error {
		other := metered.Request{Operation: "createFactory", Body: s.w.Examples()["createFactory"].Body, Live: r.Live, Header: map[string]string{"Idempotency-Key": "order-4711"}}
		if s.route.OperationID == "createFactory" {
			other.Body = changed(r.Body.(metered.Object), "name", "Another")
		}
		_, err := s.w.Call(ctx, other)
		r.Header = other.Header
		return err
	},
	errs.IdempotencyInProgress: func(_ context.Context, s *scene, r *metered.Request) error {
		r.Admitted = func() {
			s.state.Cancel(often, "TransactionConflict")
			s.state.Refuse("PutItem", "TransactionConflictException", often)
		}
		return nil
	},

	errs.Internal:            fault(func(f *storetest.Faults, call string) { f.Refuse(call, "ResourceNotFoundException", often) }),
	errs.ProviderUnavailable: fault(func(f *storetest.Faults, call string) { f.Refuse(call, "ThrottlingException", often) }),
	errs.Timeout:             fault(func(f *storetest.Faults, call string) { f.Hang(call, often) }),
}

// tableless are the refusals of operations that read no table.
var tableless = map[errs.Code]spoiler{
	errs.Internal: byGateway("API_CONFIGURATION_ERROR"),
	errs.Timeout:  byGateway("INTEGRATION_TIMEOUT"),
	errs.ProviderUnavailable: func(_ context.Context, s *scene, r *metered.Request) error {
		r.Query = map[string]string{"cursor": strings.Repeat("A", 64)} // is authenticated with a secret
		r.Admitted = func() { s.unsealed = true }
		return nil
	},
}

// byGateway lets the gateway answer for the function.
func byGateway(response string) spoiler {
	return func(_ context.Context, _ *scene, r *metered.Request) error {
		r.Own = response
		return nil
	}
}

// header sends another header.
func header(name, value string) spoiler {
	return func(_ context.Context, _ *scene, r *metered.Request) error {
		r.Header = map[string]string{name: value}
		return nil
	}
}

// fault makes the tables fail once the call was admitted.
func fault(plan func(f *storetest.Faults, call string)) spoiler {
	return func(_ context.Context, s *scene, r *metered.Request) error {
		r.Admitted = func() { s.fail(plan) }
		return nil
	}
}

// otherScopes are all but one.
func (s *scene) otherScopes(without auth.Scope) (others []auth.Scope) {
	for _, scope := range auth.AllScopes() {
		if scope != without {
			others = append(others, scope)
		}
	}
	return others
}

// callAs makes the call with a key of an account of its own.
func (s *scene) callAs(ctx context.Context, r *metered.Request, of account.Settings, with apikey.Settings) error {
	_, err := s.newCaller(ctx, r, of, with)
	return err
}

func (s *scene) newCaller(ctx context.Context, r *metered.Request, of account.Settings, with apikey.Settings) (tenant.Account, error) {
	name := "Acme Media"
	of.Name, with.Name = &name, "CRM integration"
	accounts := account.NewService(s.w.State, s.w.Now)
	a, err := accounts.Create(ctx, of)
	if err != nil {
		return "", err
	}
	mode := tenant.Test
	if r.Live {
		mode = tenant.Live
	}
	key, err := apikey.NewService(s.w.State, accounts, s.w.Now, rand.Reader).Issue(ctx, tenant.Account(a.ID), mode, with)
	r.Key = key.Secret
	return tenant.Account(a.ID), err
}

// changed returns a body with another value of a member.
func changed(body metered.Object, member string, value any) metered.Object {
	other := maps.Clone(body)
	other[member] = value
	return other
}
