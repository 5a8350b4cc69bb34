package content_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/generatetest"
	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/sandbox"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/publishing"
	"github.com/content-automation/api/pkg/area/quote"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/provenance"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

type object = map[string]any

// with returns a body with members changed.
var with = servicetest.Body

// world has the operations of content items, called by a test key, and their worker with its dependencies.
type world struct {
	*servicetest.World
	provider *recorded
	objects  *memory
	composer generate.Composer
	kernel   *task.Kernel
	factory  string // id of a factory of the caller
	signer   *media.Signer
	composed []generate.Composition
	// publishing serves the page of review links.
	publishing *publishing.Service
	items      *content.Service
	reader     item.Reader // of sources
	strict     bool        // no text may repeat an earlier one
	// platforms are those that posts go to. Nil: sandboxes.
	platforms social.Adapters
}

// seeing records compositions.
type seeing struct {
	generate.Composer
	w *world
}

// Compose implements generate.Composer.
func (s seeing) Compose(ctx context.Context, what generate.Composition, o generate.Origin, progress func(int),
	save generate.Save) error {
	s.w.composed = append(s.w.composed, what)
	return s.Composer.Compose(ctx, what, o, progress, save)
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return worldOn(t, servicetest.New(t))
}

// worldOn returns a world with a table.
func worldOn(t *testing.T, on *servicetest.World) *world {
	t.Helper()
	w := &world{World: on, objects: &memory{}, composer: generatetest.Composer{}}
	w.provider = &recorded{Provider: sandbox.NewAlike(w.Now), running: "none",
		kinds: map[provider.Handle]provider.Kind{}}
	w.signer = apitest.Signer(t, w.Now)
	w.kernel = w.kernelAt(w.Now)
	factories := factory.NewService(w.DB, w.Now)
	items := content.NewService(w.DB, factories, w.signer, catalog.NewOffer("bedrock,fal,elevenlabs", "us-west-2",
		w.Now), w.Now)
	w.items = items
	w.publishing = publishing.NewService(w.DB, items, factories, w.signer, w.Log, w.Now, rand.Reader)
	w.Serve(factories, account.NewService(w.DB, w.Now), items,
		quote.NewService(w.DB, w.Now),
		account.NewEvents(w.DB, w.signer), w.publishing)
	w.Kept()
	w.factory = w.makeFactory(object{"type": "blogger", "name": "Blog", "language": "de"})
	return w
}

// makeFactory makes a factory. Its texts are drafts, unless the body says otherwise: they have one part.
func (w *world) makeFactory(body object) string {
	w.T.Helper()
	var f struct{ ID string }
	if body["quality"] == nil {
		body["quality"] = "draft"
	}
	w.Call(http.MethodPost, "/v1/factories", body).Into(w.T, http.StatusCreated, &f)
	return f.ID
}

// body is a body that creates an item; members are pairs that change it.
func (w *world) body(members ...any) object {
	b := object{"factory_id": w.factory, "kind": "post", "prompt": "Ein neuer Laufschuh"}
	return with(b, members...)
}

// create makes an item through the API.
func (w *world) create(members ...any) (it item.Item) {
	w.T.Helper()
	w.Call(http.MethodPost, "/v1/content-items", w.body(members...)).Into(w.T, http.StatusAccepted, &it)
	w.Clock.Add(time.Second)
	return it
}

func (w *world) get(itemID string) (it item.Item) {
	w.T.Helper()
	w.Call(http.MethodGet, "/v1/content-items/"+itemID, nil).Into(w.T, http.StatusOK, &it)
	return it
}

// message returns the message of a task that was committed for an attempt at an item.
func (w *world) message(kind task.Kind, itemID string, attempt int) (m task.Message) {
	w.T.Helper()
	it, err := w.DB.Get(w.T.Context(), store.IDKey(task.ID(kind, itemID, attempt)))
	if err != nil {
		w.T.Fatal(err)
	}
	if err := it.Decode(&m); err != nil {
		w.T.Fatal(err)
	}
	return m
}

// kernelAt makes a kernel with a clock.
func (w *world) kernelAt(now func() time.Time) *task.Kernel {
	worker := &generate.Worker{
		DB: w.DB, Loaders: map[string]generate.Loader{item.ItemKind: item.Loader{Sign: item.SignedBy(w.signer),
			Reader: w.reader, Repeats: !w.strict}},
		Providers: generatetest.Only{Provider: w.provider}, Objects: w.objects,
		Composer: seeing{w.composer, w}, Now: now,
	}
	return servicetest.Kernel(w.DB, now, worker.Handlers())
}

