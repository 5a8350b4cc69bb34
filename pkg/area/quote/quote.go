// Package quote holds the operations on quotes, and the rehearsals that they are made of: what a call would make and
// cost. A quote holds that price for a day, and the call that names it costs no more. Service.Register has the
// operations; Rehearse and Spend are for the operations that are rehearsed.
package quote

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"time"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/httpapi/kind"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/record/rehearsal"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

var _ = format.Define("quote-operation", format.Format{Values: format.Words("createContentPlan createContentItems")})

// Quote is a price that is held for one call.
type Quote struct {
	resource.Resource
	// Rehearsal whose price it holds.
	RehearsalID string `json:"rehearsal_id" example:"rhl_01h455vb4pex5vsknk084sn02q"`
	// Operation that it is for. It takes the quote for the path and the body that were rehearsed.
	Operation string `json:"operation" filter:"operation" format:"quote-operation"`
	// Credits that the call costs at most.
	Credits int64 `json:"credits" example:"260"`
	// Credits of each item, in the order of the rehearsal.
	Items []Price `json:"items" nullable:"false"`
	// Time until which it can be used, 24 hours after its creation. It then ends without effect.
	ExpiresAt resource.Time `json:"expires_at"`
	// Time at which it was used. Null: it was not.
	UsedAt *resource.Time `json:"used_at"`
	// Credits that were reserved for what was created with it: those of a content plan whose topics wait for an
	// approval as they are approved. Always 0 in the sandbox.
	UsedCredits int64 `json:"used_credits"`
	// Ids of the content plan, or of the content items, that were created with it.
	CreatedIDs []string `json:"created_ids" nullable:"false"`
}

// Price is the part of a quote that one item has.
type Price struct {
	// Credits that the item costs at most.
	Credits int64 `json:"credits" example:"26"`
}

// record is the document of a quote, with what it keeps of its rehearsal.
type record struct {
	Quote
	Digest string `json:"digest"`
	Stamp  string `json:"stamp"`
	Lots   []lot  `json:"lots"`
}

// replace adds the next version of a quote that was read to the transaction.
func (q *record) replace(tx *store.Tx, it store.Item, now time.Time) error {
	q.Touch(now)
	place(&it, q)
	return tx.Rewrite(it, q)
}

// place bounds the life of a quote, unless it was used.
func place(it *store.Item, q *record) {
	if it.ExpireAt = (time.Time{}); q.UsedAt == nil {
		it.ExpireAt = q.ExpiresAt.Add(keepUnused)
	}
}

// priceTime is the time for which a quote holds a price.
const priceTime = 24 * time.Hour

// keepUnused is the time for which a quote is shown after its end if it was not used.
const keepUnused = 30 * 24 * time.Hour

// Key returns the key of the item of a quote.
func Key(quoteID string) store.Key { return store.IDKey(quoteID) }

// Spend adds to the transaction that further credits were reserved for what was created with a quote, whose item was
// read. It refuses credits beyond those of the quote.
func Spend(tx *store.Tx, now time.Time, it store.Item, credits int64) error {
	var q record
	if err := it.Decode(&q); err != nil {
		return err
	}
	if left := q.Credits - q.UsedCredits; credits > left {
		return errs.New(errs.InvalidState, "This costs %d credits, and the quote %s has %d of its %d left. Drop "+
			"topics, or put those that were added or changed into another content plan.", credits, q.ID, left,
			q.Credits).In("quoted", "drop")
	}
	q.UsedCredits += credits
	return q.replace(tx, it, now)
}

type createBody struct {
	// Id of a rehearsal of the last 7 days without refusals.
	RehearsalID string `json:"rehearsal_id" maxLength:"64" example:"rhl_01h455vb4pex5vsknk084sn02q"`
	// Up to 20 key-value pairs of your own.
	Metadata resource.Metadata `json:"metadata,omitempty"`
}

type listInput struct {
	httpapi.PageInput
	resource.MetadataFilter
	profile.Filter
	// Only quotes for these operations, separated by commas.
	Operation []string `query:"operation" filter:"operation" format:"quote-operation" nullable:"false"`
}

// Service makes quotes of rehearsals, and shows them.
type Service struct {
	db     *store.DB
	quotes *kind.Kind[record]
}

// NewService makes the service of a table.
func NewService(db *store.DB, now func() time.Time) *Service {
	return &Service{db, quotes.On(db, now)}
}

var quotes = kind.Kind[record]{Name: quoteKind, ID: id.Quote, Path: "/v1/quotes/{quote_id}", Function: "studio",
	Tag: "Account", Reads: auth.AccountRead, Writes: auth.AccountRead, Place: place, Count: quota.Quotes.Take}

