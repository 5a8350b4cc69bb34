package connection

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

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
