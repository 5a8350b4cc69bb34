// Package metered runs the whole service in one process, calls it as the gateway does, and meters its calls of
// DynamoDB. The engine of the tables is a separate process.
package metered

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	mathrand "math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
	"github.com/gofrs/uuid/v5"

	"github.com/content-automation/api/infra/verify/harness/generatetest"
	"github.com/content-automation/api/infra/verify/harness/sealtest"
	"github.com/content-automation/api/infra/verify/harness/signintest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/infra/verify/permit"
	"github.com/content-automation/api/pkg/adapter/platform/instagram"
	"github.com/content-automation/api/pkg/adapter/platform/tiktok"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/registry"
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/area/audit"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/authorizer"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/auth/signin"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/admission"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/service/api"
	"github.com/content-automation/api/pkg/service/serve"
	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/store"
)

// Settings are the settings of a world.
type Settings struct {
	// Account is the name of the accounts, and Agent is that of the calling program.
	Account, Agent string
	// Listed is the number of resources of each kind in the account.
	Listed int
	// Clock is the initial time, and Tick is the time that each call takes: resources that calls create within one
	// millisecond have no order.
	Clock time.Time
	Tick  time.Duration
	// Profiled reports whether everything in the account belongs to a profile: World.Profile.
	Profiled bool
	// Used makes the account a used one: see use.
	Used bool
	// Secret is the secret of the system, if it has one.
	Secret seal.Secret
	// With may change the configuration of the tables' clients.
	With []func(*aws.Config)
}

// webhooksListed is one less than the largest number of webhooks of an account.
const webhooksListed = 19

// stackKey is the key that seals the tokens of accounts.
const stackKey = "the stack's key"

// plenty is a rate limit that is never reached.
const plenty = 1_000_000

// configured are the providers that the stack has.
var configured = strings.Join(provider.RowNames(), ",")

// World is the whole service in one process, except for the engine of its tables. It has the authorizer and the
// functions of all areas, metered, and two accounts for the calls.
type World struct {
	Meter *Meter
	State *store.DB
	// entries is the table of the audit log.
	entries *store.DB
	// Workers is what the functions that work in the background are made from.
	Workers worker.Env
	// Routes are the operations by their ids.
	Routes map[string]httpapi.Route
	// Clock is the time, which only calls move.
	Clock time.Time

	settings   Settings
	recorder   *meteredRecorder
	authorizer function
	functions  map[string]function
	// running is the function that is called, without a name if none is. Its calls without permission are forbidden.
	running   topology.Function
	forbidden []string
	// issuer signs the access token of the owner of the test key's account.
	issuer *signintest.Issuer
	drops  []func(context.Context) error
	// admitted is the authorizer's result for each header Authorization.
	admitted map[string]map[string]any

	resources
}

// resources are what a world makes at its beginning.
type resources struct {
	key, live string         // secrets of a test key and a live one
	account   tenant.Account // of the test key
	// The ids of resources of the account, one of each kind.
	apiKey, person, factory, item, generation, media, event, webhook, delivery, diagnosed, proposal, social string
	integration                                                                                             string
	// channel is the social account that items are published to.
	channel string
	// creator is an account of a platform that asks for choices of the person who posts.
	creator string
	// pages is an account of a platform that finds places.
	pages string
	// planned is a factory with a content plan, and seller is one with products.
	planned, seller                                            string
	feedRun                                                    string // of the factory that was synced last
	product, promotion, photo, profile, automation, experiment string
	link                                                       string // of reviews
	products                                                   int    // created so far
	invited                                                    int    // people so far
	checks                                                     int    // of the origin of files
	// Profile is the profile that what the world makes belongs to. It is empty without Settings.Profiled.
	Profile string
	chat    string // with the architect
}

// function is a function with its permissions.
type function struct {
	topology.Function
	lambda.Handler
}

// meteredRecorder measures the cost of an audit entry.
type meteredRecorder struct {
	log   *audit.Log
	meter *Meter
	cost  Reading
}

// Record writes one call to the audit log.
func (r *meteredRecorder) Record(ctx context.Context, c httpapi.Call) error {
	before, err := r.meter.Read()
	if err != nil {
		return err
	}
	if err := r.log.Record(ctx, c); err != nil {
		return err
	}
	after, err := r.meter.Read()
	r.cost = after.Minus(before)
	return err
}