// Mount registers the operations of the area with a router.
func Mount(r *httpapi.Router, e area.Env) { NewService(e.DB, e.Now).Register(r) }

// Register puts the operations of quotes into a router.
func (s *Service) Register(r *httpapi.Router) {
	kind.List[listInput](r, s.quotes, httpapi.Op{ID: "listQuotes", Summary: "List the quotes",
		Description: "Newest first: those that were used, and the others until 30 days after their end."}, shown)
	kind.Create(r, s.quotes, httpapi.Op{ID: "createQuote", Summary: "Hold the price of a rehearsal",
		Description: "Holds the price of a rehearsal for 24 hours. The call that was rehearsed, sent with `quote_id` " +
			"in place of `rehearse`, costs at most that, whatever prices do meanwhile: what is reserved and charged " +
			"for each item is the lower one of its price then and in the quote. A quote reserves nothing, and is " +
			"used once. It holds prices, not what is made: after a change of the factory, or of what the call refers " +
			"to, the call is to be rehearsed again. The key needs the scope of the rehearsed operation as well. A " +
			"rehearsal with refusals has no quote, because the call would not run.",
		Opens: httpapi.Nothing, Errors: []errs.Code{errs.InvalidState, errs.NotFound}}, s.opened, shown)
	httpapi.Read(r, s.quotes.Op(httpapi.Op{ID: "getQuote", Summary: "Get a quote",
		Description: "Returns its price, its end, and what it was used for. A quote that was not used is shown for " +
			"30 days after its end."}, http.MethodGet, quotes.Path), s.get)
}

type path struct {
	// Id of the quote that is read.
	ID string `path:"quote_id" example:"qte_01h455vb4pex5vsknk084sn02q"`
}

func (s *Service) get(ctx context.Context, in *path) (Quote, error) {
	f, err := s.quotes.Find(ctx, in.ID)
	if err != nil {
		return Quote{}, err
	}
	return f.Record.Quote, nil
}

// shown returns a quote as the caller sees it.
func shown(_ context.Context, f *kind.Found[record]) (Quote, error) { return f.Record.Quote, nil }

// opened makes a new quote of its rehearsal.
func (s *Service) opened(ctx context.Context, _ *store.Tx, c *kind.Change[record, createBody]) error {
	q := c.Record
	it, err := resource.Find(ctx, s.db, id.Rehearsal, rehearsalKind, q.RehearsalID)
	switch {
	case errs.CodeOf(err) == errs.NotFound || err == nil && !it.ExpireAt.After(c.Now):
		return errs.MissingAt("/rehearsal_id", "rehearsal of the last 7 days", q.RehearsalID)
	case err != nil:
		return err
	}
	var of document
	if err := it.Decode(&of); err != nil {
		return err
	}
	if err := auth.FromContext(ctx).Require(scopes[of.Operation], ""); err != nil {
		return err
	}
	if of.Operation == "createAutomation" {
		return errs.Invalid("/rehearsal_id", "is that of an automation, whose items are paid for at their times. "+
			"Quote a content plan, or a batch of content items")
	}
	if len(of.Refusals) > 0 {
		e := errs.New(errs.InvalidState, "The call that was rehearsed would be refused: %s Mend that, and rehearse it "+
			"again.", of.Refusals[0].Message)
		for _, r := range of.Refusals[:min(len(of.Refusals), mostShown)] {
			e.Details = append(e.Details, errs.Detail{Param: string(r.Param), Message: r.Message})
		}
		return e
	}
	q.Operation, q.Items, q.CreatedIDs = of.Operation, []Price{}, []string{}
	q.ExpiresAt = resource.Instant(c.Now.Add(priceTime))
	q.Digest, q.Stamp, q.Lots, c.Item.Owner = of.Digest, of.Stamp, of.Lots, it.Owner
	for _, l := range of.Lots {
		q.Items = append(q.Items, Price{l.Credits})
		q.Credits += l.Credits
	}
	return nil
}

// mostShown is the number of refusals that an error lists.
const mostShown = 20

// scopes are the scopes of the operations that can be rehearsed: who may not make the call has no use for its price.
var scopes = map[string]auth.Scope{"createContentPlan": auth.FactoriesWrite, "createContentItems": auth.ContentWrite,
	"createAutomation": auth.ContentWrite}

// Rehearse is the member of a body that asks for a rehearsal. Embed it.
type Rehearse struct {
	// Whether the call is only rehearsed: the response has what it would make in `rehearsal`, with the price, each
	// refusal and how to mend it. Nothing is created, generated or spent.
	Rehearse bool `json:"rehearse,omitempty"`
}

