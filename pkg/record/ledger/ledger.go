// Package ledger keeps each account's balance in integer credits: one counter, and one entry for every change of it,
// written in the same transaction, so that the entries always add up to the balance. Accepting work reserves its price.
// Success turns the reservation into a charge; failure and cancellation release it.
//
// Nothing here reads the table. The balance that a caller has read only selects the transaction; the conditions of the
// transaction decide whether it commits. Test keys have no balance: work for them does not use this package. Reserve
// holds credits, and Hold settles them.
package ledger

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/pace"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// TopUp adds credits to a balance. It refuses amounts that are not positive. The commit fails if the balance would
// exceed MaxCredits.
func TopUp(tx *store.Tx, now time.Time, account tenant.Account, credits int64) (Entry, error) {
	if credits <= 0 || credits > MaxCredits {
		return Entry{}, errs.Invalid("/credits", "must be between 1 and %d", int64(MaxCredits))
	}
	e, it, err := newEntry(now, account, kindTopUp, string(account), nil, credits, Payer{})
	if err != nil {
		return Entry{}, err
	}
	add(tx, it, credits)
	return e, nil
}

// add writes an entry of credits that were added to a balance from outside.
func add(tx *store.Tx, it store.Item, credits int64) {
	addCredits(tx, BalanceKey(it.Account), credits, MaxCredits,
		errs.Invalid("/credits", "would raise the balance above %d", int64(MaxCredits)))
	tx.Create(it, nil)
}

// Adjust corrects a balance by a signed number of credits. The entry keeps the reason, which only operators see. The
// commit fails if the balance would fall below zero or exceed MaxCredits.
func Adjust(tx *store.Tx, now time.Time, account tenant.Account, credits int64, reason string,
	b Balance) (Entry, error) {
	if credits == 0 || credits > MaxCredits || credits < -MaxCredits {
		return Entry{}, errs.Invalid("/credits", "must be between -%d and %[1]d, and not 0", int64(MaxCredits))
	}
	e, it, err := newEntry(now, account, kindAdjust, string(account), nil, credits, Payer{})
	if err != nil {
		return Entry{}, err
	}
	it.Attributes = map[string]string{attrReason: reason}
	if credits > 0 {
		add(tx, it, credits)
		return e, nil
	}
	tx.Create(it, nil)
	return e, take(tx, now, account, b, -credits, func(balance int64) error {
		return errs.Invalid("/credits", "would take the balance of %d below 0", balance)
	})
}

// Reservation is the price of accepted work.
type Reservation struct {
	Account tenant.Account
	Profile tenant.Profile // that the work is for, or empty
	Subject string         // id of the work
	About   About
	Credits int64
	Payer   Payer
}

// Hold is a reservation that is not settled yet. The work keeps it and settles it
// once. The zero value holds nothing, and settling it does nothing.
type Hold struct {
	Entry   string `json:"entry"`
	Subject string `json:"subject"`
	About   *About `json:"about,omitempty"`
	Credits int64  `json:"credits"`
	Payer   Payer  `json:"payer,omitzero"`
}

// Reserve takes the price of work from a balance and holds it. The commit returns insufficient_balance if the balance
// is insufficient, spend_limit_reached if the payer's limit would be exceeded, and validation_failed if the profile
// requires a quote that the reservation lacks. If the balance has changed since it
// was read, so that a notice of a low balance became due or is no longer due, the commit returns store.ErrConflict:
// read the balance again and retry. Reserve returns rate_limited if the account's losses of today exceed their limit.
// Reserve returns person_required if the mandate of the payer's key leaves spending to people. Free work has no entry.
func Reserve(tx *store.Tx, now time.Time, r Reservation, b Balance) (Hold, error) {
	if r.Credits == 0 {
		return Hold{}, nil
	}
	if r.Payer.refusal != nil {
		return Hold{}, r.Payer.refusal
	}
	if b.LostCredits > b.LostLimit {
		return Hold{}, errLost(now, b)
	}
	r.Payer = r.Payer.of(r.Profile, now)
	h, err := hold(tx, now, r)
	if err != nil {
		return Hold{}, err
	}
	r.Payer.spend(tx, r.Account, r.Credits, r.About.QuoteID != "", nil)
	return h, take(tx, now, r.Account, b, r.Credits, insufficient(r.Credits))
}

