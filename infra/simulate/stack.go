package simulate

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"

	"github.com/content-automation/api/pkg/analytics/rollup"
	"github.com/content-automation/api/pkg/architect"
	"github.com/content-automation/api/pkg/backoff"
	"github.com/content-automation/api/pkg/catalog"
	"github.com/content-automation/api/pkg/content"
	"github.com/content-automation/api/pkg/content/item"
	"github.com/content-automation/api/pkg/content/publication"
	"github.com/content-automation/api/pkg/due"
	"github.com/content-automation/api/pkg/factory"
	"github.com/content-automation/api/pkg/factory/diagnose"
	"github.com/content-automation/api/pkg/factory/diagnosis"
	"github.com/content-automation/api/pkg/factory/planning"
	"github.com/content-automation/api/pkg/factory/review"
	"github.com/content-automation/api/pkg/factory/training"
	"github.com/content-automation/api/pkg/factory/training/job"
	"github.com/content-automation/api/pkg/factory/training/tune"
	"github.com/content-automation/api/pkg/factory/work"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/queue"
	"github.com/content-automation/api/pkg/relay"
	"github.com/content-automation/api/pkg/seal"
	"github.com/content-automation/api/pkg/seal/sealtest"
	"github.com/content-automation/api/pkg/social/account"
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
	router *httpapi.Router
	signer *media.Signer
	offer  catalog.Offer
	// envelope seals the signing keys of webhooks.
	envelope *seal.Envelope
}

var build = sync.OnceValue(func() stack {
	s := stack{db: store.Open(aws.Config{}, tableName, store.WithClient(table{}))}
	var err error
	s.signer, err = media.NewSigner(aws.Config{Region: "eu-central-1", Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: "id", SecretAccessKey: "secret"}, nil
	})}, "media", time.Now)
	must(err)
	s.envelope = sealtest.Envelope("the simulation's key")
	r := httpapi.NewRouter(s.db, silent{}, time.Now)
	factories := factory.NewService(s.db, time.Now)
	s.offer = catalog.NewOffer("bedrock,fal,elevenlabs", "us-west-2")
	factories.Register(r)
	review.NewService(s.db, time.Now).Register(r)
	training.NewService(s.db, factories, s.offer, time.Now).Register(r)
	planning.NewService(s.db, factories, s.offer, time.Now).Register(r)
	items := content.NewService(s.db, factories, s.signer, s.offer, time.Now)
	items.Register(r)
	architect.NewService(s.db, items, s.offer, talker{}, time.Now).Register(r)
	studio.NewService(s.db, s.signer, allowed{}, s.offer, time.Now).Register(r)
	webhook.NewService(s.db, allowed{}, arn.ARN{Partition: "aws", Service: "iam", AccountID: "444455556666", Resource: "role/deliver"}, s.envelope, time.Now, rand.Reader).Register(r)
	s.router = r
	return s
})

// vault seals the tokens of social accounts.
func (s stack) vault() account.Vault { return account.Vault{Envelope: s.envelope} }

// silent is an audit log that keeps nothing.
type silent struct{}

// Record implements httpapi.Recorder.
func (silent) Record(context.Context, httpapi.Call) error { return nil }

// allowed lets every address be called.
type allowed struct{}

// CheckURL implements safehttp.Checker.
func (allowed) CheckURL(context.Context, string) error { return nil }

