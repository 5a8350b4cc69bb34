package item

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/craft/source"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/store"
)

// readAtOnce is the number of sources that are read at the same time, and readTime bounds the reading of all.
const (
	readAtOnce = 6
	readTime   = 20 * time.Second
)

// The items of the table with what a source had when it was last read, by factory. They have no version: the last
// reader wins.
const (
	cacheKind      = "content_source"
	cacheAttribute = "cache"
)

func cacheKey(factoryID string, s source.Source) store.Key {
	return store.Key{PK: "content_sources#" + factoryID, SK: s.ID()}
}

// unread reports whether the item draws on sources that were not read for the attempt.
func (w *work) unread() bool { return len(w.record.Brief.Sources) > 0 && !w.record.Attempt.SourcesRead }

// SourceReading reads the sources of a factory. What was read is kept, so that none is read too often.
type SourceReading struct {
	DB        *store.DB
	Owner     tenant.Owner
	FactoryID string
	Reader    Reader
}

// Read returns what some sources have now, in their order. One that cannot be read is left out, and so is what it had a
// day ago.
func (r *SourceReading) Read(ctx context.Context, now time.Time, sources []source.Source) ([]source.Cache, error) {
	keys := make([]store.Key, len(sources))
	for i, s := range sources {
		keys[i] = cacheKey(r.FactoryID, s)
	}
	items, err := r.DB.GetAll(ctx, keys...)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	all := make([]source.Cache, len(sources))
	var group errgroup.Group
	group.SetLimit(readAtOnce)
	for i, s := range sources {
		group.Go(func() error {
			all[i] = r.read(limited, now, s, items[i])
			return nil
		})
	}
	_ = group.Wait() // none fails: a source that cannot be read is left out
	return all, ctx.Err()
}

// readSources reads the sources of the factory, and chooses the articles for the item.
func (w *work) readSources(ctx context.Context, db *store.DB, now time.Time) (func(generate.Work), error) {
	all, err := (&SourceReading{DB: db, Owner: w.item.Owner, FactoryID: w.record.Item.FactoryID, Reader: w.reader}).
		Read(ctx, now, w.record.Brief.Sources)
	if err != nil {
		return nil, err
	}
	told := source.Choose(all, w.record.Item.Prompt, now, time.Duration(w.record.Brief.MaxAge)*time.Hour)
	if len(told) == 0 && w.record.Brief.Sourced {
		return nil, provider.FailureOf(provider.FailedSources)
	}
	return func(other generate.Work) {
		r := other.(*work).record
		r.Attempt.Articles, r.Attempt.SourcesRead = told, true
	}, nil
}

// read returns what a source has now, or had not long ago.
func (r *SourceReading) read(ctx context.Context, now time.Time, s source.Source, stored store.Item) source.Cache {
	var cached source.Cache
	if text := stored.Attributes[cacheAttribute]; text != "" && json.Unmarshal([]byte(text), &cached) != nil ||
		cached.Source != s {
		cached = source.Cache{}
	}
	if now.Sub(cached.At) < source.Fresh {
		return cached
	}
	last := cached
	if now.Sub(cached.At) >= source.Keep {
		last = source.Cache{}
	}
	if now.Sub(cached.FailedAt) < source.Fresh {
		return last
	}
	permitted, err := quota.OfHost(ctx, r.DB, now, r.Owner, s.URL)
	if err != nil || !permitted {
		slog.Info("source not read", "factory", r.FactoryID, "source", s.ID(), "permitted", permitted, "error", err)
		return last
	}
	c, err := r.Reader.Read(ctx, s, cached)
	switch {
	case errors.Is(err, context.Canceled): // not because of the source
		return last
	case err != nil:
		slog.Info("source not read", "factory", r.FactoryID, "source", s.ID(), "error", err)
		c = cached
		c.Source, c.FailedAt = s, now
	default:
		c.FailedAt, last = time.Time{}, c
	}
	doc, err := json.Marshal(c)
	if err == nil { // also after the time for reading, so that a slow source is not read at once again
		err = r.DB.Note(context.WithoutCancel(ctx), store.Item{Key: cacheKey(r.FactoryID, s), Kind: cacheKind,
			ExpireAt: now.Add(source.Keep), Attributes: map[string]string{cacheAttribute: string(doc)}})
	}
	if err != nil {
		slog.Warn("source not kept", "factory", r.FactoryID, "source", s.ID(), "error", err)
	}
	return last
}

var _ generate.Looking = (*work)(nil)

// Look implements generate.Looking. The finished media show no logo and no name if one of the accounts that the item
// may be published to is of a platform that permits none, unless the settings have a place for the logo there. The
// accounts are those of the item and of its factory, as they are now.
func (w *work) Look(ctx context.Context, db *store.DB) (look generate.Look, err error) {
	if !w.record.Brief.Brand.Shows() && w.writer.offer() == nil && w.record.Brief.Logo == nil &&
		w.writer.bumpers() == 0 {
		return look, nil
	}
	rows, err := w.platforms(ctx, db)
	if err != nil {
		return look, err
	}
	var platforms []string
	for _, p := range rows {
		platforms = append(platforms, p.Name)
		look.Plain = look.Plain || p.Capabilities.Plain && !w.record.Brief.Logo.shown(p.Name)
	}
	if w.record.Brief.Logo != nil {
		look.Place = w.record.Brief.Logo.at(platforms)
	}
	return look, nil
}

func (w *work) Show(look generate.Look) { w.look = look }
