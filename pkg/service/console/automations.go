package console

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const automationsPath = "/settings/automations"

func addAutomations(open func(string, func(*request) error)) {
	open("GET "+automationsPath, func(r *request) error { return r.showAutomations(http.StatusOK, "") })
	open("GET "+automationsPath+"/new", func(r *request) error { return r.showNewAutomation(http.StatusOK, "") })
	open("POST "+automationsPath, createAutomation)
	open("GET "+automationsPath+"/{id}", func(r *request) error { return r.showAutomation(http.StatusOK, "") })
	open("POST "+automationsPath+"/{id}", changeAutomation)
	open("POST "+automationsPath+"/{id}/state", switchAutomation)
	open("GET "+automationsPath+"/{id}/delete", func(r *request) error {
		var a automation
		if err := r.api.get(r.Context(), r.apiPath("automations"), nil, &a); err != nil {
			return err
		}
		return r.confirm(http.StatusOK, confirmation{Title: "Delete the automation", Subject: a.About(),
			Active: automationsPath, Back: automationsPath + "/" + a.ID,
			Text:    "It makes nothing any more. The content that it has made stays.",
			Effects: []string{r.view("", "").T("It makes at most %d items a day.", a.MaxPerDay)}}, "")
	})
	open("POST "+automationsPath+"/{id}/delete", func(r *request) error {
		err := r.api.change(r.Context(), http.MethodDelete, r.apiPath("automations"), r.once(), nil, nil)
		if message, other := r.form(err); other != nil {
			return other
		} else if message != "" {
			return r.showAutomations(http.StatusConflict, message)
		}
		return r.redirect(automationsPath + "?done=deleted")
	})
}

// trigger is what makes an automation run.
type trigger struct {
	Kind string `json:"kind"`
	URL  string `json:"url,omitempty"`
	Cron string `json:"cron,omitempty"`
}

// runFailure is why a run has made nothing.
type runFailure struct {
	Code    string    `json:"code"`
	Message string    `json:"message"`
	At      time.Time `json:"at"`
}

// run is a run of an automation.
type run struct {
	At            time.Time   `json:"at"`
	Entry         string      `json:"entry"`
	ContentItemID *string     `json:"content_item_id"`
	Failure       *runFailure `json:"failure"`
}

// automation is an automation as the API answers it.
type automation struct {
	ID        string         `json:"id"`
	Version   int64          `json:"version"`
	ProfileID *string        `json:"profile_id"`
	FactoryID string         `json:"factory_id"`
	Trigger   trigger        `json:"trigger"`
	Template  map[string]any `json:"template"`
	MaxPerDay int            `json:"max_per_day"`
	State     string         `json:"state"`
	Failure   *runFailure    `json:"failure"`
	LastRun   *run           `json:"last_run"`
	Runs      []run          `json:"runs"`
}

// About returns what makes it run.
func (a automation) About() string {
	switch a.Trigger.Kind {
	case "feed":
		return a.Trigger.URL
	case "time":
		return a.Trigger.Cron
	default:
		return a.ID
	}
}

// text returns a text of the template.
func (a automation) text(name string) string {
	value, _ := a.Template[name].(string)
	return value
}

// triggers are the kinds of triggers.
var triggers = []choice{{"feed", "A new entry of a feed"}, {"product", "A new product of the factory"},
	{"time", "The times of a schedule"}}

// contentKinds are the kinds of content that an automation makes.
var contentKinds = append(crmContent[:len(crmContent):len(crmContent)], choice{"music_clip", "Music clip"})

// TriggerText returns the name of a kind of triggers.
func (v *view) TriggerText(kind string) string {
	for _, t := range triggers {
		if t.Value == kind {
			return v.T(t.Text)
		}
	}
	return kind
}

func (r *request) showAutomations(status int, message string) error {
	given, query := r.filters("factory_id", "profile_id", "state")
	n, err := r.names()
	if err != nil {
		return err
	}
	var all []automation
	next, err := r.api.list(r.Context(), "/v1/automations", query, &all)
	refused, err := form(err)
	if err != nil {
		return err
	}
	v := r.view("Automations", automationsPath)
	if v.Error = message; message == "" {
		v.Error = refused
	}
	v.Notice = map[string]string{"deleted": "The automation is deleted.", "paused": "The automation is paused.",
		"active": "The automation goes on with what is new from now on."}[r.URL.Query().Get("done")]
	v.Data = map[string]any{"Automations": all, "More": r.more(next), "Filters": given, "Names": n,
		"States": []string{"active", "paused", "failed"}}
	return r.show(status, "automations", v)
}

