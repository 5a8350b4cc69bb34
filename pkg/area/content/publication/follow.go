package publication

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/record/shelf"
	"github.com/content-automation/api/pkg/record/testclock"
	"github.com/content-automation/api/pkg/store"
)

// Follower has content follow the products that it shows.
type Follower struct {
	DB        *store.DB
	Platforms social.Adapters
	// Items makes content items again. Nil: none are.
	Items Remaker
	Now   func() time.Time
}

// Remaker makes content items again with the parts that they have, on behalf of a principal, so that they show their
// products as they are now.
type Remaker interface {
	// RemakeCredits returns what that reserves. It changes the record.
	RemakeCredits(ctx context.Context, p *auth.Principal, r *item.Record) (int64, error)
	// Remake adds the attempt to the transaction. The caller writes the item, which is generated.
	Remake(ctx context.Context, tx *store.Tx, p *auth.Principal, it store.Item, r *item.Record) error
}

// The numbers of rows that one query of Follow lists, and of items after which a step of it ends.
const (
	listAtOnce   = 500
	followAtOnce = 50
)

// Follow has items of a factory follow their products: those that wait for them, that are new, or whose products have
// changed since the run that was followed before. An item that is not published waits for its product, or is made
// again if the feed says so. Of a published one, an event tells that it is outdated, once for each way, and its posts
// are changed or deleted if the feed says so. Without a feed, no item waits for its product any more.
func (f *Follower) Follow(ctx context.Context, o tenant.Owner, factoryID string, p *shelf.Following) error {
	for tried := 0; tried < followAtOnce; {
		page, err := f.DB.Keys(ctx, store.Query{Index: store.ByDue, Partition: item.ShownPartition(factoryID),
			Limit: listAtOnce, After: p.After})
		if err != nil {
			return err
		}
		moved, err := f.moved(ctx, page.Items, p)
		if err != nil {
			return err
		}
		for _, listed := range moved {
			busy, err := f.try(ctx, o, listed.PK)
			if err != nil {
				return err
			}
			p.Busy = p.Busy || busy
		}
		tried += len(moved)
		if p.After = page.Next; p.After == nil {
			return nil
		}
	}
	return nil
}

// moved returns those of the listed rows whose items are to follow their products.
func (f *Follower) moved(ctx context.Context, listed []store.Item, p *shelf.Following) (moved []store.Item, err error) {
	of := make([]string, len(listed))
	for i, row := range listed {
		of[i], _, _ = strings.Cut(row.Due.SK, "#")
	}
	ids := slices.Compact(slices.Clone(of))
	found, err := f.DB.GetAll(ctx, store.IDKeys(ids)...)
	if err != nil {
		return nil, err
	}
	has := map[string]bool{}
	for i, it := range found {
		if has[ids[i]] = it.Kind != product.ItemKind; it.Kind == product.ItemKind {
			r, err := product.Decode(&it)
			if err != nil {
				return nil, err
			}
			has[ids[i]] = r.MovedSince(p.Since, p.Ended)
		}
	}
	for i, row := range listed {
		if made, _ := id.Time(row.PK); has[of[i]] || made.After(p.Since.Now) {
			moved = append(moved, row)
		}
	}
	return moved, nil
}

// follows reports whether items in a state follow their products.
func follows(s item.State) bool {
	return s == item.Generated || s == item.Scheduled || s == item.Published
}

// refusedError is the error of a transaction that would have an item made again, with the reason for which it is not.
type refusedError struct{ reason, message string }

func (e *refusedError) Error() string { return e.reason + ": " + e.message }

// try has an item follow its product. If it cannot be made again, it waits. It reports whether a post is being changed.
func (f *Follower) try(ctx context.Context, o tenant.Owner, itemID string) (busy bool, err error) {
	var refused *refusedError
	one := func(tx *store.Tx) (err error) {
		busy, err = f.one(ctx, tx, o, itemID, refused)
		return err
	}
	if err = f.DB.Change(ctx, one); errors.As(err, &refused) {
		err = f.DB.Change(ctx, one)
	}
	return busy, err
}

// one has an item follow its product. The refusal is that of an earlier try, or nil.
func (f *Follower) one(ctx context.Context, tx *store.Tx, o tenant.Owner, itemID string,
	refused *refusedError) (busy bool, err error) {
	it, r, _, err := item.Lookup(ctx, f.DB, o, itemID)
	if err != nil || r == nil || r.Brief.Product == nil || !follows(r.Item.State) {
		return false, err
	}
	found, err := look(ctx, f.DB, o, r, f.Now())
	if err != nil {
		return false, err
	}
	if !found.followed {
		return false, f.dismiss(tx, o, it, r)
	}
	if r.Item.State == item.Published {
		if found.stored == nil {
			r.Unfollow(tx) // it does not come back, so that it is told of once
		}
		busy = slices.ContainsFunc(r.Item.Publications, func(p item.Publication) bool {
			return p.Change != nil && p.Change.State == item.ChangePending
		})
		return busy, f.outdate(tx, o, it, r, found)
	}
	return false, f.prepare(ctx, tx, o, it, r, found, refused)
}

