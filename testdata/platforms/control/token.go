package control

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"net/http"
	"strings"
	"time"
)

func newHash() hash.Hash { return sha256.New() }

// tokens are the tokens of a fake's one user.
type tokens struct {
	n       int
	good    map[string]time.Time // the end of each access token; zero if it never ends
	refresh map[string]bool
}

// Grant issues an access token that is valid for a while (0: forever), and a refresh token.
func (c *Control) Grant(good time.Duration) (access, refresh string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tokens.n++
	access, refresh = fmt.Sprintf("access-token-%04d-secret", c.tokens.n),
		fmt.Sprintf("refresh-token-%04d-secret", c.tokens.n)
	var until time.Time
	if good > 0 {
		until = c.now().Add(good)
	}
	c.tokens.good[access] = until
	c.tokens.refresh[refresh] = true
	return access, refresh
}

// Good reports whether an access token is valid.
func (c *Control) Good(access string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	until, ok := c.tokens.good[access]
	return ok && (until.IsZero() || c.now().Before(until))
}

// Authorized reports whether a call has a valid access token.
func (c *Control) Authorized(r *http.Request) bool {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return ok && c.Good(token)
}

// TakeRefresh reports whether a refresh token is valid. If it rotates, it is valid only once.
func (c *Control) TakeRefresh(token string, rotates bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	ok := c.tokens.refresh[token]
	if rotates {
		delete(c.tokens.refresh, token)
	}
	return ok
}

// Expire implements Fake.
func (c *Control) Expire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.tokens.good)
}

// Revoke ends all tokens.
func (c *Control) Revoke() {
	c.Expire()
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.tokens.refresh)
}
