package publishing_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/sealtest"
	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/infra/verify/harness/webhooktest"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/publishing"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/record/event"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

type object = map[string]any

var vault = social.Vault{Envelope: sealtest.Envelope("key")}

// world has the operations of the area, and the worker that publishes, which a fuse may kill. Its caller has a test
// key.
type world struct {
	*servicetest.World
	entries *store.DB // the audit table
	fuse    *webhooktest.Fuse
	service *publishing.Service
	factory string
	// platforms are those of the sandbox; posts are the texts of the posts that they have, by the ids of posts.
	platforms *social.Platforms
	posts     map[string]string
	// refused is the answer to each change of a post, unless it is nil; calls counts them.
	refused error
	calls   int
	// more are the ids of the other posts of each post, and deleted those that were deleted.
	more    string
	deleted []string
}

// fused is a client whose calls are steps of the process.
type fused struct {
	next aws.HTTPClient
	fuse *webhooktest.Fuse
}

// Do implements aws.HTTPClient.
func (c fused) Do(req *http.Request) (resp *http.Response, err error) {
	req = req.WithContext(context.WithoutCancel(req.Context()))
	failed := c.fuse.Step(func() error {
		resp, err = c.next.Do(req)
		return err
	})
	if failed != nil && resp != nil {
		_ = resp.Body.Close()
	}
	if failed != nil {
		return nil, failed
	}
	return resp, nil
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{fuse: &webhooktest.Fuse{}, posts: map[string]string{}}
	w.World = servicetest.New(t, func(c *aws.Config) { c.HTTPClient = fused{c.HTTPClient, w.fuse} })
	now := w.Now
	w.entries = storetest.Open(t, now)
	w.platforms = social.NewPlatforms(social.PlatformsConfig{Now: now})
	signer, factories := apitest.Signer(t, now), factory.NewService(w.DB, now)
	items := content.NewService(w.DB, factories, signer, catalog.NewOffer("bedrock,fal", "us-west-2", nil), now)
	w.service = publishing.NewService(w.DB, items, factories, signer, w.Log, now, rand.Reader)
	w.Serve(factories, items, w.service)
	w.Kept()
	w.factory = w.Factory("quality", "standard")
	return w
}

// provide creates an own post; members are pairs of its body.
func (w *world) provide(members ...any) (it item.Item) {
	w.T.Helper()
	b := object{"factory_id": w.factory, "kind": "post", "source": "provided", "caption": "Words"}
	w.Call(http.MethodPost, "/v1/content-items", servicetest.Body(b, members...)).Into(w.T, http.StatusAccepted, &it)
	w.Clock.Add(time.Second)
	return it
}

// connect connects an account of a platform, and attaches it to the factory.
func (w *world) connect(name string) string {
	w.T.Helper()
	now, o := w.Now(), w.Principal.Owner
	r := &social.Record{Account: social.Account{Resource: resource.New(social.NewID(now), now, nil), Platform: name,
		Handle: "Acme", FactoryIDs: []string{}}, PlatformID: "sandbox-" + name}
	var err error
	if r.SealedAccount, err = vault.Seal(w.T.Context(), o, r.ID, platform.Account{ID: r.PlatformID}); err != nil {
		w.T.Fatal(err)
	}
	it, err := r.Item(o)
	if err != nil {
		w.T.Fatal(err)
	}
	tx := &store.Tx{}
	if err := r.Connect(tx, now, it, platform.Token{}); err != nil {
		w.T.Fatal(err)
	}
	f, err := w.DB.Get(w.T.Context(), factoryrecord.Key(w.factory))
	if err != nil {
		w.T.Fatal(err)
	}
	if _, err := factoryrecord.Attach(&f, r.ID, now); err != nil {
		w.T.Fatal(err)
	}
	tx.Replace(f)
	if err := w.DB.Commit(w.T.Context(), tx); err != nil {
		w.T.Fatal(err)
	}
	return r.ID
}

// Of implements publication.Platforms.
func (w *world) Of(m tenant.Mode, name string) (platform.Adapter, bool) {
	a, ok := w.platforms.Of(m, name)
	return counted{a, w}, ok
}

// URL implements publication.Files.
func (*world) URL(_ context.Context, key, _ string) (string, error) {
	return "https://media.test/" + key, nil
}

// Range implements publication.Files. The sandbox reads no file.
func (*world) Range(context.Context, string, int64, int64) (io.ReadCloser, error) {
	return nil, errors.New("there are no files")
}

// counted is a platform that keeps the texts of posts.
type counted struct {
	platform.Adapter
	w *world
}

// Edit implements platform.Editor.
func (c counted) Edit(_ context.Context, _ platform.Account, p platform.PlacedPost, text string) error {
	return c.w.change(func() { c.w.posts[p.ID] = text })
}

