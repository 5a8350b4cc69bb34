package area_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/generatetest"
	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/bedrock"
	"github.com/content-automation/api/pkg/adapter/provider/sandbox"
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/estimate"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/training"
	"github.com/content-automation/api/pkg/area/training/tune"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/event"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/ledger"
	wiring "github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/store"
	fake "github.com/content-automation/api/testdata/providers/bedrock"
	"github.com/content-automation/api/testdata/providers/control"
	"github.com/content-automation/api/testdata/providers/sample"
)

// bucket keeps files in memory.
type bucket struct {
	mu      sync.Mutex
	objects map[string][]byte
	stored  int // files that were put
	last    []byte
}

func (b *bucket) Put(_ context.Context, f media.File, content io.ReadSeeker) error {
	raw, err := io.ReadAll(content)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.objects[f.Key], b.last = raw, raw
	b.stored++
	return err
}

func (b *bucket) Delete(_ context.Context, key string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.objects, key)
	return nil
}

func (b *bucket) read(_ context.Context, name, key string) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	raw, ok := b.objects[key]
	if name != "media" || !ok {
		return nil, errors.New("no such file")
	}
	return raw, nil
}

// trainingWorld is everything around trainings: their operations, called by a test key, and the
// workers before a fake of Bedrock.
type trainingWorld struct {
	*servicetest.World
	engine  *generatetest.Engine
	control *control.Control
	bucket  *bucket
	worker  *training.Worker
	factory string // id of a factory of the caller
	address string // of the fake
}

const region = "us-west-2"

func newTrainingWorld(t *testing.T) *trainingWorld { return newWorldTaking(t, time.Minute) }

// newWorldTaking makes a world in which jobs take as long.
func newWorldTaking(t *testing.T, took time.Duration) *trainingWorld {
	t.Helper()
	w := &trainingWorld{World: servicetest.New(t), control: control.New(),
		bucket: &bucket{objects: map[string][]byte{}}}
	server := httptest.NewServer(http.StripPrefix("/bedrock", fake.New(fake.Config{
		Control: w.control, Samples: sample.File, Now: w.Now, Took: took, Read: w.bucket.read,
		Write: func(context.Context, string, string, []byte) error { return nil },
	})))
	t.Cleanup(server.Close)
	w.address = server.URL
	cfg := aws.Config{Region: region,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "id", SecretAccessKey: "secret"}, nil
		})}
	signer, err := media.NewSigner(cfg, "media", w.Now)
	if err != nil {
		t.Fatal(err)
	}
	offer := catalog.NewOffer("bedrock,fal", region, nil)
	factories := factory.NewService(w.DB, w.Now)
	w.Serve(factories, account.NewService(w.DB, w.Now),
		content.NewService(w.DB, factories, signer, offer, w.Now), training.NewService(w.DB, factories, offer,
			w.Now),
		estimates{area.Env{AWS: cfg, DB: w.DB, Media: signer, Now: w.Now, Providers: "bedrock,fal"}})
	w.worker = &training.Worker{
		DB: w.DB, Objects: w.bucket, Now: w.Now,
		Trainer: tune.New(tune.Config{AWS: cfg, Fakes: server.URL, Bucket: "media",
			Role: "arn:aws:iam::111122223333:role/training"}),
	}
	w.engine = generatetest.New(t, w.DB, w.Clock, providers{
		bedrock.New(bedrock.Config{AWS: cfg, Endpoint: server.URL + "/bedrock"}), sandbox.NewAlike(w.Now),
	}, map[string]generate.Loader{item.ItemKind: item.Loader{Sign: item.SignedBy(signer), Repeats: true}})
	w.engine.Add(wiring.Generating)
	for kind, h := range w.worker.Handlers() {
		w.engine.Handle(kind, h)
	}
	w.factory = w.newFactory(w.Caller)
	return w
}

// estimates registers the operation that prices bodies.
type estimates struct{ area.Env }

func (e estimates) Register(r *httpapi.Router) { estimate.Mount(r, e.Env) }

