package console

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const socialPath = "/settings/social-accounts"

func addSocial(open func(string, func(*request) error)) {
	open("GET "+socialPath, func(r *request) error { return r.showSocial(http.StatusOK, "") })
	open("POST "+socialPath, guarded(socialPath, connectSocial))
	open("GET "+socialPath+"/{id}/disconnect", confirmSocial)
	open("POST "+socialPath+"/{id}/disconnect", disconnectSocial)
}

// platform is a platform as the API answers it.
type platform struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	Connect    string `json:"connect"`
	Configured bool   `json:"configured"`
	Beta       bool   `json:"beta"`
}

// socialAccount is a social account as the API answers it.
type socialAccount struct {
	ID               string     `json:"id"`
	ProfileID        *string    `json:"profile_id"`
	Platform         string     `json:"platform"`
	Handle           string     `json:"handle"`
	DisplayName      string     `json:"display_name"`
	State            string     `json:"state"`
	TokenExpiresAt   *time.Time `json:"token_expires_at"`
	AuthorizationURL *string    `json:"authorization_url"`
	FactoryIDs       []string   `json:"factory_ids"`
	CreatedAt        time.Time  `json:"created_at"`
	Failure          *trouble   `json:"failure"`
}

// trouble is why a platform has taken a post or an account no more, with its own words if it has said any.
type trouble struct {
	Message         string  `json:"message"`
	PlatformMessage *string `json:"platform_message"`
}

// Tone returns the tone of the state.
func (a socialAccount) Tone() string {
	return map[string]string{"connected": "good", "needs_reconnect": "bad", "pending": "warn"}[a.State]
}

// Name returns the name by which people know the account.
func (a socialAccount) Name() string { return cmp.Or(a.DisplayName, a.Handle, a.ID) }

// Gone reports whether the account was disconnected.
func (a socialAccount) Gone() bool { return a.State == "disconnected" }

func (r *request) showSocial(status int, message string) error {
	var accounts []socialAccount
	of := r.FormValue("profile_id")
	query := cursor(r)
	if of != "" {
		query.Set("profile_id", of)
	}
	next, err := r.api.list(r.Context(), "/v1/social/accounts", query, &accounts)
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
	v := r.view("Social accounts", socialPath)
	v.Error = message
	v.Data = map[string]any{"Accounts": accounts, "Platforms": platforms, "More": r.more(next),
		"Profile": of, "Names": names{Profiles: profiles}}
	return r.show(status, "social", v)
}

// connectSocial begins the connection of an account. A platform with OAuth answers with the address at which its owner
// agrees, which the page then links: the policy for forms stops a redirect to it.
func connectSocial(r *request) error {
	body := map[string]any{"platform": r.PostFormValue("platform")}
	for _, name := range []string{"bot_token", "channel", "community_token", "username", "password",
		"social_account_id"} {
		if value := strings.TrimSpace(r.PostFormValue(name)); value != "" {
			body[name] = value
		}
	}
	if profile := r.PostFormValue("profile_id"); profile != "" {
		body["profile_id"] = profile
	} else if r.PostFormValue("connect") == "oauth2" {
		body["return_url"] = r.site.URL + socialPath // a client of an agency has no account area
	}
	var made socialAccount
	err := r.api.change(r.Context(), http.MethodPost, "/v1/social/accounts", r.once(), body, &made)
	if message, other := r.form(err); other != nil {
		return other
	} else if message != "" {
		return r.showSocial(http.StatusUnprocessableEntity, message)
	}
	if made.AuthorizationURL == nil {
		return r.redirect(socialOf(r.PostFormValue("profile_id")))
	}
	v := r.view("Continue at the platform", socialPath)
	v.Data = map[string]any{"URL": made.AuthorizationURL, "Profile": body["profile_id"]}
	return r.show(http.StatusOK, "social-continue", v)
}

// socialOf returns the path of the accounts of a profile, or of all accounts.
func socialOf(profile string) string {
	if profile == "" {
		return socialPath
	}
	return socialPath + "?" + url.Values{"profile_id": {profile}}.Encode()
}