// hold writes the entry of a reservation.
func hold(tx *store.Tx, now time.Time, r Reservation) (Hold, error) {
	if r.Credits < 0 || r.Credits > MaxCredits {
		return Hold{}, fmt.Errorf("ledger: %s cannot reserve %d credits", r.Subject, r.Credits)
	}
	var about *About
	if r.About.FactoryID != "" || len(r.About.Metadata) > 0 || r.About.QuoteID != "" {
		about = &r.About
	}
	e, it, err := newEntry(now, r.Account, kindReserve, r.Subject, about, -r.Credits, r.Payer)
	if err != nil {
		return Hold{}, err
	}
	it.Attributes = map[string]string{attrState: stateHeld, attrHeld: strconv.FormatInt(r.Credits, 10)}
	tx.Create(it, nil)
	return Hold{Entry: e.ID, Subject: r.Subject, About: about, Credits: r.Credits, Payer: r.Payer}, nil
}

// Charge settles the reservation of work that succeeded. The commit returns store.ErrConflict if it is already settled.
func Charge(tx *store.Tx, now time.Time, account tenant.Account, h Hold) {
	if h != (Hold{}) {
		settle(tx, now, account, h, stateCharged, 0)
	}
}

// Release settles the reservation of work that failed or was canceled. It charges the given part of it, for the
// completed parts of the work, and returns the rest to the balance. The commit returns store.ErrConflict if the
// reservation is already settled.
func Release(tx *store.Tx, now time.Time, account tenant.Account, h Hold, charged int64) error {
	switch {
	case charged < 0 || charged > h.Credits:
		return fmt.Errorf("ledger: %s cannot be charged %d of %d credits", h.Subject, charged, h.Credits)
	case charged == h.Credits:
		Charge(tx, now, account, h)
		return nil
	}
	state, rest := stateReleased, h.Credits-charged
	if charged > 0 {
		state = stateCharged
	}
	settle(tx, now, account, h, state, 0)
	h.Payer.spend(tx, account, -rest, true, nil)
	return release(tx, now, account, h, rest, rest)
}

// ChargeMore charges the cost of work beyond its reservation, which the same transaction charges. The commit returns
// store.ErrConflict if the balance or the payer's limit does not cover it, or if the balance has changed since it was
// read.
func ChargeMore(tx *store.Tx, now time.Time, account tenant.Account, h Hold, credits int64, b Balance) error {
	_, it, err := newEntry(now, account, kindReserve, h.Subject, h.About, -credits, h.Payer)
	if err != nil {
		return err
	}
	it.Attributes = map[string]string{attrState: stateCharged, attrHeld: "0"}
	tx.Create(it, nil)
	h.Payer.spend(tx, account, credits, true, store.Conflict)
	return take(tx, now, account, b, credits, func(int64) error { return store.ErrConflict })
}

// release writes an entry of released credits. It adds those that are not reserved again, free, to the balance.
func release(tx *store.Tx, now time.Time, account tenant.Account, h Hold, credits, free int64) error {
	_, it, err := newEntry(now, account, kindRelease, h.Subject, h.About, credits, h.Payer)
	if err != nil {
		return err
	}
	if free > 0 {
		// The balance may exceed MaxCredits here: these credits were taken from it, and it may have grown since.
		addCredits(tx, BalanceKey(account), free, math.MaxInt64, store.ErrConflict)
	}
	tx.Create(it, nil)
	return nil
}

// settle moves a hold to a new state if its amount is unchanged.
func settle(tx *store.Tx, now time.Time, account tenant.Account, h Hold, state string, left int64) {
	held := expression.And(store.Account.Equal(expression.Value(string(account))),
		store.Attribute(attrState).Equal(expression.Value(stateHeld)),
		store.Attribute(attrHeld).Equal(expression.Value(strconv.FormatInt(h.Credits, 10))))
	moved := expression.Set(store.Attribute(attrState), expression.Value(state)).
		Set(store.Attribute(attrHeld), expression.Value(strconv.FormatInt(left, 10))).
		Set(store.Attribute(attrSettled), expression.Value(resource.Instant(now).Format(time.RFC3339Nano)))
	tx.Update(store.IDKey(h.Entry), store.BumpVersion(moved), held, store.Conflict)
}

