package simulate

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/sandbox"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/store/memtable"
	"github.com/content-automation/api/pkg/task"
)

// silentHost is the host of the receiver that does not answer for the time of faults.Silent.
const silentHost = "caller0-0.example.com"

// errSilent is the failure of a connection to it.
var errSilent = errors.New("connection timed out")

// settled is the time after the end of the faults after which no attempt from before is under way.
const settled = time.Minute

// receivers are the receivers of webhooks. They record the events that they take.
type receivers struct{}

var _ webhook.Caller = receivers{}

// receipt is an event that a receiver has taken.
type receipt struct{ url, event string }

// Do implements webhook.Caller.
func (receivers) Do(req *http.Request) (*http.Response, error) {
	w := invocationOf(req.Context()).world
	r := receipt{req.URL.String(), req.Header.Get("Webhook-Id")}
	status := http.StatusNoContent
	if w.silent(req.URL.Hostname()) {
		return nil, errSilent
	}
	err := pass(req.Context(), &call{kind: toReceiver, key: "POST " + r.url + " " + r.event, refused: errLost,
		lost: errLost, do: func() error {
			if !w.calm && chance(w.random, w.faults.Receiver) {
				status = http.StatusInternalServerError
				return nil
			}
			w.receipts[r]++
			if w.calm && time.Since(w.calmed) > settled {
				w.repeated[r]++
			}
			return nil
		}})
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("")),
		Request: req}, nil
}

// silent reports whether the receiver at a host does not answer now.
func (w *world) silent(host string) bool {
	return host == silentHost && time.Since(begin) < w.faults.Silent
}

const heldPrefix = "held#"

// observeHeld counts the deliveries that are held back.
func (w *world) observeHeld(c memtable.Change) {
	key := textOf(c.New, "due_pk")
	if strings.HasPrefix(key, heldPrefix) && textOf(c.Old, "due_pk") != key {
		w.held++
	}
}

// checkHeld checks that a held delivery has no task, and that its webhook has one.
func (w *world) checkHeld() (broken []string) {
	works := map[string]bool{}
	for _, it := range w.items() {
		if textOf(it, "kind") == task.ItemKind && textOf(it, "f_state") == "running" {
			works[strings.Split(textOf(it, "pk"), "#")[2]] = true // its subject
		}
	}
	for _, it := range w.items() {
		if !strings.HasPrefix(textOf(it, "due_pk"), heldPrefix) {
			continue
		}
		if id := textOf(it, "sk"); works[id] {
			broken = append(broken, "the held delivery "+id+" has a task")
		} else if of := webhook.HeldFor(textOf(it, "due_pk")); !works[of] {
			broken = append(broken, "nothing probes the receiver of "+of+", which has held deliveries")
		}
	}
	return broken
}

// checkRepeated checks that nothing was sent twice after the faults.
func (w *world) checkRepeated(fail func(format string, args ...any)) {
	for r, n := range w.repeated {
		if n > 1 {
			fail("event %s was sent %d times to %s without a fault", r.event, n, r.url)
		}
	}
}

// web is the Internet: it allows each address, and has a picture at each that is neither a feed nor a CRM.
type web struct{}

// CheckURL implements safehttp.Checker.
func (web) CheckURL(context.Context, string) error { return nil }

var picture = sync.OnceValue(func() []byte {
	var b bytes.Buffer
	must(png.Encode(&b, image.NewGray(image.Rect(0, 0, 64, 64))))
	return b.Bytes()
})

var errFetch = errors.New("simulate: the connection was reset")

// Do implements area.Client.
func (web) Do(req *http.Request) (*http.Response, error) {
	w, rec := invocationOf(req.Context()).world, httptest.NewRecorder()
	var body []byte
	if req.Body != nil {
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
	}
	if t := httptrace.ContextClientTrace(req.Context()); t != nil && t.WroteHeaders != nil {
		t.WroteHeaders() // whatever becomes of the call, it may have arrived
	}
	err := pass(req.Context(), &call{
		kind: toProvider, key: req.Method + " " + req.URL.String(), refused: errFetch, lost: errFetch,
		do: func() error {
			sent := req.Clone(context.Background())
			sent.Body, sent.RequestURI = io.NopCloser(bytes.NewReader(body)), req.URL.RequestURI()
			w.site(req.URL.Host).ServeHTTP(rec, sent)
			return nil
		},
	})
	if err != nil {
		return nil, err
	}
	resp := rec.Result()
	resp.Request, resp.ContentLength = req, int64(rec.Body.Len())
	return resp, nil
}

// site returns the server of a host.
func (w *world) site(host string) http.Handler {
	switch name, of, _ := strings.Cut(host, "."); {
	case of == feeds:
		return http.HandlerFunc(w.feedOf)
	case of == crmHost:
		for _, c := range w.callers {
			if c.name == name {
				return c.sales.fake.Handler()
			}
		}
	}
	return http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "image/png")
		_, _ = rw.Write(picture())
	})
}

var _ safehttp.Checker = web{}

// bring imports a picture.
func (c *caller) bring() {
	c.call(http.MethodPost, "/v1/media", object{"source_url": "https://shop.example.com/shoe.png"}, nil)
}

// disconnect disconnects one of the accounts. The waiting publications of the account are canceled.
func (c *caller) disconnect() {
	if len(c.accounts) < 2 {
		return
	}
	last := len(c.accounts) - 1
	if c.call(http.MethodDelete, "/v1/social/accounts/"+c.accounts[last], nil, nil) < 300 {
		c.accounts = c.accounts[:last]
	}
}

// play creates resources with a test key, and then empties the sandbox.
func (c *caller) play() {
	test := &caller{world: c.world, random: c.random, name: c.name + "-test", principal: c.principal}
	test.principal.Owner = tenant.Of(c.principal.Account, tenant.Test)
	test.call(http.MethodPost, "/v1/factories", object{"type": "blogger", "name": "Blog"}, nil)
	for range 1 + c.random.IntN(3) {
		test.bring()
	}
	var reset sandbox.Reset
	if test.call(http.MethodPost, "/v1/sandbox/reset", nil, &reset) == http.StatusAccepted {
		c.emptied = reset.RequestedAt.Time
	}
}

// checkOwn checks that a sandbox holds nothing that was created before it was emptied.
func (w *world) checkOwn(fail func(format string, args ...any)) {
	emptied := map[string]time.Time{}
	for _, c := range w.callers {
		emptied[string(c.principal.Account)] = c.emptied
	}
	for _, it := range w.items() {
		pk, kind := textOf(it, "pk"), textOf(it, "kind")
		prefix, ok := map[string]string{"factory": id.Factory, media.ItemKind: id.Media}[kind]
		if ok && textOf(it, "mode") == string(tenant.Test) && pk < id.First(prefix, emptied[textOf(it, "acc")]) {
			fail("%s is left in an empty sandbox", pk)
		}
	}
}

// Revoke implements platform.Connector.
func (s stage) Revoke(ctx context.Context, a platform.Account) error {
	return s.pass(ctx, "Revoke", a, a.ID, platform.Busy(), func(*world) error { return nil })
}
