package console

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

const profilesPath = "/settings/profiles"

func addProfiles(open func(string, func(*request) error)) {
	open("GET "+profilesPath, listProfiles)
	open("GET "+profilesPath+"/new", func(r *request) error { return r.showNewProfile(http.StatusOK, "") })
	open("POST "+profilesPath, createProfile)
	open("GET "+profilesPath+"/{id}", func(r *request) error { return r.showOneProfile(http.StatusOK, "") })
	open("POST "+profilesPath+"/{id}", changeProfile)
	open("GET "+profilesPath+"/{id}/delete", asking(profileRemoval))
	open("POST "+profilesPath+"/{id}/delete", typing(profileRemoval, deleteProfile))
}

// brand is a profile as the API answers it: a client of an agency.
type brand struct {
	ID         string    `json:"id"`
	Version    int64     `json:"version"`
	Name       string    `json:"name"`
	Logo       *string   `json:"logo"`
	Region     *string   `json:"region"`
	SpendLimit *int64    `json:"spend_limit_credits"`
	CreatedAt  time.Time `json:"created_at"`
	Usage      *struct {
		Month string `json:"month"`
		Spent int64  `json:"used_credits"`
		Left  *int64 `json:"remaining_credits"`
	} `json:"usage"`
}

func listProfiles(r *request) error {
	var all []brand
	next, err := r.api.list(r.Context(), "/v1/profiles", cursor(r), &all)
	if err != nil {
		return err
	}
	v := r.view("Profiles", profilesPath)
	v.Notice = map[string]string{"deleted": "The profile is deleted."}[r.URL.Query().Get("done")]
	v.Data = map[string]any{"Profiles": all, "More": r.more(next)}
	return r.show(http.StatusOK, "profiles", v)
}

// profileFields returns the body of the form of a profile, or the message of what to mend. An empty field has no value.
func (r *request) profileFields() (body map[string]any, message string) {
	body = map[string]any{"name": strings.TrimSpace(r.PostFormValue("name")), "spend_limit_credits": nil, "logo": nil,
		"region": nil}
	if text := strings.TrimSpace(r.PostFormValue("limit")); text != "" {
		limit, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, "The spending limit is a whole number of credits."
		}
		body["spend_limit_credits"] = limit
	}
	if logo := strings.TrimSpace(r.PostFormValue("logo")); logo != "" {
		body["logo"] = logo
	}
	if region := strings.ToUpper(strings.TrimSpace(r.PostFormValue("region"))); region != "" {
		body["region"] = region
	}
	return body, ""
}

// profileDraft is what the form of a profile has.
type profileDraft struct{ Name, Limit, Logo, Region string }

// profileDraft returns what the caller has entered.
func (r *request) profileDraft() profileDraft {
	return profileDraft{r.PostFormValue("name"), r.PostFormValue("limit"), r.PostFormValue("logo"),
		r.PostFormValue("region")}
}

func (r *request) showNewProfile(status int, message string) error {
	v := r.view("Create a profile", profilesPath)
	v.Error = message
	v.Data = r.profileDraft()
	return r.show(status, "profile-new", v)
}

func createProfile(r *request) error {
	body, message := r.profileFields()
	if message != "" {
		return r.showNewProfile(http.StatusUnprocessableEntity, message)
	}
	var made brand
	err := r.api.change(r.Context(), http.MethodPost, "/v1/profiles", r.once(), body, &made)
	if message, other := r.form(err); other != nil {
		return other
	} else if message != "" {
		return r.showNewProfile(http.StatusUnprocessableEntity, message)
	}
	return r.redirect(profilesPath + "/" + made.ID + "?done=created")
}

// belonging is a list of what belongs to a profile.
type belonging struct {
	Text, Path string // its name, and the page that shows it, if there is one
	Names      []string
	More       bool
	api        string
}

// mostBelonging is the number of names that each list has.
const mostBelonging = 10