// routes are the operations, which are registered once for all worlds.
var routes = sync.OnceValue(api.Routes)

// New creates a world of the measured size: a page of each list, and one more resource, which shows that the list
// continues. Each function in with may change the configuration of the tables' clients.
func New(ctx context.Context, with ...func(*aws.Config)) (*World, error) {
	return NewWith(ctx, Settings{
		Account: "Bench", Agent: "bench/1.0", Listed: 21, With: with,
		// All calls are in one minute, and in the order of their time.
		Clock: time.Date(2026, 11, 2, 9, 0, 1, 0, time.UTC), Tick: time.Millisecond,
	})
}

// NewWith creates tables in the engine of the tests, and fills them. In memory, a later world with the same settings
// begins with a copy of what the first one made.
func NewWith(ctx context.Context, s Settings) (_ *World, err error) {
	w := &World{Meter: &Meter{}, settings: s, functions: map[string]function{},
		Routes: map[string]httpapi.Route{}, Clock: s.Clock}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Close(ctx))
		}
	}()
	w.issuer = signintest.New(w.Now)
	state, err := w.table(ctx, permit.State)
	if err != nil {
		return nil, err
	}
	entries, err := w.table(ctx, permit.Audit)
	if err != nil {
		return nil, err
	}
	w.State, w.entries = state, entries
	cfg := aws.Config{
		Region: "eu-central-1",
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "bench", SecretAccessKey: "bench", SessionToken: "bench"}, nil
		}),
	}
	signer, err := media.NewSigner(cfg, "bench-media", w.Now)
	if err != nil {
		return nil, err
	}
	log := audit.New(entries, w.Now)
	w.recorder = &meteredRecorder{log: log, meter: w.Meter}
	w.authorizer = function{topology.FunctionNamed("authorizer"), lambda.NewHandler(authorizer.New(
		credential.NewCounter(state, w.Now), w.issuer.Verifier(), authorizer.Scopes, w.Now).Handle)}
	// The addresses of webhooks are resolved when they are saved. An address on the machine itself needs no
	// look-up.
	e := area.Env{AWS: cfg, DB: state, Audit: log, Media: signer, Now: w.Now, Random: rand.Reader,
		Providers: configured, Loopback: true, DeliverRole: arn.ARN{Partition: "aws"},
		Envelope: sealtest.Envelope(stackKey)}
	w.Workers = worker.Env{Env: e, Files: described{}, Models: registry.New(registry.Config{Now: w.Now}), Repeats: true,
		Composer: generatetest.Composer{Objects: blank{}}, Receivers: taker{}}
	for _, f := range serve.All {
		router := httpapi.NewRouter(state, w.recorder, w.Now)
		router.SealWith(s.Secret)
		f.Mount(router, e)
		w.functions[f.Name] = function{topology.FunctionNamed(f.Name), lambda.NewHandler(httpapi.Lambda(router))}
	}
	for _, r := range routes() {
		w.Routes[r.OperationID] = r
	}
	return w, w.begin(ctx)
}

// Now returns the time of the clock.
func (w *World) Now() time.Time { return w.Clock }

func (w *World) table(ctx context.Context, of permit.Table) (*store.DB, error) {
	with := append(slices.Clone(w.settings.With), w.Meter.install, w.permitting(of))
	if len(w.settings.With) == 0 {
		with = append(with, storetest.Direct)
	}
	db, drop, err := storetest.Make(ctx, w.Now, with...)
	if err == nil {
		w.drops = append(w.drops, drop)
	}
	return db, err
}

// Close removes the tables.
func (w *World) Close(ctx context.Context) error {
	var all error
	for _, drop := range w.drops {
		all = errors.Join(all, drop(ctx))
	}
	return all
}

