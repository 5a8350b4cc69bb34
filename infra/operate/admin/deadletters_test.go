package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/task/queue"
	"github.com/content-automation/api/pkg/task/queue/sqsqueue"
)

// post is a set of queues with their dead letters, in the local AWS.
type post struct {
	t    *testing.T
	cfg  aws.Config
	work *work
	// generate and dead are the addresses of a queue and of its dead letters.
	generate, dead string
	published      []string // the details of events on the bus
}

func (p *post) Publish(_ context.Context, batch []worker.BusEvent) ([]error, error) {
	for _, e := range batch {
		p.published = append(p.published, e.Detail)
	}
	return make([]error, len(batch)), nil
}

func newPost(t *testing.T) *post {
	cfg := storetest.Local(t)
	p := &post{t: t, cfg: cfg, work: &work{sqs: sqs.NewFromConfig(cfg), unseen: unseen,
		streams: dynamodbstreams.NewFromConfig(cfg)}}
	p.dead = p.queue("dead", nil)
	p.generate = p.queue("generate", map[string]string{
		"RedrivePolicy":     fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":2}`, p.arn(p.dead)),
		"VisibilityTimeout": "0",
	})
	p.work.dead = map[string]string{"generate": p.dead, "relay": p.queue("relay", nil), "event": p.queue("event", nil),
		"sweep": p.queue("sweep", nil)}
	p.work.relay = worker.NewRelay(map[topology.Queue]queue.Sender{topology.GenerateText: sqsqueue.New(p.work.sqs,
		p.generate)}, p)
	return p
}

// queue makes a queue.
func (p *post) queue(name string, attributes map[string]string) string {
	p.t.Helper()
	out, err := p.work.sqs.CreateQueue(p.t.Context(),
		&sqs.CreateQueueInput{QueueName: aws.String(name + "-" + rand.Text()), Attributes: attributes})
	if err != nil {
		p.t.Fatal(err)
	}
	return *out.QueueUrl
}

func (p *post) arn(url string) string {
	p.t.Helper()
	out, err := p.work.sqs.GetQueueAttributes(p.t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: &url,
		AttributeNames: []sqstypes.QueueAttributeName{"QueueArn"}})
	if err != nil {
		p.t.Fatal(err)
	}
	return out.Attributes["QueueArn"]
}

func (p *post) send(url, body string, attributes map[string]string) {
	p.t.Helper()
	in := &sqs.SendMessageInput{QueueUrl: &url, MessageBody: &body, MessageGroupId: aws.String("acc_1#test"),
		MessageAttributes: map[string]sqstypes.MessageAttributeValue{}}
	for name, value := range attributes {
		in.MessageAttributes[name] = sqstypes.MessageAttributeValue{DataType: aws.String("String"), StringValue: &value}
	}
	if _, err := p.work.sqs.SendMessage(p.t.Context(), in); err != nil {
		p.t.Fatal(err)
	}
}

// bodies returns the messages in a queue without removing them.
func (p *post) bodies(url string) (all []string) {
	p.t.Helper()
	n, err := p.work.count(p.t.Context(), url)
	if err != nil {
		p.t.Fatal(err)
	}
	var read []letter
	for len(all) < n {
		letters, err := p.work.receive(p.t.Context(), url, 10, len(all))
		if err != nil || len(letters) == 0 {
			p.t.Fatalf("%d of %d messages: %v", len(all), n, err)
		}
		for _, l := range letters {
			all = append(all, *l.Body)
			if group := l.attribute("MessageGroupId"); group != "acc_1#test" {
				p.t.Errorf("%s is of the group %q", *l.Body, group)
			}
		}
		read = append(read, letters...)
	}
	if err := p.work.letGo(p.t.Context(), url, read); err != nil {
		p.t.Fatal(err)
	}
	return all
}

// giveUp sends jobs to the queue, and receives them until SQS moves them to the dead-letter queue. A busy machine may
// double a message, which SQS may do, too: giveUp then begins anew, because the tests count.
func (p *post) giveUp(bodies ...string) {
	p.t.Helper()
	n := 0
	for range 3 {
		for _, body := range bodies {
			p.send(p.generate, body, nil)
		}
		for range 3 * len(bodies) {
			if _, err := p.work.sqs.ReceiveMessage(p.t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &p.generate,
				MaxNumberOfMessages: 10}); err != nil {
				p.t.Fatal(err)
			}
		}
		var err error
		if n, err = p.work.count(p.t.Context(), p.dead); err != nil {
			p.t.Fatal(err)
		}
		if n == len(bodies) {
			return
		}
		for _, url := range []string{p.generate, p.dead} {
			if _, err := p.work.sqs.PurgeQueue(p.t.Context(), &sqs.PurgeQueueInput{QueueUrl: &url}); err != nil {
				p.t.Fatal(err)
			}
		}
	}
	p.t.Fatalf("%d dead letters", n)
}

