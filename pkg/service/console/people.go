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
	open("GET "+peoplePath+"/invite", guarded("", func(r *request) error { return r.showInvite(nil) }))
	open("POST "+peoplePath, guarded(peoplePath+"/invite", invite))
	open("POST "+peoplePath+"/{id}/role", guarded(peoplePath, changeRole))
	open("GET "+peoplePath+"/{id}/remove", guarded("", confirmPerson))
	open("POST "+peoplePath+"/{id}/remove", guarded(peoplePath, remove))
}

// member is a person as the API answers it.
type member struct {
	ID         string  `json:"id"`
	Name       string  `json:"name"`
	Email      string  `json:"email"`
	Role       string  `json:"role"`
	State      string  `json:"state"`
	Connection *string `json:"connection"`
	// Emergency reports that an owner may sign in without the connection, also if it is required.
	Emergency  bool       `json:"break_glass"`
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
		"removed": "The person is removed. They lose access with their next request."}[r.URL.Query().Get("done")]
	v.Data = map[string]any{"People": all, "Roles": roles, "More": r.more(next)}
	return r.show(status, "people", v)
}

func (r *request) showInvite(found fieldErrors) error {
	v := r.view("Invite a person", peoplePath)
	v.mend(found)
	v.Data = map[string]any{"Email": r.FormValue("email"), "Role": r.FormValue("role"), "Roles": roles}
	return r.show(faulty(found), "invite", v)
}

func invite(r *request) error {
	var made struct {
		member
		URL    *string `json:"invitation_url"`
		Mailed bool    `json:"invitation_mailed"`
	}
	err := r.api.change(r.Context(), http.MethodPost, "/v1/people", r.once(), map[string]any{
		"email": strings.TrimSpace(r.PostFormValue("email")), "role": r.PostFormValue("role")}, &made)
	if found, other := refused(err); other != nil {
		return other
	} else if found != nil {
		return r.showInvite(found)
	}
	v := r.view("The invitation", peoplePath)
	v.Data = map[string]any{"Email": made.Email, "URL": made.URL, "Mailed": made.Mailed}
	return r.show(http.StatusOK, "invited", v)
}

func changeRole(r *request) error {
	return r.peopleDone("changed", r.api.change(r.Context(), http.MethodPatch, r.apiPath("people"), r.once(),
		map[string]any{"role": r.PostFormValue("role")}, nil))
}

// personOf returns the person of the page.
func personOf(r *request) (p member, err error) {
	all, err := listAll[member](r.Context(), r.api, "/v1/people", nil, mostNames)
	for _, p := range all {
		if p.ID == r.PathValue("id") {
			return p, nil
		}
	}
	if err == nil {
		err = &failure{Status: http.StatusNotFound, Message: "There is no such person."}
	}
	return p, err
}

func remove(r *request) error {
	return r.peopleDone("removed", r.api.change(r.Context(), http.MethodDelete, r.apiPath("people"), r.once(), nil,
		nil))
}

// peopleDone returns to the people after a form, with the error that the person can mend.
func (r *request) peopleDone(done string, err error) error {
	if message, other := r.form(err); other != nil {
		return other
	} else if message != "" {
		return r.showPeople(http.StatusConflict, message)
	}
	return r.redirect(peoplePath + "?done=" + done)
}
