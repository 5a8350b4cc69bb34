package job

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// longestDelay is the most that SQS holds a message back.
const longestDelay = 15 * time.Minute

// SQS is a queue of jobs.
type SQS struct {
	client *sqs.Client
	url    string
}

var _ Queuer = (*SQS)(nil)

// NewSQS makes a queue of the given address.
func NewSQS(client *sqs.Client, url string) *SQS { return &SQS{client, url} }

// Requeue sends a job that is to be seen after the delay.
func (q *SQS) Requeue(ctx context.Context, j Job, delay time.Duration) error {
	body, err := json.Marshal(j)
	if err != nil {
		return err
	}
	seconds := int32((min(delay, longestDelay) + time.Second - 1) / time.Second)
	_, err = q.client.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl: &q.url, MessageBody: aws.String(string(body)), DelaySeconds: seconds,
		// A group on a standard queue shares it fairly between accounts.
		MessageGroupId: aws.String(j.Account),
	})
	if err != nil {
		return fmt.Errorf("job: send %s: %w", j.ID, err)
	}
	return nil
}
