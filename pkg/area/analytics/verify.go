package analytics

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	job "github.com/content-automation/api/pkg/area/training"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/store"
)

// Settle is the longest time for which the change of an item may be uncounted.
const Settle = time.Minute

// ErrWrong is the error of sums that contradict the content.
var ErrWrong = errors.New("the analytics are not those of the content")

// errMoving is the error of sums that change all the time.
var errMoving = errors.New("the factory's content changes too often to compare it: try again")

// Report is the result of an inspection of a factory.
type Report struct {
	Account tenant.Account `json:"account"`
	Factory string         `json:"factory"`
	// Items counts the content items. Counted counts the subjects whose contributions were
	// counted, including those that were deleted since.
	Items   int `json:"items"`
	Counted int `json:"counted"`
	// Pending counts the items that changed within the last minute and are not counted yet.
	Pending int `json:"pending"`
	// Wrong names the first differences. WrongTotal is the number of all differences.
	Wrong      []string `json:"wrong"`
	WrongTotal int      `json:"wrong_total"`
	// Totals are the sums by metric.
	Totals map[string]int64 `json:"totals"`
}

// rollupMostNamed bounds the differences that a report names.
const rollupMostNamed = 20

func (r *Report) wrong(format string, args ...any) {
	if r.WrongTotal++; len(r.Wrong) < rollupMostNamed {
		r.Wrong = append(r.Wrong, fmt.Sprintf(format, args...))
	}
}

// Names has the names of the metrics, by their indexes in Amounts.
var Names = [metrics]string{"made", "failed", "published", "cost_credits", "views", "likes", "comments",
	"shares", "saves"}

// Verify computes the sums of a factory and compares them with the stored sums. It computes them from the content items
// and, for deleted items, from the contributions that were counted. It returns an error that wraps ErrWrong if they
// differ. Records may be counted during the comparison.
func Verify(ctx context.Context, db *store.DB, factory string, now time.Time) (Report, error) {
	return inspect(ctx, db, factory, now, false)
}

// Rebuild is like Verify, but also corrects the differences.
func Rebuild(ctx context.Context, db *store.DB, factory string, now time.Time) (Report, error) {
	return inspect(ctx, db, factory, now, true)
}

func inspect(ctx context.Context, db *store.DB, factory string, now time.Time, repair bool) (Report, error) {
	r := Report{Factory: factory, Wrong: []string{}}
	if !id.Valid(id.Factory, factory) {
		return r, noFactory(factory)
	}
	it, err := db.Get(ctx, factoryrecord.Key(factory))
	if errors.Is(err, store.ErrNotFound) {
		return r, noFactory(factory)
	}
	if err != nil {
		return r, err
	}
	r.Account = it.Account
	if err := r.items(ctx, db, it, now, repair); err != nil {
		return r, err
	}
	if err := r.sums(ctx, db, it, repair); err != nil {
		return r, err
	}
	if r.WrongTotal > 0 && !repair {
		return r, fmt.Errorf("%w: %d differences in %s", ErrWrong, r.WrongTotal, factory)
	}
	return r, nil
}

func noFactory(factory string) error { return fmt.Errorf("there is no factory %q", factory) }

// items compares the content items and the last training with their counted contributions.
func (r *Report) items(ctx context.Context, db *store.DB, factory store.Item, now time.Time, repair bool) error {
	name, _, err := zoneOf(factory)
	if err != nil {
		return err
	}
	in := inspection{db, name, now, repair}
	training, err := db.Lookup(ctx, job.Key(r.Factory))
	if err != nil {
		return err
	}
	if training.Kind == job.ItemKind {
		c, err := ofTraining(training)
		if err == nil {
			err = r.subjects(ctx, in, []change{c})
		}
		if err != nil {
			return err
		}
	}
	q := store.Query{Index: store.ByParent, Partition: item.ParentPartition(factory.Owner, r.Factory), Limit: 100,
		OldestFirst: true}
	for {
		page, err := item.List(ctx, db, q)
		if err != nil {
			return err
		}
		var changes []change
		for i, of := range page.Records {
			r.Items++
			c, err := ofContent(page.Items[i])
			if err != nil {
				return err
			}
			changes = append(changes, c)
			for _, p := range of.Item.Publications {
				changes = append(changes, ofPost(page.Items[i].Owner, item.Row{Publication: p,
					FactoryID: of.Item.FactoryID, ContentKind: of.Item.Kind}))
			}
		}
		if err := r.subjects(ctx, in, changes); err != nil {
			return err
		}
		if q.After = page.Next; page.Next == nil {
			return nil
		}
	}
}

// inspection has the parameters of a comparison of subjects: the time, the time zone, and whether
// to correct differences.
type inspection struct {
	db     *store.DB
	zone   string
	now    time.Time
	repair bool
}