// Do implements studio.URLs.
func (allowed) Do(*http.Request) (*http.Response, error) {
	return nil, errors.New("simulate: nothing is fetched")
}

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
	case "rollup":
		return func() handler { return handling(rollup.New(s.db).Handle) }
	case "generate":
		return func() handler {
			worker := &generate.Worker{
				DB: s.db, Loaders: map[string]generate.Loader{item.ItemKind: item.Loader{Sign: item.SignedBy(s.signer)}, studiogeneration.ItemKind: studiogeneration.Loader{Sign: item.SignedBy(s.signer)}},
				Providers: providers{}, Objects: objects{}, Now: time.Now,
			}
			return s.consumer(work.Handlers(worker), topology.Named("generate").Sends)
		}
	case "compose":
		return func() handler {
			worker := &generate.Worker{DB: s.db, Loaders: map[string]generate.Loader{item.ItemKind: item.Loader{}}, Objects: objects{}, Composer: composer{}, Now: time.Now}
			return s.consumer(worker.Handlers(), topology.Named("compose").Consumes)
		}
	case "due":
		return func() handler {
			return handling(due.New(s.db, senders(topology.Outbox), time.Now).Run)
		}
	case "dispatch":
		return func() handler {
			dispatcher := dispatch.New(s.db, sender{topology.Deliver}, time.Now)
			return handling(dispatcher.Holding(queue.NewHolder(sender{topology.Dispatch}, queue.Ticker)))
		}
	case "diagnose":
		return func() handler {
			worker := &diagnose.Worker{DB: s.db, Providers: providers{}, Offer: s.offer, Now: time.Now}
			return s.consumer(map[task.Kind]task.Handler{diagnosis.TaskKind: worker}, []topology.Queue{topology.Diagnose})
		}
	case "settle":
		return func() handler {
			return s.consumer(map[task.Kind]task.Handler{httpapi.ClaimKind: httpapi.Claims{Router: s.router}}, []topology.Queue{topology.Settle})
		}
	case "import-media":
		// No scene brings in media.
		return func() handler {
			return s.consumer(map[task.Kind]task.Handler{}, []topology.Queue{topology.ImportMedia})
		}
	case "train":
		return func() handler {
			worker := &job.Worker{DB: s.db, Objects: objects{}, Trainer: tune.New(tune.Config{Client: bedrockAPI{}, Bucket: "media", Role: "training"}), Now: time.Now}
			return s.consumer(worker.Handlers(), []topology.Queue{topology.Train})
		}
	case "publish":
		return func() handler {
			worker := &publication.Worker{DB: s.db, Platforms: platforms{}, Vault: s.vault(), Files: objects{}, Now: time.Now}
			return s.consumer(worker.Handlers(), []topology.Queue{topology.Publish})
		}
	case "replay":
		return func() handler {
			replayer := dispatch.Replayer{Dispatcher: dispatch.New(s.db, sender{topology.Deliver}, time.Now)}
			return s.consumer(map[task.Kind]task.Handler{hook.ReplayKind: replayer}, []topology.Queue{topology.Replay})
		}
	case "deliver":
		return s.deliverer(topology.Deliver, sender{topology.DeliverSlow})
	case "deliver-slow":
		return s.deliverer(topology.DeliverSlow, nil)
	default:
		panic("simulate: no function " + name)
	}
}

func (s stack) consumer(handlers map[task.Kind]task.Handler, queues []topology.Queue) handler {
	kernel := task.NewKernel(task.Config{DB: s.db, Handlers: handlers, Now: time.Now, Name: rand.Text, Chance: backoff.Chance})
	return handling(task.NewConsumer(kernel, senders(queues), queue.Ticker).Handle)
}

func (s stack) deliverer(own topology.Queue, slow queue.Sender) func() handler {
	return func() handler {
		return handling(deliver.New(deliver.Config{
			DB: s.db, Signer: s.signer, Client: receivers{}, Envelope: s.envelope, Queue: sender{own}, Slow: slow,
			Heartbeat: queue.Ticker, Now: time.Now, Chance: backoff.Chance, Name: rand.Text, Patience: deliver.Patience,
		}).Handle)
	}
}

// handling makes a handler of a function's own.
func handling[In, Out any](f func(context.Context, In) (Out, error)) handler {
	return func(ctx context.Context, in any) (any, error) { return f(ctx, in.(In)) }
}

// scheduled are what the functions of a schedule are invoked with.
var scheduled = map[string]any{"due": due.Request{}}
