package console

import (
	"cmp"
	"net/http"
	"strings"
	"time"
)

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