// fill creates an account for each mode, with a key and resources of every kind.
func (w *World) fill(ctx context.Context) (err error) {
	state := w.State
	accounts := account.NewService(state, w.Now)
	keys := apikey.NewService(state, accounts, w.Now, rand.Reader)
	// There are two accounts, so that each lists keys of one mode alone: items that a query reads and does not
	// return cannot be weighed.
	made := map[tenant.Mode]tenant.Account{}
	for mode, secret := range map[tenant.Mode]*string{tenant.Test: &w.key, tenant.Live: &w.live} {
		name, limit := w.settings.Account, plenty
		a, err := accounts.Create(ctx, account.Settings{Name: &name, TestLimit: &limit, LiveLimit: &limit})
		if err != nil {
			return err
		}
		k, err := keys.Issue(ctx, tenant.Account(a.ID), mode, apikey.Settings{Name: "bench", Scopes: auth.AllScopes()})
		if err != nil {
			return err
		}
		made[mode], *secret = tenant.Account(a.ID), k.Secret
	}
	if err := w.addOwner(ctx, made[tenant.Test]); err != nil {
		return err
	}
	if w.settings.Profiled {
		if w.Profile, err = w.make(ctx, "createProfile"); err != nil {
			return err
		}
	}
	// Each diagnosis creates at least one proposal.
	if w.diagnosed, err = w.make(ctx, "createFactory"); err != nil {
		return err
	}
	for range w.settings.Listed {
		if w.proposal, err = w.diagnose(ctx, w.diagnosed); err != nil {
			return err
		}
	}
	if w.seller, err = w.Seller(ctx, ""); err != nil {
		return err
	}
	for i := range w.settings.Listed {
		if err := w.makeAll(ctx, creation{"createPromotion", &w.promotion},
			creation{"createProduct", &w.product}); err != nil {
			return err
		}
		if _, err := accounts.TopUp(ctx, made[tenant.Live], 1000); err != nil {
			return err
		}
		if err := w.makeAll(ctx, creation{"createApiKey", &w.apiKey}, creation{"invitePerson", &w.person},
			creation{"createFactory", &w.factory}); err != nil {
			return err
		}
		if w.planned == "" {
			plan := w.Examples()["createContentPlan"]
			if w.planned, err = plan.ID(ctx); err != nil {
				return err
			}
			if _, err := w.Call(ctx, Request{Operation: "createContentPlan", ID: w.planned,
				Body: plan.Body}); err != nil {
				return err
			}
		}
		if err := w.makeAll(ctx, creation{"createImage", &w.generation},
			creation{"createContentItem", &w.item}); err != nil {
			return err
		}
		if w.profile = w.Profile; !w.settings.Profiled {
			if w.profile, err = w.make(ctx, "createProfile"); err != nil {
				return err
			}
		}
		if err := w.makeAll(ctx, creation{"createAutomation", &w.automation},
			creation{"createExperiment", &w.experiment}, creation{"createReviewLink", &w.link}, creation{"createMedia", &w.media},
			creation{"connectSocialAccount", &w.social}, creation{"connectIntegration", &w.integration}); err != nil {
			return err
		}
		if w.channel, err = w.connect(ctx, "@acme_shop"); err != nil {
			return err
		}
		if w.creator == "" {
			if w.creator, err = w.connectCreator(ctx, state, tiktok.Name); err != nil {
				return err
			}
			if w.pages, err = w.connectCreator(ctx, state, instagram.Name); err != nil {
				return err
			}
		}
		if w.chat, _, err = w.drafted(ctx); err != nil {
			return err
		}
		if i < webhooksListed {
			if w.webhook, err = w.make(ctx, "createWebhook"); err != nil {
				return err
			}
		}
		// The generation of the item creates an event.
		if err := w.generate(ctx, w.item); err != nil {
			return fmt.Errorf("generate %s: %w", w.item, err)
		}
		if err := w.roll(ctx, w.item); err != nil {
			return fmt.Errorf("count %s: %w", w.item, err)
		}
	}
	// The first call of a minute is weighed by itself.
	if err := w.list(ctx, Request{Operation: "listBalanceEntries", Live: true}, new([]json.RawMessage)); err != nil {
		return err
	}
	if err := w.dispatch(ctx, state); err != nil || !w.settings.Used {
		return err
	}
	return w.use(ctx)
}

// filling is what worlds begin with: to make it takes hundreds of calls.
type filling struct {
	first          sync.Once
	err            error
	state, entries []map[string]types.AttributeValue
	clock          time.Time
	resources      resources
}

// sameFilling are the settings by which worlds begin alike.
type sameFilling struct {
	account, agent string
	listed         int
	clock          time.Time
	tick           time.Duration
	profiled, used bool
}

// fillings are the fillings of this process by their settings.
var fillings sync.Map // sameFilling to *filling

