package content_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/bluesky"
	"github.com/content-automation/api/pkg/adapter/platform/facebook"
	"github.com/content-automation/api/pkg/adapter/platform/linkedin"
	"github.com/content-automation/api/pkg/adapter/platform/pinterest"
	"github.com/content-automation/api/pkg/adapter/platform/threads"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
	"github.com/content-automation/api/pkg/adapter/platform/x"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/base/money"
	"github.com/content-automation/api/pkg/craft/feed"
	shelfrecord "github.com/content-automation/api/pkg/record/shelf"
	"github.com/content-automation/api/pkg/store"
	fakebluesky "github.com/content-automation/api/testdata/platforms/bluesky"
	"github.com/content-automation/api/testdata/platforms/control"
	fakefacebook "github.com/content-automation/api/testdata/platforms/facebook"
	fakelinkedin "github.com/content-automation/api/testdata/platforms/linkedin"
	fakepinterest "github.com/content-automation/api/testdata/platforms/pinterest"
	fakethreads "github.com/content-automation/api/testdata/platforms/threads"
	fakex "github.com/content-automation/api/testdata/platforms/x"
)

// others are the platforms that fakes does not have.
var others = map[string]double{
	"bluesky": {func(now func() time.Time) fixture.Fake { return fakebluesky.New(now) },
		func(c wire.Config) platform.Adapter { return bluesky.New(c) }, platform.Account{ID: fakebluesky.DID}},
	"facebook": {func(now func() time.Time) fixture.Fake { return fakefacebook.New(now) },
		func(c wire.Config) platform.Adapter { return facebook.New(c) }, platform.Account{ID: fakefacebook.Page}},
	"linkedin": {func(now func() time.Time) fixture.Fake { return fakelinkedin.New(now) },
		func(c wire.Config) platform.Adapter { return linkedin.New(c) }, platform.Account{ID: fakelinkedin.Member}},
	"pinterest": {func(now func() time.Time) fixture.Fake { return fakepinterest.New(now) },
		func(c wire.Config) platform.Adapter { return pinterest.New(c) }, platform.Account{ID: fakepinterest.Board}},
	"threads": {func(now func() time.Time) fixture.Fake { return fakethreads.New(now) },
		func(c wire.Config) platform.Adapter { return threads.New(c) }, platform.Account{ID: fakethreads.User}},
	"x": {func(now func() time.Time) fixture.Fake { return fakex.New(now) },
		func(c wire.Config) platform.Adapter { return x.New(c) }, platform.Account{ID: fakex.User}},
}

// withdrawals is what becomes of a post whose price is old on each platform, as its documents let applications change
// and delete posts.
var withdrawals = map[string]string{"facebook": item.ChangeEdit, "linkedin": item.ChangeEdit,
	"pinterest": item.ChangeEdit, "rutube": item.ChangeEdit, "telegram": item.ChangeEdit, "vk": item.ChangeEdit,
	"bluesky": item.ChangeDelete, "threads": item.ChangeDelete, "x": item.ChangeDelete, "instagram": "", "tiktok": "",
	"youtube": ""}

// judge is the fake of a platform, which counts what happens to its posts.
type judge interface {
	Changes() int
	Published() []control.Post
	Remove(id string) bool
}

func (w *publicationWorld) judge() judge { return w.fake.(judge) }

// shoe returns the product of the item, or zero if there is none.
func (w *publicationWorld) shoe() store.Item {
	w.t.Helper()
	holder, err := w.db.Lookup(w.t.Context(), product.SKUKey(owner, "fac_1", "A"))
	if err != nil || holder.PK == "" {
		return store.Item{}
	}
	it, err := w.db.Get(w.t.Context(), store.IDKey(product.HolderOf(holder)))
	if err != nil {
		w.t.Fatal(err)
	}
	return it
}

