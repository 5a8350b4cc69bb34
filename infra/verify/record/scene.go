package main

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/infra/measure/metered"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/cloud/seal/stored"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/store/storetest"
)

// clock is when the first call is made.
var clock = time.Date(2026, 5, 1, 9, 0, 30, 0, time.UTC)

// scene is a service with an account in which one operation is called.
type scene struct {
	w     *metered.World
	route httpapi.Route
	// state and audit make the tables fail.
	state, audit storetest.Faults
	// unsealed makes the secret of the system unreadable.
	unsealed bool
}

func open(ctx context.Context, route httpapi.Route) (*scene, error) {
	s := &scene{route: route}
	tables := []*storetest.Faults{&s.state, &s.audit} // in the order in which they are made
	attach := func(cfg *aws.Config) {
		tables[0].Attach(cfg)
		tables = tables[1:]
	}
	var err error
	s.w, err = metered.NewWith(ctx, metered.Settings{
		Account: "Acme Media", Agent: "acme-crm/2.1", Listed: 2, Clock: clock, Tick: time.Millisecond, Secret: s.secret, With: []func(*aws.Config){attach},
	})
	return s, err
}

// fail lets something happen to the calls of the tables. Audit entries are written.
func (s *scene) fail(plan func(f *storetest.Faults, call string)) {
	reads := []string{"GetItem", "BatchGetItem", "Query"}
	for _, call := range append(reads, "PutItem", "UpdateItem", "TransactWriteItems") {
		plan(&s.state, call)
	}
	for _, call := range reads {
		plan(&s.audit, call)
	}
}

// mend ends all faults.
func (s *scene) mend() {
	s.state.Reset()
	s.audit.Reset()
	s.unsealed = false
}

// secret returns the secret of the system.
func (s *scene) secret(ctx context.Context) ([][]byte, error) {
	if s.unsealed {
		unreachable := aws.Config{Region: "eu-central-1", Retryer: func() aws.Retryer { return aws.NopRetryer{} }}
		return stored.Secret(unreachable, "arn:aws:secretsmanager:eu-central-1:000000000000:secret:seal", s.w.Now)(ctx)
	}
	return seal.Fixed([]byte("the secret of the examples"))(ctx)
}
