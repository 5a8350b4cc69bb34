package automation

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/area/quote"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/clock"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/craft/source"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/record/testclock"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Advance is the kind of the task that wakes the automations of a sandbox whose clock was moved.
const Advance task.Kind = "automation.advance"

// mostCaughtUp is the time before a moved clock for which an automation makes the items of each time of its trigger.
const mostCaughtUp = 31 * 24 * time.Hour

// StartAdvance adds the task to the transaction that wakes the automations of a sandbox whose clock was moved, so that
// those whose time has come make their items.
func StartAdvance(tx *store.Tx, now time.Time, account tenant.Account) error {
	return testclock.StartWaking(tx, now, account, Advance, topology.Settle)
}

// advancer returns the function of the task of StartAdvance.
func (s *Service) advancer() task.Func {
	return testclock.Waking(s.db, s.now, ItemKind, func(it store.Item) (*task.Message, error) {
		m := message(it.PK, it.Owner)
		return &m, nil
	})
}

// Handlers returns the functions of the tasks of automations.
func (s *Service) Handlers(parse Parser) map[task.Kind]task.Handler {
	return map[task.Kind]task.Handler{Kind: task.Func(worker{s, parse}.run), Advance: s.advancer()}
}

// worker takes the steps of the tasks.
type worker struct {
	*Service
	parse Parser
}

// most is the number of items that one step makes.
const most = 10

// keepEntries is the time for which an entry counts as done. A feed that shows an entry for longer is read again from
// the beginning of the automation alone.
const keepEntries = 2 * 365 * 24 * time.Hour

var errDone = errors.New("automation: the entry is done")

// run looks for new entries, and makes their items, for as long as the automation exists. Each item commits by itself:
// what a look has made before it died is found again, and not made again.
func (w worker) run(ctx context.Context, t *task.Run) error {
	var wait time.Duration
	ended := false
	err := store.Retry(func() (err error) {
		wait, ended, err = w.lookOnce(ctx, t)
		return err
	})
	switch {
	case err != nil:
		return task.Again(fmt.Errorf("automation: %s: %w", t.Subject, err))
	case ended:
		return nil
	}
	return t.Sleep(wait)
}

// lookOnce takes a look, and returns the wait until the next one, or that the automation has ended.
func (w worker) lookOnce(ctx context.Context, t *task.Run) (wait time.Duration, ended bool, err error) {
	it, err := w.db.Lookup(ctx, store.IDKey(t.Subject))
	if err != nil || it.PK == "" {
		return 0, err == nil, err
	}
	r := &run{worker: w, task: t, it: it, now: w.now()}
	if err := it.Decode(&r.r); err != nil {
		return 0, false, err
	}
	if it.Owner.Mode == tenant.Test && !r.now.Before(r.r.CreatedAt.Add(generate.SandboxLife)) {
		return 0, true, r.end(ctx)
	}
	if r.r.State != Active {
		return idle, false, nil
	}
	acting, err := r.enter(ctx)
	if err != nil || acting == nil {
		return idle, false, err
	}
	r.factory, _, err = w.factories.Find(acting, r.r.FactoryID)
	if errs.CodeOf(err) == errs.NotFound { // it was deleted
		return 0, true, r.end(acting)
	}
	if err != nil {
		return 0, false, err
	}
	wait, err = r.look(acting)
	return wait, false, err
}

// end deletes the automation.
func (w *run) end(ctx context.Context) error {
	tx := &store.Tx{}
	end(tx, w.now, w.it)
	return w.db.Commit(ctx, tx)
}

// run is one look of an automation.
type run struct {
	worker
	task *task.Run
	it   store.Item
	r    Record
	now  time.Time
	// day is the time of the entries for which the items of a day are counted. Zero: now.
	day     time.Time
	factory factory.Factory
	// authority is the authority with its present rights.
	authority authority.Holder
	// failing reports whether the look has failed.
	failing bool
	// spentUntil is the end of the day of a mandate whose credits are spent. Zero: none is.
	spentUntil time.Time
}

