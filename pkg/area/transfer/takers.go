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
	"github.com/content-automation/api/pkg/cloud/safehttp"
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
		f, ok := a.file(v.URL)
		if !ok {
			return errs.New(errs.ValidationFailed, "Its url names no file of it that a part has.")
		}
		return incoming.AdoptFile(tx, t.w.Now(), a.owner, v, f.File, t.replay != nil)
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
			if f, ok := a.file(p.URL); ok && strings.Contains(f.Key, "/"+p.ID+"/") {
				files[p.ID] = f.File
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
		files, _, _ := t.shown(a, v.Media)
		return studio.Adopt(tx, t.w.Now(), a.owner, v, files, t.replay != nil)
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
	b := content.Adopted{Item: v, Factory: a.of, Legal: legal, Owner: a.owner}
	b.Files, b.Attempt, b.Lost = t.shown(a, v.Media)
	if err := json.Unmarshal(a.past, &b.Past); err != nil {
		return errs.Wrap(err, errs.ValidationFailed, "It cannot be decoded.")
	}
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
		for _, p := range b.Past.Publications {
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

// shown returns the files of the media that a resource shows, as they were read, the latest attempt that they are of,
// and whether one is missing that is to be published. Those of the caller have lines of their own.
func (t *taker) shown(a adopted, all []media.View) (files []media.File, attempt int, lost bool) {
	for _, v := range all {
		f, ok := a.file(&v.URL)
		if ok && strings.HasPrefix(v.ID, a.id+"_") {
			f.ID, f.Role, f.Alt = v.ID, v.Role, v.AltText
			files, attempt = append(files, f.File), max(attempt, f.attempt)
			continue
		}
		if id.Valid(id.Media, v.ID) {
			files = append(files, media.File{ID: v.ID, Role: v.Role})
			continue
		}
		lost = lost || v.Role == media.Final
	}
	return files, attempt, lost
}

// checkURL refuses the address of a webhook or of a feed that its creation would refuse.
func (w *Importer) checkURL(ctx context.Context, k kind, in map[string]any) error {
	at, of := "/url", in
	if k.prefix == id.Automation {
		at = "/trigger/url"
		of, _ = in["trigger"].(map[string]any)
	}
	address, ok := of["url"].(string)
	if k.prefix != id.Webhook && k.prefix != id.Automation || !ok {
		return nil
	}
	var check safehttp.Checker = w.Addresses
	if check == nil {
		check = safehttp.New(safehttp.Options{})
	}
	if err := check.CheckURL(ctx, address); err != nil {
		return safehttp.InvalidURL(err, at)
	}
	return nil
}
