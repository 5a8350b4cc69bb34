package media

import (
	"math"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Kind is the kind of the task that accompanies a media from its beginning until its files
// are gone. Photo is the same for the photo of a product.
const (
	Kind  task.Kind = "media"
	Photo task.Kind = "photo"
)

// kindOf returns the kind of the tasks of a media or photo.
func kindOf(subject string) task.Kind {
	if strings.HasPrefix(subject, id.Photo+"_") {
		return Photo
	}
	return Kind
}

// taskID returns the id of the task of a media or photo.
func taskID(subject string) string { return task.ID(kindOf(subject), subject, 1) }

// TaskKey returns the key of the task of a media or photo.
func TaskKey(subject string) store.Key { return store.IDKey(taskID(subject)) }

// Wake returns the message that the file of a media or photo has arrived.
func Wake(subject string) task.Message {
	return task.Message{ID: taskID(subject), Kind: kindOf(subject), Queue: topology.ImportMedia,
		Subject: subject, Wake: true}
}

// Create adds a media with its task to the transaction. The commit fails with queue_full if too many are pending.
func Create(tx *store.Tx, now time.Time, o tenant.Owner, r *Record) error {
	it, err := store.NewItem(ItemKind, o, r.ID, r)
	if err != nil {
		return err
	}
	it.Filters = r.filters()
	tx.Create(it, nil)
	Await(tx, o)
	occupy(tx, o, r.Reserved)
	t := task.Task{Message: r.message(o), DueAt: now}
	if r.SourceURL == nil {
		t.DueAt = r.Arrival()
	}
	return task.Create(tx, now, t, nil)
}

// message is the message of the task of a media.
func (r *Record) message(o tenant.Owner) task.Message {
	return task.Message{ID: taskID(r.ID), Kind: Kind, Queue: topology.ImportMedia, Subject: r.ID, Owner: o}
}

// Arrival is when a file that was not uploaded is given up.
func (r *Record) Arrival() time.Time { return r.CreatedAt.Add(ArrivalTime) }

// occupy adds to the bytes of an owner's media, or subtracts from them. The commit fails
// with queue_full if they would be too many.
func occupy(tx *store.Tx, o tenant.Owner, bytes int64) {
	if bytes != 0 {
		tx.Count(quota.BytesKey(o), bytes, MostBytes(o), ErrTooManyBytes(o))
	}
}

// Expire adds to the transaction that a media ends that was not used.
func Expire(tx *store.Tx, it store.Item, r *Record) {
	tx.Delete(it)
	occupy(tx, it.Owner, -r.Reserved)
}

// Await adds to the transaction that one more file of an owner is pending. The commit fails
// with queue_full if too many are.
func Await(tx *store.Tx, o tenant.Owner) {
	tx.Count(pendingKey(o), 1, MaxPending, errTooManyPending())
}

// Settled adds to the transaction that n files of an owner are no longer pending. It is called
// once for a transaction, which may write an item only once.
func Settled(tx *store.Tx, o tenant.Owner, n int64) {
	tx.Count(pendingKey(o), -n, MaxPending, store.ErrConflict)
}

// Delete adds to the transaction that a media ends, whose item and whose task's item were read. Its task then removes
// the files. It removes the files of a ready one after a day, since work that was accepted before still uses them.
func Delete(tx *store.Tx, now time.Time, it store.Item, r *Record, taskItem store.Item) error {
	Expire(tx, it, r)
	at := now
	switch r.State {
	case Pending:
		Settled(tx, it.Owner, 1)
		at = r.Arrival() // an upload may be under way
	case Ready:
		at = now.Add(KeepTime)
	}
	return task.Reschedule(tx, taskItem, at)
}

// Settle adds to the transaction how a pending media ends: ready with a file, or rejected for a reason.
func Settle(tx *store.Tx, now time.Time, it store.Item, r *Record, file *media.File, why *Reason) error {
	if file != nil {
		r.File, r.State = file, Ready
		r.Type, r.MIMEType, r.Bytes, r.SHA256 = file.Type, file.MIMEType, file.Bytes, file.SHA256
		r.Width, r.Height, r.DurationSeconds = file.Width, file.Height, file.DurationSeconds
	} else {
		r.Reason, r.State = why, Rejected
	}
	if r.Reserved > 0 {
		kept := int64(0)
		if file != nil {
			kept = file.Bytes
		}
		// A picture that was turned may be larger than its upload.
		if more := kept - r.Reserved; more != 0 {
			tx.Count(quota.BytesKey(it.Owner), more, math.MaxInt64, store.ErrConflict)
		}
		r.Reserved = kept
	}
	r.Touch(now)
	if err := r.Encode(&it); err != nil {
		return err
	}
	tx.Replace(it)
	Settled(tx, it.Owner, 1)
	told := event.MediaReady
	if r.State == Rejected {
		told = event.MediaRejected
	}
	e, err := event.New(now, it.Owner, told, r.Media, nil)
	if err == nil {
		tx.Create(e, nil)
	}
	return err
}
