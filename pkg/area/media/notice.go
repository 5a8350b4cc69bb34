package media

import (
	"context"
	"encoding/json"
	"path"

	"github.com/aws/aws-lambda-go/events"
)

// Handler is the handler of a queue.
type Handler func(ctx context.Context, batch events.SQSEvent) (events.SQSEventResponse, error)

// notice is the event of S3 that an object was put into the bucket.
type notice struct {
	Source string `json:"source"`
	Detail struct {
		Object struct {
			Key string `json:"key"`
		} `json:"object"`
	} `json:"detail"`
}

// Notified makes of each notice of an upload the message that wakes the media's task, and
// passes on the other messages as they are.
func Notified(tasks Handler) Handler {
	return func(ctx context.Context, batch events.SQSEvent) (events.SQSEventResponse, error) {
		for i, record := range batch.Records {
			var n notice
			if json.Unmarshal([]byte(record.Body), &n) != nil || n.Source != "aws.s3" {
				continue
			}
			body, err := json.Marshal(Wake(path.Base(n.Detail.Object.Key)))
			if err != nil {
				return events.SQSEventResponse{}, err
			}
			batch.Records[i].Body = string(body)
		}
		return tasks(ctx, batch)
	}
}