// Part is the share of one part of a batch in the batch's reservation.
type Part struct {
	Subject string
	About   About
	Credits int64
	// Free reports that the credits of the part are released instead of held.
	Free bool
}

// MaxParts bounds the parts of one split. A split takes four writes more than it has parts, of the 100 writes of a
// transaction. The rest is left for the caller.
const MaxParts = 45

// Split divides the reservation of a batch among its parts. Holds has the reservation of each part, in order. It is the
// zero Hold for parts that cost nothing or are free. Rest is the amount that the batch still holds. The commit returns
// store.ErrConflict if the batch does not hold the given amount, as after an earlier split.
func Split(tx *store.Tx, now time.Time, account tenant.Account, batch Hold, parts []Part) (rest Hold,
	holds []Hold, err error) {
	var all, free int64
	for _, p := range parts {
		if p.Credits < 0 || p.Credits > batch.Credits-all {
			return Hold{}, nil, fmt.Errorf("ledger: the parts of %s are more than the %d credits that it holds",
				batch.Subject, batch.Credits)
		}
		all += p.Credits
		if p.Free {
			free += p.Credits
		}
	}
	if len(parts) > MaxParts {
		return Hold{}, nil, fmt.Errorf("ledger: %d parts of %s are too many for one transaction", len(parts),
			batch.Subject)
	}
	holds = make([]Hold, len(parts))
	if all == 0 {
		return batch, holds, nil
	}
	rest, state := batch, stateHeld
	if rest.Credits -= all; rest.Credits == 0 {
		rest, state = Hold{}, stateReleased
	}
	settle(tx, now, account, batch, state, rest.Credits)
	// The same transaction reserves the released credits again, so that only the free ones change the balance.
	if err := release(tx, now, account, batch, all, free); err != nil {
		return Hold{}, nil, err
	}
	batch.Payer.spend(tx, account, -free, true, nil)
	for i, p := range parts {
		if p.Free || p.Credits == 0 {
			continue
		}
		if holds[i], err = hold(tx, now, Reservation{Account: account, Subject: p.Subject, About: p.About,
			Credits: p.Credits, Payer: batch.Payer}); err != nil {
			return Hold{}, nil, err
		}
	}
	return rest, holds, nil
}

// Kind is the kind of an entry's item.
const Kind = "balance_entry"

// The kinds of entries.
const (
	kindTopUp   = "top_up"
	kindReserve = "reserve"
	kindRelease = "release"
	kindAdjust  = "adjust"
)

// The states of a reservation.
const (
	stateHeld     = "held"
	stateCharged  = "charged"
	stateReleased = "released"
)

// Entry is one change of a balance. Its credits never change; the state of a reservation changes once.
type Entry struct {
	resource.Resource
	// Reason of the change. top_up: credits were bought. reserve: credits were reserved for accepted work, or charged
	// for a result that cost more. release: reserved credits were returned, because the work failed or was canceled.
	// adjust: the operator corrected the balance.
	Kind string `json:"kind" enum:"top_up,reserve,release,adjust" example:"reserve"`
	// Change of the balance in credits. Negative if credits were taken.
	Credits int64 `json:"credits" example:"-12"`
	// Factory of the resource that was paid for; metadata is that of the resource, as it was when the credits were
	// reserved. Null: none, as for the studio and chats, or several, as for a batch of several factories.
	//
	// FactoryID and the metadata are those of the subject at the time when the work was accepted.
	FactoryID *string `json:"factory_id"`
	// Profile whose work was paid for. Null: the account as a whole.
	ProfileID *tenant.Profile `json:"profile_id"`
	// Quote that bounds the price of what was paid for. Null: none.
	QuoteID *string `json:"quote_id"`
	// API key that paid: the credits count for its spending limit. Null: a person paid, or nobody.
	KeyID *string `json:"key_id"`
	// Id of the resource that was paid for, or of the account.
	Subject string `json:"subject" example:"cnt_01h455vb4pex5vsknk084sn02q"`
	// State of a reserve. held: the work is running. charged: it has succeeded, or was canceled or failed for what you
	// gave when a part was completed; then a release returns the rest. released: the credits were returned. Null for
	// other kinds.
	State *string `json:"state" enum:"held,charged,released"`
}