// enter returns a context in which the authority of the automation calls, with its present rights. If it has none, the
// automation ends, with an event that says why, and the context is nil.
func (w *run) enter(ctx context.Context) (context.Context, error) {
	var err error
	if w.authority, err = w.r.Authority.Find(ctx, w.db, w.it.Owner, w.now); err == nil {
		err = authority.Lacks(w.authority.Principal, auth.ContentWrite)
	}
	var ended *authority.EndedError
	switch {
	case errors.As(err, &ended):
		w.r.Failure = &Failure{Code: authority.Code, Message: ended.Error() + " Set the state to active with another " +
			"key to go on.", At: resource.Instant(w.now)}
		tx := &store.Tx{}
		if err := w.r.stop(tx, w.now, w.it.Owner); err != nil {
			return nil, err
		}
		w.authority.Hold(tx)
		return nil, w.write(ctx, tx)
	case err != nil:
		return nil, err
	}
	return auth.NewContext(ctx, w.authority.Principal), nil
}

// Recheck has the automation of an item look at its authority now.
func (s *Service) Recheck(ctx context.Context, it store.Item) error {
	tx := &store.Tx{}
	if err := task.Wake(tx, s.now(), message(it.PK, it.Owner)); err != nil {
		return err
	}
	return s.db.Commit(ctx, tx)
}

// look makes the items of what is new, and returns the wait until the next look.
func (w *run) look(ctx context.Context) (wait time.Duration, err error) {
	switch w.r.Trigger.Kind {
	case OfTime:
		return w.lookAtTime(ctx)
	case OfProduct:
		return w.lookAtProducts(ctx)
	default:
		return w.lookAtFeed(ctx)
	}
}

// lookAtTime makes the item of a time of the schedule that has come.
func (w *run) lookAtTime(ctx context.Context) (time.Duration, error) {
	c, err := testclock.Read(ctx, w.db, w.it.Owner)
	if err != nil {
		return 0, err
	}
	at, clock := w.r.NextAt.In(zone(w.factory)), w.now.Add(c.Ahead())
	if clock.Before(at) {
		return at.Sub(clock), nil
	}
	from := clock
	if c.Ahead() > 0 { // the times that a move has passed are made up for, those of an outage are not
		from, w.day = at, at
		if first := clock.Add(-mostCaughtUp); first.After(at) {
			from = first
		}
	}
	next, err := w.r.Trigger.next(w.factory, from)
	if err != nil {
		next = clock.Add(idle) // it was checked when it was set
	}
	w.r.NextAt = next
	if _, err := w.all(ctx, []entry{occurrence(at)}); err != nil {
		return 0, err
	}
	return max(next.Sub(clock), 0), w.save(ctx)
}

// lag is the time after which the index of products shows earlier ones.
const lag = time.Minute

// lookAtProducts makes the items of products that were added.
func (w *run) lookAtProducts(ctx context.Context) (time.Duration, error) {
	page, err := w.db.List(ctx, store.Query{Index: store.ByParent,
		Partition: product.Partition(w.it.Owner, w.r.FactoryID), Limit: mostEntries, OldestFirst: true,
		From: id.First(id.Product, w.r.Since)})
	if err != nil {
		return 0, err
	}
	var found []entry
	for _, it := range page.Items {
		p, err := product.Decode(&it)
		if err != nil {
			return 0, err
		}
		if p.State == product.Active {
			found = append(found, entry{key: p.ID, product: p.ID, values: map[string]string{"name": p.Name,
				"description": provider.Clip(string(p.Description), mostSummary), "url": address(p.URL)}})
		}
	}
	since := w.now.Add(-lag)
	if page.Next != nil { // the rest is next
		if made, ok := id.Time(page.Items[len(page.Items)-1].PK); ok {
			since = made
		}
	}
	wait, err := w.whole(ctx, found, productPeriod, func() {
		if since.After(w.r.Since) {
			w.r.Since = since
		}
	})
	if err == nil && page.Next != nil {
		wait = 0
	}
	return wait, err
}

// whole makes the items of entries. If it has made all, it notes that by took.
func (w *run) whole(ctx context.Context, found []entry, period time.Duration, took func()) (time.Duration, error) {
	fresh, err := w.fresh(ctx, found)
	if err != nil {
		return 0, err
	}
	left, err := w.all(ctx, fresh[:min(len(fresh), most)])
	if !w.failing && w.spentUntil.IsZero() {
		w.succeeded()
	}
	switch {
	case err != nil:
		return 0, err
	case w.r.State == Failed:
		return idle, w.save(ctx)
	case w.failing:
		return time.Duration(w.r.Failures) * period, w.save(ctx)
	case left: // the day is full
		return min(w.tomorrow(), fullPause), w.save(ctx)
	case !w.spentUntil.IsZero():
		return min(w.spentUntil.Sub(w.now), fullPause), w.save(ctx)
	case len(fresh) > most:
		return 0, w.save(ctx)
	}
	took()
	return period, w.save(ctx)
}

