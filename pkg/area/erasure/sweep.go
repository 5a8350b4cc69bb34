package erasure

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/crm"
	"github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/area/transfer"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

const (
	// sweepPause is the time between two passes over the table: tasks go on in it, and the analytics count the last
	// deletions.
	sweepPause = 20 * time.Second
	// patience is the time for which tasks may work on. Those that take longer are deleted: the kernel finds no task
	// for their messages, and commits nothing.
	patience = 48 * time.Hour
	// pagesAtOnce is the number of parts of the table that one step reads, of a megabyte each.
	pagesAtOnce = 50
	// mostRemoved is the number of items that one transaction removes.
	mostRemoved = 100
)

// sweep deletes what is left of the next part of the table. A pass that finds nothing ends the stage.
func (w *Worker) sweep(ctx context.Context, s *task.Run, r *Record, p *progress) (pause time.Duration, err error) {
	b := w.broom(s, r, p)
	for n := 0; n == 0 || n < pagesAtOnce && p.Scan != nil; n++ {
		page, err := w.DB.Scan(ctx, p.Scan)
		if err == nil {
			err = b.takeAll(ctx, page.Items)
		}
		if err != nil {
			return 0, err
		}
		p.Scan = page.Next
	}
	if err := b.flush(ctx); err != nil {
		return 0, err
	}
	p.Items += b.removed
	p.Found = p.Found || b.removed > 0 || b.waits
	switch {
	case p.Scan != nil:
	case p.Found:
		p.Found, pause = false, sweepPause
	default:
		p.enter(sweepLast, w.Now())
	}
	return pause, nil
}

// sweepLast deletes the people and the account, which are found by their keys.
func (w *Worker) sweepLast(ctx context.Context, s *task.Run, r *Record, p *progress) error {
	if !r.Whole() {
		return w.end(ctx, s, r, p)
	}
	b := w.broom(s, r, p)
	people := store.Query{Index: store.Table, Partition: credential.People(r.Scope.Account), Limit: mostRemoved,
		OldestFirst: true, Expired: true}
	page, err := w.DB.List(ctx, people)
	if err != nil {
		return err
	}
	if len(page.Items) == 0 {
		it, err := w.DB.Lookup(ctx, store.IDKey(string(r.Scope.Account)))
		if err != nil {
			return err
		}
		if it.Kind == account.Kind {
			page.Items = append(page.Items, it)
		}
	}
	if err := errors.Join(b.takeAll(ctx, page.Items), b.flush(ctx)); err != nil {
		return err
	}
	if p.Items += b.removed; b.removed == 0 {
		return w.end(ctx, s, r, p)
	}
	return nil
}

func (w *Worker) broom(s *task.Run, r *Record, p *progress) *broom {
	return &broom{w: w, r: r, all: p.Stage == sweepLast, own: s.ID, late: w.Now().Sub(p.Since) > patience}
}

// broom removes the items of one part of the table.
type broom struct {
	w *Worker
	r *Record
	// all also takes the people and the account, whom tasks may need until then.
	all bool
	// own is the task of the erasure itself.
	own  string
	late bool
	// keys are those of the items that are removed together in the end.
	keys    []store.Key
	removed int
	// waits reports that a task still works for the scope.
	waits bool
}

// covers reports whether an item belongs to what is erased. A counter has no owner, but the id of one in its key.
func covers(scope tenant.Owner, it store.Item) bool {
	switch {
	case it.Account == "":
		of := string(scope.Account)
		if scope.Profile != "" {
			of = string(scope.Profile)
		}
		return slices.Contains(strings.FieldsFunc(it.PK+"#"+it.SK, func(c rune) bool { return c == '#' || c == '/' }),
			of)
	case scope.Profile == "":
		return it.Account == scope.Account
	}
	return it.Owner == scope
}

// stays reports whether an item outlives the erasure.
func (b *broom) stays(it store.Item) bool {
	switch {
	case it.PK == b.own, it.PK == Key(b.r.Scope).PK, removesFile(it):
		return true
	case !b.r.Whole():
		return ByName[it.Kind].Kept || it.PK == b.r.kept() || it.PK == transfer.ExportTask(b.r.kept())
	case it.Kind == Kind: // the note about a profile of the account
		return false
	}
	return ByName[it.Kind].Kept || !b.all && (it.Kind == person.Kind || it.Kind == account.Kind)
}

