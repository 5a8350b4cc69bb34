package content_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/infra/verify/harness/sealtest"
	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/instagram"
	"github.com/content-automation/api/pkg/adapter/platform/rutube"
	"github.com/content-automation/api/pkg/adapter/platform/telegram"
	"github.com/content-automation/api/pkg/adapter/platform/tiktok"
	"github.com/content-automation/api/pkg/adapter/platform/vk"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
	"github.com/content-automation/api/pkg/adapter/platform/youtube"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/testdata/platforms/control"
	fakeinstagram "github.com/content-automation/api/testdata/platforms/instagram"
	"github.com/content-automation/api/testdata/platforms/oauth"
	fakerutube "github.com/content-automation/api/testdata/platforms/rutube"
	faketelegram "github.com/content-automation/api/testdata/platforms/telegram"
	faketiktok "github.com/content-automation/api/testdata/platforms/tiktok"
	fakevk "github.com/content-automation/api/testdata/platforms/vk"
	fakeyoutube "github.com/content-automation/api/testdata/platforms/youtube"
)

var runs = flag.Uint64("publications", 60, "how many publications meet random troubles")

var owner = tenant.Of("acc_1", tenant.Live)

// granter makes tokens, as fakes of platforms with OAuth do.
type granter interface {
	Grant(d time.Duration) (access, refresh string)
}

// double is the fake of a platform, with its adapter and an account there.
type double struct {
	fake    func(func() time.Time) fixture.Fake
	adapter func(wire.Config) platform.Adapter
	account platform.Account
}

// fakes are the platforms to which each test of all publishes.
var fakes = map[string]double{
	"telegram": {func(now func() time.Time) fixture.Fake { return faketelegram.New(now) },
		func(c wire.Config) platform.Adapter { return telegram.New(c) },
		platform.Account{ID: faketelegram.Channel, Token: platform.Token{Access: faketelegram.Token}}},
	"tiktok": {func(now func() time.Time) fixture.Fake { return faketiktok.New(now) },
		func(c wire.Config) platform.Adapter { return tiktok.New(c) },
		platform.Account{ID: faketiktok.User}},
	"vk": {func(now func() time.Time) fixture.Fake { return fakevk.New(now) },
		func(c wire.Config) platform.Adapter { return vk.New(c) },
		platform.Account{ID: strconv.Itoa(-fakevk.Group), Token: platform.Token{Device: fakevk.Device}}},
	"youtube": {func(now func() time.Time) fixture.Fake { return fakeyoutube.New(now) },
		func(c wire.Config) platform.Adapter { return youtube.New(c) },
		platform.Account{ID: fakeyoutube.Channel}},
	"instagram": {func(now func() time.Time) fixture.Fake { return fakeinstagram.New(now) },
		func(c wire.Config) platform.Adapter { return instagram.New(c) },
		platform.Account{ID: fakeinstagram.User}},
	"rutube": {func(now func() time.Time) fixture.Fake { return fakerutube.New(now) },
		func(c wire.Config) platform.Adapter { return rutube.New(c) },
		platform.Account{ID: fakerutube.Username}},
}

// only is one adapter for everything.
type only struct{ platform.Adapter }

// Of implements publication.Platforms.
func (o only) Of(tenant.Mode, string) (platform.Adapter, bool) { return o.Adapter, true }

// files are made of their names.
type files struct{ size int64 }

func (files) URL(_ context.Context, key, _ string) (string, error) {
	return "https://media.example.test/" + key, nil
}

func (f files) Range(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	return fixture.Video(key, f.size).Open(ctx, offset, length)
}

// publicationWorld is an item with a video, an account, and the worker that publishes.
type publicationWorld struct {
	t       *testing.T
	db      *store.DB
	clock   *fixture.Clock
	fake    fixture.Fake
	worker  *publication.Worker
	item    string
	account social.Record
	// refreshes reports that tokens are really refreshed.
	refreshes bool
	woken     map[string]bool // messages of refreshes that were delivered
	wish      string          // the options, or empty for those that the platform asks for
}

func newPublicationWorld(t *testing.T, name string) *publicationWorld {
	t.Helper()
	of, known := fakes[name]
	if !known {
		of = others[name]
	}
	w := &publicationWorld{t: t, clock: fixture.NewClock()}
	w.fake = of.fake(w.clock.Now)
	w.db = storetest.Open(t, w.clock.Now)
	adapter := of.adapter(wire.Config{
		HTTP: control.Doer{Handler: w.fake.Handler()}, BaseURL: "http://platform.test", Now: w.clock.Now,
		App: func(context.Context) (platform.App, error) {
			return platform.App{ID: oauth.ClientID, Secret: oauth.ClientSecret}, nil
		},
	})
	w.worker = &publication.Worker{
		DB: w.db, Platforms: only{adapter}, Vault: social.Vault{Envelope: sealtest.Envelope("key"), DB: w.db},
		Files: files{9000}, Now: w.clock.Now,
	}
	w.account = w.connect("soc_1", name, of.account)
	w.makeItem("cnt_1")
	return w
}

