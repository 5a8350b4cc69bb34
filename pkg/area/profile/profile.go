// Package profile holds the operations on profiles: the clients of an agency. What belongs to a profile is in the other
// areas; pkg/record/profile decides it, and the store holds the keys of a profile within it. Service.Register has the
// operations.
package profile

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/crm"
	"github.com/content-automation/api/pkg/area/law"
	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/area/studio"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/httpapi/kind"
	"github.com/content-automation/api/pkg/media"
	keyrecord "github.com/content-automation/api/pkg/record/apikey"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/ledger"
	record "github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/record/template"
	"github.com/content-automation/api/pkg/store"
)

// Service makes and changes profiles.
type Service struct {
	db       *store.DB
	signer   *media.Signer
	now      func() time.Time
	profiles *kind.Kind[record.Record]
}

// NewService makes the service. It makes no call.
func NewService(db *store.DB, signer *media.Signer, now func() time.Time) *Service {
	return &Service{db, signer, now, profiles.On(db, now)}
}

var profiles = kind.Kind[record.Record]{Name: record.Kind, ID: id.Profile, Path: "/v1/profiles/{profile_id}",
	Function: "account", Tag: "Profiles", Reads: auth.AccountRead, Writes: auth.AccountManage, AccountWide: true,
	Beside: beside, Count: quota.Profiles.Take}

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
	Spent int64 `json:"used_credits"`
	// Credits that spend_limit_credits leaves. Null: no limit.
	Left *int64 `json:"remaining_credits"`
}

// listInput has the parameters of the list of profiles.
type listInput struct {
	httpapi.PageInput
	resource.MetadataFilter
	httpapi.Search
	// Only profiles with this name, in any case of its letters.
	Name string `query:"name" maxLength:"200" example:"Café Linde"`
}

// named bounds a list to the profiles with a name.
func named(_ context.Context, in *listInput, q *store.Query) error {
	q.Filters[record.NameFilter] = record.Fold(in.Name)
	return nil
}

// shown returns a profile as lists show it.
func shown(_ context.Context, f *kind.Found[record.Record]) (record.Profile, error) {
	return f.Record.Profile, nil
}

// opened checks a new profile, and opens its purse.
func (s *Service) opened(ctx context.Context, tx *store.Tx, c *kind.Change[record.Record, createBody]) error {
	c.Item.Owner = c.Item.Owner.Of(tenant.Profile(c.Record.ID))
	if err := template.Use(ctx, s.db, tx, c.Item.Owner, c.Record.ID, nil, c.Record.TemplateID); err != nil {
		return err
	}
	ledger.OpenPurse(tx, c.Item.Owner, c.Record.Bounds())
	return s.check(ctx, tx, &c.Found, nil, store.Item{})
}

// check refuses settings that a profile cannot have, and keeps a copy of the logo. The argument was is the logo before,
// and present its copy.
func (s *Service) check(ctx context.Context, tx *store.Tx, f *kind.Found[record.Record], was *string,
	present store.Item) error {
	logo, o := f.Record.Logo, f.Item.Owner
	if err := law.CheckSettings(f.Record.Legal); err != nil || resource.Equal(was, logo) {
		return err
	}
	if logo == nil {
		tx.Delete(present)
		return nil
	}
	m := incoming.Member{Param: "/logo", Value: *logo, Type: media.Image}
	if !m.IsID() {
		return errs.MissingAt(m.Param, "media", m.Value)
	}
	given, err := incoming.Read(ctx, s.db, []incoming.Member{m})
	if err != nil {
		return err
	}
	file, err := given.For(o).File(m)
	if err != nil {
		return err
	}
	if file.Bytes > record.MaxLogo {
		return errs.Invalid(m.Param, "must have at most %d bytes, and the media %s has %d", record.MaxLogo, file.ID,
			file.Bytes)
	}
	picture, err := s.signer.Read(ctx, file, record.MaxLogo)
	if err != nil {
		return errs.Wrap(err, errs.ProviderUnavailable, "The picture cannot be read at the moment. Nothing was "+
			"changed. Repeat the request.")
	}
	it, err := record.LogoItem(o, record.Logo{MIMEType: file.MIMEType, Picture: picture})
	if err != nil {
		return err
	}
	it.Version = present.Version
	tx.Put(it)
	return nil
}

// The other items of a profile.
const (
	purse = iota
	uses
	logo
)

// beside returns the keys of the other items of a profile.
func beside(o tenant.Owner, profileID string) []store.Key {
	o = o.Of(tenant.Profile(profileID))
	return []store.Key{purse: ledger.PurseKey(o), uses: ledger.UsesKey(o), logo: record.LogoKey(o)}
}

// details returns a profile with its usage.
func (s *Service) details(_ context.Context, f *kind.Found[record.Record]) (Details, error) {
	now := s.now()
	spent := ledger.SpendingOf(f.Beside[purse], now)
	return Details{f.Record.Profile, Usage{now.UTC().Format("2006-01"), spent.Spent, spent.Left}}, nil
}

