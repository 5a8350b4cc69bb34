package console

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	eventrecord "github.com/content-automation/api/pkg/record/event"
)

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
