package wire

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// OAuth is the authorization server of a platform (RFC 6749, with the PKCE of RFC 7636).
type OAuth struct {
	Authorize, Token string     // addresses
	Scopes           []string   // requested from the owner
	Optional         []string   // requested too, unless the application names its scopes, and may be refused
	Divider          string     // separates scopes; a space if empty
	ClientParam      string     // name of the parameter with the application's id; client_id if empty
	Extra            url.Values // further parameters of the authorization's address
	// Classify classifies refusals of the token endpoint. If it is nil, OAuthRefused does.
	Classify Classifier
	// Challenge returns the challenge of a verifier. If it is nil, platform.Challenge does.
	Challenge func(verifier string) string
	// Public reports whether the application proves itself by PKCE alone.
	Public bool
	// Basic reports whether the application proves itself in the header Authorization.
	Basic bool
}

func (o OAuth) client() string {
	if o.ClientParam == "" {
		return "client_id"
	}
	return o.ClientParam
}

// requestedScopes returns the scopes that an application requests.
func (o OAuth) requestedScopes(app platform.App) []string {
	if app.Scopes != "" {
		return strings.Fields(app.Scopes)
	}
	return slices.Concat(o.Scopes, o.Optional)
}

// requiredScopes returns the requested scopes that the owner may not refuse.
func (o OAuth) requiredScopes(app platform.App) []string {
	return slices.DeleteFunc(slices.Clone(o.requestedScopes(app)),
		func(scope string) bool { return slices.Contains(o.Optional, scope) })
}

// Connector implements the part of platform.Connector that the platforms with OAuth share. Adapters embed it.
type Connector struct {
	API
	OAuth OAuth
}

// Authorization implements platform.Connector.
func (c Connector) Authorization(ctx context.Context, a platform.Authorization) (string, error) {
	return c.Client.Address(ctx, c.OAuth, a)
}

// Refresh implements platform.Connector.
func (c Connector) Refresh(ctx context.Context, a platform.Account) (platform.Token, error) {
	return c.Client.Renew(ctx, c.OAuth, a.Token, nil)
}

// NoRevoke implements Revoke of platforms without a call for it. Adapters embed it.
type NoRevoke struct{}

// Revoke implements platform.Connector. The owner removes the application in the settings of the platform.
func (NoRevoke) Revoke(ctx context.Context, _ platform.Account) error {
	if err := ctx.Err(); err != nil {
		return platform.Later(platform.CodeCanceled, "The call was canceled.").Because(err)
	}
	return nil
}

// KeyConnector implements the part of platform.Connector that the platforms without OAuth share. Their tokens do not
// end, and no call ends them. Adapters embed it.
type KeyConnector struct {
	API
	NoRevoke
}

// Authorization implements platform.Connector.
func (KeyConnector) Authorization(context.Context, platform.Authorization) (string, error) {
	return "", platform.Unsupported("OAuth")
}

// Refresh implements platform.Connector.
func (KeyConnector) Refresh(_ context.Context, a platform.Account) (platform.Token, error) {
	return a.Token, nil
}

// Address returns the page on which the owner of an account grants access.
func (c *Client) Address(ctx context.Context, o OAuth, a platform.Authorization) (string, error) {
	app, err := c.App(ctx)
	if err != nil {
		return "", err
	}
	divider := o.Divider
	if divider == "" {
		divider = " "
	}
	challenge := platform.Challenge
	if o.Challenge != nil {
		challenge = o.Challenge
	}
	q := url.Values{
		o.client(): {app.ID}, "response_type": {"code"}, "redirect_uri": {a.RedirectURL}, "state": {a.State},
		"scope": {strings.Join(o.requestedScopes(app), divider)}, "code_challenge": {challenge(a.Verifier)},
		"code_challenge_method": {"S256"},
	}
	maps.Copy(q, o.Extra)
	return o.Authorize + "?" + q.Encode(), nil
}

// TokenAnswer is an answer of the token endpoint.
type TokenAnswer struct {
	Access  platform.Secret `json:"access_token"`
	Refresh platform.Secret `json:"refresh_token"`
	Seconds int64           `json:"expires_in"`
	Scope   string          `json:"scope"`
}

// As returns the issued token. It keeps the refresh token of before if the answer has no new one.
func (i TokenAnswer) As(now time.Time, before platform.Token) platform.Token {
	t := platform.Token{Access: i.Access, Refresh: i.Refresh, Scopes: before.Scopes, Device: before.Device}
	if t.Refresh == "" {
		t.Refresh = before.Refresh
	}
	if i.Seconds > 0 {
		t.ExpiresAt = now.Add(time.Duration(i.Seconds) * time.Second)
	}
	if scopes := strings.FieldsFunc(i.Scope, func(r rune) bool { return r == ' ' || r == ',' }); len(scopes) > 0 {
		t.Scopes = scopes
	}
	return t
}

// Exchange exchanges the code of a grant.
func (c *Client) Exchange(ctx context.Context, o OAuth, g platform.Grant, more url.Values) (TokenAnswer, error) {
	if g.Code == "" || g.Verifier == "" {
		return TokenAnswer{}, platform.Disconnected()
	}
	form := url.Values{"grant_type": {"authorization_code"}, "code": {g.Code}, "redirect_uri": {g.RedirectURL},
		"code_verifier": {g.Verifier}}
	return c.token(ctx, o, "exchange", form, more, platform.Secret(g.Code))
}

