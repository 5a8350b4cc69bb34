package session

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/store"
)

// DocumentLifetime is the longest time for which the document of a program is kept, whatever its headers say.
const DocumentLifetime = 24 * time.Hour

// IsDocument reports whether the id of a program is the address of a document that describes it.
func IsDocument(id string) bool { return strings.HasPrefix(id, "https://") }

// Document returns the program of a document that is kept and fresh. It returns ErrProgram if there is none.
func (s *Store) Document(ctx context.Context, id string) (p Program, err error) {
	_, err = s.decoded(ctx, programKey(id), &p, ErrProgram)
	return p, err
}

// CountDocument counts a document that is fetched because a browser at the address has asked for it. It returns
// ErrRegistrations if its network has brought too many programs in this hour.
func (s *Store) CountDocument(ctx context.Context, address string) error {
	tx := &store.Tx{}
	s.countProgram(tx, address)
	if err := s.db.Commit(ctx, tx); err != nil {
		return fmt.Errorf("session: count document: %w", err)
	}
	return nil
}

// KeepDocument keeps the program of a document for a time.
func (s *Store) KeepDocument(ctx context.Context, p Program, fresh time.Duration) error {
	doc, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("session: encode program: %w", err)
	}
	tx := &store.Tx{}
	it, err := s.db.Get(ctx, programKey(p.ID))
	switch {
	case errors.Is(err, store.ErrNotFound):
		tx.Create(store.Item{Key: programKey(p.ID), Kind: ProgramKind, Doc: doc,
			ExpireAt: s.now().Add(min(fresh, DocumentLifetime))}, store.ErrConflict)
	case err != nil:
		return fmt.Errorf("session: read document: %w", err)
	default:
		it.Doc, it.ExpireAt = doc, s.now().Add(min(fresh, DocumentLifetime))
		tx.Replace(it)
	}
	// Of two requests at the same time, either has read the document.
	if err := s.db.Commit(ctx, tx); err != nil && !errors.Is(err, store.ErrConflict) {
		return fmt.Errorf("session: keep document: %w", err)
	}
	return nil
}

// WishLifetime is the time for which what a program asks for waits for the person.
const WishLifetime = 30 * time.Minute

func wishKey(id string) store.Key { return store.IDKey("wish#" + web.HashBearer(id)) }

// KeepWish keeps what a program asks for until the person decides, and returns its id. It counts like a program of the
// address.
func (s *Store) KeepWish(ctx context.Context, values, address string) (string, error) {
	id := rand.Text()
	doc, err := json.Marshal(values)
	if err != nil {
		return "", fmt.Errorf("session: encode wish: %w", err)
	}
	tx := &store.Tx{}
	s.countProgram(tx, address)
	tx.Create(store.Item{Key: wishKey(id), Kind: ProgramKind, Doc: doc, ExpireAt: s.now().Add(WishLifetime)}, nil)
	if err := s.db.Commit(ctx, tx); err != nil {
		return "", fmt.Errorf("session: keep wish: %w", err)
	}
	return id, nil
}

// Wish returns what a program asks for. It returns ErrProgram if it is not kept any more.
func (s *Store) Wish(ctx context.Context, id string) (values string, err error) {
	_, err = s.decoded(ctx, wishKey(id), &values, ErrProgram)
	return values, err
}

// Source returns the host of the document that describes the program of a grant, or an empty text.
func (g Grant) Source() string {
	u, err := url.Parse(g.Program)
	if err != nil || !IsDocument(g.Program) {
		return ""
	}
	return u.Host // which is ASCII
}
