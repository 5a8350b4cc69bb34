package publishing

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/httpapi"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/record/testclock"
	"github.com/content-automation/api/pkg/store"
)

var (
	_ = format.Define("publication-order", format.Format{
		Values: format.Words("time impressions reach views watch_time_seconds likes comments shares saves clicks")})
	_ = format.Define("review-note", format.Format{Name: format.NotBlank, Shortest: 1, Longest: 2000,
		Example: "Name the price in the first line."})
)

// The bounds of a period that is sorted in memory: publications that pass the filters, and content items of which few
// have one.
const mostSorted, mostRead = 1000, 10_000

// The period of a list that names none.
const usualBack, usualAhead = 30 * 24 * time.Hour, 60 * 24 * time.Hour

// byTime is the order of a list that the calendar has.
const byTime = "time"

// statePlanned is the state of what has no publication yet.
const statePlanned = "planned"

// Entry is a publication, or what is planned, in the calendar of an account.
type Entry struct {
	// Id of the publication. Null while it is planned: it gets one when the item is scheduled.
	ID *string `json:"id"`
	// State of the publication. planned: its item is not generated, or waits for its approval.
	State string `json:"state" enum:"planned,pending,publishing,published,failed,deleted"`
	// Time for which it was planned, or at which publishing began.
	PlannedAt resource.Time `json:"planned_at"`
	// Content item.
	ContentItemID string `json:"content_item_id"`
	// Factory of the item.
	FactoryID string `json:"factory_id"`
	// Kind of content.
	Kind item.Kind `json:"kind" enum:"post,video,carousel,story,music_clip"`
	// Title of the item.
	Title resource.Text `json:"title"`
	// Beginning of the item's caption: its first line, up to 100 characters.
	Caption resource.Text `json:"caption" example:"Our new trail running shoe"`
	// State of the item.
	ContentState item.State `json:"content_state"`
	// Approval of the item.
	Approval item.Approval `json:"approval"`
	// Social account. Null while it is planned for those of the factory.
	SocialAccountID *string `json:"social_account_id"`
	// Platform. Null while it is planned.
	Platform *string `json:"platform"`
	// Id of the post on the platform. Null if there is none.
	PlatformPostID *string `json:"platform_post_id"`
	// Address of the post. Null if there is none.
	URL *string `json:"url"`
	// Time at which it was published. Null until then.
	PublishedAt *resource.Time `json:"published_at"`
	// How the post is received. Null until they are read.
	Metrics *item.Metrics `json:"metrics"`
	// Reason of the failure. Null if it has not failed.
	Failure *item.PublicationFailure `json:"failure"`
}

// PublicationPath is the part of the path that names a publication.
type PublicationPath struct {
	// Id of the publication.
	ID string `path:"publication_id" example:"pub_01h455vb4pex5vsknk084sn02q"`
}

type listInput struct {
	httpapi.SliceInput
	profile.Filter
	// Only what is planned, or was published, at this time or later (RFC 3339). Absent: 30 days ago.
	From time.Time `query:"from"`
	// Only what is planned, or was published, before this time (RFC 3339). Absent: in 60 days, or 90 days after from.
	To time.Time `query:"to"`
	// Only publications in these states, separated by commas.
	State []string `query:"state" enum:"planned,pending,publishing,published,failed,deleted" nullable:"false"`
	// Only publications on these platforms, separated by commas.
	Platform []string `query:"platform" format:"platform" nullable:"false"`
	// Only publications to this social account.
	AccountID string `query:"social_account_id"`
	// Only publications of this content item.
	ItemID string `query:"content_item_id"`
	// Only publications of items of these kinds, separated by commas.
	Kind []string `query:"kind" enum:"post,video,carousel,story,music_clip" nullable:"false"`
	// Only publications of this factory.
	FactoryID string `query:"factory_id"`
	// What the results are sorted by. Publications without the metric are last.
	OrderBy string `query:"order_by" format:"publication-order" default:"time"`
	// Order of the results: desc is the latest or greatest first.
	Order string `query:"order" enum:"asc,desc" default:"desc"`
}

type patchBody struct {
	// New text of the post, with its hashtags.
	Caption string `json:"caption" format:"not-blank" minLength:"1" maxLength:"5000"`
}

type patchInput struct {
	PublicationPath
	httpapi.IfMatch
	Body patchBody
}

type removeInput struct {
	PublicationPath
	httpapi.IfMatch
}

