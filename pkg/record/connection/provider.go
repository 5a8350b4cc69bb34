package connection

import (
	"context"
	"net/url"
	"strings"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// Provider describes a customer's provider. A SAML provider has its metadata, as a URL or a document; one of OpenID
// Connect has an issuer and a client.
type Provider struct {
	Kind         Kind
	MetadataURL  string
	Metadata     string
	Issuer       string
	ClientID     string
	ClientSecret string
}

// Pool is the user pool that federates the providers.
type Pool interface {
	// SetProvider makes a provider, or replaces its settings. People can choose it once its Client offers it.
	SetProvider(ctx context.Context, name string, p Provider) error
}

// maxMetadata bounds a document of metadata.
const maxMetadata = 100 << 10

func (p Provider) check() error {
	https := func(raw string) bool {
		u, err := url.Parse(raw)
		return err == nil && u.Scheme == "https" && u.Host != "" && u.User == nil && u.Fragment == "" &&
			len(raw) <= 2048
	}
	switch {
	case p.Kind == SAML && (p.MetadataURL == "") == (p.Metadata == ""):
		return errs.Invalid("/metadata_url", "give the metadata either as a URL or as a document")
	case p.Kind == SAML && p.MetadataURL != "" && !https(p.MetadataURL):
		return errs.Invalid("/metadata_url", "must be an https URL")
	case p.Kind == SAML && p.Metadata != "" && (len(p.Metadata) > maxMetadata ||
		!strings.Contains(p.Metadata, "EntityDescriptor")):
		return errs.Invalid("/metadata", "must be a SAML metadata document of at most %d KiB", maxMetadata>>10)
	case p.Kind == OIDC && !https(p.Issuer):
		return errs.Invalid("/issuer", "must be an https URL")
	case p.Kind == OIDC && (p.ClientID == "" || len(p.ClientID) > 256):
		return errs.Invalid("/client_id", "must have 1 to 256 characters")
	case p.Kind == OIDC && (p.ClientSecret == "" || len(p.ClientSecret) > 1024):
		return errs.Invalid("/client_secret", "must have 1 to 1024 characters")
	case p.Kind != SAML && p.Kind != OIDC:
		return errs.Invalid("/kind", "is not a known value. The values are saml, oidc")
	}
	return nil
}

var errNoPool = errs.New(errs.InvalidState, "This service has no user pool, so it cannot use providers of customers.")

// SetProvider gives the connection a provider, as the operator, who need not confirm it. Neither its secret nor its
// metadata are stored here: the pool has them.
func (s *Service) SetProvider(ctx context.Context, account tenant.Account, connectionID string, p Provider) (Connection,
	error) {
	by := authority.Operator()
	return s.setProvider(ctx, account, connectionID, p, &by, func(*store.Tx, *Connection) error { return nil })
}

// UseSetup gives the connection of an open set-up link a provider, and ends the link. Owners cannot come by the
// provider before one of them has confirmed it. It returns store.ErrNotFound for a token that BySetup does not find.
func (s *Service) UseSetup(ctx context.Context, token string, p Provider) (tenant.Account, Connection, error) {
	account, c, err := s.BySetup(ctx, token)
	if err != nil {
		return "", c, err
	}
	hash := web.HashBearer(token)
	_, err = s.setProvider(ctx, account, c.ID, p, nil, func(tx *store.Tx, c *Connection) error {
		by, err := s.present(ctx, tx, account, c.SetupBy)
		if err == nil && (c.Setup != hash || !c.maySet(by)) {
			err = store.ErrNotFound
		}
		return err
	})
	if err != nil {
		return account, c, err
	}
	set, err := s.CloseSetup(ctx, account, c.ID)
	return account, set, err
}

// setProvider sets a provider after a check. Until the pool has it, and after that until it is confirmed, owners do not
// come by the connection: whatever fails in between, none comes by a provider that is not confirmed.
func (s *Service) setProvider(ctx context.Context, account tenant.Account, connectionID string, p Provider,
	confirmed *authority.Authority, check func(*store.Tx, *Connection) error) (c Connection, err error) {
	if err := p.check(); err != nil {
		return c, err
	}
	if s.pool == nil {
		return c, errNoPool
	}
	c, err = s.change(ctx, account, connectionID, func(tx *store.Tx, c *Connection) error {
		if err := check(tx, c); err != nil {
			return err
		}
		if c.Kind != "" && c.Kind != p.Kind {
			return errs.Invalid("/kind", "cannot change: make another connection")
		}
		c.ConfirmedBy = nil
		return nil
	})
	if err != nil {
		return c, err
	}
	// A repeat after a lost answer replaces the provider by itself.
	if err := s.pool.SetProvider(ctx, c.Provider(), p); err != nil {
		return c, err
	}
	return s.change(ctx, account, connectionID, func(tx *store.Tx, c *Connection) error {
		at := resource.Instant(s.now())
		c.Kind, c.Ready, c.ProviderAt, c.ConfirmedBy = p.Kind, true, &at, confirmed
		return s.offer(tx, account, c, "")
	})
}

// Remove removes a connection with its domains, and all access by it. A task removes its provider.
func (s *Service) Remove(ctx context.Context, account tenant.Account, connectionID string) error {
	c, it, err := s.Find(ctx, account, connectionID)
	if err != nil {
		return err
	}
	if err := person.NewService(s.db, s.now, s.random).Disown(ctx, account, connectionID); err != nil {
		return err
	}
	tx := &store.Tx{}
	for _, d := range c.Domains {
		s.release(tx, d)
	}
	s.endToken(tx, setups, c.Setup)
	s.endToken(tx, directories, c.Directory)
	if err := s.offer(tx, account, &c, c.Provider()); err != nil {
		return err
	}
	it.ExpireAt = s.now()
	tx.Replace(it)
	return s.db.Commit(ctx, tx)
}

// Setup is an open set-up link.
type Setup struct {
	Token string
	Ends  resource.Time
}
