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

// Ceiling is the factor by which the calls of all keys of an account in one mode may exceed the limit of one key.
const Ceiling = 10

// Denial is the reason for which a known key may not make this call. The authorizer does not refuse such a call
// itself: it passes the reason on, so that the function can return it in the envelope, with its headers, and write it
// to the audit log.
type Denial struct {
	Code    errs.Code `json:"code"`
	Message string    `json:"message"`
	// Scope is the scope that the key lacks, or empty.
	Scope string `json:"scope,omitempty"`
	// Count is the number of this refusal among those of the key in the current window, from 1. 0 means unknown.
	Count int `json:"count,omitempty"`
	// Rate is the limit that was reached, or nil for other reasons.
	Rate *errs.RateContext `json:"rate,omitempty"`
	// Mandate is the limit of a mandate that was reached, or nil for other reasons.
	Mandate *errs.MandateContext `json:"mandate,omitempty"`
}

// EnterprisePlan is the one plan whose accounts may use the API.
const EnterprisePlan = "enterprise"

// MessageEnded is the public message of invalid_api_key for a person who has no access any more.
const MessageEnded = "You are not a person of this account any more, or you have to sign in by another provider. Ask " +
	"an owner of the account."

// MessageInvalidKey is the public message of invalid_api_key.
const MessageInvalidKey = "The header Authorization has no valid API key. It must be `Bearer svc_live_…` or `Bearer " +
	"svc_test_…`: a key alone, or by another scheme such as Basic, is not read. In the right form, the key is " +
	"mistyped, expired or revoked: create one in the account area or with POST /v1/api-keys."

// MessageRateLimited is the public message of rate_limited if a key has reached its limit.
const MessageRateLimited = "This key has reached its limit of requests per minute. Wait for the time in Retry-After, " +
	"and spread requests out."

// MessageUnavailable is the public message of provider_unavailable if a key cannot be looked up.
const MessageUnavailable = "Your API key cannot be checked at the moment, because the service has too much to do. " +
	"Nothing was done. Repeat the request with the same Idempotency-Key after the seconds in Retry-After."

// MessageScope is the public message of insufficient_scope.
func MessageScope(s Scope) string {
	return fmt.Sprintf("The API key lacks the scope %s. Use a key that has it, or give it to this one.", s)
}

// ActorKind is a kind of actor.
type ActorKind string

// The kinds of actors.
const (
	APIKey ActorKind = "api_key"
	Person ActorKind = "person" // signed in to the account area
	// Operator is the user of the operator's command.
	Operator ActorKind = "operator"
	// Directory is a customer's directory that calls SCIM.
	Directory ActorKind = "directory"
	// SocialAccount is the browser of the person who grants the access to a social account.
	SocialAccount ActorKind = "social_account"
	// Integration is the browser of the person who grants the access to a CRM.
	Integration ActorKind = "integration"
	// ReviewLink is the browser of a person who was given a link to content.
	ReviewLink ActorKind = "review_link"
)

// Actor is an API key or a person.
type Actor struct {
	Kind ActorKind `json:"kind"`
	ID   string    `json:"id"`
}

// Key returns the actor of an API key.
func Key(keyID string) Actor { return Actor{APIKey, keyID} }

// Principal describes the caller: an owner's data, an actor, and the actor's permissions.
type Principal struct {
	tenant.Owner
	Actor  Actor   `json:"actor"`
	Scopes []Scope `json:"scopes"`
	// Profiles are the profiles that a key is bound to: it sees and makes nothing else. If it is one, the owner has it,
	// too, so that what the key makes belongs to it. Empty means the whole account.
	Profiles []tenant.Profile `json:"profiles,omitempty"`
	// Role is the role of a person. A key has none.
	Role Role `json:"role,omitempty"`
	Rate Rate `json:"rate"`
	// Ticket lets the server for agents make the calls of one tool without their being counted again. It is given to
	// that server alone.
	Ticket string `json:"ticket,omitempty"`
	// Program reports that a program of others calls, which a person has connected.
	Program bool `json:"program,omitempty"`
	// OldSecret reports that the call used a secret that a rotation has replaced, and that still works for a while.
	OldSecret bool `json:"old_secret,omitempty"`
	// SpendLimit is the number of credits that the key may spend in a calendar month (UTC). Nil means no limit.
	SpendLimit *int64 `json:"spend_limit,omitempty"`
	// Mandate is the mandate of the key. Nil means none.
	Mandate *Mandate `json:"mandate,omitempty"`
	// Makers are the keys that have made the key, from its maker on. What the key spends counts for their limits, and
	// their mandates bind it.
	Makers []KeyLimit `json:"makers,omitempty"`
	Denial *Denial    `json:"refusal,omitempty"`
}

// KeyLimit has the limits of a key that count for the keys that it has made. Limit is the number of credits that it may
// spend in a calendar month (UTC). Nil means no limit.
type KeyLimit struct {
	Key     string   `json:"key"`
	Limit   *int64   `json:"limit,omitempty"`
	Mandate *Mandate `json:"mandate,omitempty"`
}

