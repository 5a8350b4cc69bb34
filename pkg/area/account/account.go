// Package account holds the customers' accounts: the settings of the operator (plan, limits, addresses) and the
// operation by which a caller sees its own. Start with Service in account.go; events.go has the lists of events and of
// the ledger.
package account

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/httpapi"
	keyrecord "github.com/content-automation/api/pkg/record/apikey"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// Kind is the kind of an account's item.
const Kind = "account"

// listPartition lists all accounts, for the operator alone.
const listPartition = "#accounts"

// Plans are the plans that an account can be on.
var Plans = []string{"starter", "growth", "business", auth.EnterprisePlan}

// RateLimits are the calls that one key may make in a minute.
type RateLimits struct {
	Test int `json:"test"`
	Live int `json:"live"`
}

// DefaultRateLimits are the limits of an account that was given no others.
var DefaultRateLimits = RateLimits{Test: 60, Live: 600}

// Of returns the limit of a key of the given mode.
func (l RateLimits) Of(mode tenant.Mode) int {
	if mode == tenant.Live {
		return l.Live
	}
	return l.Test
}

// Account is a customer's account.
type Account struct {
	resource.Resource
	Name         string     `json:"name"`
	Plan         string     `json:"plan"`
	RateLimits   RateLimits `json:"rate_limits"`
	IPAllowList  []string   `json:"ip_allow_list"`
	LowThreshold int64      `json:"low_threshold"`
	// LostSpendLimit is the number of credits that it may lose a day: see ledger.Lose.
	LostSpendLimit int64 `json:"lost_spend_limit"`
	// ReturnURLs are the pages that the browsers of owners of social accounts may be sent
	// back to: see safehttp.AllowsReturn.
	ReturnURLs []string `json:"return_urls,omitempty"`
}

// Settings are the settings that an operator makes for an account. Members that are nil
// keep their value, or get the default for a new account.
type Settings struct {
	Name           *string
	Plan           *string
	TestLimit      *int
	LiveLimit      *int
	IPAllowList    *[]string
	LowThreshold   *int64
	LostSpendLimit *int64
	ReturnURLs     *[]string
}

// Service creates and changes accounts.
type Service struct {
	db  *store.DB
	now func() time.Time
}

// NewService makes the service on the state table. It makes no call.
func NewService(db *store.DB, now func() time.Time) *Service { return &Service{db, now} }

// Create makes an account with an empty balance.
func (s *Service) Create(ctx context.Context, set Settings) (Account, error) {
	now := s.now()
	a := Account{
		Resource: resource.New(id.New(id.Account, now), now, nil),
		Plan:     auth.EnterprisePlan, RateLimits: DefaultRateLimits, IPAllowList: []string{}, LowThreshold: 1000,
		LostSpendLimit: ledger.DefaultLostLimit,
	}
	if err := a.apply(set); err != nil {
		return Account{}, err
	}
	it, err := store.NewItem(Kind, tenant.Of(tenant.Account(a.ID), ""), a.ID, a)
	if err != nil {
		return Account{}, err
	}
	it.ListKey = store.Key{PK: listPartition, SK: a.ID}
	tx := &store.Tx{}
	tx.Create(it, nil)
	if err := ledger.Open(tx, tenant.Account(a.ID), a.LowThreshold, a.LostSpendLimit, a.view(tenant.Live)); err != nil {
		return Account{}, err
	}
	return a, s.db.Commit(ctx, tx)
}