// do has the worker take the steps of an item's job until it has to wait, and returns
// for how long; 0 where it is done.
func (w *world) do(itemID string) (wait time.Duration) {
	w.T.Helper()
	return w.doAttempt(itemID, 1)
}

// doAttempt is do for an attempt after the first.
func (w *world) doAttempt(itemID string, attempt int) (wait time.Duration) {
	w.T.Helper()
	m := w.message(generate.Generate, itemID, attempt)
	for range 100 {
		next, err := w.kernel.Do(w.T.Context(), m, "")
		switch {
		case err != nil:
			w.T.Fatal(err)
		case next == nil:
			return 0
		case next.Delay > 0:
			return next.Delay
		}
		m = next.Message
	}
	w.T.Fatal("100 steps are no end")
	return 0
}

// generated makes an item and has it generated.
func (w *world) generated(members ...any) item.Item {
	w.T.Helper()
	it := w.create(members...)
	if wait := w.do(it.ID); wait != 0 {
		w.T.Fatalf("the worker asks for %v", wait)
	}
	return w.get(it.ID)
}

// events returns the events of an item, as they lie in the table.
func (w *world) events(itemID string) (types map[event.Type]int) {
	w.T.Helper()
	types = map[event.Type]int{}
	for _, row := range storetest.Rows(w.T, w.DB) {
		if row["kind"] != event.Kind {
			continue
		}
		var e struct {
			Type event.Type
			Data struct{ Object struct{ ID string } }
		}
		if err := json.Unmarshal([]byte(row["doc"]), &e); err != nil {
			w.T.Fatal(err)
		}
		if e.Data.Object.ID == itemID {
			types[e.Type]++
		}
	}
	return types
}

// happened checks that these events of an item happened, each once, and no other.
func (w *world) happened(itemID string, want ...event.Type) {
	w.T.Helper()
	got := w.events(itemID)
	for _, t := range want {
		if got[t] != 1 {
			w.T.Errorf("%s happened %d times", t, got[t])
		}
	}
	if len(got) != len(want) {
		w.T.Errorf("the events are %v, want %v", got, want)
	}
}

// recorded is a provider that records its requests, and leaves a kind undone if a test sets it.
type recorded struct {
	provider.Provider
	mu       sync.Mutex
	requests []provider.Request
	running  provider.Kind // the one kind that is not done yet
	kinds    map[provider.Handle]provider.Kind
	// write changes the texts of the writer, or is nil.
	write func(req provider.Request, t *provider.Text)
	// fill changes the objects of forms, or is nil.
	fill func(req provider.Request, object json.RawMessage) json.RawMessage
}

func (p *recorded) Submit(ctx context.Context, req provider.Request) (provider.Submission, error) {
	sub, err := p.Provider.Submit(ctx, req)
	if p.write != nil && sub.Result != nil && sub.Result.Text != nil {
		p.write(req, sub.Result.Text)
	}
	if p.fill != nil && sub.Result != nil && sub.Result.Object != nil {
		sub.Result.Object = p.fill(req, sub.Result.Object)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = append(p.requests, req)
	p.kinds[sub.Handle] = req.Kind
	return sub, err
}

func (p *recorded) Poll(ctx context.Context, h provider.Handle) (provider.Status, error) {
	p.mu.Lock()
	kind := p.kinds[h]
	p.mu.Unlock()
	if kind == p.running {
		return provider.Status{State: provider.Running}, nil
	}
	return p.Provider.Poll(ctx, h)
}

// forget forgets what the world has recorded, so that a long test is bounded.
func (w *world) forget() {
	w.provider.mu.Lock()
	defer w.provider.mu.Unlock()
	w.provider.requests, w.composed = nil, nil
	clear(w.provider.kinds)
	w.Log.Reset()
	w.Faults.Reset()
}

// memory stores files, unless it is to fail.
type memory struct {
	generatetest.Objects
	err error
}

func (m *memory) Save(ctx context.Context, place media.Place, n int, body io.Reader,
	s *provenance.Statement) (media.File, error) {
	if m.err != nil {
		return media.File{}, m.err
	}
	return m.Objects.Save(ctx, place, n, body, s)
}

// shape describes a file: its type, its format and its aspect ratio, as far as edges in
// steps of 32 pixels can have it.
func shape(v media.View) string {
	of := fmt.Sprint(v.Type, " ", v.MIMEType)
	for _, ratio := range []string{"1:1", "4:5", "9:16", "16:9"} {
		across, down, _ := provider.ParseRatio(ratio)
		if v.Height > 0 && math.Abs(float64(v.Width)/float64(v.Height)/across*down-1) < 0.02 {
			return of + " " + ratio
		}
	}
	return of
}
