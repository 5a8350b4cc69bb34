package main

import (
	"context"

	"github.com/content-automation/api/infra/measure/metered"
)

// disabled disables the webhook first.
func disabled(ctx context.Context, s *scene, r *metered.Request) error {
	_, err := s.w.Call(ctx, metered.Request{Operation: "updateWebhook", ID: r.ID, Body: metered.Object{"state": "disabled"}})
	return err
}
