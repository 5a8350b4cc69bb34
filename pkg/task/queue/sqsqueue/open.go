package sqsqueue

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// Open returns the queues at the given addresses, by their names.
func Open[Name comparable](cfg aws.Config, urls map[Name]string) map[Name]*Queue {
	client := sqs.NewFromConfig(cfg)
	queues := make(map[Name]*Queue, len(urls))
	for name, url := range urls {
		queues[name] = New(client, url)
	}
	return queues
}
