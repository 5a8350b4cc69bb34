package main

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/content-automation/api/infra/operate/preflight"
	"github.com/content-automation/api/pkg/record/connection/cognito"
)

// offerProviders lets people sign in by the providers of the user pool again: an update of the pool's client by its
// template has removed them. A system without a pool has none.
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