// fresh returns the entries that are not done.
func (w *run) fresh(ctx context.Context, found []entry) (fresh []entry, err error) {
	keys := make([]store.Key, 0, len(found))
	known := map[store.Key]bool{}
	for _, e := range found {
		if key := w.key(e); !known[key] {
			known[key] = true
			keys, fresh = append(keys, key), append(fresh, e)
		}
	}
	items, err := w.db.GetAll(ctx, keys...)
	if err != nil {
		return nil, err
	}
	var left []entry
	for i, e := range fresh {
		if items[i].Kind == "" {
			left = append(left, e)
		}
	}
	return left, nil
}

// key is the key of the item that notes that an entry is done.
func (w *run) key(e entry) store.Key {
	sum := sha256.Sum256([]byte(e.key))
	return store.IDKey("automated#" + w.r.ID + "#" + base64.RawURLEncoding.EncodeToString(sum[:]))
}

// done adds the note that an entry is done. The commit fails with errDone if it was done before.
func (w *run) done(tx *store.Tx, e entry) {
	tx.CreateExpiring(store.Item{Key: w.key(e), Kind: "automated", Owner: w.it.Owner, Doc: []byte("{}"),
		ExpireAt: w.now.Add(keepEntries)}, w.now.Unix(), errDone)
}

// all makes the items of entries, one after another, until one fails. It reports whether the day takes no more.
func (w *run) all(ctx context.Context, entries []entry) (full bool, err error) {
	day := w.now
	if !w.day.IsZero() {
		day = w.day
	}
	today := day.In(zone(w.factory)).Format(time.DateOnly)
	if w.r.Day != today {
		w.r.Day, w.r.Made = today, 0
	}
	for _, e := range entries {
		if w.r.Made >= w.r.MaxPerDay {
			return true, nil
		}
		if err := w.make(ctx, e); err != nil {
			return false, err
		}
		if w.failing || !w.spentUntil.IsZero() {
			return false, nil
		}
	}
	return false, nil
}

// make makes the item of an entry, and notes both in one transaction. If the API would refuse the
// call, the entry fails, and is not tried again.
func (w *run) make(ctx context.Context, e entry) error {
	tx, before := &store.Tx{}, w.r
	w.authority.Hold(tx)
	made, err := w.items.CreateFrom(ctx, tx, e.fill(w.r.Template, w.r.FactoryID, w.r.UTM, false))
	if err == nil {
		w.done(tx, e)
		w.r.Made++
		w.succeeded()
		w.r.note(Run{At: resource.Instant(w.now), Entry: e.key, ContentItemID: &made.ID})
		if err = w.write(ctx, tx); err == nil {
			return nil
		}
		w.r = before
	}
	var refused *errs.Error
	switch {
	case errors.Is(err, errDone):
		return nil
	case !errors.As(err, &refused) || refused.Code == errs.ProviderUnavailable || refused.Code == errs.Timeout:
		return err
	}
	if of, ok := refused.Context.(errs.SpendContext); ok && of.Mandate != "" {
		return w.leaveOut(e.key, refused, of)
	}
	_, err = w.failed(ctx, e.key, refused)
	return err
}

// failed notes a failure, and returns the wait until the next look.
func (w *run) failed(ctx context.Context, entry string, cause error) (time.Duration, error) {
	tx := &store.Tx{}
	if err := w.r.fail(tx, w.now, w.it.Owner, entry, cause); err != nil {
		return 0, err
	}
	if err := w.write(ctx, tx); err != nil {
		return 0, err
	}
	w.failing = true
	if w.r.State == Failed {
		return idle, nil
	}
	return time.Duration(w.r.Failures) * feedPeriod, nil
}

// succeeded begins the count of failures in a row anew: a look that finds nothing new is a success, too.
func (w *run) succeeded() { w.r.Failures, w.r.Failure = 0, nil }

// save writes what a look has found out.
func (w *run) save(ctx context.Context) error { return w.write(ctx, &store.Tx{}) }

// write commits a transaction with the automation as it is now.
func (w *run) write(ctx context.Context, tx *store.Tx) error {
	if err := tx.Rewrite(w.it, w.r); err != nil {
		return err
	}
	err := w.db.Commit(ctx, tx)
	if err == nil {
		w.it.Version++
	}
	return err
}

