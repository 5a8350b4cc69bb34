package ledger

import (
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// month is the layout of a calendar month in UTC.
const month = "2006-01"

// keepSpending is the number of months for which the spending of a key is kept.
const keepSpending = 13

// Payer is the API key that pays for work, the profile that the work is for, and the month in which the work was
// accepted. The zero value is a person who works for no profile: this spending is not counted.
type Payer struct {
	Key     string         `json:"key,omitempty"`
	Profile tenant.Profile `json:"profile,omitempty"`
	Month   string         `json:"month,omitempty"`
	// Limit is the number of credits that the key may spend in a month, as it was when the work was accepted. Nil means
	// no limit.
	Limit *int64 `json:"limit,omitempty"`
	// Day is the day (UTC) on which the work was accepted, and DayLimit the number of credits that the mandate of the
	// key permits on it. Nil means no limit.
	Day      string `json:"day,omitempty"`
	DayLimit *int64 `json:"day_limit,omitempty"`
	// Mandate is the id of that mandate.
	Mandate string `json:"mandate,omitempty"`
	// Maker is the key that has made the key, and pays, too: what its keys spend counts for its limit. It has no
	// profile.
	Maker *Payer `json:"maker,omitempty"`
	// refused is the refusal of a mandate that leaves spending to people.
	refused error
}

// PayerOf returns the payer of work that is accepted now for a caller. The key of a person is empty.
func PayerOf(now time.Time, p *auth.Principal) Payer {
	if p.KeyID() == "" {
		return Payer{}
	}
	of := now.UTC().Format(month)
	day := now.UTC().Format(time.DateOnly)
	payer := Payer{Key: p.KeyID(), Month: of, Limit: p.SpendLimit, Day: day, refused: p.RequirePerson(auth.ActSpend)}
	payer.mandated(p.Mandate)
	last := &payer
	for _, maker := range p.Makers {
		last.Maker = &Payer{Key: maker.Key, Month: of, Limit: maker.Limit, Day: day}
		last = last.Maker
		last.mandated(maker.Mandate)
	}
	return payer
}

// mandated sets the limit of a day that a mandate has, if there is one.
func (p *Payer) mandated(m *auth.Mandate) {
	if m != nil && m.CreditsADay != nil {
		p.DayLimit, p.Mandate = m.CreditsADay, m.ID
	}
}

// of returns the payer of work for a profile.
func (p Payer) of(profile tenant.Profile, now time.Time) Payer {
	if p.Profile = profile; profile != "" {
		p.Month = now.UTC().Format(month)
	}
	return p
}

// SpendKey returns the key of the counter of an API key's spending in the month of the given time. Item.Count is the
// number of credits.
func SpendKey(account tenant.Account, keyID string, at time.Time) store.Key {
	return spendKey(account, keyID, at.UTC().Format(month))
}

func spendKey(account tenant.Account, keyID, of string) store.Key {
	return store.IDKey("spend#" + string(account) + "#" + keyID + "#" + of)
}

// Covers returns an error unless a balance and the limits of the payer cover the given credits. The argument counters
// has the items of Counters.
func (p Payer) Covers(b Balance, counters []store.Item, credits int64) error {
	switch {
	case b.Credits < credits:
		return insufficient(credits)(b.Credits)
	case p.exceeded(counters[0], credits):
		return spendLimitReached(credits, p)(counters[0])
	case p.Profile != "":
		if err := p.overspent(counters[1], credits); err != nil {
			return err
		}
	}
	counters = counters[min(2, len(counters)):]
	for maker := p.Maker; maker != nil; maker = maker.Maker {
		if maker.exceeded(counters[0], credits) {
			return makerLimitReached(credits, *maker)(counters[0])
		}
		counters = counters[1:]
	}
	return nil
}

// Counters returns the keys of the counters of the payer's key, of its profile, and of the keys that have made the key.
// Those of a person and of no profile never exist.
func (p Payer) Counters(account tenant.Account) []store.Key {
	keys := []store.Key{p.counter(account), PurseKey(tenant.Of(account, tenant.Live).Of(p.Profile))}
	for maker := p.Maker; maker != nil; maker = maker.Maker {
		keys = append(keys, maker.counter(account))
	}
	return keys
}

func (p Payer) counter(account tenant.Account) store.Key { return spendKey(account, p.Key, p.Month) }

// spend counts the credits that a payer spends, or gets back if they are negative. If the limit would be exceeded, the
// commit returns the error of failed for the counter, or spend_limit_reached if failed is nil. Quoted reports that a
// quote bounds the credits, or that nobody need ask for one.
func (p Payer) spend(tx *store.Tx, account tenant.Account, credits int64, quoted bool,
	failed func(store.Item) error) {
	if credits == 0 {
		return
	}
	if p.Profile != "" {
		p.spendOf(tx, account, credits, quoted, failed)
	}
	if p.Key == "" {
		return
	}
	refusal := spendLimitReached
	for of := &p; of != nil; of = of.Maker {
		told := failed
		if told == nil {
			told = refusal(credits, *of)
		}
		of.count(tx, account, credits, told)
		refusal = makerLimitReached
	}
}

// exceeded reports whether credits exceed what a limit of the key of the payer leaves, by its counter.
func (p *Payer) exceeded(spent store.Item, credits int64) bool {
	return p.Limit != nil && spent.Count()+credits > *p.Limit || p.dayExceeded(spent, credits)
}

func (p *Payer) dayExceeded(spent store.Item, credits int64) bool {
	return p.DayLimit != nil && spent.Numbers[dayNumber(p.Day)]+credits > *p.DayLimit
}

// dayNumber is the number of the counter of a month that has the spending of a day.
func dayNumber(day string) string { return "day:" + day }

// SpentOn returns the credits that a key has spent on the day (UTC) of a time, of the item of SpendKey.
func SpentOn(counter store.Item, at time.Time) int64 {
	return counter.Numbers[dayNumber(at.UTC().Format(time.DateOnly))]
}

// within returns the condition that a number does not exceed a limit when credits are added to it. A number that does
// not exist is 0. It returns false for no limit.
func within(n expression.NameBuilder, limit *int64, credits int64) (c expression.ConditionBuilder, limited bool) {
	if limit == nil || credits <= 0 {
		return c, false
	}
	c = n.LessThanEqual(value(*limit - credits))
	if credits <= *limit {
		c = expression.Or(n.AttributeNotExists(), c)
	}
	return c, true
}

// count counts the credits for the key of the payer alone.
func (p Payer) count(tx *store.Tx, account tenant.Account, credits int64, failed func(store.Item) error) {
	n := store.CountValue
	holds := expression.Or(n.AttributeExists(), n.AttributeNotExists())
	if c, limited := within(n, p.Limit, credits); limited {
		holds = c
	}
	of, _ := time.Parse(month, p.Month) // it was formatted here
	u := expression.Add(n, value(credits)).Set(store.Expiry, value(of.AddDate(0, keepSpending, 0).Unix()))
	if p.Day != "" { // work that was accepted by earlier versions has none
		day := store.Number(dayNumber(p.Day))
		u = u.Add(day, value(credits))
		if c, limited := within(day, p.DayLimit, credits); limited {
			holds = expression.And(holds, c)
		}
	}
	tx.Update(p.counter(account), u, holds, failed)
}

// makerLimitReached returns the refusal of work that the limit of a key that has made the payer's does not cover.
func makerLimitReached(credits int64, p Payer) func(store.Item) error {
	return func(spent store.Item) error {
		e := *errs.As(spendLimitReached(credits, p)(spent))
		if p.dayExceeded(spent, credits) {
			return &e // it names the mandate, and so the key
		}
		e.Message = fmt.Sprintf("This costs %d credits. The API key %s, which has made this one, may spend %d a "+
			"month, and has spent %d with the keys that it has made. Raise its limit, use another key, or wait for "+
			"the next month (UTC).", credits, p.Key, *p.Limit, spent.Count())
		return &e
	}
}

// insufficient returns the refusal of work that the balance does not cover.
func insufficient(credits int64) func(balance int64) error {
	return func(balance int64) error {
		return errs.New(errs.InsufficientBalance, "This costs %d credits, and the balance is %d. Top up the account, "+
			"or request something that costs less.", credits, balance).
			With(errs.BalanceContext{RequiredCredits: credits, AvailableCredits: balance})
	}
}

// spendLimitReached returns the refusal of work that the payer's limit does not cover.
func spendLimitReached(credits int64, p Payer) func(store.Item) error {
	return func(spent store.Item) error {
		if p.dayExceeded(spent, credits) {
			return dayReached(credits, p, spent.Numbers[dayNumber(p.Day)])
		}
		var limit int64
		if p.Limit != nil {
			limit = *p.Limit
		}
		return errs.New(errs.SpendLimitReached, "This costs %d credits. The API key may spend %d a month and has "+
			"spent %d. Raise its limit, use another key, or wait for the next month (UTC).", credits, limit,
			spent.Count()).
			With(errs.SpendContext{SpendLimitCredits: limit, RequiredCredits: credits,
				AvailableCredits: max(limit-spent.Count(), 0)})
	}
}

// dayReached returns the refusal of work that the mandate of the payer's key does not cover on its day.
func dayReached(credits int64, p Payer, spent int64) error {
	day, _ := time.Parse(time.DateOnly, p.Day) // PayerOf has formatted it, as all days
	ends := day.AddDate(0, 0, 1)
	return errs.New(errs.SpendLimitReached, "This costs %d credits. The mandate %s of the API key permits %d credits "+
		"a day, and %d are spent or reserved today. Wait until %s, or ask a person of the account to raise its "+
		"credits_a_day.", credits, p.Mandate, *p.DayLimit, spent, ends.Format(time.RFC3339)).
		With(errs.SpendContext{SpendLimitCredits: *p.DayLimit, RequiredCredits: credits,
			AvailableCredits: max(*p.DayLimit-spent, 0), Mandate: p.Mandate,
			DayEndsAt: resource.SortableTime(ends)})
}
