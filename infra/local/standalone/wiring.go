package standalone

import (
	"cmp"
	"context"
	"crypto/rand"
	"net/http"
	"slices"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws/arn"

	"github.com/content-automation/api/clients"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/bedrock"
	"github.com/content-automation/api/pkg/adapter/provider/registry"
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/audit"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/auth/authorizer"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/auth/signin"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/craft/source/fetch"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/objects"
	"github.com/content-automation/api/pkg/service/api"
	"github.com/content-automation/api/pkg/service/docs"
	"github.com/content-automation/api/pkg/service/mcp"
	"github.com/content-automation/api/pkg/service/serve"
	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/task/queue"
	"github.com/content-automation/api/testdata/fakes"
)

// bucket is the bucket of the media.
const bucket = "media"

// env returns what the areas are made from.
func (s *Service) env() (area.Env, error) {
	signer, err := media.NewSigner(s.aws(s.BaseURL+filesPath), bucket, s.now)
	if err != nil {
		return area.Env{}, err
	}
	seals := func(context.Context) ([][]byte, error) {
		secret, _ := s.secrets.get(SealSecret)
		return [][]byte{[]byte(secret)}, nil
	}
	e := area.Env{
		AWS: s.aws(""), DB: s.db, Audit: audit.New(s.tables.open(AuditTable, s.now), s.now).In(s.options.Region),
		Media: signer, Now: s.now, Random: rand.Reader, Seal: seals, Envelope: s.envelope(), Providers: s.providers,
		Loopback: true, Mails: true, DeliverRole: arn.ARN{Partition: "aws", Service: "iam", AccountID: "000000000000",
			Resource: "role/local-deliver"},
		Apps: s.secrets.read(PlatformSecret), PlatformEndpoint: s.Platforms,
	}
	e.Converser = bedrock.Open(e.AWS, s.Providers, e.Offer().StandIns)
	if !s.options.RealProviders {
		e.Moderator = bedrock.Moderator(e.AWS, fakes.Guardrail, s.Providers)
	}
	return e, nil
}

// dataKeys wraps the keys of customers' secrets with a secret of the service.
type dataKeys []byte

// Generate implements seal.DataKeys.
func (k dataKeys) Generate(ctx context.Context, account string) (key, wrapped []byte, err error) {
	wrapped = []byte(rand.Text())
	key, err = k.Unwrap(ctx, account, wrapped)
	return key, wrapped, err
}

// Unwrap implements seal.DataKeys. For another account it returns a different key, which opens nothing.
func (k dataKeys) Unwrap(_ context.Context, account string, wrapped []byte) ([]byte, error) {
	return seal.Derive(k, wrapped, account)
}

func (s *Service) envelope() *seal.Envelope {
	secret, _ := s.secrets.get(keySecret)
	return seal.NewEnvelope(dataKeys(secret), s.now)
}

// mount returns the gateway of the functions of all areas.
func (s *Service) mount(e area.Env) *gateway {
	functions, public := map[string]function{}, map[string]bool{}
	var routes []httpapi.Route
	for _, f := range serve.All {
		handler, operations := f.Open(e)
		if s.options.Private != "" {
			handler = httpapi.Published(handler, s.BaseURL)
		}
		functions[f.Name], routes = httpapi.Lambda(handler), append(routes, operations...)
	}
	functions[api.DocsFunction] = func(ctx context.Context,
		in events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
		return s.pages()(ctx, in)
	}
	functions[api.ConsoleFunction] = s.newConsole(e)
	functions[api.MCPFunction] = mcp.Lambda(mcp.New(mcp.Options{
		Base:   func(*http.Request) string { return cmp.Or(s.options.Inside.URL, s.internal) },
		Public: mcp.Gateway, SignIn: s.options.SignIn, Now: time.Now,
		HTTP: cmp.Or(s.options.Inside.HTTP, &http.Client{Timeout: 15 * time.Second}),
	}))
	for _, r := range api.PublicRoutes {
		public[r.Path] = true
	}
	routes = slices.Concat(routes, api.PublicRoutes, api.GuardedRoutes)
	g := newGateway(routes, functions, public)
	g.base, g.people, g.now, g.journal = s.BaseURL, s.options.SignIn.Issuer != "", s.now, s.journal
	g.authorize = authorizer.New(credential.NewCounter(e.DB, s.now), signin.New(s.options.SignIn, s.now),
		authorizer.Scopes, s.now).Handle
	return g
}

