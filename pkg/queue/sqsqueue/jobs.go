package sqsqueue

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/content-automation/api/pkg/job"
)

// Jobs gives the queues of jobs at the given addresses.
func Jobs(cfg aws.Config, urls map[job.Queue]string) map[job.Queue]*Queue {
	client := sqs.NewFromConfig(cfg)
	queues := map[job.Queue]*Queue{}
	for name, url := range urls {
		queues[name] = New(client, url)
	}
	return queues
}