// prepare has an item that is not published follow its product.
func (f *Follower) prepare(ctx context.Context, tx *store.Tx, o tenant.Owner, it store.Item, r *item.Record,
	found productState, refused *refusedError) error {
	switch {
	case found.holds():
		return f.await(ctx, tx, o, it, r, found, refused)
	case r.NotPublished == item.WaitsForProduct:
		return f.release(tx, o, it, r)
	case len(r.Item.Outdated) > 0: // it was scheduled while it waited
		r.Item.Outdated = item.Ways{}
		r.Item.Touch(f.Now())
		return item.Replace(tx, it, r)
	}
	return nil
}

// dismiss has an item wait for its owner that has waited for its product, which no feed follows any more.
func (f *Follower) dismiss(tx *store.Tx, o tenant.Owner, it store.Item, r *item.Record) error {
	if r.Item.State != item.Generated || r.NotPublished != item.WaitsForProduct {
		return nil
	}
	r.Item.Remake = nil
	return errors.Join(Clear(tx, f.Now(), o, r), r.Notify(tx, o, event.ContentUpdated), item.Replace(tx, it, r))
}

// await has an item wait for its product, and be made again if the feed says so.
func (f *Follower) await(ctx context.Context, tx *store.Tx, o tenant.Owner, it store.Item, r *item.Record,
	found productState, refused *refusedError) error {
	remake, by, err := f.remake(ctx, o, it, found, refused)
	if err != nil {
		return err
	}
	again := remake != nil && remake.Reason == nil
	told := r.NotPublished == item.WaitsForProduct
	if told && !again && slices.Equal(r.Item.Outdated, found.ways) && reflect.DeepEqual(r.Item.Remake, remake) {
		return nil
	}
	if r.Item.State == item.Scheduled {
		if err := Postpone(tx, f.Now(), o, r); err != nil {
			return err
		}
	}
	news := r.SetWaitsFor(item.WaitsForProduct)
	r.Item.Outdated, r.Item.Remake = slices.Clone(found.ways), remake
	r.Item.Touch(f.Now())
	happened := event.ContentUpdated
	if news {
		happened = event.ContentUnscheduled
	}
	if err := r.Notify(tx, o, happened); err != nil {
		return err
	}
	if again {
		if err := f.again(ctx, tx, by, it, r, found); err != nil {
			return err
		}
	}
	return item.Replace(tx, it, r)
}

// remake returns what it takes to make an item again, or nil if that does not help, and on whose behalf it is done. It
// has no reason if the item is to be made again by itself.
func (f *Follower) remake(ctx context.Context, o tenant.Owner, it store.Item, found productState,
	refused *refusedError) (*item.Remake, authority.Holder, error) {
	var by authority.Holder
	if f.Items == nil || found.ways.Gone() {
		return nil, by, nil
	}
	remake := &item.Remake{}
	refuse := func(reason, message string) {
		remake.Reason, remake.Message = &reason, resource.OrNil(message)
	}
	of, err := shelf.AuthorityOf(&found.feed)
	if err != nil {
		return nil, by, err
	}
	if by, err = of.Find(ctx, f.DB, o, f.Now()); err == nil {
		err = authority.Lacks(by.Principal, auth.ContentWrite)
	}
	var ended *authority.EndedError
	if errors.As(err, &ended) {
		refuse(item.RemakeRefused, ended.Error()+" Set the feed again, or call syncFeed, with another key.")
		return remake, by, nil
	}
	if err != nil {
		return nil, by, err
	}
	copied, err := item.Decode(&it)
	if err != nil {
		return nil, by, err
	}
	credits, err := f.Items.RemakeCredits(ctx, by.Principal, copied)
	switch no := refusalOf(err); {
	case no != "":
		refuse(item.RemakeRefused, no)
		return remake, by, nil
	case err != nil:
		return nil, by, err
	}
	remake.Credits = &credits
	switch {
	case found.policies.RemakePerDay == 0:
		refuse(item.RemakeNotSet, "")
	case refused != nil:
		refuse(refused.reason, refused.message)
	}
	return remake, by, nil
}

// refusalOf returns what an error of the API says, or an empty text for another error.
func refusalOf(err error) string {
	var e *errs.Error
	switch {
	case !errors.As(err, &e):
		return ""
	case len(e.Details) > 0:
		return e.Details[0].Param + " " + e.Details[0].Message + "."
	}
	return e.Message
}

