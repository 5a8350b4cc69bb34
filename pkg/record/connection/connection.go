// Package connection holds the sign-on connections of accounts: the customers' SAML and OpenID Connect providers, the
// e-mail domains that they speak for, and the roles that they give.
package connection

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"log/slog"
	"maps"
	"net"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/backoff"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// Kind is the protocol of a provider.
type Kind string

// The kinds.
const (
	SAML Kind = "saml"
	OIDC Kind = "oidc"
)

// Domain is an e-mail domain of a connection.
type Domain struct {
	Name string `json:"name"`
	// Record is the text that the TXT record of the domain must have.
	Record     string         `json:"record"`
	VerifiedAt *resource.Time `json:"verified_at"`
	// CheckedAt is the time of the last look-up since, and MissingSince that of the first one that has not found the
	// record.
	CheckedAt    *resource.Time `json:"checked_at,omitempty"`
	MissingSince *resource.Time `json:"missing_since,omitempty"`
}

// Connection is a sign-on connection.
type Connection struct {
	resource.Resource
	Name    string   `json:"name"`
	Kind    Kind     `json:"kind,omitempty"` // empty until the provider is set
	Domains []Domain `json:"domains"`
	// Ready reports that the pool has the provider.
	Ready bool `json:"ready"`
	// Enforced reports that people of the domains may sign in by this connection only.
	Enforced    bool                 `json:"enforced"`
	DefaultRole auth.Role            `json:"default_role"`
	GroupRoles  map[string]auth.Role `json:"group_roles"`
	// MappedBy has who mapped each group. A group gives no stronger role than they had.
	MappedBy map[string]authority.Authority `json:"mapped_by,omitempty"`
	// ProviderAt is the time at which the provider was set, and ConfirmedBy the owner who has confirmed it since. A
	// provider that no owner has confirmed neither makes nor signs in owners.
	ProviderAt  *resource.Time       `json:"provider_at,omitempty"`
	ConfirmedBy *authority.Authority `json:"confirmed_by,omitempty"`
	// Setup is the hash of the token of the open set-up link, and Directory that of the token of SCIM.
	Setup     string         `json:"setup,omitempty"`
	SetupEnds *resource.Time `json:"setup_ends,omitempty"`
	// SetupBy opened the set-up link, which does what they may do when it is used.
	SetupBy   *authority.Authority `json:"setup_by,omitempty"`
	Directory string               `json:"directory,omitempty"`
	// Offers counts the changes of what people can choose, each of which has a task.
	Offers int `json:"offers,omitempty"`
}

// ItemKind is the kind of a connection's item.
const ItemKind = "connection"

// Provider returns the name of the connection's provider in the pool. Such a name is short and has no underscore.
func (c *Connection) Provider() string { return strings.TrimPrefix(c.ID, id.Connection+"_") }

// IDOf returns the id of the connection with a provider's name.
func IDOf(provider string) string { return id.Connection + "_" + provider }

// Speaks reports whether the connection has verified a domain.
func (c *Connection) Speaks(domain string) bool {
	return slices.ContainsFunc(c.Domains, func(d Domain) bool { return d.Name == domain && d.VerifiedAt != nil })
}

// Verified returns the names of the verified domains.
func (c *Connection) Verified() (names []string) {
	for _, d := range c.Domains {
		if d.VerifiedAt != nil {
			names = append(names, d.Name)
		}
	}
	return names
}

// ranks orders the roles: a person with several groups gets the first.
var ranks = []auth.Role{auth.Owner, auth.Admin, auth.Developer, auth.Auditor}

// RoleOf returns the role of a person with the groups: the strongest of their roles, otherwise the default. A group
// gives no stronger role than who mapped it had, and never that of an owner while the provider is not confirmed. The
// second result reports whether a group decides.
func (c *Connection) RoleOf(groups []string) (auth.Role, bool) {
	best := len(ranks)
	for _, g := range groups {
		if i := slices.Index(ranks, c.GroupRoles[g]); i >= 0 {
			best = min(best, max(i, c.strongest(g)))
		}
	}
	if best == len(ranks) {
		return c.DefaultRole, false
	}
	return ranks[best], true
}

