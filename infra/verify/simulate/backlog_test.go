package simulate_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/base/backoff"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/store/memtable"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/pkg/task/queue"
)

var (
	owner = tenant.Of("acc_1", tenant.Live)
	errNo = errors.New("no")
)

// The times of the function that searches for overdue tasks.
const (
	every   = time.Minute
	timeout = 55 * time.Second
)

// counter is a queue that handles one call at a time, takes time for each, and counts the messages of each task.
type counter struct {
	takes time.Duration
	// refuse returns an error to refuse a message.
	reject func(body string) error

	calls    chan struct{} // one at a time
	mu       sync.Mutex
	messages map[string]int
	delays   map[string]time.Duration
	last     time.Time // when the last message arrived
}

func newCounter(takes time.Duration) *counter {
	return &counter{takes: takes, calls: make(chan struct{}, 1), messages: map[string]int{},
		delays: map[string]time.Duration{}}
}

func (c *counter) Send(ctx context.Context, messages ...queue.Message) []error {
	if c.takes > 0 {
		select {
		case c.calls <- struct{}{}:
			defer func() { <-c.calls }()
		case <-ctx.Done():
			return slices.Repeat([]error{ctx.Err()}, len(messages))
		}
		if err := backoff.Sleep(ctx, c.takes); err != nil {
			return slices.Repeat([]error{err}, len(messages))
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = time.Now()
	failed := make([]error, len(messages))
	for i, m := range messages {
		id := strings.Split(m.Body, `"`)[3]
		if c.reject != nil {
			failed[i] = c.reject(id)
		}
		if failed[i] == nil {
			c.messages[id]++
			c.delays[id] = m.Delay
		}
	}
	return failed
}

// most returns the number of tasks with a message, and the largest number of messages of one task.
func (c *counter) most() (tasks, most int) {
	for _, n := range c.messages {
		most = max(most, n)
	}
	return len(c.messages), most
}

// gate is a table that may refuse calls.
type gate struct {
	*memtable.Engine
	reject func(partition string) error
}

func (g *gate) Query(ctx context.Context, in *dynamodb.QueryInput,
	options ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	if p, _ := in.ExpressionAttributeValues[":p"].(*types.AttributeValueMemberS); g.reject != nil && p != nil {
		if err := g.reject(p.Value); err != nil {
			return nil, err
		}
	}
	return g.Engine.Query(ctx, in, options...)
}

// backlog is a table with a reconciler, in the fake time of a synctest bubble.
type backlog struct {
	*testing.T
	gate   *gate
	db     *store.DB
	queue  *counter
	search *task.Reconciler
}

func newBacklog(t *testing.T, takes time.Duration) *backlog {
	b := &backlog{T: t, gate: &gate{Engine: memtable.New(time.Now)}, queue: newCounter(takes)}
	client := dynamodb.NewFromConfig(aws.Config{
		Region: "eu-central-1", BaseEndpoint: aws.String("http://memory"), HTTPClient: b.gate.Engine,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "test", SecretAccessKey: "test"}, nil
		}),
	})
	if err := storetest.CreateTable(t.Context(), client, "state"); err != nil {
		t.Fatal(err)
	}
	b.db = store.Open(aws.Config{}, "state", store.WithClient(b.gate), store.WithClock(time.Now))
	b.search = b.reconciler(b.db)
	return b
}

func (b *backlog) reconciler(db *store.DB) *task.Reconciler {
	queues := map[topology.Queue]queue.Sender{topology.GenerateText: queue.Wide(b.queue)}
	return task.NewReconciler(db, time.Now, task.OverdueTasks(task.NewSender(queues), time.Now)...)
}