// Bind binds the principal to the profiles.
func (p *Principal) Bind(profiles []tenant.Profile) {
	if p.Profiles = profiles; len(profiles) == 1 {
		p.Profile = profiles[0]
	}
}

// Bound reports whether the principal is bound to profiles.
func (p *Principal) Bound() bool { return len(p.Profiles) > 0 }

// RequireAccount returns profile_not_allowed if the principal is bound to profiles.
func (p *Principal) RequireAccount() error {
	if !p.Bound() {
		return nil
	}
	return errs.New(errs.ProfileNotAllowed, "%s", messageAccountWide)
}

const messageAccountWide = "This concerns the whole account, and the API key is bound to profiles. Use a key without " +
	"profile_ids."

// KeyID returns the id of the API key that makes the call, or an empty id for a person.
func (p *Principal) KeyID() string {
	if p.Actor.Kind != APIKey {
		return ""
	}
	return p.Actor.ID
}

// Has reports whether the principal holds the scope.
func (p *Principal) Has(s Scope) bool { return slices.Contains(p.Scopes, s) }

// Require returns insufficient_scope unless the principal has the scope. Param is the JSON pointer of the member of the
// request that needs it, or empty if the whole request does.
func (p *Principal) Require(s Scope, param string) error {
	if p.Has(s) {
		return nil
	}
	if s == ContentPublish {
		if err := p.RequirePerson(ActPublish); err != nil {
			e := errs.As(err)
			e.Param = param
			return e
		}
	}
	e := errs.New(errs.InsufficientScope, "%s", MessageScope(s))
	e.Scope = string(s)
	if e.Param = param; param != "" {
		e.Message = fmt.Sprintf("%s needs the scope %s, which the API key lacks. Leave it out, or use a key that has "+
			"the scope.", param, s)
	}
	return e
}

// Lacking returns the wanted scopes that the principal does not have.
func (p *Principal) Lacking(want []Scope) []Scope {
	return slices.DeleteFunc(slices.Clone(want), p.Has)
}

// RequireScopes returns scope_escalation if the principal lacks one of the scopes that it would grant. Param is the
// JSON pointer of the list in the request, or empty if there is none.
func (p *Principal) RequireScopes(want []Scope, param string) error {
	missing := p.Lacking(want)
	if len(missing) == 0 {
		return nil
	}
	names := make([]string, len(missing))
	for i, s := range missing {
		names[i] = string(s)
	}
	e := errs.New(errs.ScopeEscalation, "The calling key does not have the scope %s, so it cannot grant it. Use a "+
		"key that has it.", strings.Join(names, ", "))
	if param != "" {
		e.Param = param + "/" + strconv.Itoa(slices.Index(want, missing[0]))
	}
	return e
}

// Unidentified returns the principal of a call whose key could not be looked up. It has no account and no scope, but a
// refusal, which must be the answer to the call.
func Unidentified(code errs.Code, message string) *Principal {
	return &Principal{Denial: &Denial{Code: code, Message: message}}
}

// Identified reports whether the caller is known. If not, the call is refused.
func (p *Principal) Identified() bool { return p.Valid() && p.Actor.ID != "" }

// contextKey is the member of the authorizer's context that has the principal. API Gateway permits flat strings only,
// so the principal is encoded as JSON.
const contextKey = "principal"

// Encode writes the principal as an authorizer's context.
func (p *Principal) Encode() (map[string]any, error) {
	b, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("auth: encode principal: %w", err)
	}
	return map[string]any{contextKey: string(b)}, nil
}

// Decode reads the principal from the context that the gateway passes on. It returns an error if there is none or if it
// is incomplete: the caller must then refuse.
func Decode(authorizer map[string]any) (*Principal, error) {
	s, _ := authorizer[contextKey].(string)
	if s == "" {
		return nil, fmt.Errorf("auth: the request carries no principal")
	}
	var p Principal
	if err := json.Unmarshal([]byte(s), &p); err != nil {
		return nil, fmt.Errorf("auth: decode principal: %w", err)
	}
	if !p.Identified() && (p.Denial == nil || p.Denial.Code == "") {
		return nil, fmt.Errorf("auth: the principal is incomplete")
	}
	return &p, nil
}

type principalKey struct{}

// NewContext returns a context with the principal, in which the store shows only the data of the principal's profiles.
func NewContext(ctx context.Context, p *Principal) context.Context {
	if p.Bound() {
		ctx = tenant.Confine(ctx, p.Profiles)
	}
	return context.WithValue(ctx, principalKey{}, p)
}

// FromContext returns the principal of the call. It panics if there is none: no operation runs before the middleware
// has set it.
func FromContext(ctx context.Context) *Principal {
	p, ok := ctx.Value(principalKey{}).(*Principal)
	if !ok {
		panic("auth: no principal in the context")
	}
	return p
}