// connect connects an account, and returns its record.
func (w *publicationWorld) connect(id, name string, a platform.Account) (r social.Record) {
	w.t.Helper()
	now := w.clock.Now()
	if g, ok := w.fake.(granter); ok && a.Token.Access == "" {
		access, refresh := g.Grant(7 * 24 * time.Hour)
		a.Token.Access, a.Token.Refresh = platform.Secret(access), platform.Secret(refresh)
	}
	r = social.Record{Account: social.Account{Resource: resource.New(id, now, nil), Platform: name,
		FactoryIDs: []string{}}, PlatformID: a.ID}
	var err error
	if r.SealedAccount, err = w.worker.Vault.Seal(w.t.Context(), owner, id, a); err != nil {
		w.t.Fatal(err)
	}
	it, err := r.Item(owner)
	if err != nil {
		w.t.Fatal(err)
	}
	if a.Token.Refresh != "" {
		a.Token.ExpiresAt = now.Add(7 * 24 * time.Hour)
	}
	w.commit(func(tx *store.Tx) error { return r.Connect(tx, now, it, a.Token) })
	return r
}

// varied is the caption of the variant of each item.
var varied = "It runs here"

// operator is an authority that does not end.
var operator = authority.Authority{Actor: auth.Actor{Kind: auth.Operator, ID: "operator"},
	Scopes: []auth.Scope{auth.ContentPublish}}

// makeItem makes an item, which is the one that is published next.
func (w *publicationWorld) makeItem(id string, files ...media.File) {
	w.t.Helper()
	now := w.clock.Now()
	r := &item.Record{Item: item.Item{
		Resource: resource.New(id, now, nil), FactoryID: "fac_1", Kind: item.Video,
		Texts: item.Texts{Title: "A shoe", Caption: "It runs"}, State: item.Generated, Attempt: 1,
		Variants: map[string]item.Variant{w.account.Platform: {Caption: &varied}},
	}, Outlets: item.Outlets{Authority: operator}, Files: []media.File{{ID: "cnt_1_1", Role: media.Final,
		Type: media.Video, MIMEType: "video/mp4", Key: "video",
		Bytes: 9000, Width: 1080, Height: 1920, DurationSeconds: 20}}}
	if len(files) > 0 {
		r.Item.Kind, r.Files = item.Carousel, files
	}
	w.item = r.Item.ID
	it, err := r.Entry(owner)
	if err != nil {
		w.t.Fatal(err)
	}
	w.commit(func(tx *store.Tx) error { tx.Create(it, nil); return nil })
}

func (w *publicationWorld) commit(add func(*store.Tx) error) {
	w.t.Helper()
	tx := &store.Tx{}
	if err := add(tx); err != nil {
		w.t.Fatal(err)
	}
	if err := w.db.Commit(context.Background(), tx); err != nil {
		w.t.Fatal(err)
	}
}

// write changes the item, with what the change adds to the transaction.
func (w *publicationWorld) write(change func(*store.Tx, *item.Record) error) {
	w.t.Helper()
	it, r := w.read()
	w.commit(func(tx *store.Tx) error {
		return errors.Join(change(tx, r), item.Replace(tx, it, r))
	})
}

// publish publishes the item, or tries its failed publications again.
func (w *publicationWorld) publish() {
	w.t.Helper()
	w.write(func(tx *store.Tx, r *item.Record) error {
		return publication.Publish(tx, w.clock.Now(), owner, r,
			[]publication.Target{{Account: w.account, Options: w.options()}})
	})
}

// options returns the choices that a platform asks of the person who posts, or nil.
func (w *publicationWorld) options() *item.PublishOptions {
	if w.wish != "" {
		return &item.PublishOptions{RawMessage: []byte(w.wish)}
	}
	if w.account.Platform != "tiktok" {
		return nil
	}
	return &item.PublishOptions{RawMessage: []byte(`{"privacy":"public","comments":true,"duet":false,"stitch":false,` +
		`"disclosure":"own_brand","consent":true}`)}
}

func (w *publicationWorld) read() (store.Item, *item.Record) {
	w.t.Helper()
	it, r, _, err := item.Lookup(context.Background(), w.db, owner, w.item)
	if err != nil || r == nil {
		w.t.Fatal(err)
	}
	return it, r
}

func (w *publicationWorld) kernel() *task.Kernel {
	handlers := w.worker.Handlers()
	accounts := &social.Worker{DB: w.db, Platforms: social.NewPlatforms(social.PlatformsConfig{Now: w.clock.Now}),
		Vault: w.worker.Vault, Now: w.clock.Now}
	for kind, h := range accounts.Handlers() {
		if kind != social.Refresh {
			handlers[kind] = h
		}
	}
	handlers[social.Refresh] = refresher{w: w}
	if w.refreshes {
		accounts.Platforms = w.worker.Platforms.(only)
		handlers[social.Refresh] = accounts.Handlers()[social.Refresh]
	}
	return servicetest.Kernel(w.db, w.clock.Now, handlers)
}