// again adds to the transaction that an item, which waits for its product, is made again. The count of the day is that
// of the transaction: it is exact, however many runs follow one another or are repeated.
func (f *Follower) again(ctx context.Context, tx *store.Tx, by authority.Holder, it store.Item, r *item.Record,
	found productState) error {
	by.Hold(tx)
	found.hold(tx)
	limit := int64(found.policies.RemakePerDay)
	tx.CountUntil(shelf.RemakesKey(r.Item.FactoryID, found.clock), 1, limit, f.Now().Add(shelf.KeepRemakes),
		&refusedError{item.RemakeLimited, fmt.Sprintf("%d content items were made again today, as remake_per_day of "+
			"the feed permits. Regenerate it with reuse, or wait until tomorrow (UTC).", limit)})
	err := f.Items.Remake(ctx, tx, by.Principal, it, r)
	if no := refusalOf(err); no != "" && errs.CodeOf(err) != errs.ProviderUnavailable {
		return &refusedError{item.RemakeRefused, no}
	}
	return err
}

// release has an item go on that waited for its product, which is again as the item shows it, or whose feed keeps such
// content now. It is scheduled as it was, by the task of its approval.
func (f *Follower) release(tx *store.Tx, o tenant.Owner, it store.Item, r *item.Record) error {
	r.NotPublished, r.Item.Outdated, r.Item.Remake = "", item.Ways{}, nil
	if r.RequestedSchedule == nil {
		r.NotPublished = item.WaitsForSlot
	} else if err := r.GoOn(tx, f.Now(), o); err != nil {
		return err
	}
	r.Item.Touch(f.Now())
	return item.Replace(tx, it, r)
}

// hold adds to the transaction that an item, generated or scheduled, waits for its product. Follow says what making it
// again takes.
func hold(tx *store.Tx, now time.Time, o tenant.Owner, it store.Item, r *item.Record, ways item.Ways) error {
	if r.Item.State == item.Scheduled {
		if err := Postpone(tx, now, o, r); err != nil {
			return err
		}
	}
	if r.RequestedSchedule == nil { // it goes on once the product is again as it was
		r.RequestedSchedule = &item.ScheduleRequest{}
	}
	r.SetWaitsFor(item.WaitsForProduct)
	r.Item.Outdated, r.Item.Remake = slices.Clone(ways), nil
	r.Item.Touch(now)
	return errors.Join(r.Notify(tx, o, event.ContentUnscheduled), item.Replace(tx, it, r))
}

// stale returns the refusal of a post that has waited, maybe for hours, until its product is not what it shows, or nil.
func (w *Worker) stale(ctx context.Context, o tenant.Owner, r *item.Record) (*platform.Error, error) {
	found, err := look(ctx, w.DB, o, r, w.Now())
	if err != nil || !found.holds() {
		return nil, err
	}
	return platform.Reject(item.FailedOutdated, found.message(r)), nil
}

// Current refuses to publish an item whose product is not what it shows, if the feed of its factory says so. Otherwise
// it adds to the transaction that the product has not changed since.
func Current(ctx context.Context, db *store.DB, tx *store.Tx, o tenant.Owner, r *item.Record, now time.Time) error {
	found, err := look(ctx, db, o, r, now)
	if err != nil || !found.followed {
		return err
	}
	if found.holds() {
		allowed := []string{string(item.Regenerate)}
		if r.Item.PublishedAt != nil {
			allowed = []string{string(item.Delete)}
		}
		return errs.New(errs.InvalidState, "%s", found.message(r)).In(string(r.Item.State), allowed...)
	}
	if found.hold(tx); r.Item.State != item.Published { // what is published stays outdated
		r.Item.Outdated = item.Ways{}
	}
	return nil
}

// outdate tells that published posts show what is not so any more, and changes or deletes them if the feed says so.
func (f *Follower) outdate(tx *store.Tx, o tenant.Owner, it store.Item, r *item.Record, found productState) error {
	ways, stale := found.ways, map[int]item.Ways{}
	for i := range r.Item.Publications {
		if pub := &r.Item.Publications[i]; pub.State == item.PublicationPublished {
			stale[i] = found.waysOf(r, cmp.Or(pub.Posting.Shown, r.Brief.Product))
		}
	}
	if len(stale) > 0 {
		ways = item.Ways{}
		for _, i := range slices.Sorted(maps.Keys(stale)) {
			ways = append(ways, stale[i].Without(ways)...)
		}
	}
	news := len(ways.Without(r.Item.Outdated)) > 0
	before := slices.Clone(r.Item.Outdated)
	r.Item.Outdated = slices.Clone(ways)
	changes := false
	for _, i := range slices.Sorted(maps.Keys(stale)) {
		changed, err := f.amend(tx, o, r, &r.Item.Publications[i], stale[i], news, found)
		if err != nil {
			return err
		}
		changes = changes || changed
	}
	if !news && !changes && len(ways) == len(before) {
		return nil
	}
	r.Item.Touch(f.Now())
	if news {
		if err := r.Notify(tx, o, event.ProductOutdated); err != nil {
			return err
		}
	}
	return item.Replace(tx, it, r)
}

