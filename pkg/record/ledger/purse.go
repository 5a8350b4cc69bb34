package ledger

import (
	"maps"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
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
	tx.Update(UsesKey(o), store.Written(u), store.Exists, func(store.Item) error { return missing })
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
	u := store.Written(expression.Add(store.Number(spentNumber(p.Month)), value(credits))).
		Set(left, expression.Minus(left.IfNotExists(limit), value(credits)))
	within := expression.Or(limit.AttributeExists(), limit.AttributeNotExists())
	if credits < 0 { // which the month has spent before; the profile may be deleted
		u = store.Written(expression.Add(store.Number(spentNumber(p.Month)), value(credits))).
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
