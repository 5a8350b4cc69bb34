package area_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/sealtest"
	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/infra/verify/harness/webhooktest"
	"github.com/content-automation/api/pkg/area"
	customer "github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/audit"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/crm"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/area/profile"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/testdata/fakes/crms"
	"github.com/content-automation/api/testdata/platforms/control"
	"github.com/content-automation/api/testdata/platforms/oauth"
)

const base = "https://api.example.com"

// address is the incoming webhook of Bitrix24.
const address = "https://crm.test/bitrix24/rest/1/" + crms.Secret + "/"

// apps are the applications of CRMs, as the secret of the stacks has them.
func apps(of map[string]*crms.Fake) (string, error) {
	all := map[string]map[string]string{}
	for name := range of {
		all[name] = map[string]string{"client_id": oauth.ClientID, "client_secret": oauth.ClientSecret,
			"hook_token": oauth.HookToken}
	}
	text, err := json.Marshal(all)
	return string(text), err
}

// crmWorld is the area with the fakes of all CRMs and the worker. Its caller has a live key.
type crmWorld struct {
	*servicetest.World
	fuse     *webhooktest.Fuse
	fakes    map[string]*crms.Fake
	pages    http.Handler
	handlers map[task.Kind]task.Handler
	test     *apitest.Caller
	shop     string
	// after is called after each call of the table with its body, or nil.
	after func(body string)
	// woken are the tasks that transactions have woken, as the relay sees it.
	woken []string
}

// crmClient is a client whose calls are steps of the process.
type crmClient struct {
	next interface {
		Do(*http.Request) (*http.Response, error)
	}
	fuse *webhooktest.Fuse
	// sent takes the body of each call that has succeeded.
	sent func(body string)
}

