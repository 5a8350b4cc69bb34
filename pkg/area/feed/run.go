package feed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/craft/feed"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/event"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/record/shelf"
	"github.com/content-automation/api/pkg/record/testclock"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Objects stores the files of runs.
type Objects interface {
	// Open starts reading an object. It fails with not_found if there is none.
	Open(ctx context.Context, key string) (io.ReadCloser, error)
	// Put stores a file under its key, from its beginning.
	Put(ctx context.Context, f media.File, content io.ReadSeeker) error
}

// URLs fetches from the addresses of callers. NewClient returns an implementation.
type URLs interface {
	Do(req *http.Request) (*http.Response, error)
}

// fetchTime bounds one attempt to fetch a feed, and fetches is the number of attempts.
const (
	fetchTime = 5 * time.Minute
	fetches   = 4
)

// NewClient returns the client for the addresses of feeds.
func NewClient(loopback bool) *safehttp.Client {
	return safehttp.New(safehttp.Options{AllowLoopback: loopback, MaxBody: feed.MaxBytes + 1, Timeout: fetchTime,
		Redirects: safehttp.MaxRedirects, UserAgent: "content-automation-feeds/1"})
}

// Worker takes the tasks of feeds.
type Worker struct {
	DB      *store.DB
	Objects Objects
	URLs    URLs
	Now     func() time.Time
	// Content changes content that shows what a product was.
	Content Content
	// StepRows replaces the number of rows that one step writes, unless it is 0.
	StepRows int
}

// Handlers returns the functions of the tasks.
func (w *Worker) Handlers() map[task.Kind]task.Handler {
	return map[task.Kind]task.Handler{RunKind: task.Func(w.Run), TimerKind: task.Func(w.tick),
		PhotosKind: task.Func(w.photos), FollowKind: task.Func(w.Follow), Advance: w.advancer()}
}

// place is how far a run is.
type place struct {
	// Checked reports that the feed was read once, so that it is known to be whole. Applied is the number of its rows
	// that the catalog has, and AllApplied reports that it has all.
	Checked    bool `json:"checked,omitempty"`
	Applied    int  `json:"applied,omitempty"`
	AllApplied bool `json:"all_applied,omitempty"`
	// After is behind the products that were looked at for what is gone.
	After *store.Cursor `json:"after,omitempty"`
	// Counts are those of the run until here, and Late the refusals that the catalog has found, behind those in Spilled
	// files.
	Counts  Counts         `json:"counts"`
	Late    []feed.Refusal `json:"late,omitempty"`
	Spilled int            `json:"spilled,omitempty"`
	// Photos reports that products miss photos of the feed.
	Photos bool `json:"photos,omitempty"`
}

// failedError is an error that ends the run.
type failedError struct{ Failure }

func (f *failedError) Error() string { return f.Code + ": " + f.Message }

func failure(code, format string, args ...any) error {
	return &failedError{Failure{code, fmt.Sprintf(format, args...)}}
}

// sync is one step of a run.
type sync struct {
	*Worker
	task  *task.Run
	feed  *Record
	run   *runRecord
	place place
	shelf product.Shelf
	zone  *time.Location
}

// Run takes the next part of a run: it fetches and checks the feed, puts rows into the catalog, or archives products
// that are gone. The rows that one transaction writes are noted in it, so that a run that died goes on behind them.
func (w *Worker) Run(ctx context.Context, t *task.Run) error {
	s := &sync{Worker: w, task: t}
	if err := t.Recall("place", &s.place); err != nil {
		return err
	}
	if t.Cause() != nil {
		return s.fail(failure("internal", "Something went wrong on our side. Read the feed again."))
	}
	if err := t.Guard(ctx, nil); errors.Is(err, task.ErrDeaths) {
		return s.fail(failure("unreadable", "Reading the feed has ended our function %d times.", task.MostDeaths))
	} else if err != nil {
		return err
	}
	waits, err := s.load(ctx)
	if err == nil && !waits {
		return nil
	}
	if err == nil {
		err = s.next(ctx)
	}
	var failed *failedError
	var of *authority.EndedError
	var fault *feed.FaultError
	switch {
	case errors.As(err, &failed):
		return s.fail(failed)
	case errors.As(err, &of):
		return s.fail(failure(authority.Code, "%s Set the feed again, or call syncFeed, with another key.", of))
	case errors.As(err, &fault):
		return s.fail(failure("unreadable", "%s", fault.Message))
	case err != nil && !errors.Is(err, task.ErrMoved) && task.Waits(err) && !task.Sleeps(err):
		return task.Again(err)
	}
	return err
}

