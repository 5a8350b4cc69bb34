package console

import (
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/poll"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// The log has names, hides what the account area reads itself, filters by one click, and leads to the detail of a call.
func TestACallInDetail(t *testing.T) {
	s := start(t)
	made := s.must(t, "POST", "/v1/api-keys", object{"name": "Nightly import", "kind": "live", "scopes": []string{
		"account:read"}}, 201)
	id := made["id"].(string)
	s.call(t, made["secret"].(string), "GET", "/v1/me", nil)
	if status, _ := s.call(t, made["secret"].(string), "GET", "/v1/factories", nil); status != http.StatusForbidden {
		t.Fatalf("%d", status)
	}
	b := s.signedIn(t, "owner")
	b.get("/settings/webhooks")
	b.get("/settings/api-keys")
	var p page
	poll.Until(t, "the calls are in the log", func() bool {
		p = b.get("/settings/audit-log?key_id=" + id)
		return strings.Contains(p.body, "listFactories") && strings.Contains(p.body, "getMe")
	})
	p.shows(t, "Nightly import", "insufficient_scope", "Key: Nightly import", `<a class="chip" href="/settings/audit-log"`)
	log := b.get("/settings/audit-log")
	log.shows(t, "Demo owner", "person.sign_in", "Show reads of the account area", `data-applies`)
	log.hides(t, "listWebhooks", "of the account area</td>")
	b.get("/settings/audit-log?reads=1").shows(t, " reads of the account area</td>")
	b.get("/settings/audit-log?status=4xx").hides(t, "getMe")
	b.get("/settings/audit-log?within=1h&key_id="+id).shows(t, "getMe", `aria-current="true">Last hour`)
	s.clock.advance(2 * 3600 * 1e9)
	b = s.signedIn(t, "owner")
	b.get("/settings/audit-log?within=1h&key_id="+id).hides(t, "getMe")
	person := regexp.MustCompile(`<option value="(usr_\w+)"[^>]*>Demo owner`).FindStringSubmatch(log.body)
	if person == nil {
		t.Fatal("the log has no filter by people")
	}
	byPerson := b.get("/settings/audit-log?person_id=" + person[1])
	byPerson.shows(t, "person.sign_in", "Person: Demo owner")
	byPerson.hides(t, "listFactories")

	at := regexp.MustCompile(`href="(/settings/audit-log/[^"]+)" data-dialog[^>]*>listFactories`).FindStringSubmatch(p.body)
	if at == nil {
		t.Fatalf("no detail: %s", p.main())
	}
	call := b.get(html.UnescapeString(at[1]))
	call.shows(t, "GET /v1/factories", "Nightly import", id, `href="/api-docs/errors/insufficient_scope"`, " ms</span>",
		`data-text="`+strings.TrimPrefix(html.UnescapeString(at[1]), "/settings/audit-log/")+`"`, "127.0.0.1")
	if !regexp.MustCompile(`\d\d:\d\d:\d\d\.\d\d\d UTC`).MatchString(call.body) {
		t.Errorf("the time has no milliseconds: %s", call.main())
	}
	if p := b.get("/settings/audit-log/1-none"); p.status != http.StatusNotFound {
		t.Errorf("an unknown call: %d", p.status)
	}
	if csv := b.get("/settings/audit-log.csv?key_id=" + id); strings.Count(csv.body, "\n") != 3 {
		t.Errorf("%s", csv.body)
	}
	// Developers read their own keys only: they see the ids of others.
	s.signedIn(t, "developer").get("/settings/audit-log").shows(t, "listFactories", id)
}

// The log says which factory, profile and kind of content a call concerned, by name, and filters by them: of calls that
// make, read and decide about content, and of those that are refused.
func TestCallsByFactoryAndKind(t *testing.T) {
	s := start(t)
	a := s.agency(t)
	other := s.must(t, "POST", "/v1/factories", object{"type": "brand", "name": "Alpine", "settings": object{
		"brand_name": "Alpine"}}, 201)["id"].(string)
	made := s.generated(t, other, "carousel", "Five roasts")
	s.must(t, "POST", "/v1/approvals/"+made+"/request-changes", object{"note": "Name the price."}, 200)
	s.must(t, "POST", "/v1/studio/images", object{"prompt": "A cup"}, 202)
	s.call(t, s.Live, "POST", "/v1/content-items", object{"factory_id": a.factory, "kind": "story"})
	count := func(filter, operation string) int { return len(s.entries(t, filter+"&operation_id="+operation)) }
	for filter, want := range map[string][]string{
		"factory_id=" + other:     {"createContentItem", "requestChanges"},
		"kind=carousel":           {"createContentItem", "requestChanges"},
		"profile_id=" + a.profile: {"createContentItem", "createFactory"},
		"kind=story":              {"createContentItem"},
		"kind=image":              {"createImage"},
	} {
		for _, operation := range want {
			if n := count(filter, operation); n == 0 {
				t.Errorf("%s has no %s", filter, operation)
			}
		}
	}
	if n := count("kind=carousel&factory_id="+a.factory, "createContentItem"); n != 0 {
		t.Errorf("%d calls of another factory", n)
	}
	b := s.signedIn(t, "owner")
	p := b.get("/settings/audit-log?operation_id=createContentItem&kind=carousel&factory_id=" + other)
	p.shows(t, "Kind: Carousel", "Factory: Alpine", "createContentItem", `truncate">carousel</span>`, ">Alpine</span>")
	p.hides(t, "createImage")
	detail := regexp.MustCompile(`href="(/settings/audit-log/[^"]+)" data-dialog[^>]*>createContentItem`)
	at := detail.FindStringSubmatch(p.body)
	if at == nil {
		t.Fatal("no detail")
	}
	b.get(html.UnescapeString(at[1])).shows(t, "/settings/audit-log?factory_id="+other, "/settings/audit-log?kind=carousel")
	csv := b.get("/settings/audit-log.csv?kind=carousel")
	if !strings.Contains(csv.body, ","+other+",,carousel\n") {
		t.Errorf("%s", csv.body)
	}
	poll.Until(t, "the kinds are counted", func() bool {
		return strings.Contains(b.get("/settings/usage?requests=kind").main(), `<span class="truncate" dir="auto">Carousel</span>`)
	})
}

// receiver is a customer's system: it fails until it is repaired, and keeps what it got.
type receiver struct {
	*httptest.Server
	broken atomic.Bool
	mu     sync.Mutex
	got    []*http.Request
	bodies []string
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	r.broken.Store(true)
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		r.mu.Lock()
		r.got, r.bodies = append(r.got, q), append(r.bodies, string(body))
		r.mu.Unlock()
		if r.broken.Load() {
			http.Error(w, "the import is down", http.StatusBadGateway)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

// arrived returns the requests so far.
func (r *receiver) arrived() (all []*http.Request, bodies []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append(all, r.got...), append(bodies, r.bodies...)
}

// A failed delivery shows its request as it was sent, the answers, and a command that repeats it; then the webhook is
// repaired and the period replayed.
func TestADeliveryInDetailAndAReplay(t *testing.T) {
	s := start(t)
	to := newReceiver(t)
	made := s.must(t, "POST", "/v1/webhooks", object{"url": to.URL + "/it's", "event_types": []string{"content.*"}}, 201)
	hook, secret := made["id"].(string), made["secret"].(string)
	a := s.agency(t)
	b := s.signedIn(t, "owner")
	path := "/settings/webhooks/" + hook
	link := regexp.MustCompile(`href="(` + path + `/deliveries/dlv_\w+)" data-dialog`)
	var at []string
	poll.Until(t, "a delivery has failed", func() bool {
		p := b.get(path + "?state=pending")
		at = link.FindStringSubmatch(p.body)
		return at != nil && strings.Contains(p.body, "HTTP 502")
	})
	p := b.get(at[1])
	requests, bodies := to.arrived()
	p.shows(t, "HTTP 502", "the import is down", "webhook-signature", requests[0].Header.Get("webhook-id"),
		html.EscapeString(to.URL+"/it's"), "Repeat it with curl", a.item)
	event := regexp.MustCompile(`href="(/settings/events/evt_\w+)"`).FindStringSubmatch(p.body)
	if event == nil {
		t.Fatal("the delivery names no event")
	}
	b.get(event[1]).shows(t, at[1], `href="/settings/content-items/`+a.item, "HTTP 502")

	// The command sends the same request with a new signature, which the receiver verifies.
	command := regexp.MustCompile(`(?s)<pre id="curl"[^>]*>(.*?)</pre>`).FindStringSubmatch(p.body)
	if command == nil {
		t.Fatal("no command")
	}
	run := exec.CommandContext(t.Context(), "sh", "-c", html.UnescapeString(command[1]))
	run.Env = append(os.Environ(), "WEBHOOK_SECRET="+secret)
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s %s", err, out, html.UnescapeString(command[1]))
	}
	again, copies := to.arrived()
	last := len(again) - 1
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	if err := verifier.Verify([]byte(copies[last]), again[last].Header); err != nil {
		t.Errorf("the signature of the command: %v", err)
	}
	if again[last].Header.Get("webhook-id") != requests[0].Header.Get("webhook-id") ||
		again[last].URL.Path != "/it's" || !strings.Contains(strings.Join(bodies, "\n"), copies[last]) {
		t.Errorf("the command sends %v %s", again[last].Header, copies[last])
	}

	// The receiver is repaired, and the period replayed.
	to.broken.Store(false)
	b.get(path+"/replay").shows(t, "Since it fails", "Last 24 hours", "Events: ")
	b.post(path+"/replay", url.Values{"since": {s.clock.now().Add(-24 * time.Hour).UTC().Format(time.RFC3339)}}).shows(t, "are sent again")
	poll.Until(t, "all have arrived", func() bool {
		p := b.get(path)
		return strings.Contains(p.body, ">delivered<") && !strings.Contains(p.main(), `data-tone="warn">retrying`)
	})
	if p := s.signedIn(t, "auditor").get(at[1]); p.status != http.StatusOK || strings.Contains(p.body, "redeliver") {
		t.Errorf("an auditor: %d", p.status)
	}
}
