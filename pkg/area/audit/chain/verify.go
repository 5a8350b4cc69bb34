package chain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

// Settle is the time for which an entry may be in no chain.
const Settle = time.Minute

// ErrBroken is the error of a chain that does not fit its entries.
var ErrBroken = errors.New("the audit log is not as it was written")

// Report is the result of the check of a chain.
type Report struct {
	Account string `json:"account"`
	Day     string `json:"day"`
	Entries int    `json:"entries"`
	Links   int    `json:"links"`
	// Pending are the entries of the last minute that are in no link, and Expired those
	// in links that are past their time.
	Pending int `json:"pending"`
	Expired int `json:"expired"`
	// Head is the hash of the last link. The log of the function chain has it, too.
	Head string `json:"head"`
}

// Verify computes a chain again from the table. It returns an error that wraps ErrBroken
// and names the first link or entry that has changed.
func Verify(ctx context.Context, db *store.DB, n Name, now time.Time) (Report, error) {
	r := Report{Account: string(n.Account), Day: n.Date()}
	known, err := r.links(ctx, db, n)
	if err != nil {
		return r, err
	}
	for _, mode := range []tenant.Mode{tenant.Live, tenant.Test} {
		owner := tenant.Of(n.Account, mode).String()
		if err := r.entries(ctx, db, n, owner, known[owner], now); err != nil {
			return r, err
		}
	}
	return r, nil
}

// links reads the links, and returns the hashes of the entries by partition and id.
func (r *Report) links(ctx context.Context, db *store.DB, n Name) (map[string]map[string]string, error) {
	known := map[string]map[string]string{}
	err := db.Each(ctx, store.Query{Index: store.Table, Partition: n.partition(), OldestFirst: true, Limit: 100},
		func(it store.Item) error {
			var l link
			if err := it.Decode(&l); err != nil {
				return fmt.Errorf("%w: link %s cannot be read", ErrBroken, it.SK)
			}
			switch {
			case it.SK != fmt.Sprintf("%08d", l.Sequence) || l.Chain != n.partition():
				return fmt.Errorf("%w: link %s is altered", ErrBroken, it.SK)
			case l.Sequence != r.Links+1:
				return fmt.Errorf("%w: link %d is missing", ErrBroken, r.Links+1)
			case l.Before != r.Head:
				return fmt.Errorf("%w: link %d is altered, or link %d", ErrBroken, r.Links, l.Sequence)
			}
			r.Links, r.Head = l.Sequence, hashOf(it)
			for _, e := range l.Entries {
				if known[e.Partition] == nil {
					known[e.Partition] = map[string]string{}
				}
				known[e.Partition][e.ID] = e.Hash
			}
			return nil
		})
	return known, err
}

// entries compares the entries of a partition with the hashes in the links.
func (r *Report) entries(ctx context.Context, db *store.DB, n Name, partition string, known map[string]string,
	now time.Time) error {
	first, what := "", ""
	note := func(id, found string) {
		if first == "" || id < first {
			first, what = id, found
		}
	}
	q := store.Query{
		Index: store.Table, Partition: partition, OldestFirst: true, Limit: 100,
		From: id.First(id.AuditEntry, n.Day), To: id.First(id.AuditEntry, n.Day.Add(day)),
	}
	err := db.Each(ctx, q, func(it store.Item) error {
		r.Entries++
		hash, covered := known[it.SK]
		delete(known, it.SK)
		is, err := it.Digest()
		if err != nil {
			return err
		}
		at, _ := id.Time(it.SK)
		switch {
		case covered && hash != is:
			note(it.SK, "altered")
		case !covered && now.Sub(at) < Settle:
			r.Pending++
		case !covered:
			note(it.SK, "in no link: it was added past the log, its link was removed, or the function chain is late")
		}
		return nil
	})
	if err != nil {
		return err
	}
	for missing := range known {
		if at, _ := id.Time(missing); now.Sub(at) >= Keep {
			r.Expired++
		} else {
			note(missing, "missing")
		}
	}
	if first != "" {
		return fmt.Errorf("%w: entry %s of %s is %s", ErrBroken, first, partition, what)
	}
	return nil
}
