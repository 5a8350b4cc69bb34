package social

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// ApplicationKind is the kind of the items of applications.
const ApplicationKind = "application"

// maxApplications bounds the applications of an owner with one platform.
const maxApplications = 50

// applicationFilter is the filter of an account's item with the application that it was connected with.
const applicationFilter = "application"

// applicationDetail is the detail of a consent with the application that asks for it.
const applicationDetail = "application"

// Application is an application that a customer has registered with a platform, as callers see it. No answer has its
// secret.
type Application struct {
	resource.Resource
	// Profile whose accounts are connected with it. Null: all accounts, except those of profiles with an application of
	// their own.
	ProfileID *tenant.Profile `json:"profile_id"`
	// Platform of the application.
	Platform string `json:"platform" example:"x"`
	// Id that the platform has given the application: client_id, client_key or app id.
	ClientID string `json:"client_id" example:"c2FtcGxlLWNsaWVudA"`
	// Permissions that owners of accounts are asked for. Empty: the usual ones of the platform.
	Scopes []string `json:"scopes" nullable:"false"`
	// Most that its accounts use together in a day, in daily_limit_unit. Null: the usual limit of the platform, see the
	// guide.
	DailyLimit *int `json:"daily_limit" example:"1000"`
	// Unit of daily_limit: us_cents on X, uploads on YouTube. Null: the accounts of the platform share no limit.
	DailyLimitUnit *string `json:"daily_limit_unit" enum:"us_cents,uploads" example:"us_cents"`
	// Address to enter at the platform as the redirect address of the application.
	RedirectURL string `json:"redirect_url" example:"https://api.example.com/v1/social/callback"`
}

// applicationRecord is the stored document of an application.
type applicationRecord struct {
	Application
	// Sealed is the secret, encrypted by Vault. It is empty if the platform has public applications.
	Sealed []byte `json:"sealed,omitempty"`
	// Deleted reports that the application was deleted. Its item stays for a while, without the secret.
	Deleted bool `json:"deleted,omitempty"`
}

// keepGone is the time for which the item of a deleted application stays.
const keepGone = 24 * time.Hour

// remove adds the deletion of an application, which was read as it, to the transaction.
func (r *applicationRecord) remove(tx *store.Tx, it store.Item, now time.Time) error {
	r.Sealed, r.Deleted = nil, true
	it.Listed, it.ExpireAt = store.Key{}, now.Add(keepGone)
	return replaceApplication(tx, it, r, now)
}

// applicationOf reads the record of an item.
func applicationOf(it *store.Item) (r applicationRecord, err error) { return r, it.Decode(&r) }

// limitUnits are the units of the limits that the accounts of a platform share.
var limitUnits = map[string]string{"x": "us_cents", "youtube": "uploads"}

// view returns the application as callers see it.
func (r *applicationRecord) view(ctx context.Context) Application {
	a := r.Application
	if unit, ok := limitUnits[a.Platform]; ok {
		a.DailyLimitUnit = &unit
	}
	a.RedirectURL = httpapi.PublicURL(ctx) + CallbackPath
	return a
}

// DailyLimit returns the limit of an application's item in the uses of its platform's budget, and reports whether it
// has one. The item may be gone.
func DailyLimit(it store.Item) (most int, ok bool, err error) {
	if it.Kind != ApplicationKind {
		return 0, false, nil
	}
	r, err := applicationOf(&it)
	if err != nil || r.DailyLimit == nil {
		return 0, false, err
	}
	row, _ := registry.Find(r.Platform)
	if b := row.Capabilities.Budget; b != nil {
		return *r.DailyLimit * max(1, b.Unit), true, nil
	}
	return 0, false, nil
}

// checkLimit refuses a daily limit that the budget of a platform does not take.
func checkLimit(name string, limit *int) error {
	if limit == nil {
		return nil
	}
	row, _ := registry.Find(name)
	b := row.Capabilities.Budget
	switch {
	case b == nil || !b.Shared:
		return errs.Invalid("/daily_limit", "is for x and youtube. The accounts of other platforms share no limit")
	case *limit < b.Least:
		return errs.Invalid("/daily_limit", "must be %d or more, so that a thread fits in it", b.Least)
	}
	return nil
}

// shelf lists the applications of an owner with one platform, the newest last, which new connections use. It is read
// by its key, so that an application is used from the call on that has made it.
type shelf struct {
	IDs []string `json:"ids"`

	it store.Item
}

