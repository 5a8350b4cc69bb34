package erasure

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/crm"
	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/area/training"
	"github.com/content-automation/api/pkg/area/transfer"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate"
	keyrecord "github.com/content-automation/api/pkg/record/apikey"
	"github.com/content-automation/api/pkg/record/auditlog"
	"github.com/content-automation/api/pkg/record/connection"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/record/shelf"
	templaterecord "github.com/content-automation/api/pkg/record/template"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// People are the people who sign in, outside of the table.
type People interface {
	// Forget deletes all people with an e-mail address, and returns their number. Repeated it finds none.
	Forget(ctx context.Context, email string) (int, error)
}

// Worker takes the steps of erasures. Whatever a step does can be done again: what is gone is not found, and a step
// that is taken twice finds less.
type Worker struct {
	Deleter
	// Entries is the audit table, and EntryRegion the region that writes it. Nil: nothing is noted.
	Entries     *store.DB
	EntryRegion string
	// People is nil in a system whose people are not stored by it.
	People People
}

// stage is a part of the work. Each begins after the one before has ended.
type stage int

const (
	// wait waits for the date and for the last export.
	wait stage = iota
	// stop ends what acts without a call: keys, social accounts with what is scheduled on them, CRMs, sign-on.
	stop
	// settle waits until the platforms have revoked the tokens.
	settle
	// remove deletes what was made, each as its own operation does.
	remove
	// sweep deletes all other items, once no task works for the scope.
	sweep
	// sweepLast deletes the people and the account.
	sweepLast
	// over is the end.
	over
)

// progress is how far an erasure is.
type progress struct {
	Stage stage `json:"stage"`
	// Pass is the place in remove, of the Mode-th mode.
	Pass
	Mode int `json:"mode,omitempty"`
	// Scan is the position of the sweep in the whole table.
	Scan *store.Cursor `json:"scan,omitempty"`
	// Since is the time at which the stage has begun.
	Since time.Time `json:"since,omitzero"`
	Items int       `json:"items,omitempty"`
}

// enter begins a stage.
func (p *progress) enter(s stage, now time.Time) { *p = progress{Stage: s, Since: now, Items: p.Items} }

// Erase does the next part of an erasure.
func (w *Worker) Erase(ctx context.Context, s *task.Run) error {
	var p progress
	if err := s.Recall("progress", &p); err != nil {
		return err
	}
	_, r, err := w.read(ctx, s)
	if err != nil || r == nil {
		return task.Again(err)
	}
	var pause time.Duration
	switch p.Stage {
	case wait:
		pause, err = w.wait(ctx, s, r, &p)
	case stop:
		err = w.stop(ctx, s, r)
		p.enter(settle, w.Now())
	case settle:
		pause, err = w.settle(ctx, r, &p)
	case remove:
		pause, err = w.remove(ctx, s, r, &p)
	case sweep:
		pause, err = w.sweep(ctx, s, r, &p)
	default:
		err = w.sweepLast(ctx, s, r, &p)
	}
	switch {
	case err != nil:
		return task.Again(fmt.Errorf("erasure: %s: %w", s.Subject, err))
	case p.Stage == over:
		return nil
	}
	return errors.Join(s.Keep("progress", p), s.Sleep(pause))
}

// read reads the erasure of a task. It returns nil if the task is not wanted any more.
func (w *Worker) read(ctx context.Context, s *task.Run) (store.Item, *Record, error) {
	it, err := w.DB.Lookup(ctx, store.IDKey(s.Subject))
	var r Record
	if err == nil && it.PK != "" {
		err = it.Decode(&r)
	}
	if err != nil || !r.Open() || r.message().ID != s.ID {
		return it, nil, err
	}
	return it, &r, nil
}

// change commits a change of the record with the step. The record is read anew, because its owner may have canceled the
// erasure meanwhile.
func (w *Worker) change(s *task.Run, from State, change func(*store.Tx, *Record) error) {
	s.Also(func(ctx context.Context, tx *store.Tx) error {
		it, r, err := w.read(ctx, s)
		if err == nil && (r == nil || r.State != from) {
			err = task.ErrMoved
		}
		if err == nil {
			err = change(tx, r)
		}
		if err == nil {
			err = r.into(&it)
		}
		tx.Replace(it)
		return err
	})
}

