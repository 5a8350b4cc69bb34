package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/spf13/cobra"

	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/service/worker/awsbus"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task/queue/sqsqueue"
)

// work holds the clients and addresses for the dead letters of a customer's asynchronous
// path.
type work struct {
	sqs     *sqs.Client
	streams *dynamodbstreams.Client
	relay   *worker.Relay
	levels  *account.CallCounter
	// dead has the addresses of the dead-letter queues, by the name of the queue or
	// function.
	dead map[string]string
	// unseen is the time for which a letter that was read is hidden from other readers.
	unseen time.Duration
}

// openWork connects to the queues and the event bus of a customer's stacks, whose
// names have the given prefix.
func openWork(ctx context.Context, stack string) (*work, error) {
	if stack == "" {
		return nil, errors.New("name the stacks by --stack or STACK_NAME: <customer>-<stage>-<region>, such as " +
			"acme-prod-eu-central-1")
	}
	cfg, err := configuration(ctx)
	if err != nil {
		return nil, err
	}
	client := cloudformation.NewFromConfig(cfg)
	outputs := map[string]string{}
	for _, part := range []string{"-data", "-work"} {
		name := stack + part
		out, err := client.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &name})
		if err != nil {
			return nil, fmt.Errorf("read the outputs of the stack %s: %w", name, err)
		}
		for _, s := range out.Stacks {
			for _, o := range s.Outputs {
				outputs[*o.OutputKey] = *o.OutputValue
			}
		}
	}
	w := &work{sqs: sqs.NewFromConfig(cfg), streams: dynamodbstreams.NewFromConfig(cfg), dead: map[string]string{},
		unseen: unseen}
	for _, source := range topology.DeadLetters() {
		if w.dead[source] = outputs[topology.DeadLettersOutput(source)]; w.dead[source] == "" {
			return nil, outdated(stack, topology.DeadLettersOutput(source))
		}
	}
	urls := map[topology.Queue]string{}
	for _, q := range topology.Queues {
		if urls[q] = outputs[q.Output()]; urls[q] == "" {
			return nil, outdated(stack, q.Output())
		}
	}
	for _, output := range []string{"BusName", "TableName"} {
		if outputs[output] == "" {
			return nil, outdated(stack, output)
		}
	}
	w.levels = account.NewCallCounter(store.Open(cfg, outputs["TableName"]))
	w.relay = worker.NewRelay(sqsqueue.Open(cfg, urls), awsbus.New(cfg, outputs["BusName"]))
	return w, nil
}

// outdated returns an error if stacks were deployed before an output was added.
func outdated(stack, output string) error {
	return fmt.Errorf("the stacks of %s have no output %s: deploy them anew", stack, output)
}

// mostListed is the greatest number of letters of one queue that are listed.
const mostListed = 200

func deadLettersCommand(out io.Writer, open func(context.Context, string) (*work, error)) *cobra.Command {
	cmd := group("dead-letters", "List dead letters and send them back")
	var stack, name string
	var w *work
	// It replaces the hook of the root, which requires a table.
	cmd.PersistentPreRunE = func(cmd *cobra.Command, _ []string) (err error) {
		if !cmd.HasSubCommands() {
			w, err = open(cmd.Context(), stack)
		}
		return err
	}
	cmd.PersistentFlags().StringVar(&stack, "stack", os.Getenv("STACK_NAME"), "common prefix of the stacks' names: "+
		"<customer>-<stage>-<region>")
	list := &cobra.Command{Use: "list", Short: "Count and list the dead letters without removing them",
		Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			names := slices.Sorted(maps.Keys(w.dead))
			if name != "" {
				names = []string{name}
			}
			for _, name := range names {
				url, err := w.find(name)
				if err != nil {
					return err
				}
				if err := w.list(cmd.Context(), out, name, url); err != nil {
					return err
				}
			}
			return nil
		}}
	list.Flags().StringVar(&name, "queue", "", "only the dead letters of this queue")
	most := 0
	redrive := &cobra.Command{Use: "redrive", Short: "Send dead letters back to where they came from",
		Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			url, err := w.find(name)
			if err != nil {
				return err
			}
			if most < 1 {
				return errors.New("--max must be at least 1")
			}
			return w.redrive(cmd.Context(), out, url, most)
		}}
	redrive.Flags().StringVar(&name, "queue", "", "source of the dead letters, as shown by list")
	redrive.Flags().IntVar(&most, "max", 1000, "maximum number of messages")
	_ = redrive.MarkFlagRequired("queue")
	cmd.AddCommand(list, redrive)
	return cmd
}