// tomorrow returns the time until the next day of the factory.
func (w *run) tomorrow() time.Duration {
	now := w.now.In(zone(w.factory))
	return clock.On(now, 24*time.Hour).Sub(now)
}

// address returns the text of an address that may be nil.
func address(u *string) string {
	if u == nil {
		return ""
	}
	return *u
}

// Parser returns the entries of a feed. The worker gives it: the function that answers calls does not link what reads
// feeds.
type Parser func(ctx context.Context, body []byte) ([]source.Entry, error)

// fetcher fetches a feed.
type fetcher interface {
	Do(req *http.Request) (*http.Response, error)
}

// FeedOptions are the options of the client for feeds.
func FeedOptions() safehttp.Options {
	return safehttp.Options{MaxBody: mostBytes, Timeout: feedTime, Redirects: safehttp.MaxRedirects}
}

const (
	mostBytes = 2 << 20
	feedTime  = 8 * time.Second
	// mostEntries is the number of entries of a feed that are looked at, the first ones: a transaction notes all.
	mostEntries = 90
)

// codeUnreadable is the code of the failure of a feed.
const codeUnreadable errs.Code = "feed_unreadable"

func unreadable(format string, args ...any) error {
	return &errs.Error{Code: codeUnreadable, Message: fmt.Sprintf(format, args...)}
}

// feed fetches the feed of an automation. It returns the zero values if the feed has not changed.
func (w worker) feed(ctx context.Context, r *Record) (found []entry, etag, modified string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.Trigger.URL, nil)
	if err != nil {
		return nil, "", "", unreadable("The feed has no valid URL.")
	}
	req.Header.Set("Accept", "application/atom+xml, application/rss+xml, application/feed+json, application/xml;q=0.9")
	if r.ETag != "" {
		req.Header.Set("If-None-Match", r.ETag)
	}
	if r.LastModified != "" {
		req.Header.Set("If-Modified-Since", r.LastModified)
	}
	resp, err := w.client.Do(req)
	if err != nil {
		return nil, "", "", unreadable("The feed could not be fetched. %s", safehttp.Describe(err))
	}
	body, err := safehttp.ReadBody(resp, mostBytes)
	switch {
	case resp.StatusCode == http.StatusNotModified:
		return nil, r.ETag, r.LastModified, nil
	case resp.StatusCode != http.StatusOK:
		return nil, "", "", unreadable("The feed could not be fetched: the server answered with status %d.",
			resp.StatusCode)
	case errors.Is(err, safehttp.ErrBodyTooLarge):
		return nil, "", "", unreadable("The feed is larger than %d MiB.", mostBytes>>20)
	case err != nil:
		return nil, "", "", unreadable("The feed could not be fetched. %s", safehttp.Describe(err))
	}
	entries, err := w.parse(ctx, body)
	if err != nil {
		return nil, "", "", unreadable("The feed is neither RSS, nor Atom, nor a JSON feed, or has too many elements.")
	}
	for _, e := range entries[:min(len(entries), mostEntries)] {
		if e.Key != "" {
			found = append(found, entry{key: e.Key, published: e.PublishedAt, values: map[string]string{
				"title": line(e.Title, mostTitle), "summary": line(e.Summary, mostSummary), "url": e.URL}})
		}
	}
	return found, resp.Header.Get("ETag"), resp.Header.Get("Last-Modified"), nil
}

// line returns a text on one line, of at most so many characters.
func line(text string, most int) string {
	return provider.Clip(strings.Join(strings.Fields(text), " "), most)
}

// lookAtFeed makes the items of entries of the feed that are new.
func (w *run) lookAtFeed(ctx context.Context) (time.Duration, error) {
	if permitted, err := quota.OfHost(ctx, w.db, w.now, w.it.Owner, w.r.Trigger.URL); err != nil || !permitted {
		return feedPeriod, err
	}
	switch err := w.task.GuardShared(ctx); {
	case errors.Is(err, task.ErrDeaths):
		return idle, w.giveUp(ctx)
	case err != nil:
		return 0, err
	}
	found, etag, modified, err := w.feed(ctx, &w.r)
	if err != nil {
		return w.failed(ctx, w.r.Trigger.URL, err)
	}
	took := func() { w.r.ETag, w.r.LastModified = etag, modified }
	if w.r.FeedRead {
		return w.whole(ctx, found, feedPeriod, took)
	}
	// The first read that succeeds marks the entries older than the automation as seen, so that the backlog is not
	// posted.
	fresh, err := w.fresh(ctx, found)
	if err != nil {
		return 0, err
	}
	tx, wait := &store.Tx{}, feedPeriod
	for _, e := range fresh {
		if w.since(e) {
			wait = 0 // the next look makes its item
			continue
		}
		w.done(tx, e)
	}
	w.r.FeedRead = true
	w.succeeded()
	if wait > 0 {
		took()
	}
	return wait, w.write(ctx, tx)
}

