// Package auth has the scopes of calls, the format of API keys, and the principal that the authorizer passes to the
// functions. Start with Principal in principal.go.
package auth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/base/clock"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
)

// Scope is a permission of a key.
type Scope string

// The 13 scopes; there are no others.
const (
	AccountRead    Scope = "account:read"
	AccountManage  Scope = "account:manage"
	FactoriesRead  Scope = "factories:read"
	FactoriesWrite Scope = "factories:write"
	ContentRead    Scope = "content:read"
	ContentWrite   Scope = "content:write"
	ContentPublish Scope = "content:publish"
	StudioUse      Scope = "studio:use"
	ProductsRead   Scope = "products:read"
	ProductsWrite  Scope = "products:write"
	SocialManage   Scope = "social:manage"
	ArchitectUse   Scope = "architect:use"
	WebhooksManage Scope = "webhooks:manage"
)

// Scopes lists all scopes with their permissions, in the order of the documents.
var Scopes = []struct {
	Scope   Scope
	Permits string
}{
	{AccountRead, "Read the account, its balance, events, plans and models"},
	{AccountManage, "Manage API keys and read the audit log"},
	{FactoriesRead, "Read factories, their plans, analytics and proposals"},
	{FactoriesWrite, "Create and change factories and start their work"},
	{ContentRead, "Read content items and publications"},
	{ContentWrite, "Create, change and delete content items"},
	{ContentPublish, "Schedule and publish content items"},
	{StudioUse, "Generate media in the studio"},
	{ProductsRead, "Read products and promotions"},
	{ProductsWrite, "Create and change products and promotions"},
	{SocialManage, "Connect and manage social accounts"},
	{ArchitectUse, "Chat with the architect and apply its drafts"},
	{WebhooksManage, "Manage webhooks and their deliveries"},
}

// AllScopes returns the names of all scopes.
func AllScopes() []Scope {
	all := make([]Scope, len(Scopes))
	for i, s := range Scopes {
		all[i] = s.Scope
	}
	return all
}

// Known reports whether s is one of the scopes.
func (s Scope) Known() bool { return slices.Contains(AllScopes(), s) }

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

// Bind has the principal see and make nothing outside of the profiles.
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

// Role is the role of a person in an account.
type Role string

// The roles.
const (
	Owner     Role = "owner"
	Admin     Role = "admin"
	Developer Role = "developer"
	Auditor   Role = "auditor"
)

// Roles lists all roles with what each permits, in the order of the documents.
var Roles = []struct {
	Role    Role
	Permits string
}{
	{Owner, "Everything"},
	{Admin, "Everything except changing owners"},
	{Developer, "Everything except people and sign-on. Of the API keys only their own"},
	{Auditor, "Reads everything and changes nothing"},
}

// Known reports whether r is one of the roles.
func (r Role) Known() bool {
	return slices.ContainsFunc(Roles, func(known struct {
		Role    Role
		Permits string
	}) bool {
		return known.Role == r
	})
}

// Scopes returns the scopes of a person with the role.
func (r Role) Scopes() []Scope {
	switch r {
	case Owner, Admin, Developer:
		return AllScopes()
	case Auditor:
		return []Scope{AccountRead, FactoriesRead, ContentRead, ProductsRead}
	}
	return nil
}

// Manages reports whether a person with the role manages people and sign-on.
func (r Role) Manages() bool { return r == Owner || r == Admin }

// PersonScope marks operations that only people may call. It is not a scope: no key can have it. The operations decide
// by the role.
const PersonScope Scope = "person"

// ModeHeader is the header that selects the mode of a person's call.
const ModeHeader = "X-Account-Mode"

// Subject returns the hash by which the credential of a person is found: of the pool, and of the pool's name of the
// person.
func Subject(pool, subject string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "subject\n%d\n%s\n%s", len(pool), pool, subject))
	return hex.EncodeToString(sum[:])
}

