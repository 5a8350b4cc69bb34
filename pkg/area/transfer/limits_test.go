package transfer_test

import (
	"context"
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
	w := newWorld(t)
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