// The attributes of a reservation's item. They are outside the document, so that an
// update can settle it without a read.
const (
	attrState = "state"
	// attrHeld is the number of credits that the reservation still holds.
	attrHeld = "held"
	// attrSettled is the time of its last change.
	attrSettled = "settled_at"
	// attrReason is the operator's reason for an adjustment of the balance.
	attrReason = "reason"
)

// About is the part of the paid resource that its entries show.
type About struct {
	FactoryID string            `json:"factory_id,omitempty"`
	Metadata  resource.Metadata `json:"metadata,omitempty"`
	// QuoteID is the quote that the work was accepted with. A profile may require one.
	QuoteID string `json:"quote_id,omitempty"`
}

// QuoteShare is the part of a quote that one piece of work has: the credits that it costs at most.
type QuoteShare struct {
	QuoteID string `json:"quote_id"`
	Credits int64  `json:"credits"`
}

// newEntry makes an entry, and its item. About may be nil, and the payer empty.
func newEntry(now time.Time, account tenant.Account, kind, subject string, about *About, credits int64,
	payer Payer) (Entry, store.Item, error) {
	if about == nil {
		about = &About{}
	}
	owner := tenant.Of(account, tenant.Live).Of(payer.Profile)
	e := Entry{Resource: resource.New(id.New(id.LedgerEntry, now), now, about.Metadata), Kind: kind, Credits: credits,
		Subject: subject, ProfileID: owner.ProfileID()}
	if payer.Key != "" {
		e.KeyID = &payer.Key
	}
	if about.QuoteID != "" {
		e.QuoteID = &about.QuoteID
	}
	filters := map[string]string{"kind": kind}
	if about.FactoryID != "" {
		e.FactoryID, filters["factory"] = &about.FactoryID, about.FactoryID
	}
	it, err := store.NewItem(Kind, owner, e.ID, e)
	it.Filters = filters
	it.Parent = store.Key{PK: SubjectPartition(owner, subject), SK: e.ID}
	return e, it, err
}

// SubjectPartition returns the partition of store.ByParent that lists the entries of one subject.
func SubjectPartition(o tenant.Owner, subject string) string {
	return "entries#" + o.String() + "#" + subject
}

// EntryOf reads the entry that an item of the table holds.
func EntryOf(it store.Item) (Entry, error) {
	var e Entry
	if err := it.Decode(&e); err != nil {
		return Entry{}, err
	}
	if state := it.Attributes[attrState]; state != "" {
		e.State, e.Version = &state, it.Version
	}
	if settled := it.Attributes[attrSettled]; settled != "" {
		at, err := time.Parse(time.RFC3339Nano, settled)
		if err != nil {
			return Entry{}, err
		}
		e.UpdatedAt = resource.Instant(at)
	}
	return e, nil
}

// DefaultLostLimit bounds the daily losses of an account without a limit of its own, in credits.
const DefaultLostLimit = 5000

// lostLimitNumber is the limit. It is stored with the balance because both are read together.
const lostLimitNumber = "lost_limit"

// keepLost is the time for which the count of a day is kept.
const keepLost = 90 * 24 * time.Hour

// LostSpend is the metric of credits that providers were paid for work that was not charged.
const LostSpend = "LostSpendCredits"

// LostKey returns the key of the counter of an account's losses on a day (UTC): the amount that providers were paid for
// work that failed or was canceled and was not charged.
func LostKey(account tenant.Account, at time.Time) store.Key {
	return store.IDKey("lost#" + string(account) + "#" + at.UTC().Format(time.DateOnly))
}

// Lose counts credits that were lost. The metric may count them twice if the transaction is repeated.
func Lose(tx *store.Tx, now time.Time, account tenant.Account, credits int64) {
	if credits <= 0 {
		return
	}
	n := store.CountValue
	tx.Update(LostKey(account, now), expression.Add(n, value(credits)).Set(store.Expiry,
		value(now.Add(keepLost).Unix())),
		expression.Or(n.AttributeExists(), n.AttributeNotExists()), store.Conflict)
	metric.Add(LostSpend, credits)
}

