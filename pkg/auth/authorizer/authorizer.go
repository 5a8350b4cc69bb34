// Package authorizer identifies the caller before any function runs, and checks the call: the key or the access token
// of a person, the plan, the address, the scope and the rate limit, usually in one round trip to the state table. Start
// with Authorizer.Handle.
package authorizer

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/auth/signin"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/store"
)

// AgentsPath is the path of the MCP server. Its function is the only one behind the authorizer that serves no
// operations.
const AgentsPath = "/mcp"

// window is the length of the rate limit's window in seconds.
const window = 60

// The metrics of refused calls. Alarms watch them for bursts.
const (
	AuthenticationRefused = "AuthenticationRefused" // 401
	PermissionRefused     = "PermissionRefused"     // 403
)

// Secrets finds keys and counts their calls.
type Secrets interface {
	// Count finds a key by the hash of its secret and counts the call. It returns store.ErrNotFound if there is none.
	Count(ctx context.Context, hash string, window int64, ip string) (*credential.Credential, error)
	// Counted finds the key of a call that a tool of the MCP server makes, by the ticket of the call of the server,
	// which was counted. It returns nil if the ticket is not valid.
	Counted(ctx context.Context, hash, ticket string) (*credential.Credential, error)
	// CountDenied counts the call as refused, and returns the number of refused calls in the window.
	CountDenied(ctx context.Context, c *credential.Credential, window int64) (int, error)
}

var _ Secrets = (*credential.Counter)(nil)

// Authorizer is the gateway's custom authorizer.
type Authorizer struct {
	secrets Secrets
	people  *signin.Verifier
	// scopes maps "METHOD /path/{template}" to its scope.
	scopes map[string]auth.Scope
	now    func() time.Time
}

// New makes an authorizer; scopes is the table of Scopes, and people verifies the access tokens of people.
func New(secrets Secrets, people *signin.Verifier, scopes map[string]auth.Scope, now func() time.Time) *Authorizer {
	return &Authorizer{secrets, people, scopes, now}
}

// errUnauthorized is the only error that the gateway answers with 401. API Gateway itself refuses a call without the
// header, which is the authorizer's identity source, so that no such call counts as an error of the function. The
// emulated gateway calls the authorizer nevertheless.
var errUnauthorized = errors.New("Unauthorized")

type (
	request  = events.APIGatewayCustomAuthorizerRequestTypeRequest
	response = events.APIGatewayCustomAuthorizerResponse
)

// Handle answers one call. It finds the key or the person of the token, counts the call, and asks denial whether the
// call is permitted. It refuses a call without a key, or with an unknown one. If the key is known but may not
// make the call, Handle passes the call on with the denial in its context: the function behind answers it with its
// exact code and headers, and writes it to the audit log. The same holds for a call whose key cannot be looked up
// because the table is overloaded or does not answer.
func (a *Authorizer) Handle(ctx context.Context, req request) (response, error) {
	token, sent := bearer(req)
	if !sent {
		return response{}, errUnauthorized
	}
	ip := req.RequestContext.Identity.SourceIP
	now := a.now()
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-margin))
		defer cancel()
	}
	var s *credential.Credential
	c, err := a.identify(ctx, token, req)
	if err == nil {
		s, err = a.count(ctx, c.hash, req, now)
	}
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, signin.ErrInvalid) {
		return unknown(req), nil
	}
	if err != nil {
		return failed(req, "caller not looked up", err)
	}
	p := principal(s, c, now)
	if p.Denial = a.denial(s, p, req, ip, now); p.Denial == nil {
		p.Denial = c.denial
	}
	if p.Denial == nil && req.Resource == AgentsPath {
		p.Ticket = s.Ticket(now)
	}
	if p.Denial != nil {
		if err := a.countDenied(ctx, s, p.Denial, now); err != nil {
			return failed(req, "refused call not counted", err)
		}
		// A flood of calls with an ended secret must start no function. Agents find their way to a new token by a
		// header of the gateway's own answer: it renames the header in those of functions.
		if s.Ended(now) && (p.Denial.Count > s.Limit || req.Resource == AgentsPath) {
			return deny(req.MethodArn), nil
		}
	}
	return allow(req, p.Actor.ID, p)
}

