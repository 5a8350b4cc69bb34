package transfer

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/content-automation/api/pkg/area/automation"
	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/content/experiment"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/law"
	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/area/studio"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/store"
)

// take adds a resource to a transaction.
type take func(ctx context.Context, t *taker, tx *store.Tx, a adopted) error

// taking decodes a resource for a function that adds it to the transaction.
func taking[T any](f func(ctx context.Context, t *taker, tx *store.Tx, a adopted, v T) error) take {
	return func(ctx context.Context, t *taker, tx *store.Tx, a adopted) error {
		var v T
		if err := json.Unmarshal(a.data, &v); err != nil {
			return errs.Wrap(err, errs.ValidationFailed, "It cannot be decoded.")
		}
		return f(ctx, t, tx, a, v)
	}
}

// takers are the types of resources that imports take.
var takers = map[string]take{
	"profile": taking(func(_ context.Context, t *taker, tx *store.Tx, a adopted, v profile.Profile) error {
		if err := law.CheckSettings(v.Legal); err != nil {
			return err
		}
		v.Logo = nil
		r := profile.Record{Profile: v}
		it, err := r.Item(t.s.Owner)
		if err != nil {
			return err
		}
		quota.Profiles.Take(tx, t.w.Now(), &it)
		tx.Create(it, nil)
		ledger.OpenPurse(tx, it.Owner, v.Bounds())
		return nil
	}),
	"media": taking(func(_ context.Context, t *taker, tx *store.Tx, a adopted, v incoming.Media) error {
		if v.State != incoming.Ready || v.URL == nil {
			return errs.New(errs.InvalidState, "It is not ready.")
		}
		f, ok := t.file(a, *v.URL)
		if !ok || !strings.Contains(f.Key, "/"+v.ID+"/") {
			return errs.New(errs.ValidationFailed, "Its url names no file of it.")
		}
		return incoming.Adopt(tx, t.w.Now(), a.owner, v, f.Key, t.replay != nil)
	}),
	"factory": taking(func(ctx context.Context, t *taker, tx *store.Tx, a adopted, v factory.Factory) error {
		accounts, err := t.accounts(ctx, a.owner, v.SocialAccountIDs)
		ids := []string{}
		for _, acct := range accounts {
			ids = append(ids, acct.ID)
		}
		if err != nil {
			return err
		}
		return t.factories.Adopt(ctx, tx, t.w.Now(), a.owner, v, ids)
	}),
	"product": taking(func(_ context.Context, t *taker, tx *store.Tx, a adopted, v product.Product) error {
		files := map[string]media.File{}
		for _, p := range v.Photos {
			if p.URL != nil {
				if f, ok := a.files[*p.URL]; ok {
					files[p.ID] = f
				}
			}
		}
		return product.Adopt(tx, a.owner, v, files)
	}),
	"promotion": taking(func(ctx context.Context, t *taker, tx *store.Tx, a adopted, v product.Promotion) error {
		found, err := t.w.DB.GetAll(ctx, store.IDKeys(v.ProductIDs)...)
		if err != nil {
			return err
		}
		return product.AdoptPromotion(tx, t.w.Now(), a.owner, v, found)
	}),
	"experiment": taking(func(_ context.Context, t *taker, tx *store.Tx, a adopted, v experiment.Experiment) error {
		return experiment.Adopt(tx, t.w.Now(), a.owner, v)
	}),
	"content_plan": taking(func(_ context.Context, t *taker, tx *store.Tx, a adopted, v plan.Plan) error {
		return v.Adopt(tx, t.w.Now(), a.owner)
	}),
	"content_item": taking(takeItem),
	"generation": taking(func(_ context.Context, t *taker, tx *store.Tx, a adopted, v studio.Generation) error {
		return studio.Adopt(tx, t.w.Now(), a.owner, v, t.shown(a, v.Media), t.replay != nil)
	}),
	"automation": taking(func(_ context.Context, t *taker, tx *store.Tx, a adopted, v automation.Details) error {
		return automation.Adopt(tx, t.w.Now(), a.owner, v, t.by)
	}),
	"webhook": taking(func(ctx context.Context, t *taker, tx *store.Tx, a adopted, v webhook.Webhook) error {
		secret, _, err := webhook.NewSecret(ctx, t.w.Random, t.w.Envelope, webhook.Ref{Owner: a.owner, ID: v.ID})
		if err != nil {
			return err
		}
		return takeWebhook(tx, a.owner, v, t.principal, secret)
	}),
}

// takes returns a kind of resource and how an import takes it, or nil if it does not.
func takes(name string) (kind, take) {
	for _, k := range kinds {
		if k.name == name {
			return k, takers[name]
		}
	}
	return kind{}, nil
}

func takeItem(ctx context.Context, t *taker, tx *store.Tx, a adopted, v item.Item) error {
	legal, err := profile.LegalOf(ctx, t.w.DB, a.ofItem)
	if err != nil {
		return err
	}
	b := content.Adopted{Item: v, Factory: a.of, Legal: legal, Owner: a.owner, Files: t.shown(a, v.Media)}
	r := item.Record{Item: v}
	for _, f := range b.Files {
		if id.Valid(id.Media, f.ID) {
			r.OwnIDs = append(r.OwnIDs, f.ID)
		}
	}
	if b.Media, err = t.w.DB.GetAll(ctx, store.IDKeys(r.MediaIDs())...); err != nil {
		return err
	}
	if t.replay != nil {
		b.Replay = *t.replay
		var on []string
		for _, p := range v.Publications {
			on = append(on, p.SocialAccountID)
		}
		if b.Accounts, err = t.accounts(ctx, a.owner, on); err != nil {
			return err
		}
	}
	return content.Adopt(tx, t.w.Now(), b)
}

// accounts returns the social accounts that there are. Only the rehearsal of an export has connected some.
func (t *taker) accounts(ctx context.Context, o tenant.Owner, ids []string) (all []social.Record, err error) {
	if t.replay == nil || len(ids) == 0 {
		return nil, nil
	}
	items, err := t.w.DB.GetAll(ctx, store.IDKeys(ids)...)
	if err != nil {
		return nil, err
	}
	for _, it := range items {
		if !social.Is(it, o) {
			continue
		}
		r, err := social.Decode(&it)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// shown returns the stored files of the media that a resource shows.
func (t *taker) shown(a adopted, all []media.View) (files []media.File) {
	for _, v := range all {
		f, ok := t.file(a, v.URL)
		if !ok {
			continue
		}
		files = append(files, media.File{ID: v.ID, Role: v.Role, Type: v.Type, MIMEType: v.MIMEType, Key: f.Key,
			Width: v.Width, Height: v.Height, DurationSeconds: v.DurationSeconds, Bytes: v.Bytes, SHA256: v.SHA256,
			Alt: v.AltText, Provenance: v.Provenance})
	}
	return files
}
