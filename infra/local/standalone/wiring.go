package standalone

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	eventtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"github.com/content-automation/api/clients"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/bedrock"
	"github.com/content-automation/api/pkg/adapter/provider/registry"
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/account/level"
	advicejob "github.com/content-automation/api/pkg/area/advice/job"
	"github.com/content-automation/api/pkg/area/analytics/rollup"
	"github.com/content-automation/api/pkg/area/audit"
	"github.com/content-automation/api/pkg/area/audit/chain"
	"github.com/content-automation/api/pkg/area/audit/follow"
	"github.com/content-automation/api/pkg/area/content/publication/stored"
	"github.com/content-automation/api/pkg/area/crm"
	"github.com/content-automation/api/pkg/area/engagement/hint"
	"github.com/content-automation/api/pkg/area/media/importer"
	"github.com/content-automation/api/pkg/area/people/scim"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/area/social/account"
	"github.com/content-automation/api/pkg/area/social/apps"
	"github.com/content-automation/api/pkg/area/training/job"
	"github.com/content-automation/api/pkg/area/webhook/deliver"
	"github.com/content-automation/api/pkg/area/webhook/dispatch"
	"github.com/content-automation/api/pkg/area/webhook/endpoint"
	"github.com/content-automation/api/pkg/auth/authorizer"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/auth/signin"
	"github.com/content-automation/api/pkg/base/backoff"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/craft/source/fetch"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/objects"
	"github.com/content-automation/api/pkg/service/api"
	"github.com/content-automation/api/pkg/service/docs"
	contentfunction "github.com/content-automation/api/pkg/service/function/content"
	"github.com/content-automation/api/pkg/service/mcp"
	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/service/worker/canary"
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
	"github.com/content-automation/api/pkg/task"
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
		Loopback: true, DeliverRole: arn.ARN{Partition: "aws", Service: "iam", AccountID: "000000000000",
			Resource: "role/local-deliver"},
		Apps: s.secrets.read(PlatformSecret), PlatformEndpoint: s.Platforms,
	}
	endpoint := s.Providers
	if endpoint != "" {
		endpoint += "/" + bedrock.Name
	}
	e.Converser = bedrock.New(bedrock.Config{AWS: e.AWS, Endpoint: endpoint})
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
	for _, f := range api.Functions {
		r := httpapi.NewRouter(e.DB, e.Audit, s.now)
		r.SealWith(e.Seal)
		f.Mount(r, e)
		routes = append(routes, r.Routes()...)
		handler := http.Handler(r)
		if f.Name == api.SocialFunction {
			handler = hint.Open(e).With(social.Open(e).With(r))
		}
		if f.Name == api.CRMFunction {
			handler = crm.Open(e).With(r)
		}
		if f.Name == api.ContentFunction {
			handler = contentfunction.With(e, r)
		}
		if f.Name == api.PeopleFunction {
			handler = scim.Open(e).With(r)
		}
		functions[f.Name] = httpapi.Lambda(handler)
	}
	functions[api.DocsFunction] = func(ctx context.Context,
		in events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
		return s.pages()(ctx, in)
	}
	functions[api.ConsoleFunction] = s.newConsole(e)
	functions[api.MCPFunction] = mcp.Lambda(mcp.New(mcp.Options{
		Base: func(*http.Request) string { return s.internal }, Public: mcp.Gateway, SignIn: s.options.SignIn,
		HTTP: &http.Client{Timeout: 15 * time.Second}, Now: time.Now,
	}))
	for _, r := range api.PublicRoutes {
		public[r.Path] = true
	}
	routes = append(append(routes, api.PublicRoutes...), httpapi.Route{Path: api.UnknownPath,
		Function: api.UnknownFunction})
	g := newGateway(routes, functions, public)
	g.base, g.now = s.BaseURL, s.now
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

var _ relay.Bus = bus{}

// PutEvents implements relay.Bus.
func (b bus) PutEvents(ctx context.Context, in *eventbridge.PutEventsInput,
	_ ...func(*eventbridge.Options)) (*eventbridge.PutEventsOutput, error) {
	out := &eventbridge.PutEventsOutput{Entries: make([]eventtypes.PutEventsResultEntry, len(in.Entries))}
	for i, e := range in.Entries {
		body := `{"detail":` + aws.ToString(e.Detail) + `}`
		if err := b.dispatch.Send(ctx, queue.Message{Body: body})[0]; err != nil {
			out.Entries[i].ErrorCode = aws.String(err.Error())
		}
	}
	return out, nil
}

// named returns some of the queues.
func (s *Service) named(names []topology.Queue) map[topology.Queue]*messages {
	all := map[topology.Queue]*messages{}
	for _, name := range names {
		all[name] = s.queues[name]
	}
	return all
}