// find returns the address of the dead-letter queue with the name.
func (w *work) find(name string) (string, error) {
	url, ok := w.dead[name]
	if !ok {
		return "", fmt.Errorf("there are no dead letters of %q: --queue is one of %s", name,
			strings.Join(slices.Sorted(maps.Keys(w.dead)), ", "))
	}
	return url, nil
}

// list prints the number of letters of a queue, and the subject of each.
func (w *work) list(ctx context.Context, out io.Writer, name, url string) (err error) {
	n, err := w.count(ctx, url)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "%s: %d\n", name, n); err != nil || n == 0 {
		return err
	}
	var read []letter
	defer func() { err = errors.Join(err, w.letGo(ctx, url, read)) }()
	for met := map[string]bool{}; len(met) < mostListed; {
		letters, err := w.receive(ctx, url, mostListed-len(met), len(met))
		if err != nil {
			return err
		}
		fresh := 0
		for _, l := range letters {
			read = append(read, l)
			if met[aws.ToString(l.MessageId)] {
				continue
			}
			met[aws.ToString(l.MessageId)] = true
			fresh++
			if _, err := fmt.Fprintf(out, "  %s\n", &l); err != nil {
				return err
			}
		}
		if fresh == 0 || len(met) >= n {
			break
		}
	}
	return nil
}

// unseen is the time for which a dead letter that was read is hidden from other readers. It ends
// if this process dies before it releases the letter.
const unseen = time.Minute

// letter is a dead letter.
type letter struct {
	types.Message
	// body is the known part of the letter.
	body struct {
		// The member of a job.
		ID      string `json:"id"`
		Subject string `json:"subject"`
		Attempt int    `json:"attempt"`
		// The members of an event that did not reach its target.
		DetailType string `json:"detail-type"`
		Detail     struct {
			ID string `json:"id"`
		} `json:"detail"`
		// The member of a message about records of a stream.
		Records *position `json:"DDBStreamBatchInfo"`
		Context struct {
			Invocations int `json:"approximateInvokeCount"`
		} `json:"requestContext"`
	}
}

// shown matches the ids that may be printed: a letter may hold anything.
var shown = regexp.MustCompile(`^[\w.:#-]{1,120}$`)

// String describes a letter by its ids, without its content.
func (l *letter) String() string {
	b := &l.body
	about, subject, attempt := b.ID, b.Subject, b.Attempt
	switch {
	case b.Records != nil:
		about, subject, attempt = b.Records.Shard, b.Records.First, b.Context.Invocations
	case b.DetailType != "":
		about, subject = b.Detail.ID, b.DetailType
	}
	for _, s := range []*string{&about, &subject} {
		if !shown.MatchString(*s) {
			*s = "-"
		}
	}
	first := "-"
	if ms, err := strconv.ParseInt(l.attribute(types.MessageSystemAttributeNameApproximateFirstReceiveTimestamp), 10,
		64); err == nil {
		first = time.UnixMilli(ms).UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("%s  job %s  subject %s  attempt %d  first received %s  received %s times",
		aws.ToString(l.MessageId), about, subject, attempt, first,
		l.attribute(types.MessageSystemAttributeNameApproximateReceiveCount))
}

func (l *letter) attribute(name types.MessageSystemAttributeName) string {
	return l.Attributes[string(name)]
}

// receive reads up to most letters, which are then hidden from other readers for a while. Letters beyond the number
// that this command has read may be hidden, too, by another reader or by a lost answer: receive waits for them.
func (w *work) receive(ctx context.Context, url string, most, read int) ([]letter, error) {
	for until := time.Now().Add(w.unseen + w.unseen/10); ; {
		letters, err := w.receiveNow(ctx, url, most)
		if err != nil || len(letters) > 0 || time.Now().After(until) {
			return letters, err
		}
		if n, err := w.count(ctx, url); err != nil || n <= read {
			return nil, err
		}
	}
}

// receiveNow reads up to most letters that are visible.
func (w *work) receiveNow(ctx context.Context, url string, most int) ([]letter, error) {
	out, err := w.sqs.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl: &url, MaxNumberOfMessages: int32(min(most, 10)), VisibilityTimeout: int32(w.unseen / time.Second),
		WaitTimeSeconds:             1, // Without a wait, SQS asks only some of its servers.
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
		MessageAttributeNames:       []string{"All"},
	})
	if err != nil {
		return nil, err
	}
	letters := make([]letter, len(out.Messages))
	for i, m := range out.Messages {
		letters[i].Message = m
		// A letter that is not JSON of the service is listed without its subject.
		_ = json.Unmarshal([]byte(aws.ToString(m.Body)), &letters[i].body)
	}
	return letters, nil
}