// create creates tasks that are due after a duration.
func (b *backlog) create(due time.Duration, ids ...string) {
	b.Helper()
	for some := range slices.Chunk(ids, 50) {
		tx := &store.Tx{}
		for _, id := range some {
			m := task.Message{ID: id, Kind: "count", Queue: topology.GenerateText, Owner: owner}
			if err := task.Create(tx, time.Now(), task.Task{Message: m, DueAt: time.Now().Add(due)}, 0); err != nil {
				b.Fatal(err)
			}
		}
		if err := b.db.Commit(b.Context(), tx); err != nil {
			b.Fatal(err)
		}
	}
}

// run searches as the function does: it ends in time, and sends nothing after its end.
func (b *backlog) run(atOnce bool) (task.ReconcileResult, error) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), timeout)
	defer cancel()
	began := time.Now()
	found, err := b.search.Run(ctx, atOnce)
	if ctx.Err() != nil {
		b.Error("the function timed out")
	}
	if took := b.queue.last.Sub(began); took > timeout-time.Second {
		b.Errorf("a message was sent after %v of %v", took, timeout)
	}
	return found, err
}

// minute searches, and waits for the next search.
func (b *backlog) minute() task.ReconcileResult {
	b.Helper()
	next := time.Now().Add(every)
	found, err := b.run(false)
	if err != nil {
		b.Fatal(err)
	}
	<-time.After(time.Until(next))
	return found
}

func ids(name string, n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("task#%s%04d", name, i))
	}
	return all
}

// TestABacklogIsSentOnceAndHoldsBackNothingScheduled checks that with time for 600 messages a minute, 2,000 overdue
// tasks get one each within four runs, and that a scheduled task gets its message before it is due.
func TestABacklogIsSentOnceAndHoldsBackNothingScheduled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBacklog(t, 833*time.Millisecond)
		b.create(0, ids("late", 2000)...)
		<-time.After(65 * time.Minute) // the next reminder is due after 128
		const planned = 17 * time.Minute
		b.create(planned, "task#planned")
		<-time.After(planned - 2*time.Minute - time.Second)
		for n := range 4 {
			found := b.minute()
			if want := n < 3; found.Unfinished != want {
				t.Errorf("run %d found %+v", n+1, found)
			}
			if found.Oldest < 79*time.Minute {
				t.Errorf("run %d says that the oldest is late by %v", n+1, found.Oldest)
			}
			if n == 1 && b.queue.messages["task#planned"] != 1 {
				t.Error("the scheduled task has no message before it is due")
			}
		}
		if tasks, most := b.queue.most(); tasks != 2001 || most != 1 {
			t.Errorf("%d tasks got messages, one of them %d", tasks, most)
		}
		// The tasks get no second message until they are twice as late; then they get one.
		for range 35 {
			b.minute()
		}
		if tasks, most := b.queue.most(); tasks != 2001 || most > 5 {
			t.Errorf("%d tasks got messages, one of them %d", tasks, most)
		}
		delete(b.queue.messages, "task#planned") // it is late by now
		if _, most := b.queue.most(); most != 1 {
			t.Errorf("a task got %d messages", most)
		}
		for range 30 {
			b.minute()
		}
		for id, n := range b.queue.messages {
			if n != 2 && id != "task#planned" {
				t.Fatalf("%s got %d messages", id, n)
			}
		}
	})
}

// TestAnUnreadableShardHoldsBackNoOther checks that a shard that cannot be read delays no other, and continues when
// it can be read.
func TestAnUnreadableShardHoldsBackNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBacklog(t, 0)
		b.create(0, ids("late", 200)...)
		<-time.After(3 * time.Minute)
		b.gate.reject = func(partition string) error {
			if partition == "task#3" {
				return errNo
			}
			return nil
		}
		found, err := b.run(false)
		if !errors.Is(err, errNo) || !strings.Contains(err.Error(), "task#3") || found.Resent < 100 ||
			found.Resent == 200 {
			t.Errorf("%+v, %v", found, err)
		}
		b.gate.reject = nil
		if rest, err := b.run(false); err != nil || rest.Resent != 200-found.Resent {
			t.Errorf("%+v after %+v, %v", rest, found, err)
		}
		if tasks, most := b.queue.most(); tasks != 200 || most != 1 {
			t.Errorf("%d tasks got messages, one of them %d", tasks, most)
		}
	})
}