// CallTerms are the members of the body of a call that can be rehearsed and quoted. Embed it.
type CallTerms struct {
	Rehearse
	// Id of a quote of the same body: the call costs at most what the quote says. A quote is used once.
	QuoteID string `json:"quote_id,omitempty" maxLength:"64" example:"qte_01h455vb4pex5vsknk084sn02q"`
}

// lot is what a rehearsal keeps of an item.
type lot struct {
	Credits int64 `json:"credits"`
	// ContentType is the content type of the item, and Made is a hash of what sets its price.
	ContentType string `json:"of,omitempty"`
	PriceHash   string `json:"made,omitempty"`
}

// document is the document of a rehearsal, from which quotes are made.
type document struct {
	Operation string `json:"operation"`
	// Digest is the hash of the request, and Stamp that of everything else that its result depends on.
	Digest   string              `json:"digest"`
	Stamp    string              `json:"stamp"`
	Lots     []lot               `json:"lots"`
	Refusals []rehearsal.Refusal `json:"refusals,omitempty"`
}

// The kinds of the items of rehearsals and quotes in the table.
const (
	rehearsalKind = "rehearsal"
	quoteKind     = "quote"
)

// ignoredMembers are the members that do not count in the digest of a request.
var ignoredMembers = []string{"rehearse", "quote_id"}

// Terms are those on which an operation takes a call: it is rehearsed, has a quote, or, as the zero value says,
// neither. An operation runs the same code in each case.
type Terms struct {
	operation string
	now       time.Time
	digest    string
	stamp     string
	// rehearsal is set of a call that is rehearsed, with the lots of its items.
	rehearsal *rehearsal.Rehearsal
	lots      []lot
	// quote is set of a call that has one.
	quote *record
	item  store.Item
}

// Open returns the terms of a call of an operation. It reads the quote that the call names, and refuses one that is not
// of the same request, has ended, or was used.
func Open(ctx context.Context, db *store.DB, now time.Time, operation string, g CallTerms) (*Terms, error) {
	t := &Terms{operation: operation, now: now}
	if !g.Rehearse.Rehearse && g.QuoteID == "" {
		return t, nil
	}
	var err error
	if t.digest, err = httpapi.RequestDigest(ctx, ignoredMembers...); err != nil {
		return nil, err
	}
	if !g.Rehearse.Rehearse {
		return t, t.take(ctx, db, g.QuoteID)
	}
	if g.QuoteID != "" {
		return nil, errs.Invalid("/quote_id", "is not for a rehearsal. Leave it out")
	}
	t.rehearsal = rehearsal.New(now)
	return t, nil
}

// take reads the quote of a call, and refuses one that the call cannot have.
func (t *Terms) take(ctx context.Context, db *store.DB, quoteID string) error {
	it, err := resource.Find(ctx, db, id.Quote, "quote", quoteID)
	if errs.CodeOf(err) == errs.NotFound {
		return errs.MissingAt("/quote_id", "quote", quoteID)
	}
	if err != nil {
		return err
	}
	t.item, t.quote = it, new(record)
	if err := it.Decode(t.quote); err != nil {
		return err
	}
	switch q := t.quote; {
	case q.UsedAt != nil:
		e := errs.New(errs.QuoteUsed, "The quote %s was used at %s. Quote the rehearsal again to create the same once "+
			"more.", q.ID, q.UsedAt.Format(time.RFC3339))
		e.Param = "/quote_id"
		return e
	case !t.now.Before(q.ExpiresAt.Time):
		return errs.Invalid("/quote_id", "is that of a quote that ended at %s. Quote the rehearsal again",
			q.ExpiresAt.Format(time.RFC3339))
	case q.Digest != t.digest:
		return errs.Invalid("/quote_id", "is that of another request: send the path and the body that were rehearsed, "+
			"without rehearse. Or rehearse this one, and quote that rehearsal")
	}
	return nil
}

// Rehearsed reports whether the call is rehearsed, so that nothing of it is committed.
func (t *Terms) Rehearsed() bool { return t.rehearsal != nil }

// ID returns the id of the quote or of the rehearsal, or an empty text if the call has neither.
func (t *Terms) ID() string {
	switch {
	case t.Rehearsed():
		return t.rehearsal.ID
	case t.quote != nil:
		return t.quote.ID
	}
	return ""
}

// Tx returns the transaction that the operation writes to: of a rehearsal, one that is not committed.
func (t *Terms) Tx(tx *store.Tx) *store.Tx {
	if t.Rehearsed() {
		return &store.Tx{}
	}
	return tx
}

