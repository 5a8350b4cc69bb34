package transfer

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// OrphanMetric counts the objects without a record, once a day.
const OrphanMetric = "ObjectsWithoutRecord"

// settleAge is the age of an object from which on its record must be there. The files of a deleted resource stay for a
// day, and then their removal is tried until it succeeds.
const settleAge = 3 * 24 * time.Hour

// mostNamed bounds the objects that the log names.
const mostNamed = 100

// Lister lists the objects of the bucket.
type Lister interface {
	// List returns the next objects below a prefix after a key, in their order, and reports whether more follow.
	List(ctx context.Context, prefix, after string) (all []media.Object, more bool, err error)
}

// Comparer compares the bucket with the table: an object that no record has is counted by no quota, and no deletion
// finds it.
type Comparer struct {
	DB      *store.DB
	Objects Lister
	Now     func() time.Time
}

// Comparison is the result of a comparison.
type Comparison struct {
	// Objects is the number of objects of media, and Orphans that of those without a record, with their Bytes.
	Objects int   `json:"objects"`
	Orphans int   `json:"orphans"`
	Bytes   int64 `json:"bytes"`
	// AfterKey is the last key that was compared.
	AfterKey string `json:"after,omitempty"`
}

// CompareKind is the kind of the task of a comparison.
const CompareKind task.Kind = "files.compare"

// ServiceAccount owns the tasks that belong to no customer.
const ServiceAccount tenant.Account = "service"

// Compare has the bucket and the table compared, once a day: another call of the day does nothing.
func Compare(ctx context.Context, db *store.DB, now time.Time) error {
	day, tx := now.UTC().Format(time.DateOnly), &store.Tx{}
	if err := task.Create(tx, now, task.Task{Message: task.Message{ID: task.ID(CompareKind, day, 1), Kind: CompareKind,
		Queue: topology.Transfer, Subject: day, Owner: tenant.Of(ServiceAccount, tenant.Live)}}, nil); err != nil {
		return err
	}
	return db.CommitOnce(ctx, tx)
}

// pages is the number of pages of objects that one step compares.
const pages = 50

// Compare compares some of the objects. The last step reports the orphans by a metric and in the log.
func (c *Comparer) Compare(ctx context.Context, s *task.Run) error {
	var r Comparison
	if err := s.Recall("compared", &r); err != nil {
		return err
	}
	ctx = tenant.Unconfined(ctx)
	more := true
	for n := 0; n < pages && more; n++ {
		page, rest, err := c.Objects.List(ctx, "media/", r.AfterKey)
		if err == nil {
			err = c.compare(ctx, page, &r)
		}
		if err != nil {
			return task.Again(err)
		}
		if more = rest; len(page) > 0 {
			r.AfterKey = page[len(page)-1].Key
		}
	}
	if err := s.Keep("compared", r); err != nil || more {
		return errors.Join(err, s.Sleep(0))
	}
	metric.Add(OrphanMetric, int64(r.Orphans))
	slog.Info("bucket compared with table", "objects", r.Objects, "orphans", r.Orphans, "bytes", r.Bytes)
	return nil
}

// compare looks up the records of the objects of a page. Photos have none of their own: their product lists them.
func (c *Comparer) compare(ctx context.Context, page []media.Object, r *Comparison) error {
	of := map[string][]media.Object{}
	for _, o := range page {
		r.Objects++
		parts := strings.Split(o.Key, "/")
		if len(parts) < 5 || c.Now().Sub(o.At) < settleAge || id.Valid(id.Photo, parts[3]) {
			continue
		}
		of[parts[3]] = append(of[parts[3]], o)
	}
	ids := make([]string, 0, len(of))
	for resourceID := range of {
		ids = append(ids, resourceID)
	}
	for len(ids) > 0 {
		some := ids[:min(len(ids), 100)]
		ids = ids[len(some):]
		items, err := c.DB.GetAll(ctx, store.IDKeys(some)...)
		if err != nil {
			return err
		}
		for i, it := range items {
			for _, o := range of[some[i]] {
				parts := strings.Split(o.Key, "/")
				if it.Kind != "" && string(it.Owner.Account) == parts[1] && string(it.Owner.Mode) == parts[2] {
					continue
				}
				if r.Orphans++; r.Orphans <= mostNamed {
					slog.Warn("object without a record", "key", o.Key, "bytes", o.Bytes, "at", o.At)
				}
				r.Bytes += o.Bytes
			}
		}
	}
	return nil
}