// belongings reads what belongs to a profile: all lists at once.
func (r *request) belongings(id string) ([]belonging, error) {
	of := "?profile_id=" + url.QueryEscape(id)
	all := []belonging{
		{Text: "Factories", api: "/v1/factories"},
		{Text: "Social accounts", api: "/v1/social/accounts", Path: socialPath + of},
		{Text: "Own applications", api: "/v1/social/applications", Path: applicationsPath},
		{Text: "Webhooks", api: "/v1/webhooks"},
		{Text: "CRM integrations", api: "/v1/integrations"},
		{Text: "Automations", api: "/v1/automations", Path: automationsPath + of},
		{Text: "Content", api: "/v1/content-items"},
		{Text: "Files", api: "/v1/media"},
		{Text: "Studio", api: "/v1/studio/generations"},
		{Text: "API keys", Path: keysPath + of},
	}
	failed := make([]error, len(all))
	var reads sync.WaitGroup
	for i := range all {
		reads.Go(func() { failed[i] = r.readBelonging(&all[i], id) })
	}
	reads.Wait()
	return all, errors.Join(failed...)
}

func (r *request) readBelonging(b *belonging, id string) error {
	if b.api == "" {
		keys, err := r.keysOf(id)
		for _, k := range keys {
			if k.Active() {
				b.Names = append(b.Names, k.Name)
			}
		}
		return err
	}
	var rows []struct {
		ID     string `json:"id"`
		Name   string `json:"name"`
		Handle string `json:"handle"`
		Title  string `json:"title"`
		State  string `json:"state"`
	}
	next, err := r.api.list(r.Context(), b.api, url.Values{"profile_id": {id},
		"limit": {strconv.Itoa(mostBelonging)}}, &rows)
	b.More = next != ""
	for _, row := range rows {
		if row.State != "disconnected" { // it may be deleted with its profile
			b.Names = append(b.Names, cmp.Or(row.Name, row.Handle, row.Title, row.ID))
		}
	}
	return err
}

func (r *request) showOneProfile(status int, message string) error {
	var p brand
	if err := r.api.get(r.Context(), r.apiPath("profiles"), nil, &p); err != nil {
		return err
	}
	all, err := r.belongings(p.ID)
	if err != nil {
		return err
	}
	v := r.view(p.Name, profilesPath)
	v.Error = message
	v.Notice = map[string]string{"created": "The profile is created.",
		"changed": "The profile is changed."}[r.URL.Query().Get("done")]
	d := r.profileDraft()
	if r.Method == http.MethodGet || d.Name == "" {
		if d = (profileDraft{Name: p.Name}); p.Logo != nil {
			d.Logo = *p.Logo
		}
		if p.Region != nil {
			d.Region = *p.Region
		}
		if p.SpendLimit != nil {
			d.Limit = strconv.FormatInt(*p.SpendLimit, 10)
		}
	}
	v.Data = map[string]any{"Profile": p, "Belongings": all, "Fields": d}
	return r.show(status, "profile-one", v)
}

func changeProfile(r *request) error {
	body, message := r.profileFields()
	if message != "" {
		return r.showOneProfile(http.StatusUnprocessableEntity, message)
	}
	a := r.api
	a.version = r.PostFormValue("version")
	err := a.change(r.Context(), http.MethodPatch, r.apiPath("profiles"), r.once(), body, nil)
	if message, other := r.form(err); other != nil {
		return other
	} else if message != "" {
		return r.showOneProfile(http.StatusUnprocessableEntity, message)
	}
	return r.redirect(profilesPath + "/" + r.PathValue("id") + "?done=changed")
}

// profileRemoval is the confirmation before a profile is deleted.
func profileRemoval(r *request) (c confirmation, err error) {
	var p brand
	if err := r.api.get(r.Context(), r.apiPath("profiles"), nil, &p); err != nil {
		return c, err
	}
	all, err := r.belongings(p.ID)
	v := r.view("", "")
	for _, b := range all {
		if n := len(b.Names); n > 0 {
			c.Effects = append(c.Effects, v.T(b.Text)+": "+number(n, b.More))
		}
	}
	c.Title, c.Subject, c.Name = "Delete the profile", p.Name, p.Name
	c.Active, c.Back = profilesPath, profilesPath+"/"+p.ID
	c.Text = "A profile is deleted only if nothing belongs to it any more."
	return c, err
}

func deleteProfile(r *request) error {
	err := r.api.change(r.Context(), http.MethodDelete, r.apiPath("profiles"), r.once(), nil, nil)
	if message, other := r.form(err); other != nil {
		return other
	} else if message != "" {
		return r.showOneProfile(http.StatusConflict, message)
	}
	return r.redirect(profilesPath + "?done=deleted")
}
