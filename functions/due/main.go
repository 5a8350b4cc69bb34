// Command due is the Lambda function that looks after what is due: it sends the
// messages of tasks again that were lost on the way.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/content-automation/api/pkg/awsenv"
	"github.com/content-automation/api/pkg/logging"
	"github.com/content-automation/api/pkg/needs"
	"github.com/content-automation/api/pkg/queue/sqsqueue"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/pkg/topology"
)

func main() {
	logging.Setup()
	cfg := awsenv.Must(awsenv.Config())
	tasks := task.NewSender(sqsqueue.Open(cfg, needs.QueueURLs(topology.Tasks)))
	reconciler := task.NewReconciler(store.Open(cfg, needs.Read[needs.State]().Table), time.Now, task.OverdueTasks(tasks))
	lambda.Start(func(ctx context.Context, in struct {
		// Now treats all that is due as lost, without waiting for it to be overdue.
		Now bool `json:"now"`
	}) (task.Found, error) {
		return reconciler.Run(ctx, in.Now)
	})
}