// lifts reports whether a limit permits more than before. Nil is none.
func lifts(before, after *int64) bool { return before != nil && (after == nil || *after > *before) }

func (s *Service) changed(ctx context.Context, tx *store.Tx, c *kind.Change[record.Record, patchBody]) error {
	if err := s.check(ctx, tx, &c.Found, c.Was.Logo, c.Beside[logo]); err != nil {
		return err
	}
	if err := template.Use(ctx, s.db, tx, c.Item.Owner, c.Record.ID, c.Was.TemplateID,
		c.Record.TemplateID); err != nil {
		return err
	}
	before, after := c.Was.Bounds(), c.Record.Bounds()
	if lifts(before.Limit, after.Limit) || lifts(before.QuoteAbove, after.QuoteAbove) {
		if err := auth.FromContext(ctx).RequirePerson(auth.ActSpend); err != nil {
			return err
		}
	}
	if !reflect.DeepEqual(before, after) {
		ledger.ChangePurse(tx, c.Now, c.Beside[purse], after)
	}
	return nil
}

type createBody struct {
	// Name of the client. The page by which its social accounts are connected shows it.
	Name string `json:"name" format:"line-not-blank" minLength:"1" maxLength:"100" example:"Harbour Coffee"`
	// Id of a media with its logo: a picture of the account as a whole or of the profile, of up to 64 KiB. The profile
	// keeps a copy for that page.
	Logo *string `json:"logo,omitempty" nullable:"true" maxLength:"64"`
	// Credits that the work for the profile may cost in a calendar month (UTC). A call that would cost more fails with
	// 402 spend_limit_reached. Absent or null: no limit of its own.
	SpendLimit *int64 `json:"spend_limit_credits,omitempty" nullable:"true" format:"credits" example:"5000"`
	// Credits of one call above which live work for the profile needs a quote_id: content plans and batches of content
	// items take one. Work that takes none is refused above it. Absent or null: it needs none.
	QuoteAbove *int64 `json:"quote_required_above_credits,omitempty" nullable:"true" format:"credits" example:"500"`
	// Template of its factories that name none: one of the account as a whole.
	TemplateID *string `json:"template_id,omitempty" nullable:"true" maxLength:"64"`
	// Country in which the content of its factories is published (ISO 3166-1). The content must keep the rules of law
	// of this country. A factory may have another one. Absent or null: none.
	Region *string `json:"region,omitempty" nullable:"true" minLength:"2" maxLength:"2" example:"DE"`
	// Marking of advertising of its factories, for countries that require it. Absent: none.
	AdMarking *record.AdMarking `json:"ad_marking,omitempty"`
	// Up to 20 key-value pairs of your own.
	Metadata resource.Metadata `json:"metadata,omitempty"`
}

type patchBody struct {
	// Name of the client.
	Name string `json:"name,omitempty" format:"line-not-blank" minLength:"1" maxLength:"100" example:"Harbour Coffee"`
	// Id of a media with its logo. Null removes it.
	Logo *string `json:"logo,omitempty" nullable:"true" maxLength:"64"`
	// Credits that the work for the profile may cost in a calendar month (UTC). It counts for the present month at
	// once. Null: no limit of its own.
	SpendLimit *int64 `json:"spend_limit_credits,omitempty" nullable:"true" format:"credits" example:"8000"`
	// Credits of one call above which live work for the profile needs a quote_id. Null: it needs none.
	QuoteAbove *int64 `json:"quote_required_above_credits,omitempty" nullable:"true" format:"credits" example:"500"`
	// Template of its factories that name none: one of its own or of the account as a whole. Null: none.
	TemplateID *string `json:"template_id,omitempty" nullable:"true" maxLength:"64"`
	// Country in which the content of its factories is published (ISO 3166-1). The content must keep the rules of law
	// of this country. A factory may have another one. Null: none.
	Region *string `json:"region,omitempty" nullable:"true" minLength:"2" maxLength:"2" example:"DE"`
	// Marking of advertising of its factories, for countries that require it. Null: none.
	AdMarking *record.AdMarkingPatch `json:"ad_marking,omitempty"`
	// Pairs to set. A null value removes that pair; null removes all.
	Metadata resource.MetadataPatch `json:"metadata,omitempty" nullable:"true"`
}