// subjects compares the contributions of subjects with their counted contributions.
func (r *Report) subjects(ctx context.Context, in inspection, changes []change) error {
	changes = slices.DeleteFunc(changes, func(c change) bool { return len(c.Lines) == 0 })
	keys := make([]store.Key, len(changes))
	for i, c := range changes {
		keys[i] = store.Key{PK: partition(r.Factory), SK: countedItem + c.Subject}
	}
	known, err := in.db.GetAll(ctx, keys...)
	if err != nil {
		return err
	}
	for i, c := range changes {
		var was contribution
		if known[i].Kind != "" {
			if err := known[i].Decode(&was); err != nil {
				return err
			}
		}
		same := sameLines(was.Lines, c.Lines)
		switch {
		case same && (!in.repair || was.Zone == in.zone) || was.Version > c.Version:
			continue // the subject was read before its last change
		case same: // it was counted in a different time zone
		case was.Version < c.Version && in.now.Sub(c.Updated) < Settle:
			r.Pending++
		default:
			r.wrong("%s is not counted as of its version %d", c.Subject, c.Version)
		}
		if in.repair {
			if err := New(in.db).recount(ctx, r.Factory, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// recount counts a change even if its version was counted already.
func (k *Keeper) recount(ctx context.Context, factory string, c change) error {
	return store.Retry(func() error {
		_, err := k.countSome(ctx, factory, []change{c}, true)
		return err
	})
}

// sums compares the sums with the counted contributions.
func (r *Report) sums(ctx context.Context, db *store.DB, factory store.Item, repair bool) error {
	for range maxTries {
		stored, err := r.stored(ctx, db)
		if err != nil {
			return err
		}
		want, n, totals, err := r.expected(ctx, db)
		if err != nil {
			return err
		}
		again, err := r.stored(ctx, db)
		if err != nil {
			return err
		}
		if !maps.EqualFunc(stored, again, func(a, b store.Item) bool { return a.Version == b.Version }) {
			continue // a change was counted between the reads
		}
		r.Counted, r.Totals = n, totals
		found := *r
		wrong := found.compare(factory.Owner, stored, want)
		if repair {
			err = correct(ctx, db, wrong)
			if errors.Is(err, store.ErrConflict) {
				continue
			}
		}
		*r = found
		return err
	}
	return errMoving
}

// stored returns the items of sums by their sort keys.
func (r *Report) stored(ctx context.Context, db *store.DB) (map[string]store.Item, error) {
	all := map[string]store.Item{}
	for _, prefix := range []string{daySums, quarterSums} {
		q := store.Query{Index: store.Table, Partition: partition(r.Factory), From: prefix, To: prefix + after,
			Limit: 1000, OldestFirst: true}
		if err := db.Each(ctx, q, func(it store.Item) error { all[it.SK] = it; return nil }); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// expected returns the sums of the counted contributions, and the number of subjects.
func (r *Report) expected(ctx context.Context, db *store.DB) (all sums, n int, totals map[string]int64, err error) {
	all, totals = sums{}, map[string]int64{}
	for _, name := range Names {
		totals[name] = 0
	}
	q := store.Query{Index: store.Table, Partition: partition(r.Factory), From: countedItem, To: countedItem + after,
		Limit: 1000, OldestFirst: true}
	err = db.Each(ctx, q, func(it store.Item) error {
		n++
		var c contribution
		if err := it.Decode(&c); err != nil {
			return err
		}
		for _, l := range c.Lines {
			for metric, amount := range l.Amounts {
				totals[Names[metric]] += amount
			}
		}
		return c.countTo(all, 1)
	})
	return all, n, totals, err
}

// compare reports the differences, and returns the corrected items.
func (r *Report) compare(o tenant.Owner, stored map[string]store.Item, want sums) (wrong []store.Item) {
	keys := slices.Collect(maps.Keys(stored))
	for sk := range want {
		if _, ok := stored[sk]; !ok {
			keys = append(keys, sk)
		}
	}
	slices.Sort(keys)
	for _, sk := range keys {
		it, ok := stored[sk]
		if !ok {
			it = newItem(o, r.Factory, sk)
		}
		numbers := maps.Clone(want[sk])
		if numbers == nil {
			numbers = map[string]int64{}
		}
		maps.DeleteFunc(it.Numbers, func(name string, n int64) bool { return n == 0 })
		if maps.Equal(it.Numbers, numbers) {
			continue
		}
		r.wrong("%s of %s has %s, and should have %s", strings.TrimSuffix(sk, "#"), r.Factory, rollupShow(it.Numbers),
			rollupShow(numbers))
		it.Numbers = numbers
		wrong = append(wrong, it)
	}
	return wrong
}

// rollupShow returns numbers as text.
func rollupShow(numbers map[string]int64) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(numbers)) {
		all = append(all, fmt.Sprintf("%s=%d", name, numbers[name]))
	}
	return "{" + strings.Join(all, " ") + "}"
}

// correct writes items, each on the condition that it has not changed since it was read.
func correct(ctx context.Context, db *store.DB, wrong []store.Item) error {
	for _, it := range wrong {
		tx := &store.Tx{}
		tx.Put(it)
		if err := db.Commit(ctx, tx); err != nil {
			return err
		}
	}
	return nil
}
