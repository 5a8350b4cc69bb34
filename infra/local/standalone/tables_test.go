package standalone

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/content-automation/api/pkg/record/auditlog"
	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/store/memtable"
)

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}
func bytesOf(b ...byte) types.AttributeValue { return &types.AttributeValueMemberB{Value: b} }

// thing returns an item.
func thing(pk, sk, kind string) attributes {
	return attributes{"pk": text(pk), "sk": text(sk), "kind": text(kind)}
}

// made opens the tables of a journal.
func made(t *testing.T, j journal) *tables {
	t.Helper()
	all, err := openTables(j, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func (t *tables) must(test *testing.T, table string, it attributes) {
	test.Helper()
	if _, err := t.engine.PutItem(test.Context(), &dynamodb.PutItemInput{TableName: &table, Item: it}); err != nil {
		test.Fatal(err)
	}
}

// all returns the items of a table, by sort key.
func (t *tables) all(test *testing.T, table string) map[string]attributes {
	test.Helper()
	out, err := t.engine.Scan(test.Context(), &dynamodb.ScanInput{TableName: &table})
	if err != nil {
		test.Fatal(err)
	}
	items := map[string]attributes{}
	for _, it := range out.Items {
		items[textOf(it, "sk")] = it
	}
	return items
}

func TestItemsAndRecordsOutliveTheProcess(t *testing.T) {
	dir := t.TempDir()
	j := opened(t, dir)
	before := made(t, j)
	kept := thing("a", "1", "thing")
	kept["packed"], kept["n"], kept["yes"] = bytesOf(0, 255), number(7), &types.AttributeValueMemberBOOL{Value: true}
	kept["null"] = &types.AttributeValueMemberNULL{Value: true}
	sent := thing("a", "2", worker.RelayedKinds[0])
	sent["packed"] = bytesOf(1, 2)
	before.must(t, StateTable, kept)
	before.must(t, StateTable, sent)
	next := thing("a", "3", worker.RelayedKinds[0])
	next["packed"], next["n"], next["yes"], next["null"] = kept["packed"], kept["n"], kept["yes"], kept["null"]
	before.must(t, StateTable, next)
	before.must(t, StateTable, thing("a", "gone", "thing"))
	before.must(t, AuditTable, thing("b", "1", auditlog.EntryKind))
	if _, err := before.engine.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String(StateTable),
		Key: attributes{"pk": text("a"), "sk": text("gone")}}); err != nil {
		t.Fatal(err)
	}
	old := thing("a", "old", "thing")
	old[store.ExpiryAttribute] = number(time.Now().Add(-time.Minute).Unix())
	young := thing("a", "young", "thing")
	young[store.ExpiryAttribute] = number(time.Now().Add(time.Hour).Unix())
	before.must(t, StateTable, old)
	before.must(t, StateTable, young)
	taken := before.streams[StateTable]
	if len(taken.records) != 2 {
		t.Fatalf("the stream has %d records", len(taken.records))
	}
	second := taken.records[1]
	taken.taken(taken.records[:1])

	check := func(when, dir string) {
		t.Helper()
		j := opened(t, dir)
		after := made(t, j)
		items := after.all(t, StateTable)
		if len(items) != 4 || !reflect.DeepEqual(items["1"], kept) || !reflect.DeepEqual(items["2"], sent) ||
			items["3"] == nil || items["young"] == nil {
			t.Errorf("%s: the items are %v", when, items)
		}
		if n := len(values(t, j, "items/state")); n != 4 {
			t.Errorf("%s: the journal has %d items", when, n)
		}
		if items := after.all(t, AuditTable); len(items) != 1 {
			t.Errorf("%s: the audit table has %v", when, items)
		}
		s := after.streams[StateTable]
		if len(s.records) != 1 || s.records[0].EventName != second.EventName ||
			s.records[0].Change.SequenceNumber != second.Change.SequenceNumber ||
			!reflect.DeepEqual(s.records[0].Change.NewImage, second.Change.NewImage) {
			t.Errorf("%s: the records are %v", when, s.records)
		}
		if n := len(after.streams[AuditTable].records); n != 1 {
			t.Errorf("%s: the audit stream has %d records", when, n)
		}
		after.must(t, StateTable, thing("a", "4", worker.RelayedKinds[0]))
		if last := s.records[len(s.records)-1].Change.SequenceNumber; last <= second.Change.SequenceNumber {
			t.Errorf("%s: the record after %s is %s", when, second.Change.SequenceNumber, last)
		}
	}
	check("killed", copied(t, dir))
	if err := j.close(); err != nil {
		t.Fatal(err)
	}
	check("closed", dir)
}

// Items that have expired leave the memory and the journal while the service runs, and no reader takes it for a change.
func TestItemsExpireWhileTheServiceRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := opened(t, t.TempDir())
		all := made(t, j)
		begin := time.Now()
		for name, after := range map[string]time.Duration{"soon": 90 * time.Second, "late": time.Hour} {
			for _, table := range []string{StateTable, AuditTable} {
				it := thing("a", name, "thing")
				it[store.ExpiryAttribute] = number(begin.Add(after).Unix())
				all.must(t, table, it)
			}
		}
		all.must(t, StateTable, thing("a", "always", "thing"))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			all.expire(ctx, time.Now)
			close(ended)
		}()
		check := func(at time.Duration, state, audit int) {
			t.Helper()
			<-time.After(time.Until(begin.Add(at)))
			synctest.Wait()
			if s, a := len(all.all(t, StateTable)), len(all.all(t, AuditTable)); s != state || a != audit {
				t.Errorf("after %v the tables have %d and %d items, want %d and %d", at, s, a, state, audit)
			}
			if s := len(values(t, j, items(StateTable))); s != state {
				t.Errorf("after %v the journal has %d items, want %d", at, s, state)
			}
		}
		check(61*time.Second, 3, 2)
		check(121*time.Second, 2, 1)
		check(2*time.Hour, 1, 0)
		if n := len(all.streams[AuditTable].records); n != 0 {
			t.Errorf("the stream has %d records", n)
		}
		cancel()
		<-ended
	})
}

