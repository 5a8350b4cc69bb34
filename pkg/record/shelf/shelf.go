// Package shelf has the parts of feeds that content needs. Find reads what a feed says about content whose product has
// changed.
package shelf

import (
	"context"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/store"
)

// Kind is the kind of the item of a feed.
const Kind = "feed"

// Key returns the key of the feed of a factory.
func Key(factoryID string) store.Key { return store.IDKey("feed#" + factoryID) }

// Policy is what happens to content about a product that has changed.
type Policy string

// The policies. Keep changes nothing. Hold has content that is not published wait for the product. Withdraw does so,
// too, and deletes published posts where their platforms permit it.
const (
	Keep     Policy = "keep"
	Hold     Policy = "hold"
	Withdraw Policy = "withdraw"
)

// Policies are those of a feed.
type Policies struct {
	PriceChange, SoldOut, Removed Policy
	// RemakePerDay is the number of content items that are made again a day by themselves.
	RemakePerDay int
}

// The attributes of the item of a feed.
const (
	onPrice   = "on_price_change"
	onSoldOut = "on_sold_out"
	onRemoved = "on_removed"
	perDay    = "remake_per_day"
)

// Attributes returns the policies as the item of a feed has them.
func (p Policies) Attributes() map[string]string {
	return map[string]string{onPrice: string(p.PriceChange), onSoldOut: string(p.SoldOut), onRemoved: string(p.Removed),
		perDay: strconv.Itoa(p.RemakePerDay)}
}

// Of returns the policies of the item of a feed. They are zero if it is none of the owner.
func Of(it store.Item, o tenant.Owner) Policies {
	if it.Kind != Kind || !o.Sees(it.Owner) {
		return Policies{}
	}
	remakes, err := strconv.Atoi(it.Attributes[perDay])
	if err != nil {
		remakes = 0 // only feeds that were set have it
	}
	return Policies{Policy(it.Attributes[onPrice]), Policy(it.Attributes[onSoldOut]), Policy(it.Attributes[onRemoved]),
		remakes}
}

// RemakesKey returns the key of the counter of the items of a factory that are made again by themselves on the day of
// a time, in UTC. KeepRemakes is the time after which it is removed.
func RemakesKey(factoryID string, at time.Time) store.Key {
	return store.IDKey("feed#" + factoryID + "#remakes#" + at.UTC().Format(time.DateOnly))
}

// KeepRemakes is the time for which the counter of a day is kept.
const KeepRemakes = 48 * time.Hour

// AuthorityOf returns on whose behalf a feed acts.
func AuthorityOf(it *store.Item) (authority.Authority, error) {
	var of struct {
		Authority authority.Authority `json:"authority"`
	}
	err := it.Decode(&of)
	return of.Authority, err
}

// Moment is a time, and that of the clock of promotions, which a sandbox moves.
type Moment struct{ Now, Clock time.Time }

// Following is how far content has followed a run.
type Following struct {
	// Ended is the end of the run, and Since that of the run that was followed before: a product that has not changed
	// since is left.
	Since, Ended Moment
	// After is behind the content that was looked at, or nil at the end.
	After *store.Cursor
	// Busy reports that a post was being changed. The next following looks at it again.
	Busy bool
}

// Find reads the policies of the feed of a factory.
func Find(ctx context.Context, db *store.DB, o tenant.Owner, factoryID string) (Policies, error) {
	it, err := db.Lookup(ctx, Key(factoryID))
	return Of(it, o), err
}

// Stricter returns the policy that does more.
func Stricter(a, b Policy) Policy {
	order := map[Policy]int{"": 0, Keep: 0, Hold: 1, Withdraw: 2}
	if order[b] > order[a] {
		return b
	}
	return a
}