// Grant exchanges the code of a grant for a token. It refuses a token that lacks scopes which are not optional, because
// the user has not allowed them on the page of the owner.
func (c *Client) Grant(ctx context.Context, o OAuth, g platform.Grant, owner string) (platform.Token, error) {
	issued, err := c.Exchange(ctx, o, g, nil)
	if err != nil {
		return platform.Token{}, err
	}
	app, err := c.App(ctx)
	if err != nil {
		return platform.Token{}, err
	}
	token := issued.As(c.Now(), platform.Token{})
	if token.Lacks(o.requiredScopes(app)) {
		return platform.Token{}, platform.NeedsReconnect(platform.CodeMissingPermission,
			"Allow all that the page of "+owner+" asks for.")
	}
	return token, nil
}

// Revoke posts a form that revokes a token. A token that has ended already is no error.
func (c *Client) Revoke(ctx context.Context, address string, form url.Values, secrets ...platform.Secret) error {
	call := Call{Name: "revoke", Method: http.MethodPost, URL: address, Form: form, Secrets: secrets}
	return platform.Revoked(c.JSON(ctx, call, ClassifyOAuth, nil))
}

// Issue sends a form of the platform to the token endpoint, and returns the answer.
func (c *Client) Issue(ctx context.Context, o OAuth, form url.Values, secret platform.Secret) (TokenAnswer, error) {
	return c.token(ctx, o, "issue", form, nil, secret)
}

// Renew exchanges a refresh token.
func (c *Client) Renew(ctx context.Context, o OAuth, t platform.Token, more url.Values) (platform.Token, error) {
	if t.Refresh == "" {
		return platform.Token{}, platform.Disconnected()
	}
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {t.Refresh.Reveal()}}
	issued, err := c.token(ctx, o, "refresh", form, more, t.Refresh)
	if err != nil {
		return platform.Token{}, err
	}
	return issued.As(c.Now(), t), nil
}

func (c *Client) token(ctx context.Context, o OAuth, name string, form, more url.Values,
	secret platform.Secret) (TokenAnswer, error) {
	app, err := c.App(ctx)
	if err != nil {
		return TokenAnswer{}, err
	}
	call := Call{Name: name, Method: http.MethodPost, URL: o.Token, Form: form,
		Secrets: []platform.Secret{app.Secret, secret}}
	switch {
	case o.Basic:
		proof := Basic(app)
		call.Header = http.Header{"Authorization": {proof.Reveal()}}
		call.Secrets = append(call.Secrets, proof)
	case o.Public:
		form.Set(o.client(), app.ID)
	default:
		form.Set(o.client(), app.ID)
		form.Set("client_secret", app.Secret.Reveal())
	}
	maps.Copy(form, more)
	refused := o.Classify
	if refused == nil {
		refused = ClassifyOAuth
	}
	var issued TokenAnswer
	if err := c.JSON(ctx, call, refused, &issued); err != nil {
		return TokenAnswer{}, err
	}
	if issued.Access == "" {
		return TokenAnswer{}, c.GarbledError(call, errNoToken)
	}
	return issued, nil
}

// Basic returns the header Authorization with which an application proves itself (RFC 6749, 2.3.1).
func Basic(app platform.App) platform.Secret {
	pair := url.QueryEscape(app.ID) + ":" + url.QueryEscape(app.Secret.Reveal())
	return platform.Secret("Basic " + base64.StdEncoding.EncodeToString([]byte(pair)))
}

// refusedGrants are the codes with which a token endpoint says that a grant or a refresh token is not valid: that of
// RFC 6749, 5.2, that of RFC 6750, 3.1, and those that servers use in their place.
var refusedGrants = []string{"invalid_grant", "invalid_token", "invalid_refresh_token", "access_denied",
	"consent_required", "interaction_required", "login_required"}

// refusedApps are the codes with which a token endpoint refuses the application of the operator (RFC 6749, 5.2;
// Google's disabled_client and deleted_client). The accounts stay valid.
var refusedApps = []string{"invalid_client", "unauthorized_client", "disabled_client", "deleted_client"}

// ClassifyOAuth classifies a refusal of the token endpoint (RFC 6749, 5.2). Only an answer with the status 400 or 401
// and a code of the grant ends a connection: whatever an outage or a proxy answers is tried again.
func ClassifyOAuth(a Answer) *platform.Error {
	return ClassifyToken(a, refusedGrants...)
}

// ClassifyToken classifies a refusal of a token endpoint whose codes of refused grants are given. Some platforms send
// the codes with the status 200.
func ClassifyToken(a Answer, grants ...string) *platform.Error {
	var body struct {
		Error string `json:"error"`
	}
	named := json.Unmarshal(a.Body, &body) == nil && body.Error != ""
	own := a.OK() || a.Status == http.StatusBadRequest || a.Status == http.StatusUnauthorized
	switch {
	case a.OK() && !named:
		return nil
	case a.Status == http.StatusTooManyRequests, own && body.Error == "slow_down":
		return platform.Limited(0)
	case own && slices.Contains(grants, body.Error):
		return platform.Disconnected()
	case own && slices.Contains(refusedApps, body.Error):
		return platform.Later(platform.CodeNotConfigured, "The platform refuses the service's application.")
	}
	return platform.Busy()
}