func shelfKey(o tenant.Owner, name string) store.Key {
	return store.IDKey("applications#" + o.String() + "#" + string(o.Profile) + "#" + name)
}

func (s *Service) shelves(ctx context.Context, name string, owners ...tenant.Owner) ([]shelf, error) {
	keys := make([]store.Key, len(owners))
	for i, o := range owners {
		keys[i] = shelfKey(o, name)
	}
	items, err := s.db.GetAll(tenant.Unconfined(ctx), keys...)
	if err != nil {
		return nil, err
	}
	all := make([]shelf, len(items))
	for i, it := range items {
		if it.Kind != "" {
			if err := it.Decode(&all[i]); err != nil {
				return nil, err
			}
		} else {
			it = store.Item{Key: keys[i], Kind: "applications", Owner: owners[i]}
		}
		all[i].it = it
	}
	return all, nil
}

// prune takes applications off a shelf that are gone, as after a reset of the sandbox.
func (s *Service) prune(ctx context.Context, f *shelf) error {
	items, err := s.db.GetAll(tenant.Unconfined(ctx), store.IDKeys(f.IDs)...)
	if err != nil {
		return err
	}
	f.IDs = nil
	for _, it := range items {
		if it.Kind == ApplicationKind {
			f.IDs = append(f.IDs, it.PK)
		}
	}
	return nil
}

// write adds the changed shelf to the transaction.
func (f *shelf) write(tx *store.Tx) error {
	if err := f.it.Encode(f); err != nil {
		return err
	}
	if f.it.Version == 0 {
		tx.Create(f.it, store.ErrConflict)
	} else {
		tx.Replace(f.it)
	}
	return nil
}

// own returns the id of the application with which accounts of an owner are connected, and the context of its calls:
// the newest one of the profile, or else of the account as a whole. It is nil if they use the operator's.
func (s *Service) own(ctx context.Context, o tenant.Owner, name string) (context.Context, *string, error) {
	owners := []tenant.Owner{o}
	if o.Profile != "" {
		owners = append(owners, o.Of(""))
	}
	all, err := s.shelves(ctx, name, owners...)
	if err != nil {
		return ctx, nil, err
	}
	for _, f := range all {
		for _, newest := range slices.Backward(f.IDs) {
			with, err := s.vault.with(ctx, o, &newest)
			if errors.As(err, new(*platform.Error)) {
				continue
			}
			return with, &newest, err
		}
	}
	return ctx, nil, nil
}

// ownPlatforms returns the platforms with which an owner has an application that connects its accounts.
func (s *Service) ownPlatforms(ctx context.Context, o tenant.Owner) (names []string, err error) {
	err = s.db.Each(tenant.Unconfined(ctx), store.Query{Index: store.ByOwner,
		Partition: store.OwnerPartition(o, ApplicationKind), Limit: 100}, func(it store.Item) error {
		if o.Profile == "" || o.Uses(it.Owner) {
			names = append(names, it.Filters["platform"])
		}
		return nil
	})
	slices.Sort(names)
	return slices.Compact(names), err
}

// errUsed ends a list at its first item.
var errUsed = errors.New("used")

// used reports whether an account that is not disconnected was connected with an application.
func (s *Service) used(ctx context.Context, o tenant.Owner, applicationID string) (bool, error) {
	err := s.db.Each(tenant.Unconfined(ctx), store.Query{Index: store.ByOwner, Partition: store.OwnerPartition(o, Kind),
		Filters: map[string]string{applicationFilter: applicationID}, Limit: 100}, func(it store.Item) error {
		if it.Filters["state"] == string(Disconnected) {
			return nil
		}
		return errUsed
	})
	if errors.Is(err, errUsed) {
		return true, nil
	}
	return false, err
}

// item returns the item of a new application.
func (r *applicationRecord) item(o tenant.Owner) (store.Item, error) {
	it, err := store.NewItem(ApplicationKind, o, r.ID, r)
	it.Filters = map[string]string{"platform": r.Platform}
	return it, err
}

// keep seals a secret into the record.
func (s *Service) keep(ctx context.Context, o tenant.Owner, r *applicationRecord, secret string) (err error) {
	if secret != "" {
		r.Sealed, err = s.vault.Seal(ctx, o, r.ID, platform.Secret(secret))
	}
	return err
}

// replaceApplication adds the changed application to the transaction.
func replaceApplication(tx *store.Tx, it store.Item, r *applicationRecord, now time.Time) error {
	r.Touch(now)
	if err := it.Encode(r); err != nil {
		return err
	}
	tx.Replace(it)
	return nil
}
