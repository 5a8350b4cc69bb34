package console

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
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

// webhookDraft is what the form of a webhook has.
type webhookDraft struct {
	URL, Description string
	Types            []string
}

// Chosen reports whether a type or an area of events is chosen.
func (d webhookDraft) Chosen(pattern string) bool { return slices.Contains(d.Types, pattern) }

// Single reports whether a single type is chosen.
func (d webhookDraft) Single() bool {
	return slices.ContainsFunc(d.Types, func(t string) bool { return !strings.HasSuffix(t, "*") })
}

// draftOf returns what the person has entered.
func draftOf(r *request) webhookDraft {
	_ = r.ParseForm() // a form that cannot be read is empty
	return webhookDraft{strings.TrimSpace(r.FormValue("url")), r.FormValue("description"), r.Form["event_types"]}
}

// eventTypes are the types of events by area, for people who want single ones.
var eventTypes = func() (all []string) {
	for _, t := range eventrecord.Types {
		all = append(all, string(t.Type))
	}
	return all
}()

func webhookOf(r *request) (w webhook, err error) {
	return w, r.api.get(r.Context(), r.apiPath("webhooks"), nil, &w)
}

func editWebhook(r *request) error {
	w, err := webhookOf(r)
	if err != nil {
		return err
	}
	return showWebhookEdit(r, w, webhookDraft{w.Target(), w.Description, w.EventTypes}, nil)
}

func showWebhookEdit(r *request, w webhook, d webhookDraft, found fieldErrors) error {
	v := r.view("Edit the webhook", webhooksPath)
	v.mend(found)
	version := r.PostFormValue("version")
	if version == "" {
		version = strconv.FormatInt(w.Version, 10)
	}
	v.Data = map[string]any{"Webhook": w, "Draft": d, "Patterns": patterns, "Types": eventTypes, "Version": version,
		"Fixed": w.URL == nil}
	return r.show(faulty(found), "webhook-edit", v)
}

// patchOf returns the patch of a webhook that a form asks for.
func (d webhookDraft) patchOf(w webhook) map[string]any {
	patch := map[string]any{}
	if w.URL != nil && d.URL != *w.URL {
		patch["url"] = d.URL
	}
	if d.Description != w.Description {
		patch["description"] = d.Description
	}
	if !slices.Equal(slices.Sorted(slices.Values(d.Types)), slices.Sorted(slices.Values(w.EventTypes))) {
		patch["event_types"] = d.Types
	}
	return patch
}

// changeWebhookSettings lists the changes of a form first, and saves them when the person has seen them.
func changeWebhookSettings(r *request) error {
	w, err := webhookOf(r)
	if err != nil {
		return err
	}
	d, step := draftOf(r), r.PostFormValue("step")
	if w.URL == nil {
		d.URL = w.Target() // a destination in AWS is changed by the API
	}
	patch := d.patchOf(w)
	switch {
	case step == stepBack:
		return showWebhookEdit(r, w, d, nil)
	case len(d.Types) == 0:
		return showWebhookEdit(r, w, d, about("event_types", mends["/event_types"].text))
	case len(patch) == 0:
		return showWebhookEdit(r, w, d, about("", messageNoChange))
	case step != stepSave:
		return propose(r, d.proposal(r.view("", ""), w))
	}
	a := r.api
	a.version = r.PostFormValue("version")
	err = a.change(r.Context(), http.MethodPatch, r.apiPath("webhooks"), r.once(), patch, nil)
	if found, other := refused(err); other != nil {
		return other
	} else if found != nil {
		return showWebhookEdit(r, w, d, found)
	}
	return r.webhookDone("changed", nil)
}

// proposal lists the changes of a webhook in words.
func (d webhookDraft) proposal(v *view, w webhook) proposal {
	p := proposal{Title: "Edit the webhook", Subject: w.Target(), Active: webhooksPath}
	all := changed(v, nil, "Address", w.Target(), d.URL)
	if len(all) > 0 {
		p.Effects = append(p.Effects, v.T("Deliveries that wait are sent to the new address at once."))
	}
	all = changed(v, all, "Description", w.Description, d.Description)
	p.Changes = changedSet(v, all, "Adds the events %s", "Removes the events %s", w.EventTypes, d.Types)
	return p
}

// periods are the periods whose events can be sent again. Events are kept for 30 days; the form may stay open for an
// hour.
var periods = []choice{{"1h", "Last hour"}, {"24h", "Last 24 hours"}, {"168h", "Last 7 days"}, {"719h", "Last 30 days"}}

// sinceFailing is the period since the first failure of the webhook.
const sinceFailing = "failing"

// replayForm shows the form to send the events of a period again, with the number of those that did not arrive.
func replayForm(r *request) error {
	w, err := webhookOf(r)
	if err != nil {
		return err
	}
	n, more, err := countOf(r, r.apiPath("webhooks")+"/deliveries", url.Values{"state": {"failed,pending"}})
	if err != nil {
		return err
	}
	chosen := periods[1].Value
	if w.FailingSince != nil {
		chosen = sinceFailing
	}
	v := r.view("Send events of a period again", webhooksPath)
	v.Data = map[string]any{"Webhook": w, "Periods": periods, "Chosen": chosen, "Missed": number(n, more),
		"Opened": r.site.Now().Unix()}
	return r.show(http.StatusOK, "webhook-replay", v)
}