const (
	// exportPause is the time between two looks at an export that goes on.
	exportPause = time.Minute
	// afterFailure is the time between the news that the last export has failed and the erasure: a day in which owners
	// export again, or cancel.
	afterFailure = 24 * time.Hour
)

// wait follows the last export, and begins the erasure at its time.
func (w *Worker) wait(ctx context.Context, s *task.Run, r *Record, p *progress) (pause time.Duration, err error) {
	now := w.Now()
	last := r.EraseAt.Add(-r.lead())
	x, found, err := transfer.Find(ctx, w.DB, r.ExportID)
	switch {
	case err != nil:
		return 0, err
	case found && x.State == transfer.Running:
		return exportPause, nil
	case r.ReportedExport != r.ExportID: // it has ended, or was deleted by somebody
		w.change(s, Waiting, func(tx *store.Tx, r *Record) error {
			r.ReportedExport = r.ExportID
			if found && x.State != transfer.Failed {
				return nil
			}
			if sooner := now.Add(afterFailure); r.EraseAt.Before(sooner) {
				r.EraseAt = sooner
			}
			return r.tell(tx, now, "export_failed", "#"+r.ExportID)
		})
		return 0, nil
	case !now.Before(last) && r.ExportAt.Before(last) && !r.ExportRenewed:
		w.change(s, Waiting, func(tx *store.Tx, r *Record) error {
			r.ExportRenewed = true
			return r.export(tx, now)
		})
		return 0, nil
	case now.Before(last):
		return last.Sub(now), nil
	case now.Before(r.EraseAt):
		return r.EraseAt.Sub(now), nil
	}
	owns, err := w.owns(ctx, r)
	if err != nil {
		return 0, err
	}
	if !owns {
		p.enter(over, now)
		w.change(s, Waiting, func(tx *store.Tx, r *Record) error {
			r.State, r.EndedAt = Canceled, now
			return nil
		})
		return 0, nil
	}
	p.enter(stop, now)
	w.change(s, Waiting, func(tx *store.Tx, r *Record) error {
		r.State = Erasing
		if !r.Whole() {
			// Nothing is made in the profile any more: what is made notes its use.
			tx.Remove(ledger.UsesKey(r.Scope))
		}
		return nil
	})
	return 0, nil
}

// owns reports whether the person who has asked for the erasure still is an owner: a right is read when it is used.
func (w *Worker) owns(ctx context.Context, r *Record) (bool, error) {
	who, _, err := person.NewService(w.DB, w.Now, nil).Find(ctx, r.Scope.Account, r.By)
	if errs.CodeOf(err) == errs.NotFound {
		return false, nil
	}
	return who.State == person.Active && who.Role == auth.Owner, err
}

// owners are the owners of what is deleted: both modes of an account, or a profile.
func (r *Record) owners() []tenant.Owner {
	if r.Whole() {
		return []tenant.Owner{tenant.Of(r.Scope.Account, tenant.Live), tenant.Of(r.Scope.Account, tenant.Test)}
	}
	return []tenant.Owner{r.Scope}
}

// mostFailures is the number of tries after which the rest of a kind is left to the sweep, which asks nobody.
const mostFailures = 5

// remove deletes the next items of what was made.
func (w *Worker) remove(ctx context.Context, s *task.Run, r *Record, p *progress) (pause time.Duration, err error) {
	owners := r.owners()
	deleted, pause, done, err := w.Next(ctx, owners[p.Mode], &p.Pass, time.Time{}, r.kept())
	if err != nil && s.Failures >= mostFailures {
		slog.Warn("items are not deleted as their operation does", "task", s.ID, "kind", OwnedKinds[p.At].Name, "error",
			err)
		if done = p.At+1 == len(OwnedKinds); !done {
			p.At, p.Cursor = p.At+1, nil
		}
	} else if err != nil {
		return 0, err
	}
	p.Items += deleted
	switch {
	case done && p.Mode+1 < len(owners):
		p.Mode, p.Pass = p.Mode+1, Pass{}
	case done:
		// The sweep reads the table a second late.
		p.enter(sweep, w.Now())
		pause = sweepPause
	}
	return pause, nil
}

// kept is the id of the export that outlives the erasure: callers of the account can fetch that of a profile.
func (r *Record) kept() string {
	if r.Whole() {
		return ""
	}
	return r.ExportID
}

// doneOperation is the operation of the end of an erasure in the audit log.
const doneOperation = "erasure.done"

