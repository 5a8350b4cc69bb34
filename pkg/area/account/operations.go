package account

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi"
	keyrecord "github.com/content-automation/api/pkg/record/apikey"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// Me is an account as one of its keys sees it.
type Me struct {
	View
	// The calling key. For a person: its id, name and scopes.
	Key CallingKey `json:"key"`
	// The person who has signed in. Null if an API key calls.
	//
	// Person is nil for a key.
	Person *person.Person `json:"person"`
}

// ETag follows from all that is shown: the balance changes without the account, and each key sees itself.
func (m Me) ETag() (string, error) {
	b, err := json.Marshal(m)
	if err != nil {
		return "", fmt.Errorf("account: tag %s: %w", m.ID, err)
	}
	sum := sha256.Sum256(b)
	return `"` + hex.EncodeToString(sum[:16]) + `"`, nil
}

// View is an account without the calling key, as in an event, which none sends.
type View struct {
	resource.Resource
	// Name of the account.
	Name string `json:"name" example:"Acme GmbH"`
	// Subscription plan.
	Plan string `json:"plan" enum:"starter,growth,business,enterprise"`
	// Mode of the calling key: live data or the sandbox.
	Mode string `json:"mode" enum:"live,test"`
	// Balance of the account.
	Balance MeBalance `json:"balance"`
	// Rate limit of each key of this mode.
	RateLimit RateLimit `json:"rate_limit"`
	// Address ranges that may use the account's keys. Empty: all. It does not apply to people in the account area. If
	// the key has a list too, both must allow the address.
	IPAllowList []string `json:"ip_allow_list" nullable:"false"`
}

// rateWindow is the length of the window of rate limits, in seconds.
const rateWindow = 60

// view shows the account in a mode; the balance is left open.
func (a *Account) view(mode tenant.Mode) View {
	return View{
		Resource: a.Resource, Name: a.Name, Plan: a.Plan, Mode: string(mode),
		RateLimit: RateLimit{Limit: a.RateLimits.Of(mode), WindowSeconds: rateWindow}, IPAllowList: a.IPAllowList,
	}
}

// CallingKey is the calling key.
type CallingKey struct {
	// Id of the key.
	ID string `json:"id"`
	// Name of the key.
	Name string `json:"name"`
	// live: spends credits. test: uses the sandbox.
	Kind string `json:"kind" enum:"live,test"`
	// Scopes of the key.
	Scopes []auth.Scope `json:"scopes" nullable:"false"`
	// Profiles that the key is bound to. Empty: the whole account.
	ProfileIDs []tenant.Profile `json:"profile_ids" nullable:"false"`
	// Time at which the key expires. Null: never.
	ExpiresAt *resource.Time `json:"expires_at"`
	// Mandate of the key, which bounds what an agent does with it. Null: none.
	Mandate *keyrecord.Mandate `json:"mandate"`
	// Credits of the mandate's credits_a_day that are left today (UTC). Null: no limit of a day.
	CreditsToday *int64 `json:"remaining_today_credits"`
}

// MeBalance is the account's balance.
type MeBalance struct {
	// Credits that can be spent. Reserved credits are not included. For a key that is bound to profiles, not more than
	// their limits leave.
	Credits int64 `json:"credits"`
	// Threshold of the event balance.low, which is sent when the balance falls below it. 0 for a key that is bound to
	// profiles: it is that of the account.
	LowThreshold int64 `json:"low_threshold"`
}

// RateLimit is the calling key's rate limit.
type RateLimit struct {
	// Requests per window.
	Limit int `json:"limit"`
	// Length of the window in seconds.
	WindowSeconds int `json:"window_seconds"`
}

// Register puts the operations on the account and its balance into the router.
func (s *Service) Register(r *httpapi.Router) {
	httpapi.Read(r, httpapi.Op{
		ID: "getMe", Method: http.MethodGet, Path: "/v1/me", Scope: auth.AccountRead, Function: "account",
		Tag:     "Account",
		Summary: "Get the account of the calling key",
		Description: "Returns the account, the calling key, its limits and the balance. Use it to check that a key " +
			"works.", Opens: httpapi.Nothing,
	}, s.me)
	s.registerEntries(r)
	s.registerUsage(r)
}

func (s *Service) me(ctx context.Context, _ *struct{}) (Me, error) {
	p := auth.FromContext(ctx)
	keys := []store.Key{store.IDKey(string(p.Account)), ledger.BalanceKey(p.Account),
		credential.KeyOf(p.Account, p.Actor.ID)}
	for _, bound := range p.Profiles {
		keys = append(keys, ledger.PurseKey(p.Owner.Of(bound)))
	}
	purses, limited := len(keys), p.Mandate != nil && p.Mandate.CreditsADay != nil
	if limited {
		keys = append(keys, ledger.SpendKey(p.Account, p.Actor.ID, s.now()))
	}
	items, err := s.db.GetAll(ctx, keys...)
	if err != nil {
		return Me{}, err
	}
	var a Account
	var key struct {
		Name      string             `json:"name"`
		ExpiresAt *resource.Time     `json:"expires_at"`
		Mandate   *keyrecord.Mandate `json:"mandate"`
	}
	if items[0].Kind == "" || items[2].Kind == "" {
		return Me{}, errs.Missing(Kind, string(p.Account))
	}
	if err := items[0].Decode(&a); err != nil {
		return Me{}, err
	}
	if err := items[2].Decode(&key); err != nil {
		return Me{}, err
	}
	me := Me{View: a.view(p.Mode), Key: CallingKey{ID: p.Actor.ID, Name: key.Name, Kind: string(p.Mode),
		Scopes: p.Scopes, ExpiresAt: key.ExpiresAt, Mandate: key.Mandate,
		ProfileIDs: append([]tenant.Profile{}, p.Profiles...)}}
	if limited {
		left := max(*p.Mandate.CreditsADay-ledger.SpentOn(items[purses], s.now()), 0)
		me.Key.CreditsToday = &left
	}
	if p.Actor.Kind == auth.Person {
		r, err := person.Read(&items[2], s.now())
		if err != nil {
			return Me{}, err
		}
		me.Person = &r.Person
	}
	me.Balance = MeBalance{Credits: ledger.Spendable(items[1], items[3:purses], s.now()), LowThreshold: a.LowThreshold}
	if len(p.Profiles) > 0 {
		me.Balance.LowThreshold = 0
	}
	me.RateLimit = RateLimit{Limit: p.Rate.Limit, WindowSeconds: p.Rate.Window}
	return me, nil
}
