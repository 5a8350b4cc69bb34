package connection

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
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

// OfferKind is the kind of the task after a provider was set or removed: people can choose it from then on, or cannot
// any more.
const OfferKind task.Kind = "sign_on.offer"

// Client is the client of the user pool that people sign in by.
type Client interface {
	// OfferAll lets people choose all providers of the pool.
	OfferAll(ctx context.Context) error
	// RemoveProvider removes a provider from the choice of people and from the pool. Removing an unknown one has no
	// effect.
	RemoveProvider(ctx context.Context, name string) error
}

// clientChange is the payload of a task.
type clientChange struct {
	Remove string `json:"remove,omitempty"`
}

// offer adds the task that changes the client of the pool to the transaction that makes it necessary. Remove is the
// name of a provider that goes, or empty.
func (s *Service) offer(tx *store.Tx, account tenant.Account, c *Connection, remove string) error {
	c.Offers++
	m := task.Message{ID: c.offerID(), Kind: OfferKind, Queue: topology.Settle, Subject: c.ID,
		Owner: tenant.Of(account, tenant.Live)}
	return task.Create(tx, s.now(), task.Task{Message: m}, clientChange{remove})
}

// offerID is the id of the task of the last change.
func (c *Connection) offerID() string { return task.ID(OfferKind, c.ID, c.Offers) }

// offered returns invalid_state while people cannot choose the provider yet.
func (s *Service) offered(ctx context.Context, c *Connection) error {
	it, err := s.db.Get(ctx, store.IDKey(c.offerID()))
	if errors.Is(err, store.ErrNotFound) {
		return nil // it ended long ago, or the provider was set before there were tasks
	}
	if err == nil && !task.Over(it) {
		err = errs.New(errs.InvalidState, "People cannot choose the provider yet. Try again in a minute.")
	}
	return err
}

// The client is changed by one task at a time: Cognito has no condition for a change, so that the later of two would
// undo the earlier. A function that dies leaves the lock, which ends by itself. It outlives every call of a function
// that does not die.
const (
	offerLock     = "offer#client"
	offerLockKind = "offer_lock"
	offerTime     = 25 * time.Second
	offerLockTime = time.Minute
	offerWait     = 3 * time.Second
)

var errLocked = errors.New("connection: another task changes the client of the pool")

// Offerer carries out the tasks of OfferKind, one at a time.
type Offerer struct {
	DB     *store.DB
	Client Client
	Now    func() time.Time
}

// Offer changes the client of the pool, once no other task does. A repetition has no further effect.
func (h Offerer) Offer(ctx context.Context, s *task.Run) error {
	var change clientChange
	if err := s.Decode(&change); err != nil {
		return task.Permanent(err)
	}
	if h.Client == nil {
		return nil
	}
	// The name keeps the table from taking the lock of another task in the same second for a repeated write of this.
	it := store.Item{Key: store.IDKey(offerLock), Kind: offerLockKind, ExpireAt: h.Now().Add(offerLockTime),
		Attributes: map[string]string{"by": rand.Text()}}
	tx := &store.Tx{}
	tx.CreateExpiring(it, h.Now().Unix(), errLocked)
	switch err := h.DB.Commit(ctx, tx); {
	case errors.Is(err, errLocked):
		return s.Sleep(task.Jitter(offerWait))
	case err != nil:
		return task.Again(err)
	}
	ctx, cancel := context.WithTimeout(ctx, offerTime)
	defer cancel()
	offer := h.Client.OfferAll
	if change.Remove != "" {
		offer = func(ctx context.Context) error { return h.Client.RemoveProvider(ctx, change.Remove) }
	}
	if err := offer(ctx); err != nil {
		// The lock stays until it ends: Cognito may still work on a call whose answer was lost.
		return task.Again(fmt.Errorf("connection: offer the providers after %s: %w", s.Subject, err))
	}
	return s.End(func(_ context.Context, tx *store.Tx) error {
		tx.Expire(it.Key, h.Now())
		return nil
	})
}

// setupLifetime is the time for which a set-up link works.
const setupLifetime = 7 * 24 * time.Hour

// The partitions of the items of tokens, by their hashes: of set-up links, and of directories that call SCIM.
const (
	setups      = "setup#"
	directories = "directory#"
)

// DirectoryPrefix begins the token of a directory. The firewall knows its calls by it, which are not limited as those
// without a key.
const DirectoryPrefix = "scim_"

