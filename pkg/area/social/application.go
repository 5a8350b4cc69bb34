package social

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	crms "github.com/content-automation/api/pkg/adapter/crm/registry"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/secret"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/httpapi/kind"
	"github.com/content-automation/api/pkg/record/profile"
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
	Platform string `json:"platform" filter:"platform" example:"x"`
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
	// SealedSecret is the secret, encrypted by Vault. It is empty if the platform has public applications.
	SealedSecret []byte `json:"sealed,omitempty"`
	// Deleted reports that the application was deleted. Its item stays for a while, without the secret.
	Deleted bool `json:"deleted,omitempty"`
}

// keepGone is the time for which the item of a deleted application stays.
const keepGone = 24 * time.Hour

// remove adds the deletion of an application, which was read as it, to the transaction.
func (r *applicationRecord) remove(tx *store.Tx, it store.Item, now time.Time) error {
	r.SealedSecret, r.Deleted = nil, true
	it.ListKey, it.ExpireAt = store.Key{}, now.Add(keepGone)
	r.Touch(now)
	return tx.Rewrite(it, r)
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

// isUsed reports whether an account that is not disconnected was connected with an application.
func (s *Service) isUsed(ctx context.Context, o tenant.Owner, applicationID string) (bool, error) {
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

// keep seals a secret into the record.
func (s *Service) keep(ctx context.Context, o tenant.Owner, r *applicationRecord, secret string) (err error) {
	if secret != "" {
		r.SealedSecret, err = s.vault.Seal(ctx, o, r.ID, platform.Secret(secret))
	}
	return err
}

type applicationBody struct {
	profile.ProfileMember
	// Platform with which you have registered the application. It cannot be changed.
	Platform string `json:"platform" format:"platform" example:"x"`
	// Id that the platform has given the application: client_id, client_key or app id. It cannot be changed.
	ClientID string `json:"client_id" format:"client-id"`
	// Secret of the application. It is sealed, and no answer shows it. Required except on vk, whose applications have
	// none.
	ClientSecret string `json:"client_secret,omitempty" format:"client-secret"`
	// Permissions that owners of accounts are asked for, if the platform has granted the application other ones than
	// usual. Absent or empty: the usual ones.
	Scopes []permission `json:"scopes,omitempty" maxItems:"50" uniqueItems:"true" nullable:"false"`
	// Most that its accounts use together in a day: US cents on X, uploads on YouTube. Absent or null: the usual limit
	// of the platform.
	DailyLimit *int `json:"daily_limit,omitempty" nullable:"true" minimum:"1" maximum:"100000000" example:"1000"`
	// Up to 20 key-value pairs of your own.
	Metadata resource.Metadata `json:"metadata,omitempty"`
}

// permission is a permission that a platform gives, in its own words.
type permission string

// Schema describes the permission in the OpenAPI document.
func (permission) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString, Pattern: "^[!-~]{1,200}$",
		PatternDescription: "a name of up to 200 characters without spaces"}
	s.PrecomputeMessages()
	return s
}

// Rules refuses an application that the platform does not have.
func (b applicationBody) Rules() error {
	secret, needed := needsSecret()[b.Platform]
	switch {
	case !needed:
		return errs.Invalid("/platform", "needs no application: its accounts are connected by a token or a login")
	case secret && b.ClientSecret == "":
		return errs.Invalid("/client_secret", "is required: send the secret that the platform shows beside the "+
			"client_id")
	case !secret && b.ClientSecret != "":
		return errs.Invalid("/client_secret", "is not used: the applications of %s have no secret here", b.Platform)
	}
	return checkLimit(b.Platform, b.DailyLimit)
}

type applicationPatch struct {
	// New secret of the application. Its accounts use it from now on.
	ClientSecret string `json:"client_secret,omitempty" format:"client-secret"`
	// Permissions that owners of accounts are asked for. Empty or null: the usual ones. Accounts that are connected
	// keep theirs until they are connected again.
	Scopes []permission `json:"scopes,omitempty" maxItems:"50" uniqueItems:"true" nullable:"true"`
	// Most that its accounts use together in a day: US cents on X, uploads on YouTube. Null: the usual limit of the
	// platform.
	DailyLimit *int `json:"daily_limit,omitempty" nullable:"true" minimum:"1" maximum:"100000000" example:"2000"`
	// Pairs to set. A null value removes that pair; null removes all.
	Metadata resource.MetadataPatch `json:"metadata,omitempty" nullable:"true"`
}

type applicationsInput struct {
	httpapi.PageInput
	resource.MetadataFilter
	profile.Filter
	// Only applications of these platforms, separated by commas.
	Platform []string `query:"platform" filter:"platform" format:"platform" nullable:"false"`
}

