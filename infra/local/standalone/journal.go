package standalone

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// journal keeps the state of a service beyond its process, in one file. The zero value keeps nothing: the state is in
// memory only.
type journal struct{ db *bbolt.DB }

// syncEvery is the time between two writes of the file to the disk. The operating system has each transaction before it
// is answered, so that only a crash of the machine can lose the last ones, or damage the file.
const syncEvery = time.Second

// errInUse reports a folder whose journal another process has opened.
var errInUse = errors.New("another service runs")

// openJournal opens the journal in a folder, or makes it. Only one process can open it at a time.
func openJournal(dir string) (journal, error) {
	db, err := bbolt.Open(filepath.Join(dir, "journal.db"), 0o600, &bbolt.Options{
		Timeout: time.Second, NoSync: true, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType,
	})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return journal{}, fmt.Errorf("%w in %s: stop it first", errInUse, dir)
	}
	if err != nil {
		return journal{}, fmt.Errorf("standalone: open the journal in %s: %w", dir, err)
	}
	return journal{db}, nil
}

// Remove removes the state in a folder, unless a service runs there.
func Remove(dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	j, err := openJournal(dir)
	if errors.Is(err, errInUse) {
		return err
	}
	return errors.Join(os.RemoveAll(dir), j.close()) // even if the journal is damaged
}

// sync writes the file to the disk until the context ends.
func (j journal) sync(ctx context.Context) {
	if j.db == nil {
		return
	}
	tick := time.NewTicker(syncEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := j.db.Sync(); err != nil {
				slog.Error("the journal is not written to the disk", "error", err)
			}
		}
	}
}

func (j journal) close() error {
	if j.db == nil {
		return nil
	}
	return errors.Join(j.db.Sync(), j.db.Close())
}

// entry is a value of the journal that is written, or removed if the value is nil.
type entry struct {
	bucket, key string
	value       []byte
}

// write writes entries in one transaction. If that fails, such as on a full disk, the process ends: it would answer
// calls whose effect a restart loses. A panic would end the call only, with its locks held. After close, write does
// nothing: no call is answered any more.
func (j journal) write(entries ...entry) {
	if j.db == nil || len(entries) == 0 {
		return
	}
	err := j.db.Update(func(tx *bbolt.Tx) error {
		for _, e := range entries {
			b, err := tx.CreateBucketIfNotExists([]byte(e.bucket))
			if err != nil {
				return err
			}
			if e.value == nil {
				err = b.Delete([]byte(e.key))
			} else {
				err = b.Put([]byte(e.key), e.value)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, bolterrors.ErrDatabaseNotOpen) {
		slog.Error("the service ends: the journal cannot be written", "error", err)
		fmt.Fprintln(os.Stderr, "The service ends, because it cannot write its journal:", err)
		os.Exit(1)
	}
}

// each calls f with each value of a bucket, in the order of the keys.
func (j journal) each(bucket string, f func(key string, value []byte) error) error {
	if j.db == nil {
		return nil
	}
	return j.db.View(func(tx *bbolt.Tx) error {
		b := tx.Bucket([]byte(bucket))
		if b == nil {
			return nil
		}
		return b.ForEach(func(k, v []byte) error { return f(string(k), v) })
	})
}

// encoded returns a value as JSON. It panics if the value has no such form.
func encoded(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

// sequence returns a key that keeps the order of numbers.
func sequence(n uint64) string { return string(binary.BigEndian.AppendUint64(nil, n)) }