// end ends the erasure. If its transaction fails and is repeated, the audit log has an entry for each try.
func (w *Worker) end(ctx context.Context, s *task.Run, r *Record, p *progress) error {
	now := w.Now()
	if w.Entries != nil {
		e := auditlog.Entry{At: resource.Instant(now), OperationID: doneOperation, Status: http.StatusOK, Count: 1,
			Path: "/settings/erasure " + ScopeName(r.Scope)}
		if err := auditlog.Write(ctx, w.Entries, w.EntryRegion, tenant.Of(r.Scope.Account, tenant.Live),
			auth.Actor{Kind: auth.Person, ID: r.By}, e); err != nil {
			return err
		}
	}
	p.Stage = over
	w.change(s, Erasing, func(tx *store.Tx, r *Record) error {
		r.State, r.EndedAt, r.Items = Done, now, p.Items
		if r.Whole() {
			r.Name = ""
		}
		return nil
	})
	return nil
}

// stop ends what acts without a call: first what is scheduled on social accounts. What keeps being refused is left to
// the sweep, as in remove.
func (w *Worker) stop(ctx context.Context, s *task.Run, r *Record) (err error) {
	for _, of := range r.owners() {
		err = errors.Join(err, w.disconnect(ctx, of))
	}
	err = errors.Join(err, w.revokeKeys(ctx, r))
	if r.Whole() {
		err = errors.Join(err, w.endSignOn(ctx, r.Scope.Account))
	}
	if err != nil && s.Failures < mostFailures {
		return err
	} else if err != nil {
		slog.Warn("not all is stopped as its operation does", "task", s.ID, "error", err)
	}
	return nil
}

// revokeKeys revokes the keys of the account, or those that are bound to the profile alone.
func (w *Worker) revokeKeys(ctx context.Context, r *Record) error {
	keys := apikey.NewService(w.DB, account.NewService(w.DB, w.Now), w.Now, rand.Reader)
	q := store.Query{Index: store.Table, Partition: credential.Keys(r.Scope.Account), Limit: 100}
	return w.DB.Each(ctx, q, func(it store.Item) error {
		k, err := keyrecord.Read(&it, w.Now())
		bound := r.Whole() || slices.Equal(k.ProfileIDs, []tenant.Profile{r.Scope.Profile})
		if err != nil || k.State == keyrecord.Revoked || !bound {
			return err
		}
		_, err = keys.End(ctx, r.Scope.Account, k.ID)
		return err
	})
}

// endSignOn removes the sign-on connections of the account, with their providers.
func (w *Worker) endSignOn(ctx context.Context, account tenant.Account) error {
	connections := connection.NewService(w.DB, w.Now, rand.Reader, nil, nil)
	all, err := connections.List(ctx, account)
	for _, c := range all {
		if err == nil {
			err = connections.Remove(ctx, account, c.ID)
		}
	}
	return err
}

// listed lists the items of a kind of an owner.
func listed(o tenant.Owner, kind string) store.Query {
	return store.Query{Index: store.ByOwner, Partition: store.OwnerPartition(o, kind), Limit: 100,
		Filters: map[string]string{store.ProfileFilter: string(o.Profile)}}
}

// disconnect disconnects the social accounts and CRMs of an owner, as their operations do: what is scheduled on them is
// withdrawn, and their tokens are revoked.
func (w *Worker) disconnect(ctx context.Context, of tenant.Owner) error {
	err := w.changeAll(ctx, listed(of, social.Kind), func(tx *store.Tx, it store.Item) error {
		r, err := social.Decode(&it)
		if err != nil || r.State == social.Disconnected {
			return err
		}
		return r.Disconnect(tx, w.Now(), it)
	})
	if err != nil {
		return err
	}
	return w.changeAll(ctx, listed(of, crm.Kind), func(tx *store.Tx, it store.Item) error {
		r, err := crm.Decode(&it)
		if err != nil || r.State == crm.Disconnected {
			return err
		}
		return r.Disconnect(ctx, w.DB, tx, w.Now(), it)
	})
}

// changeAll commits what add puts into a transaction for each item of a list, as it is stored now.
func (w *Worker) changeAll(ctx context.Context, list store.Query, add func(*store.Tx, store.Item) error) error {
	return w.DB.Each(ctx, list, func(listed store.Item) error {
		it, err := w.DB.Get(ctx, listed.Key)
		if err != nil {
			return err
		}
		tx := &store.Tx{}
		if err := add(tx, it); err != nil || tx.Len() == 0 {
			return err
		}
		return w.DB.Commit(ctx, tx)
	})
}