// registerPublications adds the operations of publications.
func (s *Service) registerPublications(r *httpapi.Router) {
	list := op("listAllPublications", http.MethodGet, "/v1/publications", auth.ContentRead, "List all publications",
		"Lists the publications of the account in a period, and what is planned in it: a calendar. With "+
			"`Accept: text/csv`, the answer is a file of comma-separated values with all results. A file and an order "+
			"by a metric have up to 1,000 results of 10,000 content items: if the period has more, name a shorter "+
			"one.").
		Opening(httpapi.Nothing)
	list.Sheet = "publications.csv"
	list.Errors = []errs.Code{errs.InvalidCursor}
	httpapi.List(r, list, s.list)

	const one = "/v1/publications/{publication_id}"
	httpapi.Read(r, op("getPublication", http.MethodGet, one, auth.ContentRead, "Get a publication",
		"With its metrics over time.").Opening(httpapi.Nothing), s.get)

	patch := op("updatePublication", http.MethodPatch, one, auth.ContentPublish, "Change a published post",
		"Changes the text of a post where its platform can (`editable`). The platform gets the change in the "+
			"background: `change` shows how it ends. Another change is refused until then.").Opening(httpapi.Publishing)
	patch.Errors = []errs.Code{errs.NotFound, errs.VersionMismatch, errs.InvalidState, errs.ProviderUnavailable}
	httpapi.Write(r, patch, func(ctx context.Context, tx *store.Tx, in *patchInput) (item.PublishedPost, error) {
		return s.change(ctx, tx, in.ID, in.IfMatch, item.ChangeEdit, &in.Body.Caption)
	})

	remove := op("deletePublication", http.MethodDelete, one, auth.ContentPublish, "Delete a published post",
		"Deletes a post from its platform where the platform can (`deletable`), in the background. The event "+
			"`publication.deleted` reports its end. The content item and its other posts stay.").
		Opening(httpapi.Deletion | httpapi.Publishing)
	remove.Errors = []errs.Code{errs.NotFound, errs.VersionMismatch, errs.InvalidState}
	httpapi.Write(r, remove, func(ctx context.Context, tx *store.Tx, in *removeInput) (item.PublishedPost, error) {
		return s.change(ctx, tx, in.ID, in.IfMatch, item.ChangeDelete, nil)
	})
}

// period returns the period of a list. The usual one of a sandbox has also what its clock has passed.
func (in *listInput) period(now, clock time.Time) (from, to time.Time, err error) {
	if from, to = in.From, in.To; from.IsZero() {
		if from = now.Add(-usualBack); !to.IsZero() && !from.Before(to) {
			from = to.Add(-usualBack)
		}
	}
	switch {
	case to.IsZero() && in.From.IsZero():
		to = clock.Add(usualAhead)
	case to.IsZero():
		to = from.Add(usualBack + usualAhead)
	}
	if !from.Before(to) {
		err = errs.Invalid("to", "must be after from")
	}
	return from, to, err
}

// contentStates are the states of the items that may have an entry in a state.
var contentStates = map[string][]item.State{
	statePlanned:               {item.Queued, item.Generating, item.Generated, item.Scheduled, item.Published},
	item.PublicationPending:    {item.Scheduled, item.Publishing},
	item.PublicationPublishing: {item.Scheduled, item.Publishing},
	item.PublicationPublished:  {item.Publishing, item.Published},
	item.PublicationFailed:     {item.Publishing, item.Published, item.Failed},
	item.PublicationDeleted:    {item.Publishing, item.Published},
}

func (s *Service) list(ctx context.Context, in *listInput) (page httpapi.Page[Entry], err error) {
	o := auth.FromContext(ctx).Owner
	clock, err := testclock.Now(ctx, s.db, o, s.now())
	if err != nil {
		return page, err
	}
	from, to, err := in.period(s.now(), clock)
	if err != nil {
		return page, err
	}
	var states []item.State
	for _, state := range in.State {
		states = append(states, contentStates[state]...)
	}
	q := store.Query{Index: store.ByDue, Partition: item.CalendarPartition(o), From: resource.SortableTime(from),
		To: resource.SortableTime(to), Filters: map[string]string{store.ProfileFilter: in.ProfileID,
			item.FactoryFilter: in.FactoryID, "kind": httpapi.AnyOf(in.Kind), "state": httpapi.AnyOf(states)}}
	if in.ItemID != "" {
		if q, err = s.only(ctx, q, in.ItemID); err != nil || q.Partition == "" {
			return page, err
		}
	}
	filters := map[string]string{"state": httpapi.AnyOf(in.State), "platform": httpapi.AnyOf(in.Platform),
		"account": in.AccountID, "factory": in.FactoryID, "item": in.ItemID, "kind": httpapi.AnyOf(in.Kind),
		"profile": in.ProfileID, "from": in.From.String(), "to": in.To.String(), "order": in.OrderBy + in.Order}
	if in.OrderBy == byTime && !httpapi.IsSheet(ctx) {
		return httpapi.ListParts(ctx, s.db, q, filters, httpapi.PageInput{SliceInput: in.SliceInput, Order: in.Order},
			s.entriesOf(in), Entry.key)
	}
	all, err := s.sorted(ctx, q, filters, in)
	if err != nil {
		return page, err
	}
	return httpapi.Slice(ctx, all, filters, in.SliceInput, in.place)
}

