package feed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/factory"
	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/craft/feed"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/authority"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/record/shelf"
	"github.com/content-automation/api/pkg/record/testclock"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Service sets and shows feeds.
type Service struct {
	db     *store.DB
	signer *media.Signer
	urls   safehttp.Checker
	now    func() time.Time
}

// NewService makes the service.
func NewService(db *store.DB, signer *media.Signer, urls safehttp.Checker, now func() time.Time) *Service {
	return &Service{db, signer, urls, now}
}

// Mount registers the operations of the area.
func Mount(r *httpapi.Router, e area.Env) {
	NewService(e.DB, e.Media, e.Client(safehttp.Options{}), e.Now).Register(r)
}

type sourceBody struct {
	// Public https URL of the feed, of up to 200 MB, also compressed by gzip. With a test key,
	// https://shop.example.com/sandbox.xml is a shop of 200 products whose prices follow the clock of the sandbox.
	URL string `json:"url,omitempty" maxLength:"2048" example:"https://shop.example.com/google.xml"`
	// Media of the type data. Send either it or url.
	MediaID string `json:"media_id,omitempty" maxLength:"64" example:"med_01h455vb4pex5vsknk084sn02q"`
}

type createBody struct {
	// Where it comes from.
	Source sourceBody `json:"source"`
	// Its format.
	Format feed.Format `json:"format" format:"feed-format"`
	// For csv: columns by members of products, such as sku, name, price, currency, sale_price, availability, photos
	// and attributes.color.
	Mapping map[string]string `json:"mapping,omitempty" example:"{\"sku\":\"Artikel\",\"price\":\"Preis\"}"`
	// Currency of prices that have none. Required for shopify_csv.
	Currency string `json:"currency,omitempty" format:"currency"`
	// When it is read.
	Schedule string `json:"schedule,omitempty" format:"feed-schedule" default:"manual"`
	// Time of day of a daily feed, in the time zone of the factory.
	DailyTime string `json:"daily_time,omitempty" maxLength:"5" example:"06:30"`
	// What happens to content about a product whose price, offer or main photo has changed.
	OnPriceChange shelf.Policy `json:"on_price_change,omitempty" format:"feed-policy" default:"hold"`
	// What happens to content about a product that is sold out.
	OnSoldOut shelf.Policy `json:"on_sold_out,omitempty" format:"feed-policy" default:"hold"`
	// What happens to content about a product that is not in the feed any more.
	OnRemoved shelf.Policy `json:"on_removed,omitempty" format:"feed-policy" default:"hold"`
	// Content items that are made again a day by themselves, for on_price_change hold and withdraw. Needs the scope
	// content:write.
	RemakePerDay int `json:"remake_per_day,omitempty" minimum:"0" maximum:"1000" default:"0"`
	// Photos that products get.
	Photos string `json:"photos,omitempty" format:"feed-photos" default:"main"`
}

// Rules refuses bodies that the schema cannot rule out.
func (b createBody) Rules() error {
	var found []error
	if (b.Source.URL == "") == (b.Source.MediaID == "") {
		found = append(found, errs.Invalid("/source", "must have either url or media_id"))
	}
	if b.Format == feed.ShopifyCSV && b.Currency == "" {
		found = append(found, errs.Invalid("/currency", "is required for shopify_csv, whose prices have none"))
	}
	if len(b.Mapping) > 60 {
		found = append(found, errs.Invalid("/mapping", "must have at most 60 members"))
	}
	return errs.All(found...)
}

type setInput struct {
	factory.FactoryPath
	httpapi.IfMatch
	Body createBody
}

type changeInput struct {
	factory.FactoryPath
	httpapi.IfMatch
}

type syncBody struct {
	// A run that is held. It goes on, and archives what is gone.
	ConfirmRunID string `json:"confirm_run_id,omitempty" maxLength:"64" example:"run_01h455vb4pex5vsknk084sn02q"`
}

type syncInput struct {
	factory.FactoryPath
	Body *syncBody
}

type runsInput struct {
	factory.FactoryPath
	httpapi.PageInput
	// Only runs in these states, separated by commas.
	State []RunState `query:"state" filter:"state" format:"feed-run-state" nullable:"false"`
}

type runInput struct {
	factory.FactoryPath
	// Id of the run.
	RunID string `path:"run_id" example:"run_01h455vb4pex5vsknk084sn02q"`
}

