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
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/content-automation/api/pkg/area/analytics"
	"github.com/content-automation/api/pkg/record/auditlog"
	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/store/memtable"
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

// The tables.
const (
	StateTable = "state"
	AuditTable = "audit"
)

// tables are the tables of the service: in memory, with a journal.
type tables struct {
	engine  *memtable.Engine
	journal journal
	streams map[string]*stream // by table
}

// attributes are the attributes of an item.
type attributes = map[string]types.AttributeValue

// openTables makes the tables, with the items of the journal.
func openTables(j journal, now func() time.Time) (*tables, error) {
	t := &tables{journal: j, streams: map[string]*stream{
		StateTable: newStream(StateTable, j, relayed), AuditTable: newStream(AuditTable, j, followed),
	}}
	t.engine = memtable.NewObserved(now, t.observe)
	for name, indexes := range map[string][]store.Index{
		StateTable: store.StateIndexes, AuditTable: store.AuditIndexes,
	} {
		if _, err := t.engine.CreateTable(context.Background(), store.CreateInput(name, indexes)); err != nil {
			return nil, err
		}
		if err := j.each(items(name), func(key string, value []byte) error {
			return t.engine.RestorePacked(name, value)
		}); err != nil {
			return nil, fmt.Errorf("standalone: read the table %s: %w", name, err)
		}
		t.engine.Expire(name, store.ExpiryAttribute, now())
		if err := t.streams[name].restore(); err != nil {
			return nil, fmt.Errorf("standalone: read the stream of %s: %w", name, err)
		}
	}
	return t, nil
}

// expireEvery is the time between two removals of items that have expired. DynamoDB takes longer.
const expireEvery = time.Minute

// expire removes the items that have expired, until the context ends: answers that are kept for repeated calls, events,
// entries of the audit log and work that has ended.
func (t *tables) expire(ctx context.Context, now func() time.Time) {
	for sleep(ctx, expireEvery) {
		for name := range t.streams {
			t.engine.Expire(name, store.ExpiryAttribute, now())
		}
	}
}

// open returns a table with the service's own client, without the SDK.
func (t *tables) open(name string, now func() time.Time) *store.DB {
	return store.Open(aws.Config{}, name, store.WithClient(t.engine), store.WithClock(now))
}

// items is the bucket of the items of a table.
func items(table string) string { return "items/" + table }

// observe writes the changes of one call to the journal, with the records that the streams' readers wait for, in one
// transaction. The function that it returns waits until they are written.
func (t *tables) observe(changes []memtable.Change) (written func()) {
	var entries []entry
	records := map[*stream][]events.DynamoDBEventRecord{}
	for _, c := range changes {
		e := entry{bucket: items(c.Table), key: keyOf(c)}
		if c.New != nil && t.journal.journalFile != nil {
			e.value = memtable.EncodeItem(c.New)
		}
		entries = append(entries, e)
		if s := t.streams[c.Table]; !c.Expired && s.wants(c) {
			r, e := s.record(c)
			records[s], entries = append(records[s], r), append(entries, e)
		}
	}
	written = t.journal.add(entries...)
	for s, all := range records { // which the journal writes before taken removes them there
		s.add(all)
	}
	return written
}

// keyOf returns the key of a changed item.
func keyOf(c memtable.Change) string {
	it := c.New
	if it == nil {
		it = c.Old
	}
	partition, sort := store.Table.Key()
	pk, sk := textOf(it, partition), textOf(it, sort)
	return string(binary.BigEndian.AppendUint16(nil, uint16(len(pk)))) + pk + sk
}

