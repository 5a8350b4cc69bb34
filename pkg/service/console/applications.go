package console

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

const applicationsPath = "/settings/applications"

func addApplications(open func(string, func(*request) error)) {
	open("GET "+applicationsPath, func(r *request) error { return r.showApplications(http.StatusOK, "") })
	open("POST "+applicationsPath, guarded(applicationsPath, createApplication))
	open("POST "+applicationsPath+"/{id}", guarded(applicationsPath, changeApplication))
	open("GET "+applicationsPath+"/{id}/delete", asking(applicationRemoval))
	open("POST "+applicationsPath+"/{id}/delete", deleteApplication)
}

// application is a customer's application of a platform as the API answers it.
type application struct {
	ID          string    `json:"id"`
	ProfileID   *string   `json:"profile_id"`
	Platform    string    `json:"platform"`
	ClientID    string    `json:"client_id"`
	DailyLimit  *int      `json:"daily_limit"`
	LimitUnit   string    `json:"daily_limit_unit"`
	RedirectURL string    `json:"redirect_url"`
	CreatedAt   time.Time `json:"created_at"`
}

func (r *request) showApplications(status int, message string) error {
	var all []application
	next, err := r.api.list(r.Context(), "/v1/social/applications", cursor(r), &all)
	if err != nil {
		return err
	}
	profiles, err := r.profilesOf(r.session.Mode)
	if err != nil {
		return err
	}
	var platforms []platform
	if err := r.api.get(r.Context(), "/v1/social/platforms", nil, &platforms); err != nil {
		return err
	}
	v := r.view("Own applications", applicationsPath)
	v.Error = message
	v.Notice = map[string]string{"created": "The application is added. Accounts that are connected from now on use it.",
		"changed": "The application is changed.", "deleted": "The application is deleted."}[r.URL.Query().Get("done")]
	v.Data = map[string]any{"Applications": all, "Platforms": platforms, "More": r.more(next),
		"Names": names{Profiles: profiles}}
	return r.show(status, "applications", v)
}

// applicationFields returns the members of an application's form. An empty field is left out.
func (r *request) applicationFields(fields ...string) map[string]any {
	body := map[string]any{}
	for _, name := range fields {
		value := strings.TrimSpace(r.PostFormValue(name))
		if n, err := strconv.Atoi(value); err == nil && name == "daily_limit" {
			body[name] = n
		} else if value != "" {
			body[name] = value
		}
	}
	return body
}

func createApplication(r *request) error {
	body := r.applicationFields("platform", "client_id", "client_secret", "daily_limit", "profile_id")
	err := r.api.change(r.Context(), http.MethodPost, "/v1/social/applications", r.once(), body, nil)
	return applied(r, err, "created")
}

func changeApplication(r *request) error {
	body := r.applicationFields("client_secret")
	return applied(r, r.api.change(r.Context(), http.MethodPatch, r.apiPath("social/applications"),
		r.once(), body, nil),
		"changed")
}

// applied leads back to the list, or shows what to mend.
func applied(r *request, err error, done string) error {
	if message, other := r.form(err); other != nil {
		return other
	} else if message != "" {
		return r.showApplications(http.StatusUnprocessableEntity, message)
	}
	return r.redirect(applicationsPath + "?done=" + done)
}

// applicationRemoval is the confirmation before an application is deleted.
func applicationRemoval(r *request) (c confirmation, err error) {
	var a application
	err = r.api.get(r.Context(), r.apiPath("social/applications"), nil, &a)
	c.Title, c.Subject = "Delete the application", a.Platform+" "+a.ClientID
	c.Active, c.Back = applicationsPath, applicationsPath
	c.Text = "An application is deleted only if no account uses it any more."
	return c, err
}

func deleteApplication(r *request) error {
	return applied(r, r.api.change(r.Context(), http.MethodDelete, r.apiPath("social/applications"),
		r.once(), nil, nil),
		"deleted")
}