// strongest returns the rank of the strongest role that a group may give.
func (c *Connection) strongest(group string) int {
	if c.ConfirmedBy == nil {
		return slices.Index(ranks, auth.Admin)
	}
	// A mapping without the person who made it gives at most the role admin.
	return max(slices.Index(ranks, cmp.Or(c.MappedBy[group].Role, auth.Admin)), 0)
}

// Admits reports whether a person may come by the connection: an owner only by a provider that is confirmed.
func (c *Connection) Admits(r *person.Record) bool {
	return c.ConfirmedBy != nil || r.Role != auth.Owner && !r.BreakGlass
}

// Domains is the partition of the item of a verified domain.
func Domains(name string) string { return "domain#" + name }

// The attributes of the item of a domain.
const (
	connectionAttribute = "connection"
	enforcedAttribute   = "enforced"
)

// DomainKey is the key of the item of a verified domain.
func DomainKey(name string) store.Key { return store.IDKey(Domains(name)) }

// EnforcedBy returns the id of the connection that people of a domain have to sign in with, by the item of DomainKey,
// which may be the zero Item. It is empty if they may sign in otherwise.
func EnforcedBy(domain store.Item) string {
	if domain.Attributes[enforcedAttribute] == "" {
		return ""
	}
	return domain.Attributes[connectionAttribute]
}

// Service makes and changes connections.
type Service struct {
	db     *store.DB
	now    func() time.Time
	random io.Reader
	lookUp Resolver
	pool   Pool
}

// Resolver looks TXT records up.
type Resolver interface {
	LookupTXT(ctx context.Context, name string) ([]string, error)
}

// NewService makes the service. Without a pool it sets no providers.
func NewService(db *store.DB, now func() time.Time, random io.Reader, lookUp Resolver, pool Pool) *Service {
	return &Service{db, now, random, lookUp, pool}
}

// Settings are the members that can be set. Members that are nil keep their value.
type Settings struct {
	Name        *string
	DefaultRole *auth.Role
	GroupRoles  map[string]auth.Role
	// By is who changes the groups.
	By authority.Authority
}

// ParseGroupRoles reads lines such as "Social team = developer" for Settings. The name of a group may have an equals
// sign, a role has none. Update refuses what is not a role.
func ParseGroupRoles(lines iter.Seq[string]) map[string]auth.Role {
	roles := map[string]auth.Role{}
	for line := range lines {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		at := max(strings.LastIndex(line, "="), 0)
		roles[strings.TrimSpace(line[:at])] = auth.Role(strings.TrimSpace(strings.TrimPrefix(line[at:], "=")))
	}
	return roles
}

func (c *Connection) apply(set Settings) error {
	if set.Name != nil {
		c.Name = *set.Name
	}
	if set.DefaultRole != nil {
		c.DefaultRole = *set.DefaultRole
	}
	if set.GroupRoles != nil {
		if err := c.mapGroups(set.GroupRoles, set.By); err != nil {
			return err
		}
	}
	switch {
	case text.IsBlank(c.Name) || len([]rune(c.Name)) > 100 || strings.ContainsAny(c.Name, "\r\n\t"):
		return errs.Invalid("/name", "must have 1 to 100 characters, none of them a control character")
	case !c.DefaultRole.Known() || c.DefaultRole == auth.Owner:
		return errs.Invalid("/default_role", "is not a known value. The values are admin, developer, auditor")
	case len(c.GroupRoles) > 100:
		return errs.Invalid("/group_roles", "must have at most 100 groups")
	}
	for _, g := range slices.Sorted(maps.Keys(c.GroupRoles)) {
		if r := c.GroupRoles[g]; !r.Known() || g == "" || len(g) > 256 {
			return errs.Invalid("/group_roles", "the group %q has the role %q, which is none", g, r)
		}
	}
	return nil
}

// mapGroups sets the roles of the groups. Those that stay as they are stay mapped by who mapped them.
func (c *Connection) mapGroups(roles map[string]auth.Role, by authority.Authority) error {
	mapped := map[string]authority.Authority{}
	for group, role := range roles {
		earlier, known := c.MappedBy[group]
		switch {
		case known && c.GroupRoles[group] == role && by.Role != auth.Owner:
			mapped[group] = earlier
		case role == auth.Owner && by.Role != auth.Owner:
			return errOwnerMaps
		default:
			mapped[group] = by
		}
	}
	c.GroupRoles, c.MappedBy = roles, mapped
	return nil
}

