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
	"github.com/content-automation/api/pkg/base/tenant"
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

const (
	// mostListed bounds the items of a period whose publications are sorted in memory, and mostDays the period.
	mostListed = 1000
	mostDays   = 366
	// The period of a list that names none.
	usualBack, usualAhead = 30 * 24 * time.Hour, 60 * 24 * time.Hour
)

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
	// Only what is planned, or was published, before this time (RFC 3339), up to 366 days after from. Absent: in 60
	// days, or 90 days after from.
	To time.Time `query:"to"`
	// Only publications in these states, separated by commas.
	State []string `query:"state" enum:"planned,pending,publishing,published,failed,deleted" nullable:"false"`
	// Only publications on these platforms, separated by commas.
	Platform []string `query:"platform" nullable:"false"`
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
		"Lists the publications of the account in a period, and what is planned in it: a calendar. A period with more "+
			"than 1,000 content items is refused: name a shorter one. With the header `Accept: text/csv`, the answer "+
			"is a file of comma-separated values with all results of the period.").Opening(httpapi.Nothing)
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

// period returns the period of a list. The usual one of a sandbox has also what its clock has passed, as far as one
// call may list it.
func (in *listInput) period(now, clock time.Time) (from, to time.Time, err error) {
	if from, to = in.From, in.To; from.IsZero() {
		if from = now.Add(-usualBack); !to.IsZero() && !from.Before(to) {
			from = to.Add(-usualBack)
		}
	}
	const most = mostDays * 24 * time.Hour
	switch {
	case to.IsZero() && in.From.IsZero():
		to = clock.Add(usualAhead)
		from = slices.MaxFunc([]time.Time{from, to.Add(-most)}, time.Time.Compare)
	case to.IsZero():
		to = from.Add(usualBack + usualAhead)
	}
	if !from.Before(to) || to.Sub(from) > most {
		err = errs.Invalid("to", "must be after from, and up to %d days later", mostDays)
	}
	return from, to, err
}

func (s *Service) list(ctx context.Context, in *listInput) (page httpapi.Page[Entry], err error) {
	clock, err := testclock.Now(ctx, s.db, auth.FromContext(ctx).Owner, s.now())
	if err != nil {
		return page, err
	}
	from, to, err := in.period(s.now(), clock)
	if err != nil {
		return page, err
	}
	records, err := s.between(ctx, tenant.Profile(in.ProfileID), from, to)
	if err != nil {
		return page, err
	}
	var all []Entry
	for _, r := range records {
		if in.FactoryID != "" && r.FactoryID != in.FactoryID || in.ItemID != "" && r.ID != in.ItemID ||
			len(in.Kind) > 0 && !slices.Contains(in.Kind, string(r.Kind)) {
			continue
		}
		for _, e := range entries(r) {
			if in.takes(e) {
				all = append(all, e)
			}
		}
	}
	slices.SortStableFunc(all, in.compare)
	return httpapi.Slice(ctx, all, map[string]string{"state": httpapi.AnyOf(in.State),
		"platform": httpapi.AnyOf(in.Platform), "account": in.AccountID, "factory": in.FactoryID,
		"item": in.ItemID, "kind": httpapi.AnyOf(in.Kind),
		"profile": in.ProfileID, "from": in.From.String(), "to": in.To.String(),
		"order": in.OrderBy + in.Order}, in.SliceInput, in.place)
}

// between returns the items of the caller that are planned, or were published, in a period: those of a profile, unless
// it is empty.
func (s *Service) between(ctx context.Context, of tenant.Profile, from, to time.Time) (all []*item.Record, err error) {
	q := store.Query{Index: store.ByDue, Partition: item.CalendarPartition(auth.FromContext(ctx).Owner),
		From: resource.SortableTime(from), To: resource.SortableTime(to), OldestFirst: true, Limit: 100}
	for {
		page, err := item.List(ctx, s.db, q)
		if err != nil {
			return nil, err
		}
		for i, r := range page.Records {
			if of == "" || page.Items[i].Owner.Profile == of {
				all = append(all, r)
			}
		}
		if len(all) > mostListed {
			return nil, errs.Invalid("to", "makes a period with more than %d content items. Name a shorter one",
				mostListed)
		}
		if q.After = page.Next; q.After == nil {
			return all, nil
		}
	}
}

