// Command settle is the Lambda function that ends the calls that died while they reached
// outside: it releases what they have reserved.
package main

import (
	"crypto/rand"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/content-automation/api/pkg/architect"
	"github.com/content-automation/api/pkg/awsenv"
	"github.com/content-automation/api/pkg/backoff"
	"github.com/content-automation/api/pkg/function"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/logging"
	"github.com/content-automation/api/pkg/needs"
	"github.com/content-automation/api/pkg/queue"
	"github.com/content-automation/api/pkg/queue/sqsqueue"
	"github.com/content-automation/api/pkg/seal/stored"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/pkg/topology"
)

func main() {
	logging.Setup()
	cfg, n := awsenv.Must(awsenv.Config()), needs.Read[needs.Settle]()
	db := store.Open(cfg, n.Table)
	router := httpapi.NewRouter(db, nil, time.Now) // it serves no calls, so that there is nothing to audit
	router.SealWith(stored.Secret(cfg, n.SealSecret, time.Now))
	// The areas whose operations reach outside.
	architect.Mount(router, function.Env{AWS: cfg, DB: db, Now: time.Now})
	kernel := task.NewKernel(task.Config{
		DB: db, Handlers: map[task.Kind]task.Handler{httpapi.ClaimKind: httpapi.Claims{Router: router}}, Now: time.Now, Name: rand.Text, Chance: backoff.Chance,
	})
	queues := sqsqueue.Open(cfg, needs.QueueURLs([]topology.Queue{topology.Settle}))
	lambda.Start(task.NewConsumer(kernel, queues, queue.Ticker).Handle)
}