// only bounds a query of the calendar to an item. It returns the zero Query if the item is not in the period.
func (s *Service) only(ctx context.Context, q store.Query, itemID string) (store.Query, error) {
	it, err := s.db.Lookup(ctx, store.IDKey(itemID))
	if err != nil || it.Due.PK != q.Partition || it.Due.SK < q.From || it.Due.SK > q.To {
		return store.Query{}, err
	}
	q.From, q.To = it.Due.SK, it.Due.SK
	return q, nil
}

// sorted returns all entries of a query in the order that the call asks for. It refuses a period that has too many
// entries, or that has so many items that it finds few of them at a bearable cost.
func (s *Service) sorted(ctx context.Context, q store.Query, filters map[string]string,
	in *listInput) (all []Entry, err error) {
	next := httpapi.PageInput{SliceInput: httpapi.SliceInput{Limit: 100}, Order: in.Order}
	for read := 0; read < mostRead; {
		page, err := httpapi.ListParts(ctx, s.db, q, filters, next, s.entriesOf(in), Entry.key)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		next.Cursor = page.Next
		switch {
		case len(all) > mostSorted:
			return nil, errs.Invalid("to", "makes a period with more than %d publications, which is too long for a "+
				"file and for an order by a metric. Name a shorter one", mostSorted)
		case next.Cursor == "":
			slices.SortStableFunc(all, in.compare)
			return all, nil
		case len(page.Items) < next.Limit:
			read += httpapi.MostScanned
		}
	}
	return nil, errs.Invalid("to", "makes a period with more than %d content items, which are too many to look "+
		"through for a file and for an order by a metric. Name a shorter one", mostRead)
}

// entriesOf returns a function that returns the entries of items that a call asks for.
func (s *Service) entriesOf(in *listInput) func(context.Context, []store.Item) ([][]Entry, error) {
	return func(ctx context.Context, items []store.Item) ([][]Entry, error) {
		records, all := make([]*item.Record, len(items)), make([][]Entry, len(items))
		for i := range items {
			var err error
			if records[i], err = item.Decode(&items[i]); err != nil {
				return nil, err
			}
		}
		if err := item.Attach(ctx, s.db, records...); err != nil {
			return nil, err
		}
		for i, r := range records {
			all[i] = slices.DeleteFunc(entries(r), func(e Entry) bool { return !in.takes(e) })
			slices.SortFunc(all[i], in.byKey)
		}
		return all, nil
	}
}

// entries returns what an item has in the calendar.
func entries(r *item.Record) (all []Entry) {
	base := Entry{State: statePlanned, PlannedAt: resource.Instant(r.Item.PlannedAt()), ContentItemID: r.Item.ID,
		FactoryID: r.Item.FactoryID, Kind: r.Item.Kind, Title: r.Item.Title,
		Caption: resource.Text(beginningOf(string(r.Item.Caption))), ContentState: r.Item.State,
		Approval: r.Item.Approval}
	for _, pub := range r.Item.Publications {
		e := base
		e.ID, e.State, e.SocialAccountID, e.Platform = &pub.ID, pub.State, &pub.SocialAccountID, &pub.Platform
		e.PlatformPostID, e.URL, e.PublishedAt, e.Metrics, e.Failure = pub.PlatformPostID, pub.URL, pub.PublishedAt,
			pub.Metrics, pub.Failure
		all = append(all, e)
	}
	if len(all) > 0 || r.Item.State == item.Canceled || r.Item.State == item.Failed {
		return all
	}
	for _, accountID := range r.Item.SocialAccountIDs {
		e := base
		e.SocialAccountID = &accountID
		all = append(all, e)
	}
	if len(all) == 0 {
		all = append(all, base)
	}
	return all
}

func (e Entry) key() string {
	if e.ID != nil {
		return *e.ID
	}
	if e.SocialAccountID != nil {
		return e.ContentItemID + "#" + *e.SocialAccountID
	}
	return e.ContentItemID
}

