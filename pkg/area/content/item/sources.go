package item

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/craft/source"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// Quoted is a source that the texts of an item quote.
type Quoted struct {
	Title       string         `json:"title" doc:"Title of the article"`
	URL         string         `json:"url" doc:"Address of the article"`
	PublishedAt *resource.Time `json:"published_at" doc:"Time at which it was published. Null if the source does not say it"`
}

// Reader reads sources. Workers have one: the package source/fetch.
type Reader interface {
	Read(ctx context.Context, s source.Source, cached source.Cache) (source.Cache, error)
}

var _ generate.Preparing = (*work)(nil)

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

// Prepare implements generate.Preparing: it reads the sources of the factory, and chooses the articles for the item. A
// source that cannot be read is left out, and so is what it had a day ago. Before scenes are chosen, it reads which
// ones other items have.
func (w *work) Prepare(ctx context.Context, db *store.DB, now time.Time) (func(generate.Work), error) {
	if w.Excerpt != nil && !w.Excerpt.Read {
		used, err := usedScenes(ctx, db, w.item.Owner, w.Record)
		return func(other generate.Work) {
			r := other.(*work).Record
			r.Excerpt.Used, r.Excerpt.Read = used, true
		}, err
	}
	sources := w.Brief.Sources
	if len(sources) == 0 || w.Read {
		return nil, nil
	}
	keys := make([]store.Key, len(sources))
	for i, s := range sources {
		keys[i] = cacheKey(w.FactoryID, s)
	}
	items, err := db.GetAll(ctx, keys...)
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
			all[i] = w.read(limited, db, now, s, items[i])
			return nil
		})
	}
	_ = group.Wait() // none fails: a source that cannot be read is left out
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	told := source.Choose(all, w.Prompt, now, time.Duration(w.Brief.MaxAge)*time.Hour)
	if len(told) == 0 && w.Brief.Sourced {
		return nil, provider.FailureOf(provider.FailedSources)
	}
	return func(other generate.Work) {
		r := other.(*work).Record
		r.Told, r.Read = told, true
	}, nil
}

// read returns what a source has now, or had not long ago.
func (w *work) read(ctx context.Context, db *store.DB, now time.Time, s source.Source, stored store.Item) source.Cache {
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
	if now.Sub(cached.Failed) < source.Fresh {
		return last
	}
	permitted, err := quota.OfHost(ctx, db, now, w.item.Owner, s.URL)
	if err != nil || !permitted {
		slog.Info("source not read", "item", w.ID, "source", s.ID(), "permitted", permitted, "error", err)
		return last
	}
	c, err := w.reader.Read(ctx, s, cached)
	switch {
	case errors.Is(err, context.Canceled): // not because of the source
		return last
	case err != nil:
		slog.Info("source not read", "item", w.ID, "source", s.ID(), "error", err)
		c = cached
		c.Source, c.Failed = s, now
	default:
		c.Failed, last = time.Time{}, c
	}
	doc, err := json.Marshal(c)
	if err == nil { // also after the time for reading, so that a slow source is not read at once again
		err = db.Note(context.WithoutCancel(ctx), store.Item{Key: cacheKey(w.FactoryID, s), Kind: cacheKind,
			ExpireAt: now.Add(source.Keep), Attributes: map[string]string{cacheAttribute: string(doc)}})
	}
	if err != nil {
		slog.Warn("source not kept", "item", w.ID, "source", s.ID(), "error", err)
	}
	return last
}

// told returns the articles that the writer may quote. Before they are read, they are as long as they can be, so that
// the price is for the longest prompt.
func (r *Record) told() []source.Article {
	if r.Read || len(r.Brief.Sources) == 0 {
		return r.Told
	}
	longest := strings.Repeat("語", source.MaxText)
	one := source.Article{Title: longest[:3*source.MaxTitle], URL: longest[:source.MaxURL], Text: longest}
	return slices.Repeat([]source.Article{one}, source.MaxChosen)
}

// quoted returns the sources that a text names.
func (r *Record) quoted(t provider.Text) []Quoted {
	all := []Quoted{}
	for i, a := range r.Told {
		if !slices.Contains(t.Sources, i+1) {
			continue
		}
		q := Quoted{Title: a.Title, URL: a.URL}
		if a.PublishedAt != nil {
			at := resource.Instant(*a.PublishedAt)
			q.PublishedAt = &at
		}
		all = append(all, q)
	}
	return all
}

// sourcesOf returns the sources with an address in settings, and leaves their addresses in the settings as the names of
// sources.
func sourcesOf(settings map[string]any) (all []source.Source) {
	listed, _ := settings["sources"].([]any)
	for i, one := range listed {
		if object, ok := one.(map[string]any); ok {
			s := source.Source{URL: words(object["url"]), Kind: source.Kind(words(object["kind"]))}
			all, listed[i] = append(all, s), s.URL
		}
	}
	return all
}

// lines returns a setting that is a list of texts.
func lines(setting any) (all []string) {
	listed, _ := setting.([]any)
	for _, one := range listed {
		all = append(all, words(one))
	}
	return all
}
