// Package profile holds the operations on profiles: the clients of an agency. What belongs to a profile is in the other
// areas; pkg/record/profile decides it, and the store holds the keys of a profile within it. Service.Register has the
// operations.
package profile

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/content-automation/api/pkg/area/law"
	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/ledger"
	record "github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// Service makes and changes profiles.
type Service struct {
	db     *store.DB
	signer *media.Signer
	now    func() time.Time
}

// NewService makes the service.
func NewService(db *store.DB, signer *media.Signer, now func() time.Time) *Service {
	return &Service{db, signer, now}
}

// Details are a profile with its usage, which a list leaves out.
type Details struct {
	record.Profile
	// What the work for the profile has cost in this calendar month (UTC).
	Usage Usage `json:"usage"`
}

// ETag follows from all that is shown: the usage changes without the profile.
func (d Details) ETag() (string, error) {
	return fmt.Sprintf(`"%d-%d-%s"`, d.Version, d.Usage.Spent, d.Usage.Month), nil
}

// Usage is the spending of a profile in a month.
type Usage struct {
	// The month.
	Month string `json:"month" example:"2026-05"`
	// Credits that were spent and reserved. Always 0 in the sandbox.
	Spent int64 `json:"spent_credits"`
	// Credits that spend_limit_credits leaves. Null: no limit.
	Left *int64 `json:"remaining_credits"`
}

// settings are the members of a profile that can be changed.
type settings struct {
	Name       string  `json:"name"`
	Logo       *string `json:"logo"`
	SpendLimit *int64  `json:"spend_limit_credits"`
	QuoteAbove *int64  `json:"quote_required_above_credits"`
	record.Legal
	Metadata resource.Metadata `json:"metadata"`
}

func (s *Service) list(ctx context.Context, in *httpapi.PageInput) (httpapi.Page[record.Profile], error) {
	q := httpapi.AllOwned(ctx, record.Kind, nil)
	return httpapi.ListItems(ctx, s.db, q, *in, func(it store.Item) (record.Profile, error) {
		r, err := record.Decode(&it)
		return r.Profile, err
	})
}

func (s *Service) create(ctx context.Context, tx *store.Tx, in *createInput) (out record.Profile, err error) {
	b, now := in.Body, s.now()
	r := record.Record{Profile: record.Profile{Resource: resource.New(id.New(id.Profile, now), now, b.Metadata)}}
	o := auth.FromContext(ctx).Owner.Of(tenant.Profile(r.ID))
	set := settings{b.Name, b.Logo, b.SpendLimit, b.QuoteAbove,
		record.Legal{Region: b.Region, AdMarking: b.AdMarking}, b.Metadata}
	if err := s.apply(ctx, tx, o, &r, set, store.Item{}); err != nil {
		return out, err
	}
	it, err := r.Item(o)
	if err != nil {
		return out, err
	}
	quota.Profiles.Take(tx, now, &it)
	tx.Create(it, nil)
	ledger.OpenPurse(tx, o, r.Bounds())
	return r.Profile, nil
}

// apply takes settings over. The argument logo is the item of the present logo.
func (s *Service) apply(ctx context.Context, tx *store.Tx, o tenant.Owner, r *record.Record, set settings,
	logo store.Item) error {
	same := r.Logo == set.Logo || r.Logo != nil && set.Logo != nil && *r.Logo == *set.Logo
	if err := law.CheckSettings(set.Legal); err != nil {
		return err
	}
	r.Name, r.Logo, r.SpendLimit, r.QuoteAbove = set.Name, set.Logo, set.SpendLimit, set.QuoteAbove
	r.Legal, r.Metadata = set.Legal, set.Metadata.OrEmpty()
	if same {
		return nil
	}
	if set.Logo == nil {
		tx.Delete(logo)
		return nil
	}
	m := incoming.Member{Param: "/logo", Value: *set.Logo, Type: media.Image}
	if !m.IsID() {
		return errs.NotID(m.Param, "media", m.Value)
	}
	given, err := incoming.Read(ctx, s.db, []incoming.Member{m})
	if err != nil {
		return err
	}
	f, err := given.For(o).File(m)
	if err != nil {
		return err
	}
	if f.Bytes > record.MaxLogo {
		return errs.Invalid(m.Param, "must have at most %d bytes, and the media %s has %d", record.MaxLogo, f.ID,
			f.Bytes)
	}
	picture, err := s.signer.Read(ctx, f, record.MaxLogo)
	if err != nil {
		return errs.Wrap(err, errs.ProviderUnavailable, "The picture cannot be read at the moment. Nothing was "+
			"changed. Repeat the request.")
	}
	it, err := record.LogoItem(o, record.Logo{MIMEType: f.MIMEType, Picture: picture})
	if err != nil {
		return err
	}
	if it.Version = logo.Version; logo.Version > 0 {
		tx.Replace(it)
	} else {
		tx.Create(it, nil)
	}
	return nil
}

// beside are the other items of a profile.
type beside struct{ purse, uses, logo store.Item }

// find reads a profile of the caller, and other items that belong to it, in one round trip.
func (s *Service) find(ctx context.Context, profileID string) (r record.Record, it store.Item, b beside, err error) {
	o := auth.FromContext(ctx).Owner.Of(tenant.Profile(profileID))
	it, items, err := resource.FindWith(ctx, s.db, id.Profile, record.Kind, profileID, ledger.PurseKey(o),
		ledger.UsesKey(o), record.LogoKey(o))
	if err != nil {
		return r, it, b, err
	}
	r, err = record.Decode(&it)
	return r, it, beside{items[0], items[1], items[2]}, err
}

func (s *Service) get(ctx context.Context, in *Path) (out Details, err error) {
	r, _, b, err := s.find(ctx, in.ID)
	if err != nil {
		return out, err
	}
	now := s.now()
	spent := ledger.SpendingOf(b.purse, now)
	return Details{r.Profile, Usage{now.UTC().Format("2006-01"), spent.Spent, spent.Left}}, nil
}

// lifts reports whether a limit permits more than before. Nil is none.
func lifts(before, after *int64) bool { return before != nil && (after == nil || *after > *before) }

func (s *Service) update(ctx context.Context, tx *store.Tx, in *patchInput) (out record.Profile, err error) {
	r, it, b, err := s.find(ctx, in.ID)
	if err != nil {
		return out, err
	}
	if err := in.Check(r.Version); err != nil {
		return out, err
	}
	set, err := httpapi.MergePatch(ctx, settings{r.Name, r.Logo, r.SpendLimit, r.QuoteAbove, r.Legal,
		r.Metadata})
	if err != nil {
		return out, err
	}
	now, before := s.now(), r.Bounds()
	if err := s.apply(ctx, tx, it.Owner, &r, set, b.logo); err != nil {
		return out, err
	}
	if after := r.Bounds(); lifts(before.Limit, after.Limit) || lifts(before.QuoteAbove, after.QuoteAbove) {
		if err := auth.FromContext(ctx).RequirePerson(auth.ActSpend); err != nil {
			return out, err
		}
	}
	if !reflect.DeepEqual(before, r.Bounds()) {
		ledger.ChangePurse(tx, now, b.purse, r.Bounds())
	}
	r.Touch(now)
	if err := it.Encode(r); err != nil {
		return out, err
	}
	tx.Replace(it)
	return r.Profile, nil
}
