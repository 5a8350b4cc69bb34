package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"

	"github.com/content-automation/api/pkg/account"
	"github.com/content-automation/api/pkg/api"
	"github.com/content-automation/api/pkg/apikey"
	"github.com/content-automation/api/pkg/audit"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/authorizer"
	"github.com/content-automation/api/pkg/content"
	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/function"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/provider/registry"
	"github.com/content-automation/api/pkg/queue"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/store/storetest"
	"github.com/content-automation/api/pkg/studio"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/pkg/tenant"
	"github.com/content-automation/api/pkg/webhook"
)

// listed is how many resources of each kind the account has: one page of a list,
// and one more that tells that the list goes on.
const listed = 21

// webhooksListed is how many webhooks it has: one less than there may be.
const webhooksListed = 19

// plenty is a rate limit that is never reached.
const plenty = 1_000_000

// configured are the providers that the stack has.
const configured = "bedrock,elevenlabs,fal,heygen,polly,replicate"

// world is the whole service in one process, but for the engine of its tables: the
// authorizer and the functions of all areas, metered, and two accounts that call.
type world struct {
	meter      *meter
	with       []func(*aws.Config)
	state      *store.DB
	recorder   *meteredRecorder
	authorizer lambda.Handler
	functions  map[string]lambda.Handler
	routes     map[string]httpapi.Route
	areas      map[string]generate.Loader
	clock      time.Time
	key, live  string // secrets of a test key and a live one
	drops      []func(context.Context) error

	// Ids of resources of the account, one of each kind.
	apiKey, factory, item, generation, event, webhook, delivery string
}

// meteredRecorder notes what an audit entry costs.
type meteredRecorder struct {
	log   *audit.Log
	meter *meter
	cost  reading
}

// Record writes one call to the audit log.
func (r *meteredRecorder) Record(ctx context.Context, c httpapi.Call) error {
	before, err := r.meter.read()
	if err != nil {
		return err
	}
	if err := r.log.Record(ctx, c); err != nil {
		return err
	}
	after, err := r.meter.read()
	r.cost = after.minus(before)
	return err
}

// newWorld makes tables in the engine of the tests, and fills them. Each of with may
// change the configuration of the tables' clients.
func newWorld(ctx context.Context, with ...func(*aws.Config)) (_ *world, err error) {
	w := &world{
		meter: &meter{}, with: with, functions: map[string]lambda.Handler{}, routes: map[string]httpapi.Route{},
		// Time stands still, so that no minute ends between two calls.
		clock: time.Now().UTC().Truncate(time.Minute).Add(time.Second),
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close(ctx))
		}
	}()
	state, err := w.table(ctx)
	if err != nil {
		return nil, err
	}
	w.state = state
	entries, err := w.table(ctx)
	if err != nil {
		return nil, err
	}
	signer, err := media.NewSigner(aws.Config{
		Region: "eu-central-1",
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "bench", SecretAccessKey: "bench", SessionToken: "bench"}, nil
		}),
	}, "bench-media", w.now)
	if err != nil {
		return nil, err
	}
	w.areas = map[string]generate.Loader{content.ItemKind: content.Loader{Sign: content.SignedBy(signer)}, studio.ItemKind: studio.Loader{}}
	log := audit.New(entries, w.now)
	w.recorder = &meteredRecorder{log: log, meter: w.meter}
	w.authorizer = lambda.NewHandler(authorizer.New(credential.NewCounter(state, w.now), authorizer.Scopes, w.now).Handle)
	// Addresses of webhooks are looked up when they are saved: one on the machine
	// itself needs no look-up.
	e := function.Env{DB: state, Audit: log, Media: signer, Now: w.now, Random: rand.Reader, Providers: configured, Loopback: true, DeliverRole: arn.ARN{Partition: "aws"}}
	for _, area := range api.Areas {
		router := httpapi.NewRouter(state, w.recorder, w.now)
		area.Mount(router, e)
		w.functions[area.Function] = lambda.NewHandler(httpapi.Lambda(router))
	}
	for _, r := range api.Routes() {
		w.routes[r.OperationID] = r
	}
	return w, w.fill(ctx, state)
}

func (w *world) now() time.Time { return w.clock }

func (w *world) table(ctx context.Context) (*store.DB, error) {
	db, drop, err := storetest.Make(ctx, w.now, append(w.with, w.meter.install)...)
	if err == nil {
		w.drops = append(w.drops, drop)
	}
	return db, err
}

// close removes the tables.
func (w *world) close(ctx context.Context) error {
	var all error
	for _, drop := range w.drops {
		all = errors.Join(all, drop(ctx))
	}
	return all
}

