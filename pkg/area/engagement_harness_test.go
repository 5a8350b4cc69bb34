package area_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/infra/verify/harness/sealtest"
	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/bluesky"
	"github.com/content-automation/api/pkg/adapter/platform/facebook"
	"github.com/content-automation/api/pkg/adapter/platform/instagram"
	"github.com/content-automation/api/pkg/adapter/platform/linkedin"
	"github.com/content-automation/api/pkg/adapter/platform/threads"
	"github.com/content-automation/api/pkg/adapter/platform/vk"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
	"github.com/content-automation/api/pkg/adapter/platform/x"
	"github.com/content-automation/api/pkg/adapter/platform/youtube"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/engagement"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
	fakebluesky "github.com/content-automation/api/testdata/platforms/bluesky"
	"github.com/content-automation/api/testdata/platforms/control"
	fakefacebook "github.com/content-automation/api/testdata/platforms/facebook"
	fakeinstagram "github.com/content-automation/api/testdata/platforms/instagram"
	fakelinkedin "github.com/content-automation/api/testdata/platforms/linkedin"
	fakethreads "github.com/content-automation/api/testdata/platforms/threads"
	fakevk "github.com/content-automation/api/testdata/platforms/vk"
	fakex "github.com/content-automation/api/testdata/platforms/x"
	fakeyoutube "github.com/content-automation/api/testdata/platforms/youtube"
)

var owner = tenant.Of("acc_1", tenant.Live)

const (
	itemID        = "cnt_01h455vb4pex5vsknk084sn02q"
	publicationID = "pub_01h455vb4pex5vsknk084sn02q"
	accountID     = "soc_01h455vb4pex5vsknk084sn02q"
)

// engagementFakes is the fake of a platform with comments.
type engagementFakes interface {
	fixture.Fake
	Grant(d time.Duration) (access, refresh string)
	Publish(p control.Post)
	AddComment(c control.Comment) control.Comment
	RemoveComment(id string) bool
	HideComment(id string, hidden bool) bool
	CommentsOn(post string) []control.Comment
	Remove(id string) bool
}

// only has one adapter.
type only struct{ platform.Adapter }

// Of implements Platforms.
func (o only) Of(tenant.Mode, string) (platform.Adapter, bool) { return o.Adapter, true }

// fakes are the platforms, each with an account and the id of a post.
var fakes = map[string]struct {
	fake          func(func() time.Time) engagementFakes
	adapter       func(wire.Config) platform.Adapter
	account, post string
}{
	"instagram": {func(now func() time.Time) engagementFakes { return fakeinstagram.New(now) },
		func(c wire.Config) platform.Adapter { return instagram.New(c) }, fakeinstagram.User, "178"},
	"bluesky": {func(now func() time.Time) engagementFakes { return fakebluesky.New(now) },
		func(c wire.Config) platform.Adapter { return bluesky.New(c) }, fakebluesky.DID,
		"at://" + fakebluesky.DID + "/app.bsky.feed.post/3lbaaaaaaaa22"},
	"facebook": {func(now func() time.Time) engagementFakes { return fakefacebook.New(now) },
		func(c wire.Config) platform.Adapter { return facebook.New(c) }, fakefacebook.Page, fakefacebook.Page + "_178"},
	"threads": {func(now func() time.Time) engagementFakes { return fakethreads.New(now) },
		func(c wire.Config) platform.Adapter { return threads.New(c) }, fakethreads.User, "178"},
	"youtube": {func(now func() time.Time) engagementFakes { return fakeyoutube.New(now) },
		func(c wire.Config) platform.Adapter { return youtube.New(c) }, fakeyoutube.Channel, "yt178"},
	"linkedin": {func(now func() time.Time) engagementFakes { return fakelinkedin.New(now) },
		func(c wire.Config) platform.Adapter { return linkedin.New(c) }, fakelinkedin.Organization, "urn:li:share:178"},
	"x": {func(now func() time.Time) engagementFakes { return fakex.New(now) },
		func(c wire.Config) platform.Adapter { return x.New(c) }, fakex.User, "178"},
	"vk": {func(now func() time.Time) engagementFakes { return fakevk.New(now) },
		func(c wire.Config) platform.Adapter { return vk.New(c) }, fmt.Sprint(-fakevk.Group), "178"},
}

// commentWorld is a published post with the worker of its comments.
type commentWorld struct {
	*engagement.Worker
	T     *testing.T
	Clock *fixture.Clock
	fake  engagementFakes
	post  string
	// workers is the number of workers that take each step.
	workers int
}

