// Package quote holds the operations on quotes, and the rehearsals that they are made of: what a call would make and
// cost. A quote holds that price for a day, and the call that names it costs no more. Service.Register has the
// operations; Rehearse and Spend are for the operations that are rehearsed.
package quote

import (
	"context"
	"net/http"
	"time"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// Quote is a price that is held for one call.
type Quote struct {
	resource.Resource
	// Rehearsal whose price it holds.
	RehearsalID string `json:"rehearsal_id" example:"rhl_01h455vb4pex5vsknk084sn02q"`
	// Operation that it is for. It takes the quote for the path and the body that were rehearsed.
	Operation string `json:"operation" enum:"createContentPlan,createContentItems"`
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

// replace adds the next version of a quote that was read to the transaction. A quote that was used is kept.
func (q *record) replace(tx *store.Tx, it store.Item, now time.Time) error {
	q.Touch(now)
	if it.ExpireAt = (time.Time{}); q.UsedAt == nil {
		it.ExpireAt = q.ExpiresAt.Add(keepUnused)
	}
	if err := it.Encode(q); err != nil {
		return err
	}
	tx.Replace(it)
	return nil
}

// holds is the time for which a quote holds a price.
const holds = 24 * time.Hour

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

type createInput struct{ Body createBody }

type listInput struct {
	httpapi.PageInput
	resource.Tagged
	profile.Filter
	// Only quotes for these operations, separated by commas.
	Operation []string `query:"operation" enum:"createContentPlan,createContentItems" nullable:"false"`
}

// Describe returns the values by which lists filter quotes.
func (q Quote) Describe() map[string]string {
	all := q.Resource.Describe()
	all[operationFilter] = q.Operation
	return all
}

// operationFilter is the name of the filter by the operation of a quote.
const operationFilter = "operation"

// Path names the quote that a call is about.
type Path struct {
	// Id of the quote that is read.
	ID string `path:"quote_id" example:"qte_01h455vb4pex5vsknk084sn02q"`
}

// Service makes quotes of rehearsals, and shows them.
type Service struct {
	db  *store.DB
	now func() time.Time
}

// NewService makes the service of a table.
func NewService(db *store.DB, now func() time.Time) *Service { return &Service{db, now} }

// Mount registers the operations of the area with a router.
func Mount(r *httpapi.Router, e area.Env) { NewService(e.DB, e.Now).Register(r) }

// Register puts the operations of quotes into a router.
func (s *Service) Register(r *httpapi.Router) {
	op := httpapi.ScopedOps("studio", "Account", auth.AccountRead)
	list := op("listQuotes", http.MethodGet, "/v1/quotes", "List the quotes",
		"Newest first: those that were used, and the others until 30 days after their end.").Opening(httpapi.Nothing)
	list.Errors = []errs.Code{errs.InvalidCursor}
	httpapi.List(r, list, s.list)
	create := op("createQuote", http.MethodPost, "/v1/quotes", "Hold the price of a rehearsal",
		"Holds the price of a rehearsal for 24 hours. The call that was rehearsed, sent with `quote_id` in place of "+
			"`rehearse`, costs at most that, whatever prices do meanwhile: what is reserved and charged for each item "+
			"is the lower one of its price then and in the quote. A quote reserves nothing, and is used once. It "+
			"holds prices, not what is made: after a change of the factory, or of what the call refers to, the call "+
			"is to be rehearsed again. The key needs the scope of the rehearsed operation as well. A rehearsal with "+
			"refusals has no quote, because the call would not run.").Opening(httpapi.Nothing)
	create.Status, create.Errors = http.StatusCreated, []errs.Code{errs.InvalidState, errs.NotFound}
	httpapi.Write(r, create, s.create)
	httpapi.Read(r, op("getQuote", http.MethodGet, "/v1/quotes/{quote_id}", "Get a quote",
		"Returns its price, its end, and what it was used for. A quote that was not used is shown for 30 days after "+
			"its end.").Opening(httpapi.Nothing), s.get)
}

func (s *Service) list(ctx context.Context, in *listInput) (httpapi.Page[Quote], error) {
	q := httpapi.AllOwned(ctx, quoteKind, in.Filter.Into(map[string]string{
		operationFilter: httpapi.AnyOf(in.Operation)}))
	in.Tagged.Into(&q)
	return httpapi.ListItems(ctx, s.db, q, in.PageInput, func(it store.Item) (Quote, error) {
		var r record
		err := it.Decode(&r)
		return r.Quote, err
	})
}

func (s *Service) create(ctx context.Context, tx *store.Tx, in *createInput) (out Quote, err error) {
	it, err := resource.Find(ctx, s.db, id.Rehearsal, rehearsalKind, in.Body.RehearsalID)
	now := s.now()
	switch {
	case errs.CodeOf(err) == errs.NotFound || err == nil && !it.ExpireAt.After(now):
		return out, errs.MissingAt("/rehearsal_id", "rehearsal of the last 7 days", in.Body.RehearsalID)
	case err != nil:
		return out, err
	}
	var of stored
	if err := it.Decode(&of); err != nil {
		return out, err
	}
	if err := auth.FromContext(ctx).Require(scopes[of.Operation], ""); err != nil {
		return out, err
	}
	if of.Operation == "createAutomation" {
		return out, errs.Invalid("/rehearsal_id", "is that of an automation, whose items are paid for at their times. "+
			"Quote a content plan, or a batch of content items")
	}
	if len(of.Refusals) > 0 {
		e := errs.New(errs.InvalidState, "The call that was rehearsed would be refused: %s Mend that, and rehearse it "+
			"again.", of.Refusals[0].Message)
		for _, r := range of.Refusals[:min(len(of.Refusals), mostShown)] {
			e.Details = append(e.Details, errs.Detail{Param: string(r.Param), Message: r.Message})
		}
		return out, e
	}
	q := record{Quote: Quote{Resource: resource.New(id.New(id.Quote, now), now, in.Body.Metadata),
		RehearsalID: in.Body.RehearsalID, Operation: of.Operation, Items: []Price{}, CreatedIDs: []string{},
		ExpiresAt: resource.Instant(now.Add(holds))}, Digest: of.Digest, Stamp: of.Stamp, Lots: of.Lots}
	for _, l := range of.Lots {
		q.Items = append(q.Items, Price{l.Credits})
		q.Credits += l.Credits
	}
	made, err := store.NewItem(quoteKind, it.Owner, q.ID, q)
	if err != nil {
		return out, err
	}
	made.ExpireAt = q.ExpiresAt.Add(keepUnused)
	quota.Quotes.Take(tx, now, &made)
	tx.Create(made, nil)
	return q.Quote, nil
}

// mostShown is the number of refusals that an error lists.
const mostShown = 20

// scopes are those of the operations that can be rehearsed: who may not make the call has no use for its price.
var scopes = map[string]auth.Scope{"createContentPlan": auth.FactoriesWrite, "createContentItems": auth.ContentWrite,
	"createAutomation": auth.ContentWrite}

func (s *Service) get(ctx context.Context, in *Path) (Quote, error) {
	it, err := resource.Find(ctx, s.db, id.Quote, quoteKind, in.ID)
	if err != nil {
		return Quote{}, err
	}
	var q record
	err = it.Decode(&q)
	return q.Quote, err
}
