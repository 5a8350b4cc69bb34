// Package worker connects the functions that take the steps of tasks. Each function has a package below this one, whose
// Handlers has the handlers of all its tasks. The functions on AWS, the simulation and the measurements use the same
// packages. They are separate so that a function links no more than its work needs.
package worker

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/pkg/area/account/level"
	"github.com/content-automation/api/pkg/base/backoff"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/pkg/task/queue"
	"github.com/content-automation/api/pkg/task/queue/sqsqueue"
)

// Handlers are the handlers of a function, by the kinds of its tasks.
type Handlers = map[task.Kind]task.Handler

// Kernel returns the kernel of a function. It counts ended tasks for the service levels.
func Kernel(db *store.DB, handlers Handlers, now func() time.Time) *task.Kernel {
	return task.NewKernel(task.Config{
		DB: db, Handlers: handlers, Now: now, Name: rand.Text, Chance: backoff.Chance, Observe: level.Observe(db),
	})
}

// Consumer is the handler of a function that consumes queues.
type Consumer = func(context.Context, events.SQSEvent) (events.SQSEventResponse, error)

// Consume returns the handler of the function with a name, for its own queues on AWS.
func Consume(name string, cfg aws.Config, db *store.DB, handlers Handlers) Consumer {
	queues := sqsqueue.Open(cfg, needs.QueueURLs(topology.Named(name).Tasks()))
	return task.NewConsumer(Kernel(db, handlers, time.Now), queues, queue.Ticker).Handle
}