var applications = kind.Kind[applicationRecord]{Name: ApplicationKind, ID: id.Application,
	Path: "/v1/social/applications/{application_id}", Function: "social", Tag: "Social accounts",
	Reads: auth.SocialManage, Writes: auth.SocialManage,
	Load: func(_ context.Context, f *kind.Found[applicationRecord]) error {
		if f.Record.Deleted {
			return errs.Missing(ApplicationKind, f.Record.ID)
		}
		return nil
	}}

// registerApplications adds the operations on applications of customers.
func (s *Service) registerApplications(r *httpapi.Router) {
	kind.List[applicationsInput](r, s.applications, httpapi.Op{ID: "listApplications",
		Summary: "List your applications", Description: "Newest first."}, application)
	kind.Create(r, s.applications, httpapi.Op{ID: "createApplication", Summary: "Add an application of your own",
		Description: "Adds an application that you have registered with a platform. Accounts that are connected " +
			"from now on use it: those of the profile, or without a profile all accounts whose profile has " +
			"no application of its own. The platform then shows your name on its page, and its limits and " +
			"prices count for your application alone. Enter `redirect_url` of the response at the " +
			"platform. Accounts that are already connected keep their application until you connect them " +
			"again with their `social_account_id`. Their id stays, and `application_id` reports which " +
			"application they use. If there are several applications for a platform, the newest is used.",
		Opens: httpapi.Address | httpapi.Credential, Errors: []errs.Code{errs.NotFound, errs.InvalidState}},
		s.addApplication, application)
	kind.Get(r, s.applications, httpapi.Op{ID: "getApplication", Summary: "Get an application",
		Description: "Without its secret."}, application)
	const another = "create another application, and connect its accounts again"
	kind.Update(r, s.applications, httpapi.Op{ID: "updateApplication", Summary: "Change an application",
		Description: "Takes a JSON merge patch (RFC 7396). A new `client_secret` is used by all of its accounts " +
			"at once.",
		Opens:        httpapi.Address | httpapi.Credential,
		FixedMembers: map[string]string{"client_id": another, "platform": another, "profile_id": another}},
		s.changeApplication, application)
	httpapi.Write(r, s.applications.Op(httpapi.Op{ID: "deleteApplication", Summary: "Delete an application",
		Description: "An application is deleted once no account uses it, because its accounts could neither be " +
			"renewed nor be published to for long. Connect these again before, with a newer application or, if none " +
			"is left for them, after its deletion; `GET /v1/social/accounts?application_id=…` lists them. With " +
			"`force=true` it is deleted nevertheless: its accounts become `needs_reconnect` when they are next used " +
			"or renewed.", Errors: []errs.Code{errs.InvalidState}}, http.MethodDelete, applications.Path),
		s.deleteApplication)
}

// application returns an application as the caller sees it.
func application(ctx context.Context, f *kind.Found[applicationRecord]) (Application, error) {
	return f.Record.view(ctx), nil
}

func (s *Service) addApplication(ctx context.Context, tx *store.Tx,
	c *kind.Change[applicationRecord, applicationBody]) error {
	b, r := c.Body, c.Record
	if err := b.Rules(); err != nil {
		return err
	}
	if !slices.Contains(s.platforms.Names(), r.Platform) {
		return s.switchedOff(r.Platform)
	}
	o, err := b.ProfileMember.Owner(ctx, tx, c.Now)
	if err != nil {
		return err
	}
	c.Item.Owner, r.ProfileID, r.Scopes = o, o.ProfileID(), append([]string{}, r.Scopes...)
	all, err := s.shelves(ctx, r.Platform, o)
	if err != nil {
		return err
	}
	if len(all[0].IDs) >= maxApplications {
		if err := s.prune(ctx, &all[0]); err != nil {
			return err
		}
	}
	if len(all[0].IDs) >= maxApplications {
		return errs.New(errs.InvalidState, "There are already %d applications with this platform, which is the "+
			"maximum. Delete one first.", maxApplications)
	}
	if err := s.keep(ctx, o, r, b.ClientSecret); err != nil {
		return err
	}
	all[0].IDs = append(all[0].IDs, r.ID)
	return all[0].write(tx)
}

func (s *Service) changeApplication(ctx context.Context, _ *store.Tx,
	c *kind.Change[applicationRecord, applicationPatch]) error {
	r := c.Record
	if c.Body.ClientSecret != "" && len(r.SealedSecret) == 0 {
		return errs.Invalid("/client_secret", "is not used: the applications of %s have no secret here", r.Platform)
	}
	if err := checkLimit(r.Platform, r.DailyLimit); err != nil {
		return err
	}
	r.Scopes = append([]string{}, r.Scopes...)
	return s.keep(ctx, c.Item.Owner, r, c.Body.ClientSecret)
}