// load reads what a step needs. It reports false if the run does not wait for the task.
func (s *sync) load(ctx context.Context) (bool, error) {
	it, err := s.DB.Lookup(ctx, store.IDKey(s.task.Subject))
	if err != nil || it.Kind != RunItem {
		return false, err
	}
	s.run = &runRecord{}
	if err := it.Decode(s.run); err != nil || s.run.State.ended() ||
		task.ID(RunKind, s.run.ID, s.run.Attempt) != s.task.ID {
		return false, err
	}
	found, err := s.DB.GetAll(ctx, shelf.Key(s.run.FactoryID), factoryrecord.Key(s.run.FactoryID))
	if err != nil {
		return false, err
	}
	if found[0].Kind != shelf.Kind || !factoryrecord.Usable(found[1], s.task.Owner) {
		return true, failure("not_fetched", "The feed, or its factory, was deleted.")
	}
	s.feed = &Record{}
	if err := found[0].Decode(s.feed); err != nil {
		return false, err
	}
	by, err := s.feed.Authority.Find(ctx, s.DB, s.task.Owner, s.Now())
	if err == nil {
		err = authority.Lacks(by.Principal, auth.ProductsWrite)
	}
	if err != nil {
		return true, err
	}
	clock, err := testclock.Now(ctx, s.DB, s.task.Owner, s.Now())
	if err != nil {
		return false, err
	}
	s.zone, err = zoneOf(&found[1])
	s.shelf = product.Shelf{Owner: s.task.Owner, FactoryID: s.run.FactoryID, Now: s.Now(), Clock: clock,
		Steers: !by.Principal.Has(auth.ContentPublish), RunID: s.run.ID}
	return true, err
}

// next does what is next.
func (s *sync) next(ctx context.Context) error {
	if !s.place.Checked {
		return s.check(ctx)
	}
	file, err := s.spool(ctx, func() (io.ReadCloser, error) {
		return s.Objects.Open(ctx, feedKey(s.task.Owner, s.run.ID))
	})
	if err != nil {
		return err
	}
	defer file.Close()
	if !s.place.AllApplied {
		return s.apply(ctx, file)
	}
	return s.sweep(ctx, file)
}

// options say how the feed is read.
func (s *sync) options() feed.Options {
	of := s.run.Settings
	return feed.Options{Format: of.Format, Mapping: of.Mapping, Currency: of.Currency, Charset: of.Charset,
		Zone: s.zone}
}

// The objects of a run.
func feedKey(o tenant.Owner, runID string) string {
	return fmt.Sprintf("imports/%s/%s/%s/in/feed", o.Account, o.Mode, runID)
}

func refusalsKey(o tenant.Owner, runID string) string {
	return fmt.Sprintf("imports/%s/%s/%s/refusals.csv", o.Account, o.Mode, runID)
}

// earlyKey has the refusals of the feed, and lateKey some of the catalog.
func earlyKey(o tenant.Owner, runID string) string {
	return fmt.Sprintf("imports/%s/%s/%s/in/early", o.Account, o.Mode, runID)
}

func lateKey(o tenant.Owner, runID string, n int) string {
	return fmt.Sprintf("imports/%s/%s/%s/in/late-%d", o.Account, o.Mode, runID, n)
}

// refusalsType is the MIME type of the file of refusals.
const refusalsType = "text/csv"

// spool keeps a feed in a file of this machine.
func (s *sync) spool(ctx context.Context, open func() (io.ReadCloser, error)) (*media.SpooledFile, error) {
	body, err := open()
	if err != nil {
		return nil, err
	}
	file, err := media.Spool(ctx, body, feed.MaxBytes)
	_ = body.Close()
	if errors.Is(err, media.ErrTooLarge) || errors.Is(err, safehttp.ErrBodyTooLarge) {
		return nil, failure("unreadable", "The feed is larger than %d MB.", feed.MaxBytes>>20)
	}
	return file, err
}

