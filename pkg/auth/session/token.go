package session

import (
	"bytes"
	"context"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"errors"
	"fmt"
	"slices"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/store"
)

// Tokens returns the tokens for a code of a program, which works once, and within Grace once more for the same answer.
func (s *Store) Tokens(ctx context.Context, program, code, redirect, verifier string) (Issued, error) {
	return s.spend(ctx, program, code, func(of spent) bool {
		return of.Challenge != "" && subtle.ConstantTimeCompare([]byte(redirect), []byte(of.Redirect)) == 1 &&
			subtle.ConstantTimeCompare([]byte(Challenge(verifier)), []byte(of.Challenge)) == 1
	}, nil)
}

// Renew returns new tokens for a refresh token, which works once, and within Grace once more for the same answer. The
// function may reports whether the person may still grant what they have granted.
func (s *Store) Renew(ctx context.Context, program, token string,
	may func(context.Context, Grant) (bool, error)) (Issued, error) {
	return s.spend(ctx, program, token, func(of spent) bool { return of.Challenge == "" }, may)
}

// spend uses a code or a refresh token up, and issues new tokens. Whatever is wrong with it, it works no more. If it
// was used before Grace, the grant is returned with ErrReused. Of requests at the same time one uses it up, and the
// others get the same tokens.
func (s *Store) spend(ctx context.Context, program, token string, fits func(spent) bool,
	may func(context.Context, Grant) (bool, error)) (out Issued, err error) {
	err = store.Retry(func() error {
		out, err = s.spendOnce(ctx, program, token, fits, may)
		return err
	})
	return out, err
}

// spendOnce is spend without repetition. It returns store.ErrConflict if another request has changed something at the
// same time.
func (s *Store) spendOnce(ctx context.Context, program, token string, fits func(spent) bool,
	may func(context.Context, Grant) (bool, error)) (out Issued, err error) {
	var of spent
	it, err := s.decoded(ctx, spentKey(token), &of, ErrGrant)
	if err != nil {
		return out, err
	}
	// A program that shows a code or a token of another learns nothing, and ends nothing.
	if subtle.ConstantTimeCompare([]byte(of.Program), []byte(program)) != 1 {
		return out, ErrGrant
	}
	grant, err := s.decoded(ctx, grantKey(of.KeyID), &out.Grant, ErrGrant)
	if err != nil {
		return out, err
	}
	now := s.now()
	again := of.Used
	if again && (len(of.Salt) == 0 || !now.Before(of.UsedAt.Add(Grace)) || !fits(of)) {
		return out, ErrReused
	}
	good := again || now.Before(of.EndsAt) && fits(of)
	if good && may != nil {
		if good, err = may(ctx, out.Grant); err != nil {
			return out, err
		}
	}
	var base *credential.Credential
	if good {
		if base, good, err = s.lender(ctx, &out.Grant); err != nil {
			return out, err
		}
	}
	switch {
	case again && !good:
		return out, ErrGrant
	case again:
		return out, s.compose(&out, base, token, of)
	}
	tx := &store.Tx{}
	if of.Used = true; good {
		of.Salt, of.UsedAt = []byte(rand.Text()), now.UTC()
		if err := s.issue(tx, &out, base, grant, token, of); err != nil {
			return out, err
		}
	}
	if err := it.Encode(of); err != nil {
		return out, err
	}
	tx.Replace(it)
	if err := s.db.Commit(ctx, tx); err != nil {
		return out, fmt.Errorf("session: issue tokens: %w", err)
	}
	if !good {
		return out, ErrGrant
	}
	return out, nil
}

// lender returns the credential of the key of a grant. It returns false if the key has ended.
func (s *Store) lender(ctx context.Context, g *Grant) (*credential.Credential, bool, error) {
	holder, err := s.db.Get(ctx, credential.KeyOf(g.Account, g.KeyID))
	if errors.Is(err, store.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("session: read key: %w", err)
	}
	base, err := credential.Find(ctx, s.db, holder.Attributes[credential.SecretAttribute])
	if errors.Is(err, store.ErrNotFound) || err == nil && base.Ended(s.now()) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("session: read credential: %w", err)
	}
	return base, true, nil
}

// compose sets the tokens that follow a used code or refresh token, and the scopes that they have now. The tokens are
// derived from the used one, which only its program knows, and a salt, which only the store knows: so they can be
// answered again, and what is stored tells neither.
func (s *Store) compose(out *Issued, base *credential.Credential, token string, of spent) error {
	derived := func(purpose string) ([]byte, error) {
		return hkdf.Key(sha256.New, []byte(token), of.Salt, "program "+purpose, 64)
	}
	access, err := derived("access")
	if err != nil {
		return fmt.Errorf("session: derive token: %w", err)
	}
	refresh, err := derived("refresh")
	if err != nil {
		return fmt.Errorf("session: derive token: %w", err)
	}
	if out.Access, err = auth.NewKey(out.Mode, bytes.NewReader(access)); err != nil {
		return err
	}
	out.Refresh = base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(refresh[:32])
	out.AccessEndsAt = of.UsedAt.Add(AccessLifetime)
	// The key may have been narrowed since: the answer names what the token permits now.
	out.Scopes = slices.DeleteFunc(slices.Clone(out.Scopes), func(s auth.Scope) bool {
		return !slices.Contains(base.Scopes, string(s))
	})
	for _, s := range base.Scopes {
		if !slices.Contains(out.Scopes, auth.Scope(s)) {
			out.Scopes = append(out.Scopes, auth.Scope(s))
		}
	}
	return nil
}

// issue adds new tokens of a grant to the transaction.
func (s *Store) issue(tx *store.Tx, out *Issued, base *credential.Credential, grant store.Item, token string,
	of spent) error {
	out.UsedAt = of.UsedAt
	if err := grant.Encode(out.Grant); err != nil {
		return err
	}
	tx.Replace(grant)
	if err := s.compose(out, base, token, of); err != nil {
		return err
	}
	credential.Lend(tx, auth.HashKey(out.Access), base, out.AccessEndsAt, out.By)
	return s.keepGrant(&out.Grant, tx, out.Refresh, spent{KeyID: out.KeyID, Program: out.Program,
		EndsAt: s.now().Add(RefreshLifetime)})
}
