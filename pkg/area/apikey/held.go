package apikey

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	keyrecord "github.com/content-automation/api/pkg/record/apikey"
	"github.com/content-automation/api/pkg/store"
)

// Find reads a key of an account that a caller of the given mode may see: a test key sees test keys only.
func (s *Service) Find(ctx context.Context, accountID tenant.Account, mode tenant.Mode, keyID string) (keyrecord.Record,
	store.Item, error) {
	if !id.Valid(id.APIKey, keyID) {
		return keyrecord.Record{}, store.Item{}, errs.Missing("API key", keyID)
	}
	it, err := s.db.Lookup(ctx, credential.KeyOf(accountID, keyID))
	if err != nil {
		return keyrecord.Record{}, store.Item{}, err
	}
	r, err := s.see(&it, mode, keyID)
	return r, it, err
}

// see returns the key of an item, if a caller of the given mode may see it.
func (s *Service) see(it *store.Item, mode tenant.Mode, keyID string) (keyrecord.Record, error) {
	if it.Kind == "" || mode == tenant.Test && it.Filters["kind"] != string(tenant.Test) {
		return keyrecord.Record{}, errs.Missing("API key", keyID)
	}
	return keyrecord.Read(it, s.now())
}

// held is the state that a change of keys starts from: the key to change, if there is one
// already, the account, and the actor that makes the change.
type held struct {
	keyrecord.Record
	item    store.Item
	account account.Account
	owner   store.Item // of the account
	grantor
	lineage
}

// grantor is the actor that grants rights to a key. The rights of a key are read, not taken from the authorizer: it may
// have been narrowed or revoked since. A person or the operator has no key, and no limits but scopes.
type grantor struct {
	manager
	rights Settings
	by     *store.Item // of the key; nil if there is none, or if it is the key that is changed
	self   bool
}

// bind makes the transaction fail if the rights of the grantor have changed since they were read.
func (g *grantor) bind(tx *store.Tx) {
	if g.by != nil {
		tx.Unchanged(*g.by)
	}
	g.manager.bind(tx)
}

// operated are the rights of the operator.
var operated = grantor{manager: manager{root: operator, role: auth.Owner}, rights: Settings{Scopes: auth.AllScopes()}}

// FindHeld is Find for a change that the operator makes: it returns the account too, of which a secret carries a copy.
func (s *Service) FindHeld(ctx context.Context, accountID tenant.Account, mode tenant.Mode,
	keyID string) (held, error) {
	return s.hold(ctx, accountID, mode, keyID, nil)
}

// hold reads all that a change is based on in one round trip. Without the id of a key
// it is about a new one; without a principal the operator makes it.
func (s *Service) hold(ctx context.Context, accountID tenant.Account, mode tenant.Mode, keyID string,
	p *auth.Principal) (held, error) {
	h := held{grantor: operated}
	keys := []store.Key{store.IDKey(string(accountID))}
	if keyID != "" {
		if !id.Valid(id.APIKey, keyID) {
			return h, errs.Missing("API key", keyID)
		}
		keys = append(keys, credential.KeyOf(accountID, keyID))
	}
	caller := ""
	if p != nil {
		h.rights, caller = Settings{Scopes: p.Scopes}, p.KeyID()
		h.self = caller == keyID && caller != ""
	}
	if caller != "" && !h.self {
		keys = append(keys, credential.KeyOf(accountID, caller))
	}
	items, err := s.db.GetAll(ctx, keys...)
	if err != nil {
		return h, err
	}
	h.owner = items[0]
	if keyID != "" {
		h.item = items[1]
		if h.Record, err = s.see(&h.item, mode, keyID); err != nil {
			return h, err
		}
	}
	if h.lineage, err = s.lineageOf(ctx, accountID, h.Makers, items[len(items)-1]); err != nil {
		return h, err
	}
	if p != nil {
		if h.manager, err = s.managerBy(ctx, p, items[len(items)-1]); err != nil {
			return h, err
		}
	}
	if p != nil && keyID != "" {
		if err := s.own(ctx, p, h.manager, &h.Record); err != nil {
			return h, err
		}
	}
	if h.owner.Kind != account.Kind {
		return h, errs.New(errs.NotFound, "There is no account %q.", accountID)
	}
	if err := h.owner.Decode(&h.account); err != nil || caller == "" {
		return h, err
	}
	if h.self {
		h.rights = settingsOf(&h.Record)
		return h, h.mayManage()
	}
	h.by = &items[len(items)-1]
	r, err := s.see(h.by, tenant.Live, caller)
	h.rights = settingsOf(&r)
	// Drop scopes that the key has lost since the call was authorized, and do not add new ones.
	h.rights.Scopes = slices.DeleteFunc(slices.Clone(r.Scopes), func(s auth.Scope) bool { return !p.Has(s) })
	switch {
	case errs.CodeOf(err) == errs.NotFound, err == nil && r.State != keyrecord.Active:
		return h, errs.New(errs.InvalidAPIKey, auth.MessageInvalidKey)
	case err == nil && !slices.Contains(r.Scopes, auth.AccountManage):
		return h, errs.New(errs.InsufficientScope, "%s", auth.MessageScope(auth.AccountManage))
	case err != nil:
		return h, err
	}
	if err := h.mayManage(); err != nil || keyID != "" {
		return h, err
	}
	if len(r.Makers) >= keyrecord.MostMakers {
		return h, errs.New(errs.InvalidState, "The calling key was made through %d other keys, which is the maximum. "+
			"Create the key with one of those, or in the account area.", keyrecord.MostMakers)
	}
	h.lineage, err = s.lineageOf(ctx, accountID, r.Makers)
	h.makers = append([]string{caller}, r.Makers...)
	h.limits = append([]auth.KeyLimit{r.Limits()}, h.limits...)
	return h, err
}

