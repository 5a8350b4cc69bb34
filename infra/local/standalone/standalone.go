// Package standalone runs the whole service in one process: the gateway, the functions of all areas, the workers, and
// doubles of the parts of AWS that they use: tables, streams, queues, the bus, the bucket, schedules and secrets. It
// joins the same constructors as the functions on AWS.
//
// With a folder, all state outlives the process, however that ends: each change is in the journal before it is
// answered.
package standalone

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/x509"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"

	"github.com/content-automation/api/clients"
	"github.com/content-automation/api/infra/local/edge"
	identities "github.com/content-automation/api/infra/local/identity"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/bedrock"
	"github.com/content-automation/api/pkg/adapter/provider/registry"
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/audit"
	"github.com/content-automation/api/pkg/area/training"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/auth/authorizer"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/auth/signin"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/craft/source/fetch"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/heif"
	"github.com/content-automation/api/pkg/media/objects"
	"github.com/content-automation/api/pkg/media/provenance"
	"github.com/content-automation/api/pkg/record/connection"
	"github.com/content-automation/api/pkg/service/api"
	"github.com/content-automation/api/pkg/service/docs"
	"github.com/content-automation/api/pkg/service/mcp"
	"github.com/content-automation/api/pkg/service/serve"
	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/pkg/task/queue"
	"github.com/content-automation/api/testdata/fakes"
)

// The prefixes of the paths that are not those of the API.
const (
	filesPath    = "/files"
	operatorPath = "/_aws"
)

// Options are the options of Start. The zero value of each field has a default.
type Options struct {
	// Dir is the folder of the state. Without it, the state is in memory only.
	Dir string
	// Port is the loopback port of the API. The default is any free port.
	Port int
	// Listen is the address to listen on. The default is the loopback address.
	Listen string
	// URL is the address of the API as its callers use it. The default is http://localhost with the port.
	URL string
	// Region is the region that the service takes itself to be in. The default is us-west-2, which has nearly all
	// models.
	Region string
	// RealProviders makes live keys use the providers themselves, with the credentials in the secret. The default are
	// their fakes. AWS's own providers are left out.
	RealProviders bool
	// ProviderEndpoint is the address of fakes of the providers in another process, which outlive the service like the
	// providers themselves. Without it, the service has its own fakes, which forget their work when it ends.
	ProviderEndpoint string
	// Now is the clock. The default is time.Now.
	Now func() time.Time
	// Lane makes the service do one thing at a time, by a clock of its own instead of Now. It is for a service without
	// Dir.
	Lane *Lane
	// Prepare is called before the first call of the API is answered. It may be nil.
	Prepare func(ctx context.Context, s *Service) error
	// SignIn describes the issuer that people sign in with. The default is the service's own.
	SignIn signin.Settings
	// ProviderRoots verify the certificates of customers' sign-on providers, and of the documents of programs. The
	// default are those of the system.
	ProviderRoots *x509.CertPool
	// Resolver looks up the TXT records of customers' domains. The default is the system's.
	Resolver connection.Resolver
	// Compose returns the composer of media for stored files. It is required.
	Compose   func(files *objects.Store) generate.Composer
	Manifests provenance.Reader // of files that callers bring in; it may be nil
	// FFmpeg decodes HEIC and AVIF; it may be nil.
	FFmpeg heif.Program
	// Assets have the explorer's script: see docs.Options.
	Assets fs.FS
	// Trainer makes the trainer of models, with the address of the providers' fakes and the bucket of the samples.
	// Without it, nothing can be trained.
	Trainer func(cfg aws.Config, fakes, bucket string) training.Trainer
	// Keyless is the number of calls without a valid key that an address may make in five minutes; 100 by default.
	Keyless int
	// Wrap may change the handler of the API.
	Wrap func(http.Handler) http.Handler
	// Private is another address of the API, of a customer whose callers show client certificates: URL is that of all
	// others then.
	Private string
	// Inside is how the account area and the server for agents call the API. The default is the port of the service.
	Inside Inside
}

// Service is a running service.
type Service struct {
	// BaseURL is the address of the API.
	BaseURL string
	// Providers is the address of the fakes of the providers, or empty if live keys use the real ones. Platforms is
	// that of the fakes of the platforms.
	Providers, Platforms string

	options    Options
	processors int
	internal   string // address for the service itself
	now        func() time.Time
	lane       *lane // may be nil
	journal    journal
	tables     *tables
	db         *store.DB
	queues     map[topology.Queue]*messages
	secrets    *secrets
	blobs      blobs
	mails      mails
	providers  string // that live keys may use
	people     *identities.Provider
	assets     atomic.Pointer[function]
	// scheduled are the functions of schedules, by name.
	scheduled map[string]lambda.Handler

	servers []*http.Server
	stop    context.CancelFunc
	running sync.WaitGroup
}