// caller is who has sent a token.
type caller struct {
	// hash is the hash of the credential.
	hash string
	mode tenant.Mode
	// denial refuses a call of a person with a malformed mode.
	denial *auth.Denial
}

// identify reads a key or verifies an access token. Its error is signin.ErrInvalid for any other token.
func (a *Authorizer) identify(ctx context.Context, token string, req request) (c caller, err error) {
	if mode, ok := auth.ParseKey(token); ok {
		return caller{hash: auth.HashKey(token), mode: mode}, nil
	}
	if a.people == nil || !signin.LooksLikeToken(token) {
		return c, signin.ErrInvalid
	}
	access, err := a.people.Access(ctx, token)
	if err != nil {
		return c, err
	}
	c.hash, c.mode = auth.Subject(a.people.Pool(), access.Subject), tenant.Live
	switch mode, sent := header(req, auth.ModeHeader); {
	case sent && mode == string(tenant.Test):
		c.mode = tenant.Test
	case sent && mode != string(tenant.Live):
		c.denial = &auth.Denial{Code: errs.InvalidHeader, Message: auth.ModeHeader + " must be live or test."}
	}
	return c, nil
}

// count counts a call and finds its key. The calls that the server for agents makes for a tool are counted once, by the
// call of that server.
func (a *Authorizer) count(ctx context.Context, hash string, req request,
	now time.Time) (*credential.Credential, error) {
	if ticket, sent := header(req, auth.TicketHeader); sent && req.Resource != AgentsPath {
		if s, err := a.secrets.Counted(ctx, hash, ticket); s != nil || err != nil {
			return s, err
		}
	}
	return a.secrets.Count(ctx, hash, now.Unix()/window, req.RequestContext.Identity.SourceIP)
}

// principal returns the caller as the functions behind see it.
func principal(s *credential.Credential, c caller, now time.Time) *auth.Principal {
	p := &auth.Principal{
		Owner: tenant.Of(s.Account, c.mode), Actor: auth.Key(s.KeyID), Role: auth.Role(s.Role),
		Rate: auth.Rate{
			Limit: s.Limit, Window: window, Remaining: max(s.Limit-s.Count, 0),
			Reset: window - int(now.Unix()%window),
		},
		SpendLimit: s.SpendLimit, Makers: s.Makers, Mandate: s.Mandate, Program: s.LentBy != "",
		OldSecret: !s.UntilAt.IsZero(),
	}
	p.Bind(s.Profiles)
	if p.Role != "" {
		p.Actor.Kind = auth.Person
	}
	if _, full := s.Excess(); full {
		p.Rate.Remaining = 0
	}
	if s.Ended(now) {
		// Headers would distinguish a revoked key from an unknown one.
		p.Rate = auth.Rate{}
	}
	for _, scope := range s.Scopes {
		p.Scopes = append(p.Scopes, auth.Scope(scope))
	}
	p.Withhold()
	return p
}

// denial returns the first reason, in the contract's order, for which a known key may not make this call, or nil if it
// may.
func (a *Authorizer) denial(s *credential.Credential, p *auth.Principal, req request, ip string,
	now time.Time) *auth.Denial {
	method := req.HTTPMethod
	if method == http.MethodHead {
		method = http.MethodGet // the function behind answers HEAD like GET
	}
	scope, known := a.scopes[method+" "+req.Resource]
	switch {
	case s.Ended(now) && p.Actor.Kind == auth.Person:
		return &auth.Denial{Code: errs.InvalidAPIKey, Message: auth.MessageEnded}
	case s.Ended(now):
		return &auth.Denial{Code: errs.InvalidAPIKey, Message: auth.MessageInvalidKey}
	case s.Plan != auth.EnterprisePlan:
		return &auth.Denial{Code: errs.PlanNotAllowed, Message: "The API is part of the enterprise plan, and this " +
			"account is on another plan. Ask its owner to change the plan."}
	// The account area calls with its own address, so allow-lists are for keys only.
	case p.Actor.Kind != auth.Person && (!auth.Permits(s.AccountIPs, ip) || !auth.Permits(s.KeyIPs, ip)):
		return &auth.Denial{Code: errs.IPNotAllowed, Message: "Requests from this address are not allowed. Add it " +
			"to the IP allow-lists of the account and of the key."}
	}
	err := p.RequireMandate(now)
	if err == nil && known {
		err = p.MayCall(scope, method)
	}
	if err != nil {
		e := errs.As(err)
		d := &auth.Denial{Code: e.Code, Message: e.Message, Scope: e.Scope}
		if c, ok := e.Context.(errs.MandateContext); ok {
			d.Mandate = &c
		}
		return d
	}
	n, ceiling := s.Excess()
	switch {
	case n == 0:
		return nil
	case ceiling:
		return &auth.Denial{Code: errs.RateLimited, Count: n,
			Rate: &errs.RateContext{Limit: credential.Ceiling * s.Limit, WindowSeconds: window},
			Message: "The keys of this account have together reached its limit of requests per minute. Wait for the " +
				"time in Retry-After, and spread requests out."}
	default:
		return &auth.Denial{Code: errs.RateLimited, Count: n,
			Rate: &errs.RateContext{Limit: s.Limit, WindowSeconds: window}, Message: auth.MessageRateLimited}
	}
}