// FundsKeys returns the keys of the items that decide whether new work of an account is accepted; see FundsOf.
func FundsKeys(account tenant.Account, now time.Time) []store.Key {
	return []store.Key{BalanceKey(account), LostKey(account, now), pace.Key(account)}
}

// FundsOf returns the balance of the items of FundsKeys, with today's losses and the state of the providers. A state
// that cannot be read has no limits: the worker reads it again.
func FundsOf(items []store.Item) Balance {
	b := BalanceOf(items[0])
	b.LostCredits = items[1].Count()
	b.Pace, _ = pace.Of(items[2])
	return b
}

// leastWeight is the share of the work in flight, in percent, that counts as long as nothing was lost.
const leastWeight = 10

// MayRisk returns the number of credits that all work in flight may cost: the rest of the daily limit, since all of it
// may be lost. As long as little was lost, only a tenth of the work counts, so that an account whose work succeeds can
// have much of it in flight. The share grows with the losses. From half of the limit on, all of it counts.
func (b Balance) MayRisk() int64 {
	left := b.LostLimit - b.LostCredits
	if left <= 0 {
		return 0
	}
	return left * 100 / min(max(200*b.LostCredits/b.LostLimit, leastWeight), 100)
}

// Fence makes the commit return store.ErrConflict if the account's losses of today have grown since the balance was
// read.
func Fence(tx *store.Tx, now time.Time, account tenant.Account, b Balance) {
	if b.LostCredits == 0 {
		return // the first loss of the day leaves most of the limit
	}
	n := store.CountValue
	tx.Update(LostKey(account, now), expression.Add(n, value(0)), n.LessThanEqual(value(b.LostCredits)), store.Conflict)
}

// retryRisk is the time after which a caller with too much work in flight should retry.
const retryRisk = 30 * time.Second

// ErrRisk refuses new work because too much work is in flight.
func ErrRisk(now time.Time, credits int64, b Balance) error {
	e := errs.New(errs.RateLimited, "Work of this account that failed or was canceled has cost %d credits today "+
		"without being charged, and the limit is %d. So work in flight may cost at most %d credits together, and "+
		"this costs %d. Wait until other work has ended, or request less at a time. To have the limit raised, "+
		"contact support.", b.LostCredits, b.LostLimit, b.MayRisk(), credits)
	e.RetryAfter = retryRisk
	if b.LostCredits > 0 && credits > b.MayRisk() {
		e.RetryAfter = untilTomorrow(now)
	}
	return e
}

// untilTomorrow is the time until midnight UTC.
func untilTomorrow(now time.Time) time.Duration {
	return now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour).Sub(now)
}

// errLost refuses new work of an account that has lost too much today.
func errLost(now time.Time, b Balance) error {
	e := errs.New(errs.RateLimited, "Work of this account that failed or was canceled has cost %d credits today "+
		"without being charged, and the limit is %d. New work is accepted again from midnight UTC on. To have the "+
		"limit raised, contact support.", b.LostCredits, b.LostLimit)
	e.RetryAfter = untilTomorrow(now)
	return e
}

// riskNumber is the cost of the waiting work, in the item of its count: all of it may be lost.
const riskNumber = "risk"

// Anything is a limit of credits that nothing exceeds.
const Anything = int64(math.MaxInt64)

// RiskOf returns the cost of the work that an item counts.
func RiskOf(it store.Item) int64 { return it.Numbers[riskNumber] }

// Wait adds waiting work and its cost to a counter. The commit returns the error of failed for the counter if there
// would be more work than most, or if the counted work costs more than room.
func Wait(tx *store.Tx, counter store.Key, n, most, credits, room int64, failed func(store.Item) error) {
	count, risk := store.CountValue, store.Number(riskNumber)
	within := count.AttributeNotExists().Or(count.LessThanEqual(value(most - n)))
	if room < Anything {
		within = expression.And(within, risk.AttributeNotExists().Or(risk.LessThanEqual(value(room))))
	}
	tx.Update(counter, waited(n, credits), within, failed)
}