// run runs a command on the dead letters.
func (p *post) run(args ...string) (string, error) {
	p.t.Helper()
	var out bytes.Buffer
	cmd := root(&out, nil, func(_ context.Context, stack string) (*work, error) {
		if stack != "acme-eu-central-1" {
			p.t.Errorf("opened %q", stack)
		}
		return p.work, nil
	}, unaudited(p.t))
	cmd.SetArgs(append([]string{"dead-letters", "--stack", "acme-eu-central-1"}, args...))
	err := cmd.ExecuteContext(p.t.Context())
	return out.String(), err
}

// letterOf returns a job's message with content that must not be shown.
func letterOf(n int) string {
	return fmt.Sprintf(`{"id":"job#cnt_%d#3","queue":"generate-text","subject":"cnt_%[1]d","attempt":3,"account":"acc_1","mode":"test","token":"hunter2"}`, n)
}

func TestDeadLettersAreListedAndStay(t *testing.T) {
	p := newPost(t)
	p.giveUp(letterOf(1), letterOf(2), `not { json hunter2`, `{"id":"hunter2 in a sentence","subject":"a\nb"}`)
	for range 2 { // The first time has changed nothing.
		out, err := p.run("list")
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(out), "\n")
		if len(lines) != 8 || lines[0] != "event: 0" || lines[1] != "generate: 4" || lines[6] != "relay: 0" ||
			lines[7] != "sweep: 0" {
			t.Fatalf("printed\n%s", out)
		}
		for _, want := range []string{"  job job#cnt_1#3  subject cnt_1  attempt 3  first received 20",
			"  job job#cnt_2#3  subject cnt_2  attempt 3  ", "  job -  subject -  attempt 0  "} {
			if !strings.Contains(out, want) {
				t.Errorf("%q is not in\n%s", want, out)
			}
		}
		if strings.Contains(out, "hunter2") || strings.Contains(out, "received  times") {
			t.Errorf("printed\n%s", out)
		}
	}
	if n := len(p.bodies(p.dead)); n != 4 {
		t.Errorf("%d dead letters are left", n)
	}
	if out, err := p.run("list", "--queue", "relay"); err != nil || out != "relay: 0\n" {
		t.Errorf("printed %q, %v", out, err)
	}
}

func TestDeadLettersGoBackToTheirQueue(t *testing.T) {
	p := newPost(t)
	var sent []string
	for i := range 13 {
		sent = append(sent, letterOf(i))
	}
	p.giveUp(sent...)
	out, err := p.run("redrive", "--queue", "generate", "--max", "2")
	if err != nil || !strings.HasSuffix(out, "\n2 moved\n") || strings.Count(out, "moved to generate-") != 2 ||
		strings.Contains(out, "hunter2") {
		t.Errorf("printed %s, %v", out, err)
	}
	if n, err := p.work.count(t.Context(), p.dead); err != nil || n != 11 {
		t.Errorf("%d dead letters are left, %v", n, err)
	}
	if out, err = p.run("redrive", "--queue", "generate"); err != nil || !strings.HasSuffix(out, "\n11 moved\n") {
		t.Errorf("printed %s, %v", out, err)
	}
	if n, err := p.work.count(t.Context(), p.dead); err != nil || n != 0 {
		t.Errorf("%d dead letters are left, %v", n, err)
	}
	back := map[string]bool{}
	for _, body := range p.bodies(p.generate) {
		back[body] = true
	}
	for _, body := range sent {
		if !back[body] {
			t.Errorf("%s is lost", body)
		}
	}
}

// If the command dies between sending and deleting, a message may be duplicated, but never lost.
// The answer to a reader may be lost, or its process may die.
func TestDeadLettersThatAnotherReaderHidesAreAwaited(t *testing.T) {
	p := newPost(t)
	p.work.unseen = 2 * time.Second
	p.giveUp(letterOf(1), letterOf(2))
	if lost, err := p.work.receiveNow(t.Context(), p.dead, 10); err != nil || len(lost) != 2 {
		t.Fatalf("%d, %v", len(lost), err)
	}
	if out, err := p.run("redrive", "--queue", "generate"); err != nil || !strings.HasSuffix(out, "\n2 moved\n") {
		t.Errorf("printed %s, %v", out, err)
	}
}

