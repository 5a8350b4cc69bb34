package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/content-automation/api/infra/operate/preflight"
	"github.com/content-automation/api/pkg/record/connection/cognito"
)

// offered returns the context value with the providers of the user pool, so that a deployment leaves them in its client
// all the time. There is none before the first deployment.
func offered(ctx context.Context, o order) ([]string, error) {
	cfg, err := o.config(ctx)
	if err != nil {
		return nil, err
	}
	outputs, err := preflight.AWS{Config: cfg}.Outputs(ctx, o.StackName("data"))
	if errors.Is(err, preflight.ErrMissing) || err == nil && outputs["UserPoolId"] == "" {
		return nil, nil
	}
	var names []string
	if err == nil {
		names, err = cognito.New(cfg, outputs["UserPoolId"], "").Providers(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("read the providers of the user pool of %s: %w", o.Name(), err)
	}
	text, err := json.Marshal(names)
	return []string{"-c", "offered=" + string(text)}, err
}

// offerProviders lets people sign in by all providers of the user pool after a deployment: one that was added during it
// is not in the template. A system without a pool has none.
func offerProviders(ctx context.Context, o order) error {
	cfg, err := o.config(ctx)
	if err != nil {
		return err
	}
	return offerAll(ctx, o, preflight.AWS{Config: cfg}.Outputs, func(pool, client string) error {
		return cognito.New(cfg, pool, client).OfferAll(ctx)
	})
}

// offerAll calls offer with the ids of the user pool and its client, once both are in the outputs of the stacks.
func offerAll(ctx context.Context, o order, outputs func(context.Context, string) (map[string]string, error),
	offer func(pool, client string) error) error {
	ids := map[string]string{}
	for _, part := range []string{"data", "api"} {
		some, err := outputs(ctx, o.StackName(part))
		if errors.Is(err, preflight.ErrMissing) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the stack %s: %w", o.StackName(part), err)
		}
		maps.Copy(ids, some)
	}
	pool, client := ids["UserPoolId"], ids["UserPoolClientId"]
	if pool == "" || client == "" {
		return nil
	}
	if err := offer(pool, client); err != nil {
		return fmt.Errorf("offer the providers of the user pool %s: %w", pool, err)
	}
	return nil
}