// Meet notes the refusal of a rehearsed call and returns nil, so that the operation goes on. It returns the error of
// any other call, and errors that say nothing about the call.
func (t *Terms) Meet(err error) error { return t.meet(err, nil) }

// MeetAt is Meet for the refusal of the item with a number in the body.
func (t *Terms) MeetAt(number int, err error) error { return t.meet(err, &number) }

func (t *Terms) meet(err error, number *int) error {
	if err == nil || !t.Rehearsed() {
		return err
	}
	return t.rehearsal.Refuse(err, number)
}

// errChanged refuses a quote of what has changed since its rehearsal.
func errChanged() error {
	return errs.Invalid("/quote_id", "is that of a rehearsal from before a change of the factory, of what the request "+
		"refers to, or of the day on which it begins. Rehearse the request again, and quote that rehearsal")
}

// Stamp notes what the result of the call depends on besides its body. It refuses a quote of another stamp.
func (t *Terms) Stamp(stamp string) error {
	if t.stamp = stamp; t.quote != nil && t.quote.Stamp != stamp {
		return errChanged()
	}
	return nil
}

// Bound returns the part of the quote for the item with a number, or nil if the call has none. Made describes what the
// price of the item is for: a quote does not hold the price of another thing. The part of a rehearsed call bounds
// nothing, and has no need of a quote.
func (t *Terms) Bound(number int, made string) (*ledger.QuoteShare, error) {
	switch {
	case t.Rehearsed():
		return &ledger.QuoteShare{QuoteID: t.rehearsal.ID, Credits: ledger.MaxCredits}, nil
	case t.quote == nil:
		return nil, nil
	case number >= len(t.quote.Lots) || t.quote.Lots[number].PriceHash != short(made):
		return nil, errChanged()
	}
	return &ledger.QuoteShare{QuoteID: t.quote.ID, Credits: t.quote.Lots[number].Credits}, nil
}

// BoundOf is Bound for all items of a kind, which are made alike: it is the lowest of their parts.
func (t *Terms) BoundOf(of, made string) (least *ledger.QuoteShare, err error) {
	if t.quote == nil {
		return t.Bound(0, made)
	}
	for i, l := range t.quote.Lots {
		if l.ContentType != of {
			continue
		}
		q, err := t.Bound(i, made)
		if err != nil {
			return nil, err
		}
		if least == nil || q.Credits < least.Credits {
			least = q
		}
	}
	if least == nil {
		return nil, errChanged()
	}
	return least, nil
}

// Add adds an item to a rehearsal. Of and made are those of Bound and BoundOf.
func (t *Terms) Add(i rehearsal.Item, of, made string) {
	t.rehearsal.Add(i)
	t.lots = append(t.lots, lot{i.Credits, of, short(made)})
}

// short returns a digest of what the price of an item is for, since a rehearsal may have 900 of them.
func short(made string) string {
	sum := sha256.Sum256([]byte(made))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// Use adds to the transaction that the quote of the call, if it has one, was used for resources of an owner, which
// have reserved credits.
func (t *Terms) Use(tx *store.Tx, o tenant.Owner, credits int64, ids ...string) error {
	if t.quote == nil {
		return nil
	}
	if t.item.Owner != o {
		return errs.MissingAt("/quote_id", "quote", t.quote.ID)
	}
	at := resource.Instant(t.now)
	q := *t.quote
	q.UsedAt, q.UsedCredits, q.CreatedIDs = &at, credits, ids
	return q.replace(tx, t.item, t.now)
}

// Close ends a rehearsal: it finds what else would refuse the transaction that the operation has filled, and adds the
// rehearsal to the transaction of the call.
func (t *Terms) Close(ctx context.Context, db *store.DB, tx, filled *store.Tx, o tenant.Owner) (*rehearsal.Rehearsal,
	error) {
	refused, err := db.Rehearse(ctx, filled)
	if err != nil {
		return nil, err
	}
	for _, err := range refused {
		if err := t.Meet(err); err != nil {
			return nil, err
		}
	}
	r := t.rehearsal
	it := store.Item{Key: store.IDKey(r.ID), Kind: rehearsalKind, Owner: o, ExpireAt: r.ExpiresAt.Time}
	if err := it.Encode(document{t.operation, t.digest, t.stamp, t.lots, r.Refusals}); err != nil {
		return nil, err
	}
	quota.Rehearsals.Take(tx, t.now, &it)
	tx.Create(it, nil)
	return r, nil
}