func TestADeadLetterIsSentBeforeItIsDeleted(t *testing.T) {
	p := newPost(t)
	p.giveUp(letterOf(1))
	faults := &storetest.Faults{}
	cfg := p.cfg.Copy()
	faults.Attach(&cfg)
	p.work.sqs = sqs.NewFromConfig(cfg)
	faults.Reject("DeleteMessage", "InvalidParameterValue", 1)
	if out, err := p.run("redrive", "--queue", "generate"); err == nil || !strings.Contains(err.Error(), "and stays") {
		t.Errorf("printed %s, %v", out, err)
	}
	if got := faults.Operations(); !strings.Contains(got, "SendMessage DeleteMessage") {
		t.Errorf("it took %s", got)
	}
	if n := len(p.bodies(p.generate)); n != 1 {
		t.Errorf("%d messages are back", n)
	}
	if n, err := p.work.count(t.Context(), p.dead); err != nil || n != 1 {
		t.Errorf("%d dead letters are left, %v", n, err)
	}
	// A letter that cannot be sent stays.
	p = newPost(t)
	p.giveUp(letterOf(1))
	p.work.sqs = sqs.NewFromConfig(cfg)
	faults.Reset()
	faults.Reject("SendMessage", "InvalidParameterValue", 1)
	if out, err := p.run("redrive", "--queue", "generate"); err == nil || err.Error() != "1 dead letters stay" ||
		!strings.Contains(out, "stays: ") || !strings.HasSuffix(out, "\n0 moved\n") {
		t.Errorf("printed %s, %v", out, err)
	}
	if n := len(p.bodies(p.dead)); n != 1 {
		t.Errorf("%d dead letters are left", n)
	}
}

func TestDeadLettersOfARuleGoToItsTarget(t *testing.T) {
	p := newPost(t)
	p.send(p.work.dead["event"], `{"id":"5b2c","detail-type":"content.generated","detail":{"id":"evt_1"}}`,
		map[string]string{"TARGET_ARN": p.arn(p.generate), "ERROR_CODE": "SDK_CLIENT_ERROR"})
	out, err := p.run("redrive", "--queue", "event")
	if err != nil || !strings.Contains(out, "job evt_1  subject content.generated") {
		t.Errorf("printed %s, %v", out, err)
	}
	if got := p.bodies(p.generate); len(got) != 1 || !strings.Contains(got[0], "evt_1") {
		t.Errorf("moved %q", got)
	}
	// A missed call of a schedule is not repeated.
	p.send(p.work.dead["sweep"], `{"detail-type":"Scheduled Event","detail":{}}`,
		map[string]string{"TARGET_ARN": "arn:aws:lambda:us-east-1:000000000000:function:sweep"})
	if out, err := p.run("redrive", "--queue", "sweep"); err != nil || !strings.HasPrefix(out, "dropped") ||
		!strings.HasSuffix(out, "\n1 moved\n") {
		t.Errorf("printed %s, %v", out, err)
	}
	if n := len(p.bodies(p.work.dead["sweep"])); n != 0 {
		t.Errorf("%d dead letters are left", n)
	}
	// A foreign message is not sent anywhere.
	p.send(p.work.dead["event"], `{}`, nil)
	if out, err := p.run("redrive", "--queue", "event"); err == nil ||
		!strings.Contains(out, "it does not say where it came from") {
		t.Errorf("printed %s, %v", out, err)
	}
}

// stream makes a table with a stream and writes items. It returns a function that makes the dead
// letter of a range of records.
func (p *post) stream(items ...map[string]string) func(from, to int) string {
	p.t.Helper()
	db := dynamodb.NewFromConfig(p.cfg)
	name := aws.String("stream-" + rand.Text())
	made, err := db.CreateTable(p.t.Context(), &dynamodb.CreateTableInput{
		TableName: name, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: "S"}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: "HASH"}},
		StreamSpecification:  &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: "NEW_IMAGE"},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	for _, item := range items {
		in := &dynamodb.PutItemInput{TableName: name, Item: map[string]types.AttributeValue{}}
		for name, value := range item {
			in.Item[name] = &types.AttributeValueMemberS{Value: value}
		}
		if _, err := db.PutItem(p.t.Context(), in); err != nil {
			p.t.Fatal(err)
		}
	}
	arn := made.TableDescription.LatestStreamArn
	described, err := p.work.streams.DescribeStream(p.t.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: arn})
	if err != nil {
		p.t.Fatal(err)
	}
	shard := described.StreamDescription.Shards[0].ShardId
	at, err := p.work.streams.GetShardIterator(p.t.Context(), &dynamodbstreams.GetShardIteratorInput{StreamArn: arn,
		ShardId: shard, ShardIteratorType: "TRIM_HORIZON"})
	if err != nil {
		p.t.Fatal(err)
	}
	out, err := p.work.streams.GetRecords(p.t.Context(),
		&dynamodbstreams.GetRecordsInput{ShardIterator: at.ShardIterator})
	if err != nil || len(out.Records) != len(items) {
		p.t.Fatalf("%d records, %v", len(out.Records), err)
	}
	return func(from, to int) string {
		return fmt.Sprintf(`{"requestContext":{"condition":"RetryAttemptsExhausted","approximateInvokeCount":101},"version":"1.0","DDBStreamBatchInfo":{"shardId":%q,"startSequenceNumber":%q,"endSequenceNumber":%q,"approximateArrivalOfFirstRecord":"2026-05-01T12:00:00Z","batchSize":1,"streamArn":%q}}`,
			*shard, *out.Records[from].Dynamodb.SequenceNumber, *out.Records[to].Dynamodb.SequenceNumber, *arn)
	}
}

