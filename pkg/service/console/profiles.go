package console

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	client "github.com/content-automation/api/clients/go"
)

const profilesPath = "/settings/profiles"

// brand is a profile: a client of an agency. Only that of one has its usage.
type brand client.ProfileDetails

// profileInputs are the inputs of the forms of a profile.
var profileInputs = []input{
	{Name: "name", Member: "name", Label: "Name", Must: true,
		Help: "The page by which its social accounts are connected shows it."},
	{Name: "limit", Member: "spend_limit_credits", Label: "Spending limit", Kind: asDigits,
		Help: "Credits a month. Without a number there is no limit."},
	{Name: "region", Member: "region", Label: "Country", Kind: asCountry, None: "–",
		Help: "Its rules of law apply to the content of factories that name no other one. It may be empty."},
}

var profiles = page[brand]{
	Title: "Clients", Path: profilesPath, API: "/v1/profiles", List: "profiles", Icon: "folder",
	Lead:    "Each client has a profile: factories, social accounts and a spending limit of its own.",
	Empty:   "There are no profiles yet",
	NoMatch: "Nothing has these words.",
	Filters: []string{"q"},
	Columns: []column{{Text: "Name"}, {Text: "Spending limit"}, {Text: "Created", At: "sm"}},
	Show:    "profile-one", Name: func(p brand) string { return p.Name },
	Below:  besideClient,
	Create: &form[brand]{Title: "Create a profile", Verb: "Create the profile", Inputs: profileInputs},
	Edit:   &form[brand]{Inputs: profileInputs},
	Actions: []action[brand]{{Name: "delete", Method: http.MethodDelete, Done: "deleted", ToList: true, Typed: true,
		Ask: &confirmation{Title: "Delete the profile",
			Text: "A profile is deleted only if nothing belongs to it any more."},
		Effects: func(r *request, v *view, p brand) (effects []string, err error) {
			all, err := r.belongings(p.ID)
			for _, b := range all {
				if n := len(b.All); n > 0 {
					effects = append(effects, v.T(b.Text)+": "+number(n, b.More))
				}
			}
			return effects, err
		}},
		{Name: "erase", Recent: true, Owners: true, Typed: true, Do: askErasure, To: erasurePath + "?done=asked",
			Ask: &confirmation{Title: "Erase the profile", Verb: "Schedule the erasure",
				Text: "The profile and all that belongs to it are erased. A last export begins now. Until the " +
					"erasure everything works as before, and you can cancel it. The entries of the balance and the " +
					"audit log stay with the account."},
			Effects: profileErasure}},
	Done: map[string]string{"created": "The profile is created.", "changed": "The profile is changed.",
		"deleted": "The profile is deleted.", "logo": "The logo is changed.", "logo-removed": "The logo is removed."},
}

// belonging is a list of what belongs to a profile.
type belonging struct {
	Text, Path string // its name, and the page that shows it, if there is one
	All        []choice
	More       bool
	// api lists it, and page begins the address of one.
	api, page string
}

// Factories returns the ids and names of what is listed, which are factories.
func (b belonging) Factories() (all []choice) {
	for _, one := range b.All {
		all = append(all, choice{strings.TrimPrefix(one.Value, b.page), one.Text})
	}
	return all
}

// mostBelonging is the number of rows that each list has.
const mostBelonging = 10

// belongings reads what belongs to a profile: all lists at once.
func (r *request) belongings(id string) ([]belonging, error) {
	of := "?profile_id=" + url.QueryEscape(id)
	all := []belonging{
		{Text: "Factories", api: "/v1/factories", page: contentPath + "?factory_id="},
		{Text: "Social accounts", api: "/v1/social/accounts", Path: socialPath + of},
		{Text: "Your own apps", api: "/v1/social/applications", Path: applicationsPath},
		{Text: "Webhooks", api: "/v1/webhooks", page: webhooksPath + "/"},
		{Text: "CRM integrations", api: "/v1/integrations", page: integrationsPath + "/"},
		{Text: "Automations", api: "/v1/automations", Path: automationsPath + of, page: automationsPath + "/"},
		{Text: "Content", api: "/v1/content-items", Path: contentPath + of, page: contentPath + "/"},
		{Text: "Files", api: "/v1/media"},
		{Text: "Studio", api: "/v1/studio/generations"},
		{Text: "API keys", Path: keysPath + of, page: keysPath + "/"},
	}
	return all, each(all, func(b *belonging) error { return r.readBelonging(b, id) })
}

func (r *request) readBelonging(b *belonging, id string) error {
	if b.api == "" {
		keys, err := r.keysOf(id)
		for _, k := range keys {
			if k.Active() {
				b.All = append(b.All, choice{b.page + k.ID, k.Name})
			}
		}
		return err
	}
	var rows []struct {
		ID      string `json:"id"`
		Name    string `json:"name"`
		Handle  string `json:"handle"`
		Title   string `json:"title"`
		Caption string `json:"caption"`
		State   string `json:"state"`
	}
	next, err := r.api.list(r.Context(), b.api, url.Values{"profile_id": {id},
		"limit": {strconv.Itoa(mostBelonging)}}, &rows)
	b.More = next != ""
	for _, row := range rows {
		if row.State != "disconnected" { // it may be deleted with its profile
			one := choice{Text: cmp.Or(row.Name, row.Handle, row.Title, row.Caption, row.ID)}
			if b.page != "" {
				one.Value = b.page + row.ID
			}
			b.All = append(b.All, one)
		}
	}
	return err
}
