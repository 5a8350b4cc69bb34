package platform

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"
)

// Secret is a token or password. Printed or logged, it shows nothing of itself. As
// JSON it is in clear: an account is sealed where it is stored.
type Secret string

var (
	_ fmt.Formatter  = Secret("")
	_ slog.LogValuer = Secret("")
)

const redacted = "[redacted]"

// Format implements fmt.Formatter, for all verbs.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue implements slog.LogValuer.
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// Reveal returns the secret itself, to be sent to its platform and nowhere else.
func (s Secret) Reveal() string { return string(s) }

// Token is the right to publish on an account.
type Token struct {
	Access    Secret    `json:"access"`
	Refresh   Secret    `json:"refresh,omitempty"`
	ExpiresAt time.Time `json:"expires_at,omitzero"` // of Access; zero: does not end
	Scopes    []string  `json:"scopes,omitempty"`
	// EndsAt is when the right itself ends, which no refresh puts off: before, the account's
	// owner has to connect it again. Zero: it does not.
	EndsAt time.Time `json:"ends_at,omitzero"`
	Device string    `json:"device,omitempty"` // what VK ID binds the refresh token to
}

// Lacks reports whether one of the scopes was asked for and not allowed. A platform that
// does not say what was allowed lacks nothing.
func (t Token) Lacks(scopes []string) bool {
	return len(t.Scopes) > 0 && slices.ContainsFunc(scopes,
		func(s string) bool { return !slices.Contains(t.Scopes, s) })
}

// Account is an account of a platform: a channel, a page, a community.
type Account struct {
	ID        string `json:"id"` // the platform's
	Handle    string `json:"handle,omitempty"`
	Name      string `json:"name,omitempty"`
	AvatarURL string `json:"avatar_url,omitempty"`
	Token     Token  `json:"token"`
}

// App is the application that the operator has registered with a platform.
type App struct {
	ID     string `json:"client_id"`
	Secret Secret `json:"client_secret"`
}

// Authorization is a request to connect an account by OAuth 2.
type Authorization struct {
	RedirectURL string
	State       string // returned with the code: signed, single-use, expiring
	Verifier    string // of PKCE (RFC 7636); kept until the code is exchanged
}

// Challenge returns the S256 challenge of a PKCE verifier.
func Challenge(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// Grant is what an account is connected with. Which members count depends on the
// platform's way to connect.
type Grant struct {
	// Of OAuth 2: the code, and the redirect URL and verifier of its authorization.
	Code        string
	RedirectURL string
	Verifier    string
	Device      string // the callback's device_id, of VK ID

	// Of a bot or community token.
	Token Secret

	// Of a login. The password is used once and not kept.
	Username string
	Password Secret

	// Choice is the channel, chat, page or community: its id, or a name such as
	// @acme. Empty: all that the grant allows.
	Choice string
}
