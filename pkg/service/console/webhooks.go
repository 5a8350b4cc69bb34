package console

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	eventrecord "github.com/content-automation/api/pkg/record/event"
)

// webhook is a webhook as the API answers it.
type webhook struct {
	ID             string     `json:"id"`
	Version        int64      `json:"version"`
	URL            *string    `json:"url"`
	Description    string     `json:"description"`
	EventTypes     []string   `json:"event_types"`
	State          string     `json:"state"`
	DisabledReason *string    `json:"disabled_reason"`
	FailingSince   *time.Time `json:"failing_since"`
	LastSuccessAt  *time.Time `json:"last_success_at"`
	CreatedAt      time.Time  `json:"created_at"`
	Secret         *string    `json:"secret"`
	Destination    *struct {
		ARN string `json:"arn"`
	} `json:"destination"`
}

// Target returns the address of the webhook.
func (w webhook) Target() string {
	if w.URL == nil && w.Destination != nil {
		return w.Destination.ARN
	}
	if w.URL == nil {
		return ""
	}
	return *w.URL
}

// Tone returns the tone of the state.
func (w webhook) Tone() string {
	switch {
	case w.State != "enabled":
		return ""
	case w.FailingSince != nil:
		return "warn"
	default:
		return "good"
	}
}

const webhooksPath = "/settings/webhooks"

func addWebhooks(open func(string, func(*request) error)) {
	open("GET "+webhooksPath, listWebhooks)
	open("GET "+webhooksPath+"/new", guarded("", func(r *request) error { return r.showNewWebhook(nil) }))
	open("POST "+webhooksPath, guarded(webhooksPath+"/new", createWebhook))
	open("GET "+webhooksPath+"/{id}", showWebhook)
	open("GET "+webhooksPath+"/{id}/edit", guarded("", editWebhook))
	open("POST "+webhooksPath+"/{id}/edit", guarded("", changeWebhookSettings))
	open("GET "+webhooksPath+"/{id}/replay", replayForm)
	open("POST "+webhooksPath+"/{id}/replay", replay)
	open("GET "+webhooksPath+"/{id}/deliveries/{delivery}", showDelivery)
	open("POST "+webhooksPath+"/{id}/test", testWebhook)
	open("POST "+webhooksPath+"/{id}/state", guarded(webhooksPath, changeWebhook))
	open("GET "+webhooksPath+"/{id}/disable", confirmDisable)
	open("GET "+webhooksPath+"/{id}/delete", confirmDeletion)
	open("POST "+webhooksPath+"/{id}/delete", deleteWebhook)
	open("GET "+webhooksPath+"/{id}/rotate-secret", guarded("", rotateWebhookForm))
	open("POST "+webhooksPath+"/{id}/rotate-secret", guarded("", rotateWebhook))
	open("POST "+webhooksPath+"/{id}/deliveries/{delivery}/redeliver", redeliver)
}

// deliveryStates are the states by which deliveries are filtered.
var deliveryStates = []choice{{"", "All"}, {"delivered", "delivered"}, {"failed", "failed"}, {"pending", "pending"}}

func listWebhooks(r *request) error {
	var all []webhook
	next, err := r.api.list(r.Context(), "/v1/webhooks", cursor(r), &all)
	if err != nil {
		return err
	}
	v := r.view("Webhooks", webhooksPath)
	v.Data = map[string]any{"Webhooks": all, "Next": next}
	if r.FormValue("deleted") != "" {
		v.Notice = "The webhook is deleted. It receives nothing any more."
	}
	return r.show(http.StatusOK, "webhooks", v)
}

// patterns are the types of events that the form offers: all, and those of each area.
var patterns = func() []string {
	all := []string{"*"}
	for _, t := range eventrecord.Types {
		area, _, _ := strings.Cut(string(t.Type), ".")
		if area += ".*"; !slices.Contains(all, area) {
			all = append(all, area)
		}
	}
	return all
}()

func (r *request) showNewWebhook(found fieldErrors) error {
	v := r.view("Add a webhook", webhooksPath)
	v.mend(found)
	v.Data = map[string]any{"Draft": draftOf(r), "Patterns": patterns, "Types": eventTypes}
	return r.show(faulty(found), "webhook-new", v)
}

