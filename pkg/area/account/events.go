package account

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/httpapi/kind"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/store"
)

// Events serves the account's events.
type Events struct {
	db     *store.DB
	signer *media.Signer
	events *kind.Kind[event.Event]
}

// NewEvents returns the operations that read events.
func NewEvents(db *store.DB, signer *media.Signer) *Events {
	return &Events{db, signer, readableEvents.On(db, nil)}
}

// readableEvents are the events that the caller has the scope for: others are not found.
var readableEvents = kind.Kind[event.Event]{Name: event.Kind, ID: id.Event, Path: "/v1/events/{event_id}",
	Function: "account",
	Tag:      "Events", Reads: auth.AccountRead,
	Load: func(ctx context.Context, f *kind.Found[event.Event]) error {
		if !event.RefOf(f.Item).Type.Readable(auth.FromContext(ctx).Scopes) {
			return errs.Missing("event", f.Item.PK)
		}
		return nil
	}}

// eventPatterns describes patterns to huma, which the package event does not know.
type eventPatterns []event.Pattern

// Schema lets requests name known patterns only.
func (eventPatterns) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeArray, Items: httpapi.Enum(event.Patterns())}
}

// skew is more than the clocks of two functions may differ.
const skew = time.Minute

type eventsInput struct {
	httpapi.PageInput
	httpapi.Period
	// Only events of these types or areas, such as content.*, separated by commas.
	Type eventPatterns `query:"type" example:"content.generated,content.failed"`
	profile.Filter
	// Only events about this factory, or about what belongs to it.
	FactoryID string `query:"factory_id" example:"fac_01h455vb4pex5vsknk084sn02q"`
	// Only events about this resource: its id. They are found soonest with order=asc, which begins at the creation of
	// the resource.
	ObjectID string `query:"object_id" example:"cnt_01h455vb4pex5vsknk084sn02q"`
	// Seconds for which the request is held while the page has no event newer than after, or none at all without after.
	// It follows events with few requests. Keys that may make more than 60 requests a minute are held for less, as they
	// can ask more often: with 600 for a second.
	Wait int `query:"wait_seconds" minimum:"0" maximum:"10" default:"0"`
	// Newest event that you have, for wait_seconds: its id.
	After string `query:"after" example:"evt_01h455vb4pex5vsknk084sn02q"`
}

// Register puts the operations into the router.
func (s *Events) Register(r *httpapi.Router) {
	httpapi.List(r, s.events.Op(httpapi.Op{ID: "listEvents", Summary: "List the events of the last 30 days",
		Description: "Lists the events that webhooks receive, newest first. Use it to find what a receiver missed, " +
			"or to follow events without a webhook: read with `order=asc` until `next_cursor` is null, then again " +
			"with `from` a minute before the newest event that you have, and ignore ids that you have processed. " +
			"With `wait_seconds=10` and the newest one as `after`, the response comes as soon as there is a newer " +
			"one. Events of concurrent changes can become visible out of the order of their times. An event is " +
			"listed only if the key has the scope that reads what the event is about, such as `content:read` for " +
			"`content.*`. A `type` that the key may not read is refused with `insufficient_scope`; an area and `*` " +
			"leave out what it may not read. With a filter, a page may be short or even empty before " +
			"the end of the list."}, http.MethodGet, "/v1/events"), s.list)
	kind.Get(r, s.events, httpapi.Op{ID: "getEvent", Summary: "Get an event with its payload",
		Description: "An event about a resource that the key may not read is not found."},
		func(ctx context.Context, f *kind.Found[event.Event]) (event.Event, error) {
			return event.Render(ctx, f.Item, s.signer)
		})
}

// MostHeld bounds the requests of a key that are held at a time, each of which takes up a function.
const MostHeld = 10

// Held returns the time for which a request of a key is held: by MostHeld, if all of its calls ask for it.
func Held(asked int, r auth.Rate) time.Duration {
	d := time.Duration(asked) * time.Second
	if r.Limit > 0 {
		d = min(d, MostHeld*time.Duration(r.Window)*time.Second/time.Duration(r.Limit))
	}
	return d
}

// lookEvery is the pause between two looks for events while a request is held. The answer needs less than holdMargin.
const lookEvery, holdMargin = time.Second, 2 * time.Second

