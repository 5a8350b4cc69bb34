// Package connection holds the sign-on connections of accounts: the customers' SAML and OpenID Connect providers, the
// e-mail domains that they speak for, and the roles that they give.
package connection

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
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
	case resource.IsBlank(c.Name) || len([]rune(c.Name)) > 100 || strings.ContainsAny(c.Name, "\r\n\t"):
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
		err = it.Encode(c)
		tx.Replace(it)
		return err
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