// drawn counts the seeds of this process.
var drawn atomic.Uint64

// draw makes the ids and the randomness of the process those of the next seed, each from its beginning. Records are
// compressed, so that the units of one near a limit would otherwise differ with the ids in it. Ids have a stream of
// their own, because a signature may take a byte more than another.
func draw() {
	var seed [32]byte
	binary.LittleEndian.PutUint64(seed[:], drawn.Add(1))
	rand.Reader = &serial{from: mathrand.NewChaCha8(seed)}
	uuid.DefaultGenerator = uuid.NewGenWithOptions(
		uuid.WithRandomReader(&serial{from: mathrand.NewChaCha8(seed)}))
}

// serial is a reader that several may read at a time.
type serial struct {
	mu   sync.Mutex
	from io.Reader
}

// Read reads from r.
func (r *serial) Read(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.from.Read(b)
}

// begin fills the world, or copies what the first world of its settings has made.
func (w *World) begin(ctx context.Context) error {
	draw()
	defer draw() // What a copy makes must not be what the original was filled with.
	if _, ok := storetest.Contents(w.State); !ok {
		return w.fill(ctx)
	}
	s := w.settings
	known, _ := fillings.LoadOrStore(sameFilling{s.Account, s.Agent, s.Listed, s.Clock, s.Tick, s.Profiled,
		s.Used}, &filling{})
	f := known.(*filling)
	copied := true
	f.first.Do(func() {
		copied = false
		if f.err = w.fill(ctx); f.err == nil {
			f.state, _ = storetest.Contents(w.State)
			f.entries, _ = storetest.Contents(w.entries)
			f.clock, f.resources = w.Clock, w.resources
		}
	})
	if f.err != nil || !copied {
		return f.err
	}
	w.Clock, w.resources = f.clock, f.resources
	if err := storetest.Refill(w.State, f.state); err != nil {
		return err
	}
	return storetest.Refill(w.entries, f.entries)
}

// permitting returns a change of the configuration of a table's client, which notes the calls for which the function
// that is running has no permission. The engine of the tests refuses none.
func (w *World) permitting(of permit.Table) func(*aws.Config) {
	note := func(ctx context.Context, in middleware.InitializeInput,
		next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
		if w.running.Name != "" {
			w.forbidden = append(w.forbidden, permit.Missing(w.running, of, in.Parameters)...)
		}
		return next.HandleInitialize(ctx, in)
	}
	return func(cfg *aws.Config) {
		cfg.APIOptions = append(cfg.APIOptions, func(stack *middleware.Stack) error {
			return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("permissions", note), middleware.Before)
		})
	}
}

// refusal returns an error if there were forbidden calls since the last one.
func (w *World) refusal() error {
	if len(w.forbidden) == 0 {
		return nil
	}
	all := strings.Join(w.forbidden, "\n")
	w.forbidden = nil
	return errors.New(all)
}

// owner is the issuer's name of the person who calls the operations for people.
const owner = "owner"

// addOwner adds a person to an account, who has signed in.
func (w *World) addOwner(ctx context.Context, account tenant.Account) error {
	w.account = account
	_, _, err := w.AddPerson(ctx, auth.Owner, owner)
	return err
}

// AddPerson adds a person with a role to the account of the test key, who has signed in. It returns the person's id and
// access token. The name is that by which the issuer knows the person.
func (w *World) AddPerson(ctx context.Context, role auth.Role, name string) (personID, token string, err error) {
	people, tx := person.NewService(w.State, w.Now, rand.Reader), &store.Tx{}
	made, _, err := people.Invite(tx, person.New{Account: w.account, Email: name + "@example.com", Name: "Grace Hopper",
		Role: role, By: "operator"})
	if err == nil {
		err = w.State.Commit(ctx, tx)
	}
	if err == nil {
		_, err = admission.NewService(w.State, people, w.Now).Admit(ctx, signin.Identity{Pool: signintest.Pool,
			Subject: name, Email: name + "@example.com", EmailVerified: true, Name: "Grace Hopper"})
	}
	return made.ID, w.issuer.Access(name), err
}

// Quiet discards the metrics of the functions, and their logs except for errors: they run in this process, and
// would write a line for each call and step.
func Quiet() {
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})))
	metric.SetOutput(io.Discard)
}
