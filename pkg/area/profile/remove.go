package profile

import (
	"context"
	"errors"
	"slices"
	"strings"
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
	nouns, err := s.belonging(ctx, it.Owner)
	switch {
	case err != nil:
		return out, err
	case len(nouns) > 0:
		return out, belongs("The profile still has " + strings.Join(nouns, ", ") + ". Delete or disconnect them " +
			"first: lists select them by profile_id.")
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
	return errs.New(errs.InvalidState, "%s", message)
}

// belonging returns what belongs to the owner's profile, such as factories.
func (s *Service) belonging(ctx context.Context, o tenant.Owner) (nouns []string, _ error) {
	for _, kind := range []struct {
		noun   string
		query  store.Query
		passes func(store.Item) (bool, error)
	}{
		{"API keys", store.Query{Index: store.Table, Partition: credential.Keys(o.Account)},
			func(it store.Item) (bool, error) { return s.binds(it, o.Profile) }},
		{"webhooks", store.Query{Index: store.Table, Partition: webhook.List(o)}, nil},
		{"factories", listed(o, factoryrecord.Kind), nil},
		{"social accounts", listed(o, social.Kind), func(it store.Item) (bool, error) {
			return it.Filters["state"] != string(social.Disconnected), nil
		}},
		{"applications", listed(o, social.ApplicationKind), nil},
		{"integrations", listed(o, crm.Kind), func(it store.Item) (bool, error) {
			return it.Filters["state"] != string(crm.Disconnected), nil
		}},
		{"content items", listed(o, item.ItemKind), nil},
		{"generations", listed(o, studio.ItemKind), nil},
		{"media", listed(o, media.ItemKind), nil},
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
			nouns = append(nouns, kind.noun)
		} else if err != nil {
			return nil, err
		}
	}
	return nouns, nil
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