func (a *Account) apply(set Settings) error {
	if set.Name != nil {
		a.Name = *set.Name
	}
	if set.Plan != nil {
		a.Plan = *set.Plan
	}
	if set.TestLimit != nil {
		a.RateLimits.Test = *set.TestLimit
	}
	if set.LiveLimit != nil {
		a.RateLimits.Live = *set.LiveLimit
	}
	if set.LowThreshold != nil {
		a.LowThreshold = *set.LowThreshold
	}
	if set.LostSpendLimit != nil {
		a.LostSpendLimit = *set.LostSpendLimit
	}
	if set.IPAllowList != nil {
		list, err := auth.ParseCIDRs(*set.IPAllowList, "/ip_allow_list")
		if err != nil {
			return err
		}
		a.IPAllowList = list
	}
	if set.ReturnURLs != nil {
		if err := safehttp.CheckReturn(*set.ReturnURLs, "/return_urls"); err != nil {
			return err
		}
		a.ReturnURLs = *set.ReturnURLs
	}
	switch {
	case a.Name == "" || utf8.RuneCountInString(a.Name) > 100 || strings.ContainsFunc(a.Name, unicode.IsControl):
		return errs.Invalid("/name", "must have 1 to 100 characters, none of them a control character")
	case !slices.Contains(Plans, a.Plan):
		return errs.Invalid("/plan", "%s", text.NotOneOf(a.Plan, Plans))
	case a.RateLimits.Test < 1 || a.RateLimits.Live < 1 || a.RateLimits.Test > 1_000_000 ||
		a.RateLimits.Live > 1_000_000:
		return errs.Invalid("/rate_limits", "must be between 1 and 1000000 calls a minute")
	case a.LowThreshold < 0 || a.LowThreshold > ledger.MaxCredits:
		return errs.Invalid("/low_threshold", "must not be negative, nor above %d", int64(ledger.MaxCredits))
	case a.LostSpendLimit < 0 || a.LostSpendLimit > ledger.MaxCredits:
		return errs.Invalid("/lost_spend_limit", "must not be negative, nor above %d", int64(ledger.MaxCredits))
	}
	return nil
}

// Get reads an account.
func (s *Service) Get(ctx context.Context, accountID tenant.Account) (Account, store.Item, error) {
	it, err := s.db.Lookup(ctx, store.IDKey(string(accountID)))
	if err != nil {
		return Account{}, it, err
	}
	a, err := decode(accountID, it)
	return a, it, err
}

// read reads an account together with other items, which follow its own.
func (s *Service) read(ctx context.Context, accountID tenant.Account, others ...store.Key) (Account,
	[]store.Item, error) {
	items, err := s.db.GetAll(ctx, append([]store.Key{store.IDKey(string(accountID))}, others...)...)
	if err != nil {
		return Account{}, nil, err
	}
	a, err := decode(accountID, items[0])
	return a, items, err
}

// decode returns the account of its item, which may be absent.
func decode(accountID tenant.Account, it store.Item) (a Account, err error) {
	if it.Kind != Kind {
		return Account{}, errs.New(errs.NotFound, "There is no account %q.", accountID)
	}
	a.LostSpendLimit = ledger.DefaultLostLimit // of accounts that were made without one
	return a, it.Decode(&a)
}

// All returns every account, oldest first: for the operator.
func (s *Service) All(ctx context.Context, each func(Account) error) error {
	q := store.Query{Index: store.ByOwner, Partition: listPartition, Limit: 100, OldestFirst: true}
	return s.db.Each(ctx, q, func(it store.Item) error {
		var a Account
		if err := it.Decode(&a); err != nil {
			return err
		}
		return each(a)
	})
}

// retry carries a change out, and again after a concurrent one.
func retry[T any](change func() (T, error)) (v T, err error) {
	err = store.Retry(func() error {
		v, err = change()
		return err
	})
	if !errors.Is(err, store.ErrConflict) {
		return v, err
	}
	return v, errs.Wrap(err, errs.ProviderUnavailable, "The account is being changed by others at the same time. Try "+
		"again in a second.")
}

// Update changes an account, and in the same transaction the copy of its plan, addresses and limits that each of its
// keys carries. The copies of its people, who can be many, follow in other transactions. If one fails, the change can
// be repeated.
func (s *Service) Update(ctx context.Context, accountID tenant.Account, set Settings) (Account, error) {
	return retry(func() (Account, error) { return s.update(ctx, accountID, set) })
}

