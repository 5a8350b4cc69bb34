package simulate

import (
	"cmp"
	"container/heap"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/content-automation/api/pkg/area/advice"
	"github.com/content-automation/api/pkg/area/analytics"
	"github.com/content-automation/api/pkg/area/automation"
	"github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/area/training"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/store/memtable"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/pkg/task/queue"
)

// messages is a queue: its messages have no order, and each is invisible for a time.
type messages struct {
	world    *world
	name     topology.Queue
	function *function
	all      []*message
	dead     []*message
	count    int
}

// message is a message in a queue.
type message struct {
	id       string
	body     string
	at       time.Time // when it becomes visible
	receives int
}

// put puts a message into the queue, which may deliver it late, or twice.
func (q *messages) put(body string, delay time.Duration) {
	w := q.world
	copies := 1
	if !w.calm && chance(w.random, w.faults.Twice) {
		copies = 2
	}
	for range copies {
		d := min(delay, queue.LongestDelay)
		if !w.calm && chance(w.random, w.faults.Late) {
			d += between(w.random, 0, time.Minute)
		}
		q.count++
		m := &message{id: string(q.name) + "-" + strconv.Itoa(q.count), body: body, at: time.Now().Add(d)}
		q.all = append(q.all, m)
		w.after(d, q.poll)
	}
}

// hide makes a message invisible for a time.
func (q *messages) hide(m *message, d time.Duration) {
	m.at = time.Now().Add(d)
	q.world.after(d, q.poll)
}

// poll passes a batch of visible messages to the function of the queue.
func (q *messages) poll() {
	w, now := q.world, time.Now()
	var visible []*message
	for _, m := range q.all {
		if !m.at.After(now) {
			visible = append(visible, m)
		}
	}
	w.random.Shuffle(len(visible), func(i, j int) { visible[i], visible[j] = visible[j], visible[i] })
	if most := 1 + w.random.IntN(q.function.Batch); len(visible) > most {
		visible = visible[:most]
		w.after(time.Millisecond, q.poll)
	}
	var batch []*message
	var event events.SQSEvent
	for _, m := range visible {
		if m.receives == q.name.Receives() {
			q.delete(m.id)
			q.dead = append(q.dead, m)
			continue
		}
		m.receives++
		q.hide(m, q.name.Visibility())
		batch = append(batch, m)
		event.Records = append(event.Records, events.SQSMessage{
			MessageId: m.id, ReceiptHandle: m.id + "#" + strconv.Itoa(m.receives), Body: m.body,
			Attributes: map[string]string{"ApproximateReceiveCount": strconv.Itoa(m.receives)},
		})
	}
	if len(batch) == 0 {
		return
	}
	w.invoke(q.function, fmt.Sprint(q.name, " ", len(batch)), event, func(out any) {
		failed := map[string]bool{}
		for _, f := range out.(events.SQSEventResponse).BatchItemFailures {
			failed[f.ItemIdentifier] = true
		}
		for _, m := range batch {
			if !failed[m.id] {
				q.delete(m.id)
			}
		}
	})
}

func (q *messages) delete(id string) {
	for i, m := range q.all {
		if m.id == id {
			q.all = append(q.all[:i], q.all[i+1:]...)
			return
		}
	}
}

// sender is a queue as functions see it.
type sender struct{ name topology.Queue }

var _ queue.Queue = sender{}

// Send implements queue.Sender.
func (s sender) Send(ctx context.Context, all ...queue.Message) []error {
	if len(all) == 0 {
		return nil
	}
	w := invocationOf(ctx).world
	q := w.queues[s.name]
	return queue.InBatches(ctx, len(all), func(ctx context.Context, batch []int) ([]error, error) {
		failed := make([]error, len(batch))
		var bodies []string
		for _, i := range batch {
			bodies = append(bodies, all[i].Body)
		}
		err := insist(ctx, func() *call {
			return &call{kind: toQueue, key: "Send " + string(s.name) + " " + inOrder(bodies), lost: errLost,
				refused: errRefused, do: func() error {
					for _, n := range sorted(bodies) {
						i := batch[n]
						if failed[n] = nil; !w.calm && chance(w.random, w.faults.Refuse) {
							failed[n] = &queue.RefusedEntry{Code: "InternalError"}
							continue
						}
						q.put(all[i].Body, all[i].Delay)
					}
					return nil
				}}
		})
		return failed, err
	})
}