// Start starts the service. If it fails, it leaves nothing running; otherwise Stop ends the service.
func Start(o Options) (_ *Service, err error) {
	s := &Service{options: o, now: o.Now, processors: runtime.NumCPU(), queues: map[topology.Queue]*messages{}}
	if s.now == nil {
		s.now = time.Now
	}
	if o.Lane != nil {
		s.lane = newLane(*o.Lane)
		s.now = s.lane.clock.now
	}
	if s.options.Region == "" {
		s.options.Region = "us-west-2"
	}
	if s.options.Listen == "" {
		s.options.Listen = "127.0.0.1"
	}
	if s.options.Keyless == 0 {
		s.options.Keyless = 100
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	defer func() {
		if err != nil {
			s.Stop()
		}
	}()
	// The data come first: a second process with the same data is told so, whatever its port.
	if err := s.open(); err != nil {
		return nil, err
	}
	if s.lane != nil {
		s.lane.parked = func(ctx context.Context) (time.Time, error) { return task.Parked.First(ctx, s.db) }
	}
	listener, err := listen(s.options.Listen, o.Port)
	if err != nil {
		return nil, err
	}
	port := strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	s.internal, s.BaseURL = "http://127.0.0.1:"+port, "http://localhost:"+port
	if o.URL != "" {
		s.BaseURL = strings.TrimSuffix(o.URL, "/")
	}
	if s.options.SignIn.Issuer == "" {
		s.options.SignIn = s.signInSettings()
	}
	api := &http.Server{ReadHeaderTimeout: 10 * time.Second}
	s.servers = append(s.servers, api)
	defer func() {
		if err != nil {
			_ = listener.Close()
		}
	}()
	if err := s.startFakes(); err != nil {
		return nil, err
	}
	e, err := s.env()
	if err != nil {
		return nil, err
	}
	s.Refresh()
	if api.Handler, err = s.handler(ctx, s.mount(e)); err != nil {
		return nil, err
	}
	if o.Wrap != nil {
		api.Handler = o.Wrap(api.Handler)
	}
	if o.Prepare != nil {
		if err := o.Prepare(ctx, s); err != nil {
			return nil, err
		}
	}
	go func() { _ = api.Serve(listener) }()
	s.running.Go(func() { s.journal.sync(ctx) })
	s.running.Go(func() { s.tables.expire(ctx, s.now) })
	s.work(ctx, e)
	s.schedule(ctx)
	return s, nil
}

// open opens the state.
func (s *Service) open() (err error) {
	s.blobs = &memory{all: map[string]content{}, now: s.now}
	s.mails = mails{&memory{all: map[string]content{}, now: s.now}, s.now}
	if s.options.Dir != "" {
		if err := os.MkdirAll(s.options.Dir, 0o700); err != nil {
			return err
		}
		if s.journal, err = openJournal(s.options.Dir); err != nil {
			return err
		}
		if s.blobs, err = openFolder(filepath.Join(s.options.Dir, "objects")); err != nil {
			return err
		}
		if s.mails.blobs, err = openFolder(filepath.Join(s.options.Dir, "mails")); err != nil {
			return err
		}
	}
	if s.tables, err = openTables(s.journal, s.now); err != nil {
		return err
	}
	s.db = s.tables.open(StateTable, s.now)
	for _, name := range topology.Queues {
		if s.queues[name], err = openQueue(name, s.journal); err != nil {
			return fmt.Errorf("standalone: read the queue %s: %w", name, err)
		}
		if s.lane != nil {
			s.queues[name].now = s.now
		}
	}
	apps, err := fakes.Apps()
	if err != nil {
		return err
	}
	first := map[string]string{PlatformSecret: apps}
	s.providers = strings.Join(registry.CredentialProviders(), ",")
	if !s.options.RealProviders {
		s.providers = strings.Join(provider.RowNames(), ",")
		if first[ProviderSecret], err = fakes.Credentials(); err != nil {
			return err
		}
	}
	s.secrets, err = openSecrets(s.journal, first)
	for name, value := range map[string]string{ProviderSecret: "{}", CanarySecret: "{}"} {
		if _, there := s.secrets.get(name); err == nil && !there {
			s.secrets.put(name, value)
		}
	}
	return err
}

// startFakes starts the fakes of the platforms, and those of the providers if live keys use them.
func (s *Service) startFakes() error {
	var err error
	if s.Platforms, err = s.serve(fakes.Platforms(s.now, 2*time.Second)); err != nil || s.options.RealProviders {
		return err
	}
	if s.Providers = s.options.ProviderEndpoint; s.Providers != "" {
		return nil
	}
	document, _ := s.secrets.get(ProviderSecret)
	keys, err := fakes.Keys(document)
	if err != nil {
		return err
	}
	write := func(_ context.Context, bucket, key string, content []byte) error {
		return s.blobs.put(bucket+"/"+key, strings.NewReader(string(content)))
	}
	read := func(_ context.Context, bucket, key string) ([]byte, error) {
		object, _, err := s.blobs.open(bucket + "/" + key)
		if err != nil {
			return nil, err
		}
		defer func() { _ = object.Close() }()
		return io.ReadAll(object)
	}
	s.Providers, err = s.serve(fakes.Providers(keys, write, read, s.now))
	return err
}

// serve serves a handler on a free port of loopback, and returns its address.
func (s *Service) serve(h http.Handler) (string, error) {
	listener, err := listen("127.0.0.1", 0)
	if err != nil {
		return "", err
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	s.servers = append(s.servers, server)
	go func() { _ = server.Serve(listener) }()
	return "http://" + listener.Addr().String(), nil
}

// handler returns the handler of the public port: the API behind its edge, the files, and the calls of the operator.
func (s *Service) handler(ctx context.Context, g *gateway) (http.Handler, error) {
	base, err := url.Parse(s.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("standalone: the address of the API: %w", err)
	}
	front := edge.Config{
		Gateway: &url.URL{Scheme: "http", Host: "gateway"}, Transport: g, Host: base.Host, Stage: "local",
		Keyless: s.options.Keyless, Now: time.Now,
	}
	if private, err := url.Parse(s.options.Private); err == nil && private.Host != "" {
		front.Others = []string{private.Host}
	}
	api := edge.New(front)
	files := s.buckets(filesPath)
	if s.lane == nil {
		s.running.Go(func() { files.clean(ctx, bucket) })
	}
	own := &operator{s.tables.engine, s.secrets, s.buckets(operatorPath)}
	people := s.newIdentity()
	s.people = people
	all := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, identityPath+"/"):
			people.ServeHTTP(w, r)
		case r.URL.Path == mailPath || strings.HasPrefix(r.URL.Path, mailPath+"/"):
			s.serveMails(w, r)
		case strings.HasPrefix(r.URL.Path, filesPath+"/"):
			files.ServeHTTP(w, r)
		case r.URL.Path == operatorPath || strings.HasPrefix(r.URL.Path, operatorPath+"/"):
			own.ServeHTTP(w, r)
		default:
			api.ServeHTTP(w, r)
		}
	})
	if s.lane != nil {
		pages := *g
		pages.names = s.lane.page
		front.Transport = &pages
		return s.lane.handler(ctx, &s.running, all, edge.New(front)), nil
	}
	return all, nil
}

