package apikey

import (
	"context"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/httpapi/kind"
	keyrecord "github.com/content-automation/api/pkg/record/apikey"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// Mount registers the operations of the area.
func Mount(r *httpapi.Router, e area.Env) {
	NewService(e.DB, account.NewService(e.DB, e.Now), e.Now, e.Random).Register(r)
}

var _ = format.Define("bound-profile", format.Format{Many: 20, Distinct: true})

type createBody struct {
	// Name of the key.
	Name string `json:"name" format:"line" minLength:"1" maxLength:"100" example:"CRM integration"`
	// live: spends credits and publishes. test: uses the sandbox. A test key can create test keys only.
	Kind tenant.Mode `json:"kind" enum:"live,test" example:"test"`
	// Scopes of the key. The calling key must have all of them.
	Scopes []auth.Scope `json:"scopes" minItems:"1" maxItems:"13" nullable:"false"`
	// Address ranges (CIDR, IPv4 or IPv6) that may use the key. Empty: all. If the calling key has a list, each range
	// must lie within one of its ranges.
	IPAllowList []string `json:"ip_allow_list,omitempty" maxItems:"50" nullable:"false" example:"[\"203.0.113.0/24\"]"`
	// Time at which the key expires (RFC 3339). Absent or null: never. Not later than that of the calling key.
	ExpiresAt *resource.Time `json:"expires_at,omitempty" nullable:"true"`
	// Credits that the key may spend in a calendar month (UTC). A call that would spend more fails with 402
	// spend_limit_reached. Test keys spend none. Absent or null: no limit of its own.
	SpendLimit *int64 `json:"spend_limit_credits,omitempty" nullable:"true" format:"credits" example:"5000"`
	// Mandate of the key, which bounds what an agent does with it. A key with a mandate can create only keys whose
	// mandate permits no more, and its own binds them, too. Absent or null: none, so that the scopes alone bound it.
	Mandate *MandateBody `json:"mandate,omitempty"`
	// Profiles that the key is bound to, of the mode of the key: it sees and makes nothing else. It cannot be changed.
	// Absent or empty: the whole account.
	ProfileIDs []tenant.Profile `json:"profile_ids,omitempty" format:"bound-profile" nullable:"false" example:"[]"`
	// Up to 20 key-value pairs of your own.
	Metadata resource.Metadata `json:"metadata,omitempty"`
}

// Rules refuses bodies that the schema cannot rule out.
func (b createBody) Rules() error {
	if b.Scopes == nil {
		return errs.All(errs.Invalid("/scopes", "is required: a list of %s", strings.Join(knownScopes(), ", ")),
			rules(nil, b.IPAllowList))
	}
	return rules(b.Scopes, b.IPAllowList)
}

func rules(scopes []auth.Scope, ips []string) error {
	_, err := auth.ParseCIDRs(ips, "/ip_allow_list")
	return errs.All(checkScopes(scopes), err)
}

type patchBody struct {
	// Name of the key.
	Name string `json:"name,omitempty" format:"line" minLength:"1" maxLength:"100" example:"CRM integration"`
	// Scopes of the key.
	Scopes []auth.Scope `json:"scopes,omitempty" minItems:"1" maxItems:"13" nullable:"false"`
	// Address ranges (CIDR, IPv4 or IPv6) that may use the key. Null or empty: all.
	IPAllowList []string `json:"ip_allow_list,omitempty" maxItems:"50" nullable:"true"`
	// Time at which the key expires. Null: never.
	ExpiresAt *resource.Time `json:"expires_at,omitempty" nullable:"true"`
	// Credits that the key may spend in a calendar month (UTC). A call that would spend more fails with 402
	// spend_limit_reached. Test keys spend none. Null: no limit of its own.
	SpendLimit *int64 `json:"spend_limit_credits,omitempty" nullable:"true" format:"credits"`
	// Mandate of the key, which bounds what an agent does with it. Members that are absent stay as they are. Null:
	// none.
	Mandate *MandateBody `json:"mandate,omitempty"`
	// Pairs to set. A null value removes that pair; null removes all.
	Metadata resource.MetadataPatch `json:"metadata,omitempty" nullable:"true"`
}

// Rules refuses bodies that the schema cannot rule out.
func (b patchBody) Rules() error { return rules(b.Scopes, b.IPAllowList) }

type rotateBody struct {
	// Time for which the old secret stays valid, in seconds. 0: all earlier secrets end at once.
	OverlapSeconds int `json:"overlap_seconds,omitempty" minimum:"0" maximum:"604800" default:"0" example:"3600"`
}

// KeyPath is the part of the path that names a key. It is exported because huma
// reads exported fields only, embedded ones too.
type KeyPath struct {
	// Id of the key.
	ID string `path:"api_key_id" example:"key_01h455vb4pex5vsknk084sn02q"`
}

type createInput struct {
	Body createBody
}

type patchInput struct {
	KeyPath
	httpapi.IfMatch
	Body patchBody
}

type deleteInput struct {
	KeyPath
	httpapi.IfMatch
	// true: also revokes the keys that this key created, directly or through others.
	IncludeCreated bool `query:"include_created"`
}

type rotateInput struct {
	KeyPath
	httpapi.IfMatch
	Body *rotateBody
}

// apiKeys are declared for their operations: who may see a key, and change it, depends on the keys that made it.
var apiKeys = kind.Kind[keyrecord.Record]{Name: Kind, ID: id.APIKey, Path: "/v1/api-keys/{api_key_id}",
	Function: "apikey", Tag: "API keys", Reads: auth.AccountManage, Writes: auth.AccountManage}

// Register puts the operations of the area into the router.
func (s *Service) Register(r *httpapi.Router) {
	op := func(method, at string, op httpapi.Op) httpapi.Op {
		op.AccountWide = true
		return apiKeys.Op(op, method, at)
	}
	list := path.Dir(apiKeys.Path)
	httpapi.List(r, op(http.MethodGet, list, httpapi.Op{ID: "listApiKeys", Summary: "List the API keys",
		Description: "Secrets are not included. A live key lists all keys of the account, a test key the test keys. " +
			"Developers and the keys that they have made, directly or through other keys, list only those that they " +
			"have made."}), s.list)
	httpapi.Write(r, op(http.MethodPost, list, httpapi.Op{ID: "createApiKey", Summary: "Create an API key",
		Description: "A key can create only keys that are no wider than itself in scopes, addresses, expiry and " +
			"limit of spending, and what those spend counts for its own limit too. It manages keys as the person who " +
			"has made it may now. Only this response contains the secret. Store it safely.",
		Opens:  httpapi.Credential | httpapi.Right,
		Errors: []errs.Code{errs.NotFound, errs.ScopeEscalation, errs.InvalidState}}), s.createKey)
	httpapi.Read(r, op(http.MethodGet, apiKeys.Path, httpapi.Op{ID: "getApiKey", Summary: "Get an API key",
		Description: "Includes the time and address of its last use, how often it was used, and what it has spent " +
			"this month. The last minute of a revoked key may be missing."}), s.getKey)
	httpapi.Write(r, op(http.MethodPatch, apiKeys.Path, httpapi.Op{ID: "updateApiKey", Summary: "Change an API key",
		Description: "Takes a JSON merge patch (RFC 7396). Takes effect on the next request. Narrowing a key needs " +
			"no more than `account:manage`. To widen a key in any way, such as by a scope, an address or a later " +
			"expiry, the calling key must be at least as wide as the key afterwards. No key can widen itself: " +
			"`scope_escalation`.",
		Opens: httpapi.Right, Errors: []errs.Code{errs.ScopeEscalation, errs.InvalidState},
		FixedMembers: map[string]string{"kind": "create another key", "profile_ids": "create another key",
			"secret": "POST /v1/api-keys/{api_key_id}/rotate makes a new one",
			"state":  "DELETE /v1/api-keys/{api_key_id} revokes the key"}}), s.updateKey)
	httpapi.Write(r, op(http.MethodDelete, apiKeys.Path, httpapi.Op{ID: "revokeApiKey", Summary: "Revoke an API key",
		Description: "Takes effect on the next request and cannot be undone. The key stays in the list with the " +
			"state `revoked`. Its webhooks keep its last scopes. With `include_created=true`, the keys that it " +
			"created are revoked too, directly or through others, and the webhooks of all of them are disabled; if " +
			"the request fails, repeat it."}), s.revokeKey)
	httpapi.Write(r, op(http.MethodPost, apiKeys.Path+"/rotate", httpapi.Op{ID: "rotateApiKey",
		Summary: "Rotate the secret of an API key", Status: http.StatusCreated,
		Description: "The old secret stays valid for `overlap_seconds`, and those before it for theirs. With 0, all " +
			"earlier secrets end. An old secret cannot create, change, rotate or revoke keys. The calling key must " +
			"be at least as wide as the rotated key, or that key itself. Only this response contains the new secret.",
		Opens:  httpapi.Credential | httpapi.Right,
		Errors: []errs.Code{errs.ScopeEscalation, errs.InvalidState}}), s.rotateKey)
}

type listInput struct {
	httpapi.PageInput
	resource.MetadataFilter
	// Only keys of these kinds, separated by commas. A test key sees those of the kind test alone.
	Kind []string `query:"kind" enum:"live,test" nullable:"false"`
	// Only keys that are bound to this profile, revoked ones included.
	ProfileID string `query:"profile_id"`
}

func (s *Service) list(ctx context.Context, in *listInput) (httpapi.Page[Key], error) {
	p := auth.FromContext(ctx)
	q := store.Query{Index: store.Table, Partition: credential.Keys(p.Account),
		Filters: map[string]string{"kind": httpapi.AnyOf(in.Kind)}}
	if p.Mode == tenant.Test {
		if len(in.Kind) > 0 && !slices.Contains(in.Kind, string(tenant.Test)) {
			return httpapi.Page[Key]{Items: []Key{}}, nil
		}
		q.Filters["kind"] = string(tenant.Test)
	}
	m, err := s.manager(ctx, p)
	if err != nil {
		return httpapi.Page[Key]{}, err
	}
	if !m.all(p) {
		q.Filters[rootFilter] = m.root
	}
	if in.ProfileID != "" {
		q.Contains = map[string][]string{profilesFilter: {in.ProfileID}}
	}
	in.MetadataFilter.Into(&q)
	return httpapi.ListItems(ctx, s.db, q, in.PageInput, func(it store.Item) (Key, error) {
		r, err := keyrecord.Read(&it, s.now())
		return r.Key, err
	})
}

func (s *Service) createKey(ctx context.Context, tx *store.Tx, in *createInput) (out NewKey, err error) {
	p, b := auth.FromContext(ctx), in.Body
	if err := mayManage(p); err != nil {
		return out, err
	}
	if p.Mode == tenant.Test && b.Kind != tenant.Test {
		e := errs.New(errs.ScopeEscalation, "A test key can create test keys only. Use a live key.")
		e.Param = "/kind"
		return out, e
	}
	// Validity comes first: a misspelt scope is a mistake, not an attempt to gain one.
	set := Settings{b.Name, b.Scopes, b.IPAllowList, b.ExpiresAt, b.SpendLimit, b.Mandate, b.Metadata, b.ProfileIDs}
	if err := s.validate(&set, nil); err != nil {
		return out, err
	}
	h, err := s.hold(ctx, p.Account, p.Mode, "", p)
	if err != nil {
		return out, err
	}
	if err := within(&set, &h.rights); err != nil {
		return out, err
	}
	return s.create(tx, h, b.Kind, set, p.Actor.ID)
}

// mayManage refuses a secret that a rotation has replaced. The key may have been rotated
// because the secret leaked: its finder must not lock out the key's owner.
func mayManage(p *auth.Principal) error {
	if p.OldSecret {
		return errs.New(errs.InsufficientScope, "A rotation has replaced the secret of this request. It cannot "+
			"manage API keys while it is still valid. Use the new secret.")
	}
	return nil
}

// rootFilter is the filter of lists by who has created a key, directly or through other keys. It has the name that it
// had when it was only about those who had created keys directly.
const rootFilter = "by"

// profilesFilter is the filter of lists by the profiles that a key is bound to: their ids, each with a point.
const profilesFilter = "profiles"

// find reads the key in the path of the call.
func (s *Service) find(ctx context.Context, in KeyPath, match ...httpapi.IfMatch) (keyrecord.Record,
	store.Item, error) {
	p := auth.FromContext(ctx)
	if !id.Valid(id.APIKey, in.ID) {
		return keyrecord.Record{}, store.Item{}, errs.Missing("API key", in.ID)
	}
	keys := []store.Key{credential.KeyOf(p.Account, in.ID)}
	if p.KeyID() != "" && p.KeyID() != in.ID {
		keys = append(keys, credential.KeyOf(p.Account, p.KeyID()))
	}
	items, err := s.db.GetAll(ctx, keys...)
	if err != nil {
		return keyrecord.Record{}, store.Item{}, err
	}
	r, err := s.see(&items[0], p.Mode, in.ID)
	if err != nil {
		return r, items[0], err
	}
	m, err := s.managerBy(ctx, p, items[len(items)-1])
	if err == nil {
		err = s.own(ctx, p, m, &r)
	}
	if err == nil {
		err = httpapi.Matches(r.Version, match)
	}
	return r, items[0], err
}

// holdOf reads the key in the path of a call that changes it, with all that the change is based on.
func (s *Service) holdOf(ctx context.Context, in KeyPath, match httpapi.IfMatch) (keyState, error) {
	p := auth.FromContext(ctx)
	if err := mayManage(p); err != nil {
		return keyState{}, err
	}
	h, err := s.hold(ctx, p.Account, p.Mode, in.ID, p)
	if err == nil {
		err = match.Check(h.Version)
	}
	return h, err
}

// getKey reads a key with its usage and spending in one round trip, and then the counts that its secrets still have.
func (s *Service) getKey(ctx context.Context, in *KeyPath) (out Details, err error) {
	p, now := auth.FromContext(ctx), s.now()
	if !id.Valid(id.APIKey, in.ID) {
		return out, errs.Missing("API key", in.ID)
	}
	keys := append(credential.UsageKeys(in.ID, now), credential.KeyOf(p.Account, in.ID),
		ledger.SpendKey(p.Account, in.ID, now))
	days, caller := len(keys)-2, len(keys)-2
	if p.KeyID() != "" && p.KeyID() != in.ID {
		keys, caller = append(keys, credential.KeyOf(p.Account, p.KeyID())), len(keys)
	}
	items, err := s.db.GetAll(ctx, keys...)
	if err != nil {
		return out, err
	}
	r, err := s.see(&items[days], p.Mode, in.ID)
	var m manager
	if err == nil {
		m, err = s.managerBy(ctx, p, items[caller])
	}
	if err == nil {
		err = s.own(ctx, p, m, &r)
	}
	if err != nil {
		return out, err
	}
	chain, err := credential.ChainOf(ctx, s.db, items[days].Attributes[account.SecretAttribute])
	if err != nil {
		return out, err
	}
	return Details{r.Key, credential.UsageOf(items[:days], chain, now), credential.DaysOf(items[:days], chain, now),
		items[days+1].Count(), ledger.SpentOn(items[days+1], now)}, nil
}

func (s *Service) updateKey(ctx context.Context, tx *store.Tx, in *patchInput) (out Key, err error) {
	k, err := s.holdOf(ctx, in.KeyPath, in.IfMatch)
	if err != nil {
		return out, err
	}
	set, err := httpapi.MergePatch(ctx, settingsOf(&k.Record))
	if err != nil {
		return out, err
	}
	if k.State == keyrecord.Revoked {
		return out, errs.New(errs.InvalidState,
			"The key is revoked and cannot be changed. Create a new one.").With(stateOf(k.State))
	}
	if err := s.validate(&set, k.ExpiresAt); err != nil {
		return out, err
	}
	if err := k.mayChange(&set); err != nil {
		return out, err
	}
	return s.update(ctx, tx, k, set)
}

func (s *Service) revokeKey(ctx context.Context, tx *store.Tx, in *deleteInput) (out RevokedKey, err error) {
	p := auth.FromContext(ctx)
	if err := mayManage(p); err != nil {
		return out, err
	}
	r, it, err := s.find(ctx, in.KeyPath, in.IfMatch)
	if err != nil {
		return out, err
	}
	k := &ending{r, it}
	if in.IncludeCreated {
		n, err := s.revokeCreated(ctx, tx, k, p.KeyID())
		return RevokedKey{k.Key, &n}, err
	}
	err = s.revoke(tx, k)
	return RevokedKey{k.Key, nil}, err
}

func (s *Service) rotateKey(ctx context.Context, tx *store.Tx, in *rotateInput) (out NewKey, err error) {
	k, err := s.holdOf(ctx, in.KeyPath, in.IfMatch)
	if err != nil {
		return out, err
	}
	// A caller that rotates a key holds it afterwards, as if it had made it.
	if set := settingsOf(&k.Record); !k.self {
		if err := within(&set, &k.rights); err != nil {
			e := *errs.As(err)
			e.Param = "" // the request has no such member
			return out, &e
		}
	}
	var overlap time.Duration
	if in.Body != nil {
		overlap = time.Duration(in.Body.OverlapSeconds) * time.Second
	}
	return s.Rotate(tx, k, overlap)
}

var (
	_ = format.Define("mandate-platforms", format.Format{Fewest: 1, Many: 20, Distinct: true,
		List: []any{"telegram", "vk"}})
	_ = format.Define("mandate-act", format.Format{Values: format.Values(auth.AllActs()...), Distinct: true})
)

// MandateBody is the mandate of a key in a body, also in a merge patch.
type MandateBody struct {
	_ struct{} `nullable:"true"`
	// Credits that the key may spend on a day (UTC), with the keys that it has created. A call that would spend more
	// fails with 402 spend_limit_reached. Absent or null: no limit of a day.
	CreditsADay *int64 `json:"credits_a_day,omitempty" nullable:"true" format:"credits" example:"200"`
	// Platforms that it may publish to: ids of GET /v1/social/platforms. Absent or null: all.
	Platforms []string `json:"platforms,omitempty" nullable:"true" format:"mandate-platforms"`
	// Hours of each day in which nothing of it is published. Work that spends is permitted. Absent or null: none.
	QuietHours *QuietHoursBody `json:"quiet_hours,omitempty"`
	// Acts that only people do: a call that does one fails with 403 person_required. publish: schedule, publish and
	// approve content. spend: spend credits. delete: delete, disconnect and empty the sandbox. invite: open the account
	// to others by an address, a secret, a right or a copy, as by webhooks, API keys, review links, social accounts,
	// applications, CRMs, imports and exports. x-opens of an operation says what it opens. Absent, null or empty: none.
	NeedsPerson []auth.Act `json:"needs_person,omitempty" nullable:"true" format:"mandate-act" example:"[\"delete\"]"`
	// Time from which on the key does nothing any more (RFC 3339): its calls fail with 403 outside_mandate. A time that
	// is past ends the mandate at once. Absent or null: none.
	Until *resource.Time `json:"until,omitempty" nullable:"true"`
}

// QuietHoursBody are quiet hours in a body.
type QuietHoursBody struct {
	_ struct{} `nullable:"true"`
	// Time of day at which they begin (HH:MM).
	From string `json:"from" minLength:"5" maxLength:"5" example:"22:00"`
	// Time of day at which they end (HH:MM). It may be earlier than from: then they contain midnight.
	To string `json:"to" minLength:"5" maxLength:"5" example:"08:00"`
	// IANA time zone in which both times of day are meant.
	Timezone string `json:"timezone" minLength:"1" maxLength:"64" example:"Europe/Berlin"`
}

// mandateOf returns the body of a mandate, or nil for nil.
func mandateOf(m *keyrecord.Mandate) *MandateBody {
	if m == nil {
		return nil
	}
	b := &MandateBody{CreditsADay: m.CreditsADay, Platforms: m.Platforms, NeedsPerson: m.NeedsPerson, Until: m.Until}
	if q := m.QuietHours; q != nil {
		b.QuietHours = &QuietHoursBody{From: q.From, To: q.To, Timezone: q.Timezone}
	}
	return b
}

// mandate returns the mandate of a body with an id, or nil for nil.
func (b *MandateBody) mandate(id string) *keyrecord.Mandate {
	if b == nil {
		return nil
	}
	m := &keyrecord.Mandate{ID: id, CreditsADay: b.CreditsADay, Platforms: b.Platforms, Until: b.Until,
		NeedsPerson: append([]auth.Act{}, b.NeedsPerson...)}
	if q := b.QuietHours; q != nil {
		m.QuietHours = &auth.QuietHours{From: q.From, To: q.To, Timezone: q.Timezone}
	}
	return m
}

// check refuses a mandate that is not valid, and puts it into canonical form.
func (b *MandateBody) check() error {
	if b == nil {
		return nil
	}
	var found []error
	if n := b.CreditsADay; n != nil && (*n < 0 || *n > ledger.MaxCredits) {
		found = append(found, errs.Invalid("/mandate/credits_a_day", "must be between 0 and %d, or null",
			int64(ledger.MaxCredits)))
	}
	known := registry.Names()
	for i, name := range b.Platforms {
		if !slices.Contains(known, name) {
			found = append(found, errs.Invalid("/mandate/platforms/"+strconv.Itoa(i), "%s",
				text.NotOneOf(name, known)))
		}
	}
	if b.QuietHours != nil {
		if member, problem := b.mandate("").QuietHours.Check(); member != "" {
			found = append(found, errs.Invalid("/mandate/quiet_hours/"+member, "%s", problem))
		}
	}
	for i, act := range b.NeedsPerson {
		if !slices.Contains(auth.AllActs(), act) {
			found = append(found, errs.Invalid("/mandate/needs_person/"+strconv.Itoa(i), "%s",
				text.NotOneOf(string(act), format.Values(auth.AllActs()...))))
		}
	}
	if b.Until != nil {
		at := resource.Instant(b.Until.Time)
		b.Until = &at
	}
	return errs.All(found...)
}
