package simulate

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/area/webhook"
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