// sells has the product of the item cost an amount, by the feed of its factory, which withdraws.
func (w *publicationWorld) sells(euros int64) {
	w.t.Helper()
	s := product.Shelf{Owner: owner, FactoryID: "fac_1", Now: w.clock.Now(), Clock: w.clock.Now(), RunID: "run_1"}
	row := feed.Row{ID: "A", Name: "Shoe", Stock: feed.InStock, Price: money.Price{Amount: euros * 100, Currency: "EUR"}}
	it := w.shoe()
	w.commit(func(tx *store.Tx) error { _, err := s.Put(tx, it, store.Item{}, row); return err })
	if it.PK != "" {
		return
	}
	w.commit(func(tx *store.Tx) error {
		tx.Create(store.Item{Key: shelfrecord.Key("fac_1"), Kind: shelfrecord.Kind, Owner: owner, Doc: []byte("{}"),
			Attributes: shelfrecord.Policies{PriceChange: shelfrecord.Withdraw, SoldOut: shelfrecord.Hold,
				Removed: shelfrecord.Hold}.Attributes()}, nil)
		return nil
	})
	it = w.shoe()
	stored, err := product.Decode(&it)
	if err != nil {
		w.t.Fatal(err)
	}
	w.change(func(r *item.Record) {
		caption := "It runs for €129.00"
		r.Item.Language, r.Item.Variants = "en", map[string]item.Variant{w.account.Platform: {Caption: &caption}}
		if r.Brief.Product, err = item.NewProduct(stored, "", "", w.clock.Now()); err != nil {
			w.t.Fatal(err)
		}
	})
}

// gone has someone delete the post at the platform.
func (w *publicationWorld) gone() {
	w.t.Helper()
	adapter, _ := w.worker.Platforms.Of(owner.Mode, "")
	d, ok := adapter.(platform.Deleter)
	if !ok {
		w.judge().Remove(w.judge().Published()[0].ID)
		return
	}
	_, r := w.read()
	ctx, account, err := w.worker.Vault.Token(w.t.Context(), owner, &w.account)
	if err != nil {
		w.t.Fatal(err)
	}
	post, err := publication.Placed(platform.KindVideo, &r.Item.Publications[0], adapter.Capabilities())
	if err == nil {
		err = d.Delete(ctx, account, post)
	}
	if err != nil || len(w.judge().Published()) != 0 {
		w.t.Fatal(err)
	}
}

// follows has content follow the products that have changed since a time, and ends the changes of posts. It reports
// whether a post was being changed.
func (w *publicationWorld) follows(since time.Time) (busy bool) {
	w.t.Helper()
	f := publication.Follower{DB: w.db, Platforms: w.worker.Platforms, Now: w.clock.Now}
	p := shelfrecord.Following{Since: shelfrecord.Moment{Now: since, Clock: since},
		Ended: shelfrecord.Moment{Now: w.clock.Now(), Clock: w.clock.Now()}}
	if err := f.Follow(w.t.Context(), owner, "fac_1", &p); err != nil || p.After != nil {
		w.t.Fatal(err, p.After)
	}
	return p.Busy
}

// alters takes the steps of changes of posts until they have ended.
func (w *publicationWorld) alters() {
	for range 100 {
		w.deliver(w.due(publication.Alter), 1)
		w.clock.Advance(15 * time.Minute)
	}
}

// outdated publishes the item, and has its product cost more.
func outdated(t *testing.T, name string) (w *publicationWorld, before string) {
	t.Helper()
	w = newPublicationWorld(t, name)
	w.sells(129)
	w.publish()
	if r := w.end(); r.Item.State != item.Published || len(w.judge().Published()) != 1 {
		t.Fatalf("%s: it is %s, %+v", name, r.Item.State, r.Item.Publications)
	}
	w.clock.Advance(24 * time.Hour)
	w.sells(139)
	return w, w.judge().Published()[0].Content
}

