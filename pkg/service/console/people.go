package console

import (
	"net/http"
	"strings"
	"time"
)

const (
	peoplePath = "/settings/people"
	signOnPath = "/settings/sign-on"
)

func addPeople(open func(string, func(*request) error)) {
	open("GET "+peoplePath, func(r *request) error { return r.showPeople(http.StatusOK, "") })
	open("GET "+peoplePath+"/invite", guarded("", func(r *request) error { return r.showInvite(http.StatusOK, "") }))
	open("POST "+peoplePath, guarded(peoplePath+"/invite", invite))
	open("POST "+peoplePath+"/{id}/role", guarded(peoplePath, changeRole))
	open("GET "+peoplePath+"/{id}/remove", guarded("", removeForm))
	open("POST "+peoplePath+"/{id}/remove", guarded(peoplePath, remove))
}

// member is a person as the API answers it.
type member struct {
	ID         string     `json:"id"`
	Name       string     `json:"name"`
	Email      string     `json:"email"`
	Role       string     `json:"role"`
	State      string     `json:"state"`
	Connection *string    `json:"connection"`
	LastSeenAt *time.Time `json:"last_seen_at"`
	CreatedAt  time.Time  `json:"created_at"`
}

// Tone returns the tone of the state.
func (p member) Tone() string { return map[string]string{"active": "good", "invited": "warn"}[p.State] }

// Gone reports whether the person was removed.
func (p member) Gone() bool { return p.State == "removed" }

// roles are the roles, with what they may do.
var roles = []choice{{"owner", "Everything, also the account and its owners"},
	{"admin", "Everything but ending the account and managing owners"},
	{"developer", "Content, webhooks and own keys, but no people and no sign-on"},
	{"auditor", "Reading only"}}

func (r *request) showPeople(status int, message string) error {
	var all []member
	next, err := r.api.list(r.Context(), "/v1/people", cursor(r), &all)
	if err != nil {
		return err
	}
	v := r.view("People", peoplePath)
	v.Error = message
	v.Notice = map[string]string{"changed": "The role is changed.",
		"removed": "The person is removed. They are out from their next request on."}[r.URL.Query().Get("done")]
	v.Data = map[string]any{"People": all, "Roles": roles, "More": r.more(next)}
	return r.show(status, "people", v)
}

func (r *request) showInvite(status int, message string) error {
	v := r.view("Invite a person", peoplePath)
	v.Error = message
	v.Data = map[string]any{"Email": r.FormValue("email"), "Role": r.FormValue("role"), "Roles": roles}
	return r.show(status, "invite", v)
}

func invite(r *request) error {
	var made struct {
		member
		URL *string `json:"invitation_url"`
	}
	err := r.api.change(r.Context(), http.MethodPost, "/v1/people", r.once(), map[string]any{
		"email": strings.TrimSpace(r.PostFormValue("email")), "role": r.PostFormValue("role")}, &made)
	if message, other := form(err); other != nil {
		return other
	} else if message != "" {
		return r.showInvite(http.StatusUnprocessableEntity, message)
	}
	v := r.view("The invitation", peoplePath)
	v.Data = map[string]any{"Email": made.Email, "URL": made.URL}
	return r.show(http.StatusOK, "invited", v)
}

func changeRole(r *request) error {
	return r.peopleDone("changed", r.api.change(r.Context(), http.MethodPatch, r.apiPath("people"), r.once(),
		map[string]any{"role": r.PostFormValue("role")}, nil))
}

func removeForm(r *request) error {
	var all []member
	if _, err := r.api.list(r.Context(), "/v1/people", cursor(r), &all); err != nil {
		return err
	}
	for _, p := range all {
		if p.ID == r.PathValue("id") {
			v := r.view("Remove the person", peoplePath)
			v.Data = p
			return r.show(http.StatusOK, "person-remove", v)
		}
	}
	return &failure{Status: http.StatusNotFound, Message: "There is no such person."}
}

func remove(r *request) error {
	return r.peopleDone("removed", r.api.change(r.Context(), http.MethodDelete, r.apiPath("people"), r.once(), nil, nil))
}

// peopleDone returns to the people after a form, with the error that the person can mend.
func (r *request) peopleDone(done string, err error) error {
	if message, other := form(err); other != nil {
		return other
	} else if message != "" {
		return r.showPeople(http.StatusConflict, message)
	}
	return r.redirect(peoplePath + "?done=" + done)
}