// textOf returns a text attribute of an item, or an empty text.
func textOf(it attributes, name string) string {
	if s, ok := it[name].(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

// relayed reports whether the relay reads a change of the state table. It is the filter of the deployed stream.
func relayed(c memtable.Change) bool {
	kind := textOf(c.New, "kind")
	return c.Event == "INSERT" && slices.Contains(worker.RelayedKinds, kind) ||
		c.Event != "REMOVE" && analytics.Passes(kind, textOf(c.New, "f_"+analytics.StateFilter))
}

// followed reports whether the function levels reads a change of the audit table.
func followed(c memtable.Change) bool {
	return c.Event != "INSERT" || textOf(c.New, "kind") == auditlog.EntryKind
}

// stream has the records of a table's changes that its reader has yet to take, in their order.
type stream struct {
	table   string
	journal journal
	wants   func(memtable.Change) bool
	added   chan struct{}

	last uint64 // number of the last record; only observe changes it, which gets one call after the other

	mu      sync.Mutex
	records []events.DynamoDBEventRecord
}

func newStream(table string, j journal, wants func(memtable.Change) bool) *stream {
	return &stream{table: table, journal: j, wants: wants, added: make(chan struct{}, 1)}
}

// bucket is the bucket of the records.
func (s *stream) bucket() string { return "stream/" + s.table }

// restore reads the records that no reader has taken yet.
func (s *stream) restore() error {
	return s.journal.each(s.bucket(), func(key string, value []byte) error {
		var r kept
		if err := json.Unmarshal(value, &r); err != nil {
			return err
		}
		c := memtable.Change{Table: s.table, Event: r.Event}
		var err error
		if r.New != nil {
			c.New, err = memtable.DecodeItem(r.New)
		}
		if r.Old != nil && err == nil {
			c.Old, err = memtable.DecodeItem(r.Old)
		}
		if err != nil {
			return err
		}
		s.last = binary.BigEndian.Uint64([]byte(key))
		s.records = append(s.records, s.recordOf(c))
		return nil
	})
}

// kept is a record in the journal. Its items are packed.
type kept struct {
	Event    string
	New, Old []byte
}

// record returns the record of a change, with its entry of the journal.
func (s *stream) record(c memtable.Change) (events.DynamoDBEventRecord, entry) {
	s.last++
	e := entry{bucket: s.bucket(), key: sequence(s.last)}
	if s.journal.journalFile != nil {
		k := kept{Event: c.Event}
		if c.New != nil {
			k.New = memtable.EncodeItem(c.New)
		}
		if c.Old != nil {
			k.Old = memtable.EncodeItem(c.Old)
		}
		e.value = encoded(k)
	}
	return s.recordOf(c), e
}

// recordOf returns the last record.
func (s *stream) recordOf(c memtable.Change) events.DynamoDBEventRecord {
	return events.DynamoDBEventRecord{EventName: c.Event, Change: events.DynamoDBStreamRecord{
		NewImage: image(c.New), OldImage: image(c.Old), SequenceNumber: strconv.FormatUint(s.last, 10),
	}}
}

// add passes records to the reader.
func (s *stream) add(records []events.DynamoDBEventRecord) {
	s.mu.Lock()
	s.records = append(s.records, records...)
	s.mu.Unlock()
	select {
	case s.added <- struct{}{}:
	default:
	}
}

// image returns an item as a record of a stream has it.
func image(it attributes) map[string]events.DynamoDBAttributeValue {
	if it == nil {
		return nil
	}
	out := make(map[string]events.DynamoDBAttributeValue, len(it))
	for name, v := range it {
		switch v := v.(type) {
		case *types.AttributeValueMemberS:
			out[name] = events.NewStringAttribute(v.Value)
		case *types.AttributeValueMemberN:
			out[name] = events.NewNumberAttribute(v.Value)
		case *types.AttributeValueMemberB:
			out[name] = events.NewBinaryAttribute(v.Value)
		case *types.AttributeValueMemberBOOL:
			out[name] = events.NewBooleanAttribute(v.Value)
		case *types.AttributeValueMemberNULL:
			out[name] = events.NewNullAttribute()
		}
	}
	return out
}

// again is the time after which a batch that failed is passed to its reader again.
const again = time.Second

// read passes the records to their reader, in batches, until the context ends. The reader gets the first record that
// failed, and all later ones, again.
func (s *stream) read(ctx context.Context, most int, window, timeout time.Duration,
	handle func(context.Context, events.DynamoDBEvent) (events.DynamoDBEventResponse, error)) {
	for {
		s.mu.Lock()
		batch := s.records[:min(most, len(s.records)):min(most, len(s.records))]
		s.mu.Unlock()
		if len(batch) == 0 {
			select {
			case <-ctx.Done():
				return
			case <-s.added:
			}
			if !sleep(ctx, window) {
				return
			}
			continue
		}
		done := len(batch)
		var out events.DynamoDBEventResponse
		err := guarded(func() (err error) {
			call, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
			defer cancel()
			out, err = handle(call, events.DynamoDBEvent{Records: batch})
			return err
		})
		switch {
		case err != nil:
			done = 0
		case len(out.BatchItemFailures) > 0:
			done = slices.IndexFunc(batch, func(r events.DynamoDBEventRecord) bool {
				return r.Change.SequenceNumber == out.BatchItemFailures[0].ItemIdentifier
			})
			done = max(done, 0)
		}
		s.taken(batch[:done])
		if done < len(batch) {
			slog.Warn("records of a stream come again", "table", s.table, "records", len(batch)-done, "error", err)
			if !sleep(ctx, again) {
				return
			}
		}
		if ctx.Err() != nil {
			return
		}
	}
}

// taken removes the first records.
func (s *stream) taken(records []events.DynamoDBEventRecord) {
	var entries []entry
	for _, r := range records {
		n, _ := strconv.ParseUint(r.Change.SequenceNumber, 10, 64) // as record has written it
		entries = append(entries, entry{bucket: s.bucket(), key: sequence(n)})
	}
	s.journal.write(entries...)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records = slices.Clone(s.records[len(records):])
}

// guarded calls f, and returns a panic of f as an error: on AWS a panic ends one call, too, and not the service.
func guarded(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}

// sleep waits. It returns false if the context ends before that.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