// fill makes an account for each mode, with a key and with some of everything.
func (w *world) fill(ctx context.Context, state *store.DB) (err error) {
	accounts := account.NewService(state, w.now)
	keys := apikey.NewService(state, accounts, w.now, rand.Reader)
	// Two accounts, so that each lists keys of one mode alone: what a query reads and
	// does not give cannot be weighed.
	made := map[tenant.Mode]tenant.Account{}
	for mode, secret := range map[tenant.Mode]*string{tenant.Test: &w.key, tenant.Live: &w.live} {
		name, limit := "Bench", plenty
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
	for i := range listed {
		if _, err := accounts.TopUp(ctx, made[tenant.Live], 1000); err != nil {
			return err
		}
		if w.apiKey, err = w.make(ctx, "createApiKey"); err != nil {
			return err
		}
		if w.factory, err = w.make(ctx, "createFactory"); err != nil {
			return err
		}
		if w.generation, err = w.make(ctx, "createImage"); err != nil {
			return err
		}
		if w.item, err = w.make(ctx, "createContentItem"); err != nil {
			return err
		}
		if i < webhooksListed {
			if w.webhook, err = w.make(ctx, "createWebhook"); err != nil {
				return err
			}
		}
		// The item is generated, which makes an event.
		if err := w.generate(ctx, state, w.item); err != nil {
			return fmt.Errorf("generate %s: %w", w.item, err)
		}
	}
	// The first call of a minute is weighed by itself.
	if err := w.list(ctx, request{operation: "listBalanceEntries", live: true}, new([]json.RawMessage)); err != nil {
		return err
	}
	return w.dispatch(ctx, state)
}

// generate takes all steps of the work of an item.
func (w *world) generate(ctx context.Context, state *store.DB, itemID string) error {
	kernel := newKernel(state, &generate.Worker{
		DB: state, Loaders: w.areas, Providers: registry.New(registry.Config{Now: w.now}), Objects: described{}, Now: w.now,
	}, w.now)
	m := task.Message{ID: task.ID(generate.Generate, itemID, 1), Step: 1}
	for {
		next, err := kernel.Do(ctx, m, 1)
		if err != nil || next == nil {
			return err
		}
		m = next.Message
	}
}

func newKernel(db *store.DB, w *generate.Worker, now func() time.Time) *task.Kernel {
	return task.NewKernel(task.Config{DB: db, Handlers: w.Handlers(), Now: now, Name: rand.Text, Chance: mathrand.Float64})
}

// nowhere is a queue that forgets what it takes.
type nowhere struct{}

func (nowhere) Send(_ context.Context, messages ...queue.Message) []error {
	return make([]error, len(messages))
}

// dispatch makes the deliveries of the events to the webhooks.
func (w *world) dispatch(ctx context.Context, state *store.DB) error {
	var happened []event.Event
	if err := w.list(ctx, request{operation: "listEvents"}, &happened); err != nil {
		return err
	}
	var batch events.SQSEvent
	for _, e := range happened {
		body, err := json.Marshal(map[string]any{"detail": event.Ref{ID: e.ID, Type: e.Type, Owner: tenant.Of(e.AccountID, e.Mode)}})
		if err != nil {
			return err
		}
		batch.Records = append(batch.Records, events.SQSMessage{MessageId: e.ID, Body: string(body)})
	}
	out, err := webhook.NewDispatcher(state, nowhere{}, w.now).Handle(ctx, batch)
	if err != nil || len(out.BatchItemFailures) > 0 {
		return fmt.Errorf("%d events were not dispatched: %w", len(out.BatchItemFailures), err)
	}
	var made []webhook.Delivery
	if err := w.list(ctx, request{operation: "listDeliveries", id: w.webhook}, &made); err != nil {
		return err
	}
	w.event, w.delivery = happened[0].ID, made[0].ID
	return nil
}

// list reads a list that must not be empty.
func (w *world) list(ctx context.Context, r request, into any) error {
	a, err := w.call(ctx, r)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(a.data, into); err != nil || string(a.data) == "[]" {
		return fmt.Errorf("%s gives nothing: %s: %w", r.operation, strconv.Quote(string(a.data)), err)
	}
	return nil
}

// make carries out an operation that makes something, and gives its id.
func (w *world) make(ctx context.Context, operation string) (string, error) {
	made, err := w.call(ctx, request{operation: operation, body: w.examples()[operation].body})
	if err != nil {
		return "", err
	}
	return made.id()
}
