package main

import (
	"context"

	"github.com/content-automation/api/infra/measure/metered"
	social "github.com/content-automation/api/pkg/area/social/account"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/store"
)

// unknownAccount is the id of no social account.
var unknownAccount = id.First(id.SocialAccount, clock)

// scheduled schedules an item to the social account first.
func scheduled(ctx context.Context, s *scene, r *metered.Request) error {
	tx := &store.Tx{}
	tx.Count(social.ScheduledKey(r.ID), 1, social.MaxScheduled, nil)
	return s.w.State.Commit(ctx, tx)
}

// disconnected disconnects the social account first.
func disconnected(ctx context.Context, s *scene, r *metered.Request) error {
	_, err := s.w.Call(ctx, metered.Request{Operation: "disconnectSocialAccount", ID: r.Part})
	return err
}