// Leave subtracts ended work and its counted cost from a counter. The commit returns failed if the counter is too
// small.
func Leave(tx *store.Tx, counter store.Key, n, credits int64, failed error) {
	tx.Update(counter, waited(-n, -credits), store.CountValue.GreaterThanEqual(value(n)),
		func(store.Item) error { return failed })
}

// waited changes the counts of waiting work.
func waited(n, credits int64) expression.UpdateBuilder {
	u := expression.Add(store.CountValue, value(n))
	if credits != 0 {
		u = u.Add(store.Number(riskNumber), value(credits))
	}
	return u
}

// MaxCredits bounds a balance, far below the limit of integers in JSON clients (2^53).
const MaxCredits = 1_000_000_000_000

// balanceKind is the kind of a balance's item.
const balanceKind = "balance"

// Balance is an account's balance as it was read. Operations read it with BalanceKey
// together with their other items, and pass it to the functions that take credits.
type Balance struct {
	// Credits can be spent: reservations are already deducted.
	Credits int64
	// Above is the credits less the account's low threshold.
	Above int64
	// Low reports whether the credits are below the threshold and the account was notified of it.
	Low bool
	// LostCredits is the amount that providers were paid today for work that was not charged. LostLimit bounds it.
	LostCredits, LostLimit int64
	// Pace is the state of the providers, which may take less work than the account can pay for.
	Pace pace.State
	// account is the account in the event balance.low, without its balance.
	account json.RawMessage
}

// BalanceKey returns the key of an account's balance.
func BalanceKey(account tenant.Account) store.Key { return store.IDKey("balance#" + string(account)) }

// BalanceOf returns the balance of its item. The zero item has the zero balance.
func BalanceOf(it store.Item) Balance {
	b := Balance{Credits: it.Numbers[creditsNumber], Above: it.Numbers[aboveNumber], LostLimit: DefaultLostLimit,
		account: it.Doc}
	if limit, ok := it.Numbers[lostLimitNumber]; ok {
		b.LostLimit = limit
	}
	// A notice expires once the credits have risen to the threshold.
	b.Low = it.Attributes[lowAttribute] != "" && b.Above < 0
	return b
}

// Open creates the balance of a new account. The argument shown is the account in its events, without its balance.
func Open(tx *store.Tx, account tenant.Account, threshold, lostLimit int64, shown any) error {
	doc, err := json.Marshal(shown)
	if err != nil {
		return fmt.Errorf("ledger: encode account %s: %w", account, err)
	}
	tx.Create(store.Item{
		Key: BalanceKey(account), Kind: balanceKind, Owner: tenant.Of(account, ""), Doc: doc,
		Numbers: map[string]int64{creditsNumber: 0, aboveNumber: -threshold, lostLimitNumber: lostLimit},
	}, nil)
	return nil
}

// Change sets the low threshold of an account, the limit of its daily losses, and the account in its events, shown. If
// the new threshold makes the balance low, it adds the event balance.low. The commit returns store.ErrConflict if the
// balance has changed so that this decision no longer holds.
func Change(tx *store.Tx, now time.Time, account tenant.Account, b Balance, threshold, lostLimit int64,
	shown any) error {
	doc, err := json.Marshal(shown)
	if err != nil {
		return fmt.Errorf("ledger: encode account %s: %w", account, err)
	}
	notify := b.Above >= 0 && b.Credits < threshold
	setThreshold(tx, BalanceKey(account), threshold, lostLimit, doc, notify, b.Credits)
	if !notify {
		return nil
	}
	return notifyLow(tx, now, account, doc, b.Credits, threshold)
}

// take debits a balance, and adds the event balance.low if that makes it low. If the
// balance is insufficient, the commit returns the error of missing.
func take(tx *store.Tx, now time.Time, account tenant.Account, b Balance, credits int64,
	missing func(balance int64) error) error {
	notify := b.Above < credits && !b.Low
	takeCredits(tx, BalanceKey(account), credits, notify, b, func(is store.Item) error {
		if has := BalanceOf(is).Credits; has < credits {
			return missing(has)
		}
		return store.ErrConflict // sufficient, but changed since it was read
	})
	if !notify {
		return nil
	}
	return notifyLow(tx, now, account, b.account, b.Credits-credits, b.Credits-b.Above)
}