// list reads a page. It looks again, for as long as the caller wants to wait, while there is no event that is new.
func (s *Events) list(ctx context.Context, in *eventsInput) (httpapi.Page[event.Event], error) {
	if in.After != "" && !id.Valid(id.Event, in.After) {
		return httpapi.Page[event.Event]{}, errs.NotID("after", "event", in.After)
	}
	end := time.Now().Add(Held(in.Wait, auth.FromContext(ctx).Rate))
	if limit, bounded := ctx.Deadline(); bounded && limit.Add(-holdMargin).Before(end) {
		end = limit.Add(-holdMargin)
	}
	for {
		page, err := s.read(ctx, in)
		isNew := func(e event.Event) bool { return e.ID > in.After }
		if err != nil || page.Next != "" || in.Cursor != "" || slices.ContainsFunc(page.Items, isNew) ||
			time.Until(end) < lookEvery {
			return page, err
		}
		select {
		case <-time.After(lookEvery):
		case <-ctx.Done():
			return page, nil
		}
	}
}

// read reads a page of the events that the caller may read.
func (s *Events) read(ctx context.Context, in *eventsInput) (httpapi.Page[event.Event], error) {
	none := httpapi.Page[event.Event]{Items: []event.Event{}}
	scopes := auth.FromContext(ctx).Scopes
	for _, p := range in.Type {
		if scope := event.Type(p).Scope(); scope != "" && !slices.Contains(scopes, scope) {
			e := errs.New(errs.InsufficientScope, "%s", auth.MessageScope(scope))
			e.Param = "type"
			return none, e
		}
	}
	q, err := httpapi.Owned(ctx, event.Kind, id.Event, in.Period, in.Filter.Into(map[string]string{
		"object": in.ObjectID, "factory": in.FactoryID}))
	if err != nil {
		return none, err
	}
	if in.ObjectID != "" {
		made, ok := id.Time(in.ObjectID)
		if !ok {
			return none, errs.Invalid("object_id", "must be the whole id of a resource, such as "+
				"cnt_01h455vb4pex5vsknk084sn02q")
		}
		q.From = max(q.From, id.First(id.Event, made.Add(-skew))) // earlier events are not about it
	}
	readable, all := event.Readable(in.Type, scopes)
	if len(readable) == 0 {
		return none, nil
	}
	q.Prefixes = map[string][]string{"type": event.Prefixes(in.Type)}
	if !all {
		// The scopes are not part of the cursor, which outlives a change of them.
		q.OneOf = map[string][]string{"type": texts(readable)}
	}
	return httpapi.ListItems(ctx, s.db, q, in.PageInput,
		func(it store.Item) (event.Event, error) { return event.Render(ctx, it, s.signer) })
}

func texts(types []event.Type) []string {
	all := make([]string, len(types))
	for i, t := range types {
		all[i] = string(t)
	}
	return all
}

type entriesInput struct {
	httpapi.PageInput
	httpapi.Period
	profile.Filter
	// Only entries of these kinds, separated by commas.
	Kind []string `query:"kind" enum:"top_up,reserve,release,adjust" nullable:"false"`
	// Only entries of this factory.
	FactoryID string `query:"factory_id" example:"fac_01h455vb4pex5vsknk084sn02q"`
	// Only entries of this subject: the id of a resource or of the account.
	Subject string `query:"subject" maxLength:"64" example:"cnt_01h455vb4pex5vsknk084sn02q"`
}

// registerEntries puts the operation into the router.
func (s *Service) registerEntries(r *httpapi.Router) {
	httpapi.List(r, httpapi.Op{
		ID: "listBalanceEntries", Method: http.MethodGet, Path: "/v1/balance/entries", Scope: auth.AccountRead,
		Function: "account", Tag: "Account",
		Summary: "List the entries of the balance",
		Description: "Lists every change of the balance, newest first. The entries add up to the balance. Accepted " +
			"work reserves its price: the entry is `held` while the work runs, `charged` after success, " +
			"and `released` after a `release` has returned the credits. The reservation of a batch is released in " +
			"parts, as each of its items reserves its own price. With a test key the list is empty, because the " +
			"sandbox spends nothing.",
		Errors: []errs.Code{errs.InvalidCursor}, Opens: httpapi.Nothing,
	}, s.entries)
}

func (s *Service) entries(ctx context.Context, in *entriesInput) (httpapi.Page[ledger.Entry], error) {
	q, err := httpapi.Owned(ctx, ledger.Kind, id.LedgerEntry, in.Period,
		in.Filter.Into(map[string]string{"kind": httpapi.AnyOf(in.Kind), "factory": in.FactoryID}))
	if err != nil {
		return httpapi.Page[ledger.Entry]{}, err
	}
	if in.Subject != "" {
		q.Index, q.Partition = store.ByParent, ledger.SubjectPartition(auth.FromContext(ctx).Owner, in.Subject)
	}
	return httpapi.ListItems(ctx, s.db, q, in.PageInput, ledger.EntryOf)
}