func disconnectSocial(r *request) error {
	err := r.api.change(r.Context(), http.MethodDelete, r.apiPath("social/accounts"), r.once(), nil, nil)
	if message, other := r.form(err); other != nil {
		return other
	} else if message != "" {
		return r.showSocial(http.StatusUnprocessableEntity, message)
	}
	return r.redirect(socialPath)
}

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

const integrationsPath = "/settings/integrations"

func addIntegrations(open func(string, func(*request) error)) {
	open("GET "+integrationsPath, func(r *request) error { return r.showIntegrations(http.StatusOK, "") })
	open("POST "+integrationsPath, guarded(integrationsPath, connectIntegration))
	open("GET "+integrationsPath+"/{id}", func(r *request) error { return r.showIntegration(http.StatusOK, "") })
	open("POST "+integrationsPath+"/{id}", guarded("", changeIntegration))
	open("POST "+integrationsPath+"/{id}/sync", func(r *request) error {
		return actOnIntegration(r, http.MethodPost, "/sync")
	})
	open("GET "+integrationsPath+"/{id}/disconnect", confirmIntegration)
	open("POST "+integrationsPath+"/{id}/disconnect", func(r *request) error {
		return actOnIntegration(r, http.MethodDelete, "")
	})
}

// crmKinds are the CRMs, with their names. Address says that an incoming webhook connects one, too.
var crmKinds = []struct {
	ID, Name string
	Address  bool
}{{"amocrm", "amoCRM", false}, {"bitrix24", "Bitrix24", true}, {"hubspot", "HubSpot", false}}

// crmContent are the kinds of content that an integration makes.
var crmContent = []choice{{"post", "Post"}, {"carousel", "Carousel"}, {"video", "Video"}, {"story", "Story"}}

// crmStage is a stage of the mapping.
type crmStage struct {
	Pipeline string `json:"pipeline"`
	Stage    string `json:"stage"`
	Kind     string `json:"kind"`
	Template string `json:"template"`
}

// crmIntegration is an integration as the API answers it.
type crmIntegration struct {
	ID        string  `json:"id"`
	Kind      string  `json:"kind"`
	Name      string  `json:"name"`
	State     string  `json:"state"`
	FactoryID *string `json:"factory_id"`
	Mapping   struct {
		Products struct {
			Import   bool    `json:"import"`
			Kind     *string `json:"kind"`
			Template *string `json:"template"`
		} `json:"products"`
		Stages []crmStage `json:"stages"`
	} `json:"mapping"`
	Pipelines []struct {
		ID     string `json:"id"`
		Name   string `json:"name"`
		Stages []struct {
			ID   string `json:"id"`
			Name string `json:"name"`
		} `json:"stages"`
	} `json:"pipelines"`
	LastSync *struct {
		At     time.Time `json:"at"`
		Read   int       `json:"read"`
		Made   int       `json:"made"`
		Failed int       `json:"failed"`
	} `json:"last_sync"`
	LastFailure *struct {
		At      time.Time `json:"at"`
		Message string    `json:"message"`
	} `json:"last_failure"`
	Counts struct {
		Products int `json:"product_count"`
		Items    int `json:"item_count"`
		Notes    int `json:"note_count"`
	} `json:"counts"`
	AuthorizationURL *string `json:"authorization_url"`
	HookURL          *string `json:"hook_url"`
}

// Tone returns the tone of the state.
func (i crmIntegration) Tone() string {
	return map[string]string{"connected": "good", "needs_reconnect": "bad", "pending": "warn"}[i.State]
}

// Label returns the name of the integration, or that of its CRM.
func (i crmIntegration) Label() string {
	for _, k := range crmKinds {
		if i.Name == "" && k.ID == i.Kind {
			return k.Name
		}
	}
	return cmp.Or(i.Name, i.ID)
}

// Gone reports whether the integration was disconnected.
func (i crmIntegration) Gone() bool { return i.State == "disconnected" }

// StageName returns the names of a pipeline and its stage, or their ids if the CRM has them no more.
func (i crmIntegration) StageName(of crmStage) string {
	for _, p := range i.Pipelines {
		for _, s := range p.Stages {
			if p.ID == of.Pipeline && s.ID == of.Stage {
				return p.Name + ": " + s.Name
			}
		}
	}
	return of.Pipeline + ": " + of.Stage
}

