// Package sqsqueue sends messages to queues of SQS, and hides those that are being worked on. Start with Queue.
package sqsqueue

import (
	"context"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/content-automation/api/pkg/task/queue"
)

// Client has the methods of *sqs.Client that this package uses.
type Client interface {
	SendMessageBatch(ctx context.Context, in *sqs.SendMessageBatchInput,
		options ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput, error)
	ChangeMessageVisibilityBatch(ctx context.Context, in *sqs.ChangeMessageVisibilityBatchInput,
		options ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityBatchOutput, error)
}

var _ Client = (*sqs.Client)(nil)

var _ queue.Sender = (*Queue)(nil)

var _ queue.Extender = (*Queue)(nil)

// Queue is one queue. It is safe for concurrent use.
type Queue struct {
	client Client
	url    string
}

// New makes a queue of the given address.
func New(client Client, url string) *Queue { return &Queue{client, url} }

// Send sends messages, and returns the error of each, in their order, or nil.
func (q *Queue) Send(ctx context.Context, messages ...queue.Message) []error {
	return queue.InBatches(ctx, len(messages), func(ctx context.Context, batch []int) ([]error, error) {
		in := &sqs.SendMessageBatchInput{QueueUrl: &q.url,
			Entries: make([]types.SendMessageBatchRequestEntry, len(batch))}
		for i, m := range batch {
			in.Entries[i] = entry(i, messages[m])
		}
		out, err := q.client.SendMessageBatch(ctx, in)
		if err != nil {
			return nil, err
		}
		return refused(len(batch), out.Failed), nil
	})
}

// ExtendVisibility implements queue.Extender.
func (q *Queue) ExtendVisibility(ctx context.Context, d time.Duration, receipts ...string) []error {
	return queue.InBatches(ctx, len(receipts), func(ctx context.Context, batch []int) ([]error, error) {
		in := &sqs.ChangeMessageVisibilityBatchInput{QueueUrl: &q.url,
			Entries: make([]types.ChangeMessageVisibilityBatchRequestEntry, len(batch))}
		for i, m := range batch {
			in.Entries[i] = types.ChangeMessageVisibilityBatchRequestEntry{
				Id: aws.String(strconv.Itoa(i)), ReceiptHandle: &receipts[m], VisibilityTimeout: seconds(d),
			}
		}
		out, err := q.client.ChangeMessageVisibilityBatch(ctx, in)
		if err != nil {
			return nil, err
		}
		return refused(len(batch), out.Failed), nil
	})
}

// refused returns the errors of a batch, in the order of its entries.
func refused(n int, entries []types.BatchResultErrorEntry) []error {
	failed := make([]error, n)
	for _, f := range entries {
		if i, err := strconv.Atoi(aws.ToString(f.Id)); err == nil && i < len(failed) {
			failed[i] = &queue.RefusedEntry{Code: aws.ToString(f.Code), Message: aws.ToString(f.Message),
				Final: f.SenderFault}
		}
	}
	return failed
}

// seconds rounds up: a message that arrives early would have to wait again.
func seconds(d time.Duration) int32 { return int32((d + time.Second - 1) / time.Second) }

func entry(i int, m queue.Message) types.SendMessageBatchRequestEntry {
	e := types.SendMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(i)), MessageBody: aws.String(m.Body)}
	if m.Group != "" {
		e.MessageGroupId = aws.String(m.Group)
	}
	if m.Delay > 0 {
		e.DelaySeconds = seconds(min(m.Delay, queue.LongestDelay))
	}
	return e
}

// Open returns the queues at the given addresses, by their names.
func Open[Name comparable](cfg aws.Config, urls map[Name]string) map[Name]*Queue {
	client := sqs.NewFromConfig(cfg)
	queues := make(map[Name]*Queue, len(urls))
	for name, url := range urls {
		queues[name] = New(client, url)
	}
	return queues
}