// refresher leaves the tokens as they are: package social tests their refresh.
type refresher struct{ w *publicationWorld }

func (refresher) Step(context.Context, *task.Step) (task.Outcome, error) {
	return task.Outcome{Wait: time.Hour}, nil
}

// due returns the messages of the tasks of a kind that are due; of publications without one.
func (w *publicationWorld) due(kinds ...task.Kind) (all []task.Message) {
	w.t.Helper()
	if len(kinds) == 0 {
		kinds = []task.Kind{publication.Post}
	}
	for _, row := range storetest.Rows(w.t, w.db) {
		var m task.Task
		wake := row["kind"] == task.OutboxKind && w.refreshes && !w.woken[row["pk"]]
		if row["kind"] != task.ItemKind && !wake || row["f_state"] == "ended" {
			continue
		}
		if err := json.Unmarshal([]byte(row["doc"]), &m); err != nil {
			w.t.Fatal(err)
		}
		if slices.Contains(kinds, m.Kind) && !m.DueAt.After(w.clock.Now()) {
			if wake { // it is delivered once
				w.woken[row["pk"]] = true
			}
			all = append(all, m.Message)
		}
	}
	return all
}

// deliver delivers messages to some functions at once, which die where the fake lets them
// wait.
func (w *publicationWorld) deliver(messages []task.Message, functions int) {
	ctx, stop := platformtest.Impatient(w.t.Context(), w.fake)
	defer stop()
	var all sync.WaitGroup
	for _, m := range messages {
		for range functions {
			kernel := w.kernel()
			all.Go(func() {
				_, _ = kernel.Do(ctx, m, "") // a failed message is delivered again
			})
		}
	}
	all.Wait()
}

// Each message reaches two functions at once, calls meet faults, functions die, and failed publications are published
// again: there is never more than one post.
func TestNothingIsPostedTwice(t *testing.T) {
	for name := range fakes {
		t.Run(name, func(t *testing.T) {
			ends := map[string]int{}
			for seed := range *runs {
				end := wander(t, name, seed)
				ends[end]++
			}
			t.Logf("%d items ended as %v", *runs, ends)
			if ends["published"] == 0 {
				t.Errorf("none was published: %v", ends)
			}
		})
	}
}

// wander publishes an item under random faults, and returns how it ended.
func wander(t *testing.T, name string, seed uint64) string {
	random := rand.New(rand.NewPCG(seed, 3))
	w := newPublicationWorld(t, name)
	w.publish()
	again := 0
	for range 400 {
		_, r := w.read()
		posts := slices.DeleteFunc(slices.Clone(w.fake.Posts()),
			func(p string) bool { return strings.HasPrefix(p, platformtest.Comment) })
		if len(posts) > 1 {
			t.Fatalf("seed %d: there are %d posts: %v", seed, len(posts), posts)
		}
		switch pub := r.Item.Publications[0]; {
		case r.Item.State == item.Published:
			if len(posts) != 1 || !strings.Contains(posts[0], varied) || pub.State != item.PublicationPublished ||
				pub.Posted == nil {
				t.Fatalf("seed %d: it is published, with %d posts: %+v", seed, len(posts), pub)
			}
			return "published"
		case r.Item.State == item.Failed && again == 2:
			return pub.Failure.Code
		case r.Item.State == item.Failed:
			again++
			w.reconnect()
			w.publish()
		}
		if random.IntN(3) == 0 {
			w.fake.Fail(w.fake.Calls()+1+random.IntN(2), platformtest.Faults()[random.IntN(len(platformtest.Faults()))])
		}
		w.deliver(w.due(), 1+random.IntN(2))
		w.fake.Calm()
		w.clock.Advance(time.Duration(1+random.IntN(30)) * time.Second)
	}
	t.Fatalf("seed %d: it has not ended", seed)
	return ""
}

// reconnect has the account connected again, where its token was refused.
func (w *publicationWorld) reconnect() {
	w.t.Helper()
	w.setState(w.account.ID, social.Connected)
}

// Neither the table nor its stream shows the address of an upload or a token of a publication under way.
func TestHandlesAreSealed(t *testing.T) {
	w := newPublicationWorld(t, "youtube")
	w.publish()
	for range 60 {
		for _, row := range storetest.Rows(t, w.db) {
			if strings.Contains(row["doc"], "upload_id") ||
				strings.Contains(row["doc"], "http://platform.test/upload") {
				t.Fatalf("%s shows %s", row["pk"], row["doc"])
			}
		}
		w.deliver(w.due(), 1)
		w.clock.Advance(5 * time.Second)
	}
	if _, r := w.read(); r.Item.State != item.Published {
		t.Errorf("it is %s", r.Item.State)
	}
}