// Delete implements platform.Deleter.
func (c counted) Delete(_ context.Context, _ platform.Account, p platform.PlacedPost) error {
	return c.w.change(func() {
		delete(c.w.posts, p.ID)
		c.w.deleted = append(c.w.deleted, p.Posts()...)
	})
}

// Finalize implements platform.Publisher.
func (c counted) Finalize(ctx context.Context, a platform.Account, p platform.Post,
	h platform.Handle) (platform.Step, error) {
	step, err := c.Adapter.Finalize(ctx, a, p, h)
	if step.Post.ID != "" {
		step.Post.More = c.w.more
	}
	return step, err
}

func (w *world) change(do func()) error {
	return w.fuse.Step(func() error {
		if w.calls++; w.refused == nil {
			do()
		}
		return w.refused
	})
}

// published publishes a new post to an account, and returns its publication.
func (w *world) published(accountID string) item.PublishedPost {
	w.T.Helper()
	it := w.provide()
	w.Call(http.MethodPost, "/v1/content-items/"+it.ID+"/publish", object{"social_account_ids": []string{accountID}}).
		Into(w.T, http.StatusAccepted, &it)
	w.work()
	w.Call(http.MethodGet, "/v1/content-items/"+it.ID, nil).Into(w.T, http.StatusOK, &it)
	pub := w.get(it.Publications[0].ID)
	if pub.State != item.PublicationPublished {
		w.T.Fatalf("%+v", pub)
	}
	w.posts[*pub.PlatformPostID] = string(pub.Posted.Text)
	return pub
}

func (w *world) get(publicationID string) (pub item.PublishedPost) {
	w.T.Helper()
	w.Call(http.MethodGet, "/v1/publications/"+publicationID, nil).Into(w.T, http.StatusOK, &pub)
	return pub
}

// due returns the messages of the steps of publishing that are due.
func (w *world) due() (all []task.Message) {
	w.T.Helper()
	w.fuse.Pause(func() {
		for _, row := range storetest.Rows(w.T, w.DB) {
			if row["kind"] != task.ItemKind || row["f_state"] == "ended" {
				continue
			}
			var t task.Task
			if err := json.Unmarshal([]byte(row["doc"]), &t); err != nil {
				w.T.Fatal(err)
			}
			if kind := string(t.Kind); strings.HasPrefix(kind, "publish") && kind != "publish.metrics" &&
				!t.DueAt.After(w.Now()) {
				all = append(all, t.Message)
			}
		}
	})
	return all
}

// work takes the steps of publishing, each in a process of its own, until there are none.
func (w *world) work() {
	w.T.Helper()
	for idle := 0; idle < 4; idle++ {
		if w.round() {
			idle = 0
		}
		w.Clock.Add(20 * time.Second) // the lease of a dead process ends
	}
}

// round takes the steps that are due, and reports whether there were any.
func (w *world) round() bool {
	w.T.Helper()
	worker := &publication.Worker{DB: w.DB, Platforms: w, Vault: vault, Files: w, Now: w.Now,
		Entries: w.entries}
	due := w.due()
	for _, m := range due {
		kernel := w.Kernel(worker.Handlers())
		ctx, blown := w.fuse.Process(w.T.Context())
		if _, err := kernel.Do(ctx, m, ""); !blown() && err != nil {
			w.T.Fatal(err)
		}
	}
	return len(due) > 0
}

// events returns the numbers of the events about a subject by their types.
func (w *world) events(subject string) map[event.Type]int {
	w.T.Helper()
	all := map[event.Type]int{}
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
		if e.Data.Object.ID == subject {
			all[e.Type]++
		}
	}
	return all
}

// link creates a review link, and returns it with the path of its page.
func (w *world) link(members object) (l publishing.ReviewLink, at string) {
	w.T.Helper()
	w.Call(http.MethodPost, "/v1/review-links", members).Into(w.T, http.StatusCreated, &l)
	u, err := url.Parse(*l.URL)
	if err != nil {
		w.T.Fatal(err)
	}
	return l, u.Path
}

// visit sends a request of a browser to a page.
func (w *world) visit(method, at string, form url.Values) (int, http.Header, string) {
	w.T.Helper()
	req := httptest.NewRequest(method, at, strings.NewReader(form.Encode()))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	rec := httptest.NewRecorder()
	w.service.With(http.NotFoundHandler()).ServeHTTP(rec, req)
	return rec.Code, rec.Header(), rec.Body.String()
}

// texts returns the texts of all posts, sorted.
func (w *world) texts() []string { return slices.Sorted(maps.Values(w.posts)) }
