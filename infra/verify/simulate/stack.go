package simulate

import (
	"context"
	"crypto/rand"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"

	"github.com/content-automation/api/pkg/area"
	advicejob "github.com/content-automation/api/pkg/area/advice/job"
	"github.com/content-automation/api/pkg/area/analytics/rollup"
	"github.com/content-automation/api/pkg/area/audit"
	"github.com/content-automation/api/pkg/area/crm"
	"github.com/content-automation/api/pkg/area/media/importer"
	"github.com/content-automation/api/pkg/area/social/account"
	"github.com/content-automation/api/pkg/area/training/job"
	"github.com/content-automation/api/pkg/area/training/tune"
	"github.com/content-automation/api/pkg/area/webhook/deliver"
	"github.com/content-automation/api/pkg/area/webhook/dispatch"
	"github.com/content-automation/api/pkg/base/backoff"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/cloud/seal/sealtest"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/service/api"
	"github.com/content-automation/api/pkg/service/function/content"
	"github.com/content-automation/api/pkg/service/worker"
	composewiring "github.com/content-automation/api/pkg/service/worker/compose"
	deliverwiring "github.com/content-automation/api/pkg/service/worker/deliver"
	diagnosewiring "github.com/content-automation/api/pkg/service/worker/diagnose"
	"github.com/content-automation/api/pkg/service/worker/due"
	generatewiring "github.com/content-automation/api/pkg/service/worker/generate"
	"github.com/content-automation/api/pkg/service/worker/importmedia"
	"github.com/content-automation/api/pkg/service/worker/publish"
	"github.com/content-automation/api/pkg/service/worker/relay"
	"github.com/content-automation/api/pkg/service/worker/replay"
	"github.com/content-automation/api/pkg/service/worker/settle"
	"github.com/content-automation/api/pkg/service/worker/synccrm"
	"github.com/content-automation/api/pkg/service/worker/train"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/pkg/task/queue"
)

// stack is the code under test, wired as in the functions. It holds no state of a seed.
type stack struct {
	db *store.DB
	// pages are the operations, the pages of review links and the webhooks of CRMs.
	pages  http.Handler
	signer *media.Signer
	offer  catalog.Offer
	// envelope seals the signing keys of webhooks.
	envelope *seal.Envelope
	// settle and crm are the handlers of the functions settle and sync-crm, which are slow to build.
	settle, crm worker.Handlers
}

var build = sync.OnceValue(func() stack {
	s := stack{db: store.Open(aws.Config{}, tableName, store.WithClient(table{}))}
	var err error
	s.signer, err = media.NewSigner(aws.Config{Region: "eu-central-1",
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "id", SecretAccessKey: "secret"}, nil
		})}, "media", time.Now)
	must(err)
	s.envelope = sealtest.Envelope("the simulation's key")
	r := httpapi.NewRouter(s.db, silent{}, time.Now)
	e := area.Env{
		AWS: aws.Config{Region: "us-west-2"}, DB: s.db, Media: s.signer, Now: time.Now, Random: rand.Reader,
		Audit:     audit.New(s.db, time.Now),
		Envelope:  s.envelope,
		Seal:      seal.Fixed([]byte("the system's secret")),
		Providers: "bedrock,fal,elevenlabs", Converser: talker{}, HTTP: web{},
		DeliverRole: arn.ARN{Partition: "aws", Service: "iam", AccountID: "444455556666", Resource: "role/deliver"},
	}
	s.offer = catalog.NewOffer(e.Providers, e.AWS.Region)
	for _, f := range api.Functions {
		f.Mount(r, e)
	}
	r.SealWith(e.Seal)
	s.pages = crm.Open(e).With(content.With(e, r))
	s.settle, s.crm = settle.Handlers(e), synccrm.Handlers(e)
	return s
})

// vault seals the tokens of social accounts.
func (s stack) vault() account.Vault { return account.Vault{Envelope: s.envelope} }

// silent is an audit log that keeps nothing.
type silent struct{}

// Record implements httpapi.Recorder.
func (silent) Record(context.Context, httpapi.Call) error { return nil }

// senders returns the queues as functions see them.
func senders(names []topology.Queue) map[topology.Queue]sender {
	all := map[topology.Queue]sender{}
	for _, name := range names {
		all[name] = sender{name}
	}
	return all
}

