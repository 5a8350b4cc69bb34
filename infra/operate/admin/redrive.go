package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

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