// amend has a published post show the price of now, or else deletes it, where the platform permits that and the feed
// says so. Each price is tried once.
func (f *Follower) amend(tx *store.Tx, o tenant.Owner, r *item.Record, pub *item.Publication, ways item.Ways, news bool,
	found productState) (bool, error) {
	adapter, ok := f.Platforms.Of(o.Mode, pub.Platform)
	pending := pub.Change != nil && pub.Change.State == item.ChangePending
	if !ok || pending || len(ways) == 0 || ways.Policy(found.policies) != shelf.Withdraw {
		return false, nil
	}
	shown := cmp.Or(pub.Posting.Shown, r.Brief.Product)
	var now *item.Product
	if found.stored != nil {
		var err error
		if now, err = shown.Now(found.stored, r.Brief.Region, found.clock); err != nil {
			return false, err
		}
		now = shown.Priced(now)
	}
	tried := pub.Posting.AmendedBy > 0 && now.SamePrice(pub.Posting.Amended)
	if tried && !news {
		return false, nil
	}
	limits := adapter.Capabilities()
	kind, text := item.ChangeDelete, (*string)(nil)
	if ways.Priced() && now != nil && limits.Edits && pub.Posted != nil && pub.Posted.Rest == "" {
		if caption, ok := r.RepriceCaption(string(pub.Posted.Text), shown, now); ok {
			if caption == string(pub.Posted.Text) {
				return false, nil // it shows no price
			}
			kind, text = item.ChangeEdit, &caption
		}
	}
	// What the platform does not permit stays, and the event tells it.
	if err := Change(tx, f.Now(), o, r, pub, limits, kind, text, amendWithin); err != nil {
		return false, nil
	}
	pub.Posting.Amended, pub.Posting.AmendedBy = now, pub.Posting.Changes
	return true, nil
}

// productState is what the product of an item is now.
type productState struct {
	// followed reports that the feed of the factory has the product, or has had it.
	followed bool
	ways     item.Ways
	policies shelf.Policies
	// stored is the product, or nil, and feed the item of the feed.
	stored *product.StoredProduct
	feed   store.Item
	// clock is the time now, and at that for which the product was looked at.
	clock, at time.Time
	// items are those that the answer depends on.
	items []store.Item
}

// waysOf returns the ways in which the product is not as it is shown.
func (p productState) waysOf(r *item.Record, shown *item.Product) item.Ways {
	return shown.Changes(p.stored, r.ShowsPrices(), p.at)
}

// message says what has changed, and what to do.
func (p productState) message(r *item.Record) string {
	todo := "Regenerate the item."
	if r.Item.PublishedAt != nil {
		todo = "Create another item." // a published one is not made again
	}
	return fmt.Sprintf("The product %s is not what the content item shows: %s. %s", r.Brief.Product.ProductID,
		p.ways.Words(), todo)
}

// holds reports whether the item may not be published.
func (p productState) holds() bool {
	policy := p.ways.Policy(p.policies)
	return p.followed && policy != "" && policy != shelf.Keep
}

// hold makes the commit fail if the product has changed since it was read.
func (p productState) hold(tx *store.Tx) {
	for _, it := range p.items {
		if it.Kind != "" {
			tx.Unchanged(it)
		}
	}
}

// look reads the product of an item, and in which ways it is not what the item shows.
func look(ctx context.Context, db *store.DB, o tenant.Owner, r *item.Record, now time.Time) (p productState,
	err error) {
	if r.Brief.Product == nil {
		return p, nil
	}
	found, err := db.GetAll(ctx, store.IDKey(r.Brief.Product.ProductID), shelf.Key(r.Item.FactoryID), testclock.Key(o))
	if err != nil {
		return p, err
	}
	p.policies, p.feed = shelf.Of(found[1], o), found[1]
	if p.policies == (shelf.Policies{}) {
		return p, nil
	}
	if p.clock, err = testclock.At(&found[2], now); err != nil {
		return p, err
	}
	if found[0].Kind == product.ItemKind && o.Uses(found[0].Owner) {
		if !product.IsInFeed(&found[0]) {
			return p, nil
		}
		if p.stored, err = product.Decode(&found[0]); err != nil {
			return p, err
		}
	}
	p.followed, p.items, p.at = true, found[:1], r.ShownAt(p.clock)
	p.ways = p.waysOf(r, r.Brief.Product)
	return p, nil
}
