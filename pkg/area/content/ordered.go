package content

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// accepted returns the item of a body after all checks, except for its money, with the price of a mode.
func (s *Service) accepted(ctx context.Context, p *auth.Principal, b createBody, refs references, priced tenant.Mode,
	now time.Time) (*item.Record, error) {
	if _, found := refs.factories[b.FactoryID]; found {
		resource.Makes(ctx, resource.Concern{FactoryID: b.FactoryID, ProfileID: refs.owner.Profile,
			Kind: string(b.Kind)})
	}
	if err := b.check(p.Mode); err != nil {
		return nil, err
	}
	if err := refs.draw(&b, now); err != nil {
		return nil, err
	}
	r, err := s.newRecord(b, refs, priced, now)
	if _, found := refs.factories[b.FactoryID]; err != nil && !found {
		return nil, s.lost(ctx, b.FactoryID, err)
	}
	if err != nil {
		return r, err
	}
	refs.spend(r)
	r.PublishFor(p)
	attached := slices.Concat(refs.factories[b.FactoryID].SocialAccountIDs, b.Accounts)
	if err := refs.meet(s.vary(p.Owner, r, b.Variants.items(), attached, refs)); err != nil {
		return nil, err
	}
	if r.Provided() && b.Accounts == nil {
		err := s.takesOwn(ctx, p, refs.factories[b.FactoryID].SocialAccountIDs, refs, r)
		if err := refs.meet(err); err != nil {
			return nil, err
		}
	}
	if b.PublishAt == nil {
		return r, refs.meet(ruler{s}.lawful(ctx, r, refs.factories[b.FactoryID].SocialAccountIDs, now))
	}
	return r, refs.meet(s.order(ctx, p, b, refs, r, now))
}

// lost returns the error of a factory that was not found, which says so if the account has it in the other mode.
func (s *Service) lost(ctx context.Context, factoryID string, err error) error {
	_, why := resource.Find(ctx, s.db, id.Factory, factory.Kind, factoryID)
	if errs.CodeOf(why) != errs.NotFound {
		return err
	}
	e := errs.As(why)
	e.Param = "/factory_id"
	return e
}

// order notes in a new item when and where it is published, and refuses what scheduling would refuse, as far as it is
// known before the item is generated.
func (s *Service) order(ctx context.Context, p *auth.Principal, b createBody, refs references, r *item.Record,
	now time.Time) error {
	if err := p.Require(auth.ContentPublish, "/publish_at"); err != nil {
		return err
	}
	if err := b.PublishAt.check(refs.clock); err != nil {
		return err
	}
	if !b.PublishAt.Next {
		if err := p.RequireHour(b.PublishAt.Time.Time); err != nil {
			return err
		}
	}
	w := &publishRequest{Service: s, r: foreseen(r), owner: refs.owner, asked: b.Accounts, read: refs.accounts,
		options: b.Options, param: "/publish_at", new: !r.Provided(), at: refs.clock,
		obeyed: true, factory: refs.factories[b.FactoryID]}
	if !b.PublishAt.Next {
		w.at = b.PublishAt.Time.Time
	}
	targets, err := w.targets(ctx, refs.factories[b.FactoryID].SocialAccountIDs)
	if err != nil {
		return err
	}
	at := b.PublishAt.Time
	if b.PublishAt.Next {
		slot, accounts, err := s.next(ctx, refs.factories[b.FactoryID], r, targets, refs.clock, *refs.slots)
		if err != nil {
			return err
		}
		at = resource.Instant(slot)
		for _, accountID := range accounts {
			*refs.slots = append(*refs.slots, item.Slot{Account: accountID, At: at})
			r.Wanted = append(r.Wanted, accountID)
		}
	}
	r.PublishAt, r.Ordered = &at, &item.Ordered{Options: maps.Clone(b.Options)}
	r.SocialAccountIDs, r.OmittedAccounts = append([]string{}, b.Accounts...), w.r.OmittedAccounts
	return nil
}

// foreseen returns a copy of a new item with files such as it will have, so that the limits of platforms can be
// checked. Their sizes are unknown.
func foreseen(r *item.Record) *item.Record {
	c := *r
	switch {
	case r.Provided() && !r.Fitted(), len(r.Files) > 0:
		return &c
	case r.Provided():
		c.Files = slices.Repeat([]media.File{{Role: media.Final, Type: media.Image, MIMEType: "image/jpeg", Bytes: 1,
			Width: 1080, Height: 1350}}, len(r.Own))
		if r.Kind != item.Carousel && r.Own[0].Type == media.Video {
			c.Files[0] = media.File{Role: media.Final, Type: media.Video, MIMEType: "video/mp4", Bytes: 1, Width: 1080,
				Height: 1920, DurationSeconds: r.Own[0].DurationSeconds}
			if r.Format != nil && *r.Format == item.FormatLong {
				c.Files[0].Width, c.Files[0].Height = 1920, 1080
			}
		}
		return &c
	}
	f := media.File{Role: media.Final, Type: media.Image, MIMEType: "image/jpeg", Bytes: 1}
	if r.Kind == item.Video || r.Kind == item.MusicClip || r.Shape == "story clip" {
		f = media.File{Role: media.Final, Type: media.Video, MIMEType: "video/mp4", Bytes: 1}
		if r.DurationSeconds != nil {
			f.DurationSeconds = float64(*r.DurationSeconds)
		}
	}
	c.Files = slices.Repeat([]media.File{f}, max(1, len(r.Slides)))
	return &c
}

// known leaves out what cannot be known of a new item: its files, and the texts that are generated.
func known(r *item.Record, found []errs.Detail) []errs.Detail {
	return slices.DeleteFunc(found, func(d errs.Detail) bool {
		return strings.HasPrefix(d.Param, "/media") || d.Param == "/title" && !r.Given.Has(item.Title) ||
			d.Param == "/caption" && !r.Given.Has(item.Caption)
	})
}

// accountKeys returns the keys of the accounts that bodies name.
func accountKeys(bodies []createBody) (keys []store.Key) {
	for _, b := range bodies {
		for _, accountID := range slices.Concat(b.Accounts, slices.Sorted(maps.Keys(b.Variants))) {
			if key := store.IDKey(accountID); id.Valid(id.SocialAccount, accountID) && !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	return keys
}
