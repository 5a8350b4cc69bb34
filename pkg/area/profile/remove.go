package profile

import (
	"context"
	"errors"
	"slices"
	"time"

	keyrecord "github.com/content-automation/api/pkg/record/apikey"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/crm"
	"github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/area/studio"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/ledger"
	record "github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/store"
)

// settled is the time after which the index by owner shows what was made in a profile.
const settled = 5 * time.Second

// errFound ends a list at its first item.
var errFound = errors.New("found")

// remove deletes a profile to which nothing belongs. Whatever is made in a profile notes its use: so nothing is made
// between the look at the lists and the deletion, and the lists show what was made before.
func (s *Service) remove(ctx context.Context, tx *store.Tx, in *deleteInput) (out record.Profile, err error) {
	r, it, b, err := s.find(ctx, in.ID)
	if err != nil {
		return out, err
	}
	if err := in.Check(r.Version); err != nil {
		return out, err
	}
	if wait := ledger.UsedAt(b.uses).Add(settled).Sub(s.now()); wait > 0 {
		e := belongs("Something was made in the profile just now. Repeat the request in a few seconds.")
		e.RetryAfter = wait
		return out, e
	}
	noun, err := s.belonging(ctx, it.Owner)
	switch {
	case err != nil:
		return out, err
	case noun != "":
		return out, belongs(noun + " belongs to the profile. Delete what belongs to it first; lists select it by " +
			"profile_id.")
	}
	ledger.ClosePurse(tx, b.purse, b.uses)
	quota.Free(tx, s.now(), it)
	tx.Delete(it)
	if b.logo.Version > 0 {
		tx.Delete(b.logo)
	}
	return r.Profile, nil
}

func belongs(message string) *errs.Error {
	return errs.New(errs.InvalidState, "%s", message).In("used", "update")
}

// belonging returns what belongs to the owner's profile, such as "A factory", or an empty text if nothing does.
func (s *Service) belonging(ctx context.Context, o tenant.Owner) (string, error) {
	for _, kind := range []struct {
		noun   string
		query  store.Query
		passes func(store.Item) (bool, error)
	}{
		{"An API key", store.Query{Index: store.Table, Partition: credential.Keys(o.Account)},
			func(it store.Item) (bool, error) { return s.binds(it, o.Profile) }},
		{"A webhook", store.Query{Index: store.Table, Partition: webhook.List(o)}, nil},
		{"A factory", listed(o, factoryrecord.Kind), nil},
		{"A social account", listed(o, social.Kind), func(it store.Item) (bool, error) {
			return it.Filters["state"] != string(social.Disconnected), nil
		}},
		{"An application", listed(o, social.ApplicationKind), nil},
		{"An integration", listed(o, crm.Kind), func(it store.Item) (bool, error) {
			return it.Filters["state"] != string(crm.Disconnected), nil
		}},
		{"A content item", listed(o, item.ItemKind), nil},
		{"A generation", listed(o, studio.ItemKind), nil},
		{"A media", listed(o, media.ItemKind), nil},
	} {
		kind.query.Limit = 100
		err := s.db.Each(ctx, kind.query, func(it store.Item) error {
			passes, err := it.Owner == o, error(nil)
			if kind.passes != nil && (passes || it.Mode == "") {
				passes, err = kind.passes(it)
			}
			if err == nil && passes {
				err = errFound
			}
			return err
		})
		if errors.Is(err, errFound) {
			return kind.noun, nil
		}
		if err != nil {
			return "", err
		}
	}
	return "", nil
}

// listed returns the list of the resources of a kind that belong to the owner's profile.
func listed(o tenant.Owner, kind string) store.Query {
	return store.Query{Index: store.ByOwner, Partition: store.OwnerPartition(o, kind),
		Filters: map[string]string{store.ProfileFilter: string(o.Profile)}}
}

// binds reports whether an item is a key that is not revoked and is bound to the profile.
func (s *Service) binds(it store.Item, p tenant.Profile) (bool, error) {
	k, err := keyrecord.Read(&it, s.now())
	if err != nil || k.State == keyrecord.Revoked {
		return false, err
	}
	return slices.Contains(k.ProfileIDs, p), nil
}