// removesFile reports whether an item is the task of a deleted media, which removes its file a day after the deletion.
func removesFile(it store.Item) bool {
	var t task.Task
	return it.Kind == task.ItemKind && !task.Over(it) && it.Decode(&t) == nil &&
		(t.Kind == media.Kind || t.Kind == media.Photo)
}

func (b *broom) takeAll(ctx context.Context, items []store.Item) error {
	for _, it := range items {
		if err := b.take(ctx, it); err != nil {
			return err
		}
	}
	return nil
}

func (b *broom) take(ctx context.Context, it store.Item) error {
	if !covers(b.r.Scope, it) {
		return nil
	}
	if it.Kind == ledger.Kind && b.r.Whole() {
		return b.strip(ctx, it)
	}
	if b.stays(it) {
		return nil
	}
	if it.Kind == task.ItemKind && b.works(it) {
		b.waits = true
		return nil
	}
	switch {
	case it.Kind == person.Kind:
		if err := b.forget(ctx, it); err != nil {
			return err
		}
	case it.Kind == crm.Kind:
		b.keys = append(b.keys, crm.CountKeys(it.PK)...)
	case it.Kind == social.Kind:
		b.keys = append(b.keys, social.ScheduledKey(it.PK))
	}
	b.removed++
	if len(it.Attributes) > 0 && !b.r.Whole() {
		// What a profile has made counts with its account, too.
		tx := &store.Tx{}
		quota.Free(tx, b.w.Now(), it)
		tx.Delete(it)
		err := b.w.DB.Commit(ctx, tx)
		if errors.Is(err, store.ErrConflict) { // it has changed, or its count has ended
			b.keys, err = append(b.keys, it.Key), nil
		}
		return err
	}
	if b.keys = append(b.keys, it.Key); len(b.keys) < mostRemoved {
		return nil
	}
	return b.flush(ctx)
}

// works reports whether a task still has something to do. One that waits for long, for a next look at what is gone, has
// not.
func (b *broom) works(it store.Item) bool {
	var t task.Task
	return !task.Over(it) && !b.late && it.Decode(&t) == nil && (!t.Parked || t.Failures > 0)
}

// flush removes the items that were taken.
func (b *broom) flush(ctx context.Context) error {
	for keys := range slices.Chunk(b.keys, mostRemoved) {
		tx := &store.Tx{}
		for _, k := range keys {
			tx.Remove(k)
		}
		if err := b.w.DB.Commit(ctx, tx); err != nil {
			return err
		}
	}
	b.keys = nil
	return nil
}

// strip removes the customer's own texts from an entry of the ledger, which stays.
func (b *broom) strip(ctx context.Context, it store.Item) error {
	changed, err := Strip(&it)
	if err != nil || !changed {
		return err
	}
	tx := &store.Tx{}
	tx.Replace(it)
	return b.w.DB.Commit(ctx, tx)
}

// Strip removes the customer's own texts from an entry of the ledger, and reports whether it had any.
func Strip(it *store.Item) (changed bool, err error) {
	var doc map[string]any
	if err := it.Decode(&doc); err != nil {
		return false, err
	}
	if texts, _ := doc["metadata"].(map[string]any); len(texts) == 0 {
		return false, nil
	}
	doc["metadata"] = map[string]string{}
	return true, it.Encode(doc)
}

// forget deletes a person who signs in, unless the address is that of a person of another account.
func (b *broom) forget(ctx context.Context, it store.Item) error {
	if b.w.People == nil {
		return nil
	}
	r, err := person.Read(&it, b.w.Now())
	if err != nil {
		return err
	}
	// Without an item, an earlier step has removed it, or the address is nobody's.
	at, err := b.w.DB.Lookup(ctx, store.IDKey(person.Emails(r.Email)))
	if err != nil || at.Account != "" && at.Account != b.r.Scope.Account {
		return err
	}
	_, err = b.w.People.Forget(ctx, r.Email)
	return err
}
