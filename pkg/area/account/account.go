// Package account holds the customers' accounts: the settings of the operator (plan, limits, addresses) and the
// operation by which a caller sees its own. Start with Service in account.go; events.go and entries.go have the lists
// of events and of the ledger.
package account

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/cloud/safehttp"
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

// NewService makes the service.
func NewService(db *store.DB, now func() time.Time) *Service { return &Service{db, now} }

// Create makes an account.
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
	it.Listed = store.Key{PK: listPartition, SK: a.ID}
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
	tx.Counted(SecretsKey(tenant.Account(a.ID)), secrets.Count())
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
