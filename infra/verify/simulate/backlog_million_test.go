package simulate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/pkg/task/queue"
	"github.com/content-automation/api/testdata/breadth"
)

// The times of calls.
const (
	readTakes = 15 * time.Millisecond
	sendTakes = 10 * time.Millisecond
)

// crowd is a table with a great many tasks that are due at the same time. It creates them when they are read. The
// table behind it holds the checkpoints.
type crowd struct {
	store.Client
	at     time.Time
	shards map[string][]int // the numbers of the tasks, in their order
	doc    string
	// reads is the number of items that are being read, and most is its maximum.
	reads, most atomic.Int64
}

func number(id string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(id, "task#"))
	if err != nil {
		panic(err)
	}
	return n
}

func newCrowd(t *testing.T, behind store.Client, set task.Set, n int, at time.Time) *crowd {
	c := &crowd{Client: behind, at: at, shards: map[string][]int{}}
	for i := range n {
		p := set.Key(taskID(i), at).PK
		c.shards[p] = append(c.shards[p], i)
	}
	doc, err := json.Marshal(task.Task{Message: task.Message{ID: "%", Kind: "count", Queue: topology.GenerateText,
		Owner: owner, Step: 1}, DueAt: at, Parked: set == task.Parked})
	if err != nil {
		t.Fatal(err)
	}
	c.doc = string(doc)
	return c
}

func taskID(i int) string { return fmt.Sprintf("task#%07d", i) }

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func textOf(v types.AttributeValue) string { return v.(*types.AttributeValueMemberS).Value }

// Query lists keys.
func (c *crowd) Query(_ context.Context, in *dynamodb.QueryInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	<-time.After(readTakes)
	p := textOf(in.ExpressionAttributeValues[":p"])
	all, due := c.shards[p], c.at.UTC().Format(time.RFC3339)
	if textOf(in.ExpressionAttributeValues[":to"]) < due {
		return &dynamodb.QueryOutput{}, nil
	}
	if after := in.ExclusiveStartKey; after != nil {
		all = all[sort.SearchInts(all, number(textOf(after["pk"]))+1):]
	}
	out := &dynamodb.QueryOutput{}
	for i, n := range all {
		id := taskID(n)
		key := map[string]types.AttributeValue{"pk": text(id), "sk": text("#"), "due_pk": text(p),
			"due_sk": text(due + "#" + id)}
		out.Items = append(out.Items, key)
		if i+1 == int(*in.Limit) && i+1 < len(all) {
			out.LastEvaluatedKey = key
			break
		}
	}
	return out, nil
}

// BatchGetItem creates the items of keys.
func (c *crowd) BatchGetItem(_ context.Context, in *dynamodb.BatchGetItemInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	out := &dynamodb.BatchGetItemOutput{Responses: map[string][]map[string]types.AttributeValue{}}
	for table, of := range in.RequestItems {
		now := c.reads.Add(int64(len(of.Keys)))
		c.most.Store(max(now, c.most.Load()))
		<-time.After(readTakes)
		c.reads.Add(-int64(len(of.Keys)))
		set := task.Tasks
		if strings.Contains(c.doc, `"parked":true`) {
			set = task.Parked
		}
		for _, key := range of.Keys {
			id := textOf(key["pk"])
			due := set.Key(id, c.at)
			out.Responses[table] = append(out.Responses[table], map[string]types.AttributeValue{
				"pk": key["pk"], "sk": key["sk"], "kind": text(task.ItemKind), "acc": text("acc_1"),
				"mode": text("live"),
				"ver":  &types.AttributeValueMemberN{Value: "1"}, "doc": text(strings.Replace(c.doc, "%", id, 1)),
				"due_pk": text(due.PK), "due_sk": text(due.SK),
			})
		}
	}
	return out, nil
}

// tally is a queue that counts the messages of each task.
type tally struct {
	mu    sync.Mutex
	sent  []byte
	total int
}

func (q *tally) Send(_ context.Context, messages ...queue.Message) []error {
	<-time.After(sendTakes)
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, m := range messages {
		id, _, _ := strings.Cut(strings.TrimPrefix(m.Body, `{"id":"`), `"`)
		q.sent[number(id)]++
		q.total++
	}
	return make([]error, len(messages))
}

// TestAMillionTasksGetOneMessageEach checks that each of a million tasks that are due at the same time gets one
// message, that memory stays bounded, and that the runs that send the messages end in time.
func TestAMillionTasksGetOneMessageEach(t *testing.T) {
	for _, test := range []struct {
		set   task.Set
		many  int
		begin time.Duration // of the first run, after the tasks are due
		runs  int
	}{{task.Tasks, breadth.Of(100_000, 1_000_000), 65 * time.Minute, 3}, {task.Parked, 100_000, -2 * time.Minute, 3}} {
		t.Run(test.set.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBacklog(t, 0)
				at := time.Now().Add(5 * time.Minute)
				c := newCrowd(t, b.gate, test.set, test.many, at)
				q := &tally{sent: make([]byte, test.many)}
				queues := map[topology.Queue]queue.Sender{topology.GenerateText: queue.Wide(q)}
				r := task.NewReconciler(store.Open(aws.Config{}, "state", store.WithClient(c),
					store.WithClock(time.Now)), time.Now, task.OverdueTasks(task.NewSender(queues), time.Now)...)
				<-time.After(time.Until(at.Add(test.begin)))
				for range test.runs {
					next := time.Now().Add(every)
					ctx, cancel := context.WithTimeout(t.Context(), timeout)
					found, err := r.Run(ctx, false)
					if err != nil || ctx.Err() != nil {
						t.Fatal(found, err, ctx.Err())
					}
					cancel()
					t.Logf("%+v", found)
					<-time.After(time.Until(next))
				}
				for i, n := range q.sent {
					if n != 1 {
						t.Fatalf("%s got %d messages, and all %d", taskID(i), n, q.total)
					}
				}
				if most := c.most.Load(); most > 1000 {
					t.Errorf("%d items were read at a time", most)
				}
			})
		})
	}
}