// buckets returns the handler of the files below a prefix of the path.
func (s *Service) buckets(prefix string) *buckets {
	return &buckets{blobs: s.blobs, prefix: prefix, access: s.access(), now: s.now, put: s.announce}
}

// announce sends the notice of an upload to its queue, like the rule of the deployed bus.
func (s *Service) announce(_, key string) {
	if !strings.HasPrefix(key, media.Uploads) {
		return
	}
	notice := map[string]any{"source": "aws.s3", "detail": map[string]any{"object": map[string]any{"key": key}}}
	s.queues[topology.ImportMedia].Send(context.Background(), queue.Message{Body: string(encoded(notice))})
}

// Refresh makes the pages of the documentation anew, such as when the explorer's script has come.
func (s *Service) Refresh() {
	pages := s.newPages()
	s.assets.Store(&pages)
}

func (s *Service) pages() function { return *s.assets.Load() }

// grace is the time for which calls in progress may end.
const grace = 3 * time.Second

// Stop ends the service: the calls in progress first, then the workers.
func (s *Service) Stop() {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if len(s.servers) > 0 {
		_ = s.servers[0].Shutdown(ctx)
	}
	s.stop()
	ended := make(chan struct{})
	go func() {
		s.running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
	for _, server := range s.servers {
		_ = server.Close()
	}
	if err := s.journal.close(); err != nil {
		slog.Error("the journal was not closed", "error", err)
	}
}

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

// Inside is an address of the API, and the client that calls it.
type Inside struct {
	URL  string
	HTTP *http.Client
}

// PortError is returned when the requested port is not available.
type PortError struct {
	Port  int
	Cause error
}

// Error names the port.
func (e *PortError) Error() string { return fmt.Sprintf("port %d cannot be used: %v", e.Port, e.Cause) }

// Unwrap returns the cause.
func (e *PortError) Unwrap() error { return e.Cause }

func listen(host string, port int) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp",
		net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		return nil, &PortError{port, err}
	}
	return listener, nil
}

const (
	// garbage is how much a small program gathers before it collects, in bytes.
	garbage = 32 << 20
	// leastGarbage is how much a large one gathers, in percent of what it keeps. It was measured at 50,000 posts: the
	// usual 100 % take 150 MB more, and save a tenth of the processor's time.
	leastGarbage = 40
	mostGarbage  = 400
)

// BoundGarbage bounds the garbage of the process by what it keeps, until the context ends: one that keeps little
// collects seldom, which saves time, and one that keeps much collects often, which saves memory. It does nothing if the
// variable GOGC is set.
func BoundGarbage(ctx context.Context) {
	if os.Getenv("GOGC") != "" {
		return
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	for set := 100; ; {
		metrics.Read(live)
		if percent := garbagePercent(live[0].Value.Uint64()); percent != set {
			debug.SetGCPercent(percent)
			set = percent
		}
		if !sleep(ctx, time.Second) {
			return
		}
	}
}

// garbagePercent returns how much garbage there may be beside what is kept, in steps of ten.
func garbagePercent(kept uint64) int {
	percent := mostGarbage
	if kept > 0 {
		percent = int(min(garbage*100/kept, mostGarbage))
	}
	return max(percent/10*10, leastGarbage)
}