// Register puts the operations of the area into the router.
func (s *Service) Register(r *httpapi.Router) {
	const path = "/v1/factories/{factory_id}/feed"
	op := httpapi.Ops("product", "Feeds")
	set := op("setFeed", http.MethodPut, path, auth.ProductsWrite, "Set the feed of a factory",
		"Has the catalog of a factory of type `seller` follow a feed. Call `syncFeed` for its first run. Changing the "+
			"feed changes no product until its next run.").Opening(httpapi.Address)
	set.Errors = []errs.Code{errs.WrongFactoryType, errs.VersionMismatch, errs.NotFound}
	httpapi.Write(r, set, s.set)
	get := op("getFeed", http.MethodGet, path, auth.ProductsRead, "Get the feed of a factory", "With its last run.").
		Opening(httpapi.Nothing)
	get.Errors = []errs.Code{errs.WrongFactoryType}
	httpapi.Read(r, get, s.get)
	remove := op("deleteFeed", http.MethodDelete, path, auth.ProductsWrite, "Delete the feed of a factory",
		"Ends the feed and its schedule. Its products and its runs stay. Content that waits for its product stays "+
			"unscheduled.").Opening(httpapi.Deletion)
	remove.Errors = []errs.Code{errs.WrongFactoryType, errs.VersionMismatch, errs.InvalidState}
	httpapi.Write(r, remove, s.remove)

	sync := op("syncFeed", http.MethodPost, path+"/sync", auth.ProductsWrite, "Read a feed now",
		"Reads the feed in the background, and creates, changes and archives products as the feed says. Rows that are "+
			"not right are refused, and the others go on. If a fifth of the products of the feed or more are gone, "+
			"the run is `held` and changes nothing, until it is "+
			"confirmed. The next run, also that of the schedule, cancels it, and compares the feed again. The events "+
			"`feed.completed`, `feed.held` and `feed.failed` report its end. The schedule sends `feed.held` for the "+
			"first held run, and again only after a run has completed or was called for.").
		Opening(httpapi.Publishing)
	sync.Status = http.StatusAccepted
	sync.Errors = []errs.Code{errs.WrongFactoryType, errs.InvalidState}
	httpapi.Write(r, sync, s.sync)

	list := op("listFeedRuns", http.MethodGet, path+"/runs", auth.ProductsRead, "List the runs of a feed",
		"Newest first, without their refusals. Runs are kept for 90 days.").Opening(httpapi.Nothing)
	list.Errors = []errs.Code{errs.InvalidCursor}
	httpapi.List(r, list, s.runs)
	httpapi.Read(r, op("getFeedRun", http.MethodGet, path+"/runs/{run_id}", auth.ProductsRead, "Get a run of a feed",
		"With its counts and refusals.").Opening(httpapi.Copy), s.run)
}

// scopes are those that a feed uses: it changes products, publishes what they are in, and has content made again.
var scopes = []auth.Scope{auth.ProductsWrite, auth.ContentPublish, auth.ContentWrite}

// find reads the factory of a call and its feed, whose kind is empty if there is none.
func (s *Service) find(ctx context.Context, factoryID string, others ...store.Key) (f, it store.Item, r *Record,
	beside []store.Item, err error) {
	f, beside, err = resource.FindWith(ctx, s.db, id.Factory, factoryrecord.Kind, factoryID,
		append([]store.Key{shelf.Key(factoryID)}, others...)...)
	if err == nil && !factoryrecord.Usable(f, f.Owner) {
		err = errs.Missing(factoryrecord.Kind, factoryID)
	}
	if err != nil {
		return f, it, nil, nil, err
	}
	if it = beside[0]; it.Kind == shelf.Kind && it.Owner == f.Owner {
		r = &Record{}
		err = it.Decode(r)
	}
	return f, it, r, beside[1:], err
}

// must is find for a feed that there has to be.
func (s *Service) must(ctx context.Context, factoryID string) (it store.Item, r *Record, err error) {
	f, it, r, _, err := s.find(ctx, factoryID)
	if err == nil {
		err = factoryrecord.CheckSeller(f, "factory_id", "a feed")
	}
	if err == nil && r == nil {
		err = errs.New(errs.NotFound, "The factory has no feed. PUT sets one.")
	}
	return it, r, err
}

func (s *Service) get(ctx context.Context, in *factory.FactoryPath) (out Feed, err error) {
	_, r, err := s.must(ctx, in.ID)
	if err != nil {
		return out, err
	}
	return r.Feed, nil
}

