package worker

import (
	"context"
	"crypto/rand"
	"maps"
	"net/http"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/area/account"
	diagnosis "github.com/content-automation/api/pkg/area/advice"
	"github.com/content-automation/api/pkg/area/analytics"
	"github.com/content-automation/api/pkg/area/architect"
	"github.com/content-automation/api/pkg/area/automation"
	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/content/experiment"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/crm"
	"github.com/content-automation/api/pkg/area/engagement"
	"github.com/content-automation/api/pkg/area/erasure"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/feed"
	"github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/people"
	"github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/area/sandbox"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/area/studio"
	"github.com/content-automation/api/pkg/area/template"
	"github.com/content-automation/api/pkg/area/training"
	"github.com/content-automation/api/pkg/area/transfer"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/backoff"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/craft/source/fetch"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/auditlog"
	"github.com/content-automation/api/pkg/record/connection"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// All has the functions that do work in the background.
var All = []Function{
	// The outbox: jobs go to their queues, events to the customer's bus.
	{Name: "relay", PlainHandler: func(e Env) any {
		return NewRelay(e.queues(topology.FunctionNamed("relay").Sends), e.Bus).Handle
	}},
	// The sums of the analytics.
	{Name: "rollup", PlainHandler: func(e Env) any {
		return Consumer(e.holder(topology.Rollup).Handler(analytics.New(e.DB).Count))
	}},
	// The calls of accounts, which are counted for their service levels. Changes of the audit log are reported.
	{Name: "levels", PlainHandler: func(e Env) any {
		counter := account.NewCallCounter(e.DB)
		return Follower(func(ctx context.Context, batch events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
			auditlog.ReportChanges(batch, e.Now())
			return counter.Handle(ctx, batch)
		})
	}},
	{Name: "generate", Tasks: func(e Env) Handlers { return Generating(generator(e)) }},
	{Name: "compose", Tasks: func(e Env) Handlers { return generator(e).Handlers() }},
	{Name: "import-media", Tasks: importing, Around: func(_ Handlers, steps Consumer) Consumer {
		return Consumer(media.Notified(steps))
	}},
	{Name: "transfer", Tasks: transferring},
	{Name: "import-data", Tasks: takingOver},
	{Name: "diagnose", Tasks: diagnosing},
	{Name: "settle", Tasks: settling},
	{Name: "train", Tasks: func(e Env) Handlers {
		return (&training.Worker{DB: e.DB, Objects: e.Files, Trainer: e.Trainer, Now: e.Now}).Handlers()
	}},
	{Name: "publish", Tasks: publishing},
	{Name: "sync-crm", Tasks: synchronizing},
	{Name: "sync-feed", Tasks: feeding},
	// The deliveries of events are made, and those that webhooks have missed made again.
	{Name: "dispatch", PlainHandler: func(e Env) any {
		deliveries := Consumer(e.holder(topology.Dispatch).Handler(webhook.NewDispatcher(e.DB, e.Now).Dispatch))
		if !e.Mails {
			return deliveries
		}
		return Consumer(people.Announce(e.DB, e.Now, deliveries))
	}},
	{Name: "replay", Tasks: func(e Env) Handlers {
		return Handlers{webhook.ReplayKind: task.Func(webhook.Replayer{Dispatcher: webhook.NewDispatcher(e.DB,
			e.Now)}.Replay)}
	}},
	// Deliveries whose receivers take long to answer are passed on to deliver-slow, so that no others wait for them.
	{Name: "deliver", Tasks: func(e Env) Handlers { return delivering(e, false) }, Around: counting,
		Prepare: economize},
	{Name: "deliver-slow", Tasks: func(e Env) Handlers { return delivering(e, true) }, Around: counting,
		Prepare: economize},
	{Name: "mail", Tasks: func(e Env) Handlers {
		return people.MailHandlers(people.MailConfig{DB: e.DB, Mailer: e.Mailer, Random: e.Random, URL: e.URL,
			Now: e.Now})
	}},
	{Name: "due", PlainHandler: func(e Env) any { return NewSearch(e.DB, e.queues(topology.Outbox), e.Now).Run }},
	{Name: "canary", PlainHandler: func(e Env) any {
		c := &Canary{Target: e.ProbeTarget, HTTP: &http.Client{Timeout: 30 * time.Second}, DB: e.DB, Now: e.Now,
			Lives: e.Lives, Offer: e.Offer(), Wait: backoff.Sleep}
		return c.Run
	}},
	{Name: "rotate-seal", PlainHandler: func(e Env) any { return e.RotateSeal }},
}

func generator(e Env) *generate.Worker {
	return &generate.Worker{DB: e.DB, Loaders: e.Loaders(), Providers: e.Models, Moderator: e.Moderator,
		Objects: e.Files, Composer: e.Composer, Now: e.Now}
}

// Loaders returns the loaders of all generated resources, by the kind of their items.
func (e Env) Loaders() map[string]generate.Loader {
	sign := item.SignedBy(e.Media)
	return map[string]generate.Loader{
		item.ItemKind:   item.Loader{Sign: sign, Reader: e.Sources, Repeats: e.Repeats},
		studio.ItemKind: studio.Loader{Sign: sign}, template.PreviewKind: template.Loader{},
	}
}

// Generating takes the steps of generations, and of the background work of plans, factories and sandboxes.
func Generating(w *generate.Worker) Handlers {
	handlers := w.Handlers()
	maps.Copy(handlers, plan.Handlers(w, publication.FactoryCleaner{DB: w.DB, Now: w.Now}.Clean,
		training.Cleaner{DB: w.DB, Now: w.Now}.Clean, feed.Cleaner{DB: w.DB}.Clean,
		product.Cleaner{DB: w.DB, Now: w.Now}.Clean, social.FactoryCleaner{DB: w.DB, Now: w.Now}.Clean,
		architect.Cleaner{DB: w.DB, Now: w.Now}.Clean, experiment.Cleaner{DB: w.DB, Now: w.Now}.Clean))
	maps.Copy(handlers, (&sandbox.Resetter{Deleter: erasure.Deleter{DB: w.DB, Loaders: w.Loaders,
		Now: w.Now}}).Handlers())
	return handlers
}

// importing checks the files that callers bring in.
func importing(e Env) Handlers {
	w := &media.Importer{DB: e.DB, Objects: e.Files, URLs: e.Uploads, Manifests: e.Manifests, FFmpeg: e.FFmpeg,
		Now: e.Now}
	if e.Uploads == nil {
		w.URLs = media.NewClient(e.Loopback)
	}
	return Handlers{media.Kind: task.Func(w.Import), media.Photo: task.Func((&product.PhotoWorker{Files: w}).Import)}
}

// takingOver imports exports.
func takingOver(e Env) Handlers {
	in := &transfer.Importer{DB: e.DB, Objects: e.Files, URLs: e.Uploads, Now: e.Now,
		Envelope: e.Envelope, Random: e.Random, Addresses: e.Client(safehttp.Options{})}
	if e.Uploads == nil {
		in.URLs = transfer.NewClient(e.Loopback)
	}
	return Handlers{transfer.ImportKind: task.Func(in.Import)}
}

// transferring makes the parts of exports, and erases accounts and profiles, whose last exports they are.
func transferring(e Env) Handlers {
	eraser := &erasure.Worker{Deleter: erasure.Deleter{DB: e.DB, Loaders: e.Loaders(), Now: e.Now}, Entries: e.Entries,
		EntryRegion: e.AWS.Region}
	eraser.People, _ = e.People.(erasure.People)
	return Handlers{
		transfer.ExportKind:  task.Func((&transfer.Exporter{DB: e.DB, Objects: e.Files, Now: e.Now}).Export),
		transfer.CompareKind: task.Func((&transfer.Comparer{DB: e.DB, Objects: e.Files, Now: e.Now}).Compare),
		erasure.TaskKind:     task.Func(eraser.Erase),
	}
}

// diagnosing makes the diagnoses of factories, looks at experiments, and suggests replies to comments.
func diagnosing(e Env) Handlers {
	return Handlers{
		diagnosis.TaskKind: task.Func((&diagnosis.Worker{DB: e.DB, Providers: e.Models,
			Offer: catalog.NewOffer(e.Providers, e.AWS.Region, e.Now), Now: e.Now}).Diagnose),
		experiment.LookKind: task.Func(experiment.Worker{DB: e.DB, Now: e.Now,
			Apply: diagnosis.ExperimentApplier{DB: e.DB, Now: e.Now}.Apply}.Look),
		engagement.SuggestKind: task.Func((&engagement.Suggester{DB: e.DB, Providers: e.Models, Now: e.Now}).Suggest),
	}
}

// publishing does the background work at the social platforms: publications, their metrics and comments, and the tokens
// of accounts.
func publishing(e Env) Handlers {
	vault, adapters := social.Vault{Envelope: e.Envelope, DB: e.DB}, e.platforms()
	publications := &publication.Worker{DB: e.DB, Platforms: adapters, Vault: vault, Files: e.Files, Now: e.Now,
		Budgets: e.Budgets, Entries: e.Entries, EntryRegion: e.AWS.Region}
	accounts := &social.Worker{DB: e.DB, Now: e.Now, Vault: vault, Platforms: adapters,
		Cleaners: []social.Cleaner{publication.AccountCleaner{DB: e.DB, Now: e.Now}}}
	comments := &engagement.Worker{DB: e.DB, Platforms: adapters, Vault: vault, Now: e.Now, Budgets: publications}
	handlers := publications.Handlers()
	maps.Copy(handlers, accounts.Handlers())
	maps.Copy(handlers, comments.Handlers())
	return handlers
}

func delivering(e Env, slow bool) Handlers {
	c := webhook.Config{DB: e.DB, Signer: e.Media, Client: e.Receivers, AWS: e.Accounts, Envelope: e.Envelope,
		Slow: slow, Now: e.Now, Chance: backoff.Chance, Name: rand.Text}
	if e.Receivers == nil {
		c.Client = webhook.NewClient(e.Loopback)
	}
	d := webhook.NewDeliverer(c)
	return Handlers{webhook.DeliverKind: d, webhook.TimerKind: webhook.Timer{Deliverer: d}}
}

// counting also counts the deliveries that a batch has ended.
func counting(handlers Handlers, steps Consumer) Consumer {
	return handlers[webhook.DeliverKind].(*webhook.Deliverer).Counting(steps)
}

// gcPercent lets the heap grow to five times what is live before it is collected: a few megabytes of the function's
// memory, at 0.04 MB a delivery. It saves a sixth of the CPU time.
const gcPercent = 400

// processors is how many threads run Go code at a time. The function's memory pays for a third of a core: sharing that
// among the two cores of the machine costs a tenth of the CPU time, in threads that wake each other.
const processors = 1

// economize saves CPU time in a function that mostly waits.
func economize() {
	debug.SetGCPercent(gcPercent)
	runtime.GOMAXPROCS(processors)
}

// settling ends the calls that died during an external effect, which releases their reservations, carries out
// automations, which do what a call does, ends what has lost its authority, and offers people the providers that were
// set up. It serves no calls, so there is no audit log.
func settling(e Env) Handlers {
	r := httpapi.NewRouter(e.DB, nil, e.Now)
	r.SealWith(e.Seal)
	// The operations whose effect is more than one transaction.
	architect.Mount(r, e.Env)
	content.Mount(r, e.Env)
	handlers := Handlers{httpapi.ClaimKind: task.Func(httpapi.Claims{Router: r}.End)}
	automations, integrations := automation.New(e.Env), crm.Worker{DB: e.DB, Now: e.Now}
	maps.Copy(handlers, automations.Handlers(fetch.ParseFeed))
	handlers[person.RecheckKind] = person.Rechecks(e.DB, map[string]person.Recheck{
		automation.ItemKind: automations.Recheck, crm.Kind: integrations.Recheck})
	handlers[connection.OfferKind] = task.Func(connection.Offerer{DB: e.DB, Client: e.People, Now: e.Now}.Offer)
	return handlers
}

// synchronizing takes the steps of integrations with CRMs.
func synchronizing(e Env) Handlers {
	c := crm.Config{HTTP: e.Client(safehttp.Options{MaxBody: crm.MaxAnswer}),
		Endpoint: e.PlatformEndpoint, Now: e.Now}
	if e.Apps != nil {
		c.Apps = social.NewApps(e.Apps, e.Now).Get
	}
	w := &crm.Worker{DB: e.DB, Systems: crm.NewSystems(c), Now: e.Now,
		Vault: social.Vault{Envelope: e.Envelope, DB: e.DB}, Content: maker{e.items()}}
	return w.Handlers()
}

// feeding has catalogs follow feeds, and content follow catalogs.
func feeding(e Env) Handlers {
	w := &feed.Worker{DB: e.DB, Objects: e.Files, URLs: e.Uploads, Now: e.Now,
		Content: &publication.Follower{DB: e.DB, Platforms: e.platforms(), Items: e.items(), Now: e.Now}}
	if e.Uploads == nil {
		w.URLs = feed.NewClient(e.Loopback)
	}
	return w.Handlers()
}

// items returns the operations of content items.
func (e Env) items() *content.Service {
	return content.NewService(e.DB, factory.NewService(e.DB, e.Now), e.Media,
		catalog.NewOffer(e.Providers, e.AWS.Region, e.Now), e.Now)
}

// platforms returns the platforms that the stack reaches.
func (e Env) platforms() social.Adapters {
	if e.Adapters != nil {
		return e.Adapters
	}
	c := social.PlatformsConfig{Endpoint: e.PlatformEndpoint, Now: e.Now}
	if e.Apps != nil {
		c.Apps = social.NewApps(e.Apps, e.Now).Get
	}
	return social.NewPlatforms(c)
}

// maker makes content items by the operation that creates them.
type maker struct{ *content.Service }

func (m maker) Make(ctx context.Context, tx *store.Tx, p *auth.Principal, piece crm.Piece) (string, error) {
	made, err := m.Service.Make(ctx, tx, p, content.New(piece))
	return made.ID, err
}