// Register puts the operations of the area into the router.
func (s *Service) Register(r *httpapi.Router) {
	kind.List(r, s.profiles, httpapi.Op{ID: "listProfiles", Summary: "List the profiles",
		Description: "Newest first. A key that is bound to profiles lists these."}, shown, named)
	kind.Create(r, s.profiles, httpapi.Op{ID: "createProfile", Summary: "Create a profile",
		Description: "A profile is a client of an agency. Factories, social accounts, media, webhooks and " +
			"generations of the studio that are created with its id belong to it, with all that they make. A key " +
			"with `profile_ids` sees and makes nothing else.",
		Opens: httpapi.Nothing, Errors: []errs.Code{errs.UnsupportedMedia, errs.InvalidState, errs.NotFound}},
		s.opened, shown)
	kind.Get(r, s.profiles, httpapi.Op{ID: "getProfile", Summary: "Get a profile",
		Description: "Includes what the work for it has cost this month."}, s.details)
	kind.Update(r, s.profiles, httpapi.Op{ID: "updateProfile", Summary: "Change a profile",
		Description: "Takes a JSON merge patch (RFC 7396).",
		Opens:       httpapi.Spending, Errors: []errs.Code{errs.UnsupportedMedia}}, s.changed, shown)
	kind.Delete(r, s.profiles, httpapi.Op{ID: "deleteProfile", Summary: "Delete a profile",
		Description: "A profile is deleted once nothing belongs to it: `invalid_state` names what does. Delete its " +
			"factories, content items, generations and media, disconnect its social accounts, delete its webhooks " +
			"and revoke its keys before. Its chats end with it. The entries of the balance stay.",
		Errors: []errs.Code{errs.InvalidState}}, s.empty, shown)
}

// Mount registers the operations of the area.
func Mount(r *httpapi.Router, e area.Env) { NewService(e.DB, e.Media, e.Now).Register(r) }

// Input is the type of the body of the operation that creates a profile. Imports check what comes in by its schema.
var Input = reflect.TypeFor[createBody]()

// indexDelay is the time after which the index by owner shows what was made in a profile.
const indexDelay = 5 * time.Second

// errFound ends a list at its first item.
var errFound = errors.New("found")

// empty lets a profile go to which nothing belongs. Whatever is made in a profile notes its use: so nothing is made
// between the look at the lists and the deletion, and the lists show what was made before.
func (s *Service) empty(ctx context.Context, tx *store.Tx, f *kind.Found[record.Record]) error {
	if wait := ledger.UsedAt(f.Beside[uses]).Add(indexDelay).Sub(s.now()); wait > 0 {
		e := belongs("Something was made in the profile just now. Repeat the request in a few seconds.")
		e.RetryAfter = wait
		return e
	}
	nouns, err := s.belonging(ctx, f.Item.Owner)
	switch {
	case err != nil:
		return err
	case len(nouns) > 0:
		return belongs("The profile still has " + strings.Join(nouns, ", ") + ". Delete or disconnect them " +
			"first: lists select them by profile_id.")
	}
	ledger.ClosePurse(tx, f.Beside[purse], f.Beside[uses])
	if f.Beside[logo].Version > 0 {
		tx.Delete(f.Beside[logo])
	}
	return nil
}

func belongs(message string) *errs.Error {
	return errs.New(errs.InvalidState, "%s", message)
}

// belonging returns what belongs to the owner's profile, such as factories.
func (s *Service) belonging(ctx context.Context, o tenant.Owner) (nouns []string, _ error) {
	for _, list := range []struct {
		noun   string
		query  store.Query
		passes func(store.Item) (bool, error)
	}{
		{"API keys", store.Query{Index: store.Table, Partition: credential.Keys(o.Account)},
			func(it store.Item) (bool, error) { return s.binds(it, o.Profile) }},
		{"webhooks", store.Query{Index: store.Table, Partition: webhook.List(o)}, nil},
		{"factories", listQuery(o, factoryrecord.Kind), nil},
		{"social accounts", listQuery(o, social.Kind), func(it store.Item) (bool, error) {
			return it.Filters["state"] != string(social.Disconnected), nil
		}},
		{"applications", listQuery(o, social.ApplicationKind), nil},
		{"integrations", listQuery(o, crm.Kind), func(it store.Item) (bool, error) {
			return it.Filters["state"] != string(crm.Disconnected), nil
		}},
		{"content items", listQuery(o, item.ItemKind), nil},
		{"generations", listQuery(o, studio.ItemKind), nil},
		{"templates", listQuery(o, template.Kind), nil},
		{"media", listQuery(o, incoming.ItemKind), nil},
	} {
		list.query.Limit = 100
		err := s.db.Each(ctx, list.query, func(it store.Item) error {
			passes, err := it.Owner == o, error(nil)
			if list.passes != nil && (passes || it.Mode == "") {
				passes, err = list.passes(it)
			}
			if err == nil && passes {
				err = errFound
			}
			return err
		})
		if errors.Is(err, errFound) {
			nouns = append(nouns, list.noun)
		} else if err != nil {
			return nil, err
		}
	}
	return nouns, nil
}

// listQuery returns the list of the resources of a kind that belong to the owner's profile.
func listQuery(o tenant.Owner, kind string) store.Query {
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
