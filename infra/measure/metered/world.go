// Package metered runs the whole service in one process, calls it as the gateway does, and meters its calls of
// DynamoDB. The engine of the tables is a separate process.
package metered

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"

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
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/media"
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
		if w.promotion, err = w.make(ctx, "createPromotion"); err != nil {
			return err
		}
		if w.product, err = w.make(ctx, "createProduct"); err != nil {
			return err
		}
		if _, err := accounts.TopUp(ctx, made[tenant.Live], 1000); err != nil {
			return err
		}
		if w.apiKey, err = w.make(ctx, "createApiKey"); err != nil {
			return err
		}
		if w.person, err = w.make(ctx, "invitePerson"); err != nil {
			return err
		}
		if w.factory, err = w.make(ctx, "createFactory"); err != nil {
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
		if w.generation, err = w.make(ctx, "createImage"); err != nil {
			return err
		}
		if w.item, err = w.make(ctx, "createContentItem"); err != nil {
			return err
		}
		if w.profile = w.Profile; !w.settings.Profiled {
			if w.profile, err = w.make(ctx, "createProfile"); err != nil {
				return err
			}
		}
		if w.automation, err = w.make(ctx, "createAutomation"); err != nil {
			return err
		}
		if w.experiment, err = w.make(ctx, "createExperiment"); err != nil {
			return err
		}
		if w.link, err = w.make(ctx, "createReviewLink"); err != nil {
			return err
		}
		if w.media, err = w.make(ctx, "createMedia"); err != nil {
			return err
		}
		if w.social, err = w.make(ctx, "connectSocialAccount"); err != nil {
			return err
		}
		if w.integration, err = w.make(ctx, "connectIntegration"); err != nil {
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
	return w.dispatch(ctx, state)
}
