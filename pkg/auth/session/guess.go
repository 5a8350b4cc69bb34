package session

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/store"
)

// GuessWindow is the time in which wrong codes and links count together.
const GuessWindow = 5 * time.Minute

// ErrGuesses is returned if a network has sent too many wrong codes or links of a kind.
var ErrGuesses = errors.New("session: too many wrong codes")

// A kind of codes or links that somebody could guess, with the wrong ones that one network may send in GuessWindow.
// People mistype, and share their network with others; a service that runs programs has the expired tokens of all.
type guessable struct {
	name string
	most int64
}

// The kinds of codes and links. All are too long to be guessed; what is counted tells who tries.
var (
	SetupLinks    = guessable{"setup", 100}
	CommandCodes  = guessable{"cli", 100}
	ProgramTokens = guessable{"token", 1000}
)

func (s *Store) guessKey(of guessable, address string) store.Key {
	if a, err := netip.ParseAddr(address); err == nil {
		if a = a.Unmap().WithZone(""); a.Is6() {
			address = netip.PrefixFrom(a, 64).Masked().String() // what one line has
		} else {
			address = a.String()
		}
	}
	return store.IDKey(fmt.Sprintf("guesses#%s#%s#%d", of.name, web.HashBearer(address),
		s.now().Unix()/int64(GuessWindow.Seconds())))
}

// MayGuess returns ErrGuesses if the network of an address has sent too many wrong ones. It is asked before a code is
// looked at, so that a right one after them does not count either.
func (s *Store) MayGuess(ctx context.Context, of guessable, address string) error {
	it, err := s.db.Get(ctx, s.guessKey(of, address))
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil
	case err != nil:
		return fmt.Errorf("session: read guesses: %w", err)
	case it.Count() >= of.most:
		return ErrGuesses
	}
	return nil
}

// CountGuess counts a wrong one.
func (s *Store) CountGuess(ctx context.Context, of guessable, address string) error {
	tx := &store.Tx{}
	tx.CountUntil(s.guessKey(of, address), 1, of.most, s.now().Add(2*GuessWindow), ErrGuesses)
	if err := s.db.Commit(ctx, tx); err != nil && !errors.Is(err, ErrGuesses) {
		return fmt.Errorf("session: count guess: %w", err)
	}
	return nil
}

// GuessesEnd returns the time after which the network may try again.
func (s *Store) GuessesEnd() time.Duration {
	now := s.now()
	return now.Truncate(GuessWindow).Add(GuessWindow).Sub(now)
}
