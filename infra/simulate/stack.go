package simulate

import (
	"context"
	"crypto/rand"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"

	"github.com/content-automation/api/pkg/backoff"
	"github.com/content-automation/api/pkg/catalog"
	"github.com/content-automation/api/pkg/content"
	"github.com/content-automation/api/pkg/content/item"
	"github.com/content-automation/api/pkg/factory"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/queue"
	"github.com/content-automation/api/pkg/relay"
	"github.com/content-automation/api/pkg/seal"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/studio"
	studiogeneration "github.com/content-automation/api/pkg/studio/generation"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/pkg/topology"
	"github.com/content-automation/api/pkg/webhook"
	"github.com/content-automation/api/pkg/webhook/deliver"
	"github.com/content-automation/api/pkg/webhook/dispatch"
	"github.com/content-automation/api/pkg/webhook/hook"
)

// stack is the code under test, as the functions wire it. It keeps nothing of a seed.
type stack struct {
	db     *store.DB
	router http.Handler
	signer *media.Signer
	box    *seal.Box
}

var build = sync.OnceValue(func() stack {
	s := stack{db: store.Open(aws.Config{}, tableName, store.WithClient(table{}))}
	var err error
	s.signer, err = media.NewSigner(aws.Config{Region: "eu-central-1", Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: "id", SecretAccessKey: "secret"}, nil
	})}, "media", time.Now)
	must(err)
	s.box, err = hook.NewBox([]byte("a secret of the simulation's own, long enough"))
	must(err)
	r := httpapi.NewRouter(s.db, silent{}, time.Now)
	factories := factory.NewService(s.db, time.Now)
	offer := catalog.NewOffer("bedrock,fal,elevenlabs")
	factories.Register(r)
	content.NewService(s.db, factories, s.signer, offer, time.Now).Register(r)
	studio.NewService(s.db, s.signer, allowed{}, offer, time.Now).Register(r)
	webhook.NewService(s.db, allowed{}, arn.ARN{Partition: "aws", Service: "iam", AccountID: "444455556666", Resource: "role/deliver"}, s.box, time.Now, rand.Reader).Register(r)
	s.router = r
	return s
})

// silent is an audit log that keeps nothing.
type silent struct{}

// Record implements httpapi.Recorder.
func (silent) Record(context.Context, httpapi.Call) error { return nil }

// allowed lets every address be called.
type allowed struct{}

// CheckURL implements webhook.URLChecker.
func (allowed) CheckURL(context.Context, string) error { return nil }

// senders are the queues as functions see them.
func senders(names []topology.Queue) map[topology.Queue]sender {
	all := map[topology.Queue]sender{}
	for _, name := range names {
		all[name] = sender{name}
	}
	return all
}

// start returns how an instance of a function starts.
func (s stack) start(name string) func() handler {
	switch name {
	case "api":
		return func() handler {
			return func(ctx context.Context, in any) (any, error) { return in.(request).serve(ctx, s.router), nil }
		}
	case "relay":
		return func() handler { return handling(relay.New(senders(topology.Outbox), bus{}, "bus").Handle) }
	case "generate":
		return func() handler {
			worker := &generate.Worker{
				DB: s.db, Loaders: map[string]generate.Loader{item.ItemKind: item.Loader{Sign: item.SignedBy(s.signer)}, studiogeneration.ItemKind: studiogeneration.Loader{}},
				Providers: providers{}, Objects: objects{}, Now: time.Now,
			}
			kernel := task.NewKernel(task.Config{DB: s.db, Handlers: worker.Handlers(), Now: time.Now, Name: rand.Text, Chance: backoff.Chance})
			return handling(task.NewConsumer(kernel, senders(topology.Generation), queue.Ticker).Handle)
		}
	case "due":
		return func() handler {
			sender := task.NewSender(senders(topology.Tasks))
			return handling(task.NewReconciler(s.db, time.Now, task.OverdueTasks(sender)).Run)
		}
	case "sweep":
		return func() handler {
			return handling(dispatch.NewSweeper(s.db, sender{topology.Deliver}, time.Now).Handle)
		}
	case "dispatch":
		return func() handler {
			dispatcher := dispatch.New(s.db, sender{topology.Deliver}, time.Now)
			return handling(dispatch.NewReplayer(dispatcher, sender{topology.Dispatch}, queue.Ticker).Handle)
		}
	case "deliver":
		return s.deliverer(topology.Deliver, sender{topology.DeliverSlow})
	case "deliver-slow":
		return s.deliverer(topology.DeliverSlow, nil)
	default:
		panic("simulate: no function " + name)
	}
}

func (s stack) deliverer(own topology.Queue, slow queue.Sender) func() handler {
	return func() handler {
		return handling(deliver.New(deliver.Config{
			DB: s.db, Signer: s.signer, Client: receivers{}, Box: s.box, Queue: sender{own}, Slow: slow,
			Heartbeat: queue.Ticker, Now: time.Now, Chance: backoff.Chance, Name: rand.Text, Patience: deliver.Patience,
		}).Handle)
	}
}

// handling makes a handler of a function's own.
func handling[In, Out any](f func(context.Context, In) (Out, error)) handler {
	return func(ctx context.Context, in any) (any, error) { return f(ctx, in.(In)) }
}

// scheduled are what the functions of a schedule are invoked with.
var scheduled = map[string]any{"sweep": dispatch.Sweep{}, "due": false}