// Create makes a connection of an account without a provider.
func (s *Service) Create(ctx context.Context, account tenant.Account, set Settings) (Connection, error) {
	now := s.now()
	c := Connection{Resource: resource.New(id.New(id.Connection, now), now, nil), Domains: []Domain{},
		DefaultRole: auth.Developer, GroupRoles: map[string]auth.Role{}}
	if err := c.apply(set); err != nil {
		return c, err
	}
	it, err := store.NewItem(ItemKind, tenant.Of(account, ""), c.ID, c)
	if err != nil {
		return c, err
	}
	tx := &store.Tx{}
	tx.Create(it, nil)
	return c, s.db.Commit(ctx, tx)
}

// Find reads a connection of an account. It returns not_found if there is none.
func (s *Service) Find(ctx context.Context, account tenant.Account, connectionID string) (c Connection, it store.Item,
	err error) {
	if !id.Valid(id.Connection, connectionID) {
		return c, it, errs.Missing(ItemKind, connectionID)
	}
	it, err = s.db.Get(ctx, store.IDKey(connectionID))
	if errors.Is(err, store.ErrNotFound) || err == nil && (it.Account != account || it.Kind != ItemKind) {
		return c, it, errs.Missing(ItemKind, connectionID)
	}
	if err != nil {
		return c, it, err
	}
	return c, it, it.Decode(&c)
}

// List returns the connections of an account, oldest first.
func (s *Service) List(ctx context.Context, account tenant.Account) (all []Connection, err error) {
	q := store.Query{Index: store.ByOwner, Partition: store.OwnerPartition(tenant.Of(account, ""), ItemKind),
		Limit: 100, OldestFirst: true}
	err = s.db.Each(ctx, q, func(it store.Item) error {
		var c Connection
		if err := it.Decode(&c); err != nil {
			return err
		}
		all = append(all, c)
		return nil
	})
	return all, err
}

// change changes a connection, with other writes in the same transaction.
func (s *Service) change(ctx context.Context, account tenant.Account, connectionID string,
	edit func(tx *store.Tx, c *Connection) error) (c Connection, err error) {
	err = s.db.Change(ctx, func(tx *store.Tx) (err error) {
		var it store.Item
		if c, it, err = s.Find(ctx, account, connectionID); err != nil {
			return err
		}
		if err := edit(tx, &c); err != nil {
			return err
		}
		c.Touch(s.now())
		return tx.Rewrite(it, c)
	})
	if errors.Is(err, store.ErrConflict) {
		err = errs.Wrap(err, errs.ProviderUnavailable, "The connection is being changed by others. Try again.")
	}
	return c, err
}

// Update changes the settings of a connection.
func (s *Service) Update(ctx context.Context, account tenant.Account, connectionID string, set Settings) (Connection,
	error) {
	return s.change(ctx, account, connectionID, func(_ *store.Tx, c *Connection) error { return c.apply(set) })
}

var (
	errOwnerMaps = &errs.Error{Code: errs.InsufficientScope, Param: "/group_roles",
		Message: "Only an owner may give a group the role owner."}
	errOwnerSets = errs.New(errs.InsufficientScope, "The connection has a provider. Only an owner may let it be "+
		"replaced.")
	errConfirms = errs.New(errs.InsufficientScope, "Only an owner may confirm the provider of a connection.")
)

// present returns the role that somebody has at present, and none if they have lost it. The transaction fails if it
// changes before the commit.
func (s *Service) present(ctx context.Context, tx *store.Tx, account tenant.Account,
	a *authority.Authority) (auth.Role, error) {
	if a == nil {
		return "", nil
	}
	h, err := a.Find(ctx, s.db, tenant.Of(account, ""), s.now())
	if errors.As(err, new(*authority.EndedError)) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	h.Hold(tx)
	if h.Role == auth.Owner {
		return a.Role, nil // who has become an owner since opens another link
	}
	return h.Role, nil
}

// maySet reports whether somebody with the role may set the provider of the connection.
func (c *Connection) maySet(role auth.Role) bool {
	return role == auth.Owner || !c.Ready && role.Manages()
}

