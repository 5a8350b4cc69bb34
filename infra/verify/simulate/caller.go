package simulate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/publishing"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/store/memtable"
)

type object = map[string]any

// request is a call of the API.
type request struct {
	principal auth.Principal
	method    string
	path      string
	body      []byte
	key       string // the Idempotency-Key
	match     string // the header If-Match
	form      bool   // whether the body is that of a form
}

// answer is the response to a request.
type answer struct {
	status int
	body   []byte
}

// baseURL is the address of the API.
const baseURL = "https://api.example.com"

// serve answers the call.
func (r request) serve(ctx context.Context, h http.Handler) answer {
	g := httpapi.Gateway{RequestID: "request", SourceIP: "198.51.100.7", UserAgent: "simulate", BaseURL: baseURL}
	var err error
	if g.Authorizer, err = r.principal.Encode(); err != nil {
		panic(err)
	}
	req := httptest.NewRequestWithContext(httpapi.WithGateway(ctx, g), r.method, r.path, bytes.NewReader(r.body))
	if r.match != "" {
		req.Header.Set("If-Match", r.match)
	}
	if r.form {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if r.key != "" {
		req.Header.Set("Idempotency-Key", r.key)
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, req)
	return answer{rec.Code, rec.Body.Bytes()}
}

// caller is a user who calls the API with the key of an account.
type caller struct {
	world     *world
	random    *rand.Rand
	principal auth.Principal
	name      string
	factory   string
	chat      string
	school    school
	hooks     []string // ids of webhooks
	urls      []string // of webhooks
	accounts  []string // ids of social accounts
	items     []string // paths of the items that the caller has created
	calls     int
	left      int
	since     string    // the first id of an event that all webhooks get
	emptied   time.Time // when the sandbox was last reset

	twins       int
	shop        string // the factory with products, if there is one
	automations []automated
	sales       sales
}

// call makes a call and repeats it, with the same Idempotency-Key, until it gets a final answer.
func (c *caller) call(method, path string, body any, into any) int {
	return c.repeat(math.MaxInt, method, path, body, into)
}

// repeat makes a call as call does, with a limited number of tries. It returns 0 if all of them failed.
func (c *caller) repeat(tries int, method, path string, body any, into any) int {
	b, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	if body == nil {
		b = nil
	}
	c.calls++
	r := request{principal: c.principal, method: method, path: path, body: b, key: fmt.Sprint(c.name, "-", c.calls)}
	if strings.HasSuffix(path, "/apply") {
		r.match = `"1"` // the version of a resource that was never changed
	}
	if method == http.MethodGet {
		r.key = ""
	}
	return c.send(tries, r, into)
}

// form sends a form, or what a browser or a CRM sends, to a page without a key.
func (c *caller) form(path, body string) int {
	c.calls++
	return c.send(math.MaxInt, request{principal: c.principal, method: http.MethodPost, path: path, body: []byte(body),
		key: fmt.Sprint(c.name, "-", c.calls), form: true}, nil)
}

// send sends a request until it gets a final answer, a limited number of times.
func (c *caller) send(tries int, r request, into any) int {
	for range tries {
		answered := make(chan answer, 1)
		c.world.ask(r, func(a answer) { answered <- a })
		select {
		case a := <-answered:
			if a.status < 500 && a.status != http.StatusConflict && a.status != http.StatusTooManyRequests {
				var out struct{ Data json.RawMessage }
				if into != nil && a.status < 300 {
					if err := json.Unmarshal(a.body, &out); err != nil {
						panic(err)
					}
					if err := json.Unmarshal(out.Data, into); err != nil {
						panic(err)
					}
				}
				if c.world.Trace != nil && a.status >= 400 {
					fmt.Fprintf(c.world.Trace, "%s %s: %s\n", r.method, r.path, a.body)
				}
				return a.status
			}
			if a.status == http.StatusConflict && !bytes.Contains(a.body, []byte("idempotency_in_progress")) {
				return a.status
			}
		case <-time.After(30 * time.Second): // the call or its answer was lost
		}
		<-time.After(time.Duration(1+c.random.IntN(3000)) * time.Millisecond)
	}
	return 0
}

// asked is a call of the API on its way.
type asked struct {
	request
	answered func(answer)
}

// answer has the API answer a call, unless the answer is lost.
func (w *world) answer(a asked) {
	w.invoke(w.api, string(a.principal.Account)+" "+a.method+" "+a.path+" "+a.key, a.request, func(out any) {
		if w.calm || !chance(w.random, w.faults.Lose) {
			a.answered(out.(answer))
		}
	})
}

// ask has the API answer a call, unless the call is lost.
func (w *world) ask(r request, answered func(answer)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, asked{r, answered})
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// kinds are the kinds of content items that callers create.
var kinds = []string{"post", "post", "story", "carousel", "video"}

// live acts as a caller does, until nothing is left to do.
func (c *caller) live() {
	for c.factory == "" {
		var f struct{ ID string }
		c.call(http.MethodPost, "/v1/factories", object{"type": "blogger", "name": "Blog",
			"approval": []string{"none", "required"}[c.random.IntN(2)],
			"schedule": object{"timezone": "UTC", "times": everyHour()}}, &f)
		c.factory = f.ID
	}
	if c.random.IntN(trainers) == 0 {
		c.found()
	}
	for range 1 + c.random.IntN(2) {
		var h struct{ ID string }
		url := fmt.Sprintf("https://%s-%d.example.com/hook", c.name, len(c.hooks))
		if status := c.call(http.MethodPost, "/v1/webhooks", object{"url": url, "event_types": []string{"*"}},
			&h); status == http.StatusCreated {
			c.hooks = append(c.hooks, h.ID)
			c.urls = append(c.urls, url)
		}
	}
	c.connect()
	if c.random.IntN(4) == 0 {
		c.play()
	}
	c.since = id.First(id.Event, time.Now().Add(time.Millisecond))
	if c.random.IntN(automators) == 0 {
		c.automate()
	}
	for ; c.left > 0; c.left-- {
		c.act()
		<-time.After(between(c.random, 0, 20*time.Second))
	}
	c.settle()
	// Work that waits for a paused factory must continue. The change may conflict with others.
	for c.call(http.MethodPatch, "/v1/factories/"+c.factory, object{"state": "active"}, nil) != http.StatusOK {
		<-time.After(time.Second)
	}
}

// everyHour returns the times of a schedule.
func everyHour() []string {
	times := make([]string, 24)
	for hour := range times {
		times[hour] = fmt.Sprintf("%02d:00", hour)
	}
	return times
}

func (c *caller) item() object {
	return object{"factory_id": c.factory, "kind": kinds[c.random.IntN(len(kinds))], "prompt": "A new shoe"}
}

// create creates a resource and remembers its path.
func (c *caller) create() {
	var one struct{ ID string }
	switch c.random.IntN(4) {
	case 0:
		var all []struct{ ID string }
		items := make([]object, 1+c.random.IntN(6))
		for i := range items {
			items[i] = c.item()
		}
		c.call(http.MethodPost, "/v1/content-items/batch", object{"items": items}, &all)
		for _, it := range all {
			c.items = append(c.items, "/v1/content-items/"+it.ID)
		}
	case 1:
		path, body := "images", object{"prompt": "A shoe"}
		if c.random.IntN(2) == 0 {
			path, body = "voices", object{"text": "A shoe.", "language": "en"}
		}
		if c.call(http.MethodPost, "/v1/studio/"+path, body, &one) == http.StatusAccepted {
			c.items = append(c.items, "/v1/studio/generations/"+one.ID)
		}
	default:
		if c.call(http.MethodPost, "/v1/content-items", c.item(), &one) == http.StatusAccepted {
			c.items = append(c.items, "/v1/content-items/"+one.ID)
		}
	}
}

// act performs one action.
func (c *caller) act() {
	if c.school.open && c.random.IntN(4) == 0 {
		c.train()
		return
	}
	switch c.random.IntN(30) {
	case 28:
		c.discuss()
		return
	case 29:
		c.answer()
		return
	case 24, 25, 26:
		c.provide()
		return
	case 27:
		if len(c.items) > 0 {
			c.queue()
			return
		}
	case 0, 1, 2, 3:
		c.talk()
		return
	case 4:
		c.bring()
		return
	case 5:
		c.disconnect()
		return
	}
	if len(c.items) == 0 || c.random.IntN(3) > 0 {
		c.create()
		return
	}
	i := c.random.IntN(len(c.items))
	path := c.items[i]
	isItem := path[:len("/v1/content")] == "/v1/content"
	switch n := c.random.IntN(14); {
	case n > 9 && isItem && c.random.IntN(4) == 0:
		c.decide(path)
	case n > 9 && isItem:
		c.publish(path)
	case n > 7:
		c.plan()
	case n > 5:
		c.review()
	case n == 0:
		if c.call(http.MethodDelete, path, nil, nil) < 300 {
			c.items = slices.Delete(c.items, i, i+1)
		}
	case n == 1 && isItem:
		c.call(http.MethodPost, path+"/cancel", nil, nil)
	case n == 2 && isItem:
		c.call(http.MethodPost, path+"/regenerate", nil, nil)
	case n == 5 && isItem:
		c.correct(path)
	case n == 3 && isItem:
		c.call(http.MethodPatch, path, object{"title": fmt.Sprint("Title ", c.calls)}, nil)
	case n == 4 && len(c.hooks) > 0:
		c.redeliver()
	default:
		c.call(http.MethodGet, path, nil, nil)
	}
}

// corrections are the bodies of attempts that reuse parts. Those after the second are for videos.
var corrections = []object{
	{"reuse": true}, {"reuse": true, "title": "Right"}, {"reuse": true, "music": "generated"},
	{"reuse": true, "script": "A new shoe is here. It is made of nets. It runs. You run. It is light and fast. Try it."},
}

// correct has an item composed again once it has parts, and may cancel that.
func (c *caller) correct(path string) {
	var it struct{ Kind, State string }
	for range 10 {
		c.call(http.MethodGet, path, nil, &it)
		if it.State != "queued" && it.State != "generating" {
			break
		}
		<-time.After(30 * time.Second)
	}
	n := 2
	if it.Kind == "video" {
		n = len(corrections)
	}
	if c.call(http.MethodPost, path+"/regenerate", corrections[c.random.IntN(n)], nil) == http.StatusAccepted &&
		c.random.IntN(3) == 0 {
		<-time.After(between(c.random, 0, 20*time.Second))
		c.call(http.MethodPost, path+"/cancel", nil, nil)
	}
}

// redeliver repeats one of the deliveries.
func (c *caller) redeliver() {
	var all []struct{ ID string }
	hook := c.hooks[c.random.IntN(len(c.hooks))]
	c.call(http.MethodGet, "/v1/webhooks/"+hook+"/deliveries", nil, &all)
	if len(all) > 0 {
		c.call(http.MethodPost, "/v1/webhooks/"+hook+"/deliveries/"+all[c.random.IntN(len(all))].ID+
			"/redeliver", nil, nil)
	}
}

// twin returns a second caller with the key of the account, who acts at the same time.
func (c *caller) twin() *caller {
	c.twins++
	return &caller{world: c.world, random: rand.New(rand.NewPCG(c.random.Uint64(), 2)),
		name: fmt.Sprint(c.name, "-twin", c.twins), principal: c.principal, factory: c.factory, accounts: c.accounts}
}

// together has callers act at the same time.
func together(act ...func()) {
	done := make(chan struct{})
	for _, f := range act {
		go func() {
			defer func() { done <- struct{}{} }()
			f()
		}()
	}
	for range act {
		<-done
	}
}

// provide creates an item of the caller's own texts and, if a picture is ready, media.
func (c *caller) provide() {
	body := object{"factory_id": c.factory, "kind": "post", "source": "provided",
		"caption": fmt.Sprint("Own words ", c.calls)}
	var ready []struct{ ID, State string }
	if c.random.IntN(2) == 0 {
		c.call(http.MethodGet, "/v1/media", nil, &ready)
	}
	if len(ready) > 0 && ready[0].State == "ready" {
		body["media"] = []string{ready[0].ID}
		body["fit"] = []string{"none", "pad", "crop"}[c.random.IntN(3)]
	}
	if c.random.IntN(2) == 0 {
		body["variants"] = object{"telegram": object{"caption": "Other words"},
			c.accounts[0]: object{"hashtags": []string{"own"}}}
	}
	switch c.random.IntN(4) {
	case 0:
		body["publish_at"], body["social_account_ids"] = "next_slot", c.accounts
	case 1:
		body["publish_at"], body["social_account_ids"] = time.Now().Add(between(c.random, time.Minute, time.Hour)),
			c.accounts[:1]
	}
	var one struct{ ID string }
	if c.call(http.MethodPost, "/v1/content-items", body, &one) == http.StatusAccepted {
		c.items = append(c.items, "/v1/content-items/"+one.ID)
	}
}

// decide has people decide about an item: two at once, or one who changes it afterwards, or one with a review link.
func (c *caller) decide(path string) {
	itemID := strings.TrimPrefix(path, "/v1/content-items/")
	approve := "/v1/approvals/" + itemID + "/approve"
	switch c.random.IntN(3) {
	case 0:
		a, b := c.twin(), c.twin()
		together(func() { a.call(http.MethodPost, approve, nil, nil) }, func() {
			if b.random.IntN(2) == 0 {
				b.call(http.MethodPost, approve, object{"note": "Good"}, nil)
			} else {
				b.call(http.MethodPost, "/v1/approvals/"+itemID+"/request-changes", object{"note": "Shorter"}, nil)
			}
		})
	case 1:
		c.call(http.MethodPost, approve, nil, nil)
		a, b := c.twin(), c.twin()
		together(func() {
			a.call(http.MethodPatch, path, object{"caption": fmt.Sprint("Changed ", c.calls)}, nil)
		}, func() {
			b.call(http.MethodPost, path+"/publish", object{"social_account_ids": c.accounts}, nil)
		})
	default:
		c.visit(itemID)
	}
}

// visit makes a review link and decides on its page.
func (c *caller) visit(itemID string) {
	body := object{"content_item_ids": []string{itemID}, "may": "decide"}
	if c.random.IntN(2) == 0 {
		body = object{"factory_id": c.factory, "may": []string{"decide", "view"}[c.random.IntN(2)]}
	}
	var link struct{ ID, URL string }
	if c.call(http.MethodPost, "/v1/review-links", body, &link) != http.StatusCreated || link.URL == "" {
		return // a late repeat leaves the address out
	}
	page := strings.TrimPrefix(link.URL, baseURL)
	var seen struct{ Version int64 }
	c.call(http.MethodGet, "/v1/content-items/"+itemID, nil, &seen)
	c.form(page, url.Values(publishing.Form(itemID, seen.Version, []string{item.Approved,
		item.ChangesRequested}[c.random.IntN(2)], "From the page")).Encode())
	if c.random.IntN(2) == 0 {
		c.call(http.MethodDelete, "/v1/review-links/"+link.ID, nil, nil)
		c.form(page, url.Values(publishing.Form(itemID, seen.Version, item.Approved, "")).Encode())
	}
}

// queue has several callers take the next slots of the schedule at the same time.
func (c *caller) queue() {
	var all []func()
	for range 2 + c.random.IntN(3) {
		path, twin := c.items[c.random.IntN(len(c.items))], c.twin()
		if !strings.HasPrefix(path, "/v1/content-items/") {
			continue
		}
		accounts := c.accounts[:1+c.random.IntN(len(c.accounts))]
		all = append(all, func() {
			twin.call(http.MethodPost, path+"/schedule", object{"publish_at": "next_slot",
				"social_account_ids": accounts}, nil)
		})
	}
	together(all...)
}

// teamwork are the facts about items that the simulation follows from change to change.
type teamwork struct {
	items    map[string]item.Record // by their keys, without those that were deleted
	setting  map[string]string      // the approval of factories
	of       map[string]string      // the item of a publication
	slots    map[string]string      // the item that has a time of an account
	provided map[string]bool        // items of the callers' own media
	made     map[string]int         // items by the entry of their automation, or by their deal
	day      map[string]int         // items by their automation and day
	looked   map[string]time.Time   // when automations have first read their feed
	failed   map[string]bool        // automations that have failed afterwards
	broken   []string
}

func newTeamwork() teamwork {
	return teamwork{map[string]item.Record{}, map[string]string{}, map[string]string{}, map[string]string{},
		map[string]bool{}, map[string]int{}, map[string]int{}, map[string]time.Time{}, map[string]bool{}, nil}
}

// observeTeam follows items and the settings of their factories.
func (w *world) observeTeam(c memtable.Change) {
	t := &w.team
	switch {
	case textOf(c.New, "kind") == "factory":
		var f struct{ ID, Approval string }
		must(json.Unmarshal([]byte(textOf(c.New, "doc")), &f))
		t.setting[f.ID] = f.Approval
		return
	case textOf(c.New, "kind") == item.PublicationKind:
		var p item.Row
		must(json.Unmarshal([]byte(textOf(c.New, "doc")), &p))
		t.of[p.ID] = textOf(c.New, "pk")
		return
	case textOf(c.New, "kind") != item.ItemKind && textOf(c.Old, "kind") != item.ItemKind:
		return
	}
	var now item.Record
	pk := textOf(c.Old, "pk")
	if doc := textOf(c.New, "doc"); doc != "" {
		must(json.Unmarshal([]byte(doc), &now))
		pk = textOf(c.New, "pk")
	}
	was, known := t.items[pk]
	for _, s := range was.Slots {
		if at := fmt.Sprint(s.Account, s.At); !slices.Contains(now.Slots, s) && t.slots[at] == pk {
			delete(t.slots, at)
		}
	}
	if now.Item.ID == "" {
		delete(t.items, pk)
		return
	}
	t.items[pk] = now
	for _, s := range now.Slots {
		if at := fmt.Sprint(s.Account, s.At); t.slots[at] != "" && t.slots[at] != pk {
			t.fail("%s takes the slot %s of %s", pk, at, t.slots[at])
		} else {
			t.slots[at] = pk
		}
	}
	if now.Item.State == item.Publishing && was.Item.State != item.Publishing &&
		now.Item.Blocked(t.setting[now.Item.FactoryID]) {
		t.fail("%s is being published, and its approval is %s", pk, now.Item.Approval.State)
	}
	if a := now.Item.Approval; known && a.At != nil && (was.Item.Approval.At == nil || *a.At != *was.Item.Approval.At) {
		w.ends[a.State+" "+pk]++
	}
	if !known {
		w.noteMade(pk, now)
	}
}

// noteMade counts a new item of an automation, or of a deal.
func (w *world) noteMade(pk string, r item.Record) {
	t := &w.team
	if t.provided[pk] = r.Item.Provided(); r.Item.Provided() && r.Item.State == item.Generated {
		w.ends[pk]++ // at once
	}
	if of := r.Item.Metadata["automation"]; of != "" {
		t.made[of+" "+r.Item.Metadata["entry"]]++
		// a step may last over midnight
		if at := r.Item.CreatedAt.Time; at.Sub(at.Truncate(24*time.Hour)) > 15*time.Minute {
			t.day[of+" "+at.Format(time.DateOnly)]++
		}
	}
	if deal := r.Item.Metadata["crm_deal_id"]; deal != "" {
		t.made[r.Item.Metadata["integration_id"]+" deal "+deal]++
	}
}

func (t *teamwork) fail(format string, args ...any) {
	t.broken = append(t.broken, fmt.Sprintf(format, args...))
}

// posting notes a call that makes a post, whose item must be approved at that moment if its factory requires it.
func (t *teamwork) posting(publicationID string) {
	pk := t.of[publicationID]
	r, ok := t.items[pk]
	if ok && r.Item.Blocked(t.setting[r.Item.FactoryID]) {
		t.fail("%s of %s is posted, and the approval is %s", publicationID, pk, r.Item.Approval.State)
	}
}

// checkTeam checks that nothing was published without an approval, no slot taken twice and no entry made twice, and
// that own media cost nothing.
func (w *world) checkTeam(fail func(format string, args ...any)) {
	for _, broken := range w.team.broken {
		fail("%s", broken)
	}
	for entry, n := range w.team.made {
		if n > 1 {
			fail("%s has %d items", entry, n)
		}
	}
	for pk, r := range w.team.items {
		if r.Item.Provided() && (r.Attempt.Credits != 0 || r.Item.CostCredits != 0) {
			fail("%s is the caller's own, and costs %d", pk, r.Item.CostCredits)
		}
	}
	for _, c := range w.callers {
		for _, a := range c.automations {
			w.checkAutomation(a, fail)
		}
		c.checkDeals(fail)
	}
}
