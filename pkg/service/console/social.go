package console

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	client "github.com/content-automation/api/clients/go"
)

const socialPath = "/settings/social-accounts"

type socialAccount struct{ client.SocialAccount }

// Name returns the name by which people know the account.
func (a socialAccount) Name() string { return cmp.Or(given(a.DisplayName), given(a.Handle), a.ID) }

func (a socialAccount) Gone() bool { return a.State == "disconnected" }

var socialAccounts = page[socialAccount]{
	Title: "Social accounts", Lead: "Factories publish to these accounts.", Path: socialPath,
	API: "/v1/social/accounts", List: "social", Names: true, Filters: []string{"profile_id", "state"},
	States: []string{"connected", "needs_reconnect", "pending", "disconnected"}, More: addPlatforms[socialAccount],
	Columns: []column{{Text: "Account"}, {Text: "Platform", Quiet: true, From: "sm"}, {Text: "State"},
		{Text: "Access expires", At: "md"}, {Text: "Actions", Quiet: true}},
	Name: socialAccount.Name,
	Create: &form[socialAccount]{Inline: true, Recent: true, Fill: returnHere, Made: continueAtPlatform,
		Inputs: inputsOf("platform", "bot_token", "channel", "community_token", "username", "password",
			"social_account_id", "profile_id")},
	Actions: []action[socialAccount]{{Name: "disconnect", Method: http.MethodDelete,
		Ask: &confirmation{Title: "Disconnect the social account", Verb: "Disconnect",
			Text: "Nothing is published to it any more. To use it again, connect it again."},
		Effects: scheduledOn}},
}

// inputsOf are inputs that the template of a list draws, of which a form may have some.
func inputsOf(members ...string) (all []input) {
	for _, name := range members {
		all = append(all, input{Name: name, Member: name, Free: true})
	}
	return all
}

func addPlatforms[T any](r *request, _ *view, _ []T, to map[string]any) error {
	var all []client.SocialPlatform
	err := r.api.get(r.Context(), "/v1/social/platforms", nil, &all)
	to["Platforms"] = all
	return err
}

// returnHere lets the owner of an account come back here, unless it is a client of an agency, who has no account area.
func returnHere(r *request, d draft, body map[string]any) fieldErrors {
	if d.Get("profile_id") == "" && r.PostFormValue("connect") == "oauth2" {
		body["return_url"] = r.site.URL + socialPath
	}
	return nil
}

// continueAtPlatform shows the address at which the owner of an account agrees, if the platform has one: the policy for
// forms stops a redirect to it.
func continueAtPlatform(r *request, made socialAccount) error {
	profile := r.PostFormValue("profile_id")
	if made.AuthorizationURL == nil && profile == "" {
		return r.redirect(socialPath)
	}
	if made.AuthorizationURL == nil {
		return r.redirect(socialPath + "?" + url.Values{"profile_id": {profile}}.Encode())
	}
	v := r.view("Continue at the platform", socialPath)
	v.Data = map[string]any{"URL": made.AuthorizationURL, "Profile": profile}
	return r.show(http.StatusOK, "social-continue", v)
}

// scheduledOn tells what is scheduled on an account.
func scheduledOn(r *request, v *view, a socialAccount) (effects []string, err error) {
	var pending []planned
	next, err := r.api.list(r.Context(), "/v1/publications", url.Values{"social_account_id": {a.ID},
		"state": {"pending"}, "order": {"asc"}, "limit": {"100"}}, &pending)
	if len(pending) > 0 {
		effects = append(effects, v.T("Posts that are scheduled on it: %s. The next: %s.",
			number(len(pending), next != ""), v.At(pending[0].PlannedAt)))
	}
	return append(effects, v.T("Factories that publish to it: %d.", len(a.FactoryIDs))), err
}

const applicationsPath = "/settings/applications"

var applications = page[client.SocialApplication]{
	Title: "Your own apps", Path: applicationsPath, API: "/v1/social/applications", List: "applications",
	Names: true,
	Lead: "Accounts are connected with your own application of a platform, whose page then shows your name and whose " +
		"limits are yours alone.",
	Columns: []column{{Text: "Application"}, {Text: "Platform"}, {Text: "Redirect address"},
		{Text: "Actions", Quiet: true}},
	More: addPlatforms[client.SocialApplication],
	Name: func(a client.SocialApplication) string { return string(a.Platform) + " " + a.ClientID },
	Create: &form[client.SocialApplication]{Verb: "Add the application", Inline: true, Recent: true, Inputs: []input{
		{Name: "platform", Member: "platform", Label: "Platform", Kind: asSelect, Of: oauthPlatforms},
		{Name: "client_id", Member: "client_id", Label: "Client id"},
		{Name: "client_secret", Member: "client_secret", Label: "Client secret", Kind: asSecret, Free: true},
		{Name: "daily_limit", Member: "daily_limit", Label: "Limit of a day", Kind: asDigits,
			Help: "US cents on X, uploads on YouTube. It may be empty."},
		{Name: "profile_id", Member: "profile_id", Label: "Profile", Kind: asSelect, Of: profileChoices,
			None: "Without a profile"}}},
	Edit: &form[client.SocialApplication]{Recent: true, Inputs: []input{
		{Name: "client_secret", Member: "client_secret", Kind: asSecret}}},
	Actions: []action[client.SocialApplication]{{Name: "delete", Method: http.MethodDelete, Done: "deleted",
		Ask: &confirmation{Title: "Delete the application",
			Text: "An application is deleted only if no account uses it any more."}}},
	Done: map[string]string{"created": "The application is added. Accounts that are connected from now on use it.",
		"changed": "The application is changed.", "deleted": "The application is deleted."},
}