// Setups is the partition of the item of a set-up link.
func Setups(hash string) string { return setups + hash }

// Directories is the partition of the item of a directory's token.
func Directories(hash string) string { return directories + hash }

// putToken replaces the token with the earlier hash by a new one. The zero end means never.
func (s *Service) putToken(tx *store.Tx, c *Connection, account tenant.Account, prefix, earlier string,
	end time.Time) (token, hash string, err error) {
	if token, hash, err = web.NewBearer(s.random); err != nil {
		return "", "", err
	}
	if prefix == directories {
		token = DirectoryPrefix + token
		hash = web.HashBearer(token)
	}
	s.endToken(tx, prefix, earlier)
	tx.Create(store.Item{Key: store.IDKey(prefix + hash), Kind: "token", Owner: tenant.Of(account, ""), ExpireAt: end,
		Attributes: map[string]string{connectionAttribute: c.ID}}, nil)
	return token, hash, nil
}

// endToken ends a token, if there is one.
func (s *Service) endToken(tx *store.Tx, prefix, hash string) {
	if hash == "" {
		return
	}
	tx.Expire(store.IDKey(prefix+hash), s.now())
}

// OpenSetup makes a link by which the customer's IT can set the provider once, as far as who opens it may. It ends an
// earlier link. Only an owner lets a provider be replaced.
func (s *Service) OpenSetup(ctx context.Context, account tenant.Account, connectionID string,
	by authority.Authority) (set Setup, err error) {
	_, err = s.change(ctx, account, connectionID, func(tx *store.Tx, c *Connection) (err error) {
		if !c.maySet(by.Role) {
			return errOwnerSets
		}
		c.SetupBy = &by
		set.Ends = resource.Instant(s.now().Add(setupLifetime))
		set.Token, c.Setup, err = s.putToken(tx, c, account, setups, c.Setup, set.Ends.Time)
		c.SetupEnds = &set.Ends
		return err
	})
	return set, err
}

// CloseSetup ends the set-up link: after its use, or earlier.
func (s *Service) CloseSetup(ctx context.Context, account tenant.Account, connectionID string) (Connection, error) {
	return s.change(ctx, account, connectionID, func(tx *store.Tx, c *Connection) error {
		s.endToken(tx, setups, c.Setup)
		c.Setup, c.SetupEnds, c.SetupBy = "", nil, nil
		return nil
	})
}

// OpenDirectory makes the token by which the customer's directory calls SCIM. It ends an earlier one.
func (s *Service) OpenDirectory(ctx context.Context, account tenant.Account, connectionID string) (token string,
	err error) {
	_, err = s.change(ctx, account, connectionID, func(tx *store.Tx, c *Connection) (err error) {
		token, c.Directory, err = s.putToken(tx, c, account, directories, c.Directory, time.Time{})
		return err
	})
	return token, err
}

// BySetup returns the connection of an open set-up link and its account, and ByDirectory that of a directory's token.
// They return store.ErrNotFound for any other token, BySetup also if who opened the link may not set the provider now.
func (s *Service) BySetup(ctx context.Context, token string) (tenant.Account, Connection, error) {
	account, c, err := s.byToken(ctx, setups, token, func(c *Connection) string { return c.Setup })
	if err != nil {
		return "", c, err
	}
	by, err := s.present(ctx, &store.Tx{}, account, c.SetupBy)
	if err == nil && !c.maySet(by) {
		err = store.ErrNotFound
	}
	if err != nil {
		return "", Connection{}, err
	}
	return account, c, nil
}

// ByDirectory is described at BySetup.
func (s *Service) ByDirectory(ctx context.Context, token string) (tenant.Account, Connection, error) {
	return s.byToken(ctx, directories, token, func(c *Connection) string { return c.Directory })
}

func (s *Service) byToken(ctx context.Context, prefix, token string, current func(*Connection) string) (tenant.Account,
	Connection, error) {
	hash := web.HashBearer(token)
	it, err := s.db.Get(ctx, store.IDKey(prefix+hash))
	if err != nil {
		return "", Connection{}, err
	}
	c, _, err := s.Find(ctx, it.Account, it.Attributes[connectionAttribute])
	switch {
	case errs.CodeOf(err) == errs.NotFound, err == nil && current(&c) != hash:
		return "", Connection{}, store.ErrNotFound
	case err != nil:
		return "", Connection{}, err
	}
	return it.Account, c, nil
}