func (s *Service) set(ctx context.Context, tx *store.Tx, in *setInput) (out Feed, err error) {
	b := in.Body
	if err := b.Rules(); err != nil {
		return out, err
	}
	m := incoming.Member{Param: "/source/media_id", Value: b.Source.MediaID, Type: media.Data}
	if b.Source.MediaID != "" && !m.IsID() {
		return out, errs.MissingAt(m.Param, "media", m.Value)
	}
	if p := auth.FromContext(ctx); b.RemakePerDay > 0 && !p.Has(auth.ContentWrite) {
		return out, errs.New(errs.InsufficientScope, "remake_per_day has content made again, which needs the scope "+
			"%s. Use a key that has it, or leave remake_per_day out.", auth.ContentWrite)
	}
	f, it, r, _, err := s.find(ctx, in.ID)
	if err == nil {
		err = factoryrecord.CheckSeller(f, "factory_id", "a feed")
	}
	if err != nil {
		return out, err
	}
	now, isNew := s.now(), r == nil
	if isNew {
		r = newRecord(now)
		r.FactoryID, r.CreatedAt, r.State = in.ID, resource.Instant(now), Idle
	}
	if err := httpapi.Matches(r.Version, []httpapi.IfMatch{in.IfMatch}); err != nil {
		return out, err
	}
	source := r.Source
	r.take(b)
	if err := r.check(); err != nil {
		return out, err
	}
	if b.Source.URL != "" && !resource.Equal(source.URL, r.Source.URL) && !isSandboxShop(f.Owner, b.Source.URL) {
		if err := s.urls.CheckURL(ctx, b.Source.URL); err != nil {
			return out, safehttp.InvalidURL(err, "/source/url")
		}
	}
	if b.Source.MediaID != "" {
		given, err := incoming.Read(ctx, s.db, []incoming.Member{m})
		if err != nil {
			return out, err
		}
		if _, err := given.For(f.Owner).File(m); err != nil {
			return out, err
		}
		if err := given.Use(tx, now); err != nil {
			return out, err
		}
	}
	// The same bytes may be read in another way, and other content may follow them.
	r.ETag, r.LastModified, r.Followed, r.HoldReported = "", "", shelf.Moment{}, false
	r.Authority = authority.Of(auth.FromContext(ctx), scopes...)
	if err := s.schedule(ctx, tx, now, f, r); err != nil {
		return out, err
	}
	if isNew {
		r.touch(now)
		if it, err = r.item(f.Owner); err != nil {
			return out, err
		}
		tx.Create(it, nil)
		return r.Feed, nil
	}
	return r.Feed, r.rewrite(tx, now, it)
}

// take takes the members of a body over.
func (r *Record) take(b createBody) {
	r.Source = Source{URL: resource.OrNil(b.Source.URL), MediaID: resource.OrNil(b.Source.MediaID)}
	r.Format, r.Mapping, r.Currency = b.Format, b.Mapping, resource.Text(b.Currency)
	if r.Mapping == nil {
		r.Mapping = map[string]string{}
	}
	r.Schedule, r.DailyTime = cmp.Or(b.Schedule, Manual), resource.Text(b.DailyTime)
	r.OnPriceChange, r.OnSoldOut = cmp.Or(b.OnPriceChange, shelf.Hold), cmp.Or(b.OnSoldOut, shelf.Hold)
	r.OnRemoved = cmp.Or(b.OnRemoved, shelf.Hold)
	r.RemakePerDay, r.Photos = b.RemakePerDay, cmp.Or(b.Photos, PhotosMain)
}

// schedule starts the timer of a feed.
func (s *Service) schedule(ctx context.Context, tx *store.Tx, now time.Time, f store.Item, r *Record) error {
	zone, err := zoneOf(&f)
	if err != nil {
		return err
	}
	clock, err := testclock.Now(ctx, s.db, f.Owner, now)
	if err != nil {
		return err
	}
	r.Round++
	if r.NextRunAt = r.next(clock, zone); r.NextRunAt == nil {
		return nil
	}
	return task.Create(tx, now, task.Task{Message: r.timer(f.Owner), DueAt: now.Add(r.NextRunAt.Sub(clock))},
		timing{r.Round})
}