// providers are Bedrock for live work, and the sandbox for all other.
type providers struct{ bedrock, sandbox provider.Provider }

// For implements generate.Providers.
func (p providers) For(name string, mode tenant.Mode) (provider.Provider, error) {
	if name == bedrock.Name && mode == tenant.Live {
		return p.bedrock, nil
	}
	return p.sandbox, nil
}

func (w *trainingWorld) newFactory(c *apitest.Caller) string {
	w.T.Helper()
	var f struct{ ID string }
	c.Call(http.MethodPost, "/v1/factories", object{"type": "blogger", "name": "Blog", "tone": "dry",
		"quality": "draft"}).Into(w.T, http.StatusCreated, &f)
	return f.ID
}

// live returns a caller with a live key and credits, and a factory of it with content.
func (w *trainingWorld) live(items int) (*apitest.Caller, string) {
	w.T.Helper()
	c := w.Live()
	w.topUp(c, 100_000)
	factory := w.newFactory(c)
	w.fill(c, factory, items)
	return c, factory
}

func (w *trainingWorld) topUp(c *apitest.Caller, credits int64) {
	w.T.Helper()
	apitest.TopUp(w.T, w.DB, w.Now(), c.Principal.Account, credits)
}

// remove marks a factory as deleted, as its deletion does at first.
func (w *trainingWorld) remove(factory string) {
	w.T.Helper()
	it, err := w.DB.Get(w.T.Context(), store.IDKey(factory))
	if err != nil {
		w.T.Fatal(err)
	}
	it.Filters["state"] = factoryrecord.StateDeleted
	tx := &store.Tx{}
	tx.Replace(it)
	w.commit(tx)
}

// stored returns the training of a factory as it is stored.
func (w *trainingWorld) stored(factory string) *training.Record {
	w.T.Helper()
	it, err := w.DB.Get(w.T.Context(), training.Key(factory))
	if err != nil {
		w.T.Fatal(err)
	}
	r, err := training.Decode(&it)
	if err != nil {
		w.T.Fatal(err)
	}
	return r
}

// deleteItems deletes some items of a factory.
func (w *trainingWorld) deleteItems(c *apitest.Caller, factory string, n int) {
	w.T.Helper()
	tx := &store.Tx{}
	page, err := w.DB.List(w.T.Context(),
		store.Query{Index: store.ByParent, Partition: item.ParentPartition(c.Principal.Owner, factory), Limit: n})
	if err != nil {
		w.T.Fatal(err)
	}
	for _, it := range page.Items {
		tx.Delete(it)
	}
	w.commit(tx)
}

func (w *trainingWorld) commit(tx *store.Tx) {
	w.T.Helper()
	if err := w.DB.Commit(w.T.Context(), tx); err != nil {
		w.T.Fatal(err)
	}
}

// fill gives a factory generated items: one that was, and copies of it.
func edited(it store.Item, r *item.Record) (store.Item, error) { return it, it.Encode(r) }

func (w *trainingWorld) fill(c *apitest.Caller, factory string, items int) {
	w.T.Helper()
	if items == 0 {
		return
	}
	var made item.Item
	c.Call(http.MethodPost, "/v1/content-items", object{"factory_id": factory, "kind": "post",
		"prompt": "A shoe & a <video>"}).Into(w.T, http.StatusAccepted, &made)
	w.engine.Drain()
	it, err := w.DB.Get(w.T.Context(), store.IDKey(made.ID))
	if err != nil {
		w.T.Fatal(err)
	}
	r, err := item.Decode(&it)
	if err != nil || r.Item.State != item.Generated {
		w.T.Fatalf("%+v, %v", r, err)
	}
	r.Draft = "As the model had written it." // a person has edited it: all are worth learning from
	tx := &store.Tx{}
	if it, err = edited(it, r); err != nil {
		w.T.Fatal(err)
	}
	tx.Replace(it)
	for n := 1; n < items; n++ {
		w.Clock.Add(time.Millisecond)
		r.Item.ID = id.New(id.ContentItem, w.Now())
		copied, err := r.Entry(it.Owner)
		if err != nil {
			w.T.Fatal(err)
		}
		if tx.Create(copied, nil); tx.Len() == 100 {
			w.commit(tx)
			tx = &store.Tx{}
		}
	}
	w.commit(tx)
	w.Clock.Add(time.Second)
}