// ExtendVisibility implements queue.Extender.
func (s sender) ExtendVisibility(ctx context.Context, d time.Duration, receipts ...string) []error {
	w := invocationOf(ctx).world
	q := w.queues[s.name]
	failed := make([]error, len(receipts))
	err := insist(ctx, func() *call {
		return &call{kind: toQueue, key: fmt.Sprint("Hide ", s.name, " ", d, " ", receipts), lost: errLost,
			refused: errRefused, do: func() error {
				for _, r := range receipts {
					id, _, _ := strings.Cut(r, "#")
					for _, m := range q.all {
						// A receipt of an earlier delivery is valid, too, while the message exists.
						if m.id == id {
							q.hide(m, d)
						}
					}
				}
				return nil
			}}
	})
	for i := range failed {
		failed[i] = err
	}
	return failed
}

// shards is the number of parts of the table's stream. Each is in the order of its writes.
const shards = 3

// follower is a function that the stream calls.
type follower struct {
	*function
	// wants reports whether the stream's filter passes a change.
	wants  func(memtable.Change) bool
	shards [shards]shard
}

// shard is the part of the stream that its follower has yet to take.
type shard struct {
	records []events.DynamoDBEventRecord
	busy    bool
}

// relayed reports whether the relay gets a change.
func relayed(c memtable.Change) bool {
	kind := textOf(c.New, "kind")
	return c.Event == "INSERT" && slices.Contains(worker.RelayedKinds, kind) || c.Event != "REMOVE" &&
		analytics.Passes(kind, textOf(c.New, "f_state"))
}

// follow moves the table's changes into the stream.
func (w *world) follow() {
	changes := w.engine.Changes(tableName, w.seen)
	w.seen += len(changes)
	for i, c := range changes {
		w.observe(c)
		h := fnv.New32a()
		_, _ = h.Write([]byte(textOf(c.New, "pk")))
		for _, f := range w.followers {
			if s := &f.shards[h.Sum32()%shards]; f.wants(c) {
				s.records = append(s.records, recordOf(c, w.seen-len(changes)+i))
			}
		}
	}
	for _, f := range w.followers {
		for i := range f.shards {
			w.feed(f, &f.shards[i], 10*time.Millisecond)
		}
	}
}

// recordOf returns the stream's record of a change.
func recordOf(c memtable.Change, position int) events.DynamoDBEventRecord {
	image := map[string]events.DynamoDBAttributeValue{}
	for name, v := range c.New {
		switch v := v.(type) {
		case *types.AttributeValueMemberS:
			image[name] = events.NewStringAttribute(v.Value)
		case *types.AttributeValueMemberB:
			image[name] = events.NewBinaryAttribute(v.Value)
		}
	}
	return events.DynamoDBEventRecord{EventName: c.Event, Change: events.DynamoDBStreamRecord{NewImage: image,
		SequenceNumber: strconv.Itoa(position)}}
}

// feed passes the first records of a shard to its follower after a delay.
func (w *world) feed(f *follower, s *shard, after time.Duration) {
	if s.busy || len(s.records) == 0 {
		return
	}
	s.busy = true
	w.after(after, func() {
		n := 1 + w.random.IntN(min(len(s.records), 20))
		batch := events.DynamoDBEvent{Records: s.records[:n:n]}
		inv := w.invoke(f.function, fmt.Sprint("stream ", n), batch, func(out any) {
			s.busy = false
			failed := out.(events.DynamoDBEventResponse).BatchItemFailures
			if len(failed) == 0 {
				s.records = s.records[n:]
				w.feed(f, s, time.Millisecond)
				return
			}
			for s.records[0].Change.SequenceNumber != failed[0].ItemIdentifier {
				s.records = s.records[1:]
			}
			w.feed(f, s, retry)
		})
		inv.died = append(inv.died, func() {
			s.busy = false
			w.feed(f, s, retry)
		})
	})
}

// textOf returns a text of an item. The text of "doc" is the document, in whichever form it is stored.
func textOf(a attributes, name string) string {
	if name == "doc" {
		var err error
		a, err = store.Unpack(a)
		must(err)
	}
	s, _ := a[name].(*types.AttributeValueMemberS)
	if s == nil {
		return ""
	}
	return s.Value
}