func (s *Service) update(ctx context.Context, accountID tenant.Account, set Settings) (Account, error) {
	// The count of secrets is read before the keys: a secret that is made from now on,
	// with a copy of the account as it was, makes the commit fail.
	a, items, err := s.read(ctx, accountID, SecretsKey(accountID), ledger.BalanceKey(accountID))
	if err != nil {
		return Account{}, err
	}
	it, secrets, balance := items[0], items[1], ledger.BalanceOf(items[2])
	if err := a.apply(set); err != nil {
		return Account{}, err
	}
	a.Touch(s.now())
	if err := it.Encode(a); err != nil {
		return Account{}, err
	}
	tx := &store.Tx{}
	tx.Replace(it)
	tx.CounterIs(SecretsKey(tenant.Account(a.ID)), secrets.Count())
	if err := ledger.Change(tx, s.now(), tenant.Account(a.ID), balance, a.LowThreshold, a.LostSpendLimit,
		a.view(tenant.Live)); err != nil {
		return Account{}, err
	}
	q := store.Query{Index: store.Table, Partition: credential.Keys(tenant.Account(a.ID)), Limit: 100}
	err = s.db.Each(ctx, q, func(key store.Item) error {
		if secret := key.Attributes[SecretAttribute]; secret != "" {
			credential.ChangeAccount(tx, secret, a.Plan, a.IPAllowList,
				a.RateLimits.Of(tenant.Mode(key.Filters["kind"])))
		}
		return nil
	})
	if err != nil {
		return Account{}, err
	}
	if err := s.db.Commit(ctx, tx); err != nil {
		return Account{}, fmt.Errorf("account: update %s: %w", a.ID, err)
	}
	it.Version++ // as the commit has written it
	return a, person.NewService(s.db, s.now, nil).ChangeAccount(ctx, it)
}

// SecretAttribute is the attribute of an API key's item that holds the hash of its current
// secret; a revoked key has none.
const SecretAttribute = credential.SecretAttribute

// SecretsKey is the key of the counter of all secrets that were ever made for an account's
// API keys. The transaction that makes a secret counts it.
func SecretsKey(accountID tenant.Account) store.Key {
	return store.IDKey("secrets#" + string(accountID))
}

// TopUp adds credits to an account's balance and returns the entry.
func (s *Service) TopUp(ctx context.Context, accountID tenant.Account, credits int64) (ledger.Entry, error) {
	return s.enter(ctx, accountID, func(tx *store.Tx, _ ledger.Balance) (ledger.Entry, error) {
		return ledger.TopUp(tx, s.now(), accountID, credits)
	})
}

// Adjust corrects an account's balance by a signed number of credits. The reason is
// kept with the entry that is given, and logged; callers do not see it.
func (s *Service) Adjust(ctx context.Context, accountID tenant.Account, credits int64,
	reason string) (ledger.Entry, error) {
	if reason == "" || utf8.RuneCountInString(reason) > 500 || strings.ContainsFunc(reason, unicode.IsControl) {
		return ledger.Entry{}, errs.Invalid("/reason",
			"must have 1 to 500 characters, none of them a control character")
	}
	e, err := s.enter(ctx, accountID, func(tx *store.Tx, b ledger.Balance) (ledger.Entry, error) {
		return ledger.Adjust(tx, s.now(), accountID, credits, reason, b)
	})
	if err == nil {
		slog.InfoContext(ctx, "balance adjusted", "account_id", accountID, "entry_id", e.ID, "credits", credits,
			"reason", reason)
	}
	return e, err
}

// enter makes an entry of an account that is there.
func (s *Service) enter(ctx context.Context, accountID tenant.Account,
	fill func(*store.Tx, ledger.Balance) (ledger.Entry, error)) (ledger.Entry, error) {
	return retry(func() (ledger.Entry, error) {
		_, items, err := s.read(ctx, accountID, ledger.BalanceKey(accountID))
		if err != nil {
			return ledger.Entry{}, err
		}
		tx := &store.Tx{}
		tx.Unchanged(items[0])
		e, err := fill(tx, ledger.BalanceOf(items[1]))
		if err != nil {
			return ledger.Entry{}, err
		}
		return e, s.db.Commit(ctx, tx)
	})
}

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

// Mount registers the operations of the area: the account, its audit log, its events and its service levels.
func Mount(r *httpapi.Router, e area.Env) {
	NewService(e.DB, e.Now).Register(r)
	e.Audit.Register(r)
	NewEvents(e.DB, e.Media).Register(r)
	NewLevels(e.DB, e.Now).Register(r)
}
