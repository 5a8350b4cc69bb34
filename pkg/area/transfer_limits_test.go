package area_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/area/automation"
	"github.com/content-automation/api/pkg/area/transfer"
	"github.com/content-automation/api/pkg/task"
)

// resting is a handler of tasks that do nothing.
type resting struct{}

func (resting) Step(context.Context, *task.Step) (task.Outcome, error) {
	return task.Outcome{Done: true}, nil
}

// B10, other forms: what no operation takes has bounds as well, and each address is one of the web or, if it is called,
// one that its creation takes.
func TestB10AnImportBoundsWhatNoOperationTakes(t *testing.T) {
	w := newTransferWorld(t)
	w.fill()
	w.engine.Handle(automation.Kind, resting{})
	e := w.read(w.export(w.Caller, object{}))
	feed := object{"id": "aut_01h455vb4pex5vsknk084sn02q", "factory_id": w.factory, "max_per_day": 2,
		"trigger":  object{"kind": "feed", "url": "https://93.184.215.14/feed.xml"},
		"template": object{"kind": "post", "prompt": "{{title}}"}, "state": "active"}
	e.lines = append(e.lines, object{"kind": "automation", "id": feed["id"], "data": feed})
	long := strings.Repeat("a", 20_001)
	many := make([]object, 1001)
	for i := range many {
		many[i] = object{"title": "A", "url": "https://a.example/"}
	}
	trigger := func(address string) func(d object) {
		return func(d object) { d["trigger"] = object{"kind": "feed", "url": address} }
	}
	for name, forge := range map[string]struct {
		kind   string
		taken  bool
		change func(data object)
	}{
		"feed as it was": {"automation", true, func(object) {}},
		"feed of a file": {"automation", false, trigger("file:///etc/passwd")},
		"private feed":   {"automation", false, trigger("https://10.0.0.1/feed.xml")},
		"feed of a host": {"automation", false, trigger("https://169.254.169.254/latest")},
		"script of a source": {"content_item", false, func(d object) {
			d["sources"] = []object{{"title": "A", "url": "JavaScript:alert(1)"}}
		}},
		"sources": {"content_item", false, func(d object) { d["sources"] = many }},
		"hooks":   {"content_item", false, func(d object) { d["hooks"] = make([]string, 1001) }},
		"hook":    {"content_item", false, func(d object) { d["hooks"] = []string{long} }},
		"variant": {"content_item", false, func(d object) {
			d["variants"] = object{strings.Repeat("a", 101): object{"caption": "A"}}
		}},
		"topic": {"content_plan", false, func(d object) { d["calendar"] = []object{{"number": 1, "angle": long}} }},
		"file of a generation": {"generation", false, func(d object) {
			d["input"] = object{"prompt": "A", "image_url": "file:///etc/passwd"}
		}},
	} {
		all := 0
		c := w.Stranger()
		i := w.takeParts(c, w.forged(e, func(l object) {
			if data, ok := l["data"].(object); ok && l["kind"] == forge.kind {
				forge.change(data)
				all++
			}
		}))
		got := i.Resources[forge.kind]
		if i.State != transfer.Completed || all == 0 || (got.Imported == all) != forge.taken {
			t.Errorf("%s: %v, %+v of %d, %+v", name, i.State, got, all, i.LeftOut)
		}
	}
}