// countDenied counts a refused call, and sets the number of refusals in the key's window. The rate limit counts its own
// refusals.
func (a *Authorizer) countDenied(ctx context.Context, s *credential.Credential, r *auth.Denial,
	now time.Time) (err error) {
	switch r.Code {
	case errs.RateLimited, errs.InvalidHeader:
		return nil
	case errs.InvalidAPIKey:
		metric.Add(AuthenticationRefused, 1)
	default:
		metric.Add(PermissionRefused, 1)
	}
	r.Count, err = a.secrets.CountDenied(ctx, s, now.Unix()/window)
	return err
}

// margin is the time that is left for the answer if the key cannot be looked up in time.
const margin = 500 * time.Millisecond

// failed answers a call that could not be checked. If the table does not serve at the moment, the function behind
// answers 503. Any other error is a fault, which the gateway answers.
func failed(req request, what string, err error) (response, error) {
	slog.Error(what, "error", err)
	switch errs.CodeOf(err) {
	case errs.ProviderUnavailable, errs.Timeout:
		return allow(req, "unknown", auth.Unidentified(errs.ProviderUnavailable, auth.MessageUnavailable))
	}
	return response{}, errors.New(what)
}

// unknown denies a call with an unknown key.
func unknown(req request) response {
	metric.Add(AuthenticationRefused, 1)
	return deny(req.MethodArn)
}

// deny has the gateway itself answer 403, without a function behind it.
func deny(arn string) response {
	return response{PrincipalID: "unknown", PolicyDocument: policy("Deny", arn)}
}

// allow passes a call on to the function behind, which executes or refuses it according to the principal.
func allow(req request, id string, p *auth.Principal) (response, error) {
	values, err := p.Encode()
	if err != nil {
		return response{}, err
	}
	return response{PrincipalID: id, PolicyDocument: policy("Allow", req.MethodArn), Context: values}, nil
}

// policy returns a policy on the called method alone.
func policy(effect, arn string) events.APIGatewayCustomAuthorizerPolicy {
	return events.APIGatewayCustomAuthorizerPolicy{
		Version: "2012-10-17",
		Statement: []events.IAMPolicyStatement{{
			Action: []string{"execute-api:Invoke"}, Effect: effect, Resource: []string{arn},
		}},
	}
}

// bearer returns the token of the Authorization header (RFC 6750, 2.1), and reports whether the header was sent. Header
// names have any case. A value of another scheme, or without one, is not a key, whatever its form: its token is empty.
func bearer(req request) (token string, sent bool) {
	value, _ := header(req, "Authorization")
	scheme, token, _ := strings.Cut(strings.TrimSpace(value), " ")
	if strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(token), true
	}
	return "", scheme != ""
}

// header returns a header, whose name may have any case. One that is sent several times is the list of its values (RFC
// 9110, 5.3): others read the first of them, and the gateway hands the last one over.
func header(req request, name string) (value string, sent bool) {
	var all []string
	for n, values := range req.MultiValueHeaders {
		if strings.EqualFold(n, name) {
			all = append(all, values...)
		}
	}
	for n, value := range req.Headers {
		if sent = strings.EqualFold(n, name); sent && len(all) < 2 {
			return value, true
		}
	}
	return strings.Join(all, ", "), sent || len(all) > 0
}