// automationDraft is what the form of an automation has.
type automationDraft struct {
	Factory, Kind, URL, Cron, Content, Prompt, Most string
}

func (r *request) automationDraft() automationDraft {
	field := func(name string) string { return strings.TrimSpace(r.FormValue(name)) }
	return automationDraft{field("factory_id"), field("trigger"), field("url"), field("cron"), field("content"),
		field("prompt"), field("most")}
}

// trigger returns the trigger of the form: the fields of other kinds do not count.
func (d automationDraft) trigger() trigger {
	t := trigger{Kind: d.Kind}
	switch d.Kind {
	case "feed":
		t.URL = d.URL
	case "time":
		t.Cron = d.Cron
	}
	return t
}

// messageMost is shown for a number that is none.
const messageMost = "The number of items a day is a whole number."

func (r *request) showNewAutomation(status int, message string) error {
	n, err := r.names()
	if err != nil {
		return err
	}
	d := r.automationDraft()
	if d.Kind == "" {
		d.Kind, d.Most, d.Content = "feed", "5", "post"
	}
	v := r.view("Create an automation", automationsPath)
	v.Error = message
	v.Data = map[string]any{"Draft": d, "Names": n, "Triggers": triggers, "Kinds": contentKinds}
	return r.show(status, "automation-new", v)
}

func createAutomation(r *request) error {
	d := r.automationDraft()
	most, err := strconv.Atoi(d.Most)
	if err != nil {
		return r.showNewAutomation(http.StatusUnprocessableEntity, mark(r, "most", messageMost))
	}
	var made automation
	err = r.api.change(r.Context(), http.MethodPost, "/v1/automations", r.once(), map[string]any{
		"factory_id": d.Factory, "trigger": d.trigger(), "max_per_day": most,
		"template": map[string]any{"kind": d.Content, "prompt": d.Prompt}}, &made)
	if message, other := r.form(err); other != nil {
		return other
	} else if message != "" {
		return r.showNewAutomation(http.StatusUnprocessableEntity, message)
	}
	return r.redirect(automationsPath + "/" + made.ID + "?done=created")
}

// showAutomation shows an automation, with the fields that the person has sent if they were refused.
func (r *request) showAutomation(status int, message string) error {
	var a automation
	if err := r.api.get(r.Context(), r.apiPath("automations"), nil, &a); err != nil {
		return err
	}
	n, err := r.names()
	if err != nil {
		return err
	}
	d := r.automationDraft()
	if d.Kind == "" {
		d = automationDraft{a.FactoryID, a.Trigger.Kind, a.Trigger.URL, a.Trigger.Cron, a.text("kind"),
			a.text("prompt"), strconv.Itoa(a.MaxPerDay)}
	}
	v := r.view("Automation", automationsPath)
	v.Error = message
	v.Notice = map[string]string{"created": "The automation is created.",
		"changed": "The automation is changed."}[r.URL.Query().Get("done")]
	v.Data = map[string]any{"Automation": a, "Draft": d, "Names": n, "Triggers": triggers, "Kinds": contentKinds}
	return r.show(status, "automation", v)
}

// changeAutomation changes what the form has, and leaves out a trigger that is as before: another one begins afresh.
func changeAutomation(r *request) error {
	d := r.automationDraft()
	most, err := strconv.Atoi(d.Most)
	if err != nil {
		return r.showAutomation(http.StatusUnprocessableEntity, mark(r, "most", messageMost))
	}
	var now automation
	if err := r.api.get(r.Context(), r.apiPath("automations"), nil, &now); err != nil {
		return err
	}
	body := map[string]any{"max_per_day": most, "template": map[string]any{"kind": d.Content, "prompt": d.Prompt}}
	if d.trigger() != now.Trigger {
		body["trigger"] = d.trigger()
	}
	a := r.api
	a.version = r.PostFormValue("version")
	err = a.change(r.Context(), http.MethodPatch, r.apiPath("automations"), r.once(), body, nil)
	if message, other := r.form(err); other != nil {
		return other
	} else if message != "" {
		return r.showAutomation(http.StatusUnprocessableEntity, message)
	}
	return r.redirect(automationsPath + "/" + r.PathValue("id") + "?done=changed")
}

// switchAutomation pauses an automation, or lets it go on.
func switchAutomation(r *request) error {
	state := r.PostFormValue("state")
	err := r.api.change(r.Context(), http.MethodPatch, r.apiPath("automations"), r.once(),
		map[string]any{"state": state}, nil)
	if message, other := r.form(err); other != nil {
		return other
	} else if message != "" {
		return r.showAutomations(http.StatusUnprocessableEntity, message)
	}
	return r.redirect(automationsPath + "?done=" + url.QueryEscape(state))
}