// What no call of the API can create does not come in, each line is left out with its member, and none of them keeps
// the others from coming in.
func TestALineIsJudgedAsACall(t *testing.T) {
	w := newTransferWorld(t)
	w.fill()
	w.in.Lines = 500
	e := w.read(w.export(w.Caller, object{}))
	trial := object{"id": "exp_01h455vb4pex5vsknk084sn02q", "factory_id": w.factory, "question": "Which hook?",
		"factors":  []object{{"name": "hook", "arms": []string{"number", "question"}}},
		"metric":   object{"name": "likes", "platform": "telegram", "after_hours": 24},
		"budget":   object{"posts": 40, "credits": 1000, "days": 30},
		"stopping": object{"alpha": 0.05, "min_effect": 0.2, "design": "always_valid"}, "state": "running"}
	last := e.lines[len(e.lines)-1]
	e.lines = append(e.lines[:len(e.lines)-1:len(e.lines)-1],
		object{"kind": "experiment", "id": trial["id"], "data": trial}, last)
	long := strings.Repeat("a", 3000)
	hooks := make([]string, 1000)
	for i := range hooks {
		hooks[i] = fmt.Sprintf("%d %x", i, sha256.Sum256([]byte{byte(i), byte(i >> 8)}))
		for len(hooks[i]) < 900 {
			hooks[i] += fmt.Sprintf("%x", sha256.Sum256([]byte(hooks[i])))
		}
	}
	c := w.Caller
	for name, forge := range map[string]struct {
		kind, message string
		change        func(data object)
	}{
		"profile without a name": {"profile", "/name: is required", func(d object) { delete(d, "name") }},
		"template of no name":    {"template", "/name: must not be empty", func(d object) { d["name"] = "" }},
		"factory without a name": {"factory", "/name: is required", func(d object) { delete(d, "name") }},
		"product without a SKU":  {"product", "/sku: is required", func(d object) { delete(d, "sku") }},
		"promotion for ever":     {"promotion", "/ends_at: is required", func(d object) { delete(d, "ends_at") }},
		"webhook of nothing":     {"webhook", "/event_types: has too few", func(d object) { d["event_types"] = []any{} }},
		"long factory":           {"product", "/factory_id: is no id that begins", func(d object) { d["factory_id"] = long }},
		"factory of an item":     {"content_item", "/factory_id: is no id", func(d object) { d["factory_id"] = "acme" }},
		"plan of an item": {"content_item", "/content_plan_id: is no id", func(d object) {
			d["content_plan_id"] = long
		}},
		"products of a plan": {"content_plan", "/product_ids/0: is no id", func(d object) {
			d["product_ids"] = []string{"acme"}
		}},
		"cover of a variant": {"content_item", "An id of it is empty", func(d object) {
			d["variants"] = object{"telegram": object{"cover": ""}}
		}},
		"large item": {"content_item", "larger than a resource may be", func(d object) { d["hooks"] = hooks }},
		"time zone":  {"content_plan", "/timezone: is not an IANA", func(d object) { d["timezone"] = "Mars" }},
		"no prompt":  {"generation", "/prompt: is required", func(d object) { d["input"] = object{} }},
		"speech of a picture": {"generation", "/input/text: is not for the kind image", func(d object) {
			d["input"] = object{"prompt": "A shoe", "text": "Hello"}
		}},
		"metric": {"experiment", "/metric/name: is not a known value", func(d object) {
			d["metric"] = object{"name": "saves", "platform": "telegram"}
		}},
		"factor twice": {"experiment", "/factors/1/name: stands twice", func(d object) {
			d["factors"] = append(trial["factors"].([]object), trial["factors"].([]object)...)
		}},
		"two members": {"product", "/name: must be a string, not a number; /sku: must be a string", func(d object) {
			d["name"], d["sku"] = 1, 2
		}},
	} {
		c = c.Stranger()
		i := w.takeParts(c, w.forged(e, func(l object) {
			if data, ok := l["data"].(object); ok && l["kind"] == forge.kind {
				forge.change(data)
			}
		}))
		got := i.Resources[forge.kind]
		at := slices.IndexFunc(i.LeftOut, func(l transfer.LeftOut) bool {
			return l.Kind == forge.kind && strings.Contains(l.Message, forge.message)
		})
		if i.State != transfer.Completed || got.Imported != 0 || at < 0 || i.Resources["media"].Imported == 0 {
			t.Errorf("%s: %v, %+v, %+v, %+v", name, i.State, i.Failure, got, i.LeftOut)
		}
	}
	// The members of metadata are the caller's own, whatever their names are.
	i := w.takeParts(c.Stranger(), w.forged(e, func(l object) {
		if data, ok := l["data"].(object); ok && data["metadata"] != nil {
			data["metadata"] = object{"product_id": "SKU 7", "page_url": "tel:+31205550100"}
		}
	}))
	if i.State != transfer.Completed || len(i.LeftOut) != 0 {
		t.Errorf("with metadata alone: %v, %+v", i.State, i.LeftOut)
	}
}

// A text that an editor of Windows has saved is read, and each reason is told by itself.
func TestLinesThatWereEditedByHand(t *testing.T) {
	w := newTransferWorld(t)
	w.fill()
	text := strings.SplitAfter(w.text(w.export(w.Caller, object{}).Parts[0]), "\n")[0]
	line := func(kind, id, members string) {
		text += fmt.Sprintf(`{"kind":%q,"id":%q,"data":{"id":%q,%s}}`+"\n", kind, id, id, members)
	}
	const rest = "_01h455vb4pex5vsknk084sn02q"
	line("profile", "prf"+rest, `"name":"Harbour"`)
	line("profile", "prf_7zzzzzzzzzex5vsknk084sn02q", `"name":"Later"`)
	line("factory", "fac"+rest, `"type":"bakery"`)
	line("factory", "fac_01h455vb4pex5vsknk084sn02r", `"type":"brand","type":"brand"`)
	line("factory", "fac_01h455vb4pex5vsknk084sn02s", "\"type\":\"brand\",\"name\":\"a\xff\"")
	i := w.takeParts(w.Stranger(), []transfer.Part{w.keep("by-hand", "\ufeff"+strings.ReplaceAll(text, "\n", "\r\n"))})
	var told []string
	for _, l := range i.LeftOut {
		told = append(told, l.Kind+" "+l.Message)
	}
	want := []string{"profile id is of a time that is still to come.", "factory /type: is not a known value",
		"factory /type: is sent more than once", "factory data is not valid JSON at"}
	for n := range want {
		if len(told) != len(want) || !strings.HasPrefix(told[n], want[n]) {
			t.Fatalf("%v, %+v: %q", i.State, i.Failure, told)
		}
	}
	if i.State != transfer.Completed || i.Resources["profile"].Imported != 1 {
		t.Errorf("%v, %+v", i.State, i.Resources)
	}
}
