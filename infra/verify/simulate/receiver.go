package simulate

import (
	"io"
	"net/http"
	"strings"

	"github.com/content-automation/api/pkg/area/webhook"
)

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
	err := pass(req.Context(), &call{kind: toReceiver, key: "POST " + r.url + " " + r.event, refused: errLost,
		lost: errLost, do: func() error {
			if !w.calm && chance(w.random, w.faults.Receiver) {
				status = http.StatusInternalServerError
				return nil
			}
			w.receipts[r]++
			return nil
		}})
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("")),
		Request: req}, nil
}