// Confirm confirms, by an owner, the provider that was set at the given time. From then on owners can come by it.
func (s *Service) Confirm(ctx context.Context, account tenant.Account, connectionID, setAt string,
	by authority.Authority) (Connection, error) {
	if by.Role != auth.Owner {
		return Connection{}, errConfirms
	}
	return s.change(ctx, account, connectionID, func(_ *store.Tx, c *Connection) error {
		if !c.Ready || c.ProviderID() != setAt {
			return errs.New(errs.InvalidState, "The provider has been set again since the page was opened. Check it, "+
				"and confirm it then.")
		}
		c.ConfirmedBy = &by
		return nil
	})
}

// NamesOf returns the names of the account and of the connection with a provider's name, for people who have not signed
// in. It returns store.ErrNotFound if there is none.
func (s *Service) NamesOf(ctx context.Context, provider string) (account, name string, err error) {
	if !id.Valid(id.Connection, IDOf(provider)) {
		return "", "", store.ErrNotFound
	}
	it, err := s.db.Get(ctx, store.IDKey(IDOf(provider)))
	if err != nil || it.Kind != ItemKind {
		return "", "", cmp.Or(err, store.ErrNotFound)
	}
	of, err := s.db.Get(ctx, store.IDKey(string(it.Account)))
	if err != nil {
		return "", "", err
	}
	var c Connection
	var a struct {
		Name string `json:"name"`
	}
	if err = it.Decode(&c); err == nil {
		err = of.Decode(&a)
	}
	return a.Name, c.Name, err
}

// ProviderID returns the name by which Confirm knows the present provider.
func (c *Connection) ProviderID() string {
	if c.ProviderAt == nil {
		return ""
	}
	return resource.SortableTime(c.ProviderAt.Time)
}

// Unconfirmed reports whether the provider waits for an owner to confirm it.
func (c *Connection) Unconfirmed() bool { return c.Ready && c.ConfirmedBy == nil }

const (
	maxDomains = 20
	// label is the name below the domain that has the TXT record.
	label = "_content-automation"
	// lookUpTime bounds one look-up.
	lookUpTime  = 3 * time.Second
	lookUpTries = 2
)

var domainForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])$`)
})

// publicDomains give addresses to anyone, so nobody can own them.
var publicDomains = []string{"gmail.com", "googlemail.com", "outlook.com", "hotmail.com", "live.com", "yahoo.com",
	"icloud.com", "proton.me", "protonmail.com", "gmx.net", "gmx.de", "web.de", "mail.ru", "yandex.ru", "aol.com"}

// RecordName returns the name of the TXT record of a domain.
func RecordName(domain string) string { return label + "." + domain }

// AddDomain adds an unverified domain. Adding a domain twice has no effect.
func (s *Service) AddDomain(ctx context.Context, account tenant.Account, connectionID,
	domain string) (Connection, error) {
	domain = strings.ToLower(strings.TrimSuffix(domain, "."))
	if len(domain) > 253 || !domainForm().MatchString(domain) || slices.Contains(publicDomains, domain) {
		return Connection{}, errs.Invalid("/domain", "must be a domain of your own, such as example.com")
	}
	token, _, err := web.NewBearer(s.random)
	if err != nil {
		return Connection{}, err
	}
	return s.change(ctx, account, connectionID, func(_ *store.Tx, c *Connection) error {
		if slices.ContainsFunc(c.Domains, func(d Domain) bool { return d.Name == domain }) {
			return nil
		}
		if len(c.Domains) >= maxDomains {
			return errs.New(errs.InvalidState, "The connection has %d domains, which is the maximum.", maxDomains)
		}
		c.Domains = append(c.Domains, Domain{Name: domain, Record: "content-automation-verification=" + token})
		return nil
	})
}

// VerifyDomain looks the TXT record of a domain up, and marks the domain as verified if it has the text. One connection
// only can verify a domain.
func (s *Service) VerifyDomain(ctx context.Context, account tenant.Account, connectionID, domain string) (Connection,
	error) {
	c, _, err := s.Find(ctx, account, connectionID)
	if err != nil {
		return c, err
	}
	i := slices.IndexFunc(c.Domains, func(d Domain) bool { return d.Name == domain })
	if i < 0 {
		return c, errs.Missing("domain", domain)
	}
	if c.Domains[i].VerifiedAt != nil {
		return c, nil
	}
	want := c.Domains[i].Record
	found, err := s.records(ctx, RecordName(domain))
	if err != nil {
		return c, err
	}
	if !slices.Contains(found, want) {
		return c, errs.New(errs.InvalidState, "The domain %s has no TXT record %s with the text %s yet. A new record "+
			"can take an hour to be seen.", domain, RecordName(domain), want)
	}
	return s.change(ctx, account, connectionID, func(tx *store.Tx, c *Connection) error {
		i := slices.IndexFunc(c.Domains, func(d Domain) bool { return d.Name == domain && d.Record == want })
		if i < 0 {
			return errs.Missing("domain", domain)
		}
		if c.Domains[i].VerifiedAt != nil {
			return nil
		}
		at := resource.Instant(s.now())
		c.Domains[i].VerifiedAt = &at
		it := store.Item{Key: DomainKey(domain), Kind: "domain", Owner: tenant.Of(account, ""),
			Attributes: map[string]string{connectionAttribute: c.ID}}
		if c.Enforced {
			it.Attributes[enforcedAttribute] = "true"
		}
		tx.CreateExpiring(it, s.now().Unix(), errs.New(errs.Duplicate, "The domain %s is verified by another "+
			"connection. Remove it there first.", domain))
		return nil
	})
}

// records returns the TXT records of a name; none if the name does not exist.
func (s *Service) records(ctx context.Context, name string) (found []string, err error) {
	for try := range lookUpTries {
		if werr := backoff.Wait(ctx, try, 100*time.Millisecond, time.Second); werr != nil {
			return nil, werr
		}
		bounded, cancel := context.WithTimeout(ctx, lookUpTime)
		found, err = s.lookUp.LookupTXT(bounded, name+".")
		cancel()
		var dns *net.DNSError
		if err == nil || errors.As(err, &dns) && dns.IsNotFound {
			return found, nil
		}
	}
	return nil, errs.Wrap(err, errs.ProviderUnavailable, "The DNS records of %s could not be read. Try again in a "+
		"minute.", name)
}

// markDomains writes into the items of the verified domains whether sign-on is enforced.
func (s *Service) markDomains(ctx context.Context, tx *store.Tx, c *Connection) error {
	var keys []store.Key
	for _, name := range c.Verified() {
		keys = append(keys, DomainKey(name))
	}
	if len(keys) == 0 {
		return nil
	}
	items, err := s.db.GetAll(ctx, keys...)
	if err != nil {
		return err
	}
	for _, it := range items {
		delete(it.Attributes, enforcedAttribute)
		if c.Enforced {
			it.Attributes[enforcedAttribute] = "true"
		}
		tx.Replace(it)
	}
	return nil
}

// RemoveDomain removes a domain. People of it cannot sign in by the connection any more.
func (s *Service) RemoveDomain(ctx context.Context, account tenant.Account, connectionID, domain string) (Connection,
	error) {
	return s.change(ctx, account, connectionID, func(tx *store.Tx, c *Connection) error {
		i := slices.IndexFunc(c.Domains, func(d Domain) bool { return d.Name == domain })
		if i < 0 {
			return errs.Missing("domain", domain)
		}
		s.release(tx, c.Domains[i])
		c.Domains = slices.Delete(c.Domains, i, i+1)
		return nil
	})
}

// release ends the item of a verified domain.
func (s *Service) release(tx *store.Tx, d Domain) {
	if d.VerifiedAt != nil {
		tx.Expire(DomainKey(d.Name), s.now())
	}
}

// Enforce makes people of the verified domains sign in by this connection only, or lets them sign in otherwise again.
// It needs a provider, a verified domain, and an owner who may sign in without the connection: see person.BreakGlass.
func (s *Service) Enforce(ctx context.Context, account tenant.Account, connectionID string, on bool) (Connection,
	error) {
	people := person.NewService(s.db, s.now, s.random)
	if on {
		safe := false
		err := people.Each(ctx, account, func(r person.Record, _ store.Item) error {
			safe = safe || r.BreakGlass && r.State == person.Active
			return nil
		})
		if err != nil {
			return Connection{}, err
		}
		if !safe {
			return Connection{}, errs.New(errs.InvalidState, "Sign-on cannot be enforced before an owner may sign in "+
				"without it, in case it fails. Set such an owner first.")
		}
	}
	c, err := s.change(ctx, account, connectionID, func(tx *store.Tx, c *Connection) error {
		if on && (!c.Ready || len(c.Verified()) == 0) {
			return errs.New(errs.InvalidState, "Sign-on can be enforced when its provider is set and one of its "+
				"domains is verified.")
		}
		if on && c.Unconfirmed() {
			return errs.New(errs.InvalidState, "Sign-on can be enforced when an owner has confirmed its provider.")
		}
		if on {
			if err := s.offered(ctx, c); err != nil {
				return err
			}
		}
		c.Enforced = on
		return s.markDomains(ctx, tx, c)
	})
	if err != nil || !on {
		return c, err
	}
	// Those who have signed in otherwise before are out on their next call.
	return c, people.Confine(ctx, account, connectionID, c.Verified())
}

const (
	// recheckAfter is the age of a look-up of a verified domain from which on the next sign-in looks it up again, and
	// retryAfter that of one that has failed.
	recheckAfter = 24 * time.Hour
	retryAfter   = time.Hour
	// missingFor is the time for which the record of a verified domain may be missing.
	missingFor = 7 * 24 * time.Hour
	// recheckTime bounds the look-ups of a sign-in.
	recheckTime = 5 * time.Second
)

// due reports whether a verified domain is to be looked up again.
func (d *Domain) due(now time.Time) bool {
	last := d.VerifiedAt
	if d.CheckedAt != nil {
		last = d.CheckedAt
	}
	return d.VerifiedAt != nil && now.Sub(last.Time) >= recheckAfter
}

// Recheck looks up the TXT records of the verified domains of the connection with a provider's name, unless it was done
// in the last day. A domain whose record has been missing for a week is not verified any more: Recheck returns those
// with the connection and its account. A look-up that fails changes nothing, so that it locks nobody out.
func (s *Service) Recheck(ctx context.Context, provider string) (account tenant.Account, c Connection, lost []string,
	err error) {
	it, err := s.db.Lookup(ctx, store.IDKey(IDOf(provider)))
	if err != nil || it.Kind != ItemKind {
		return "", c, nil, err
	}
	if err := it.Decode(&c); err != nil {
		return "", c, nil, err
	}
	now := s.now()
	if account = it.Account; !slices.ContainsFunc(c.Domains, func(d Domain) bool { return d.due(now) }) {
		return account, c, nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, recheckTime)
	defer cancel()
	found := map[string]bool{} // by the record
	for _, d := range c.Domains {
		if !d.due(now) {
			continue
		}
		texts, err := s.records(ctx, RecordName(d.Name))
		if err != nil {
			slog.Warn("a verified domain was not looked up", "connection_id", c.ID, "domain", d.Name, "error", err)
			continue
		}
		found[d.Record] = slices.Contains(texts, d.Record)
	}
	c, err = s.change(context.WithoutCancel(ctx), account, c.ID, func(tx *store.Tx, c *Connection) error {
		lost = nil
		for i := range c.Domains {
			if d := &c.Domains[i]; d.due(now) && s.looked(tx, d, found, now) {
				lost = append(lost, d.Name)
			}
		}
		return nil
	})
	if errs.CodeOf(err) == errs.NotFound {
		err = nil // the connection was removed
	}
	return account, c, lost, err
}

// looked notes the result of a look-up of a verified domain, if there is one, and reports whether the domain is lost.
func (s *Service) looked(tx *store.Tx, d *Domain, found map[string]bool, now time.Time) (lost bool) {
	at := resource.Instant(now)
	there, known := found[d.Record]
	switch d.CheckedAt = &at; {
	case !known:
		again := resource.Instant(now.Add(retryAfter - recheckAfter))
		d.CheckedAt = &again
	case there:
		d.MissingSince = nil
	case d.MissingSince == nil:
		d.MissingSince = &at
	case now.Sub(d.MissingSince.Time) >= missingFor:
		s.release(tx, *d)
		d.VerifiedAt, d.CheckedAt, d.MissingSince = nil, nil, nil
		return true
	}
	return false
}