func TestDeadLettersOfTheRelayAreReadFromTheStreamAgain(t *testing.T) {
	p := newPost(t)
	item := func(n int) map[string]string {
		return map[string]string{"pk": fmt.Sprint("job", n), "kind": "outbox", "acc": "acc_1", "mode": "test",
			"doc": letterOf(n)}
	}
	letter := p.stream(item(0), item(1), map[string]string{"pk": "thing", "kind": "thing", "doc": "{}"},
		map[string]string{"pk": "evt_1", "kind": "event", "f_type": "content.generated", "acc": "acc_1", "mode": "test",
			"doc": "{}"}, item(4), item(5),
		map[string]string{"pk": "odd", "kind": "outbox", "acc": "acc_1", "doc": `{"queue":"nowhere"}`})
	p.send(p.work.dead["relay"], letter(1, 4), nil)
	out, err := p.run("list", "--queue", "relay")
	if err != nil || !strings.Contains(out, "attempt 101") {
		t.Errorf("printed %s, %v", out, err)
	}
	if out, err := p.run("redrive", "--queue", "relay"); err != nil || !strings.HasPrefix(out, "relayed: ") ||
		!strings.HasSuffix(out, "\n1 moved\n") {
		t.Errorf("printed %s, %v", out, err)
	}
	got := strings.Join(p.bodies(p.generate), "\n")
	if !strings.Contains(got, letterOf(1)) || !strings.Contains(got, letterOf(4)) || strings.Count(got, "\n") != 1 {
		t.Errorf("relayed %s", got)
	}
	if len(p.published) != 1 || !strings.Contains(p.published[0], "evt_1") {
		t.Errorf("the bus got %q", p.published)
	}
	// A letter that still cannot be relayed stays, as does one that the stream has forgotten.
	p.send(p.work.dead["relay"], letter(6, 6), nil)
	p.send(p.work.dead["relay"], strings.Replace(letter(0, 0), `"startSequenceNumber":"`,
		`"startSequenceNumber":"9`, 1), nil)
	out, err = p.run("redrive", "--queue", "relay")
	if err == nil || err.Error() != "2 dead letters stay" ||
		!strings.Contains(out, "fails again: mend the cause first") ||
		!strings.Contains(out, "has forgotten its records of 2026-05-01T12:00:00Z") {
		t.Errorf("printed %s, %v", out, err)
	}
	if n := len(p.bodies(p.work.dead["relay"])); n != 2 {
		t.Errorf("%d dead letters are left", n)
	}
}

func TestMistakesWithDeadLettersAreToldInASentence(t *testing.T) {
	p := newPost(t)
	for args, says := range map[string]string{
		"redrive":                          `required flag(s) "queue" not set`,
		"redrive --queue generator":        `there are no dead letters of "generator": --queue is one of event, generate, relay, sweep`,
		"list --queue generator":           "--queue is one of event, generate, relay, sweep",
		"redrive --queue generate --max 0": "--max must be at least 1",
		"redrive generate":                 "unknown command",
		"drop":                             `unknown command "drop"`,
	} {
		out, err := p.run(strings.Fields(args)...)
		if err == nil || !strings.Contains(sentence(err), says) || out != "" {
			t.Errorf("%s: %v, printed %q", args, err, out)
		}
	}
	t.Setenv("AWS_REGION", "eu-central-1")
	if _, err := openWork(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "--stack or STACK_NAME") {
		t.Errorf("without a stack: %v", err)
	}
	t.Setenv("STACK_NAME", "from-environment")
	opened := ""
	cmd := root(&bytes.Buffer{}, nil, func(_ context.Context, stack string) (*work, error) {
		opened = stack
		return nil, errors.New("enough")
	}, nil)
	cmd.SetArgs([]string{"dead-letters", "list"})
	if err := cmd.ExecuteContext(t.Context()); err == nil || opened != "from-environment" {
		t.Errorf("opened %q, %v", opened, err)
	}
}