// replay sends the events of a period again that did not arrive. The period counts from the time at which the form was
// opened, so that a repeat of the form is the same call.
func replay(r *request) error {
	opened, err := strconv.ParseInt(r.PostFormValue("opened"), 10, 64)
	if err != nil {
		opened = r.site.Now().Unix()
	}
	since := time.Unix(opened, 0)
	if r.PostFormValue("period") == sinceFailing {
		w, err := webhookOf(r)
		if err != nil {
			return err
		}
		if w.FailingSince != nil {
			since = w.FailingSince.Add(-time.Minute)
		}
	} else if by, err := time.ParseDuration(r.PostFormValue("period")); err == nil {
		since = since.Add(-by)
	}
	return r.webhookDone("replay", r.api.change(r.Context(), http.MethodPost, r.apiPath("webhooks")+"/replay", r.once(),
		map[string]any{"since": since.UTC().Format(time.RFC3339)}, nil))
}

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

const (
	eventsPath = "/settings/events"
	auditPath  = "/settings/audit-log"
)

func addEvents(open func(string, func(*request) error)) {
	open("GET "+eventsPath, listEvents)
	open("GET "+eventsPath+"/{id}", showEvent)
	open("GET "+auditPath, listAudit)
	open("GET "+auditPath+"/{request}", showCall)
	open("GET "+auditPath+".csv", exportAudit)
}

// event is an event as the API answers it.
type event struct {
	ID        string    `json:"id"`
	Type      string    `json:"type"`
	CreatedAt time.Time `json:"created_at"`
	Data      struct {
		Object json.RawMessage `json:"object"`
	} `json:"data"`
}

// Subject returns the id of the resource of the event, and the page that shows it, if there is one.
func (e event) Subject() (s struct{ ID, Page string }) {
	_ = json.Unmarshal(e.Data.Object, &s) // an event without an id has no page
	s.Page = pageOf(s.ID)
	return s
}

// pageOf returns the page that shows a resource, or an empty text.
func pageOf(id string) string {
	prefix, _, _ := strings.Cut(id, "_")
	if page, ok := pagesOf[prefix]; ok {
		return page + "/" + id
	}
	return ""
}

// pagesOf are the pages of resources by the prefixes of their ids.
var pagesOf = map[string]string{"cnt": contentPath, "key": keysPath, "whk": webhooksPath, "prf": profilesPath,
	"aut": automationsPath, "int": integrationsPath}

// Body returns the object of the event, indented.
func (e event) Body() string {
	var value any
	if json.Unmarshal(e.Data.Object, &value) != nil {
		return ""
	}
	text, _ := json.MarshalIndent(value, "", "  ") // it was decoded before
	return string(text)
}

// filters are the values of the fields that filter a list.
func (r *request) filters(names ...string) (given map[string]string, query url.Values) {
	given, query = map[string]string{}, cursor(r)
	for _, name := range names {
		value := strings.TrimSpace(r.URL.Query().Get(name))
		given[name] = value
		if value == "" {
			continue
		}
		// A form has days, and the API times. The last day is included.
		if day, err := time.Parse(time.DateOnly, value); err == nil && (name == "from" || name == "to") {
			if name == "to" {
				day = day.AddDate(0, 0, 1)
			}
			value = day.Format(time.RFC3339)
		}
		query.Set(name, value)
	}
	return given, query
}

// more returns the link to the next page of a list with the filters of this one.
func (r *request) more(next string) string {
	if next == "" {
		return ""
	}
	q := r.URL.Query()
	q.Set("cursor", next)
	return r.site.prefix + r.URL.Path + "?" + q.Encode()
}

func listEvents(r *request) error {
	given, query := r.filters("type", "object_id", "from", "to")
	var all []event
	v := r.view("Events", eventsPath)
	next, err := r.api.list(r.Context(), "/v1/events", query, &all)
	found, err := refused(err)
	if err != nil {
		return err
	}
	v.mend(found)
	v.Data = map[string]any{"Events": all, "More": r.more(next), "Filters": given, "Areas": patterns[1:],
		"Types": eventTypes, "Chips": chipsOf(r, v, given, nil)}
	return r.show(http.StatusOK, "events", v)
}

// eventDelivery is the delivery of an event to one webhook.
type eventDelivery struct {
	Webhook webhook
	delivery
}

// showEvent shows one event, and what became of it at each webhook.
func showEvent(r *request) error {
	var e event
	if err := r.api.get(r.Context(), r.apiPath("events"), nil, &e); err != nil {
		return err
	}
	var hooks []webhook
	if _, err := r.api.list(r.Context(), "/v1/webhooks", url.Values{"limit": {"100"}}, &hooks); err != nil {
		return err
	}
	found := make([][]delivery, len(hooks))
	failed := make([]error, len(hooks))
	var reads sync.WaitGroup
	for i, w := range hooks {
		reads.Go(func() {
			failed[i] = r.api.get(r.Context(), "/v1/webhooks/"+url.PathEscape(w.ID)+"/deliveries",
				url.Values{"event_id": {e.ID}}, &found[i])
		})
	}
	reads.Wait()
	if err := errors.Join(failed...); err != nil {
		return err
	}
	var all []eventDelivery
	for i, some := range found {
		for _, d := range some {
			all = append(all, eventDelivery{hooks[i], d})
		}
	}
	v := r.view(e.Type, eventsPath)
	v.Data = map[string]any{"Event": e, "Deliveries": all}
	return r.show(http.StatusOK, "event", v)
}