// MayCall returns an error unless the principal may call an operation with the scope and the method. An auditor may
// read by every scope.
func (p *Principal) MayCall(scope Scope, method string) error {
	reads := method == http.MethodGet || method == http.MethodHead
	switch {
	case scope == PersonScope && p.Actor.Kind != Person:
		return errs.New(errs.PersonRequired, "%s", messagePersonRequired)
	case method == http.MethodDelete && p.leaves(ActDelete) != nil:
		return p.RequirePerson(ActDelete)
	case scope == PersonScope || p.Has(scope) || p.Role == Auditor && reads:
		return nil
	case scope == ContentPublish && p.leaves(ActPublish) != nil:
		return p.RequirePerson(ActPublish)
	case p.Role != "":
		return errs.New(errs.InsufficientScope, "Your role, %s, does not permit this: it lacks the scope %s. Ask an "+
			"owner or an admin of the account.", p.Role, scope)
	}
	e := errs.New(errs.InsufficientScope, "%s", MessageScope(scope))
	e.Scope = string(scope)
	return e
}

const messagePersonRequired = "Only a person who has signed in to the account area may do this. API keys cannot " +
	"manage people, whatever their scopes."

// Act is a kind of act that a mandate may leave to people.
type Act string

// The acts that a mandate may leave to people.
const (
	ActPublish Act = "publish"
	ActSpend   Act = "spend"
	ActDelete  Act = "delete"
	ActInvite  Act = "invite"
)

// Acts lists all acts with what each is, in the order of the documents.
var Acts = []struct {
	Act  Act
	Text string
}{
	{ActPublish, "Schedule, publish and approve content"},
	{ActSpend, "Spend credits"},
	{ActDelete, "Delete"},
	{ActInvite, "Open the account to others: addresses, secrets, rights and copies, as by webhooks, keys, review " +
		"links and exports"},
}

// AllActs returns the names of all acts, in the order of the documents.
func AllActs() []Act {
	all := make([]Act, len(Acts))
	for i, a := range Acts {
		all[i] = a.Act
	}
	return all
}

// Mandate bounds what an API key does without a person. A key may have none.
type Mandate struct {
	// ID is the id of the key and the version of the key that has set the mandate.
	ID string `json:"id"`
	// CreditsADay is the number of credits that the key may spend on a day (UTC). Nil means no limit.
	CreditsADay *int64 `json:"credits_a_day,omitempty"`
	// Platforms are the platforms that the key may publish to. Nil means all.
	Platforms []string `json:"platforms,omitempty"`
	// QuietHours are the hours in which no publication begins. Nil means none.
	QuietHours *QuietHours `json:"quiet_hours,omitempty"`
	// NeedsPerson are the acts that only people do.
	NeedsPerson []Act `json:"needs_person,omitempty"`
	// Until is the time from which on the key does nothing any more. Nil means never.
	Until *time.Time `json:"until,omitempty"`
}

// QuietHours are hours of each day in a time zone. From may be later than To: then they contain midnight.
type QuietHours struct {
	// Time of day at which they begin (HH:MM).
	From string `json:"from" example:"22:00"`
	// Time of day at which they end (HH:MM).
	To string `json:"to" example:"08:00"`
	// IANA time zone in which both times of day are meant.
	Timezone string `json:"timezone" example:"Europe/Berlin"`
}

// Check returns the name of the member that is not valid, and what is wrong with it, or empty texts.
func (q QuietHours) Check() (member, problem string) {
	if _, err := clock.Zone(q.Timezone); err != nil {
		return "timezone", "is not an IANA time zone; write it as Europe/Berlin"
	}
	if !clock.Valid(q.From) {
		return "from", "is not a time of day; write it as 22:00"
	}
	if !clock.Valid(q.To) {
		return "to", "is not a time of day; write it as 08:00"
	}
	if q.From == q.To {
		return "to", "must differ from from. For hours that never end, leave publishing to people by needs_person"
	}
	return "", ""
}

// End returns the end of the quiet hours that contain a time, or the zero time if none do. They were checked.
func (q *QuietHours) End(at time.Time) time.Time {
	if q == nil {
		return time.Time{}
	}
	zone, err := time.LoadLocation(q.Timezone)
	if err != nil {
		return time.Time{}
	}
	local := at.In(zone)
	now := local.Format(clock.Layout)
	quiet := q.From <= now && now < q.To
	if q.From > q.To {
		quiet = q.From <= now || now < q.To
	}
	if !quiet {
		return time.Time{}
	}
	to, _ := clock.Parse(q.To)
	if q.From > q.To && now >= q.From {
		to += 24 * time.Hour
	}
	end := clock.On(local, to)
	if !end.After(at) { // clocks show the end a second time
		shown, _ := clock.Parse(now)
		end = at.Truncate(time.Minute).Add(to - shown)
	}
	return end.UTC()
}

