package connection

import (
	"cmp"
	"context"
	"errors"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

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