// observe counts accepted work and its ends.
func (w *world) observe(c memtable.Change) {
	w.observeTeam(c)
	switch kind := textOf(c.New, "kind"); kind {
	case task.ItemKind:
		if c.Event == "INSERT" {
			w.Tasks++
		}
	case event.Kind:
		if c.Event == "INSERT" {
			w.happened = append(w.happened, c.New)
		}
	case "content_item", "generation":
		state, before := stateOf(c.New), stateOf(c.Old)
		// An item that was stored as generated does not end work: trainings learn from it.
		pk := textOf(c.New, "pk")
		switch {
		case before == "" || state == before || before == "scheduled" && state == "generated":
		case state == "published":
			w.ends["published "+pk]++
		case state == "failed" && (before == "publishing" || before == "scheduled"):
			w.ends["unpublished "+pk]++
		case state == "generated" || state == "failed":
			w.ends[pk]++
		}
	case advice.DiagnosisItemKind, advice.ProposalItemKind:
		w.observeReview(c)
	case automation.ItemKind:
		w.observeAutomation(c)
	case plan.ItemKind:
		w.observePlan(c)
	case training.ItemKind:
		w.observeTraining(c)
	case webhook.DeliveryKind:
		w.observeHeld(c)
	}
}

func stateOf(a attributes) string {
	var doc struct {
		State string
		Item  struct{ State string } // of a content item
	}
	_ = json.Unmarshal([]byte(textOf(a, "doc")), &doc)
	return cmp.Or(doc.State, doc.Item.State)
}

// bus is the customer's bus. Its only rule sends all events to dispatch.
type bus struct{}

var _ worker.Bus = bus{}

// Publish implements worker.Bus.
func (bus) Publish(ctx context.Context, batch []worker.BusEvent) (failed []error, err error) {
	w := invocationOf(ctx).world
	var details []string
	for _, e := range batch {
		details = append(details, e.Detail)
	}
	err = insist(ctx, func() *call {
		return &call{kind: toBus, key: "PutEvents " + strings.Join(details, " "), lost: errLost, refused: errRefused,
			do: func() error {
				failed = make([]error, len(batch))
				for i, e := range batch {
					if !w.calm && chance(w.random, w.faults.Refuse) {
						failed[i] = &queue.RefusedEntry{Code: "InternalFailure"}
					} else {
						w.queues[topology.Dispatch].put(`{"detail":`+e.Detail+`}`, 0)
					}
				}
				return nil
			}}
	})
	return failed, err
}

// entry is an action of the scheduler at a time.
type entry struct {
	at  time.Time
	seq int
	do  func()
}

type agenda []*entry

func (e agenda) Len() int { return len(e) }
func (e agenda) Less(i, j int) bool {
	if c := e[i].at.Compare(e[j].at); c != 0 {
		return c < 0
	}
	return e[i].seq < e[j].seq
}
func (e agenda) Swap(i, j int) { e[i], e[j] = e[j], e[i] }

// Push implements heap.Interface.
func (e *agenda) Push(x any) { *e = append(*e, x.(*entry)) }

// Pop implements heap.Interface.
func (e *agenda) Pop() any {
	old := *e
	last := old[len(old)-1]
	*e = old[:len(old)-1]
	return last
}

// after schedules an action after a duration.
func (w *world) after(d time.Duration, do func()) {
	w.seq++
	heap.Push(&w.events, &entry{time.Now().Add(d), w.seq, do})
}

// run performs one action after another until the world is quiet. Between two of them every goroutine is blocked:
// at the gate, or waiting for a time.
func (w *world) run() {
	for {
		synctest.Wait()
		select {
		case <-w.wake:
		default:
		}
		w.admit()
		w.follow()
		if w.quiet() {
			return
		}
		if len(w.events) == 0 {
			<-w.wake // some goroutine waits for a time
			continue
		}
		if d := time.Until(w.events[0].at); d > 0 {
			t := time.NewTimer(d)
			select {
			case <-w.wake:
			case <-t.C:
			}
			t.Stop()
			continue
		}
		heap.Pop(&w.events).(*entry).do()
	}
}