func trainingPath(factory string) string { return "/v1/factories/" + factory + "/training" }

// start starts a training through the API.
func (w *trainingWorld) start(c *apitest.Caller, factory string, body object) (t training.Training) {
	w.T.Helper()
	c.Call(http.MethodPost, trainingPath(factory), body).Into(w.T, http.StatusAccepted, &t)
	return t
}

func (w *trainingWorld) get(c *apitest.Caller, factory string) (t training.Training) {
	w.T.Helper()
	c.Call(http.MethodGet, trainingPath(factory), nil).Into(w.T, http.StatusOK, &t)
	return t
}

// until takes steps until the training is in a state.
func (w *trainingWorld) until(c *apitest.Caller, factory string, state training.State) {
	w.T.Helper()
	for range 200 {
		if w.get(c, factory).State == state {
			return
		}
		if !w.engine.Step() {
			break
		}
	}
	w.T.Fatalf("the training is %+v, not %s", w.get(c, factory), state)
}

// end deletes the factory's training and model, as the deletion of the factory does.
func (w *trainingWorld) end(c *apitest.Caller, factory string) {
	w.T.Helper()
	if more, err := (training.Cleaner{DB: w.DB, Now: w.Clock.Now}).Clean(w.T.Context(), c.Principal.Owner,
		factory); more || err != nil {
		w.T.Fatal(more, err)
	}
}

// credits returns the credits that the account can spend, and the sum of its entries.
func (w *trainingWorld) credits(c *apitest.Caller) (balance, sum int64, held int) {
	w.T.Helper()
	items, err := w.DB.GetAll(w.T.Context(), ledger.BalanceKey(c.Principal.Account))
	if err != nil {
		w.T.Fatal(err)
	}
	for _, e := range apitest.All[ledger.Entry](c, "/v1/balance/entries", 100) {
		sum += e.Credits
		if e.State != nil && *e.State == "held" {
			held++
		}
	}
	return ledger.BalanceOf(items[0]).Credits, sum, held
}

// events returns how many events of each type there are about a resource.
func (w *trainingWorld) events(about string) map[event.Type]int {
	w.T.Helper()
	types := map[event.Type]int{}
	for _, row := range storetest.Rows(w.T, w.DB) {
		var e struct {
			Type event.Type
			Data struct{ Object struct{ ID string } }
		}
		if row["kind"] != event.Kind {
			continue
		}
		if err := json.Unmarshal([]byte(row["doc"]), &e); err != nil {
			w.T.Fatal(err)
		}
		if e.Data.Object.ID == about {
			types[e.Type]++
		}
	}
	return types
}

// accepted returns the submissions of an operation that the fake has taken.
func (w *trainingWorld) accepted(operation string) (all []control.Acceptance) {
	for _, a := range w.control.Accepted() {
		if a.Operation == operation {
			all = append(all, a)
		}
	}
	return all
}

// ask asks the fake, as an operator would.
func (w *trainingWorld) ask(path string) (status int, answer string) {
	w.T.Helper()
	r, err := http.NewRequestWithContext(w.T.Context(), http.MethodGet, w.address+"/bedrock"+path, nil)
	if err != nil {
		w.T.Fatal(err)
	}
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261101/us-west-2/bedrock/aws4_request, "+
		"SignedHeaders=host;x-amz-date, Signature="+strings.Repeat("0", 64))
	r.Header.Set("X-Amz-Date", "20261101T000000Z")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		w.T.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		w.T.Fatal(err)
	}
	return resp.StatusCode, string(bytes.TrimSpace(body))
}