// Within returns the first member by which a mandate permits more than another, or an empty name. A nil mandate
// permits everything.
func (m *Mandate) Within(most *Mandate) string {
	switch {
	case most == nil:
		return ""
	case m == nil:
		return "mandate"
	case most.CreditsADay != nil && (m.CreditsADay == nil || *m.CreditsADay > *most.CreditsADay):
		return "credits_a_day"
	case most.Platforms != nil && (m.Platforms == nil || slices.ContainsFunc(m.Platforms, func(p string) bool {
		return !slices.Contains(most.Platforms, p)
	})):
		return "platforms"
	case most.QuietHours != nil && (m.QuietHours == nil || *m.QuietHours != *most.QuietHours):
		return "quiet_hours"
	case slices.ContainsFunc(most.NeedsPerson, func(a Act) bool { return !slices.Contains(m.NeedsPerson, a) }):
		return "needs_person"
	case most.Until != nil && (m.Until == nil || m.Until.After(*most.Until)):
		return "until"
	}
	return ""
}

// mandates returns the mandates that bind the principal: that of its key, and those of the keys that have made its key.
func (p *Principal) mandates() (all []*Mandate) {
	if p.Mandate != nil {
		all = append(all, p.Mandate)
	}
	for _, maker := range p.Makers {
		if maker.Mandate != nil {
			all = append(all, maker.Mandate)
		}
	}
	return all
}

// MandateID returns the id of the mandate of the principal's key, or an empty text.
func (p *Principal) MandateID() string {
	if p.Mandate == nil {
		return ""
	}
	return p.Mandate.ID
}

// leaves returns the mandate that leaves an act to people, or nil.
func (p *Principal) leaves(act Act) *Mandate {
	for _, m := range p.mandates() {
		if slices.Contains(m.NeedsPerson, act) {
			return m
		}
	}
	return nil
}

// Withhold takes the scope content:publish from a principal whose mandate leaves publishing to people: it prepares what
// they publish.
func (p *Principal) Withhold() {
	if p.leaves(ActPublish) != nil {
		p.Scopes = slices.DeleteFunc(slices.Clone(p.Scopes), func(s Scope) bool { return s == ContentPublish })
	}
}

// RequirePerson returns person_required if a mandate leaves an act to people.
func (p *Principal) RequirePerson(act Act) error {
	m := p.leaves(act)
	if m == nil {
		return nil
	}
	return errs.New(errs.PersonRequired, "The mandate %s of the API key leaves this to people, as its needs_person "+
		"has %s. Ask a person of the account to do it in the account area, or with a key without such a "+
		"mandate.", m.ID, act)
}

// RequireMandate returns outside_mandate if a mandate has ended.
func (p *Principal) RequireMandate(now time.Time) error {
	for _, m := range p.mandates() {
		if m.Until != nil && !now.Before(*m.Until) {
			return m.outside("until", time.Time{}, "The mandate %s of the API key ended at %s, and the key does "+
				"nothing any more. Ask a person of the account to set a later end in the account area, or use another "+
				"key.", m.ID, m.Until.UTC().Format(time.RFC3339))
		}
	}
	return nil
}

// RequirePlatform returns outside_mandate unless the mandates permit posts on a platform.
func (p *Principal) RequirePlatform(platform string) error {
	for _, m := range p.mandates() {
		if m.Platforms != nil && !slices.Contains(m.Platforms, platform) {
			return m.outside("platforms", time.Time{}, "The mandate %s of the API key permits publishing on %s, "+
				"not on %s. Choose other accounts, or ask a person of the account to publish there.", m.ID,
				strings.Join(m.Platforms, ", "), platform)
		}
	}
	return nil
}