// giveUp ends an automation whose feed ends each function that reads it.
func (w *run) giveUp(ctx context.Context) error {
	tx := &store.Tx{}
	w.r.missed(w.now, w.r.Trigger.URL, errs.As(unreadable("The feed could not be read: what it has ended the work "+
		"three times. Name another feed, and set the state to active to go on.")))
	if err := w.r.stop(tx, w.now, w.it.Owner); err != nil {
		return err
	}
	return w.write(ctx, tx)
}

// since reports whether an entry is dated after the automation began. Dates in the future say nothing.
func (w *run) since(e entry) bool {
	return e.published != nil && e.published.After(w.r.Since) && !e.published.After(w.now) && !w.r.Since.IsZero()
}

// fullPause is the longest wait on a day that takes no more: a person may permit more meanwhile.
const fullPause = 6 * time.Hour

// leaveOut notes that an item was not made because the day of a mandate is spent. That is the bound that a person has
// set, and no failure of the automation.
func (w *run) leaveOut(entry string, cause *errs.Error, of errs.SpendContext) (err error) {
	if w.spentUntil, err = time.Parse(time.RFC3339, of.DayEndsAt); err != nil {
		return fmt.Errorf("automation: the end of the day of %s: %w", of.Mandate, err)
	}
	if last := w.r.LastRun; last == nil || last.Entry != entry || last.Failure == nil ||
		last.Failure.Message != cause.Message {
		w.r.missed(w.now, entry, cause)
	}
	return nil
}

// The time ahead for which a rehearsal shows the runs at times, and the most that it shows.
const (
	rehearsedAhead = 7 * 24 * time.Hour
	mostRehearsed  = 50
)

// trial is an automation, and the settings to try on it.
type trial struct {
	*Record
	factory factory.Factory
	owner   tenant.Owner
}

// rehearse ends a rehearsal of an automation, which has filled a transaction.
func (s *Service) rehearse(ctx context.Context, tx, filled *store.Tx, terms *quote.Terms, r trial) (out Details,
	err error) {
	now := s.now()
	clock, err := testclock.Now(ctx, s.db, auth.FromContext(ctx).Owner, now)
	if err != nil {
		return out, err
	}
	r.CreatedBy = auth.FromContext(ctx).Actor.ID // what was refused is shown as well
	times := []*resource.Time{nil}
	if r.Trigger.Kind == OfTime {
		if times, err = r.times(clock); terms.Meet(err) != nil {
			return out, err
		}
	}
	one, err := content.Rehearser{Service: s.items}.Rehearse(ctx, terms, sampleOf(r.Trigger.Kind, now).fill(r.Template,
		r.FactoryID, r.UTM, true), inTemplate)
	if err != nil {
		return out, err
	}
	for _, at := range times {
		if one != nil {
			item := *one
			item.PublishAt = at
			terms.Add(item, "", "")
		}
	}
	out = r.Details
	out.Rehearsal, err = terms.Close(ctx, s.db, tx, filled, r.owner)
	return out, err
}

// times returns the next times at which an automation makes an item, of each day no more than it may.
func (r trial) times(now time.Time) (all []*resource.Time, err error) {
	day, made, at := "", 0, now
	for len(all) < mostRehearsed {
		if at, err = r.Trigger.next(r.factory, at); err != nil || at.Sub(now) > rehearsedAhead {
			return all, err
		}
		if of := at.Format(time.DateOnly); of != day {
			day, made = of, 0
		}
		if made++; made > r.MaxPerDay {
			at = clock.On(at, 24*time.Hour).Add(-1) // of this day no more are made
			continue
		}
		next := resource.Instant(at)
		all = append(all, &next)
	}
	return all, nil
}