// newPages returns the pages of the documentation.
func (s *Service) newPages() function {
	return docs.Lambda(docs.New(docs.Options{JSON: clients.OpenAPI(), Assets: s.options.Assets}))
}

// bus is the customer's bus. Its only rule sends all events to dispatch.
type bus struct{ dispatch *messages }

var _ worker.Bus = bus{}

// Publish implements worker.Bus.
func (b bus) Publish(ctx context.Context, batch []worker.BusEvent) ([]error, error) {
	failed := make([]error, len(batch))
	for i, e := range batch {
		if err := b.dispatch.Send(ctx, queue.Message{Body: `{"detail":` + e.Detail + `}`})[0]; err != nil {
			failed[i] = &queue.RefusedEntry{Code: err.Error()}
		}
	}
	return failed, nil
}

// workers returns what the functions that work in the background are made from.
func (s *Service) workers(e area.Env) worker.Env {
	files := objects.New(&localObjects{s.buckets(filesPath)})
	w := worker.Env{
		Env: e, Entries: s.tables.open(AuditTable, s.now), Bus: bus{s.queues[topology.Dispatch]},
		Queue: func(name topology.Queue) queue.Queue { return s.queues[name] },
		Files: objects.Bucket{Store: files, Signer: e.Media}, Composer: s.composer(files),
		Manifests: s.options.Manifests, FFmpeg: s.options.FFmpeg,
		Models: registry.New(registry.Config{
			Configured: provider.ParseConfigured(s.providers), AWS: s.AWS(), Bucket: bucket, Objects: files,
			Secret: s.secrets.read(ProviderSecret), Endpoint: s.Providers, StandIns: e.Offer().StandIns, Now: s.now,
		}),
		Sources: &fetch.Fetcher{Client: fetch.NewClient(true), Now: s.now}, Repeats: !s.options.RealProviders,
		People: s.people, Receivers: s.caller(webhook.NewClient(true)), Accounts: noAWS{},
		ProbeTarget: s.secrets.read(CanarySecret),
		Mailer:      s.mails, URL: s.BaseURL,
	}
	if s.options.Trainer != nil {
		w.Trainer = s.options.Trainer(s.AWS(), s.Providers, bucket)
	}
	return w
}

// work starts the workers. They run until the context ends.
func (s *Service) work(ctx context.Context, e area.Env) {
	env := s.workers(e)
	s.scheduled = map[string]lambda.Handler{}
	for _, row := range worker.All {
		f := topology.FunctionNamed(row.Name)
		if f.Trigger == topology.ByRotation {
			continue
		}
		switch handle := row.Open(env).(type) {
		case worker.Consumer:
			for _, name := range f.Consumes {
				s.consume(ctx, f, name, handle)
			}
		case worker.Follower:
			if f.FollowsAudit() {
				s.follow(ctx, AuditTable, f, min(f.Window, longestWindow), handle)
			} else {
				s.follow(ctx, StateTable, f, 0, handle)
			}
		default:
			s.scheduled[f.Name] = lambda.NewHandler(handle)
		}
	}
}

// slots returns the number of batches of a queue that are in work at a time. Functions that compute share the
// processors with the calls of the API.
func (s *Service) slots(f topology.Function) int {
	switch f.Name {
	case "generate", "import-media", "diagnose":
		return min(f.Concurrency, s.processors)
	default:
		return f.Concurrency
	}
}

// noAWS is the sender of a system that no AWS account can trust.
type noAWS struct{}

// Send implements webhook.AWSSender.
func (noAWS) Send(context.Context, webhook.AWSTarget, webhook.SignedEvent) webhook.AWSAnswer {
	return webhook.AWSAnswer{Error: "This system runs outside of AWS: its events can go to URLs only."}
}