// consumers returns the handlers of the functions that consume queues.
func (s *Service) consumers(e area.Env) (map[string]worker.Consumer, error) {
	files := objects.New(s.aws(s.internal+operatorPath), bucket)
	consume := func(name string, handlers worker.Handlers) worker.Consumer {
		kernel := worker.Kernel(e.DB, handlers, s.now)
		return task.NewConsumer(kernel, s.named(topology.Named(name).Tasks()), queue.Ticker).Handle
	}
	deliverer := func(name string, slow bool) worker.Consumer {
		d := deliver.New(deliver.Config{
			DB: e.DB, Signer: e.Media, Client: s.caller(endpoint.NewClient(true)), AWS: noAWS{}, Envelope: e.Envelope,
			Slow: slow, Now: s.now, Chance: backoff.Chance, Name: rand.Text,
		})
		return d.Counting(consume(name, deliverwiring.Handlers(d)))
	}
	guardrail := fakes.Guardrail
	if s.options.RealProviders {
		guardrail = ""
	}
	providers := registry.New(registry.Config{
		Configured: provider.ParseConfigured(s.providers), AWS: s.AWS(),
		Secret: ProviderSecret, Bucket: bucket, Endpoint: s.Providers, Now: s.now, Guardrail: guardrail,
	})
	dispatcher := dispatch.New(e.DB, s.now)
	trainer := &job.Worker{DB: e.DB, Now: s.now}
	if s.options.Trainer != nil {
		trainer.Objects, trainer.Trainer = files, s.options.Trainer(s.AWS(), s.Providers, bucket)
	}
	platforms := account.PlatformsConfig{Apps: apps.New(e.Apps, s.now).Get, Endpoint: s.Platforms, Now: s.now}
	all := map[string]worker.Consumer{
		"rollup":   rollup.New(e.DB).Holding(queue.NewHolder(s.queues[topology.Rollup], queue.Ticker)),
		"dispatch": dispatcher.Holding(queue.NewHolder(s.queues[topology.Dispatch], queue.Ticker)),
		"generate": consume("generate", generatewiring.Handlers(&generate.Worker{
			DB: e.DB, Loaders: generatewiring.Loaders(e.Media,
				&fetch.Fetcher{Client: fetch.NewClient(true), Now: s.now}, !s.options.RealProviders),
			Providers: providers, Moderator: providers.Moderator(), Objects: files, Now: s.now,
		})),
		"compose": consume("compose", composewiring.Handlers(composewiring.Config{
			DB: e.DB, Objects: files, Composer: s.composer(files), Now: s.now,
		})),
		"import-media": worker.Consumer(importer.Notified(importer.Handler(consume("import-media",
			importmedia.Handlers(&importer.Worker{
				DB: e.DB, Objects: files, Now: s.now, URLs: importer.NewClient(true),
			}))))),
		"diagnose": consume("diagnose", diagnosewiring.Handlers(&advicejob.Worker{
			DB: e.DB, Now: s.now, Offer: catalog.NewOffer(s.providers, s.options.Region), Providers: providers,
		})),
		"settle":   consume("settle", settle.Handlers(e)),
		"sync-crm": consume("sync-crm", synccrm.Handlers(e)),
		"train":    consume("train", train.Handlers(trainer)),
		"publish": consume("publish", publish.Handlers(publish.Config{
			DB: e.DB, Vault: account.Vault{Envelope: e.Envelope}, Platforms: account.NewPlatforms(platforms),
			Files: stored.Files{Store: files, Signer: e.Media}, Now: s.now,
		})),
		"replay":       consume("replay", replay.Handlers(dispatcher)),
		"deliver":      deliverer("deliver", false),
		"deliver-slow": deliverer("deliver-slow", true),
	}
	for _, f := range topology.Functions {
		if f.Trigger == topology.ByQueue && all[f.Name] == nil {
			return nil, fmt.Errorf("standalone: the function %s has no handler here", f.Name)
		}
	}
	return all, nil
}

// work starts the workers. They run until the context ends.
func (s *Service) work(ctx context.Context, e area.Env) error {
	consumers, err := s.consumers(e)
	if err != nil {
		return err
	}
	for _, f := range topology.Functions {
		for _, name := range f.Consumes {
			s.consume(ctx, f, name, consumers[f.Name])
		}
	}
	relayed, chained := topology.Named("relay"), topology.Named("chain")
	relay := relay.New(s.named(relayed.Sends), bus{s.queues[topology.Dispatch]}, "local")
	s.follow(ctx, StateTable, relayed, 0, relay.Handle)
	entries := s.tables.open(AuditTable, s.now)
	links := follow.New(chain.New(entries, s.now).Handle, level.NewCallCounter(e.DB).Handle)
	s.follow(ctx, AuditTable, chained, min(chained.Window, longestWindow), links)
	search := due.New(e.DB, s.named(topology.Outbox), s.now)
	probe := &canary.Canary{Target: s.secrets.read(CanarySecret), HTTP: &http.Client{Timeout: 30 * time.Second},
		DB: e.DB, Now: s.now, Wait: backoff.Sleep}
	s.scheduled = map[string]func(context.Context, []byte) (any, error){
		"due": func(ctx context.Context, payload []byte) (any, error) {
			var in due.Request
			if err := json.Unmarshal(payload, &in); err != nil {
				return nil, err
			}
			return search.Run(ctx, in)
		},
		"canary": func(ctx context.Context, _ []byte) (any, error) { return probe.Run(ctx) },
	}
	for _, f := range topology.Functions {
		if f.Trigger == topology.BySchedule && s.scheduled[f.Name] == nil {
			return fmt.Errorf("standalone: the function %s has no handler here", f.Name)
		}
	}
	return nil
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

// Send implements deliver.AWSSender.
func (noAWS) Send(context.Context, deliver.AWSTarget, deliver.SignedEvent) deliver.AWSAnswer {
	return deliver.AWSAnswer{Error: "This system runs outside of AWS: its events can go to URLs only."}
}
