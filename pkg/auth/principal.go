package auth

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
)

// Rate is the state of a key's rate limit after this call was counted.
type Rate struct {
	Limit     int `json:"limit"`     // calls a window
	Window    int `json:"window"`    // seconds
	Remaining int `json:"remaining"` // calls left in this window
	Reset     int `json:"reset"`     // seconds until the next window
}

// Refusal is why a known key may not make this call. The authorizer does not
// refuse such a call itself: it hands the reason on, so that the function can
// answer it in the envelope, with its headers, and write it to the audit log.
type Refusal struct {
	Code    errs.Code `json:"code"`
	Message string    `json:"message"`
	// Count is the number of this refusal among those of the key in the current window:
	// 1 for the first; 0: unknown.
	Count int `json:"count,omitempty"`
	// Rate is the limit that was reached; nil where that is not the reason.
	Rate *errs.RateContext `json:"rate,omitempty"`
}

// EnterprisePlan is the one plan whose accounts may use the API.
const EnterprisePlan = "enterprise"

// MessageInvalidKey is the public message of invalid_api_key.
const MessageInvalidKey = "The header Authorization has no valid API key. It must be `Bearer svc_live_…` or `Bearer svc_test_…`: a key alone, or by another scheme such as Basic, is not read. In the right form, the key is mistyped, expired or revoked: create one in the account area or with POST /v1/api-keys."

// MessageRateLimited is the public message of rate_limited where a key has reached its
// limit.
const MessageRateLimited = "This key has reached its limit of requests per minute. Wait for the time in Retry-After, and spread requests out."

// MessageUnavailable is the public message of provider_unavailable if a key cannot be
// looked up.
const MessageUnavailable = "Your API key cannot be checked at the moment, because the service has too much to do. Nothing was done. Repeat the request with the same Idempotency-Key after the seconds in Retry-After."

// MessageScope is the public message of insufficient_scope.
func MessageScope(s Scope) string {
	return fmt.Sprintf("The API key lacks the scope %s. Use a key that has it, or give it to this one.", s)
}

// ActorKind is what kind of actor makes a call.
type ActorKind string

// The kinds of actors.
const (
	APIKey ActorKind = "api_key"
	Person ActorKind = "person" // signed in to the account area
	// Operator is who runs the operator's command.
	Operator ActorKind = "operator"
	// SocialAccount is the browser of whoever grants the access to a social account.
	SocialAccount ActorKind = "social_account"
)

// Actor is an API key or a person.
type Actor struct {
	Kind ActorKind `json:"kind"`
	ID   string    `json:"id"`
}

// Key returns the actor of an API key.
func Key(keyID string) Actor { return Actor{APIKey, keyID} }

// Principal is who makes a call: an owner's data, an actor, and what it may do.
type Principal struct {
	tenant.Owner
	Actor  Actor   `json:"actor"`
	Scopes []Scope `json:"scopes"`
	Rate   Rate    `json:"rate"`
	// OldSecret reports that the call came with a secret that a rotation has replaced,
	// and that still works for a while.
	OldSecret bool `json:"old_secret,omitempty"`
	// SpendLimit is how many credits the key may spend in a calendar month (UTC); nil:
	// as many as the account has.
	SpendLimit *int64   `json:"spend_limit,omitempty"`
	Refusal    *Refusal `json:"refusal,omitempty"`
}

// KeyID returns the id of the API key that makes the call; empty for a person.
func (p *Principal) KeyID() string {
	if p.Actor.Kind != APIKey {
		return ""
	}
	return p.Actor.ID
}

// Has reports whether the principal holds the scope.
func (p *Principal) Has(s Scope) bool { return slices.Contains(p.Scopes, s) }

// Require returns insufficient_scope unless the principal holds the scope. The param is
// the JSON pointer of the member of the request that needs it, or empty where the whole
// request does.
func (p *Principal) Require(s Scope, param string) error {
	if p.Has(s) {
		return nil
	}
	e := errs.New(errs.InsufficientScope, "%s", MessageScope(s))
	if e.Param = param; param != "" {
		e.Message = fmt.Sprintf("%s needs the scope %s, which the API key lacks. Leave it out, or use a key that has the scope.", param, s)
	}
	return e
}

// Lacking returns those of the wanted scopes that the principal does not hold.
func (p *Principal) Lacking(want []Scope) []Scope {
	return slices.DeleteFunc(slices.Clone(want), p.Has)
}

// RequireScopes returns scope_escalation if the principal lacks one of the scopes that
// it would grant. The param is the JSON pointer of the list in the request, or empty
// if there is none.
func (p *Principal) RequireScopes(want []Scope, param string) error {
	missing := p.Lacking(want)
	if len(missing) == 0 {
		return nil
	}
	names := make([]string, len(missing))
	for i, s := range missing {
		names[i] = string(s)
	}
	e := errs.New(errs.ScopeEscalation, "The calling key does not have the scope %s, so it cannot grant it. Use a key that has it.", strings.Join(names, ", "))
	if param != "" {
		e.Param = param + "/" + strconv.Itoa(slices.Index(want, missing[0]))
	}
	return e
}

// Unidentified returns the principal of a call whose key could not be looked up. It has
// no account and no scope, but a refusal: nothing else may be answered to the call.
func Unidentified(code errs.Code, message string) *Principal {
	return &Principal{Refusal: &Refusal{Code: code, Message: message}}
}

// Identified reports whether it is known who makes the call. If not, the call is refused.
func (p *Principal) Identified() bool { return p.Valid() && p.Actor.ID != "" }

// contextKey is the member of the authorizer's context that carries the
// principal. API Gateway permits flat strings only, so it travels as JSON.
const contextKey = "principal"

// Encode writes the principal as an authorizer's context.
func (p *Principal) Encode() (map[string]any, error) {
	b, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("auth: encode principal: %w", err)
	}
	return map[string]any{contextKey: string(b)}, nil
}

// Decode reads the principal from what the gateway hands on. It returns an error
// where there is none or it is incomplete: the caller must then refuse.
func Decode(authorizer map[string]any) (*Principal, error) {
	s, _ := authorizer[contextKey].(string)
	if s == "" {
		return nil, fmt.Errorf("auth: the request carries no principal")
	}
	var p Principal
	if err := json.Unmarshal([]byte(s), &p); err != nil {
		return nil, fmt.Errorf("auth: decode principal: %w", err)
	}
	if !p.Identified() && (p.Refusal == nil || p.Refusal.Code == "") {
		return nil, fmt.Errorf("auth: the principal is incomplete")
	}
	return &p, nil
}

type principalKey struct{}

// NewContext carries the principal in a context.
func NewContext(ctx context.Context, p *Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// FromContext returns the principal of the call. It panics where there is none:
// no operation runs before the middleware has set it.
func FromContext(ctx context.Context) *Principal {
	p, ok := ctx.Value(principalKey{}).(*Principal)
	if !ok {
		panic("auth: no principal in the context")
	}
	return p
}