// settle waits until the tasks of the disconnections have ended: each has withdrawn what was scheduled, and has revoked
// a token, or has tried to for a day.
func (w *Worker) settle(ctx context.Context, r *Record, p *progress) (pause time.Duration, err error) {
	var tasks []store.Key
	for _, of := range r.owners() {
		err := w.DB.Each(ctx, listed(of, social.Kind), func(it store.Item) error {
			a, err := social.Decode(&it)
			tasks = append(tasks, store.IDKey(task.ID(social.Disconnect, a.ID, a.Connection-1)))
			return err
		})
		if err != nil {
			return 0, err
		}
		err = w.DB.Each(ctx, listed(of, crm.Kind), func(it store.Item) error {
			i, err := crm.Decode(&it)
			tasks = append(tasks, store.IDKey(task.ID(crm.Disconnect, i.ID, i.Connection-1)))
			return err
		})
		if err != nil {
			return 0, err
		}
	}
	items, err := w.DB.GetAll(ctx, tasks...)
	if err != nil {
		return 0, err
	}
	for _, it := range items {
		if it.Kind != "" && !task.Over(it) {
			return lag, nil
		}
	}
	p.enter(remove, w.Now())
	return 0, nil
}

// Deleter deletes what an owner has made, each as its own operation does.
type Deleter struct {
	DB *store.DB
	// Loaders open the items that something is generated for, by their kind.
	Loaders map[string]generate.Loader
	Now     func() time.Time
}

const (
	// atOnce is the number of items that one step deletes.
	atOnce = 25
	// lag is the time to wait for the index to show the latest writes.
	lag = 2 * time.Second
)

// Pass is a place in the passes over what an owner has made.
type Pass struct {
	// At is the index of the kind that is being deleted, and After the position in its list.
	At     int           `json:"at"`
	Cursor *store.Cursor `json:"after,omitempty"`
	// FoundItems reports that this pass over the kinds has deleted something, and Again that it is not the first: the
	// index lags behind the latest writes.
	FoundItems bool `json:"found,omitempty"`
	Again      bool `json:"again,omitempty"`
}

// Next deletes the next items of an owner: of an account and mode, or of a profile. Items that were made after a time
// stay, unless it is the zero time, and so does the item with the id keep. It returns the number of deleted items, the
// time to wait, and whether nothing is left. Called again with the same pass it finds others, or none.
func (h Deleter) Next(ctx context.Context, o tenant.Owner, p *Pass, before time.Time, keep string) (deleted int,
	wait time.Duration, done bool, err error) {
	kind := OwnedKinds[p.At]
	q := store.Query{Index: store.ByOwner, Partition: store.OwnerPartition(o, kind.Name), Limit: atOnce,
		OldestFirst: true, After: p.Cursor, Filters: map[string]string{store.ProfileFilter: string(o.Profile)}}
	if !before.IsZero() {
		q.To = id.First(kind.Prefix, before.Add(time.Millisecond))
	}
	page, err := h.DB.List(ctx, q)
	if err != nil {
		return 0, 0, false, err
	}
	page.Items = slices.DeleteFunc(page.Items, func(it store.Item) bool { return it.PK == keep })
	for _, it := range page.Items {
		found, err := h.Delete(ctx, o, it.Key)
		if err != nil {
			return deleted, 0, false, fmt.Errorf("erasure: delete %s: %w", it.PK, err)
		}
		if found {
			deleted++
		}
	}
	switch {
	case deleted > 0:
		p.FoundItems = true
	case len(page.Items) > 0:
		wait = lag // all of them are deleted, which the index does not show yet
	case page.Next != nil: // this page had items of other profiles only
		p.Cursor = page.Next
	case p.At+1 < len(OwnedKinds):
		p.At, p.Cursor = p.At+1, nil
	case p.FoundItems || !p.Again:
		*p, wait = Pass{Again: true}, lag
	default:
		done = true
	}
	return deleted, wait, done, nil
}

