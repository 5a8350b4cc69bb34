// Package worker has the table of the functions that work in the background. The programs work and compose, the local
// service, the simulation and the measurements read it. The table of functions is in table.go.
package worker

import (
	"context"
	"crypto/rand"
	"slices"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/people"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/area/training"
	"github.com/content-automation/api/pkg/area/transfer"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/base/backoff"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media/heif"
	"github.com/content-automation/api/pkg/media/provenance"
	"github.com/content-automation/api/pkg/record/connection"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/pkg/task/queue"
)

// Env is what the functions are made from. A function uses only what its work needs.
type Env struct {
	area.Env
	// Entries is the audit table.
	Entries *store.DB
	// Queue returns a queue.
	Queue func(topology.Queue) queue.Queue
	// Bus is the customer's bus, and BusName its name.
	Bus     Bus
	BusName string
	Files   Files
	// Models generates texts and media.
	Models generate.Providers
	// Sources reads the sources of content. It may be nil.
	Sources item.Reader
	// Repeats permits texts that repeat earlier ones, as fakes write them.
	Repeats bool
	// Composer composes media. Only the function compose has one.
	Composer generate.Composer
	// Manifests reads the manifests of files. It may be nil.
	Manifests provenance.Reader
	// FFmpeg decodes HEIC and AVIF for the function import-media. Others have none.
	FFmpeg heif.Program
	// Uploads fetches the files that callers import by their addresses; nil for the network.
	Uploads media.URLs
	// Trainer trains models. It is nil if the stack trains none.
	Trainer training.Trainer
	// Adapters are those of the platforms; nil for those that Apps and PlatformEndpoint describe.
	Adapters social.Adapters
	// Budgets replace the default budgets of platforms; see publication.Worker.
	Budgets map[string]int
	// Receivers calls the receivers of webhooks; nil for the network. Accounts sends to AWS accounts.
	Receivers webhook.Caller
	Accounts  webhook.AWSSender
	// People is the client of the user pool. It is nil in a system without one.
	People connection.Client
	// Mailer sends e-mails to people; nil if the stack sends none. URL is the address of the account area in them.
	Mailer people.Mailer
	URL    string
	// Lives reads the lives of the models of Bedrock; nil: the stack does not use Bedrock.
	Lives func(context.Context) (map[string]provider.Life, error)
	// Probed reads the target of the canary.
	Probed func(context.Context) (string, error)
	// SealSecret is the ARN of the sealing secret, to rotate it.
	SealSecret string
}

// Files are the files of the media.
type Files interface {
	generate.Objects
	publication.Files
	publication.Sums
	transfer.Objects
	transfer.Lister
	media.Objects
}

// Handlers are the handlers of a function, by the kinds of its tasks.
type Handlers = map[task.Kind]task.Handler

// Consumer is the handler of a function that consumes queues.
type Consumer = func(context.Context, events.SQSEvent) (events.SQSEventResponse, error)

// Follower is the handler of a function that a stream calls.
type Follower = func(context.Context, events.DynamoDBEvent) (events.DynamoDBEventResponse, error)

// Function is a function that works in the background.
type Function struct {
	Name string
	// Tasks returns the handlers of the tasks whose steps the function takes. It is nil for a function of other work.
	Tasks func(e Env) Handlers
	// Around returns a consumer that does more with a batch than the steps of its tasks. It may be nil.
	Around func(handlers Handlers, steps Consumer) Consumer
	// Other returns the handler of a function without tasks: a Consumer, a Follower, or what lambda.NewHandler takes.
	Other func(e Env) any
	// Prepare prepares the process on AWS. It may be nil.
	Prepare func()
}

// Named returns the function with the given name. It panics if there is none.
func Named(name string) Function {
	i := slices.IndexFunc(All, func(f Function) bool { return f.Name == name })
	if i < 0 {
		panic("worker: no function " + name)
	}
	return All[i]
}

// Open returns the handler of the function, as lambda.Start takes it.
func (f Function) Open(e Env) any {
	if f.Tasks == nil {
		return f.Other(e)
	}
	return f.Consume(e, f.Tasks(e))
}

// Consume returns the handler of a function that takes the steps of tasks by the handlers.
func (f Function) Consume(e Env, handlers Handlers) Consumer {
	queues := e.queues(topology.Named(f.Name).Tasks())
	steps := task.NewConsumer(Kernel(e.DB, handlers, e.Now), queues, queue.Ticker).Handle
	if f.Around == nil {
		return steps
	}
	return f.Around(handlers, steps)
}

// Kernel returns the kernel of a function. It counts ended tasks for the service levels.
func Kernel(db *store.DB, handlers Handlers, now func() time.Time) *task.Kernel {
	return task.NewKernel(task.Config{
		DB: db, Handlers: handlers, Now: now, Name: rand.Text, Chance: backoff.Chance, Observe: account.Observe(db),
	})
}

// queues returns the queues with the given names.
func (e Env) queues(names []topology.Queue) map[topology.Queue]queue.Queue {
	all := make(map[topology.Queue]queue.Queue, len(names))
	for _, name := range names {
		all[name] = e.Queue(name)
	}
	return all
}

// holder holds the messages of a queue.
func (e Env) holder(name topology.Queue) *queue.Holder {
	return queue.NewHolder(e.Queue(name), queue.Ticker)
}
