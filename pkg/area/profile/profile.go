// Package profile holds the operations on profiles: the clients of an agency. What belongs to a profile is in the other
// areas; pkg/record/profile decides it, and the store holds the keys of a profile within it. Service.Register has the
// operations.
package profile

import (
	"context"
	"errors"
	"fmt"
	"net/http"
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
	"github.com/content-automation/api/pkg/media"
	keyrecord "github.com/content-automation/api/pkg/record/apikey"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
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
	Spent int64 `json:"used_credits"`
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

// listInput has the parameters of the list of profiles.
type listInput struct {
	httpapi.PageInput
	resource.Tagged
	// Only profiles with this name, in any case of its letters.
	Name string `query:"name" maxLength:"200" example:"Café Linde"`
}

func (s *Service) list(ctx context.Context, in *listInput) (httpapi.Page[record.Profile], error) {
	q := httpapi.AllOwned(ctx, record.Kind, map[string]string{record.NameFilter: record.Fold(in.Name)})
	in.Tagged.Into(&q)
	return httpapi.ListItems(ctx, s.db, q, in.PageInput, func(it store.Item) (record.Profile, error) {
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
		return errs.MissingAt(m.Param, "media", m.Value)
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
	// Country in which the content of its factories is published (ISO 3166-1). The content must keep the rules of law
	// of this country. A factory may have another one. Null: none.
	Region *string `json:"region,omitempty" nullable:"true" minLength:"2" maxLength:"2" example:"DE"`
	// Marking of advertising of its factories, for countries that require it. Null: none.
	AdMarking *record.AdMarkingPatch `json:"ad_marking,omitempty"`
	// Pairs to set. A null value removes that pair; null removes all.
	Metadata resource.MetadataPatch `json:"metadata,omitempty" nullable:"true"`
}

type createInput struct{ Body createBody }

// Path names the profile of a call.
type Path struct {
	// Id of the profile.
	ID string `path:"profile_id" example:"prf_01h455vb4pex5vsknk084sn02q"`
}

type patchInput struct {
	Path
	httpapi.IfMatch
	Body patchBody
}

type deleteInput struct {
	Path
	httpapi.IfMatch
}

// Register puts the operations of the area into the router.
func (s *Service) Register(r *httpapi.Router) {
	const collection, one = "/v1/profiles", "/v1/profiles/{profile_id}"
	op := func(id, method, path string, scope auth.Scope, summary, description string) httpapi.Op {
		return httpapi.Op{
			ID: id, Method: method, Path: path, Scope: scope, Function: "account", Tag: "Profiles",
			Summary: summary, Description: description, AccountWide: method != http.MethodGet,
		}
	}
	list := op("listProfiles", http.MethodGet, collection, auth.AccountRead, "List the profiles",
		"Newest first. A key that is bound to profiles lists these.").Opening(httpapi.Nothing)
	list.Errors = []errs.Code{errs.InvalidCursor}
	httpapi.List(r, list, s.list)

	create := op("createProfile", http.MethodPost, collection, auth.AccountManage, "Create a profile",
		"A profile is a client of an agency. Factories, social accounts, media, webhooks and generations of the "+
			"studio that are created with its id belong to it, with all that they make. A key with `profile_ids` "+
			"sees and makes nothing else.").Opening(httpapi.Nothing)
	create.Status = http.StatusCreated
	create.Errors = []errs.Code{errs.UnsupportedMedia, errs.InvalidState, errs.NotFound}
	httpapi.Write(r, create, s.create)

	httpapi.Read(r, op("getProfile", http.MethodGet, one, auth.AccountRead, "Get a profile",
		"Includes what the work for it has cost this month.").Opening(httpapi.Nothing), s.get)

	update := op("updateProfile", http.MethodPatch, one, auth.AccountManage, "Change a profile",
		"Takes a JSON merge patch (RFC 7396).").Opening(httpapi.Spending)
	update.Errors = []errs.Code{errs.UnsupportedMedia, errs.VersionMismatch}
	httpapi.Write(r, update, s.update)

	remove := op("deleteProfile", http.MethodDelete, one, auth.AccountManage, "Delete a profile",
		"A profile is deleted once nothing belongs to it: `invalid_state` names what does. Delete its factories, "+
			"content items, generations and media, disconnect its social accounts, delete its webhooks and revoke "+
			"its keys before. Its chats end with it. The entries of the balance stay.").Opening(httpapi.Deletion)
	remove.Errors = []errs.Code{errs.InvalidState, errs.VersionMismatch}
	httpapi.Write(r, remove, s.remove)
}

// Mount registers the operations of the area.
func Mount(r *httpapi.Router, e area.Env) { NewService(e.DB, e.Media, e.Now).Register(r) }

// Input is the type of the body of the operation that creates a profile. Imports check what comes in by its schema.
var Input = reflect.TypeFor[createBody]()

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
		{"media", listed(o, incoming.ItemKind), nil},
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
