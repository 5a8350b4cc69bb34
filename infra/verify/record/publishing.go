package main

import (
	"context"

	"github.com/content-automation/api/infra/measure/metered"
	"github.com/content-automation/api/pkg/area/content/item"
	social "github.com/content-automation/api/pkg/area/social/account"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/store"
)

// publishing are the refusals of the operations that publish an item: one that it does not
// take, one in another state, and those that both have.
func publishing(invalid, state spoiler) map[errs.Code]spoiler {
	return map[errs.Code]spoiler{
		errs.ValidationFailed: invalid,
		errs.InvalidState:     state,
		errs.NotFound:         member("social_account_ids", []string{unknownAccount}),
		errs.QueueFull:        scheduledFull,
	}
}

// afterPublishing publishes the item first.
func afterPublishing(ctx context.Context, s *scene, r *metered.Request) error {
	accounts := metered.Object{"social_account_ids": r.Body.(metered.Object)["social_account_ids"]}
	_, err := s.w.Call(ctx, metered.Request{Operation: "publishContentItem", ID: r.ID, Body: accounts})
	return err
}

// scheduledFull schedules as many items to the social account as there may be.
func scheduledFull(ctx context.Context, s *scene, r *metered.Request) error {
	tx := &store.Tx{}
	for _, accountID := range r.Body.(metered.Object)["social_account_ids"].([]*string) {
		tx.Count(social.ScheduledKey(*accountID), social.MaxScheduled, social.MaxScheduled, nil)
	}
	return s.w.State.Commit(ctx, tx)
}

// inState puts the item into a state first, as publishing does.
func inState(state item.State) spoiler {
	return func(ctx context.Context, s *scene, r *metered.Request) error {
		it, err := s.w.State.Get(ctx, store.IDKey(r.ID))
		if err != nil {
			return err
		}
		of, err := item.Decode(&it)
		if err != nil {
			return err
		}
		of.State = state
		if err := it.Encode(of); err != nil {
			return err
		}
		tx := &store.Tx{}
		tx.Replace(it)
		return s.w.State.Commit(ctx, tx)
	}
}