// letGo makes letters visible to other readers again at once.
func (w *work) letGo(ctx context.Context, url string, letters []letter) error {
	var all error
	for _, l := range letters {
		_, err := w.sqs.ChangeMessageVisibility(context.WithoutCancel(ctx),
			&sqs.ChangeMessageVisibilityInput{QueueUrl: &url, ReceiptHandle: l.ReceiptHandle})
		all = errors.Join(all, err)
	}
	return all
}

// count returns the approximate number of letters.
func (w *work) count(ctx context.Context, url string) (int, error) {
	names := []types.QueueAttributeName{types.QueueAttributeNameApproximateNumberOfMessages,
		types.QueueAttributeNameApproximateNumberOfMessagesNotVisible}
	out, err := w.sqs.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: names})
	if err != nil {
		return 0, err
	}
	sum := 0
	for _, name := range names {
		n, err := strconv.Atoi(out.Attributes[string(name)])
		if err != nil {
			return 0, fmt.Errorf("count the messages of %s: %w", url, err)
		}
		sum += n
	}
	return sum, nil
}

// redrive sends each dead letter back to its origin, and then deletes it. An interruption may
// duplicate a message, which consumers ignore.
func (w *work) redrive(ctx context.Context, out io.Writer, url string, most int) (err error) {
	var stay []letter
	defer func() { err = errors.Join(err, w.letGo(ctx, url, stay)) }()
	moved, met := 0, map[string]bool{}
	for moved < most {
		letters, err := w.receive(ctx, url, most-moved, len(met)-moved)
		if err != nil {
			return err
		}
		fresh := 0
		for _, l := range letters {
			if met[aws.ToString(l.MessageId)] {
				stay = append(stay, l) // With its new receipt, since it stays.
				continue
			}
			met[aws.ToString(l.MessageId)] = true
			fresh++
			to, err := w.sendBack(ctx, url, l)
			if err != nil {
				stay = append(stay, l)
				if _, err := fmt.Fprintf(out, "stays: %s: %v\n", &l, err); err != nil {
					return err
				}
				continue
			}
			if _, err := w.sqs.DeleteMessage(ctx,
				&sqs.DeleteMessageInput{QueueUrl: &url, ReceiptHandle: l.ReceiptHandle}); err != nil {
				return fmt.Errorf("%s went to %s and stays: %w", &l, to, err)
			}
			moved++
			if _, err := fmt.Fprintf(out, "%s: %s\n", to, &l); err != nil {
				return err
			}
		}
		if fresh == 0 {
			break
		}
	}
	if _, err := fmt.Fprintf(out, "%d moved\n", moved); err != nil {
		return err
	}
	if len(stay) > 0 {
		return fmt.Errorf("%d dead letters stay", len(stay))
	}
	return nil
}

