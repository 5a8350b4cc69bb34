package ledger

import (
	"fmt"
	"maps"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// A purse has the spending of a profile: its limit, and for each month what was spent and what is left. It is an item
// of its own, which work changes without reading it: a condition cannot compare the sum of two numbers, so the rest is
// stored beside the spending.
const (
	purseKind   = "purse"
	limitNumber = "limit"
	// quoteNumber is the number of credits of one call above which work needs a quote. It is absent if none does.
	quoteNumber = "quote_above"
	// unlimited is the limit of a profile without one. No month spends as much.
	unlimited = MaxCredits * 1000
	// usesKind is the kind of the item that notes the time at which something was last made in the profile. It is not
	// the purse: what is made may spend in the same transaction, which takes each item once.
	usesKind      = "profile_uses"
	usedAttribute = "used"
)

func spentNumber(month string) string { return "spent:" + month }
func leftNumber(month string) string  { return "left:" + month }

// PurseKey returns the key of the purse of the owner's profile.
func PurseKey(o tenant.Owner) store.Key {
	return store.IDKey("purse#" + o.String() + "#" + string(o.Profile))
}

// UsesKey returns the key of the item that notes the uses of the owner's profile.
func UsesKey(o tenant.Owner) store.Key {
	return store.IDKey("uses#" + o.String() + "#" + string(o.Profile))
}

// Bounds are what the work for a profile may cost.
type Bounds struct {
	// Limit is the number of credits of a month, and QuoteAbove that of one call above which it needs a quote. Nil
	// means none.
	Limit, QuoteAbove *int64
}

// into sets the bounds in the numbers of a purse.
func (b Bounds) into(numbers map[string]int64) map[string]int64 {
	numbers[limitNumber] = stored(b.Limit)
	if delete(numbers, quoteNumber); b.QuoteAbove != nil {
		numbers[quoteNumber] = *b.QuoteAbove
	}
	return numbers
}

// OpenPurse adds the purse of a new profile, and the item of its uses.
func OpenPurse(tx *store.Tx, o tenant.Owner, b Bounds) {
	tx.Create(store.Item{Key: PurseKey(o), Kind: purseKind, Owner: o, Doc: []byte("{}"),
		Numbers: b.into(map[string]int64{})}, nil)
	tx.Create(store.Item{Key: UsesKey(o), Kind: usesKind, Owner: o, Doc: []byte("{}")}, nil)
}

func stored(limit *int64) int64 {
	if limit == nil {
		return unlimited
	}
	return *limit
}

// ChangePurse sets the bounds of a purse that was read. What is left of the month changes by as much. The commit
// returns store.ErrConflict if the purse has changed since.
func ChangePurse(tx *store.Tx, now time.Time, it store.Item, b Bounds) {
	left, of := leftNumber(now.UTC().Format(month)), it.Numbers
	it.Numbers = maps.Clone(of)
	if _, used := of[left]; used {
		it.Numbers[left] += stored(b.Limit) - of[limitNumber]
	}
	it.Numbers = b.into(it.Numbers)
	tx.Replace(it)
}

// Use notes that the transaction makes something in the owner's profile. If there is no such profile, the commit
// returns missing.
func Use(tx *store.Tx, now time.Time, o tenant.Owner, missing error) {
	u := expression.Set(store.Attribute(usedAttribute), expression.Value(now.UTC().Format(time.RFC3339Nano)))
	tx.Update(UsesKey(o), store.BumpVersion(u), store.Exists, func(store.Item) error { return missing })
}

// ClosePurse removes a purse and the item of uses, which were read. The commit returns store.ErrConflict if something
// was made or spent in the profile since.
func ClosePurse(tx *store.Tx, purse, uses store.Item) {
	tx.Delete(purse)
	tx.Delete(uses)
}

// UsedAt returns the time at which something was last made in a profile, of the item of its uses.
func UsedAt(it store.Item) time.Time {
	at, _ := time.Parse(time.RFC3339Nano, it.Attributes[usedAttribute]) // the zero time: never
	return at
}

// Spending is the spending of a profile in a month.
type Spending struct {
	Spent int64
	// Left is the rest of the limit, or nil if there is no limit.
	Left *int64
}

// SpendingOf returns the spending in the month of a time, of the item of a purse.
func SpendingOf(it store.Item, at time.Time) (s Spending) {
	of := at.UTC().Format(month)
	limit, limited := it.Numbers[limitNumber]
	s.Spent = it.Numbers[spentNumber(of)]
	if limited && limit < unlimited {
		left, used := it.Numbers[leftNumber(of)]
		if !used {
			left = limit
		}
		left = max(left, 0)
		s.Left = &left
	}
	return s
}

// spendOf counts the credits that a profile spends, or gets back if they are negative. If its limit would be exceeded,
// the commit returns an error of failed, or spend_limit_reached if failed is nil.
func (p Payer) spendOf(tx *store.Tx, account tenant.Account, credits int64, quoted bool,
	failed func(store.Item) error) {
	left, limit := store.Number(leftNumber(p.Month)), store.Number(limitNumber)
	u := store.BumpVersion(expression.Add(store.Number(spentNumber(p.Month)), value(credits))).
		Set(left, expression.Minus(left.IfNotExists(limit), value(credits)))
	within := expression.Or(limit.AttributeExists(), limit.AttributeNotExists())
	if credits < 0 { // which the month has spent before; the profile may be deleted
		u = store.BumpVersion(expression.Add(store.Number(spentNumber(p.Month)), value(credits))).
			Set(left, expression.Minus(left.IfNotExists(value(0)), value(credits)))
	} else {
		within = expression.Or(left.GreaterThanEqual(value(credits)),
			expression.And(left.AttributeNotExists(), limit.GreaterThanEqual(value(credits))))
	}
	if above := store.Number(quoteNumber); !quoted {
		within = expression.And(within, expression.Or(above.AttributeNotExists(),
			above.GreaterThanEqual(value(credits))))
	}
	if failed == nil {
		failed = func(it store.Item) error {
			if err := p.unquoted(it, credits); err != nil && !quoted {
				return err
			}
			return p.overspent(it, credits)
		}
	}
	tx.Update(PurseKey(tenant.Of(account, tenant.Live).Of(p.Profile)), u, within, failed)
}

// unquoted returns the refusal of work that needs a quote for the payer's profile, or nil if it needs none.
func (p Payer) unquoted(purse store.Item, credits int64) error {
	above, required := purse.Numbers[quoteNumber]
	if !required || credits <= above {
		return nil
	}
	return errs.Invalid("/quote_id", "is required, because this costs %d credits, and the profile %s requires a quote "+
		"above %d in one call. Send the call to create a content plan or a batch of content items with rehearse: "+
		"true, quote the rehearsal by POST /v1/quotes, and send the quote_id. For other work, raise "+
		"quote_required_above_credits of the profile", credits, p.Profile, above)
}

// overspent returns the refusal of work that the limit of the payer's profile does not cover, or nil if it does.
func (p Payer) overspent(purse store.Item, credits int64) error {
	of, _ := time.Parse(month, p.Month) // PayerOf has formatted it
	s := SpendingOf(purse, of)
	switch {
	case purse.Kind == "":
		return store.ErrConflict // the profile was deleted
	case s.Left == nil || *s.Left >= credits:
		return nil
	}
	limit := purse.Numbers[limitNumber]
	return errs.New(errs.SpendLimitReached, "This costs %d credits. The profile %s may spend %d a month and has spent "+
		"%d. Raise its spend_limit_credits, or wait for the next month (UTC).", credits, p.Profile, limit, s.Spent).
		With(errs.SpendContext{SpendLimitCredits: limit, RequiredCredits: credits, AvailableCredits: *s.Left})
}

// Spendable returns the credits of a balance that can be spent in the profiles of some purses, or all without any.
func Spendable(balance store.Item, purses []store.Item, at time.Time) int64 {
	all := BalanceOf(balance).Credits
	var left int64
	for _, it := range purses {
		s := SpendingOf(it, at)
		if s.Left == nil {
			return all
		}
		left += *s.Left
	}
	if len(purses) > 0 {
		all = min(all, left)
	}
	return all
}

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
	// refusal is the refusal of a mandate that leaves spending to people.
	refusal error
}

// PayerOf returns the payer of work that is accepted now for a caller. The key of a person is empty.
func PayerOf(now time.Time, p *auth.Principal) Payer {
	if p.KeyID() == "" {
		return Payer{}
	}
	of := now.UTC().Format(month)
	day := now.UTC().Format(time.DateOnly)
	payer := Payer{Key: p.KeyID(), Month: of, Limit: p.SpendLimit, Day: day, refusal: p.RequirePerson(auth.ActSpend)}
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
