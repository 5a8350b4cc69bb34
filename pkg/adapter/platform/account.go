package platform

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"
)

// Secret is a token or password. It is redacted when it is printed or logged. Its JSON is in clear,
// because an account is sealed before it is stored.
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
	ExpiresAt time.Time `json:"expires_at,omitzero"` // end of Access, or zero if it does not end
	Scopes    []string  `json:"scopes,omitempty"`
	// EndsAt is when the right itself ends, or zero if it does not. No refresh extends it: the
	// owner of the account has to connect it again before then.
	EndsAt time.Time `json:"ends_at,omitzero"`
	Device string    `json:"device,omitempty"` // device to which VK ID binds the refresh token
}

// Lacks reports whether the owner has refused one of the requested scopes. It returns false if the
// platform does not list the granted scopes.
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
	// Grantor is the platform's id of the person who has granted the access, if it is another one than ID. A platform
	// that tells of removed rights names the person.
	Grantor string `json:"grantor,omitempty"`
}

// App is the application that the operator, or a customer, has registered with a platform.
type App struct {
	ID     string `json:"client_id"`
	Secret Secret `json:"client_secret"`
	// Scopes are requested instead of the platform's usual ones, separated by spaces. They are
	// empty unless the platform has granted the application other rights.
	Scopes string `json:"scopes"`
	// HookToken is the secret that the operator has entered at the platform for webhooks, or empty if it sends none.
	HookToken Secret `json:"hook_token"`
	// Confirmations has the text by which each community of VK confirms the address of webhooks, as in
	// "123=abcd 456=ef".
	Confirmations string `json:"confirmations"`
}

type appKey struct{}

// WithApp returns a context whose calls of platforms use an application in place of the operator's.
func WithApp(ctx context.Context, app App) context.Context {
	return context.WithValue(ctx, appKey{}, app)
}

// AppOf returns the application that the calls of a context use in place of the operator's, and reports whether there
// is one.
func AppOf(ctx context.Context) (App, bool) {
	app, ok := ctx.Value(appKey{}).(App)
	return app, ok
}

// Authorization is a request to connect an account by OAuth 2.
type Authorization struct {
	RedirectURL string
	State       string // returned with the code; signed, single-use and short-lived
	Verifier    string // PKCE verifier (RFC 7636), kept until the code is exchanged
}

// Challenge returns the S256 challenge of a PKCE verifier.
func Challenge(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// Grant has the credentials that connect an account. Its members depend on how the platform connects accounts.
type Grant struct {
	// The code of OAuth 2, with the redirect URL and the verifier of its authorization.
	Code        string
	RedirectURL string
	Verifier    string
	Device      string // device_id of the callback of VK ID

	// The token of a bot or community.
	Token Secret

	// The credentials of a login. The password is used once and is not kept.
	Username string
	Password Secret

	// Choice is the channel, chat, page or community: its id, or a name such as @acme. If it is
	// empty, the grant connects every account that it allows.
	Choice string
}
