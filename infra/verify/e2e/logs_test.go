package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/poll"
)

// private are the texts that callers sent and received. answered are the calls that a function
// answered, by their ids. The lock of seen guards both.
var (
	private  = map[string]bool{}
	answered = map[string]string{}
)

// written are the members with texts that the service writes.
var written = []string{"title", "caption", "script", "text"}

// notePrivate records the texts of a body that people or models wrote. A text with a space is
// no id, no name of an enumeration and no address. In a body of a caller, all members can have
// such texts.
func notePrivate(body []byte, ofCaller bool) {
	var v any
	if json.Unmarshal(body, &v) != nil {
		return // A body that is not JSON is refused.
	}
	seen.Lock()
	defer seen.Unlock()
	var walk func(v any, note bool)
	walk = func(v any, note bool) {
		switch v := v.(type) {
		case map[string]any:
			for name, member := range v {
				walk(member, ofCaller || slices.Contains(written, name))
			}
		case []any:
			for _, member := range v {
				walk(member, note)
			}
		case string:
			if note && len(v) >= 16 && strings.Contains(v, " ") {
				private[v] = true
			}
		}
	}
	walk(v, ofCaller)
}

// noteAnswer records a call that a function answered.
func noteAnswer(a answer) {
	notePrivate(a.Data, false)
	if a.Status >= http.StatusOK && a.Status < http.StatusMultipleChoices {
		seen.Lock()
		defer seen.Unlock()
		answered[a.Header.Get("X-Request-Id")] = a.call
	}
}

// shapes match data that no function may log: signed addresses, addresses of people, and headers
// with keys.
var shapes = regexp.MustCompile(
	`(?i)x-amz-signature=|[?&]signature=|bearer [a-z0-9]|[a-z0-9._+-]+@[a-z0-9-]+\.[a-z]{2,}`)

