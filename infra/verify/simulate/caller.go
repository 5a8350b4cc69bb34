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
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/httpapi"
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
