package erasure

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/area/audit/chain"
	"github.com/content-automation/api/pkg/area/crm"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/area/transfer"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	keyrecord "github.com/content-automation/api/pkg/record/apikey"
	"github.com/content-automation/api/pkg/record/connection"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/record/resource"
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
	// stop ends what acts by itself: keys, social accounts with what is scheduled on them, CRMs, sign-on.
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
	if err := s.Kept("progress", &p); err != nil {
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
	case r.Told != r.ExportID: // it has ended, or was deleted by somebody
		w.change(s, Waiting, func(tx *store.Tx, r *Record) error {
			what := "exported"
			r.Told = r.ExportID
			if !found || x.State == transfer.Failed {
				what = "export_failed"
				if sooner := now.Add(afterFailure); r.EraseAt.Before(sooner) {
					r.EraseAt = sooner
				}
			}
			return r.tell(tx, now, what, "#"+r.ExportID)
		})
		return 0, nil
	case !now.Before(last) && r.ExportAt.Before(last) && !r.Renewed:
		w.change(s, Waiting, func(tx *store.Tx, r *Record) error {
			r.Renewed = true
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
			return r.tell(tx, now, "canceled", "")
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
		return r.tell(tx, now, "begun", "")
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
		slog.Warn("items are not deleted as their operation does", "task", s.ID, "kind", Made[p.At].Name, "error", err)
		if done = p.At+1 == len(Made); !done {
			p.At, p.After = p.At+1, nil
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
		e := chain.Entry{At: resource.Instant(now), OperationID: doneOperation, Status: http.StatusOK, Count: 1,
			Path: "/settings/erasure " + ScopeName(r.Scope)}
		if err := chain.Write(ctx, w.Entries, w.EntryRegion, tenant.Of(r.Scope.Account, tenant.Live),
			auth.Actor{Kind: auth.Person, ID: r.By}, e); err != nil {
			return err
		}
	}
	p.Stage = over
	w.change(s, Erasing, func(tx *store.Tx, r *Record) error {
		r.State, r.EndedAt, r.Items = Done, now, p.Items
		if r.Whole() {
			r.Name = ""
			return nil // nobody is left who could be told of it
		}
		return r.tell(tx, now, "done", "")
	})
	return nil
}

// stop ends what acts by itself: first what is scheduled on social accounts. What keeps being refused is left to the
// sweep, as in remove.
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