func TestAnItemThatCannotBeReadIsAnError(t *testing.T) {
	for _, bucket := range []string{"items/" + StateTable, "stream/" + AuditTable} {
		j := opened(t, t.TempDir())
		j.write(entry{bucket, sequence(1), []byte("[")})
		if _, err := openTables(j, time.Now); err == nil {
			t.Errorf("%s: no error", bucket)
		}
	}
}

func TestTheFiltersOfTheStreams(t *testing.T) {
	for _, c := range []struct {
		change memtable.Change
		filter func(memtable.Change) bool
		want   bool
	}{
		{memtable.Change{Event: "INSERT", New: thing("a", "1", worker.RelayedKinds[0])}, relayed, true},
		{memtable.Change{Event: "MODIFY", New: thing("a", "1", worker.RelayedKinds[0])}, relayed, false},
		{memtable.Change{Event: "REMOVE", Old: thing("a", "1", worker.RelayedKinds[0])}, relayed, false},
		{memtable.Change{Event: "INSERT", New: thing("a", "1", "thing")}, relayed, false},
		{memtable.Change{Event: "INSERT", New: thing("a", "1", auditlog.EntryKind)}, followed, true},
		{memtable.Change{Event: "INSERT", New: thing("a", "1", "link")}, followed, false},
		{memtable.Change{Event: "REMOVE", Old: thing("a", "1", "link")}, followed, true},
		{memtable.Change{Event: "MODIFY", New: thing("a", "1", "link")}, followed, true},
	} {
		if got := c.filter(c.change); got != c.want {
			t.Errorf("%s of %v: %t", c.change.Event, c.change.New, got)
		}
	}
}

// reader is the reader of a stream. It answers each batch with the next of its answers, the last one for all others.
type reader struct {
	mu      sync.Mutex
	batches [][]string
	answer  func(call int, ids []string) (events.DynamoDBEventResponse, error)
}

func (r *reader) handle(_ context.Context, in events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var ids []string
	for _, one := range in.Records {
		ids = append(ids, one.Change.NewImage["sk"].String())
	}
	r.batches = append(r.batches, ids)
	return r.answer(len(r.batches), ids)
}

// seen returns the batches until now.
func (r *reader) seen() [][]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.batches)
}

func failing(sequence string) events.DynamoDBEventResponse {
	return events.DynamoDBEventResponse{BatchItemFailures: []events.DynamoDBBatchItemFailure{
		{ItemIdentifier: sequence}}}
}

func TestAFailingReaderGetsTheRecordsAgainInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := made(t, journal{})
		for i := range 5 {
			all.must(t, StateTable, thing("a", strconv.Itoa(i+1), worker.RelayedKinds[0]))
		}
		r := &reader{answer: func(call int, _ []string) (events.DynamoDBEventResponse, error) {
			switch call {
			case 1:
				return failing("2"), nil // the second record
			case 2:
				return events.DynamoDBEventResponse{}, errors.New("broken")
			case 3:
				panic("broken")
			default:
				return events.DynamoDBEventResponse{}, nil
			}
		}}
		ctx, cancel := context.WithCancel(t.Context())
		began, ended := time.Now(), make(chan struct{})
		go func() {
			all.streams[StateTable].read(ctx, 3, 0, time.Minute, r.handle)
			close(ended)
		}()
		<-time.After(3*again - time.Millisecond)
		synctest.Wait()
		if len(r.seen()) != 3 {
			t.Errorf("before %v: %v", time.Since(began), r.seen())
		}
		<-time.After(time.Millisecond)
		synctest.Wait()
		all.must(t, StateTable, thing("a", "6", worker.RelayedKinds[0]))
		synctest.Wait()
		want := [][]string{{"1", "2", "3"}, {"2", "3", "4"}, {"2", "3", "4"}, {"2", "3", "4"}, {"5"}, {"6"}}
		if !reflect.DeepEqual(r.seen(), want) {
			t.Errorf("the batches are %v", r.seen())
		}
		cancel()
		<-ended
		if n := len(all.streams[StateTable].records); n != 0 {
			t.Errorf("%d records are left", n)
		}
	})
}

func TestAReaderWaitsForItsWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := made(t, journal{})
		r := &reader{answer: func(int, []string) (events.DynamoDBEventResponse, error) {
			return events.DynamoDBEventResponse{}, nil
		}}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go all.streams[StateTable].read(ctx, 10, time.Second, time.Minute, r.handle)
		synctest.Wait()
		for i := range 3 {
			all.must(t, StateTable, thing("a", strconv.Itoa(i+1), worker.RelayedKinds[0]))
			<-time.After(300 * time.Millisecond)
		}
		<-time.After(time.Second)
		synctest.Wait()
		if !reflect.DeepEqual(r.seen(), [][]string{{"1", "2", "3"}}) {
			t.Errorf("the batches are %v", r.seen())
		}
	})
}