func commentNewWorld(t *testing.T, name string) *commentWorld {
	t.Helper()
	of := fakes[name]
	w := &commentWorld{T: t, Clock: fixture.NewClock(), post: of.post, workers: 2}
	w.fake = of.fake(w.Clock.Now)
	adapter := of.adapter(wire.Config{HTTP: control.Doer{Handler: w.fake.Handler()}, BaseURL: "http://platform.test",
		Now: w.Clock.Now})
	w.Worker = &engagement.Worker{DB: storetest.Open(t, w.Clock.Now), Platforms: only{adapter},
		Vault: social.Vault{Envelope: sealtest.Envelope("key")}, Now: w.Clock.Now}
	w.Budgets = &publication.Worker{DB: w.DB, Now: w.Clock.Now}
	now := w.Clock.Now()
	access, refresh := w.fake.Grant(90 * 24 * time.Hour)
	a := platform.Account{ID: of.account, Token: platform.Token{Access: platform.Secret(access),
		Refresh: platform.Secret(refresh)}}
	r := social.Record{Account: social.Account{Resource: resource.New(accountID, now, nil), Platform: name,
		FactoryIDs: []string{}}, PlatformID: a.ID}
	var err error
	if r.SealedAccount, err = w.Vault.Seal(t.Context(), owner, r.ID, a); err != nil {
		t.Fatal(err)
	}
	it, err := r.Item(owner)
	if err != nil {
		t.Fatal(err)
	}
	w.commit(func(tx *store.Tx) error { return r.Connect(tx, now, it, a.Token) })
	w.fake.Publish(control.Post{ID: w.post, Account: a.ID, Content: "A shoe"})
	at := resource.Instant(now)
	i := &item.Record{Item: item.Item{Resource: resource.New(itemID, now, nil), FactoryID: "fac_1", Kind: item.Post,
		State: item.Published, Publications: []item.Publication{{Resource: resource.New(publicationID, now, nil),
			SocialAccountID: accountID, Platform: name, State: item.PublicationPublished, PlatformPostID: &w.post,
			PublishedAt: &at}}}}
	w.commit(func(tx *store.Tx) error {
		if err := i.Create(tx, owner); err != nil {
			return err
		}
		return i.WatchComments(tx, now, owner, &i.Item.Publications[0], adapter.Capabilities())
	})
	return w
}

func (w *commentWorld) commit(add func(*store.Tx) error) {
	w.T.Helper()
	tx := &store.Tx{}
	if err := add(tx); err != nil {
		w.T.Fatal(err)
	}
	if err := w.DB.Commit(context.Background(), tx); err != nil {
		w.T.Fatal(err)
	}
}

// due returns the messages of the steps that are due.
func (w *commentWorld) due() (all []task.Message) {
	w.T.Helper()
	for _, row := range storetest.Rows(w.T, w.DB) {
		if row["kind"] != task.ItemKind || row["ttl"] != "" {
			continue
		}
		var t task.Task
		if err := json.Unmarshal([]byte(row["doc"]), &t); err != nil {
			w.T.Fatal(err)
		}
		switch t.Kind {
		case item.ReadComments, engagement.Reply, engagement.Adjust:
			if !t.DueAt.After(w.Now()) {
				all = append(all, t.Message)
			}
		}
	}
	return all
}

// work has the workers take each due step at the same time.
func (w *commentWorld) work() {
	w.T.Helper()
	w.take(w.due())
}

// take has the workers take the steps of messages at the same time.
func (w *commentWorld) take(messages []task.Message) {
	w.T.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-w.fake.Waiting():
			cancel() // the function dies while it waits for the platform
		case <-ctx.Done():
		}
	}()
	var all sync.WaitGroup
	for range w.workers {
		k := servicetest.Kernel(w.DB, w.Now, w.Handlers())
		all.Go(func() {
			for _, m := range messages {
				if _, err := k.Do(ctx, m, ""); err != nil && ctx.Err() == nil {
					w.T.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// until works until a condition holds.
func (w *commentWorld) until(what string, done func() bool) {
	w.T.Helper()
	for idle, worked := 0, 0; idle < 200 && worked < 300; {
		if done() {
			return
		}
		if len(w.due()) > 0 {
			w.work()
			w.Clock.Advance(20 * time.Second)
			worked++
			continue
		}
		if idle++; idle < 100 {
			w.Clock.Advance(time.Minute)
		} else {
			w.Clock.Advance(30 * time.Minute) // a reply has ended by now
		}
	}
	w.T.Fatalf("%s did not happen: %+v", what, w.comments())
}

// comments returns the comments by their texts.
func (w *commentWorld) comments() map[string]*engagement.Record {
	w.T.Helper()
	all := map[string]*engagement.Record{}
	for _, row := range storetest.Rows(w.T, w.DB) {
		if row["kind"] == engagement.Kind {
			r := &engagement.Record{}
			if err := json.Unmarshal([]byte(row["doc"]), r); err != nil {
				w.T.Fatal(err)
			}
			all[r.Text] = r
		}
	}
	return all
}

// change changes a comment as an operation would.
func (w *commentWorld) change(text string, do func(*store.Tx, *engagement.Record) error) {
	w.T.Helper()
	it, err := w.DB.Get(context.Background(), store.IDKey(w.comments()[text].ID))
	if err != nil {
		w.T.Fatal(err)
	}
	r, err := engagement.Decode(&it)
	if err != nil {
		w.T.Fatal(err)
	}
	w.commit(func(tx *store.Tx) error {
		if err := do(tx, r); err != nil {
			return err
		}
		return r.Replace(tx, it)
	})
}

// reply starts a reply to a comment.
func (w *commentWorld) reply(to, text string) {
	w.T.Helper()
	w.change(to, func(tx *store.Tx, r *engagement.Record) error {
		return engagement.StartReply(tx, w.Now(), owner, r, text)
	})
}

// start starts a change of a comment.
func (w *commentWorld) start(text, kind string) {
	w.T.Helper()
	w.change(text, func(tx *store.Tx, r *engagement.Record) error {
		return engagement.StartChange(tx, w.Now(), owner, r, kind)
	})
}

// events returns how many events of each type there are.
func (w *commentWorld) events() map[string]int {
	w.T.Helper()
	types := map[string]int{}
	for _, row := range storetest.Rows(w.T, w.DB) {
		if row["kind"] == "event" {
			types[row["f_type"]]++
		}
	}
	return types
}

// replies returns how many comments of the account itself the platform has.
func (w *commentWorld) replies() (n int) {
	for _, c := range w.fake.CommentsOn(w.post) {
		if c.Own {
			n++
		}
	}
	return n
}