// admit decides the fate of the calls that have arrived at the gate.
func (w *world) admit() {
	w.mu.Lock()
	arrived, calls := w.arrived, w.asked
	w.arrived, w.asked = nil, nil
	w.mu.Unlock()
	// The goroutines may have arrived in any order.
	slices.SortStableFunc(arrived, func(a, b *call) int {
		return cmp.Or(cmp.Compare(a.by.id, b.by.id), cmp.Compare(a.key, b.key))
	})
	slices.SortStableFunc(calls, func(a, b asked) int { return cmp.Compare(a.key+a.path, b.key+b.path) })
	for _, a := range calls {
		w.after(time.Millisecond, func() { w.answer(a) })
	}
	for _, c := range arrived {
		f := w.fate(c)
		w.after(f.latency, func() { w.carryOut(c, f) })
	}
}

// carryOut carries out a call as its fate says, and answers it.
func (w *world) carryOut(c *call, f fate) {
	if c.by.crashed {
		// The call was on its way when its function died.
		if f.sent && c.kind != toCaller {
			w.note("late %s", c.key)
			_ = c.do()
		}
		c.fails(errCrashed)
		return
	}
	w.note("%s %s %s", f.what, c.by.id, c.key)
	switch f.what {
	case crashBefore:
		w.crash(c.by)
		c.fails(errCrashed)
	case crashAfter:
		_ = c.do()
		w.crash(c.by)
		c.fails(errCrashed)
	case lose:
		_ = c.do()
		c.fails(c.lost)
	case throttle:
		c.answer <- cmp.Or(c.throttled, c.refused)
	case refuse:
		c.answer <- c.refused
	case conflict:
		c.answer <- c.conflict()
	default:
		c.answer <- c.do()
	}
}

// fails returns an error as the answer of a call that was carried out.
func (c *call) fails(err error) {
	if c.unheard != nil {
		c.unheard()
	}
	c.answer <- err
}

// note adds a line to the trace.
func (w *world) note(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %d %s", w.trace, time.Now().UnixNano(), line)
	w.trace = h.Sum64()
	w.steps++
	if w.Trace != nil {
		fmt.Fprintf(w.Trace, "%s %s\n", time.Now().Format("15:04:05.000000"), line)
	}
}

// chance reports whether an event of the given probability happens.
func chance(r *rand.Rand, p float64) bool { return p > 0 && r.Float64() < p }

// between returns a random duration. Short ones are more likely.
func between(r *rand.Rand, least, most time.Duration) time.Duration {
	x := r.Float64()
	return least + time.Duration(x*x*x*float64(most-least))
}

// table is the functions' client of the state table. It reaches the table of the world that the calling function
// belongs to.
type table struct{}

var _ store.Client = table{}

// tableName is the name of the state table.
const tableName = "state"

// The errors of calls that fail because of AWS.
var (
	errLost    = &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}
	errRefused = &types.ProvisionedThroughputExceededException{Message: aws.String("refused")}
)

type attributes = map[string]types.AttributeValue