func (in *listInput) takes(e Entry) bool {
	return (len(in.State) == 0 || slices.Contains(in.State, e.State)) &&
		(len(in.Platform) == 0 || e.Platform != nil && slices.Contains(in.Platform, *e.Platform)) &&
		(in.AccountID == "" || e.SocialAccountID != nil && *e.SocialAccountID == in.AccountID)
}

// compare returns the order of two entries.
func (in *listInput) compare(a, b Entry) int { return in.ordered(in.place(a), in.place(b)) }

// byKey returns the order of two entries of an item.
func (in *listInput) byKey(a, b Entry) int { return in.ordered(a.key(), b.key()) }

func (in *listInput) ordered(a, b string) int {
	if in.Order == "asc" {
		return strings.Compare(a, b)
	}
	return strings.Compare(b, a)
}

// place returns the place of an entry in the list, whose order as a text is that of the list. An entry without the
// metric of the order comes last.
func (in *listInput) place(e Entry) string {
	metric := ""
	if in.OrderBy != byTime {
		if n := e.metric(in.OrderBy); n != nil {
			metric = fmt.Sprintf("%019d", *n)
		} else if in.Order == "asc" {
			metric = "~"
		}
	}
	return metric + " " + e.PlannedAt.UTC().Format("2006-01-02T15:04:05.000000000") + " " + e.key()
}

// metric returns a metric of a publication, or nil if it is not known.
func (e Entry) metric(name string) *int64 {
	if e.Metrics == nil {
		return nil
	}
	m := platform.Metrics(e.Metrics.Counts)
	return *m.All()[slices.Index(platform.Names[:], name)]
}

// find reads the row of a publication, and its item, without the publications, as the index lists it. The id of a
// publication has the time at which its item was created. Where found is not nil, it gets the items that were created
// then, as the table has them, their publications, and the readings of the publication.
func (s *Service) find(ctx context.Context, publicationID string, found *[]store.Item) (it store.Item, row item.Row,
	err error) {
	missing := errs.Missing("publication", publicationID)
	at, ok := id.Time(publicationID)
	if !ok || !id.Valid(id.Publication, publicationID) {
		return it, row, missing
	}
	q := store.Query{Index: store.ByOwner, Limit: 100,
		Partition: store.OwnerPartition(auth.FromContext(ctx).Owner, item.ItemKind),
		From:      id.First(id.ContentItem, at), To: id.First(id.ContentItem, at.Add(time.Millisecond))}
	for {
		page, err := s.db.List(ctx, q)
		if err != nil {
			return it, row, err
		}
		if it, row, err = s.among(ctx, page.Items, publicationID, found); err != nil || row.ID != "" {
			return it, row, err
		}
		if q.After = page.Next; q.After == nil {
			return it, row, missing
		}
	}
}

// among is find among the items of a list. The row is the zero value if none of them has the publication.
func (s *Service) among(ctx context.Context, listed []store.Item, publicationID string,
	all *[]store.Item) (it store.Item, row item.Row, err error) {
	var keys []store.Key
	of := map[string]store.Item{}
	listed = slices.DeleteFunc(listed, func(it store.Item) bool { return !auth.FromContext(ctx).Sees(it.Owner) })
	for i := range listed {
		r, err := item.Decode(&listed[i])
		if err != nil {
			return it, row, err
		}
		keys, of[r.Item.ID] = append(keys, r.Item.PublicationKeys()...), listed[i]
	}
	if all != nil {
		keys = append(keys, item.ReadingsKey(publicationID))
		for i := range listed {
			keys = append(keys, listed[i].Key)
		}
	}
	rows, err := s.db.GetAll(ctx, keys...)
	if all != nil {
		*all = rows
	}
	is := func(found *store.Item) bool {
		if err == nil && found.Kind == item.PublicationKind {
			row, err = item.DecodeRow(found)
		}
		return err == nil && row.ID == publicationID
	}
	for i := range rows {
		if is(&rows[i]) {
			resource.Reads(ctx, of[rows[i].PK])
			return of[rows[i].PK], row, nil
		}
	}
	for i := range listed { // the index may lag
		var under []store.Item
		if err == nil {
			under, err = s.db.Under(ctx, listed[i].PK)
		}
		for n := range under {
			if is(&under[n]) {
				resource.Reads(ctx, listed[i])
				return listed[i], row, nil
			}
		}
	}
	return it, item.Row{}, err
}

func (s *Service) get(ctx context.Context, in *PublicationPath) (out item.PublishedPost, err error) {
	_, row, err := s.find(ctx, in.ID, nil)
	if err != nil {
		return out, err
	}
	return s.show(ctx, &row.Publication, row.FactoryID)
}

