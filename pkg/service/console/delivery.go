package console

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// delivery is a delivery as the API answers it.
type delivery struct {
	ID           string     `json:"id"`
	WebhookID    string     `json:"webhook_id"`
	EventID      string     `json:"event_id"`
	EventType    string     `json:"event_type"`
	State        string     `json:"state"`
	FailedReason *string    `json:"failed_reason"`
	NextAt       *time.Time `json:"next_attempt_at"`
	CreatedAt    time.Time  `json:"created_at"`
	Attempts     []struct {
		At        time.Time `json:"at"`
		Status    *int      `json:"status"`
		LatencyMS int       `json:"latency_ms"`
		Error     *string   `json:"error"`
		Body      string    `json:"response_body"`
	} `json:"attempts"`
	Request *struct {
		Address string            `json:"address"`
		Headers map[string]string `json:"headers"`
		Body    *string           `json:"body"`
	} `json:"request"`
}

// Tone returns the tone of the state.
func (d delivery) Tone() string {
	return map[string]string{"delivered": "good", "failed": "bad", "pending": "warn"}[d.State]
}

// Last returns the status of the last attempt, or 0 without an answer.
func (d delivery) Last() int {
	if n := len(d.Attempts); n > 0 && d.Attempts[n-1].Status != nil {
		return *d.Attempts[n-1].Status
	}
	return 0
}

// Latency returns the milliseconds of the last attempt.
func (d delivery) Latency() int {
	if n := len(d.Attempts); n > 0 {
		return d.Attempts[n-1].LatencyMS
	}
	return 0
}

// Headers are the headers of the request, in the order of their names.
func (d delivery) Headers() (all []formField) {
	for _, name := range slices.Sorted(maps.Keys(d.Request.Headers)) {
		all = append(all, formField{name, d.Request.Headers[name]})
	}
	return all
}

// Curl is the command that repeats the request. It is empty for a destination in AWS, and without a body.
func (d delivery) Curl() string {
	if d.Request == nil || d.Request.Body == nil || !strings.HasPrefix(d.Request.Address, "http") {
		return ""
	}
	lines := []string{"curl " + shell(d.Request.Address)}
	for _, h := range d.Headers() {
		lines = append(lines, "-H "+shell(h.Name+": "+h.Value))
	}
	return strings.Join(append(lines, "--data-raw "+shell(*d.Request.Body)), " \\\n  ")
}

// shell quotes a text for a POSIX shell.
func shell(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// showDelivery shows one delivery: its request as it was sent, and the answers.
func showDelivery(r *request) error {
	var d delivery
	path := r.apiPath("webhooks") + "/deliveries/" + url.PathEscape(r.PathValue("delivery"))
	if err := r.api.get(r.Context(), path, nil, &d); err != nil {
		return err
	}
	w, err := webhookOf(r)
	if err != nil && !missing(err) {
		return err
	}
	v := r.view("Delivery", webhooksPath)
	v.Data = map[string]any{"Delivery": d, "Webhook": w}
	return r.show(http.StatusOK, "delivery", v)
}