// notifyLow adds the event balance.low.
func notifyLow(tx *store.Tx, now time.Time, account tenant.Account, shown json.RawMessage, credits,
	threshold int64) error {
	object := map[string]any{}
	if len(shown) > 0 {
		if err := json.Unmarshal(shown, &object); err != nil {
			return fmt.Errorf("ledger: decode account %s: %w", account, err)
		}
	}
	object["id"] = account
	object["balance"] = map[string]int64{"credits": credits, "low_threshold": threshold}
	return event.Add(tx, now, tenant.Of(account, tenant.Live), event.BalanceLow, object)
}

// A balance is an item with two numbers that change together: the credits, and their distance above the account's low
// threshold. The second is stored because a condition can compare an attribute with a value, but not with the sum of
// two attributes.
const (
	creditsNumber = "credits"
	aboveNumber   = "above"
	// lowAttribute exists once the account was notified of a low balance. It stays when the credits rise again:
	// aboveNumber decides whether it counts.
	lowAttribute = "low"
)

var (
	credits = store.Number(creditsNumber)
	above   = store.Number(aboveNumber)
	low     = store.Attribute(lowAttribute)
)

func value(n int64) expression.ValueBuilder { return expression.Value(n) }

// notified adds the notice of a low balance to an update.
func notified(u expression.UpdateBuilder) expression.UpdateBuilder {
	return u.Set(low, expression.Value("true"))
}

// setThreshold sets the low threshold of a balance, the limit of its losses and its document. With notify, the account
// is notified in the transaction that makes its balance low: the commit returns store.ErrConflict unless the threshold
// makes it low and the credits are those that were read. Without notify, it returns store.ErrConflict if the threshold
// makes it low.
func setThreshold(tx *store.Tx, key store.Key, threshold, lostLimit int64, doc json.RawMessage, notify bool,
	read int64) {
	u := store.SetDocument(expression.Set(above, expression.Minus(credits.IfNotExists(value(0)), value(threshold))).
		Set(store.Number(lostLimitNumber), value(lostLimit)), doc)
	c := expression.Or(above.AttributeNotExists(), above.LessThan(value(0)), credits.GreaterThanEqual(value(threshold)))
	if notify {
		u = notified(u)
		c = expression.And(above.GreaterThanEqual(value(0)), credits.LessThan(value(threshold)),
			credits.Equal(value(read)))
	}
	tx.Update(key, u, c, store.Conflict)
}

// addCredits adds to a balance, and creates it if there is none. The commit returns
// failed if the balance would exceed most.
func addCredits(tx *store.Tx, key store.Key, n, most int64, failed error) {
	tx.Update(key, expression.Add(credits, value(n)).Add(above, value(n)),
		expression.Or(credits.AttributeNotExists(), credits.LessThanEqual(value(most-n))),
		func(store.Item) error { return failed })
}

// takeCredits debits a balance, and fails if it is insufficient. With notify, the account is notified in the
// transaction that makes its balance low: the condition is that it does, that no other transaction has notified the
// account since its balance was last not low, and that the balance is as it was read. Without notify, the condition is
// that the account need not be notified. If the condition fails, the commit returns the error of failed for the current
// item.
func takeCredits(tx *store.Tx, key store.Key, n int64, notify bool, read Balance, failed func(store.Item) error) {
	u := expression.Add(credits, value(-n)).Add(above, value(-n))
	enough := credits.GreaterThanEqual(value(n))
	c := expression.And(enough, expression.Or(above.GreaterThanEqual(value(n)),
		expression.And(above.LessThan(value(0)), low.AttributeExists())))
	if notify {
		u = notified(u)
		c = expression.And(enough, above.LessThan(value(n)), credits.Equal(value(read.Credits)),
			above.Equal(value(read.Above)),
			expression.Or(above.GreaterThanEqual(value(0)), low.AttributeNotExists()))
	}
	tx.Update(key, u, c, failed)
}