type removeApplication struct {
	httpapi.IfMatch
	// Whether to delete an application that accounts use. They have to be connected again.
	Force bool `query:"force"`
}

func (s *Service) deleteApplication(ctx context.Context, tx *store.Tx, in *removeApplication) (out Application,
	err error) {
	f, err := s.applications.Find(ctx, httpapi.PathID(ctx), in.IfMatch)
	if err != nil {
		return out, err
	}
	r, it := f.Record, f.Item
	if !in.Force {
		if used, err := s.isUsed(ctx, it.Owner, r.ID); err != nil {
			return out, err
		} else if used {
			return out, errs.New(errs.InvalidState, "Accounts use the application: GET "+
				"/v1/social/accounts?application_id=%s lists them. Connect them again with another one, disconnect "+
				"them, or repeat the request with force=true.", r.ID)
		}
	}
	all, err := s.shelves(ctx, r.Platform, it.Owner)
	if err != nil {
		return out, err
	}
	all[0].IDs = slices.DeleteFunc(all[0].IDs, func(one string) bool { return one == r.ID })
	if err := r.remove(tx, it, s.now()); err != nil {
		return out, err
	}
	return r.view(ctx), all[0].write(tx)
}

// needsSecret maps the platforms and CRMs that need an application to whether the application has a secret.
func needsSecret() map[string]bool {
	all := map[string]bool{}
	for _, p := range registry.Rows() {
		if p.Capabilities.Connect == platform.ConnectOAuth {
			all[p.Name] = !p.Capabilities.PublicApp
		}
	}
	for _, crm := range crms.Names() {
		all[crm] = true
	}
	return all
}

// members are the names of the members of an application, in order.
func members(secret bool) []string {
	if secret {
		return []string{"client_id", "client_secret"}
	}
	return []string{"client_id"}
}

// ExampleApps is a document with a placeholder for each value.
func ExampleApps() string {
	var parts []string
	for _, name := range AppPlatforms() {
		app := `"` + strings.Join(members(needsSecret()[name]), `": "…", "`) + `": "…"`
		parts = append(parts, fmt.Sprintf("%q: {%s}", name, app))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// AppPlatforms are the names of the platforms that need an application.
func AppPlatforms() []string { return slices.Sorted(maps.Keys(needsSecret())) }

// errUnreadable has no cause, because an unreadable value may still be a secret.
var errUnreadable = errors.New(
	`the secret is not a JSON object of the form {"<platform>": {"client_id": "…", "client_secret": "…"}}`)

// ParseApps reads the applications from the value of a secret. It leaves out an incomplete one, so that
// one mistake does not disable all platforms.
func ParseApps(value string) (map[string]platform.App, error) {
	var document map[string]json.RawMessage
	if err := json.Unmarshal([]byte(value), &document); err != nil {
		return nil, errUnreadable
	}
	found := map[string]platform.App{}
	for name, secret := range needsSecret() {
		var app platform.App
		if json.Unmarshal(document[name], &app) == nil && app.ID != "" && (app.Secret != "" || !secret) {
			found[name] = app
		}
	}
	return found, nil
}

// CheckApps refuses a value that is not exactly in the expected form. It serves the operator who is
// about to store the value. Its errors show no part of the secrets.
func CheckApps(value string) error {
	var document map[string]map[string]string
	if err := json.Unmarshal([]byte(value), &document); err != nil {
		return errUnreadable
	}
	needs := needsSecret()
	for name, app := range document {
		secret, ok := needs[name]
		want := members(secret)
		if !ok {
			return fmt.Errorf("%q is none of the platforms that need an application: %s", name,
				strings.Join(AppPlatforms(), ", "))
		}
		given := slices.DeleteFunc(slices.Sorted(maps.Keys(app)), func(member string) bool {
			return member == "scopes" || member == "hook_token" || member == "confirmations"
		})
		if !slices.Equal(given, want) {
			return fmt.Errorf("the application of %s has the members %s, and may have scopes, hook_token and "+
				"confirmations", name, strings.Join(want, " and "))
		}
		for member, text := range app {
			if text == "" || text != strings.TrimSpace(text) {
				return fmt.Errorf("the %s of %s is empty, or has white space around it", member, name)
			}
		}
	}
	return nil
}

// Applications reads the applications. It is safe for concurrent use.
type Applications struct {
	cache *secret.Cache[map[string]platform.App]
}

// NewApps returns a store of the secret whose value read returns; see manager.Secret.
func NewApps(read func(context.Context) (string, error), now func() time.Time) *Applications {
	return &Applications{secret.NewCache(read, ParseApps, now)}
}

// Get returns the application for a platform, or the zero value if there is none. An error
// means that the secret could not be read; it is transient.
func (s *Applications) Get(ctx context.Context, name string) (platform.App, error) {
	all, err := s.cache.Get(ctx)
	return all[name], err
}
