package main

import (
	"context"

	"github.com/content-automation/api/infra/measure/metered"
)

// rehearsed asks the sandbox for a refusal.
func rehearsed(outcome string) spoiler {
	return member("sandbox", metered.Object{"outcome": outcome})
}

// fewSamples calls for a factory that has made nothing.
func fewSamples(ctx context.Context, s *scene, r *metered.Request) (err error) {
	r.ID, err = s.make(ctx, r.Key, "createFactory", s.w.Examples()["createFactory"].Body)
	return err
}
