// Package worker has the table of the functions that work in the background. The programs work and compose, the local
// service, the simulation and the measurements read it. The table of functions is in table.go.
package worker

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/factory"
	incoming "github.com/content-automation/api/pkg/area/media"
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
	// Queue returns the sender of messages to a queue.
	Queue func(topology.Queue) queue.Queue
	Bus   Bus
	Files Files
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
	Uploads incoming.URLs
	// Trainer trains models. It is nil if the stack trains none.
	Trainer training.Trainer
	// Adapters are the adapters of the platforms; nil for those that Apps and PlatformEndpoint describe.
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
	// ProbeTarget reads the target of the canary.
	ProbeTarget func(context.Context) (string, error)
	// RotateSeal is the handler that rotates the sealing secret, as lambda.Start takes it. It is nil outside of AWS.
	RotateSeal any
}

// Files are the files of the media.
type Files interface {
	generate.Objects
	publication.Files
	publication.Sums
	transfer.Objects
	transfer.Lister
	incoming.Objects
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
	// PlainHandler returns the handler of a function without tasks: a Consumer, a Follower, or what lambda.NewHandler
	// takes.
	PlainHandler func(e Env) any
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
		return f.PlainHandler(e)
	}
	return f.Consume(e, f.Tasks(e))
}

// Consume returns the handler of a function that takes the steps of tasks by the handlers.
func (f Function) Consume(e Env, handlers Handlers) Consumer {
	queues := e.queues(topology.FunctionNamed(f.Name).Tasks())
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

// Target is the target of probes: the value of the canary's secret.
type Target struct {
	BaseURL string `json:"base_url"`
	// Key is a test key with the scopes content:read, content:write, factories:read and factories:write.
	Key string `json:"key"`
	// LiveKey is a live key with the same scopes, account:read and studio:use. With it each provider is probed once a
	// day, which costs credits of its account. It may be empty.
	LiveKey string `json:"live_key,omitempty"`
	// LiveProviders are the providers that are probed. If it is empty, all are.
	LiveProviders []string `json:"live_providers,omitempty"`
	// Certificate and PrivateKey are in PEM. They are for an API whose callers need a client certificate.
	Certificate string `json:"certificate,omitempty"`
	PrivateKey  string `json:"private_key,omitempty"`
	certificate *tls.Certificate
}

// ParseTarget reads the value of the secret. An empty target is not probed.
func ParseTarget(value string) (t Target, err error) {
	d := json.NewDecoder(strings.NewReader(value))
	d.DisallowUnknownFields()
	if err := d.Decode(&t); err != nil {
		return t, errors.New(`the target is no JSON such as {"base_url": "https://…", "key": "svc_test_…"}`)
	}
	if (t.BaseURL == "") != (t.Key == "") || t.Key != "" && !strings.HasPrefix(t.Key, "svc_test_") {
		return t, errors.New("the target needs base_url and key, which must be a test key")
	}
	if t.LiveKey != "" && (t.Key == "" || !strings.HasPrefix(t.LiveKey, "svc_live_")) {
		return t, errors.New("live_key of the target must be a live key, beside base_url and key")
	}
	if t.Certificate == "" && t.PrivateKey == "" {
		return t, nil
	}
	pair, err := tls.X509KeyPair([]byte(t.Certificate), []byte(t.PrivateKey))
	if err != nil || t.Key == "" {
		return t, errors.New("the target needs certificate and private_key as PEM, of the same key, beside base_url " +
			"and key")
	}
	t.certificate = &pair
	return t, nil
}

// Expires returns the time at which the client certificate expires, or the zero time if there is none.
func (t Target) Expires() time.Time {
	if t.certificate == nil {
		return time.Time{}
	}
	return t.certificate.Leaf.NotAfter
}

// client returns a client that uses the certificate of the target, and a function that closes its connections.
func (t Target) client(plain *http.Client) (c *http.Client, done func()) {
	if t.certificate == nil {
		return plain, func() {}
	}
	transport, ok := plain.Transport.(*http.Transport)
	if !ok {
		transport = http.DefaultTransport.(*http.Transport)
	}
	transport = transport.Clone()
	if transport.TLSClientConfig == nil {
		transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	transport.TLSClientConfig.Certificates = []tls.Certificate{*t.certificate}
	with := *plain
	with.Transport = transport
	return &with, transport.CloseIdleConnections
}

// SearchRequest is the argument of one search.
type SearchRequest struct {
	// Now makes the messages of all due members count as lost: an operator who knows that messages were lost need not
	// wait until they are overdue.
	Now bool `json:"now"`
}

// SearchResult is the result of a search.
type SearchResult struct {
	Tasks  task.ReconcileResult `json:"tasks"`
	Events webhook.SweepResult  `json:"events"`
	// Warnings is the number of warnings of the ends of keys, and of models that factories name.
	Warnings int `json:"warned"`
}

// Search finds due work. Searches may run at the same time.
type Search struct {
	db     *store.DB
	now    func() time.Time
	tasks  *task.Reconciler
	events *webhook.Sweeper
}

// NewSearch returns a search that sends to the queues in topology.Outbox.
func NewSearch[Q queue.Sender](db *store.DB, queues map[topology.Queue]Q, now func() time.Time) *Search {
	wide := map[topology.Queue]queue.Sender{}
	for name, q := range queues {
		wide[name] = queue.Wide(q)
	}
	return &Search{
		db: db, now: now,
		tasks:  task.NewReconciler(db, now, task.OverdueTasks(task.NewSender(wide), now)...),
		events: webhook.NewSweeper(db, now),
	}
}

// compareHour is the hour of the day (UTC) in which the bucket is compared with the table.
const compareHour = 3

// Run searches once. A failure in one part does not prevent the others.
func (s *Search) Run(ctx context.Context, in SearchRequest) (r SearchResult, err error) {
	var all sync.WaitGroup
	var failed [5]error
	var retiring int
	if s.now().UTC().Hour() == compareHour {
		all.Go(func() { failed[4] = transfer.Compare(ctx, s.db, s.now()) })
	}
	all.Go(func() { r.Tasks, failed[0] = s.tasks.Run(ctx, in.Now) })
	all.Go(func() { r.Events, failed[1] = s.events.Sweep(ctx, in.Now) })
	all.Go(func() { r.Warnings, failed[2] = apikey.WarnExpiring(ctx, s.db, s.now()) })
	all.Go(func() { retiring, failed[3] = factory.WarnRetiring(ctx, s.db, s.now()) })
	all.Wait()
	r.Warnings += retiring
	counted := account.Waited(ctx, s.db, s.now(), r.Tasks.Oldest)
	return r, errors.Join(append(failed[:], counted)...)
}
