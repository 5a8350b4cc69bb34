package main

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"

	"github.com/content-automation/api/pkg/record/connection/cognito"
)

// offerProviders lets people sign in by the providers of the user pool again: an update of the pool's client by its
// template has removed them. A system without a pool has none.
func offerProviders(ctx context.Context, o order) error {
	cfg, err := o.config(ctx)
	if err != nil {
		return err
	}
	return offerAll(ctx, o, cloudformation.NewFromConfig(cfg), func(pool, client string) error {
		return cognito.New(cfg, pool, client).OfferAll(ctx)
	})
}

func offerAll(ctx context.Context, o order, s stacks, offer func(pool, client string) error) error {
	ids := map[string]string{}
	for _, part := range []string{"data", "api"} {
		name := o.Name() + "-" + part
		out, err := s.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &name})
		if err != nil && missing(err) || err == nil && len(out.Stacks) == 0 {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the stack %s: %w", name, err)
		}
		for _, output := range out.Stacks[0].Outputs {
			ids[aws.ToString(output.OutputKey)] = aws.ToString(output.OutputValue)
		}
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