// sendBack sends a letter of the queue at url back to its origin, and returns the origin's name.
func (w *work) sendBack(ctx context.Context, url string, l letter) (string, error) {
	if l.body.Records != nil {
		if url == w.dead["levels"] {
			return "counted", w.replay(ctx, *l.body.Records, w.levels.Handle)
		}
		return "relayed", w.replay(ctx, *l.body.Records, w.relay.Handle)
	}
	// SQS names the queue that moved the message here. EventBridge names the target that
	// it could not reach.
	from := l.attribute(types.MessageSystemAttributeNameDeadLetterQueueSourceArn)
	if from == "" {
		from = aws.ToString(l.MessageAttributes["TARGET_ARN"].StringValue)
	}
	source, err := arn.Parse(from)
	if err != nil {
		return "", errors.New("it does not say where it came from")
	}
	if source.Service == "lambda" {
		// A late call would do no more than the next call of the schedule.
		return "dropped, since the schedule has called again", nil
	}
	q, err := w.sqs.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &source.Resource,
		QueueOwnerAWSAccountId: &source.AccountID})
	if err != nil {
		return "", err
	}
	in := &sqs.SendMessageInput{QueueUrl: q.QueueUrl, MessageBody: l.Body}
	if group := l.attribute(types.MessageSystemAttributeNameMessageGroupId); group != "" {
		in.MessageGroupId = &group
	}
	_, err = w.sqs.SendMessage(ctx, in)
	return "moved to " + source.Resource, err
}

// position is the position in a stream at which a function failed. Lambda sends it instead of
// the records.
type position struct {
	Stream string    `json:"streamArn"`
	Shard  string    `json:"shardId"`
	First  string    `json:"startSequenceNumber"`
	Last   string    `json:"endSequenceNumber"`
	At     time.Time `json:"approximateArrivalOfFirstRecord"`
}

// mostPages is the greatest number of pages to read. The records of one batch are on few pages.
const mostPages = 100

// replay reads records again, and passes them to the handler of the function that failed.
func (w *work) replay(ctx context.Context, p position,
	handle func(context.Context, events.DynamoDBEvent) (events.DynamoDBEventResponse, error)) error {
	last, ok := new(big.Int).SetString(p.Last, 10)
	if !ok {
		return errors.New("it tells no position in a stream")
	}
	at, err := w.streams.GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{
		StreamArn: &p.Stream, ShardId: &p.Shard, SequenceNumber: &p.First,
		ShardIteratorType: streams.ShardIteratorTypeAtSequenceNumber,
	})
	if err != nil {
		return forgotten(err, p)
	}
	var batch events.DynamoDBEvent
	next := at.ShardIterator
	for page := 0; next != nil && page < mostPages; page++ {
		out, err := w.streams.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: next})
		if err != nil {
			return forgotten(err, p)
		}
		next = out.NextShardIterator
		for _, r := range out.Records {
			n, ok := new(big.Int).SetString(aws.ToString(r.Dynamodb.SequenceNumber), 10)
			if !ok || n.Cmp(last) > 0 {
				next = nil
				break
			}
			batch.Records = append(batch.Records, record(r))
			if n.Cmp(last) == 0 {
				next = nil
				break
			}
		}
	}
	if len(batch.Records) == 0 {
		return errors.New("the stream has no records at its position")
	}
	answer, err := handle(ctx, batch)
	if err != nil {
		return err
	}
	if len(answer.BatchItemFailures) > 0 {
		return fmt.Errorf("the record %s fails again: mend the cause first", answer.BatchItemFailures[0].ItemIdentifier)
	}
	return nil
}

// record returns the parts of a record that the relay and the counter of calls read.
func record(r streams.Record) events.DynamoDBEventRecord {
	image := map[string]events.DynamoDBAttributeValue{}
	for name, value := range r.Dynamodb.NewImage {
		switch v := value.(type) {
		case *streams.AttributeValueMemberS:
			image[name] = events.NewStringAttribute(v.Value)
		case *streams.AttributeValueMemberN:
			image[name] = events.NewNumberAttribute(v.Value)
		case *streams.AttributeValueMemberB:
			image[name] = events.NewBinaryAttribute(v.Value)
		}
	}
	return events.DynamoDBEventRecord{
		EventName: string(r.EventName),
		Change: events.DynamoDBStreamRecord{NewImage: image,
			SequenceNumber: aws.ToString(r.Dynamodb.SequenceNumber)},
	}
}

// forgotten explains the next step if the stream does not have the records any more.
func forgotten(err error, p position) error {
	var trimmed *streams.TrimmedDataAccessException
	if !errors.As(err, &trimmed) {
		return err
	}
	return fmt.Errorf("the stream has forgotten its records of %s, which are older than a day: the function due has "+
		"sent the webhooks; work that is still queued since then must be started anew, and analytics are corrected "+
		"by `admin analytics rebuild`", p.At.UTC().Format(time.RFC3339))
}