// show returns a publication of a factory as callers see it.
func (s *Service) show(ctx context.Context, pub *item.Publication,
	factoryID string) (out item.PublishedPost, err error) {
	var history store.Item
	if pub.Metrics != nil {
		if history, err = s.db.Lookup(ctx, item.ReadingsKey(pub.ID)); err != nil {
			return out, err
		}
	}
	limits, _ := s.content.Capabilities(auth.FromContext(ctx).Mode, pub.Platform)
	return pub.Shown(factoryID, limits, history)
}

// change starts a change of a published post.
func (s *Service) change(ctx context.Context, tx *store.Tx, publicationID string, match httpapi.IfMatch, kind string,
	caption *string) (out item.PublishedPost, err error) {
	it, r, history, err := s.whole(ctx, publicationID)
	if err != nil {
		return out, err
	}
	if r == nil || r.Item.Publication(publicationID) == nil {
		return out, errs.Missing("publication", publicationID)
	}
	pub := r.Item.Publication(publicationID)
	if err := match.Check(pub.Version); err != nil {
		return out, err
	}
	if kind == item.ChangeEdit {
		if err := auth.FromContext(ctx).RequirePost(pub.Platform, s.now()); err != nil {
			return out, err
		}
	}
	limits, _ := s.content.Capabilities(it.Owner.Mode, pub.Platform)
	err = publication.Change(tx, s.now(), it.Owner, r, pub, limits, kind, caption, publication.ChangeWithin)
	if err != nil {
		return out, err
	}
	if caption != nil {
		if err := s.content.ModerateCaption(ctx, it.Owner.Mode, *caption); err != nil {
			return out, err
		}
	}
	if err := item.Replace(tx, it, r); err != nil {
		return out, err
	}
	return pub.Shown(r.Item.FactoryID, limits, history)
}

// whole reads the item of a publication with all its publications, and the readings of the publication, in one round
// trip after that of the index.
func (s *Service) whole(ctx context.Context, publicationID string) (it store.Item, r *item.Record,
	history store.Item, err error) {
	var found []store.Item
	listed, _, err := s.find(ctx, publicationID, &found)
	if err != nil {
		return it, nil, history, err
	}
	var under []store.Item
	for _, one := range found {
		switch {
		case one.Key == listed.Key && one.Version == listed.Version:
			under = slices.Insert(under, 0, one)
		case one.Kind == item.PublicationKind && one.PK == listed.PK:
			under = append(under, one)
		case one.Key == item.ReadingsKey(publicationID):
			history = one
		}
	}
	if r, err = item.Of(under); r != nil || err != nil {
		return under[0], r, history, err
	}
	it, r, _, err = item.Lookup(ctx, s.db, listed.Owner, listed.PK) // the index lags
	return it, r, history, err
}

// accountsOf returns the accounts that each item is, or would be, published to: those that it names, or else those of
// its factory.
func (s *Service) accountsOf(ctx context.Context, records []*item.Record,
	it store.Item) (map[string][]social.Record, error) {
	var keys []store.Key
	want := func(key store.Key) {
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	for _, r := range records {
		want(factoryrecord.Key(r.Item.FactoryID))
	}
	factories, err := s.db.GetAll(ctx, keys...)
	if err != nil {
		return nil, err
	}
	attached := map[string][]string{}
	for _, f := range factories {
		if factoryrecord.Usable(f, it.Owner) {
			if attached[f.PK], err = factoryrecord.Accounts(&f); err != nil {
				return nil, err
			}
		}
	}
	ids, all := map[string][]string{}, map[string]social.Record{}
	keys = nil
	for _, r := range records {
		if ids[r.Item.ID] = r.Item.SocialAccountIDs; len(ids[r.Item.ID]) == 0 {
			ids[r.Item.ID] = attached[r.Item.FactoryID]
		}
		for _, accountID := range ids[r.Item.ID] {
			want(store.IDKey(accountID))
		}
	}
	items, err := s.db.GetAll(ctx, keys...)
	if err != nil {
		return nil, err
	}
	for _, found := range items {
		if social.Is(found, it.Owner) {
			if all[found.PK], err = social.Decode(&found); err != nil {
				return nil, err
			}
		}
	}
	shown := map[string][]social.Record{}
	for itemID, accounts := range ids {
		for _, accountID := range accounts {
			if acct, ok := all[accountID]; ok {
				shown[itemID] = append(shown[itemID], acct)
			}
		}
	}
	return shown, nil
}
