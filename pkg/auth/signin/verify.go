package signin

import (
	"context"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// ErrInvalid is wrapped by the error of every token that is refused.
var ErrInvalid = errors.New("signin: invalid token")

// ownAttributes is the scope of the tokens that Cognito gives to a password without its sign-in page. They change
// attributes of their person at Cognito. No one has signed in here by them.
const ownAttributes = "aws.cognito.signin.user.admin"

// leeway is the difference that is tolerated between the issuer's clock and this one.
const leeway = 30 * time.Second

// Verifier verifies tokens of one issuer and one client. It is safe for concurrent use.
type Verifier struct {
	settings Settings
	keys     *keys
	now      func() time.Time
}

// Enabled reports whether there is an issuer, and a name for its people.
func (v *Verifier) Enabled() bool { return v.settings.Issuer != "" && v.settings.Pool != "" }

// Pool returns the name that stored identities have instead of the issuer's.
func (v *Verifier) Pool() string { return v.settings.Pool }

// Access has the claims of a person's access token.
type Access struct {
	Subject   string
	Scope     string
	IssuedAt  time.Time
	ExpiresAt time.Time
}

// Identity has the claims of a person's ID token.
type Identity struct {
	Pool          string
	Subject       string
	Email         string
	EmailVerified bool
	Name          string
	// Connection is the name of the customer's provider that a federated person signed in with. It is empty for a
	// person of the pool itself.
	Connection string
	// Groups are the person's groups at the customer's provider. A person of the pool itself has none.
	Groups []string
	// AuthTime is the time at which the person gave the credentials.
	AuthTime  time.Time
	ExpiresAt time.Time
}

// claims are those of both kinds of tokens.
type claims struct {
	jwt.Claims
	Use        string           `json:"token_use"`
	ClientID   string           `json:"client_id"`
	Scope      string           `json:"scope"`
	Nonce      string           `json:"nonce"`
	AuthTime   *jwt.NumericDate `json:"auth_time"`
	Email      string           `json:"email"`
	Verified   flag             `json:"email_verified"`
	Name       string           `json:"name"`
	Groups     list             `json:"custom:groups"`
	Identities []struct {
		Provider string `json:"providerName"`
	} `json:"identities"`
}

// flag is a boolean. Attributes that Cognito maps from a provider arrive as the text "true".
type flag bool

func (f *flag) UnmarshalJSON(b []byte) error {
	*f = string(b) == "true" || string(b) == `"true"`
	return nil
}

// list is a list of texts. Cognito writes an attribute with several values as one text, "[a, b]".
type list []string

func (l *list) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, (*[]string)(l)) == nil {
		return nil
	}
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	if inner, ok := strings.CutPrefix(text, "["); ok {
		text = strings.TrimSuffix(inner, "]")
	}
	*l = nil
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			*l = append(*l, part)
		}
	}
	return nil
}

// LooksLikeToken reports whether a bearer token has the form of a signed JSON Web Token. It does not verify anything.
func LooksLikeToken(token string) bool {
	return strings.HasPrefix(token, "eyJ") && strings.Count(token, ".") == 2
}

// Access verifies an access token. An error that does not wrap ErrInvalid means that it could not be verified.
func (v *Verifier) Access(ctx context.Context, token string) (Access, error) {
	c, err := v.verify(ctx, token)
	if err != nil {
		return Access{}, err
	}
	if c.Use != "access" || c.ClientID != v.settings.ClientID {
		return Access{}, fmt.Errorf("%w: use %q", ErrInvalid, c.Use)
	}
	if slices.Contains(strings.Fields(c.Scope), ownAttributes) {
		return Access{}, fmt.Errorf("%w: it does not come from the sign-in page", ErrInvalid)
	}
	return Access{c.Subject, c.Scope, c.IssuedAt.Time(), c.Expiry.Time()}, nil
}

// Identity verifies an ID token that answers the authorization request with the nonce. An ID token of a refresh has no
// nonce: its nonce is empty.
func (v *Verifier) Identity(ctx context.Context, token, nonce string) (Identity, error) {
	c, err := v.verify(ctx, token)
	if err != nil {
		return Identity{}, err
	}
	// An access token has a client_id but no audience. Not all issuers write token_use into ID tokens.
	if (c.Use != "id" && c.Use != "") || len(c.Audience) != 1 || c.Audience[0] != v.settings.ClientID ||
		c.Nonce != nonce {
		return Identity{}, fmt.Errorf("%w: use, audience or nonce", ErrInvalid)
	}
	id := Identity{
		Pool: v.settings.Pool, Subject: c.Subject, Email: c.Email, EmailVerified: bool(c.Verified), Name: c.Name,
		ExpiresAt: c.Expiry.Time(),
	}
	if c.AuthTime != nil {
		id.AuthTime = c.AuthTime.Time()
	}
	// The pool alone writes identities. A person of the pool may write the attribute of the groups, but no provider
	// vouches for them.
	if len(c.Identities) > 0 {
		id.Connection, id.Groups = c.Identities[len(c.Identities)-1].Provider, c.Groups
	}
	return id, nil
}

func (v *Verifier) verify(ctx context.Context, token string) (c claims, err error) {
	if !v.Enabled() {
		return c, fmt.Errorf("%w: no issuer", ErrInvalid)
	}
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil || len(parsed.Headers) != 1 || parsed.Headers[0].KeyID == "" {
		return c, fmt.Errorf("%w: form or algorithm", ErrInvalid)
	}
	// Unverified claims save a fetch of keys for tokens of other issuers.
	if err := parsed.UnsafeClaimsWithoutVerification(&c); err != nil || v.check(&c) != nil {
		return claims{}, fmt.Errorf("%w: claims", ErrInvalid)
	}
	found, err := v.keys.find(ctx, parsed.Headers[0].KeyID)
	if err != nil {
		return claims{}, err
	}
	for _, key := range found {
		public, ok := key.Key.(*rsa.PublicKey)
		if !ok || (key.Use != "" && key.Use != "sig") {
			continue
		}
		var verified claims
		if parsed.Claims(public, &verified) == nil {
			return verified, nil
		}
	}
	return claims{}, fmt.Errorf("%w: signature", ErrInvalid)
}

func (v *Verifier) check(c *claims) error {
	if c.Subject == "" || c.Expiry == nil || c.IssuedAt == nil {
		return ErrInvalid
	}
	return c.ValidateWithLeeway(jwt.Expected{Issuer: v.settings.Issuer, Time: v.now()}, leeway)
}
