package main

import (
	"context"

	"github.com/content-automation/api/infra/measure/metered"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/area/architect/chat"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// talked are the refusals of messages.
var talked = map[errs.Code]spoiler{
	errs.ValidationFailed:    member("text", ""),
	errs.InvalidState:        replying,
	errs.InsufficientBalance: rehearsed("insufficient_balance"),
	errs.SpendLimitReached:   rehearsed("spend_limit_reached"),
	errs.ProviderUnavailable: rehearsed("provider_unavailable"),
}

// drafted are the refusals of changes of drafts, and applied those of applying them.
var (
	drafted = map[errs.Code]spoiler{
		errs.ValidationFailed: member("body", metered.Object{"kind": "painting"}),
		errs.UnsupportedModel: member("body", metered.Object{"model": "paintbrush-1"}),
		errs.InvalidState:     after("applyDraft"),
	}
	applied = map[errs.Code]spoiler{
		errs.ValidationFailed:    retyped("kind", "painting"),
		errs.UnsupportedModel:    retyped("model", "paintbrush-1"),
		errs.InvalidState:        again,
		errs.QueueFull:           queueFull,
		errs.InsufficientBalance: ofLive(0, nil),
		errs.SpendLimitReached:   ofLive(plenty, new(int64(0))),
	}
)

func init() {
	refusals["createChat"] = map[errs.Code]spoiler{errs.NotFound: member("factory_id", unknownFactory), errs.ValidationFailed: member("title", 7)}
	refusals["sendMessage"], refusals["updateDraft"], refusals["applyDraft"] = talked, drafted, applied
}

// replying has the chat be in the midst of a reply.
func replying(ctx context.Context, s *scene, r *metered.Request) error {
	return s.change(ctx, r.ID, func(it *store.Item) error {
		of, err := chat.Decode(it)
		if err != nil {
			return err
		}
		of.Asked = id.New(id.Message, s.w.Now())
		return it.Encode(of)
	})
}

// retyped changes a member of the body of a draft so that it no longer fits, as another
// version of the service may have written it.
func retyped(member, value string) spoiler {
	return func(ctx context.Context, s *scene, r *metered.Request) error {
		return s.change(ctx, r.ID, func(it *store.Item) error {
			d, err := chat.DraftOf(it)
			if err != nil {
				return err
			}
			d.Body[member] = value
			return it.Encode(d)
		})
	}
}

// change changes an item of the state table.
func (s *scene) change(ctx context.Context, id string, change func(it *store.Item) error) error {
	it, err := s.w.State.Get(ctx, store.IDKey(id))
	if err != nil {
		return err
	}
	if err := change(&it); err != nil {
		return err
	}
	tx := &store.Tx{}
	tx.Replace(it)
	return s.w.State.Commit(ctx, tx)
}

// ofLive has the draft be of a live key of an account with some credits, of which the key
// may spend no more than the limit.
func ofLive(credits int64, limit *int64) spoiler {
	return func(ctx context.Context, s *scene, r *metered.Request) error {
		r.Live = true
		of, err := s.newCaller(ctx, r, account.Settings{}, apikey.Settings{Scopes: auth.AllScopes(), SpendLimit: limit})
		if err != nil {
			return err
		}
		if credits > 0 {
			if _, err := account.NewService(s.w.State, s.w.Now).TopUp(ctx, of, credits); err != nil {
				return err
			}
		}
		factory, err := s.make(ctx, r.Key, "createFactory", s.w.Examples()["createFactory"].Body)
		if err != nil {
			return err
		}
		now := s.w.Now()
		d := chat.Draft{
			Resource: resource.New(id.New(id.Draft, now), now, nil), ChatID: id.New(id.Chat, now), Kind: chat.ContentItem, FactoryID: &factory, State: chat.Open,
			Body: metered.Object{"factory_id": factory, "kind": "post", "prompt": "Our new trail running shoe"},
		}
		it, err := d.Entry(tenant.Of(of, tenant.Live))
		if err != nil {
			return err
		}
		tx := &store.Tx{}
		tx.Create(it, nil)
		r.ID = d.ID
		return s.w.State.Commit(ctx, tx)
	}
}
