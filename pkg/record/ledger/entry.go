package ledger

import (
	"time"

	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

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

// Quoted is the part of a quote that one piece of work has: the credits that it costs at most.
type Quoted struct {
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

// EntryOf returns the entry of its item.
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
