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
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/safehttp"
)

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

// expires reports whether an item is a task that waits for a long time: that of a media file, until the file expires, or
// that of the token of an account.
func expires(pk string) bool {
	return strings.HasPrefix(pk, "task#"+string(media.Kind)+"#") ||
		strings.HasPrefix(pk, "task#"+string(social.Refresh)+"#")
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