func settingsOf(r *keyrecord.Record) Settings {
	return Settings{r.Name, r.Scopes, r.IPAllowList, r.ExpiresAt, r.SpendLimit, mandateOf(r.Mandate), r.Metadata,
		r.ProfileIDs}
}

// mayChange refuses to change the key to settings that the grantor may not grant. Narrowing a key takes no rights over
// it. Widening it is like making it: the key must not be wider than the grantor afterwards, and no key widens itself.
func (h *held) mayChange(set *Settings) error {
	before := settingsOf(&h.Record)
	wider := within(set, &before)
	if wider == nil {
		return nil
	}
	if h.self {
		e := errs.New(errs.ScopeEscalation, "A key cannot widen itself. Use another key that has all its rights.")
		e.Param = errs.As(wider).Param
		return e
	}
	return within(set, &h.rights)
}

// within returns scope_escalation unless a key with the settings is permitted no more
// than one with the rights. The param is the first member that permits more.
func within(set, rights *Settings) error {
	if err := (&auth.Principal{Scopes: rights.Scopes}).RequireScopes(set.Scopes, "/scopes"); err != nil {
		return err
	}
	invalid := func(param, format string, args ...any) error {
		e := errs.New(errs.ScopeEscalation, format, args...)
		e.Param = param
		return e
	}
	if i := auth.Outside(set.IPAllowList, rights.IPAllowList); i >= 0 {
		at := "/ip_allow_list"
		if len(set.IPAllowList) > 0 {
			at += "/" + strconv.Itoa(i)
		}
		return invalid(at, "The calling key may be used from its ip_allow_list only, so it cannot permit other "+
			"addresses. Each range must lie within one range of that list.")
	}
	if end := rights.ExpiresAt; end != nil && (set.ExpiresAt == nil || set.ExpiresAt.After(end.Time)) {
		return invalid("/expires_at", "The calling key expires at %s, so it cannot give a later expiry, or none.",
			end.Format(time.RFC3339))
	}
	if most := rights.SpendLimit; most != nil && (set.SpendLimit == nil || *set.SpendLimit > *most) {
		return invalid("/spend_limit_credits", "The calling key may spend %d credits a month, so it cannot give a "+
			"higher limit, or none.", *most)
	}
	if most := rights.Mandate.mandate("").Terms(); most != nil {
		param := "/mandate"
		switch member := set.Mandate.mandate("").Terms().Within(most); member {
		case "":
			return nil
		case "mandate":
		default:
			param += "/" + member
		}
		return invalid(param, "The calling key has a mandate, so it cannot give a wider one, or none. Each member "+
			"must permit no more than that of its own mandate; quiet_hours must be the same.")
	}
	return nil
}
