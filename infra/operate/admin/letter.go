package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

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