// zoneOf returns the time zone of a factory.
func zoneOf(f *store.Item) (*time.Location, error) {
	var of struct {
		Schedule *factory.Schedule `json:"schedule"`
	}
	if err := f.Decode(&of); err != nil || of.Schedule == nil {
		return time.UTC, err
	}
	zone, err := time.LoadLocation(of.Schedule.Timezone)
	if err != nil {
		return time.UTC, nil // it was checked when it was set
	}
	return zone, nil
}

func (s *Service) remove(ctx context.Context, tx *store.Tx, in *changeInput) (out Feed, err error) {
	it, r, err := s.must(ctx, in.ID)
	if err == nil {
		err = httpapi.Matches(r.Version, []httpapi.IfMatch{in.IfMatch})
	}
	if err != nil {
		return out, err
	}
	if r.State == Syncing {
		return out, errs.New(errs.InvalidState, "A run of the feed is under way. Delete the feed once it has ended.").
			In(string(r.State), "get")
	}
	if err := r.cancelHeld(ctx, s.db, tx); err != nil {
		return out, err
	}
	tx.Delete(it)
	return r.Feed, r.startFollowing(tx, s.now(), it.Owner, shelf.Moment{}) // content waits for it no more
}

func (s *Service) sync(ctx context.Context, tx *store.Tx, in *syncInput) (out Run, err error) {
	it, r, err := s.must(ctx, in.ID)
	if err != nil {
		return out, err
	}
	if r.State == Syncing {
		return out, errs.New(errs.InvalidState, "The run %s is under way. Wait until it has ended.", r.LastRun.ID).
			In(string(r.State), "get")
	}
	now := s.now()
	r.Authority, r.HoldReported = authority.Of(auth.FromContext(ctx), scopes...), false
	if in.Body == nil || in.Body.ConfirmRunID == "" {
		if out, err = r.begin(ctx, s.db, tx, now, it.Owner); err != nil {
			return out, err
		}
		return out, r.rewrite(tx, now, it)
	}
	runID := in.Body.ConfirmRunID
	if r.LastRun == nil || r.LastRun.ID != runID || r.LastRun.State != Held {
		e := errs.New(errs.InvalidState, "Only the last run of the feed can be confirmed, while it is held.").
			In(string(r.State), "sync")
		if r.LastRun != nil {
			e.Message += fmt.Sprintf(" The last run is %s, and is %s.", r.LastRun.ID, r.LastRun.State)
		}
		e.Param = "/confirm_run_id"
		return out, e
	}
	found, run, err := s.runOf(ctx, in.ID, runID)
	if err != nil {
		return out, err
	}
	run.State, run.EndedAt, run.Confirmed = Queued, nil, true
	run.Attempt++
	short := run.Run.short()
	r.LastRun, r.State = &short, Syncing
	err = errors.Join(run.start(tx, now, it.Owner), tx.Rewrite(found, run), r.rewrite(tx, now, it))
	return run.Run, err
}

func (s *Service) runs(ctx context.Context, in *runsInput) (page httpapi.Page[Run], err error) {
	f, _, _, _, err := s.find(ctx, in.ID)
	if err != nil {
		return page, err
	}
	q := store.Query{Index: store.ByParent, Partition: RunsPartition(f.Owner, in.ID),
		Filters: map[string]string{"state": httpapi.AnyOf(in.State)}}
	return httpapi.ListItems(ctx, s.db, q, in.PageInput, func(it store.Item) (Run, error) {
		var r runRecord
		err := it.Decode(&r)
		return r.Run.short(), err
	})
}

// runOf reads a run of a factory.
func (s *Service) runOf(ctx context.Context, factoryID, runID string) (it store.Item, r *runRecord, err error) {
	it, err = resource.Find(ctx, s.db, id.FeedRun, "run", runID)
	if err != nil {
		return it, nil, err
	}
	r = &runRecord{}
	if err = it.Decode(r); err == nil && r.FactoryID != factoryID {
		err = errs.Missing("run", runID)
	}
	return it, r, err
}

func (s *Service) run(ctx context.Context, in *runInput) (out Run, err error) {
	it, r, err := s.runOf(ctx, in.ID, in.RunID)
	if err != nil {
		return out, err
	}
	out = r.Run
	if out.Refused > 0 && (out.State.ended() || out.Total > 0) {
		url, err := s.signer.URLFor(ctx, refusalsKey(it.Owner, out.ID), refusalsType, time.Hour)
		if err != nil {
			return out, err
		}
		out.RefusalsURL = &url
	}
	return out, nil
}