// RequireHour returns outside_mandate if the mandates permit no publication at a time.
func (p *Principal) RequireHour(at time.Time) error {
	for _, m := range p.mandates() {
		if end := m.QuietHours.End(at); !end.IsZero() {
			return m.outside("quiet_hours", end, "The mandate %s of the API key permits no publication from %s to %s "+
				"(%s), and the time is %s. Choose a time from %s on.", m.ID, m.QuietHours.From, m.QuietHours.To,
				m.QuietHours.Timezone, at.UTC().Format(time.RFC3339), end.Format(time.RFC3339))
		}
		if m.Until != nil && !at.Before(*m.Until) {
			return m.outside("until", time.Time{}, "The mandate %s of the API key ends at %s, and nothing of it is "+
				"published later. Choose an earlier time than %s, or ask a person of the account.", m.ID,
				m.Until.UTC().Format(time.RFC3339), at.UTC().Format(time.RFC3339))
		}
	}
	return nil
}

// RequirePost returns outside_mandate unless the mandates permit a change of what is public on a platform now.
func (p *Principal) RequirePost(platform string, now time.Time) error {
	if err := p.RequirePlatform(platform); err != nil {
		return err
	}
	return p.RequireHour(now)
}

// QuietUntil returns the end of the quiet hours that contain a time, or the zero time if the mandates have none.
func (p *Principal) QuietUntil(at time.Time) (end time.Time) {
	for _, m := range p.mandates() {
		if one := m.QuietHours.End(at); one.After(end) {
			end = one
		}
	}
	return end
}

func (m *Mandate) outside(member string, from time.Time, format string, args ...any) error {
	c := errs.MandateContext{Mandate: m.ID, Member: member}
	if !from.IsZero() {
		text := from.Format("2006-01-02T15:04:05.000Z")
		c.From = &text
	}
	return errs.New(errs.OutsideMandate, "%s", fmt.Sprintf(format, args...)).With(c)
}

// maxCIDRs bounds an allow-list, which is sent with every call of its keys.
const maxCIDRs = 50

// ParseCIDRs checks an allow-list and returns it in canonical form. A single address becomes a range of itself. Param
// is the JSON pointer of the list.
func ParseCIDRs(list []string, param string) ([]string, error) {
	if len(list) > maxCIDRs {
		return nil, errs.Invalid(param, "must have at most %d entries", maxCIDRs)
	}
	out := make([]string, len(list))
	for i, s := range list {
		p, err := netip.ParsePrefix(s)
		if a, aerr := netip.ParseAddr(s); aerr == nil && a.Zone() == "" {
			p, err = netip.PrefixFrom(a, a.BitLen()), nil
		}
		if err != nil {
			return nil, errs.Invalid(param+"/"+strconv.Itoa(i), "is not an address range in CIDR notation; write it "+
				"as 203.0.113.0/24 or 2001:db8::/32")
		}
		if p.Addr().Is4In6() {
			return nil, errs.Invalid(param+"/"+strconv.Itoa(i), "is an IPv4 address in IPv6 form; write it as IPv4")
		}
		if p.Masked() != p {
			return nil, errs.Invalid(param+"/"+strconv.Itoa(i),
				"has bits set beyond its length; did you mean %s?", p.Masked())
		}
		out[i] = p.String()
	}
	return out, nil
}

// Outside returns the index of the first range of a list that does not lie within one range of an allow-list, or -1 if
// there is none. An empty list permits all addresses. Therefore it is within an empty allow-list only, and its index is
// 0 otherwise.
func Outside(list, allowed []string) int {
	if len(allowed) == 0 {
		return -1
	}
	if len(list) == 0 {
		return 0
	}
	return slices.IndexFunc(list, func(s string) bool {
		return !slices.ContainsFunc(allowed, func(a string) bool { return holds(a, s) })
	})
}

// holds reports whether one range holds all addresses of another.
func holds(outer, inner string) bool {
	o, err := netip.ParsePrefix(outer)
	if err != nil {
		return false
	}
	i, err := netip.ParsePrefix(inner)
	return err == nil && o.Bits() <= i.Bits() && o.Contains(i.Addr())
}

// Permits reports whether an allow-list permits an address. An empty list permits all. A malformed address is permitted
// by an empty list only.
func Permits(list []string, address string) bool {
	if len(list) == 0 {
		return true
	}
	a, err := netip.ParseAddr(strings.TrimSpace(address))
	if err != nil {
		return false
	}
	a = a.Unmap()
	return slices.ContainsFunc(list, func(s string) bool {
		p, err := netip.ParsePrefix(s)
		return err == nil && p.Contains(a)
	})
}