// A post whose price is old gets the price of now where the platform lets applications change texts, is deleted where
// it lets them do that, and stays elsewhere: once, whatever happens to the calls.
func TestPostsWithOldPricesAreWithdrawn(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(withdrawals)) {
		for _, fault := range append([]control.Fault{""}, control.Faults()...) {
			for call := 1; call < 3; call++ {
				w, before := outdated(t, name)
				if fault != "" {
					w.fake.Fail(w.fake.Calls()+call, fault)
				}
				changes := w.judge().Changes()
				w.follows(w.clock.Now().Add(-time.Hour))
				w.alters()
				w.fake.Calm()
				calls := w.fake.Calls()
				w.follows(w.clock.Now().Add(-24 * time.Hour)) // it is tried once
				w.alters()
				_, r := w.read()
				pub, posts := r.Item.Publications[0], w.judge().Published()
				got := ""
				switch {
				case len(posts) == 0 && pub.State == item.PublicationDeleted:
					got = item.ChangeDelete
				case len(posts) == 1 && strings.Contains(posts[0].Content, "It runs for €139") &&
					!strings.Contains(posts[0].Content, "129") && pub.State == item.PublicationPublished &&
					strings.Contains(string(pub.Posted.Text), "139") && len(r.Item.Outdated) == 0:
					got = item.ChangeEdit
				case len(posts) == 1 && posts[0].Content == before && slices.Equal(r.Item.Outdated,
					item.Ways{item.PriceChanged}):
				default:
					got = "unclear"
				}
				changes = w.judge().Changes() - changes
				if got != withdrawals[name] || w.fake.Calls() != calls || changes > 2 || changes > 1 && fault == "" ||
					got != "" && pub.Change.State != item.ChangeDone {
					t.Errorf("%s, %q in call %d: %q after %d changes, %d calls later: %+v, %v", name, fault, call, got, changes,
						w.fake.Calls()-calls, pub.Change, posts)
				}
				if fault == "" {
					break
				}
			}
		}
	}
}

// A post that was deleted at the platform in between is not there to be changed. That is told once.
func TestAnOldPriceInAPostThatIsGone(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(withdrawals)) {
		w, _ := outdated(t, name)
		w.gone()
		w.follows(w.clock.Now().Add(-time.Hour))
		w.alters()
		calls := w.fake.Calls()
		w.follows(w.clock.Now().Add(-24 * time.Hour))
		w.alters()
		_, r := w.read()
		pub := r.Item.Publications[0]
		switch withdrawals[name] {
		case item.ChangeEdit:
			if pub.Change == nil || pub.Change.Failure == nil ||
				pub.Change.Failure.Code != string(platform.CodePostNotFound) {
				t.Errorf("%s: %+v", name, pub.Change)
			}
		case item.ChangeDelete:
			if pub.State != item.PublicationDeleted {
				t.Errorf("%s: it is %s, %+v", name, pub.State, pub.Change)
			}
		}
		if w.fake.Calls() != calls || len(w.judge().Published()) != 0 {
			t.Errorf("%s: %d more calls, %v", name, w.fake.Calls()-calls, w.judge().Published())
		}
	}
}

// A price that changes while a post gets the one before is not lost: the next following looks at the post again.
func TestAPriceThatChangesDuringAnEdit(t *testing.T) {
	w, _ := outdated(t, "telegram")
	since := w.clock.Now().Add(-time.Hour)
	if w.follows(since) {
		t.Error("a post was being changed before")
	}
	w.clock.Advance(time.Minute)
	since = w.clock.Now()
	w.clock.Advance(time.Minute)
	w.sells(149)
	if !w.follows(since) {
		t.Error("no post is being changed")
	}
	w.alters()
	w.clock.Advance(24 * time.Hour)
	if w.follows(since) {
		t.Error("a post is still being changed")
	}
	w.alters()
	if posts := w.judge().Published(); len(posts) != 1 || !strings.Contains(posts[0].Content, "€149") {
		t.Errorf("the post is %v", posts)
	}
}