// ask makes a call of the table as the SDK does. If conflict is not nil, it answers a call that conflicts with
// another on the same items.
func ask[In, Out any](ctx context.Context, name, key string, in *In, options []func(*dynamodb.Options),
	do func(*memtable.Engine, context.Context, *In, ...func(*dynamodb.Options)) (*Out, error),
	conflict func(*memtable.Engine) (*Out, error)) (*Out, error) {
	w := invocationOf(ctx).world
	w.permit(invocationOf(ctx).serves, in)
	var out *Out
	err := insist(ctx, func() *call {
		answer := new(*Out)
		c := &call{kind: toTable, key: name + " " + key, lost: errLost, refused: errRefused}
		c.do = func() (err error) {
			// The world outlives the function: a call that was sent is carried out.
			*answer, err = do(w.engine, context.Background(), in, options...)
			out = *answer
			return err
		}
		if conflict != nil {
			c.conflict = func() (err error) {
				out, err = conflict(w.engine)
				return err
			}
		}
		return c
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func keyOf(a attributes) string {
	text := func(name string) string {
		s, _ := a[name].(*types.AttributeValueMemberS)
		if s == nil {
			return "?"
		}
		return s.Value
	}
	return text("pk") + "/" + text("sk")
}

// GetItem implements store.Client.
func (table) GetItem(ctx context.Context, in *dynamodb.GetItemInput,
	options ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	out, err := ask(ctx, "GetItem", keyOf(in.Key), in, options, (*memtable.Engine).GetItem, nil)
	if err == nil && invocationOf(ctx).world.Defect == LeaseIgnored {
		hideLease(out.Item)
	}
	return out, err
}

// BatchGetItem implements store.Client. A conflict leaves some keys unprocessed.
func (table) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput,
	options ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	var names []string
	for _, k := range in.RequestItems[tableName].Keys {
		names = append(names, keyOf(k))
	}
	return ask(ctx, "BatchGetItem", inOrder(names), in, options, (*memtable.Engine).BatchGetItem,
		func(*memtable.Engine) (*dynamodb.BatchGetItemOutput, error) {
			return &dynamodb.BatchGetItemOutput{UnprocessedKeys: in.RequestItems}, nil
		})
}

// Query implements store.Client.
func (table) Query(ctx context.Context, in *dynamodb.QueryInput,
	options ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	partition, _ := in.ExpressionAttributeValues[":p"].(*types.AttributeValueMemberS)
	key := fmt.Sprint(aws.ToString(in.IndexName), " ", *in.KeyConditionExpression)
	if partition != nil {
		key += " " + partition.Value
	}
	return ask(ctx, "Query", key+" "+keyOf(in.ExclusiveStartKey), in, options, (*memtable.Engine).Query, nil)
}

// Scan implements store.Client.
func (table) Scan(ctx context.Context, in *dynamodb.ScanInput,
	options ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	return ask(ctx, "Scan", keyOf(in.ExclusiveStartKey), in, options, (*memtable.Engine).Scan, nil)
}

// PutItem implements store.Client.
func (table) PutItem(ctx context.Context, in *dynamodb.PutItemInput,
	options ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	if invocationOf(ctx).world.Defect == StepUnfenced {
		put := unfenced(types.Put{Item: in.Item, ConditionExpression: in.ConditionExpression,
			ExpressionAttributeNames:  in.ExpressionAttributeNames,
			ExpressionAttributeValues: in.ExpressionAttributeValues})
		changed := *in
		changed.ConditionExpression, changed.ExpressionAttributeNames,
			changed.ExpressionAttributeValues = put.ConditionExpression, put.ExpressionAttributeNames,
			put.ExpressionAttributeValues
		in = &changed
	}
	return ask(ctx, "PutItem", keyOf(in.Item), in, options, (*memtable.Engine).PutItem,
		func(*memtable.Engine) (*dynamodb.PutItemOutput, error) {
			return nil, &types.TransactionConflictException{Message: aws.String("conflict")}
		})
}

// UpdateItem implements store.Client.
func (table) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput,
	options ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return ask(ctx, "UpdateItem", keyOf(in.Key), in, options, (*memtable.Engine).UpdateItem,
		func(*memtable.Engine) (*dynamodb.UpdateItemOutput, error) {
			return nil, &types.TransactionConflictException{Message: aws.String("conflict")}
		})
}

// TransactWriteItems implements store.Client.
func (table) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput,
	options ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	w := invocationOf(ctx).world
	if w.Defect == StepUnfenced {
		changed := *in
		changed.TransactItems = slices.Clone(in.TransactItems)
		for i, item := range changed.TransactItems {
			if item.Put != nil {
				put := unfenced(*item.Put)
				changed.TransactItems[i].Put = &put
			}
		}
		in = &changed
	}
	var names []string
	for _, item := range in.TransactItems {
		switch {
		case item.Put != nil:
			names = append(names, "+"+keyOf(item.Put.Item))
		case item.Update != nil:
			names = append(names, "~"+keyOf(item.Update.Key))
		case item.Delete != nil:
			names = append(names, "-"+keyOf(item.Delete.Key))
		case item.ConditionCheck != nil:
			names = append(names, "?"+keyOf(item.ConditionCheck.Key))
		}
	}
	return ask(ctx, "TransactWriteItems", strings.Join(names, " "), in, options, (*memtable.Engine).TransactWriteItems,
		func(*memtable.Engine) (*dynamodb.TransactWriteItemsOutput, error) {
			reasons := make([]types.CancellationReason, len(in.TransactItems))
			for i := range reasons {
				reasons[i].Code = aws.String("None")
			}
			reasons[w.random.IntN(len(reasons))].Code = aws.String("TransactionConflict")
			return nil, &types.TransactionCanceledException{CancellationReasons: reasons}
		})
}