// TestAMessageThatIsRefusedIsSentAlone checks that the next run sends a refused message, and no other.
func TestAMessageThatIsRefusedIsSentAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBacklog(t, 0)
		b.create(0, ids("late", 50)...)
		<-time.After(130 * time.Second)
		b.queue.reject = func(id string) error {
			if id == "task#late0017" {
				return errNo
			}
			return nil
		}
		for range 2 {
			if _, err := b.run(false); !errors.Is(err, errNo) {
				t.Error(err)
			}
			<-time.After(10 * time.Second)
		}
		b.queue.reject = nil
		if found, err := b.run(false); err != nil || found.Resent != 1 {
			t.Errorf("%+v, %v", found, err)
		}
		if tasks, most := b.queue.most(); tasks != 50 || most != 1 {
			t.Errorf("%d tasks got messages, one of them %d", tasks, most)
		}
	})
}

// TestWhatCannotBeDecodedIsPutAside checks that an item that cannot be decoded is put aside: all other tasks get
// their messages, and no run fails.
func TestWhatCannotBeDecodedIsPutAside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBacklog(t, 0)
		b.create(0, ids("late", 30)...)
		out, err := b.gate.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("state"),
			Key: map[string]types.AttributeValue{
				"pk": &types.AttributeValueMemberS{Value: "task#late0003"},
				"sk": &types.AttributeValueMemberS{Value: "#"},
			}})
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]types.AttributeValue{
			"packed": &types.AttributeValueMemberB{Value: []byte("garbage")},
			"doc":    &types.AttributeValueMemberS{Value: `{"step": "one"`},
		} {
			delete(out.Item, "doc")
			delete(out.Item, "packed")
			out.Item[name] = value
			out.Item["pk"] = &types.AttributeValueMemberS{Value: "task#" + name}
			if _, err := b.gate.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("state"),
				Item: out.Item}); err != nil {
				t.Fatal(err)
			}
		}
		bad := task.Tasks.Key("task#late0003", time.Now())
		out.Item["due_sk"], out.Item["pk"] = &types.AttributeValueMemberS{Value: "0 soon"},
			&types.AttributeValueMemberS{Value: "task#when"}
		if _, err := b.gate.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("state"),
			Item: out.Item}); err != nil || bad.PK == "" {
			t.Fatal(err)
		}
		<-time.After(130 * time.Second)
		if found, err := b.run(false); err != nil || found.Resent != 30 || found.Aside != 3 {
			t.Errorf("%+v, %v", found, err)
		}
		if found, err := b.run(false); err != nil || found.Resent != 0 {
			t.Errorf("%+v, %v", found, err)
		}
	})
}

// TestWhatIsAskedForAtOnceGoesOn checks that the following runs send the messages for which an operator's immediate
// run has no time.
func TestWhatIsAskedForAtOnceGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBacklog(t, 833*time.Millisecond)
		b.create(0, ids("late", 1000)...)
		b.create(time.Minute, "task#soon")
		<-time.After(130 * time.Second)
		b.minute() // most have their first message
		began := len(b.queue.messages)
		found, err := b.run(true)
		if err != nil || !found.Unfinished || began < 400 {
			t.Fatalf("%d, and then %+v, %v", began, found, err)
		}
		<-time.After(5 * time.Second)
		for range 3 {
			b.minute()
		}
		tasks, most := b.queue.most()
		for id, n := range b.queue.messages {
			if n > 3 {
				t.Errorf("%s got %d messages", id, n)
			}
		}
		if tasks != 1001 || most < 2 {
			t.Errorf("%d tasks got messages, one of them %d", tasks, most)
		}
	})
}
