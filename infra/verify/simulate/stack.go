package simulate

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"

	"github.com/content-automation/api/infra/verify/harness/sealtest"
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/audit"
	"github.com/content-automation/api/pkg/area/crm"
	"github.com/content-automation/api/pkg/area/publishing"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/area/training/tune"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/service/serve"
	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task/queue"
)

// stack is the code under test, wired as in the functions. It holds no state of a seed.
type stack struct {
	worker.Env
	// pages are the operations, the pages of review links and the webhooks of CRMs.
	pages http.Handler
	// handlers are those of the functions settle and sync-crm, which are slow to build.
	handlers map[string]worker.Handlers
}

var build = sync.OnceValue(func() stack {
	db := store.Open(aws.Config{}, tableName, store.WithClient(table{}))
	signer, err := media.NewSigner(aws.Config{Region: "eu-central-1",
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "id", SecretAccessKey: "secret"}, nil
		})}, "media", time.Now)
	must(err)
	e := area.Env{
		AWS: aws.Config{Region: "us-west-2"}, DB: db, Media: signer, Now: time.Now, Random: rand.Reader,
		Audit:     audit.New(db, time.Now),
		Envelope:  sealtest.Envelope("the simulation's key"),
		Seal:      seal.FixedSecret([]byte("the system's secret")),
		Providers: "bedrock,fal,elevenlabs", Converser: talker{}, HTTP: web{},
		DeliverRole: arn.ARN{Partition: "aws", Service: "iam", AccountID: "444455556666", Resource: "role/deliver"},
	}
	r := httpapi.NewRouter(db, silent{}, time.Now)
	for _, f := range serve.All {
		f.Mount(r, e)
	}
	r.SealWith(e.Seal)
	s := stack{
		Env: worker.Env{
			Env: e, Queue: func(name topology.Queue) queue.Queue { return sender{name} }, Bus: bus{},
			Files: objects{}, Models: providers{}, Repeats: true, Composer: composer{}, Uploads: web{},
			Trainer:  tune.New(tune.Config{Client: bedrockAPI{}, Bucket: "media", Role: "training"}),
			Adapters: platforms{}, Receivers: receivers{},
		},
		pages:    crm.Open(e).With(publishing.Open(e).With(r)),
		handlers: map[string]worker.Handlers{},
	}
	for _, name := range []string{"settle", "sync-crm"} {
		s.handlers[name] = worker.Named(name).Tasks(s.Env)
	}
	return s
})

// vault seals the tokens of social accounts.
func (s stack) vault() social.Vault { return social.Vault{Envelope: s.Envelope} }

// silent is an audit log that keeps nothing.
type silent struct{}

// Record implements httpapi.Recorder.
func (silent) Record(context.Context, httpapi.Call) error { return nil }

// start returns a function that starts an instance of the named function.
func (s stack) start(name string) func() handler {
	if name == "api" {
		return func() handler {
			return func(ctx context.Context, in any) (any, error) {
				r := in.(request)
				invocationOf(ctx).serves = serving(r.method, r.path)
				return r.serve(ctx, s.pages), nil
			}
		}
	}
	return func() handler {
		row := worker.Named(name)
		if handlers := s.handlers[name]; handlers != nil {
			return handling(row.Consume(s.Env, handlers))
		}
		switch handle := row.Open(s.Env).(type) {
		case worker.Consumer:
			return handling(handle)
		case worker.Follower:
			return handling(handle)
		case func(context.Context, worker.SearchRequest) (worker.SearchResult, error):
			return handling(handle)
		default:
			panic(fmt.Sprintf("simulate: the handler of %s is a %T", name, handle))
		}
	}
}

// handling returns a handler that calls f.
func handling[In, Out any](f func(context.Context, In) (Out, error)) handler {
	return func(ctx context.Context, in any) (any, error) { return f(ctx, in.(In)) }
}

// scheduled are the inputs of the functions of a schedule.
var scheduled = map[string]any{"due": worker.SearchRequest{}}
