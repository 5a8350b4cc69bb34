package console

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/content-automation/api/infra/local/standalone"
)

// counted counts the calls of the account area to the API, and the bytes of the answers.
type counted struct{ calls, bytes atomic.Int64 }

func (c *counted) RoundTrip(r *http.Request) (*http.Response, error) {
	c.calls.Add(1)
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		resp.Body = countedBody{resp.Body, c}
	}
	return resp, err
}

// countedBody counts the bytes of an answer.
type countedBody struct {
	io.ReadCloser
	of *counted
}

func (b countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.of.bytes.Add(int64(n))
	return n, err
}

// mostMore is what pages ask the API more for 2,000 posts of 500 factories than for 240 of 120: a call for each hundred
// rows, of 1,000 posts that wait. All other pages ask as often, a search too, and get as many bytes.
var mostMore = map[string]int64{"": 12, "/approvals": 12, "/approvals?factory_id=store+4": 14, "/content-items": 6,
	"/content-items?q=day+17": 6}

// A page asks the API no more often for a large account than for a small one.
func TestManyPostsOfManyFactories(t *testing.T) {
	api := &counted{}
	s := startAt(t, 0, func(o *standalone.Options) { o.Inside.HTTP = &http.Client{Transport: api} })
	b := s.signedIn(t, "owner")
	const pause = 100 * time.Millisecond // more calls in a minute would be refused
	var factories []string
	fill := func(factoriesUpTo, posts int) {
		t.Helper()
		for len(factories) < factoriesUpTo {
			s.clock.advance(pause)
			factories = append(factories, s.must(t, "POST", "/v1/factories", object{"type": "brand", "name": fmt.Sprintf("Store %d",
				len(factories)), "settings": object{"brand_name": "X"}, "approval": "required"}, 201)["id"].(string))
		}
		for n := range posts {
			s.clock.advance(pause)
			s.own(t, factories[n%len(factories)], fmt.Sprintf("Coffee of the day %d", n))
		}
	}
	pages := []string{"", "/approvals", "/content-items", "/calendar", "/search?q=coffee", "/search?q=of+the+day+17", "/search?q=store+7", "/content-items?q=day+17",
		"/approvals?factory_id=store+4", "/automations", "/automations/new", "/templates", "/profiles", "/api-keys", "/webhooks"}
	bytes := map[string][]int64{}
	calls := func() map[string]int64 {
		all := map[string]int64{}
		for _, path := range pages {
			s.clock.advance(time.Minute)
			before, read := api.calls.Load(), api.bytes.Load()
			if p := b.get("/settings" + path); p.status != http.StatusOK || len(p.body) > 500_000 {
				t.Errorf("%s: %d, %d bytes", path, p.status, len(p.body))
			}
			all[path] = api.calls.Load() - before
			bytes[path] = append(bytes[path], api.bytes.Load()-read)
		}
		return all
	}
	fill(120, 240) // more than one page of the API has
	few := calls()
	fill(500, 2000-240)
	s.clock.advance(time.Minute)
	for path, n := range calls() {
		t.Logf("%s: %d calls and %d bytes for 240 posts, %d and %d for 2,000", path, few[path], bytes[path][0], n, bytes[path][1])
		if strings.HasPrefix(path, "/search") && bytes[path][1] > bytes[path][0]*3/2+4000 {
			t.Errorf("%s: %d bytes for 240 posts, %d for 2,000", path, bytes[path][0], bytes[path][1])
		}
		if n > few[path]+mostMore[path] {
			t.Errorf("%s: %d calls for 240 posts of 120 factories, %d for 2,000 of 500", path, few[path], n)
		}
	}
}

// A key takes three lines: its name, its environment, and what its program may. All else has a default, out of the way.
func TestAKeyTakesThreeLines(t *testing.T) {
	s := start(t)
	b := s.signedIn(t, "owner")
	form := b.get("/settings/api-keys/new")
	first, more, found := strings.Cut(form.main(), "<details")
	if !found || strings.Count(first, "<label") != 3 || !strings.Contains(more, "More: scopes") {
		t.Fatalf("the form is %s", form.main())
	}
	if strings.HasPrefix(strings.SplitN(more, ">", 2)[0], " open") || strings.Contains(strings.SplitN(more, ">", 2)[0], " open") {
		t.Error("the rest is open")
	}
	for _, name := range []string{"name", "kind", "preset"} {
		if !strings.Contains(first, ` name="`+name+`"`) {
			t.Errorf("the form has no %s", name)
		}
	}
	made := b.post("/settings/api-keys", url.Values{"name": {"CRM"}, "kind": {"test"}, "preset": {"read"}})
	made.shows(t, "Your new API key", "svc_test_")
	secret := formSecret.FindStringSubmatch(made.body)
	if secret == nil {
		t.Fatalf("no secret: %s", made.main())
	}
	if status, _ := s.call(t, secret[0], "GET", "/v1/factories", nil); status != http.StatusOK {
		t.Errorf("the key may not read: %d", status)
	}
	if status, _ := s.call(t, secret[0], "POST", "/v1/factories", object{"type": "brand", "name": "x"}); status != http.StatusForbidden {
		t.Errorf("the key may write: %d", status)
	}
	// What is wrong further down opens the rest.
	b.post("/settings/api-keys", url.Values{"name": {"CRM"}, "kind": {"test"}, "preset": {"read"}, "ips": {"nowhere"}}).
		shows(t, `data-more open`, `value="nowhere"`)
}

// The page of a signing secret has programs that verify events with it, in three languages.
func TestASigningSecretHasItsSamples(t *testing.T) {
	s := start(t)
	b := s.signedIn(t, "owner")
	made := b.post("/settings/webhooks", url.Values{"url": {"http://127.0.0.1:9/hook"}, "event_types": {"content.*"}})
	made.shows(t, "Verify events", "timingSafeEqual", "hmac.compare_digest", "standardwebhooks.NewWebhook", "/api-docs/guides/webhooks")
	body := html.UnescapeString(made.body) // a plus is escaped
	secret := signingSecret.FindString(body)
	if n := strings.Count(body, secret); secret == "" || n != 4 {
		t.Errorf("the secret %q is %d times on the page", secret, n)
	}
}

var (
	formSecret    = regexp.MustCompile(`svc_test_\w{20,}`)
	signingSecret = regexp.MustCompile(`whsec_[A-Za-z0-9/+]+`)
)