func (r *request) showIntegrations(status int, message string) error {
	var all []crmIntegration
	next, err := r.api.list(r.Context(), "/v1/integrations", cursor(r), &all)
	if err != nil {
		return err
	}
	v := r.view("CRM integrations", integrationsPath)
	v.Error = message
	v.Data = map[string]any{"Integrations": all, "Kinds": crmKinds, "More": r.more(next)}
	return r.show(status, "integrations", v)
}

// connectIntegration begins the connection of a CRM. With OAuth the page links the address at which an administrator
// agrees: the policy for forms stops a redirect to it.
func connectIntegration(r *request) error {
	body := map[string]any{}
	for _, name := range []string{"kind", "integration_id", "portal", "webhook_url", "application_token"} {
		if value := strings.TrimSpace(r.PostFormValue(name)); value != "" {
			body[name] = value
		}
	}
	var made crmIntegration
	err := r.api.change(r.Context(), http.MethodPost, "/v1/integrations", r.once(), body, &made)
	if message, other := r.form(err); other != nil {
		return other
	} else if message != "" {
		return r.showIntegrations(http.StatusUnprocessableEntity, message)
	}
	v := r.view("Continue at the CRM", integrationsPath)
	v.Data = made
	return r.show(http.StatusOK, "integration-continue", v)
}

func (r *request) showIntegration(status int, message string) error {
	var one crmIntegration
	if err := r.api.get(r.Context(), r.apiPath("integrations"), nil, &one); err != nil {
		return err
	}
	var factories []struct {
		ID   string `json:"id"`
		Name string `json:"name"`
		Type string `json:"type"`
	}
	if err := r.api.get(r.Context(), "/v1/factories?limit=100", nil, &factories); err != nil {
		return err
	}
	v := r.view(one.Label(), integrationsPath)
	v.Error = message
	v.Notice = map[string]string{"changed": "The mapping is saved.",
		"sync": "The CRM is being read."}[r.URL.Query().Get("done")]
	v.Data = map[string]any{"One": one, "Factories": factories, "Kinds": crmContent}
	return r.show(status, "integration", v)
}

// changeIntegration saves the mapping. The form has each stage of the mapping, and one to add; a stage without a
// template leaves the mapping.
func changeIntegration(r *request) error {
	if err := r.ParseForm(); err != nil {
		return err
	}
	stages := []crmStage{}
	for n, template := range r.PostForm["template"] {
		pipeline, stage, _ := strings.Cut(at(r.PostForm["stage"], n), "/")
		if strings.TrimSpace(template) != "" && stage != "" {
			stages = append(stages, crmStage{pipeline, stage, at(r.PostForm["kind"], n), template})
		}
	}
	products := map[string]any{"import": r.PostFormValue("import") != "", "kind": nil, "template": nil}
	if news := r.PostFormValue("new_template"); strings.TrimSpace(news) != "" {
		products["kind"], products["template"] = r.PostFormValue("new_kind"), news
	}
	body := map[string]any{"factory_id": nil, "mapping": map[string]any{"products": products, "stages": stages}}
	if factory := r.PostFormValue("factory_id"); factory != "" {
		body["factory_id"] = factory
	}
	err := r.api.change(r.Context(), http.MethodPatch, r.apiPath("integrations"), r.once(), body, nil)
	if message, other := r.form(err); other != nil {
		return other
	} else if message != "" {
		return r.showIntegration(http.StatusUnprocessableEntity, message)
	}
	return r.redirect(integrationsPath + "/" + r.PathValue("id") + "?done=changed")
}

// at returns the n-th of several values of a form, or an empty text.
func at(all []string, n int) string {
	if n < len(all) {
		return all[n]
	}
	return ""
}

// actOnIntegration synchronizes or disconnects an integration.
func actOnIntegration(r *request, method, action string) error {
	err := r.api.change(r.Context(), method, r.apiPath("integrations")+action, r.once(), nil, nil)
	if message, other := r.form(err); other != nil {
		return other
	} else if message != "" {
		return r.showIntegrations(http.StatusUnprocessableEntity, message)
	}
	if method == http.MethodDelete {
		return r.redirect(integrationsPath)
	}
	return r.redirect(integrationsPath + "/" + r.PathValue("id") + "?done=sync")
}
