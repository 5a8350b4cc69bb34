package automation

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/craft/source"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

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
	if r.Modified != "" {
		req.Header.Set("If-Modified-Since", r.Modified)
	}
	resp, err := w.client.Do(req)
	if err != nil {
		return nil, "", "", unreadable("The feed could not be fetched. %s", safehttp.Describe(err))
	}
	body, err := safehttp.ReadBody(resp, mostBytes)
	switch {
	case resp.StatusCode == http.StatusNotModified:
		return nil, r.ETag, r.Modified, nil
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
	took := func() { w.r.ETag, w.r.Modified = etag, modified }
	if w.r.Looked {
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
	w.r.Looked = true
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