// Delete deletes an item, and reports whether there was one. What is being generated for
// it is canceled, and its files are removed by a task.
func (h Deleter) Delete(ctx context.Context, o tenant.Owner, key store.Key) (found bool, err error) {
	err = h.DB.Change(ctx, func(tx *store.Tx) error {
		it, err := h.DB.Get(ctx, key)
		found = err == nil
		switch {
		case errors.Is(err, store.ErrNotFound):
			// It is gone, or has expired and is listed until DynamoDB removes it.
			if tx.Remove(key); id.Valid(id.SocialAccount, key.PK) {
				tx.Remove(social.ScheduledKey(key.PK))
			}
			return nil
		case err != nil:
			return err
		case !it.Owner.Same(o):
			return fmt.Errorf("erasure: %s belongs to %s", key.PK, it.Owner)
		case it.Kind == plan.ItemKind:
			return plan.Remove(ctx, h.DB, h.Now(), it,
				func(ctx context.Context, key store.Key) (bool, error) { return h.Delete(ctx, o, key) })
		}
		return h.add(ctx, tx, it)
	})
	return found && err == nil, err
}

// add adds the deletion of an item to the transaction.
func (h Deleter) add(ctx context.Context, tx *store.Tx, it store.Item) error {
	if it.Kind == incoming.ItemKind {
		r, err := incoming.Decode(&it)
		if err != nil {
			return err
		}
		work, err := h.DB.Lookup(ctx, incoming.TaskKey(it.PK))
		if err != nil {
			return err
		}
		return incoming.Delete(tx, h.Now(), it, r, work)
	}
	if it.Kind == product.ItemKind || it.Kind == product.PromotionKind {
		return product.Discard(tx, h.Now(), it)
	}
	if it.Kind == training.ItemKind {
		return training.Cleaner{DB: h.DB, Now: h.Now}.Discard(ctx, tx, it)
	}
	quota.Free(tx, h.Now(), it)
	tx.Delete(it)
	switch it.Kind {
	case social.Kind:
		tx.Remove(social.ScheduledKey(it.PK))
	case templaterecord.Kind:
		tx.Remove(templaterecord.NotesKey(it.PK))
	}
	attempts := 1
	if it.Kind == item.ItemKind {
		_, r, _, err := item.Lookup(ctx, h.DB, it.Owner, it.PK)
		if err != nil || r == nil {
			return cmp.Or(err, store.ErrConflict)
		}
		attempts = r.Item.Attempt
		if err := publication.Forget(tx, h.Now(), it.Owner, r); err != nil {
			return err
		}
		if err := h.release(ctx, tx, it.Owner, r); err != nil {
			return err
		}
	}
	if it.Kind == factoryrecord.Kind {
		tx.Remove(shelf.Key(it.PK))
		return factoryrecord.RemoveBook(ctx, tx, h.DB, it.PK)
	}
	loader, ok := h.Loaders[it.Kind]
	if !ok {
		return nil
	}
	work, err := loader.Open(it)
	if err != nil {
		return err
	}
	if attempt := work.WaitsForAttempt(); attempt > 0 {
		found, err := h.DB.Lookup(ctx, generate.TaskKey(it.PK, attempt))
		if err != nil {
			return err
		}
		if _, _, err := generate.Cancel(tx, h.Now(), it.Owner, work.Ticket(), found); err != nil {
			return err
		}
	}
	return generate.RemoveFiles(tx, h.Now(), it.Owner, it.PK, max(attempts, 1))
}

// release adds to the transaction that an item no longer shows media of the caller.
func (h Deleter) release(ctx context.Context, tx *store.Tx, o tenant.Owner, r *item.Record) error {
	held, keys := map[string]int{}, []store.Key{}
	for _, mediaID := range r.MediaIDs() {
		held[mediaID], keys = -1, append(keys, store.IDKey(mediaID))
	}
	media, err := h.DB.GetAll(ctx, keys...)
	if err != nil {
		return err
	}
	return incoming.Of(o, media).Hold(tx, h.Now(), held)
}

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
	p.FoundItems = p.FoundItems || b.removed > 0 || b.tasksWait
	switch {
	case p.Scan != nil:
	case p.FoundItems:
		p.FoundItems, pause = false, sweepPause
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
	// keys are the keys of the items that are removed together in the end.
	keys    []store.Key
	removed int
	// tasksWait reports that a task still works for the scope.
	tasksWait bool
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
		(t.Kind == incoming.Kind || t.Kind == incoming.Photo)
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
		b.tasksWait = true
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
