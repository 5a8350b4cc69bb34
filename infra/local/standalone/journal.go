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
	"sync"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// journal keeps the state of a service beyond its process, in one file. The zero value keeps nothing: the state is in
// memory only.
type journal struct{ *journalFile }

type journalFile struct {
	path string

	mu        sync.RWMutex // db changes when the file is written anew
	db        *bbolt.DB
	compacted int64 // size of the file when it was written anew

	turn      sync.Mutex
	now, next *group // that is written, and that is written next; each may be nil
}

// group has the entries of one transaction of the file: those of all calls that came while the one before was written.
type group struct {
	entries []entry
	written chan struct{} // is closed then
}

// syncEvery is the time between two writes of the file to the disk. The operating system has each transaction before it
// is answered, so that only a crash of the machine can lose the last ones, or damage the file.
const syncEvery = time.Second

// errInUse reports a folder whose journal another process has opened.
var errInUse = errors.New("another service runs")

// openJournal opens the journal in a folder, or makes it. Only one process can open it at a time.
func openJournal(dir string) (journal, error) {
	j := journal{&journalFile{path: filepath.Join(dir, "journal.db")}}
	var err error
	if j.db, err = openFile(j.path); errors.Is(err, bolterrors.ErrTimeout) {
		return journal{}, fmt.Errorf("%w in %s: stop it first", errInUse, dir)
	}
	if err == nil {
		err = j.each(sizesBucket, func(_ string, value []byte) error { return json.Unmarshal(value, &j.compacted) })
	}
	if err != nil {
		return journal{}, fmt.Errorf("standalone: open the journal in %s: %w", dir, err)
	}
	return j, nil
}

func openFile(path string) (*bbolt.DB, error) {
	return bbolt.Open(path, 0o600, &bbolt.Options{
		Timeout: time.Second, NoSync: true, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType,
	})
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

// sync writes the file to the disk until the context ends, and writes it anew when much of it is unused.
func (j journal) sync(ctx context.Context) {
	if j.journalFile == nil {
		return
	}
	tick := time.NewTicker(syncEvery)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			err := j.flush(n%forgetEvery == 0)
			if err == nil {
				err = j.compact(compactFrom)
			}
			if err != nil {
				slog.Error("the journal is not written to the disk", "error", err)
			}
		}
	}
}

// forgetEvery is how many times the file is written to the disk before the memory is given back in which it was read.
const forgetEvery = 10

func (j journal) flush(forgets bool) error {
	j.mu.RLock()
	defer j.mu.RUnlock()
	err := j.db.Sync()
	if forgets && err == nil {
		err = forget(j.db)
	}
	return err
}

// compactFrom is the size of a file that is worth writing anew. The pages of a file are half empty when keys come in
// any order, and those of removed values are never given back.
const compactFrom = 32 << 20

// sizesBucket has the size of the file when it was written anew.
const sizesBucket = "sizes"

// compact writes the file anew, without unused space, if it is of a size and has doubled since it was. Writes wait
// meanwhile, about a second for 200 MB. A process that is killed leaves the old file or the new one.
func (j journal) compact(from int64) error {
	info, err := os.Stat(j.path)
	if err != nil || info.Size() < max(from, 2*j.compacted) {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	part := j.path + ".part"
	if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	db, err := openFile(part)
	if err != nil {
		return err
	}
	if err = bbolt.Compact(db, j.db, compactBatch); err == nil {
		if info, err = os.Stat(part); err == nil {
			err = put(db, entry{sizesBucket, "compacted", encoded(info.Size())})
		}
	}
	if err == nil {
		err = db.Sync()
	}
	if err == nil {
		err = os.Rename(part, j.path) // whose lock this process keeps
	}
	if err != nil {
		return errors.Join(err, db.Close())
	}
	old := j.db
	j.db, j.compacted = db, info.Size()
	return old.Close()
}

// compactBatch bounds the transactions that write a file anew, in bytes.
const compactBatch = 8 << 20

func (j journal) close() error {
	if j.journalFile == nil {
		return nil
	}
	j.settle()
	j.mu.RLock()
	defer j.mu.RUnlock()
	return errors.Join(j.db.Sync(), j.db.Close())
}

// entry is a value of the journal that is written, or removed if the value is nil.
type entry struct {
	bucket, key string
	value       []byte
}

// write writes entries in one transaction, and those of an earlier write before. After close, it does nothing: no call
// is answered any more.
func (j journal) write(entries ...entry) { j.add(entries...)() }

// add is write, but for the wait: the function that it returns waits until the entries are written.
func (j journal) add(entries ...entry) (wait func()) {
	if j.journalFile == nil || len(entries) == 0 {
		return func() {}
	}
	j.turn.Lock()
	defer j.turn.Unlock()
	if j.next == nil {
		j.next = &group{written: make(chan struct{})}
		if j.now == nil {
			j.now = j.next
			go j.drain()
		}
	}
	g := j.next
	g.entries = append(g.entries, entries...)
	return func() { <-g.written }
}

// drain writes groups until there are none. If that fails, such as on a full disk, the process ends: it would answer
// calls whose effect a restart loses. A panic would end the call only, with its locks held.
func (j journal) drain() {
	for {
		j.turn.Lock()
		j.now, j.next = j.next, nil
		g := j.now
		j.turn.Unlock()
		if g == nil {
			return
		}
		j.mu.RLock()
		err := put(j.db, g.entries...)
		j.mu.RUnlock()
		if err != nil && !errors.Is(err, bolterrors.ErrDatabaseNotOpen) {
			slog.Error("the service ends: the journal cannot be written", "error", err)
			fmt.Fprintln(os.Stderr, "The service ends, because it cannot write its journal:", err)
			os.Exit(1)
		}
		close(g.written)
	}
}

// settle waits until all entries are written that were added before.
func (j journal) settle() {
	if j.journalFile == nil {
		return
	}
	j.turn.Lock()
	last := j.next
	if last == nil {
		last = j.now
	}
	j.turn.Unlock()
	if last != nil {
		<-last.written
	}
}

// put writes entries in one transaction.
func put(db *bbolt.DB, entries ...entry) error {
	return db.Update(func(tx *bbolt.Tx) error {
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
}

// each calls f with each value of a bucket, in the order of the keys.
func (j journal) each(bucket string, f func(key string, value []byte) error) error {
	if j.journalFile == nil {
		return nil
	}
	j.settle()
	j.mu.RLock()
	defer j.mu.RUnlock()
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