// Do makes a call.
func (c crmClient) Do(req *http.Request) (resp *http.Response, err error) {
	req = req.WithContext(context.WithoutCancel(req.Context()))
	var body []byte
	if c.sent != nil {
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
	}
	failed := c.fuse.Step(func() error {
		resp, err = c.next.Do(req)
		if err == nil && resp.StatusCode == http.StatusOK && c.sent != nil {
			c.sent(string(body))
		}
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

// CheckURL permits all addresses.
func (crmClient) CheckURL(context.Context, string) error { return nil }

// sealed lets a router seal the answers that it stores.
type sealed struct{}

func (sealed) Register(r *httpapi.Router) {
	r.SealWith(seal.FixedSecret([]byte("the system's secret")))
}

func newCrmWorld(t *testing.T) *crmWorld {
	w := &crmWorld{fuse: &webhooktest.Fuse{}}
	w.World = servicetest.New(t, func(c *aws.Config) { c.HTTPClient = crmClient{c.HTTPClient, w.fuse, w.relay} })
	now := w.Now
	w.fakes = crms.All(now)
	mux := http.NewServeMux()
	for name, f := range w.fakes {
		mux.Handle("/"+name+"/", http.StripPrefix("/"+name, f.Handler()))
	}
	e := area.Env{
		AWS: aws.Config{Region: "us-west-2"}, DB: w.DB, Audit: audit.New(w.DB, now), Now: now, Random: rand.Reader,
		Media: apitest.Signer(t, now), Envelope: sealtest.Envelope("key"),
		Seal: seal.FixedSecret([]byte("the system's secret")), Providers: "bedrock,fal,elevenlabs",
		HTTP: crmClient{control.Doer{Handler: mux}, w.fuse, nil}, PlatformEndpoint: "https://crm.test",
		Apps: func(context.Context) (string, error) { return apps(w.fakes) },
	}
	s := crm.Open(e)
	w.pages = s.With(http.NotFoundHandler())
	w.handlers = worker.Named("sync-crm").Tasks(worker.Env{Env: e})
	w.test = apitest.New(t, w.DB, &apitest.Log{}, now, sealed{}, s, factory.NewService(w.DB, now),
		product.NewService(w.DB, e.Media, e.HTTP, now), profile.NewService(w.DB, e.Media, now))
	w.test.Kept()
	name := "Acme"
	a, err := customer.NewService(w.DB, now).Create(t.Context(), customer.Settings{Name: &name})
	if err != nil {
		t.Fatal(err)
	}
	w.test.Principal.Account = tenant.Account(a.ID)
	w.test.Gateway.BaseURL = base
	w.Caller = w.test.Live()
	w.topUp(1_000_000)
	w.shop = w.factory(w.Caller, "seller")
	return w
}

var wake = regexp.MustCompile(`"wake#(task#[^"]*)#\w+"`)

// relay notes the tasks that a write wakes.
func (w *crmWorld) relay(body string) {
	if w.after != nil {
		w.after(body)
	}
	for _, m := range wake.FindAllStringSubmatch(body, -1) {
		w.woken = append(w.woken, m[1])
	}
}

func (w *crmWorld) topUp(credits int64) {
	w.T.Helper()
	tx := &store.Tx{}
	if _, err := ledger.TopUp(tx, w.Now(), w.Principal.Account, credits); err != nil {
		w.T.Fatal(err)
	}
	if err := w.DB.Commit(w.T.Context(), tx); err != nil {
		w.T.Fatal(err)
	}
}

func (w *crmWorld) factory(c *apitest.Caller, kind string) string {
	w.T.Helper()
	settings := object{"currency": "EUR"}
	if kind != "seller" {
		settings = object{"brand_name": "Acme"}
	}
	var f struct{ ID string }
	c.Call(http.MethodPost, "/v1/factories", object{"type": kind, "name": "Shop", "settings": settings}).Into(w.T,
		http.StatusCreated, &f)
	return f.ID
}

// mapping imports products, and makes a post of a deal that was won.
func mapping() object {
	return object{"products": object{"import": true}, "stages": []object{{"pipeline": "7", "stage": "142",
		"kind": "post", "template": "A case study"}}}
}

// visit opens a page of the service with the cookies.
func (w *crmWorld) visit(method, at string, cookies ...*http.Cookie) *http.Response {
	w.T.Helper()
	u, err := url.Parse(at)
	if err != nil {
		w.T.Fatal(err)
	}
	req := httptest.NewRequest(method, u.RequestURI(), nil)
	for _, c := range cookies {
		req.AddCookie(c)
	}
	rec := httptest.NewRecorder()
	w.pages.ServeHTTP(rec, req)
	return rec.Result()
}

func text(t *testing.T, resp *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// allow opens a link, and allows the access at the fake. It returns the address of the callback, and the cookies.
func (w *crmWorld) allow(name, link string) (string, []*http.Cookie) {
	w.T.Helper()
	shown := w.visit(http.MethodGet, link)
	_, rest, _ := strings.Cut(text(w.T, shown), `<a class="go" href="`)
	page, _, _ := strings.Cut(rest, `"`)
	at, err := url.Parse(html.UnescapeString(page))
	if err != nil || shown.StatusCode != http.StatusOK || at.Host != "crm.test" {
		w.T.Fatalf("the link answers %s and leads to %q", shown.Status, page)
	}
	rec := httptest.NewRecorder()
	http.StripPrefix("/"+name, w.fakes[name].Handler()).ServeHTTP(rec,
		httptest.NewRequest(http.MethodPost, at.RequestURI(), nil))
	return rec.Header().Get("Location"), shown.Cookies()
}

type connected struct {
	crm.Integration
	HookURL *string `json:"hook_url"`
}

// connect connects an integration with a CRM by OAuth, with members in addition to its kind.
func (w *crmWorld) connect(name string, members ...any) connected {
	w.T.Helper()
	body := object{"kind": name}
	if name == "bitrix24" {
		body["portal"] = "acme.bitrix24.ru"
	}
	for i := 0; i < len(members); i += 2 {
		if body[members[i].(string)] = members[i+1]; members[i] == "integration_id" {
			delete(body, "kind")
		}
	}
	var c connected
	w.Call(http.MethodPost, "/v1/integrations", body).Into(w.T, http.StatusCreated, &c)
	callback, cookies := w.allow(name, *c.AuthorizationURL)
	if resp := w.visit(http.MethodGet, callback, cookies...); resp.StatusCode != http.StatusOK {
		w.T.Fatalf("%s: the callback answers %s %s", name, resp.Status, text(w.T, resp))
	}
	c.Integration = w.get(c.ID)
	return c
}

func (w *crmWorld) get(id string) (i crm.Integration) {
	w.T.Helper()
	w.Call(http.MethodGet, "/v1/integrations/"+id, nil).Into(w.T, http.StatusOK, &i)
	return i
}

// hook sends a webhook of a CRM about objects, and returns the status of the answer.
func (w *crmWorld) hook(name string, c connected, hints ...crms.Change) int {
	w.T.Helper()
	at := base + "/integrations/hooks/hubspot"
	if c.HookURL != nil {
		at = *c.HookURL
	}
	return w.send(w.fakes[name].Hook(at, hints...))
}

func (w *crmWorld) send(sent *http.Request) int {
	w.T.Helper()
	return w.sendIn(w.T.Context(), sent)
}

// sendIn is send in the context of a process.
func (w *crmWorld) sendIn(ctx context.Context, sent *http.Request) int {
	w.T.Helper()
	req := httptest.NewRequest(sent.Method, sent.URL.RequestURI(), sent.Body)
	req.Header = sent.Header
	req = req.WithContext(httpapi.WithGateway(ctx, httpapi.Gateway{BaseURL: base}))
	rec := httptest.NewRecorder()
	w.pages.ServeHTTP(rec, req)
	return rec.Code
}

// due returns the messages of the tasks that are due, and the time of the next one that is not.
func (w *crmWorld) due() (ids []string, next time.Time) {
	w.T.Helper()
	now := w.Now()
	for _, set := range []task.Set{task.Tasks, task.Parked} {
		for n := range set.Shards {
			q := store.Query{Index: store.ByDue, Partition: set.Name + "#" + string(rune('0'+n)), Limit: 1000,
				OldestFirst: true}
			for more := true; more; {
				page, err := w.DB.Keys(w.T.Context(), q)
				if err != nil {
					w.T.Fatal(err)
				}
				for _, it := range page.Items {
					text, _, _ := strings.Cut(it.Due.SK, "#")
					at, err := time.Parse(time.RFC3339, text)
					if err != nil {
						w.T.Fatal(err)
					}
					kind := task.Kind(strings.Split(it.PK, "#")[1])
					switch _, ours := w.handlers[kind]; {
					case !ours:
					case !at.After(now):
						ids = append(ids, it.PK)
					case next.IsZero() || at.Before(next):
						next = at
					}
				}
				q.After, more = page.Next, page.Next != nil
			}
		}
	}
	slices.Sort(ids)
	ids = append(ids, w.woken...)
	w.woken = nil
	return ids, next
}

// run takes all steps that are due within a time. Each runs in a process of its own, which light may kill.
func (w *crmWorld) run(within time.Duration, light func()) {
	w.T.Helper()
	until := w.Now().Add(within)
	for range 5000 {
		if light != nil && w.Now().After(until) {
			return // there is always a step that waits for an item
		}
		var ids []string
		var next time.Time
		w.fuse.Pause(func() { ids, next = w.due() })
		if len(ids) == 0 {
			if next.IsZero() || next.After(until) {
				w.Clock.Add(max(0, until.Sub(w.Now())))
				return
			}
			wait := next.Sub(w.Now())
			if light != nil {
				wait += 20 * time.Second // many steps are taken at once
			}
			w.Clock.Add(wait)
			continue
		}
		for _, id := range ids {
			ctx, blown := w.fuse.Process(w.T.Context())
			if light != nil {
				light()
			}
			kernel := w.Kernel(w.handlers)
			_, err := kernel.Do(ctx, task.Message{ID: id, Wake: true}, "")
			if died := blown(); err != nil && !died {
				w.T.Fatalf("%s: %v", id, err)
			}
		}
		w.Clock.Add(time.Second)
		if light != nil {
			w.Clock.Add(20 * time.Second) // the leases of the dead end
		}
	}
	w.T.Fatal("the work has no end")
}

// finish ends the generation of all items that are queued, and returns all items.
func (w *crmWorld) finish(state item.State) (all []*item.Record) {
	w.T.Helper()
	err := w.DB.Each(w.T.Context(), store.Query{Index: store.ByOwner,
		Partition: store.OwnerPartition(w.Principal.Owner, item.ItemKind), Limit: 100}, func(listed store.Item) error {
		it, err := w.DB.Get(w.T.Context(), listed.Key)
		if err != nil {
			return err
		}
		r, err := item.Decode(&it)
		if err != nil {
			return err
		}
		all = append(all, r)
		if !r.Item.Runs() {
			return nil
		}
		if r.Item.State, r.Item.Title, r.Item.Caption = state, "Won!", "How we did it"; state == item.Failed {
			r.Item.Failure = &item.Failure{Stage: "generate", Code: "generation_failed", Message: "It went wrong."}
		}
		if err := it.Encode(r); err != nil {
			return err
		}
		tx := &store.Tx{}
		tx.Replace(it)
		return w.DB.Commit(w.T.Context(), tx)
	})
	if err != nil {
		w.T.Fatal(err)
	}
	return all
}

// products returns the products of the shop by their SKU.
func (w *crmWorld) products() map[string]product.Product {
	w.T.Helper()
	all := map[string]product.Product{}
	for _, p := range apitest.All[product.Product](w.Caller, "/v1/products?factory_id="+w.shop, 100) {
		all[p.SKU] = p
	}
	return all
}

func deal(id, stage string) crms.Deal {
	return crms.Deal{ID: id, Name: "Deal " + id, Pipeline: "7", Stage: stage, Amount: "1290", Currency: "EUR"}
}

func hintOf(id string) crms.Change { return crms.Change{Object: crms.DealObject, ID: id} }