// start returns a function that starts an instance of the named function.
func (s stack) start(name string) func() handler {
	switch name {
	case "api":
		return func() handler {
			return func(ctx context.Context, in any) (any, error) {
				r := in.(request)
				invocationOf(ctx).serves = serving(r.method, r.path)
				return r.serve(ctx, s.pages), nil
			}
		}
	case "relay":
		return func() handler {
			return handling(relay.New(senders(topology.Named("relay").Sends), bus{}, "bus").Handle)
		}
	case "rollup":
		return func() handler {
			return handling(rollup.New(s.db).Holding(queue.NewHolder(sender{topology.Rollup}, queue.Ticker)))
		}
	case "generate":
		return func() handler {
			return s.consumer("generate", generatewiring.Handlers(&generate.Worker{
				DB: s.db, Loaders: generatewiring.Loaders(s.signer, nil, true), Providers: providers{},
				Objects: objects{}, Now: time.Now,
			}))
		}
	case "compose":
		return func() handler {
			return s.consumer("compose", composewiring.Handlers(composewiring.Config{
				DB: s.db, Objects: objects{}, Composer: composer{}, Now: time.Now,
			}))
		}
	case "due":
		return func() handler {
			return handling(due.New(s.db, senders(topology.Outbox), time.Now).Run)
		}
	case "dispatch":
		return func() handler {
			holder := queue.NewHolder(sender{topology.Dispatch}, queue.Ticker)
			return handling(dispatch.New(s.db, time.Now).Holding(holder))
		}
	case "diagnose":
		return func() handler {
			return s.consumer("diagnose", diagnosewiring.Handlers(&advicejob.Worker{
				DB: s.db, Providers: providers{}, Offer: s.offer, Now: time.Now,
			}))
		}
	case "settle":
		return func() handler {
			return s.consumer("settle", s.settle)
		}
	case "sync-crm":
		return func() handler {
			return s.consumer("sync-crm", s.crm)
		}
	case "import-media":
		return func() handler {
			return s.consumer("import-media", importmedia.Handlers(&importer.Worker{
				DB: s.db, Objects: objects{}, URLs: web{}, Now: time.Now,
			}))
		}
	case "train":
		return func() handler {
			return s.consumer("train", train.Handlers(&job.Worker{
				DB: s.db, Objects: objects{}, Now: time.Now,
				Trainer: tune.New(tune.Config{Client: bedrockAPI{}, Bucket: "media", Role: "training"}),
			}))
		}
	case "publish":
		return func() handler {
			return s.consumer("publish", publish.Handlers(publish.Config{
				DB: s.db, Platforms: platforms{}, Vault: s.vault(), Files: objects{}, Now: time.Now,
			}))
		}
	case "replay":
		return func() handler {
			return s.consumer("replay", replay.Handlers(dispatch.New(s.db, time.Now)))
		}
	case "deliver", "deliver-slow":
		return func() handler { return s.deliverer(name) }
	default:
		panic("simulate: no function " + name)
	}
}

func (s stack) consumer(name string, handlers worker.Handlers) handler {
	return handling(s.consume(name, handlers))
}

func (s stack) consume(name string, handlers worker.Handlers) worker.Consumer {
	kernel, queues := worker.Kernel(s.db, handlers, time.Now), senders(topology.Named(name).Tasks())
	return task.NewConsumer(kernel, queues, queue.Ticker).Handle
}

func (s stack) deliverer(name string) handler {
	d := deliver.New(deliver.Config{
		DB: s.db, Signer: s.signer, Client: receivers{}, Envelope: s.envelope, Slow: name == "deliver-slow",
		Now: time.Now, Chance: backoff.Chance, Name: rand.Text,
	})
	return handling(d.Counting(s.consume(name, deliverwiring.Handlers(d))))
}

// handling returns a handler that calls f.
func handling[In, Out any](f func(context.Context, In) (Out, error)) handler {
	return func(ctx context.Context, in any) (any, error) { return f(ctx, in.(In)) }
}

// scheduled are the inputs of the functions of a schedule.
var scheduled = map[string]any{"due": due.Request{}}