// privateLines returns the lines with private texts in the logs below a folder.
func privateLines(dir string) ([]string, error) {
	seen.Lock()
	s := &search{forms: map[string][]form{}}
	for text := range private {
		// Logs are JSON, but leave <, > and & unescaped.
		encoded, err := json.Marshal(text)
		if err != nil {
			seen.Unlock()
			return nil, err
		}
		whole := string(encoded[1 : len(encoded)-1])
		for _, t := range []string{text, whole, strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`,
			"&").Replace(whole)} {
			s.forms[t[:first]] = append(s.forms[t[:first]], form{t, "“" + text[:first] + "…”"})
		}
	}
	n := len(private)
	seen.Unlock()
	fmt.Printf("searched for %d private texts\n", n)
	found, err := s.logs(dir)
	if err != nil {
		return nil, err
	}
	err = eachLine(dir, func(number int, line string, _ logLine) {
		if shape := shapes.FindString(line); shape != "" {
			found = append(found, fmt.Sprintf("%.20s… in line %d of the functions' log", shape, number))
		}
	})
	return found, err
}

// logLine has the members of a function's log line that the tests read.
type logLine struct {
	Message   string `json:"msg"`
	Request   string `json:"request_id"`
	Operation string `json:"operation_id"`
	Account   string `json:"account_id"`
	Key       string `json:"key_id"`
	Status    int    `json:"status"`
	Kind      string `json:"kind"`
	Subject   string `json:"subject"`
	Step      int    `json:"step"`
	Outcome   string `json:"outcome"`
	Event     string `json:"event_id"`
	Attempt   int    `json:"attempt"`
	Age       *int64 `json:"age_ms"`
	Took      *int64 `json:"ms"`
}

// eachLine reads the log lines of functions. SAM's functions have a separate log. A line that is
// not JSON has an empty logLine.
func eachLine(dir string, each func(number int, line string, l logLine)) error {
	for _, name := range []string{"functions.log", "sam.log"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && (name == "functions.log" || !errors.Is(err, fs.ErrNotExist)) {
			return err
		}
		for n, line := range strings.Split(string(text), "\n") {
			var l logLine
			if at := strings.Index(line, `{"time"`); at >= 0 {
				_ = json.Unmarshal([]byte(line[at:]), &l)
			}
			each(n+1, line, l)
		}
	}
	return nil
}

// unlogged returns the calls that do not have exactly one line in the functions' log.
func unlogged(dir string) (found []string, err error) {
	lines := map[string]int{}
	err = eachLine(dir, func(_ int, _ string, l logLine) {
		if l.Message == "call" {
			lines[l.Request]++
		}
	})
	if err != nil {
		return nil, err
	}
	for id, n := range lines {
		if n > 1 {
			found = append(found, fmt.Sprintf("%d lines for the call %s", n, id))
		}
	}
	seen.Lock()
	defer seen.Unlock()
	for id, call := range answered {
		if lines[id] == 0 {
			found = append(found, fmt.Sprintf("no line for %s, %s", call, id))
		}
	}
	fmt.Printf("found the lines of %d calls\n", len(answered))
	return found, nil
}

// TestARequestIsFollowedThroughTheLogs finds a call, the steps of its work and the delivery of
// its result by the request id of the response.
func TestARequestIsFollowedThroughTheLogs(t *testing.T) {
	c := newCustomer(t)
	hooks := newReceiver(t)
	hooks.subscribe(t, c.test.Secret, "content.generated")
	a := call(t, c.test.Secret, "POST", "/v1/content-items", object{"factory_id": c.factory(c.test.Secret),
		"kind": "post", "prompt": "A shoe that only this test describes"})
	made := into[contentItem](a, http.StatusAccepted)
	poll.Until(t, "the webhook", func() bool { return len(hooks.about(made.ID)) > 0 })
	delivered := hooks.about(made.ID)[0].event.ID
	var calls, ends, deliveries []logLine
	poll.Until(t, "the line of the delivery", func() bool {
		calls, ends, deliveries = nil, nil, nil
		err := eachLine(running.Logs, func(_ int, _ string, l logLine) {
			switch {
			case l.Request != a.RequestID:
			case l.Message == "call":
				calls = append(calls, l)
			case l.Message == "step":
				ends = append(ends, l)
			case l.Message == "delivery":
				deliveries = append(deliveries, l)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return len(deliveries) > 0
	})
	if len(calls) != 1 || calls[0].Operation != "createContentItem" || calls[0].Status != http.StatusAccepted ||
		calls[0].Account != c.id || calls[0].Key != c.test.ID || calls[0].Took == nil {
		t.Errorf("the calls are %+v", calls)
	}
	steps := map[string]bool{}
	done := 0
	for _, l := range ends {
		step := fmt.Sprint(l.Kind, " ", l.Subject, " ", l.Step)
		if l.Outcome != "again" && steps[step] || l.Account != c.id || l.Took == nil || l.Age == nil {
			t.Errorf("the step %s has the line %+v", step, l)
		}
		steps[step] = steps[step] || l.Outcome != "again"
		if l.Subject == made.ID && l.Outcome == "done" {
			done++
		}
	}
	if done == 0 {
		t.Errorf("the steps are %+v", ends)
	}
	if len(deliveries) != 1 || deliveries[0].Event != delivered || deliveries[0].Outcome != "delivered" ||
		deliveries[0].Attempt != 1 {
		t.Errorf("the deliveries are %+v, the event is %s", deliveries, delivered)
	}
}

// TestTextsOfCallersStayOutOfTheLogs sends a different text in each member that takes one, in
// accepted and in refused calls.
func TestTextsOfCallersStayOutOfTheLogs(t *testing.T) {
	c := newCustomer(t)
	key := c.test.Secret
	text := func(of string) string { return "Ada Lovelace's confidential " + of }
	hooks := newReceiver(t)
	made := func(path string, body object) string {
		t.Helper()
		a := call(t, key, "POST", path, body)
		if a.Status < 200 || a.Status > 299 {
			t.Fatalf("%s answered %d: %s", a.call, a.Status, a.Raw)
		}
		return into[struct{ ID string }](a, a.Status).ID
	}
	made("/v1/webhooks", object{"url": hooks.URL + "/hook", "event_types": []string{"*"},
		"description": text("webhook"), "metadata": object{"note": text("note of a webhook")}})
	made("/v1/api-keys", object{"name": text("key"), "kind": "test", "scopes": []string{"account:read"}})
	factory := made("/v1/factories", object{
		"type": "brand", "name": text("factory"), "settings": object{"brand_name": text("brand")},
		"metadata": object{"note": text("note of a factory")},
	})
	shop := made("/v1/factories", object{"type": "seller", "name": text("shop"), "settings": object{"currency": "EUR"}})
	made("/v1/products", object{"factory_id": shop, "sku": "A-1", "name": text("product"),
		"description": text("description"), "price": object{"amount": 1, "currency": "EUR"}})
	chat := made("/v1/architect/chats", object{"factory_id": factory})
	made("/v1/architect/chats/"+chat+"/messages", object{"text": text("message")})
	made("/v1/studio/images", object{"prompt": text("picture"), "metadata": object{"note": text("note of a picture")}})
	post := object{"factory_id": factory, "kind": "post", "prompt": text("prompt"),
		"metadata": object{"note": text("note of a post")}}
	item := made("/v1/content-items", post)
	post["sandbox"] = object{"outcome": "failed"}
	failed := made("/v1/content-items", post)
	for _, body := range []any{
		object{"factory_id": factory, "kind": text("kind"), "prompt": text("refused prompt")},
		object{text("member"): text("value")},
		object{"factory_id": text("factory id"), "kind": "post", "prompt": text("refused prompt")},
		`{"prompt": "` + text("broken body"),
	} {
		if a := call(t, key, "POST", "/v1/content-items", body); a.Status < 400 || a.Status > 499 {
			t.Errorf("%v is answered with %d", body, a.Status)
		}
	}
	poll.Until(t, "the webhooks", func() bool { return len(hooks.about(item)) > 0 && len(hooks.about(failed)) > 0 })
	found, err := (&search{forms: map[string][]form{text("")[:first]: {{text(""), "a text"}}}}).logs(running.Logs)
	if err != nil || len(found) > 0 {
		t.Errorf("%v, %v", found, err)
	}
}

func TestTheSearchFindsPrivateTexts(t *testing.T) {
	dir := t.TempDir()
	notePrivate([]byte(`{"prompt": "a \"planted\" text <of> this test", "metadata": {"x": ["another planted text"]}, "kind": "post"}`), true)
	notePrivate([]byte(`{"caption": "a planted caption of a model", "message": "says what to do instead"}`), false)
	lines := []string{
		`f {"msg":"failed","error":"a \"planted\" text <of> this test"}`, `f {"msg":"another planted text"}`,
		`f a planted caption of a model`,
		`f {"url":"https://media.example/a?X-Amz-Signature=00"}`, `f {"to":"ada@acme.example"}`,
		`f Authorization: Bearer svc_test_`,
		`f {"msg":"says what to do instead"}`, `f {"time":"x","msg":"call","request_id":"1-a"}`,
		`f {"time":"x","msg":"call","request_id":"1-a"}`,
	}
	if err := os.WriteFile(filepath.Join(dir, "functions.log"), []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := privateLines(dir)
	if err != nil {
		t.Fatal(err)
	}
	for n := range lines {
		at := slices.ContainsFunc(found,
			func(f string) bool { return strings.Contains(f, fmt.Sprintf("in line %d of", n+1)) })
		if at != (n < 6) {
			t.Errorf("line %d: found %v, in\n%s", n+1, at, strings.Join(found, "\n"))
		}
	}
	twice, err := unlogged(dir)
	if err != nil || !slices.Contains(twice, "2 lines for the call 1-a") {
		t.Errorf("%v, %v", twice, err)
	}
}