// open starts reading the source. The answer is nil if it has not changed since the last run.
func (s *sync) open(ctx context.Context) (io.ReadCloser, error) {
	if s.feed.Source.MediaID != nil {
		it, err := s.DB.Lookup(ctx, store.IDKey(*s.feed.Source.MediaID))
		if err != nil {
			return nil, err
		}
		r := &incoming.Record{}
		if it.Kind != incoming.ItemKind || !s.task.Owner.Uses(it.Owner) || it.Decode(r) != nil || r.File == nil {
			return nil, failure("not_fetched", "The media %s is not there any more. Upload the feed again, and set "+
				"it as the source.", *s.feed.Source.MediaID)
		}
		return s.Objects.Open(ctx, r.File.Key)
	}
	if isSandboxShop(s.task.Owner, *s.feed.Source.URL) {
		return sandboxShop(s.shelf.Clock)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, *s.feed.Source.URL, nil)
	if err != nil {
		return nil, failure("not_fetched", "The URL is not valid.")
	}
	req.Header.Set("Accept-Encoding", "gzip")
	if s.feed.ETag != "" {
		req.Header.Set("If-None-Match", s.feed.ETag)
	}
	if s.feed.LastModified != "" {
		req.Header.Set("If-Modified-Since", s.feed.LastModified)
	}
	resp, err := s.URLs.Do(req)
	var blocked *safehttp.BlockedError
	last := s.task.Failures+1 >= fetches
	switch {
	case errors.As(err, &blocked), err != nil && last:
		return nil, failure("not_fetched", "The feed could not be fetched. %s", safehttp.Describe(err))
	case err != nil:
		return nil, err
	case resp.StatusCode == http.StatusOK && unasked(resp.Header.Get("Content-Encoding")):
		_ = resp.Body.Close()
		return nil, failure("not_fetched", "The server has compressed the feed as %.20q. Have it send the feed as it "+
			"is, or compressed by gzip, which is what is asked for.", resp.Header.Get("Content-Encoding"))
	case resp.StatusCode == http.StatusOK:
		s.run.Validators = [2]string{short(resp.Header.Get("ETag")), short(resp.Header.Get("Last-Modified"))}
		if _, params, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); err == nil {
			s.run.Settings.Charset = short(params["charset"])
		}
		return resp.Body, nil
	}
	_ = resp.Body.Close()
	switch pause, again := safehttp.Again(resp, s.Now()); {
	case resp.StatusCode == http.StatusNotModified && s.feed.ETag+s.feed.LastModified != "":
		return nil, nil
	case again && !last:
		return nil, &task.RetryError{Err: fmt.Errorf("feed: status %d", resp.StatusCode), MaxFailures: task.NoLimit,
			After: pause}
	}
	return nil, failure("not_fetched", "The feed could not be fetched: the server answered with status %d.",
		resp.StatusCode)
}

// unasked reports whether a body is compressed by anything but gzip.
func unasked(encoding string) bool {
	encoding = strings.ToLower(encoding)
	return slices.ContainsFunc([]string{"br", "deflate", "zstd", "compress"},
		func(other string) bool { return strings.Contains(encoding, other) })
}

// short returns a validator, or an empty text for one that is too long to be kept.
func short(validator string) string {
	if len(validator) > 200 {
		return ""
	}
	return validator
}

// change adds a change of the run and its feed to the end of the step.
func (s *sync) change(change func(tx *store.Tx, f *Record, r *runRecord) error) {
	s.task.Also(func(ctx context.Context, tx *store.Tx) error { return s.write(ctx, tx, change) })
}

// write adds a change of the run and its feed to a transaction. The feed may be deleted by then.
func (s *sync) write(ctx context.Context, tx *store.Tx,
	change func(tx *store.Tx, f *Record, r *runRecord) error) error {
	it, err := s.DB.Lookup(ctx, store.IDKey(s.task.Subject))
	if err != nil || it.Kind != RunItem {
		return err
	}
	r := &runRecord{}
	if err := it.Decode(r); err != nil {
		return err
	}
	of, f, err := find(ctx, s.DB, r.FactoryID)
	if err != nil {
		return err
	}
	if f == nil {
		f = &Record{}
	}
	was := r.State
	if err := change(tx, f, r); err != nil {
		return err
	}
	if of.Kind == shelf.Kind && f.LastRun != nil && f.LastRun.ID == r.ID && (was != r.State || r.State.ended()) {
		last := r.Run.short()
		f.LastRun = &last
		if err := f.rewrite(tx, s.Now(), of); err != nil {
			return err
		}
	}
	return tx.Rewrite(it, r)
}

// end ends the run in a state, with its event. A feed that stays cut is reported once, and not by each run of its
// schedule.
func (s *sync) end(state RunState, t event.Type, more func(tx *store.Tx, f *Record, r *runRecord) error) error {
	states := map[RunState]State{Completed: Idle, Failed: Failing, Held: Waiting}
	return s.task.End(func(ctx context.Context, tx *store.Tx) error {
		return s.write(ctx, tx, func(tx *store.Tx, f *Record, r *runRecord) error {
			if r.State.ended() {
				return task.ErrMoved
			}
			now := resource.Instant(s.Now())
			r.State, r.EndedAt, r.Counts = state, &now, s.place.Counts
			if r.StartedAt == nil {
				r.StartedAt = &now
			}
			reported := false
			if f.LastRun != nil && f.LastRun.ID == r.ID {
				reported = state == Held && f.HoldReported
				f.State, f.HoldReported = states[state], state == Held || f.HoldReported && state != Completed
			}
			if more != nil {
				if err := more(tx, f, r); err != nil {
					return err
				}
			}
			if reported {
				return nil
			}
			return notify(tx, s.Now(), s.task.Owner, t, r.Run)
		})
	})
}

// fail ends the run with a failure.
func (s *sync) fail(err error) error {
	var failed *failedError
	errors.As(err, &failed)
	return s.end(Failed, event.FeedFailed, func(_ *store.Tx, _ *Record, r *runRecord) error {
		r.Failure = &failed.Failure
		return nil
	})
}

// again ends the step. The next one goes on.
func (s *sync) again() error {
	return errors.Join(s.task.Keep("place", s.place), s.task.Sleep(0))
}