// oauthPlatforms are the platforms that have applications.
func oauthPlatforms(to map[string]any) (all []choice) {
	platforms, _ := to["Platforms"].([]client.SocialPlatform)
	for _, p := range platforms {
		if p.Connect == client.SocialPlatformConnectOauth2 {
			all = append(all, choice{string(p.ID), p.Name})
		}
	}
	return all
}

// profileChoices are the profiles of the account, and factoryChoices its factories.
func profileChoices(to map[string]any) []choice {
	n, _ := to["Names"].(names)
	return mapped(n.Profiles, func(p named) choice { return choice{p.ID, p.Name} })
}

func factoryChoices(to map[string]any) []choice {
	n, _ := to["Names"].(names)
	return mapped(n.Factories, func(f named) choice { return choice{f.ID, f.Name + " (" + f.Type + ")"} })
}

const integrationsPath = "/settings/integrations"

// crmKinds are the CRMs, with their names. Address says that an incoming webhook connects one, too.
var crmKinds = []struct {
	ID, Name string
	Address  bool
}{{"amocrm", "amoCRM", false}, {"bitrix24", "Bitrix24", true}, {"hubspot", "HubSpot", false}}

// crmContent are the kinds of content that an integration makes.
var crmContent = []choice{{"post", "Post"}, {"carousel", "Carousel"}, {"video", "Video"}, {"story", "Story"}}

// crmIntegration is an integration, with the address for a webhook of the CRM when it was just made.
type crmIntegration struct {
	client.Integration
	HookURL *string `json:"hook_url"`
}

// Label returns the name of the integration, or that of its CRM.
func (i crmIntegration) Label() string {
	for _, k := range crmKinds {
		if given(i.Name) == "" && k.ID == i.Kind {
			return k.Name
		}
	}
	return cmp.Or(given(i.Name), i.ID)
}

func (i crmIntegration) Gone() bool { return i.State == "disconnected" }

// StageName returns the names of a pipeline and its stage, or their ids if the CRM has them no more.
func (i crmIntegration) StageName(of client.IntegrationMappingStage) string {
	for _, p := range i.Pipelines {
		for _, s := range p.Stages {
			if p.ID == of.Pipeline && s.ID == of.Stage {
				return p.Name + ": " + s.Name
			}
		}
	}
	return of.Pipeline + ": " + of.Stage
}

var integrations = page[crmIntegration]{
	Title: "CRM integrations", Lead: "Products of a CRM become products of a factory, and its deals make content.",
	Path: integrationsPath, API: "/v1/integrations", List: "integrations",
	Columns: []column{{Text: "Account"}, {Text: "State"}, {Text: "Last synchronization"}, {Text: "Content"},
		{Text: "Actions", Quiet: true}},
	More: func(_ *request, _ *view, _ []crmIntegration, to map[string]any) error {
		to["Kinds"] = crmKinds
		return nil
	},
	Name: crmIntegration.Label, Show: "integration", Names: true,
	Below: func(_ *request, _ *view, i crmIntegration, to map[string]any) error {
		to["Factory"], to["Kinds"] = shownInput{input: input{Name: "factory_id", Kind: asSelect, None: "–",
			Choices: factoryChoices(to)}, Values: []string{given(i.FactoryID)}}, crmContent
		return nil
	},
	// With OAuth the page links the address at which an administrator agrees: the policy for forms stops a redirect.
	Create: &form[crmIntegration]{Inline: true, Recent: true, Inputs: inputsOf("kind", "integration_id",
		"portal", "webhook_url", "application_token"),
		Made: func(r *request, made crmIntegration) error {
			v := r.view("Continue at the CRM", integrationsPath)
			v.Data = made
			return r.show(http.StatusOK, "integration-continue", v)
		}},
	Edit: &form[crmIntegration]{Recent: true, Patch: mappingOf},
	Actions: []action[crmIntegration]{{Name: "sync", Method: http.MethodPost, API: "/sync", Done: "sync"},
		{Name: "disconnect", Method: http.MethodDelete, ToList: true,
			Ask: &confirmation{Title: "Disconnect the CRM", Verb: "Disconnect",
				Text: "Its products and deals are no longer read. What was made of them stays."},
			Effects: func(_ *request, v *view, i crmIntegration) ([]string, error) {
				return []string{v.T("%d products, %d content items, %d notes", i.Counts.ProductCount,
					i.Counts.ItemCount, i.Counts.NoteCount)}, nil
			}}},
	Done: map[string]string{"changed": "The mapping is saved.", "sync": "The CRM is being read."},
}

// mappingOf returns the mapping of the form. It has each stage of the mapping, and one to add; a stage without a
// template leaves the mapping.
func mappingOf(r *request) map[string]any {
	stages := []map[string]any{}
	for n, template := range r.PostForm["template"] {
		pipeline, stage, _ := strings.Cut(at(r.PostForm["stage"], n), "/")
		if strings.TrimSpace(template) != "" && stage != "" {
			stages = append(stages, map[string]any{"pipeline": pipeline, "stage": stage,
				"kind": at(r.PostForm["kind"], n), "template": template})
		}
	}
	products := map[string]any{"import": r.PostFormValue("import") != "", "kind": nil, "template": nil}
	if news := r.PostFormValue("new_template"); strings.TrimSpace(news) != "" {
		products["kind"], products["template"] = r.PostFormValue("new_kind"), news
	}
	body := map[string]any{"factory_id": nil, "mapping": map[string]any{"products": products, "stages": stages}}
	if factory, err := r.resolve("factory_id", r.PostFormValue("factory_id")); err == nil && factory != "" {
		body["factory_id"] = factory
	}
	return body
}

// at returns the n-th of several values of a form, or an empty text.
func at(all []string, n int) string {
	if n < len(all) {
		return all[n]
	}
	return ""
}