// entries returns what an item has in the calendar.
func entries(r *item.Record) (all []Entry) {
	base := Entry{State: statePlanned, PlannedAt: resource.Instant(r.PlannedAt()), ContentItemID: r.ID,
		FactoryID: r.FactoryID, Kind: r.Kind, Title: r.Title,
		Caption: resource.Text(beginningOf(string(r.Caption))), ContentState: r.State,
		Approval: r.Approval}
	for _, pub := range r.Publications {
		e := base
		e.ID, e.State, e.SocialAccountID, e.Platform = &pub.ID, pub.State, &pub.SocialAccountID, &pub.Platform
		e.PlatformPostID, e.URL, e.PublishedAt, e.Metrics, e.Failure = pub.PlatformPostID, pub.URL, pub.PublishedAt,
			pub.Metrics, pub.Failure
		all = append(all, e)
	}
	if len(all) > 0 || r.State == item.Canceled || r.State == item.Failed {
		return all
	}
	for _, accountID := range r.SocialAccountIDs {
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
func (in *listInput) compare(a, b Entry) int {
	sign := -1
	if in.Order == "asc" {
		sign = 1
	}
	return sign * strings.Compare(in.place(a), in.place(b))
}

// place returns the place of an entry in the list, whose order as a text is that of the list. An entry without the
// metric of the order comes last.
func (in *listInput) place(e Entry) string {
	metric := ""
	if in.OrderBy != "time" {
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

// find reads a publication and its item, without the other publications of the item, and its metrics over time. The id
// of a publication has the time at which its item was created.
func (s *Service) find(ctx context.Context, publicationID string) (r *item.Record, it, history store.Item, err error) {
	missing := errs.Missing("publication", publicationID)
	at, ok := id.Time(publicationID)
	if !ok || !id.Valid(id.Publication, publicationID) {
		return nil, it, history, missing
	}
	q := store.Query{Index: store.ByOwner, Limit: 100,
		Partition: store.OwnerPartition(auth.FromContext(ctx).Owner, item.ItemKind),
		From:      id.First(id.ContentItem, at), To: id.First(id.ContentItem, at.Add(time.Millisecond))}
	for {
		page, err := s.db.List(ctx, q)
		if err != nil {
			return nil, it, history, err
		}
		if r, it, history, err = s.among(ctx, page.Items, publicationID); err != nil || r != nil {
			return r, it, history, err
		}
		if q.After = page.Next; q.After == nil {
			return nil, it, history, missing
		}
	}
}

// among is find among the items of a list. The record is nil if none of them has the publication.
func (s *Service) among(ctx context.Context, listed []store.Item, publicationID string) (r *item.Record, it,
	history store.Item, err error) {
	keys, versions := []store.Key{item.ReadingsKey(publicationID)}, map[string]int64{}
	for i := range listed {
		one, err := item.Decode(&listed[i])
		if err != nil {
			return nil, it, history, err
		}
		keys, versions[one.ID] = append(append(keys, listed[i].Key), one.PublicationKeys()...), listed[i].Version
	}
	found, err := s.db.GetAll(ctx, keys...)
	if err != nil {
		return nil, it, history, err
	}
	for i := 1; i < len(found); i++ {
		switch row := found[i]; row.Kind {
		case item.ItemKind:
			if it = row; it.Version == versions[it.PK] {
				continue // its publications follow
			}
			it, r, _, err = item.Lookup(ctx, s.db, it.Owner, it.PK) // the index lags
		case item.PublicationKind:
			r, err = item.Of([]store.Item{it, row})
		default:
			continue
		}
		if err != nil || r != nil && r.Publication(publicationID) != nil && auth.FromContext(ctx).Sees(it.Owner) {
			resource.Reads(ctx, it)
			return r, it, found[0], err
		}
	}
	return nil, it, found[0], nil
}

func (s *Service) get(ctx context.Context, in *PublicationPath) (item.PublishedPost, error) {
	r, _, history, err := s.find(ctx, in.ID)
	if err != nil {
		return item.PublishedPost{}, err
	}
	return s.show(ctx, r, r.Publication(in.ID), history)
}

// show returns a publication as callers see it.
func (s *Service) show(ctx context.Context, r *item.Record, pub *item.Publication,
	history store.Item) (item.PublishedPost, error) {
	limits, _ := s.content.Capabilities(auth.FromContext(ctx).Mode, pub.Platform)
	return r.PostOf(pub, limits, history)
}

// change starts a change of a published post.
func (s *Service) change(ctx context.Context, tx *store.Tx, publicationID string, match httpapi.IfMatch, kind string,
	caption *string) (out item.PublishedPost, err error) {
	r, it, history, err := s.find(ctx, publicationID)
	if err != nil {
		return out, err
	}
	pub := r.Publication(publicationID)
	if err := match.Check(pub.Version); err != nil {
		return out, err
	}
	if kind == item.ChangeEdit {
		if err := auth.FromContext(ctx).RequirePost(pub.Platform, s.now()); err != nil {
			return out, err
		}
	}
	limits, _ := s.content.Capabilities(it.Owner.Mode, pub.Platform)
	if err := publication.Change(tx, s.now(), it.Owner, r, pub, limits, kind, caption); err != nil {
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
	return s.show(ctx, r, pub, history)
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
		want(factoryrecord.Key(r.FactoryID))
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
		if ids[r.ID] = r.SocialAccountIDs; len(ids[r.ID]) == 0 {
			ids[r.ID] = attached[r.FactoryID]
		}
		for _, accountID := range ids[r.ID] {
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