func createWebhook(r *request) error {
	d := draftOf(r)
	if len(d.Types) == 0 {
		return r.showNewWebhook(about("event_types", mends["/event_types"].text))
	}
	var made webhook
	err := r.api.change(r.Context(), http.MethodPost, "/v1/webhooks", r.once(), map[string]any{
		"url": d.URL, "event_types": d.Types, "description": d.Description}, &made)
	if found, other := refused(err); other != nil {
		return other
	} else if found != nil {
		return r.showNewWebhook(found)
	}
	return r.showWebhookSecret(made)
}

func (r *request) showWebhookSecret(made webhook) error {
	v := r.view("The signing secret", webhooksPath)
	v.Data = made
	return r.show(http.StatusOK, "webhook-secret", v)
}

func showWebhook(r *request) error {
	var w webhook
	if err := r.api.get(r.Context(), r.apiPath("webhooks"), nil, &w); err != nil {
		return err
	}
	q := cursor(r)
	if state := r.URL.Query().Get("state"); state != "" {
		q.Set("state", state)
	}
	var all []delivery
	next, err := r.api.list(r.Context(), r.apiPath("webhooks")+"/deliveries", q, &all)
	if err != nil {
		return err
	}
	v := r.view(cmp.Or(w.Description, "Webhook"), webhooksPath)
	v.Data = map[string]any{"Webhook": w, "Deliveries": all, "Next": next, "State": r.URL.Query().Get("state"),
		"States": deliveryStates}
	v.Notice = map[string]string{"test": "A test event is on its way. Its delivery is in the list below.",
		"redeliver": "The event is sent again. Its attempts are in the list below.",
		"replay":    "The events that did not arrive are sent again. Their deliveries are in the list below.",
		"changed":   "The webhook is changed.",
		"enabled":   "The webhook is enabled.", "disabled": "The webhook is disabled. Events are not sent to it.",
	}[r.URL.Query().Get("done")]
	return r.show(http.StatusOK, "webhook", v)
}

// webhookDone returns to a webhook after a form, or returns the error of the form.
func (r *request) webhookDone(done string, err error) error {
	if err != nil {
		return err
	}
	return r.redirect(webhooksPath + "/" + url.PathEscape(r.PathValue("id")) + "?done=" + done)
}

func testWebhook(r *request) error {
	return r.webhookDone("test", r.api.change(r.Context(), http.MethodPost, r.apiPath("webhooks")+"/test", r.once(),
		map[string]any{"event_type": "content.generated"}, nil))
}

func redeliver(r *request) error {
	path := r.apiPath("webhooks") + "/deliveries/" + url.PathEscape(r.PathValue("delivery")) + "/redeliver"
	return r.webhookDone("redeliver", r.api.change(r.Context(), http.MethodPost, path, r.once(), nil, nil))
}

func changeWebhook(r *request) error {
	state := r.PostFormValue("state")
	return r.webhookDone(url.QueryEscape(state), r.api.change(r.Context(), http.MethodPatch, r.apiPath("webhooks"),
		r.once(), map[string]any{"state": state}, nil))
}

// showWebhookForm shows a form about a webhook.
func (r *request) showWebhookForm(name, title string) error {
	var w webhook
	if err := r.api.get(r.Context(), r.apiPath("webhooks"), nil, &w); err != nil {
		return err
	}
	v := r.view(title, webhooksPath)
	v.Data = w
	return r.show(http.StatusOK, name, v)
}

func deleteWebhook(r *request) error {
	if err := r.api.change(r.Context(), http.MethodDelete, r.apiPath("webhooks"), r.once(), nil, nil); err != nil {
		return err
	}
	return r.redirect(webhooksPath + "?deleted=1")
}

func rotateWebhookForm(r *request) error {
	return r.showWebhookForm("webhook-rotate", "Rotate the signing secret")
}

func rotateWebhook(r *request) error {
	var made webhook
	if err := r.api.change(r.Context(), http.MethodPost, r.apiPath("webhooks")+"/rotate-secret", r.once(), nil,
		&made); err != nil {
		return err
	}
	return r.showWebhookSecret(made)
}
