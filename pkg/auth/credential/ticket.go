package credential

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ticketLife is longer than a call of a tool of the server for agents.
const ticketLife = time.Minute

// Ticket returns a ticket for a call that was counted: calls with it are not counted again for a minute. It is
// sealed by a key of the credential that no caller knows. It is empty if the credential has none yet.
func (c *Credential) Ticket(now time.Time) string {
	if c.TicketKey == "" {
		return ""
	}
	stamp := strconv.FormatInt(now.Unix(), 10) + "." + rand.Text()
	return stamp + "." + c.seal(stamp)
}

// seal returns the seal of the stamp of a ticket.
func (c *Credential) seal(stamp string) string {
	mac := hmac.New(sha256.New, []byte(c.TicketKey))
	mac.Write([]byte(stamp))
	return hex.EncodeToString(mac.Sum(nil))
}

// admits reports whether a ticket is of the credential and of the last minute.
func (c *Credential) admits(ticket string, now time.Time) bool {
	at := strings.LastIndexByte(ticket, '.')
	if c.TicketKey == "" || at < 0 {
		return false
	}
	stamp := ticket[:at]
	text, _, _ := strings.Cut(stamp, ".")
	made, err := strconv.ParseInt(text, 10, 64)
	age := now.Sub(time.Unix(made, 0))
	return err == nil && age > -ticketLife && age < ticketLife &&
		hmac.Equal([]byte(c.seal(stamp)), []byte(ticket[at+1:]))
}

// Counted finds the credential of a call that belongs to a counted one, by its ticket, and counts nothing. It returns
// nil for a ticket that does not hold: such a call is counted as any other.
func (c *Counter) Counted(ctx context.Context, hash, ticket string) (*Credential, error) {
	found, err := c.find(ctx, hash, func(hash string) (*Credential, error) {
		it, err := c.db.Get(ctx, key(hash))
		if err != nil {
			return nil, fmt.Errorf("credential: read: %w", err)
		}
		return read(hash, it), nil
	})
	if err != nil || found.Ended(c.now()) || !found.admits(ticket, c.now()) {
		return nil, err
	}
	// Others may have used the rest of the window up since: the call that this one belongs to was admitted.
	found.Count, found.OverFrom = min(found.Count, found.Limit), 0
	return found, nil
}
